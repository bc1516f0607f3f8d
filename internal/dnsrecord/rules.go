package dnsrecord

import (
	"fmt"
	"net/netip"
	"regexp"
	"strings"

	"github.com/waymarkhq/waymark/internal/dnsprovider"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/text"
	"github.com/waymarkhq/waymark/internal/weburl"
)

// apex is the name of the records of a domain's hostname itself.
const apex = "@"

// reserved are the names below a hostname that prove its ownership, here and to
// certificate authorities. They are the installation's own.
var reserved = []string{ChallengeName, "_acme-challenge"}

// ChallengeName is the name of the record that proves the ownership of a hostname.
const ChallengeName = "_waymark-challenge"

var label = regexp.MustCompile(`^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$`)

// parseName returns the canonical form of a name that an owner sends: relative to
// the hostname, in lower case, international labels as A-labels.
func parseName(hostname, sent string) (string, error) {
	refuse := func(format string, args ...any) (string, error) {
		return "", fault.Invalid("/name", fault.ReasonInvalidFormat, format, args...)
	}
	if sent == apex {
		return apex, nil
	}
	name, ok := ascii(sent)
	if rest, full := strings.CutSuffix("."+strings.TrimSuffix(name, "."), "."+hostname); ok && full {
		if rest = strings.TrimPrefix(rest, "."); rest == "" {
			rest = apex
		}
		return refuse("the name is relative to %s: write %s instead of %s", hostname, rest, sent)
	}
	for i, each := range strings.Split(name, ".") {
		ok = ok && (label.MatchString(each) || i == 0 && each == "*")
	}
	if !ok {
		return refuse("the name must be %s for %s itself, or labels below it such as www or _sip._tcp: letters, "+
			"digits, hyphens and underscores, with no hyphen at an end of a label; * may be the first label", apex,
			hostname)
	}
	if n := len(fqdn(name, hostname)); n > 253 {
		return refuse("the name has %d characters with %s, and at most 253 are allowed", n, hostname)
	}
	for _, each := range reserved {
		if name == each || strings.HasSuffix(name, "."+each) {
			return "", fault.Invalid("/name", fault.ReasonReserved, "the name %s is reserved: the installation proves "+
				"there that the hostname is yours", each)
		}
	}
	return name, nil
}

// fqdn returns the full name of a relative one.
func fqdn(name, hostname string) string {
	if name == apex {
		return hostname
	}
	return name + "." + hostname
}

// relative undoes fqdn.
func relative(fqdn, hostname string) string {
	if fqdn == hostname {
		return apex
	}
	return strings.TrimSuffix(fqdn, "."+hostname)
}

// ascii returns a name in lower case with its international labels as A-labels, or
// false.
func ascii(name string) (string, bool) {
	labels, ok := strings.Split(strings.ToLower(name), "."), true
	for i, each := range labels {
		if strings.ContainsFunc(each, func(r rune) bool { return r >= 0x80 }) {
			labels[i], ok = weburl.Hostname(each)
			if !ok || strings.Contains(labels[i], ".") {
				return "", false
			}
		}
	}
	return strings.Join(labels, "."), true
}

// hasPriority reports whether records of the type have one.
func (t Type) hasPriority() bool { return t == MX || t == SRV }

// forms are what a value of each type looks like.
var forms = map[Type]string{
	A: "an IPv4 address such as 192.0.2.1", AAAA: "an IPv6 address such as 2001:db8::1",
	CNAME: "a full hostname such as www.example.com", NS: "a full hostname such as ns1.example.com",
	MX:  "a full hostname such as mail.example.com; the priority has a field of its own",
	SRV: "a weight, a port and a full hostname such as 5 443 www.example.com; the priority has a field of its own",
	CAA: `flags, a tag and a value in quotes, such as 0 issue "letsencrypt.org"`,
	TXT: "a text without control characters",
}

// parseValue returns the canonical form of a value that an owner sends for a record
// with a full name.
func parseValue(t Type, fqdn, sent string) (string, error) {
	malformed := fault.Invalid("/value", fault.ReasonInvalidFormat, "the value of a record of the type %s must be %s",
		t, forms[t])
	value, ok := canonical(t, sent)
	if !ok || value == "" {
		return "", malformed
	}
	switch t {
	case A, AAAA:
		if a := netip.MustParseAddr(value); a.IsUnspecified() || a.IsMulticast() || a.Is4In6() ||
			value == "255.255.255.255" {
			return "", fault.Invalid("/value", fault.ReasonNotAllowed, "no host has the address %s", value)
		}
	case CNAME, NS, MX, SRV:
		target := value[strings.LastIndexByte(value, ' ')+1:]
		if !isTarget(t, target) {
			return "", malformed
		}
		if t == CNAME && target == fqdn {
			return "", fault.Invalid("/value", fault.ReasonNotAllowed, "a CNAME record must not lead to itself")
		}
	}
	return value, nil
}

// canonical returns the form of a value in which values of the same meaning are the
// same text, or false when the type has no such value.
func canonical(t Type, sent string) (string, bool) {
	if text.Check(sent) != nil {
		return "", false
	}
	if t == TXT {
		return sent, true
	}
	value := strings.TrimSpace(sent)
	if i := strings.LastIndexByte(value, ' '); t != CAA {
		target, ok := ascii(value[i+1:])
		if !ok {
			return "", false
		}
		value = value[:i+1] + target
	}
	value, err := dnsprovider.Canonical(string(t), rdata(t, value, new(int64)))
	return strings.TrimPrefix(value, rdata(t, "", new(int64))), err == nil
}

// isTarget reports whether a record of the type can lead to a canonical hostname.
// The root says that there is no such service.
func isTarget(t Type, host string) bool {
	if host == "." {
		return t.hasPriority()
	}
	last := host[strings.LastIndexByte(host, '.')+1:]
	return strings.Contains(host, ".") && strings.Trim(last, "0123456789") != ""
}

// rdata returns a value as providers have it.
func rdata(t Type, value string, priority *int64) string {
	if t.hasPriority() && priority != nil {
		return fmt.Sprintf("%d %s", *priority, value)
	}
	return value
}

// checkPriority refuses a priority where there is none, and its absence where there
// must be one.
func checkPriority(t Type, priority *int64) error {
	switch {
	case t.hasPriority() && priority == nil:
		return fault.Invalid("/priority", fault.ReasonRequired,
			"a record of the type %s needs a priority, such as 10", t)
	case !t.hasPriority() && priority != nil:
		return fault.Invalid("/priority", fault.ReasonNotAllowed,
			"only MX and SRV records have a priority; leave it out")
	}
	return nil
}
