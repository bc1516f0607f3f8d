package link

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/fold"
	"github.com/waymarkhq/waymark/internal/weburl"
)

// identity is the address of a link: what cannot be edited.
type identity struct{ hostname, prefix, slug string }

// maxSegment is the longest slug, and the longest prefix, in characters.
const maxSegment = 200

// reserved segments belong to the redirector, in any case.
var reserved = map[string]bool{"_service": true, ".well-known": true, "robots.txt": true, "favicon.ico": true}

// newIdentity brings an address to its stored form or says which part of it
// cannot be one (completions.md §3).
func newIdentity(domain, prefix, slug string) (identity, error) {
	host, ok := weburl.Hostname(domain)
	if !ok {
		return identity{}, unknownDomain()
	}
	id := identity{hostname: host, prefix: norm.NFC.String(prefix), slug: norm.NFC.String(slug)}
	if id.prefix != "" {
		if len([]rune(id.prefix)) > maxSegment {
			return id, fault.Invalid("/prefix", "too_long", "the prefix exceeds %d characters", maxSegment)
		}
		for _, part := range strings.Split(id.prefix, "/") {
			if err := checkSegment("/prefix", part); err != nil {
				return id, err
			}
		}
	}
	if len([]rune(id.slug)) > maxSegment {
		return id, fault.Invalid("/slug", "too_long", "the slug exceeds %d characters", maxSegment)
	}
	return id, checkSegment("/slug", id.slug)
}

// checkSegment accepts letters and digits of any script with the marks that
// belong to them: words of many languages cannot be written without.
func checkSegment(path, segment string) error {
	switch {
	case segment == "" || segment == "." || segment == "..":
		return fault.Invalid(path, "invalid_segment", "a segment is empty or a dot segment")
	case reserved[fold.Text(segment)]:
		return fault.Invalid(path, "reserved", "the segment %s is reserved", fold.Text(segment))
	case unicode.IsMark([]rune(segment)[0]):
		return fault.Invalid(path, "invalid_segment", "a segment does not start with a combining mark")
	case strings.ContainsFunc(segment, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) && !strings.ContainsRune("-_.~", r)
	}):
		return fault.Invalid(path, "invalid_segment", "a segment consists of letters, digits, -, _, . and ~")
	}
	return nil
}

func unknownDomain() error {
	return fault.Invalid("/domain", "unknown_reference", "the domain is not one of this app that is ready for links")
}
