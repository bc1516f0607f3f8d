package route

import (
	"net/url"
	"strings"
)

// maxQuery is the longest query that is passed on to a destination. With a
// longer one the visitor arrives without it: many servers and proxies refuse a
// longer Location, and then nobody arrives.
const maxQuery = 4096

// utmNames are the parameters that UTM fills, in the order of their values in
// (*UTM).values.
var utmNames = [...]string{"utm_source", "utm_medium", "utm_campaign", "utm_term", "utm_content"}

func (u *UTM) values() [len(utmNames)]string {
	return [...]string{u.Source, u.Medium, u.Campaign, u.Term, u.Content}
}

// target is a destination prepared for queries to be added.
type target struct {
	kind Destination
	// plain is the whole location for a request without a query.
	plain string
	// base is the destination as given, up to its fragment; join goes between
	// it and the first parameter that is added.
	base, join, fragment string
	// names are the parameters that the destination carries itself.
	names map[string]struct{}
	// utm are the parameters to add unless the request has its own.
	utm [len(utmNames)]string
}

// newTarget prepares a destination with campaign parameters, the most important
// first. It is nil when there is no destination, or when the destination is not
// an http(s) address: the administrative side refuses such addresses, and none
// may ever leave as a Location.
func newTarget(kind Destination, destination string, utms ...*UTM) *target {
	location := safeLocation(destination)
	if location == "" {
		return nil
	}
	t := &target{kind: kind, base: location, join: "?"}
	if base, _, found := strings.Cut(location, "#"); found {
		t.base, t.fragment = base, location[len(base):]
	}
	if _, query, found := strings.Cut(t.base, "?"); found {
		if t.join = "&"; query == "" || strings.HasSuffix(query, "&") {
			t.join = ""
		}
		for pair := range strings.SplitSeq(query, "&") {
			if pair == "" {
				continue
			}
			if t.names == nil {
				t.names = map[string]struct{}{}
			}
			t.names[parameterName(pair)] = struct{}{}
		}
	}
	for _, utm := range utms {
		for i, value := range utm.values() {
			name := utmNames[i]
			if _, carried := t.names[name]; value != "" && !carried && t.utm[i] == "" {
				t.utm[i] = name + "=" + url.QueryEscape(value)
			}
		}
	}
	if t.plain = t.with(""); t.plain == location {
		t.plain = location // one copy in memory, not two
	}
	return t
}

// location returns the location for a request with a raw query, or without any; ""
// for no target.
func (t *target) location(query string) string {
	switch {
	case t == nil:
		return ""
	case query == "" || query == qrMark:
		return t.plain
	}
	return t.with(query)
}

// with returns the location for a request with a raw query. The parameters of
// the destination come first, byte for byte; then those of the request that
// the destination does not carry itself; then the UTM parameters that neither
// of them carries. So what a visitor's address says explicitly (the link was
// shared with its own utm_source) wins over the link's settings, and the
// destination's author wins over both.
func (t *target) with(query string) string {
	var room [512]byte
	b := append(room[:0], t.base...)
	join := t.join
	var given [len(utmNames)]bool
	if len(query) > maxQuery {
		query = ""
	}
	for query != "" {
		var pair string
		pair, query, _ = strings.Cut(query, "&")
		if pair == "" || pair == qrMark {
			continue
		}
		name := parameterName(pair)
		if _, carried := t.names[name]; carried {
			continue
		}
		for i, utm := range utmNames {
			given[i] = given[i] || name == utm
		}
		b = append(b, join...)
		b = appendSafe(b, pair, true)
		join = "&"
	}
	for i, pair := range t.utm {
		if pair != "" && !given[i] {
			b = append(b, join...)
			b = append(b, pair...)
			join = "&"
		}
	}
	return string(append(b, t.fragment...))
}

// parameterName returns the decoded name of "name=value". A name that cannot
// be decoded stands for itself.
func parameterName(pair string) string {
	name, _, _ := strings.Cut(pair, "=")
	if strings.IndexByte(name, '%') < 0 && strings.IndexByte(name, '+') < 0 {
		return name
	}
	if decoded, err := url.QueryUnescape(name); err == nil {
		return decoded
	}
	return name
}

// qrMark is the query that the addresses in QR codes carry (completions.md §6).
const qrMark = "qr=1"

// fromQR reports whether a raw query has the mark of a QR code.
func fromQR(query string) bool {
	for query != "" {
		var pair string
		if pair, query, _ = strings.Cut(query, "&"); pair == qrMark {
			return true
		}
	}
	return false
}

// safeLocation returns an absolute http(s) address in the bytes that a
// Location header may have, or "" when s is none.
func safeLocation(s string) string {
	u, err := url.Parse(s) // refuses control characters
	if err != nil || (u.Scheme != "https" && u.Scheme != "http") || u.Hostname() == "" || u.Opaque != "" {
		return ""
	}
	location := string(appendSafe(nil, s, false))
	if location == s {
		return s
	}
	if _, err := url.Parse(location); err != nil { // a hostname that has what is escaped elsewhere
		return ""
	}
	return location
}

// appendSafe appends s and percent-encodes every byte that an address must not
// contain. In a parameter it also encodes bytes that would end the query, and
// percent signs that begin no valid escape.
func appendSafe(b []byte, s string, parameter bool) []byte {
	const hex = "0123456789ABCDEF"
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c <= ' ' || c >= 0x7f || strings.IndexByte("\"<>\\^`{|}", c) >= 0,
			parameter && c == '#',
			parameter && c == '%' && !(i+2 < len(s) && isHex(s[i+1]) && isHex(s[i+2])):
			b = append(b, '%', hex[c>>4], hex[c&15])
		default:
			b = append(b, c)
		}
	}
	return b
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}
