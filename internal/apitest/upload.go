package apitest

import (
	"bytes"
	"image"
	"image/png"
	"mime/multipart"
	"net/textproto"
	"testing"
)

// Picture returns a small PNG image.
func Picture(t testing.TB) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 8, 8))); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Part is a part of a multipart body.
type Part struct {
	Name string
	// Type is the declared media type of a file; "" for a field.
	Type    string
	Content []byte
}

// Upload uploads an image to the client's app.
func (c *Client) Upload(contentType string, content []byte, with ...With) *Response {
	c.t.Helper()
	return c.Multipart("/assets", []Part{{Name: "appId", Content: []byte(c.AppID)},
		{Name: "file", Type: contentType, Content: content}}, with...)
}

// Multipart posts parts with a boundary of its own.
func (c *Client) Multipart(path string, parts []Part, with ...With) *Response {
	c.t.Helper()
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	for _, p := range parts {
		header := textproto.MIMEHeader{"Content-Disposition": {`form-data; name="` + p.Name + `"`}}
		if p.Type != "" {
			header = textproto.MIMEHeader{"Content-Disposition": {`form-data; name="` + p.Name +
				`"; filename="../../x.png"`}, "Content-Type": {p.Type}}
		}
		part, err := w.CreatePart(header)
		if err == nil {
			_, err = part.Write(p.Content)
		}
		if err != nil {
			c.t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		c.t.Fatal(err)
	}
	return c.send("POST", path, &body, append([]With{Header("Content-Type", w.FormDataContentType())}, with...))
}
