package dnsprovider

import (
	"fmt"
	"net/netip"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/miekg/dns"
)

// maxText is how many bytes a TXT record holds, which its strings of 255 bytes are
// joined to. Two of them fit into one message.
const maxText = 16 << 10

// maxString is how many bytes one string of a TXT record holds.
const maxString = 255

// Canonical returns the form of a value of a type (Set.Type) in which values of the
// same meaning are the same text: hostnames in lower case without a final dot,
// addresses as RFC 5952 has them, the value of a CAA in quotes.
func Canonical(kind, value string) (string, error) {
	record, err := parse(kind, value)
	if err != nil {
		return "", err
	}
	return valueOf(record), nil
}

// parse returns the record that a value of a type is, without its name.
func parse(kind, value string) (dns.RR, error) {
	refused := func(form string) (dns.RR, error) {
		return nil, fmt.Errorf("%.100q is not a value of %s: write %s", value, kind, form)
	}
	header := dns.RR_Header{Rrtype: dns.StringToType[kind], Class: dns.ClassINET}
	if kind == "TXT" {
		if len(value) > maxText {
			return nil, fmt.Errorf("a TXT record holds at most %d bytes, this text has %d", maxText, len(value))
		}
		return &dns.TXT{Hdr: header, Txt: split(value)}, nil
	}
	fields := strings.Fields(value)
	numbers, target := numbers(fields)
	switch kind {
	case "A":
		if a, err := netip.ParseAddr(value); err == nil && a.Is4() {
			return &dns.A{Hdr: header, A: a.AsSlice()}, nil
		}
		return refused("an IPv4 address such as 192.0.2.1")
	case "AAAA":
		if a, err := netip.ParseAddr(value); err == nil && a.Is6() && a.Zone() == "" {
			return &dns.AAAA{Hdr: header, AAAA: a.AsSlice()}, nil
		}
		return refused("an IPv6 address such as 2001:db8::1")
	case "CNAME", "NS":
		host, ok := hostname(target)
		switch {
		case !ok || len(fields) != 1 || host == ".":
			return refused("a hostname")
		case kind == "NS":
			return &dns.NS{Hdr: header, Ns: host}, nil
		}
		return &dns.CNAME{Hdr: header, Target: host}, nil
	case "MX":
		if host, ok := hostname(target); ok && len(numbers) == 1 {
			return &dns.MX{Hdr: header, Preference: numbers[0], Mx: host}, nil
		}
		return refused("a priority and a hostname, such as 10 mail.example.com")
	case "SRV":
		if host, ok := hostname(target); ok && len(numbers) == 3 {
			return &dns.SRV{Hdr: header, Priority: numbers[0], Weight: numbers[1], Port: numbers[2], Target: host}, nil
		}
		return refused("a priority, a weight, a port and a hostname, such as 10 5 443 www.example.com")
	case "CAA":
		if m := caa.FindStringSubmatch(value); m != nil {
			if flag, err := strconv.ParseUint(m[1], 10, 8); err == nil {
				return &dns.CAA{Hdr: header, Flag: uint8(flag), Tag: strings.ToLower(m[2]), Value: m[3] + m[4]}, nil
			}
		}
		return refused(`a flag, a tag and a quoted value, such as 0 issue "ca.example.net"`)
	}
	return nil, fmt.Errorf("records of the type %.20q are not known", kind)
}

// caa has the flag, the tag and the value in quotes or without.
var caa = regexp.MustCompile(`^([0-9]{1,3})[ \t]+([A-Za-z0-9]{1,15})[ \t]+(?:"([ !#-\[\]-~]*)"|([!#-\[\]-~]+))$`)

// numbers returns the fields before the last one, nil where one is no number, and the
// last field.
func numbers(fields []string) (numbers []uint16, last string) {
	for i, field := range fields {
		if i == len(fields)-1 {
			return numbers, field
		}
		n, err := strconv.ParseUint(field, 10, 16)
		if err != nil {
			return nil, ""
		}
		numbers = append(numbers, uint16(n))
	}
	return nil, ""
}

var label = regexp.MustCompile(`^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$`)

// hostname returns a name in lower case with its final dot. "." is the root, which
// says that there is no host.
func hostname(name string) (string, bool) {
	if name == "." {
		return name, true
	}
	name = strings.ToLower(strings.TrimSuffix(name, "."))
	for each := range strings.SplitSeq(name, ".") {
		if !label.MatchString(each) {
			return "", false
		}
	}
	return name + ".", len(name) <= 253
}

// valueOf returns the canonical value of a record.
func valueOf(record dns.RR) string {
	switch r := record.(type) {
	case *dns.A:
		return r.A.String()
	case *dns.AAAA:
		if a, ok := netip.AddrFromSlice(r.AAAA.To16()); ok {
			return a.String()
		}
	case *dns.CNAME:
		return undotted(r.Target)
	case *dns.NS:
		return undotted(r.Ns)
	case *dns.MX:
		return fmt.Sprintf("%d %s", r.Preference, undotted(r.Mx))
	case *dns.SRV:
		return fmt.Sprintf("%d %d %d %s", r.Priority, r.Weight, r.Port, undotted(r.Target))
	case *dns.CAA:
		return fmt.Sprintf("%d %s %q", r.Flag, strings.ToLower(r.Tag), r.Value)
	case *dns.TXT:
		return text(r.Txt)
	}
	return content(record)
}

// content returns what a zone file has behind the type of a record.
func content(record dns.RR) string {
	return strings.TrimPrefix(record.String(), record.Header().String())
}

// undotted returns a name in lower case without its final dot, but for the root's.
func undotted(name string) string {
	if name == "." {
		return name
	}
	return strings.ToLower(strings.TrimSuffix(name, "."))
}

// split returns a text as strings of a TXT record, in which a backslash escapes.
func split(value string) []string {
	parts := []string{}
	for len(value) > maxString {
		parts, value = append(parts, value[:maxString]), value[maxString:]
	}
	parts = append(parts, value)
	for i := range parts {
		parts[i] = strings.ReplaceAll(parts[i], `\`, `\\`)
	}
	return parts
}

// text joins the strings of a TXT record. What is no UTF-8, and NUL, which no
// database keeps, is shown as U+FFFD.
func text(parts []string) string {
	var b strings.Builder
	for _, part := range parts {
		for i := 0; i < len(part); i++ {
			if part[i] != '\\' || i+1 == len(part) {
				b.WriteByte(part[i])
				continue
			}
			if i+3 < len(part) {
				if n, err := strconv.ParseUint(part[i+1:i+4], 10, 8); err == nil {
					b.WriteByte(byte(n))
					i += 3
					continue
				}
			}
			i++
			b.WriteByte(part[i])
		}
	}
	shown := strings.ToValidUTF8(b.String(), string(utf8.RuneError))
	return strings.ReplaceAll(shown, "\x00", string(utf8.RuneError))
}
