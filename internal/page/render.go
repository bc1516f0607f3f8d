package page

import (
	"html"

	"golang.org/x/text/language"
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

// Append appends the HTML of a page to b. It escapes everything that it is given.
func (t *Template) Append(b []byte, v *Visit) []byte {
	b = append(b, "<!doctype html>\n<title>"...)
	b = append(b, html.EscapeString(v.Title)...)
	return append(b, "</title>\n"...)
}

// Policy returns the Content-Security-Policy of a page with a nonce.
func Policy(nonce string) string {
	return "default-src 'none'; style-src 'nonce-" + nonce + "'; script-src 'nonce-" + nonce +
		"'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
}
