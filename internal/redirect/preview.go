package redirect

import (
	"bytes"
	"cmp"
	_ "embed"
	"html/template"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/waymarkhq/waymark/internal/page"
	"github.com/waymarkhq/waymark/internal/route"
)

//go:embed preview.html
var previewText string

// forwardScript sends on a person whose browser was taken for a crawler. It is
// a script because crawlers that make previews run none. Some of them follow a
// refresh, in a header or in an element, and would show the card of the
// destination instead of the link's; noscript does not hide the element from
// them. The few crawlers that run scripts have read the page by the time this
// one acts. A person without scripts follows the link on the page.
//
//go:embed forward.js
var forwardScript string

var (
	previewTemplate = template.Must(template.New("preview").Parse(previewText))
	previewStyle    = template.CSS(strings.TrimSpace(pageStyle))
	previewScript   = template.JS(strings.TrimSpace(forwardScript))
	previewPolicy   = contentPolicy("style-src "+hashSource(string(previewStyle)),
		"script-src "+hashSource(string(previewScript)))
)

// previewPage is what the page of a link preview is made of.
type previewPage struct {
	*route.Link
	// Title is the title of the link or, if it has none, the hostname: the page
	// needs a title.
	Title string
	// Hostname is the hostname of the link, Address its public address.
	Hostname, Address string
	// Location is where the page leads, Continue says so in Language.
	Location, Continue, Language string
	Style                        template.CSS
	Script                       template.JS
}

// Card is the kind of card that X shows. X shows no small picture in a large
// card.
func (p *previewPage) Card() string {
	if p.ImageURL == "" || p.ImageWidth > 0 && (p.ImageWidth < 300 || p.ImageHeight < 157) {
		return "summary"
	}
	return "summary_large_image"
}

// preview answers a crawler with what its users are to see of a link. Of the
// request it contains only the hostname, which belongs to this installation,
// and the query where the destination gets it too. The few words of its own are in
// the language of the request.
func (h *Handler) preview(w http.ResponseWriter, r *http.Request, hostname string, host *route.Host, link *route.Link,
	location string) outcome {
	tag := languageOf(r)
	shown := previewPage{
		Link: link, Title: cmp.Or(link.Title, hostname), Hostname: hostname,
		Address: h.Address(hostname, link.Prefix, link.Slug), Location: location,
		Continue: page.ContinueTo(tag, hostOf(location)), Language: tag.String(), Style: previewStyle,
		Script: previewScript,
	}
	var body bytes.Buffer
	if err := previewTemplate.Execute(&body, &shown); err != nil {
		return h.unavailable(w, r, host, err)
	}
	answer := fixed{
		status: http.StatusOK, outcome: previewed, body: body.Bytes(),
		contentType: htmlType, cacheControl: privateNoStore, length: []string{strconv.Itoa(body.Len())},
		policy: previewPolicy,
	}
	return answer.write(w, r)
}

// hostOf returns the host of an address that a decision leads to.
func hostOf(location string) string {
	u, err := url.Parse(location)
	if err != nil {
		return location
	}
	return u.Hostname()
}
