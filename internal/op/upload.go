package op

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"

	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/schema"
)

const (
	// MaxFile is the largest file of an upload in bytes.
	MaxFile = 1 << 20
	// maxUpload is the largest multipart body, also when chunked.
	maxUpload = MaxFile + 64<<10
	// maxUploads is how many files are read at a time, accountUploads how many of one
	// account.
	maxUploads, accountUploads = 128, 4
	// maxAppID bounds the one text field of an upload.
	maxAppID = 500
)

// Upload is a multipart body of exactly the parts appId and file (api-v1.md,
// Assets). The file has no name: nothing may depend on it.
type Upload struct {
	AppID string
	// File is read from its start; it is gone when the call ends.
	File *os.File
	// Type is the media type that the client declares for the file.
	Type   string
	Size   int64
	SHA256 string
}

// parseUpload reads a multipart body, the file to a nameless file on disk:
// many uploads at once must not need their size in memory.
func (c *callContext) parseUpload() error {
	if c.r.ContentLength > maxUpload {
		return uploadTooLarge()
	}
	if err := refuseEncoded(c.r); err != nil {
		return err
	}
	kind, parameters, err := mediaType(c.r)
	if err != nil {
		return err
	}
	if kind != "multipart/form-data" {
		return fault.New(fault.UnsupportedMediaType, "The body must be sent with Content-Type: multipart/form-data "+
			"and a boundary.")
	}
	body := &bounded{from: newPaced(c.w, c.r), left: maxUpload}
	err = c.readParts(body, parameters["boundary"])
	if body.left < 0 {
		return uploadTooLarge()
	}
	if err != nil {
		if refusal, ok := fault.From(err); ok {
			return refusal
		}
		var disk *os.PathError
		if errors.As(err, &disk) {
			return fmt.Errorf("%w: %w", fault.New(fault.Unavailable, "The upload cannot be stored now."), err)
		}
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return incomplete(err)
		}
		return fault.New(fault.InvalidRequest, "The body is not valid multipart/form-data.")
	}
	u := &c.upload
	for _, part := range []struct {
		name    string
		missing bool
	}{{"appId", u.AppID == ""}, {"file", u.File == nil}} {
		if part.missing {
			return fault.Invalid(fault.Pointer(part.name), fault.ReasonRequired, "the part is required")
		}
	}
	c.bodyApp = u.AppID
	// The fingerprint covers the parts, not the boundary: each attempt may have
	// another one.
	c.body, err = json.Marshal([]string{u.AppID, u.Type, u.SHA256})
	return err
}

func (c *callContext) readParts(body io.Reader, boundary string) error {
	r := multipart.NewReader(body, boundary)
	for {
		part, err := r.NextRawPart()
		if err == io.EOF { // alone: one inside another error is a body that ends too early
			_, err = io.Copy(io.Discard, body) // what follows the last boundary counts too
			return err
		}
		if err != nil {
			return err
		}
		switch name := part.FormName(); {
		case name == "appId" && c.upload.AppID == "":
			text, err := io.ReadAll(io.LimitReader(part, maxAppID+1))
			if err != nil {
				return err
			}
			if len(text) == 0 || len(text) > maxAppID || !utf8.Valid(text) || strings.ContainsRune(string(text), 0) {
				return fault.Invalid("/appId", fault.ReasonInvalidText, "must have 1 to %d characters of UTF-8 text",
					maxAppID)
			}
			c.upload.AppID = string(text)
		case name == "file" && c.upload.File == nil:
			// A file on its way takes space on the disk, which is not counted yet.
			place, ok := c.pipeline.uploads.take(c.Actor.OwnerID, 1)
			if !ok {
				return busy("Too many uploads are under way, of this account or of all. An account has %d at once.",
					accountUploads)
			}
			defer place.giveBack()
			if err := c.upload.spool(part, c.pipeline.SpoolDir); err != nil {
				return err
			}
		case name == "appId" || name == "file":
			return fault.Invalid(fault.Pointer(name), fault.ReasonRepeated, "the part is repeated")
		default:
			return fault.Invalid(fault.Pointer(strings.ToValidUTF8(name, "\uFFFD")), fault.ReasonUnknownField,
				"the part is unknown; known are appId, file")
		}
	}
}

// spool takes the file of an upload. It loses its name at once, so that nothing
// of it stays after a crash.
func (u *Upload) spool(part *multipart.Part, dir string) error {
	file, err := os.CreateTemp(dir, ".upload-")
	if err != nil {
		return err
	}
	u.File = file
	if err := os.Remove(file.Name()); err != nil {
		return err
	}
	sum := sha256.New()
	if u.Size, err = io.Copy(io.MultiWriter(file, sum), io.LimitReader(part, MaxFile+1)); err != nil {
		return err
	}
	if u.Size > MaxFile {
		return uploadTooLarge()
	}
	if u.Type = part.Header.Get("Content-Type"); !utf8.ValidString(u.Type) {
		return fault.Invalid("/file", fault.ReasonInvalidText, "the declared Content-Type is not valid UTF-8")
	}
	u.SHA256 = hex.EncodeToString(sum.Sum(nil))
	_, err = file.Seek(0, io.SeekStart)
	return err
}

func (u *Upload) discard() {
	if u.File != nil {
		u.File.Close()
	}
}

func uploadTooLarge() error {
	return fault.New(fault.PayloadTooLarge, "The upload is too large: the file may have at most %d bytes, the whole "+
		"body at most %d.", MaxFile, maxUpload)
}

// bounded is a body that may have at most left more bytes. Reading on fails, and
// left is then below 0.
type bounded struct {
	from io.Reader
	left int64
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left < 0 {
		return 0, io.ErrUnexpectedEOF
	}
	n, err := b.from.Read(p[:min(int64(len(p)), b.left+1)])
	b.left -= int64(n)
	return n, err
}

// uploadSchema describes an Upload in the contract.
func uploadSchema() *schema.Schema {
	return &schema.Schema{Type: schema.Object, Closed: true, Properties: []schema.Property{
		{Name: "appId", Required: true, Schema: &schema.Schema{Type: schema.String, MaxLength: schema.Of(maxAppID),
			Example: exampleApp}},
		{Name: "file", Required: true, Schema: &schema.Schema{
			Type: schema.String, ContentMediaType: "application/octet-stream", MaxLength: schema.Of(MaxFile),
			Description: "A PNG or JPEG image of at most 1 MiB.",
			Example:     "(the bytes of spring.png)",
		}},
	}}
}
