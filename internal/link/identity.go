package link

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/text"
	"github.com/waymarkhq/waymark/internal/weburl"
)

// identity is the address of a link: what cannot be edited.
type identity struct{ hostname, prefix, slug string }

func (l *Link) identity() identity { return identity{l.Domain, l.Prefix, l.Slug} }

// maxSegment is the longest slug, and the longest prefix, in characters.
const maxSegment = 200

// reserved segments belong to the redirector, in any case.
var reserved = map[string]bool{"_service": true, ".well-known": true, "robots.txt": true, "favicon.ico": true}

// newIdentity brings an address to its stored form and collects what keeps it
// from being one (completions.md §3).
func newIdentity(p *fault.Problems, domain, prefix, slug string) identity {
	host, ok := weburl.Hostname(domain)
	if !ok {
		p.Keep(unknownDomain())
	}
	id := identity{hostname: host, prefix: norm.NFC.String(prefix), slug: norm.NFC.String(slug)}
	if id.prefix != "" {
		p.Keep(checkLength("/prefix", id.prefix))
		for _, part := range strings.Split(id.prefix, "/") {
			if err := checkSegment("/prefix", part); err != nil {
				p.Keep(err)
				break
			}
		}
	}
	p.Keep(checkLength("/slug", id.slug))
	p.Keep(checkSegment("/slug", id.slug))
	return id
}

func checkLength(path, text string) error {
	if len([]rune(text)) > maxSegment {
		return fault.Invalid(path, fault.ReasonTooLong, "the text must have at most %d characters", maxSegment)
	}
	return nil
}

// checkSegment accepts letters and digits of any script with the marks that
// belong to them: words of many languages cannot be written without.
func checkSegment(path, segment string) error {
	switch {
	case segment == "" || segment == "." || segment == "..":
		return fault.Invalid(path, fault.ReasonInvalidFormat, "a segment must not be empty, . or ..")
	case reserved[text.Fold(segment)]:
		return fault.Invalid(path, fault.ReasonReserved, "the segment %s is reserved for the redirector; choose "+
			"another one", text.Fold(segment))
	case unicode.IsMark([]rune(segment)[0]):
		return fault.Invalid(path, fault.ReasonInvalidFormat, "a segment must not start with a combining mark")
	case strings.ContainsFunc(segment, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) && !strings.ContainsRune("-_.~", r)
	}):
		return fault.Invalid(path, fault.ReasonInvalidFormat,
			"a segment must consist of letters, digits, -, _, . and ~")
	}
	return nil
}

func unknownDomain() error {
	return fault.Invalid("/domain", fault.ReasonUnknownReference,
		"the domain must be one of this app that is ready for links")
}
