package page

import "strings"

// html is a page that is being written.
type html []byte

// raw appends what is HTML already.
func (h *html) raw(parts ...string) {
	for _, part := range parts {
		*h = append(*h, part...)
	}
}

// text appends s escaped, for an element or for an attribute in double quotes.
func (h *html) text(s string) {
	b, from := *h, 0
	for i := range len(s) {
		var escape string
		switch s[i] {
		case '&':
			escape = "&amp;"
		case '<':
			escape = "&lt;"
		case '>':
			escape = "&gt;"
		case '"':
			escape = "&#34;"
		case '\'':
			escape = "&#39;"
		case 0:
			escape = "\uFFFD"
		default:
			continue
		}
		b = append(append(b, s[from:i]...), escape...)
		from = i + 1
	}
	*h = append(b, s[from:]...)
}

// isWeb reports whether an address is one of the web.
func isWeb(address string) bool {
	scheme, _, found := strings.Cut(address, "://")
	return found && (strings.EqualFold(scheme, "https") || strings.EqualFold(scheme, "http"))
}

// opensApp reports whether an address can open an app. Addresses that a browser
// would run or show by itself do not.
func opensApp(address string) bool {
	scheme, _, found := strings.Cut(address, ":")
	if !found || scheme == "" || scheme[0]|0x20 < 'a' || scheme[0]|0x20 > 'z' {
		return false
	}
	for i := range len(scheme) {
		c := scheme[i]
		if (c|0x20 < 'a' || c|0x20 > 'z') && (c < '0' || c > '9') && c != '+' && c != '-' && c != '.' {
			return false
		}
	}
	switch strings.ToLower(scheme) {
	case "javascript", "data", "vbscript", "blob", "file", "filesystem", "about", "view-source":
		return false
	}
	return true
}

// isImage reports whether a logo is an image that pages may contain.
func isImage(logo string) bool {
	return len(logo) <= MaxLogoBytes && strings.HasPrefix(logo, "data:image/")
}
