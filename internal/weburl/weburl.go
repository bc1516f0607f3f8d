// Package weburl checks the addresses that owners store: web URLs and
// hostnames (api-v1.md, App and Link).
package weburl

import (
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/idna"

	"github.com/waymarkhq/waymark/internal/fault"
)

// MaxLength of a URL field in characters.
const MaxLength = 4096

// CheckHTTPS refuses a value that is no absolute HTTPS URL with a host and
// without user, password, white space or control characters. path is the JSON
// Pointer of the field; nil passes.
func CheckHTTPS(path string, value *string) error {
	if value == nil {
		return nil
	}
	if reason := problem(*value); reason != "" {
		return fault.Invalid(path, fault.ReasonInvalidURL, "%s", reason)
	}
	return nil
}

func problem(value string) string {
	if strings.ContainsFunc(value, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\\'
	}) {
		return "the URL must not contain spaces, invisible characters or backslashes"
	}
	u, err := url.Parse(value)
	switch {
	case err != nil:
		return "the value must be a URL, such as https://example.com/page"
	case !strings.EqualFold(u.Scheme, "https"):
		return "the URL must start with https://"
	case u.Hostname() == "" || strings.HasPrefix(u.Host, ":"):
		return "the URL must have a host, as in https://example.com/page"
	case u.User != nil:
		return "the URL must not contain a user or password"
	}
	if _, err := netip.ParseAddr(u.Hostname()); err != nil {
		if _, ok := Hostname(u.Hostname()); !ok {
			return "the URL's host must be a hostname, such as example.com, or an IP address"
		}
	}
	if n, err := strconv.ParseUint(u.Port(), 10, 16); u.Port() != "" && (err != nil || n == 0) {
		return "the port must be a number from 1 to 65535"
	}
	return ""
}

// ASCIIHost returns a URL that CheckHTTPS accepts with its host in A-label
// form: in a Location header a host of other letters would be percent-encoded,
// which not every client undoes.
func ASCIIHost(value string) string {
	scheme, rest, _ := strings.Cut(value, "://")
	end := strings.IndexAny(rest, ":/?#")
	if end < 0 {
		end = len(rest)
	}
	host, ok := Hostname(rest[:end])
	if !ok {
		return value // an IP literal
	}
	return scheme + "://" + host + rest[end:]
}

// profile converts hostnames as browsers do (UTS 46, non-transitional), with
// the length and character rules of DNS.
var profile = idna.New(idna.MapForLookup(), idna.Transitional(false), idna.StrictDomainName(true),
	idna.VerifyDNSLength(true), idna.BidiRule())

// Hostname returns a hostname in lower-case A-label form, or false when it is
// none. A single trailing dot is dropped.
func Hostname(value string) (string, bool) {
	ascii, err := profile.ToASCII(strings.TrimSuffix(value, "."))
	if err != nil || ascii == "" || !utf8.ValidString(value) {
		return "", false
	}
	if again, err := profile.ToASCII(ascii); err != nil || again != ascii {
		return "", false // it has more than one form
	}
	last := ascii[strings.LastIndexByte(ascii, '.')+1:]
	if strings.Trim(last, "0123456789") == "" {
		return "", false // an IPv4 address, or what a browser takes for one
	}
	return ascii, true
}
