package redirect

import (
	"net/url"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// maxPath is longer than any route's path: 401 characters.
const maxPath = 2048

// cleanPath returns the path of a request in the form that routes have: decoded
// once, NFC, without the leading slash. ok is false for a path that no route
// can have, so that nothing is looked up for it: empty or dot segments (a
// trailing slash among them), an encoded slash, control characters, invalid
// UTF-8.
func cleanPath(u *url.URL) (path string, ok bool) {
	path = u.Path
	if path == "" || path == "/" {
		return "", u.Opaque == ""
	}
	if path[0] != '/' || len(path) > maxPath {
		return "", false
	}
	// RawPath is set only where decoding lost something.
	if u.RawPath != "" && (strings.Contains(u.RawPath, "%2F") || strings.Contains(u.RawPath, "%2f")) {
		return "", false
	}
	path = path[1:]
	start, ascii := 0, true
	for i := 0; i <= len(path); i++ {
		if i == len(path) || path[i] == '/' {
			switch path[start:i] {
			case "", ".", "..":
				return "", false
			}
			start = i + 1
			continue
		}
		switch c := path[i]; {
		case c < ' ', c == 0x7f, c == '\\':
			return "", false
		case c >= utf8.RuneSelf:
			ascii = false
		}
	}
	if ascii {
		return path, true
	}
	if !utf8.ValidString(path) {
		return "", false
	}
	return norm.NFC.String(path), true
}
