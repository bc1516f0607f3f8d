package redirect

import (
	"bytes"
	_ "embed"
	"html/template"
	"net/http"
	"strconv"

	"github.com/waymarkhq/waymark/internal/route"
)

//go:embed preview.html
var previewText string

var (
	previewTemplate = template.Must(template.New("preview").Parse(previewText))
	previewPolicy   = []string{"default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"}
)

// preview answers a crawler with what its users are to see of a link. Nothing of
// the request is in it but the hostname, which is one of ours, and its query
// where the destination gets it too.
func (h *Handler) preview(w http.ResponseWriter, r *http.Request, hostname string, link *route.Link, location string) outcome {
	data := struct{ Title, Description, Image, Address, Location string }{
		link.Title, link.Description, link.ImageURL, h.Address(hostname, link.Prefix, link.Slug), location,
	}
	if data.Title == "" { // the page needs one
		data.Title = hostname
	}
	var body bytes.Buffer
	if err := previewTemplate.Execute(&body, data); err != nil {
		return h.unavailable(w, r, err)
	}
	page := fixed{
		status: http.StatusOK, outcome: previewed, body: body.Bytes(),
		contentType: htmlType, cacheControl: privateNoStore, length: []string{strconv.Itoa(body.Len())}, policy: previewPolicy,
	}
	return page.write(w, r)
}
