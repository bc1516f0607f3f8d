package client

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"maps"
	"mime/multipart"
	"net/textproto"
	"slices"
)

// File is the multipart form of an upload (createAssets).
type File struct {
	// Name and Type are the name and the media type of the file.
	Name, Type string
	Bytes      []byte
	// Fields are the other parts of the form.
	Fields map[string]string
}

// encode returns the form and its media type.
func (f *File) encode() ([]byte, string, error) {
	var b bytes.Buffer
	form := multipart.NewWriter(&b)
	// The same file makes the same body, so that it can be sent again with the same key.
	if err := form.SetBoundary(fmt.Sprintf("%x", sha256.Sum256(f.Bytes))); err != nil {
		return nil, "", err
	}
	for _, name := range slices.Sorted(maps.Keys(f.Fields)) {
		if err := form.WriteField(name, f.Fields[name]); err != nil {
			return nil, "", err
		}
	}
	part, err := form.CreatePart(textproto.MIMEHeader{
		"Content-Disposition": {fmt.Sprintf(`form-data; name="file"; filename=%q`, f.Name)},
		"Content-Type":        {f.Type},
	})
	if err != nil {
		return nil, "", err
	}
	if _, err := part.Write(f.Bytes); err != nil {
		return nil, "", err
	}
	err = form.Close()
	return b.Bytes(), form.FormDataContentType(), err
}
