package domain

import (
	"slices"
	"strings"

	"golang.org/x/net/idna"
	"golang.org/x/net/publicsuffix"

	"github.com/waymarkhq/waymark/internal/dnsrecord"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/weburl"
)

// ownHostname checks a hostname that an owner brings, and returns it as A-labels.
func (o Options) ownHostname(value string) (string, error) {
	hostname, ok := weburl.Hostname(value)
	if !ok || !strings.Contains(hostname, ".") {
		return "", refusedHostname(fault.ReasonInvalidFormat, "the hostname must be a DNS name such as go.example.com")
	}
	if len(dnsrecord.ChallengeName)+len(".")+len(hostname) > 253 {
		return "", refusedHostname(fault.ReasonTooLong, "the hostname is too long: its challenge %s.… would be no DNS name",
			dnsrecord.ChallengeName)
	}
	suffix, _ := publicsuffix.PublicSuffix(hostname)
	switch {
	case o.isOurs(hostname):
		return "", refusedHostname(fault.ReasonReserved, "the hostname %s is one of this installation itself; use another "+
			"one", hostname)
	case isBelow(hostname, o.PlatformZone):
		return "", refusedHostname(fault.ReasonReserved, "hostnames below %s are made with the mode platform and a prefix",
			o.PlatformZone)
	case isBelow(o.PlatformZone, hostname):
		return "", refusedHostname(fault.ReasonReserved, "the zone %s of this installation is below the hostname; use "+
			"another one", o.PlatformZone)
	case !weburl.Public(hostname):
		return "", refusedHostname(fault.ReasonNotAllowed, "the hostname must be one of the public DNS, such as "+
			"go.example.com; those below %s are not", hostname[strings.LastIndexByte(hostname, '.')+1:])
	case suffix == hostname:
		return "", refusedHostname(fault.ReasonNotAllowed, "%s is a public suffix, below which many people have names; "+
			"use a name of your own below it", hostname)
	}
	labels := unicodeLabels(hostname)
	for _, l := range labels {
		if problem := labelProblem(l, labels[len(labels)-1]); problem != "" {
			return "", refusedHostname(fault.ReasonNotAllowed, "the part %s of the hostname %s", l, problem)
		}
	}
	return hostname, nil
}

func refusedHostname(reason fault.Reason, format string, args ...any) error {
	return fault.Invalid("/hostname", reason, format, args...)
}

// isOurs reports whether a hostname is one of the installation itself.
func (o Options) isOurs(hostname string) bool {
	return slices.Contains([]string{o.PlatformZone, o.AssetsHost, o.APIHost, o.Connection.CNAME}, hostname)
}

// isBelow reports whether a hostname is in a zone, but not the zone itself.
func isBelow(hostname, zone string) bool { return zone != "" && strings.HasSuffix(hostname, "."+zone) }

// unicodeLabels returns the parts of a hostname as people read them.
func unicodeLabels(hostname string) []string {
	labels := strings.Split(hostname, ".")
	for i, l := range labels {
		if u, err := idna.Punycode.ToUnicode(l); err == nil {
			labels[i] = u
		}
	}
	return labels
}

// platformHostname returns <prefix>.<zone> as A-labels. The prefix is one DNS label
// of at most 32 characters as clients send it.
func (o Options) platformHostname(prefix string) (string, error) {
	hostname, ok := weburl.Hostname(prefix + "." + o.PlatformZone)
	if !ok || strings.ContainsAny(prefix, ".。．｡") {
		return "", refusedPrefix(fault.ReasonInvalidFormat, "the prefix must be one DNS label: letters, digits and "+
			"hyphens, with no hyphen at either end")
	}
	label := unicodeLabels(hostname)[0]
	if problem := labelProblem(label, ""); problem != "" {
		return "", refusedPrefix(fault.ReasonNotAllowed, "the prefix %s", problem)
	}
	switch like := reservedLike(label, o.ReservedPrefixes); {
	case like == label || o.isOurs(hostname):
		return "", refusedPrefix(fault.ReasonReserved, "the prefix %s is reserved: people would take its hostname for a "+
			"part of this service; choose another one", label)
	case like != "":
		return "", refusedPrefix(fault.ReasonReserved, "the prefix looks like %s, which is reserved; choose another one",
			like)
	}
	return hostname, nil
}

func refusedPrefix(reason fault.Reason, format string, args ...any) error {
	return fault.Invalid("/prefix", reason, format, args...)
}
