package outbound

import (
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/weburl"
)

// Check refuses (422, at the JSON Pointer path) a URL that can never be a
// destination.
func (c *Client) Check(path, url string) error {
	if err := weburl.CheckHTTPS(path, &url); err != nil {
		return err
	}
	if reason := c.problem(url); reason != "" {
		return fault.Invalid(path, fault.ReasonInvalidURL, "%s", reason)
	}
	return nil
}

func (c *Client) problem(value string) string {
	u, err := url.Parse(value)
	if err != nil {
		return "the value is not a URL"
	}
	host := u.Hostname()
	// One spelling alone: what is checked here, asked of the DNS, verified in
	// the certificate and sent as Host is the same text.
	name, ok := weburl.Hostname(host)
	_, allowed := c.options.Allow[host]
	switch {
	case utf8.RuneCountInString(value) > weburl.MaxLength:
		return "the URL must have at most " + strconv.Itoa(weburl.MaxLength) + " characters"
	case strings.Contains(value, "#"):
		return "the URL must not contain a fragment (#)"
	case !ok || name != host:
		return "the host must be a DNS name in lower case; write an international name in its xn-- form"
	case u.Host != host && u.Host != host+":443":
		return "the port must be 443"
	case !allowed && !weburl.Public(host):
		return "the host must be a public DNS name"
	}
	return ""
}
