package page

import (
	"slices"

	"golang.org/x/text/language"
)

// Kind tells what a Notice says.
type Kind string

// The kinds of notices.
const (
	NotFound    Kind = "notFound"
	Gone        Kind = "gone"
	Scheduled   Kind = "scheduled"
	Unavailable Kind = "unavailable"
	BadMethod   Kind = "badMethod"
)

// Notice is what a page is made of that says why a link does not lead anywhere.
type Notice struct {
	Kind Kind
	// Language, Nonce, Scheme, AppName and AppLogo are as in Visit.
	Language         language.Tag
	Nonce            string
	Scheme           Scheme
	AppName, AppLogo string
	// HomeURL is where the button of the page leads; "" for no button.
	HomeURL string
}

// AppendNotice appends the HTML of a notice in the look of a template to b. It
// escapes everything that it is given.
func (t *Template) AppendNotice(b []byte, n *Notice) []byte {
	w := wordsIn(n.Language)
	said := w.Notices[n.Kind]
	logo := t.shownLogo(n.AppLogo, whole)
	p := page{slices.Grow(b, 6<<10+len(logo)), w, n.Nonce}
	p.begin(t, n.Scheme, "", said.Title, "", "")
	p.header(n.AppName, logo, "", ` class="notice"`)
	p.owned("h1", "", said.Title)
	p.paragraph("", said.Text)
	if isWeb(n.HomeURL) {
		p.raw("<div class=\"actions\">\n")
		p.button(ranks[0], n.HomeURL, "", "", w.Home)
		p.raw("</div>\n")
	}
	return p.end()
}
