package page

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/language"
	"golang.org/x/text/unicode/bidi"

	"github.com/waymarkhq/waymark/internal/binding"
)

// Scheme is a colour scheme; "" lets the visitor's device choose.
type Scheme string

// The colour schemes.
const (
	Light Scheme = "light"
	Dark  Scheme = "dark"
)

// Visit is what a page of a link is made of, besides its template.
type Visit struct {
	// Language is that of the product's words: one that Language returned.
	Language language.Tag
	// Nonce is the one of the Content-Security-Policy: 22 characters of base64url.
	Nonce  string
	Scheme Scheme

	// AppName and AppLogo, a data URI, are the app's; "" when there is none.
	AppName, AppLogo string
	// Title, Description and Data, the values of variables by key, are the link's.
	Title, Description string
	Data               map[string]string

	// OpenURI opens the app. With Automatic the page tries that at once, and goes to
	// Fallback when the app does not open.
	OpenURI, Fallback string
	Automatic         bool
	// InstallURL leads to the app in its store, WebURL to the page for browsers; ""
	// where there is none.
	InstallURL, WebURL string
	// CopyText is what the visitor of a recovery page copies, for the app to find.
	CopyText string
	// AppStoreID and Address make Safari on iOS offer the app by itself.
	AppStoreID, Address string
}

// size is how much of a page is rendered.
type size int

const (
	whole size = iota
	withoutLogo
	withoutTexts // and without the logo
)

// Append appends the HTML of a page to b. It escapes everything that it is given,
// and leaves out addresses that a page must not lead to. A page that would be
// larger than MaxPageBytes is shown without the logo, and if that does not do,
// without texts and details; addresses are never cut.
func (t *Template) Append(b []byte, v *Visit) []byte {
	start := len(b)
	for size := whole; size <= withoutTexts; size++ {
		if b = t.render(b[:start], v, size); len(b)-start <= MaxPageBytes {
			break
		}
	}
	return b
}

// page is a page while it is written.
type page struct {
	html
	words *words
	nonce string
}

// shownLogo is the logo of a page: the template's, else the app's.
func (t *Template) shownLogo(app string, size size) string {
	if logo := cmp.Or(t.logo, app); size == whole && isImage(logo) {
		return logo
	}
	return ""
}

func (t *Template) render(b []byte, v *Visit, size size) []byte {
	w := wordsIn(v.Language)
	values := values{t.variables, v.Data, w}
	heading := cmp.Or(values.say(t.heading, mostHeading), v.Title)
	text := cmp.Or(values.say(t.text, mostText), v.Description)
	if size == withoutTexts {
		text = ""
	}
	p := page{slices.Grow(b, 8<<10+len(t.logo)+len(v.AppLogo)), w, v.Nonce}
	p.begin(t, v.Scheme, heading, w.headingOf(t.base), v.AppStoreID, v.Address)
	p.header(v.AppName, t.shownLogo(v.AppLogo, size), direction(heading, text), "")
	p.owned("h1", heading, w.headingOf(t.base))
	if text != "" {
		p.paragraph(text, "")
	}
	if t.base == binding.Recovery { // why to copy, whatever the owner says
		p.paragraph("", w.RecoveryText)
	}
	if size != withoutTexts {
		p.details(t.details, &values)
	}
	if t.base == binding.Recovery {
		p.recovery(t, v, &values)
	} else {
		p.actions(t, v, &values)
	}
	return p.end()
}

// headingOf returns the heading of a page whose link has no title.
func (w *words) headingOf(base binding.Base) string {
	if base == binding.Recovery {
		return w.RecoveryHeading
	}
	return w.OpenHeading
}

// begin writes the head of a page. Its title is the owner's, or else one of ours.
func (p *page) begin(t *Template, scheme Scheme, owners, ours, appStoreID, address string) {
	look, known := t.looks[scheme]
	if !known {
		look = t.looks[""]
	}
	p.raw("<!doctype html>\n<html lang=\"", p.words.tag, `" dir="`, p.words.Direction, "\">\n<head>\n",
		"<meta charset=\"utf-8\">\n",
		`<meta name="viewport" content="width=device-width,initial-scale=1,viewport-fit=cover">`, "\n",
		`<meta name="robots" content="noindex">`, "\n", `<link rel="icon" href="data:,">`, "\n", look.meta)
	if appStoreID != "" && strings.Trim(appStoreID, "0123456789") == "" {
		p.raw(`<meta name="apple-itunes-app" content="app-id=`, appStoreID)
		if isWeb(address) {
			p.raw(", app-argument=")
			p.text(strings.ReplaceAll(address, ",", "%2C"))
		}
		p.raw("\">\n")
	}
	p.owned("title", owners, ours)
	p.raw(`<style nonce="`)
	p.text(p.nonce)
	p.raw(`">`, look.variables, styles[t.base], "</style>\n</head>\n<body>\n")
}

// owned writes an element with a text of the owner's, or else with one of ours.
func (p *page) owned(element, owners, ours string) {
	p.raw("<", element)
	p.label(owners, ours)
	p.raw("</", element, ">\n")
}

// shortText is how many characters a text has at most that may stand in the middle
// of the page.
const shortText = 160

// paragraph writes a text of the owner's, or else one of ours.
func (p *page) paragraph(owners, ours string) {
	p.raw(`<p class="text`)
	if len(owners) > shortText && utf8.RuneCountInString(owners) > shortText {
		p.raw(" long")
	}
	p.raw(`"`)
	p.label(owners, ours)
	p.raw("</p>\n")
}

// label ends a start tag and writes a text of the owner's, or else one of ours. Only
// ours are in the language of the page.
func (p *page) label(owners, ours string) {
	if owners != "" {
		p.raw(` lang=""`)
	}
	p.raw(` dir="auto">`)
	p.text(cmp.Or(owners, ours))
}

// header writes the app's logo, or a letter instead, and its name.
func (p *page) header(appName, logo, direction, attributes string) {
	p.raw("<main", attributes)
	if direction != "" {
		p.raw(` dir="`, direction, `"`)
	}
	p.raw(">\n")
	letter := firstLetter(appName)
	if letter != "" || logo != "" {
		p.raw("<header>\n")
		if logo != "" {
			p.raw(`<img class="logo" src="`)
			p.text(logo)
			p.raw("\" alt=\"\">\n")
		} else {
			p.raw(`<span class="logo letter" aria-hidden="true">`)
			p.text(letter)
			p.raw("</span>\n")
		}
		if appName != "" {
			p.owned("p", appName, "")
		}
		p.raw("</header>\n")
	}
	p.raw("<div class=\"sheet\">\n")
}

// details writes the lines below the text that have a value.
func (p *page) details(all []detail, values *values) {
	open := false
	for _, d := range all {
		value := values.say(d.value, mostDetail)
		if value == "" {
			continue
		}
		if !open {
			p.raw("<dl>\n")
			open = true
		}
		p.raw(`<div><dt lang="" dir="auto">`)
		p.text(values.say(d.label, mostLabel))
		p.raw(`</dt><dd lang="" dir="auto">`)
		p.text(value)
		p.raw("</dd></div>\n")
	}
	if open {
		p.raw("</dl>\n")
	}
}

func (p *page) end() []byte {
	p.raw("</div>\n</main>\n</body>\n</html>\n")
	return p.html
}

func (p *page) script(text string) {
	p.raw(`<script nonce="`)
	p.text(p.nonce)
	p.raw("\">\n", text, "\n</script>\n")
}

// direction returns the direction of writing of the first text that has one.
func direction(texts ...string) string {
	for _, s := range texts {
		for s != "" {
			class, n := bidi.LookupString(s)
			switch class.Class() {
			case bidi.L:
				return "ltr"
			case bidi.R, bidi.AL:
				return "rtl"
			}
			s = s[max(n, 1):]
		}
	}
	return ""
}

// Policy returns the Content-Security-Policy of a page with a nonce.
func Policy(nonce string) string {
	return "default-src 'none'; style-src 'nonce-" + nonce + "'; script-src 'nonce-" + nonce +
		"'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
}
