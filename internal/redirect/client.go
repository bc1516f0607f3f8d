package redirect

import (
	"net/http"
	"net/netip"
	"strings"

	"github.com/waymarkhq/waymark/internal/route"
)

// client is who sends a request, and from where.
type client struct {
	agent   agent
	address netip.Addr
	// trusted tells that a proxy which is believed passed it on.
	trusted bool
	// country is "" until it is asked for.
	country string
}

// locate finds out the client's country: by the file, which knows more about an
// address than a proxy says, else as a trusted proxy tells it.
func (h *Handler) locate(c *client, header http.Header) string {
	if c.country != "" {
		return c.country
	}
	if h.Countries != nil {
		c.country = h.Countries.of(c.address)
	}
	if values := header[h.CountryHeader]; c.country == "" && c.trusted && len(values) == 1 {
		c.country = countryCode(values[0])
	}
	if c.country == "" {
		c.country = route.UnknownCountry
	}
	return c.country
}

// countryCode returns a country as it is written everywhere, "" for what is
// none. XX is how some proxies say that they do not know.
func countryCode(s string) string {
	if len(s) != 2 {
		return ""
	}
	code := strings.ToUpper(s)
	if code[0] < 'A' || code[0] > 'Z' || code[1] < 'A' || code[1] > 'Z' || code == "XX" {
		return ""
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
