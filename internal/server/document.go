package server

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/klauspost/compress/zstd"

	"github.com/waymarkhq/waymark/internal/op"
)

// document is an answer whose bytes are the same for everyone for as long as
// the program runs: clients keep it and ask by ETag whether it still holds.
type document struct {
	contentType, policy, cacheControl string
	content                           func() *content
}

const (
	revalidated = "no-cache"
	// immutable is for addresses that name a version of what they hold.
	immutable = "public, max-age=31536000, immutable"
	// loadsNothing is the policy of what is no page.
	loadsNothing = "default-src 'none'"
)

// content is the bytes of a document as they are and as they travel.
type content struct {
	plain, gzipped []byte
	// packed is smaller than gzipped, for clients that read it; nil where nobody made it.
	packed []byte
	etag   string
}

// contentOf compresses what plain returns when it is first asked for: most
// processes never are.
func contentOf(plain func() []byte) func() *content {
	return sync.OnceValue(func() *content {
		text := plain()
		var b bytes.Buffer
		w, _ := gzip.NewWriterLevel(&b, gzip.BestCompression) // the level is a valid one
		w.Write(text)                                         // a Buffer refuses nothing
		w.Close()
		return &content{plain: text, gzipped: b.Bytes(), packed: packed(text), etag: digest(text)}
	})
}

// packed compresses with Zstandard (RFC 8878), in a window that browsers take (RFC 9659).
func packed(text []byte) []byte {
	w, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithEncoderConcurrency(1),
		zstd.WithWindowSize(8<<20))
	if err != nil {
		panic(err) // the options are valid ones
	}
	return w.EncodeAll(text, nil)
}

// gzippedContent is the content of a file that is already compressed.
func gzippedContent(file []byte) func() *content {
	return sync.OnceValue(func() *content {
		r, err := gzip.NewReader(bytes.NewReader(file))
		if err != nil {
			panic(err) // the file is part of this program
		}
		plain, err := io.ReadAll(r)
		if err != nil {
			panic(err)
		}
		return &content{plain: plain, gzipped: file, etag: digest(plain)}
	})
}

func text(b []byte) func() *content { return contentOf(func() []byte { return b }) }

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:16])
}

// ServeHTTP implements http.Handler.
func (d *document) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c := d.content()
	body, etag := c.plain, `"`+c.etag+`"`
	header := w.Header()
	header.Set("Cache-Control", d.cacheControl)
	header.Add("Vary", "Accept-Encoding")
	if c.packed != nil && accepts(r.Header, "zstd") {
		body, etag = c.packed, `"`+c.etag+`-zstd"`
		header.Set("Content-Encoding", "zstd")
	} else if accepts(r.Header, "gzip") {
		body, etag = c.gzipped, `"`+c.etag+`-gzip"`
		header.Set("Content-Encoding", "gzip")
	}
	header.Set("ETag", etag)
	if op.Holds(r.Header, etag) {
		header.Del("Content-Encoding")
		w.WriteHeader(http.StatusNotModified)
		return
	}
	header.Set("Content-Type", d.contentType)
	header.Set("Content-Length", strconv.Itoa(len(body)))
	header.Set("Content-Security-Policy", d.policy)
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "no-referrer")
	w.Write(body) // to a client that may be gone
}

// accepts reports whether the client names a coding and does not refuse it.
func accepts(header http.Header, wanted string) bool {
	return slices.ContainsFunc(list(header, "Accept-Encoding"), func(coding string) bool {
		name, parameter, weighted := strings.Cut(coding, ";")
		if !strings.EqualFold(strings.TrimSpace(name), wanted) {
			return false
		}
		weight, err := strconv.ParseFloat(strings.TrimPrefix(strings.TrimSpace(parameter), "q="), 64)
		return !weighted || err == nil && weight > 0
	})
}

// list returns the members of a header that is a list.
func list(header http.Header, name string) []string {
	var all []string
	for _, value := range header.Values(name) {
		for member := range strings.SplitSeq(value, ",") {
			all = append(all, strings.TrimSpace(member))
		}
	}
	return all
}
