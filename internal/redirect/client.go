package redirect

import (
	"net/http"
	"strings"
)

// unknownCountry is what analytics counts where there is no country.
const unknownCountry = "ZZ"

// country returns the visitor's country as a trusted proxy tells it.
func (h *Handler) country(header http.Header, trusted bool) string {
	if !trusted || h.CountryHeader == "" {
		return unknownCountry
	}
	values := header[h.CountryHeader]
	if len(values) != 1 || len(values[0]) != 2 {
		return unknownCountry
	}
	code := strings.ToUpper(values[0])
	for i := range 2 {
		if code[i] < 'A' || code[i] > 'Z' {
			return unknownCountry
		}
	}
	if code == "XX" { // how some proxies say that they do not know
		return unknownCountry
	}
	return code
}

// referrerHost returns the hostname of the page that the visitor comes from,
// or the package of the Android app, "" when there is none. Paths and queries
// of other people's pages are none of our business.
func referrerHost(header http.Header) string {
	values := header["Referer"]
	if len(values) == 0 {
		return ""
	}
	scheme, rest, found := strings.Cut(values[0], "://")
	if !found || (scheme != "https" && scheme != "http" && scheme != "android-app") {
		return ""
	}
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		rest = rest[:i]
	}
	host, ok := cleanHost(rest[strings.LastIndexByte(rest, '@')+1:])
	if !ok {
		return ""
	}
	return host
}
