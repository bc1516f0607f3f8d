package dnsprovider

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/miekg/dns"
	"golang.org/x/net/publicsuffix"
)

// maxTTL is the longest TTL there is, in seconds (RFC 2181, section 8).
const maxTTL = 1<<31 - 1

// Same reports whether two sets of one name and type have the same values by their
// meaning: in any order, hostnames in any case, with or without a final dot. TTLs do
// not count. A value that has no meaning is the same as its very text.
func (s Set) Same(other Set) bool {
	return s.Name == other.Name && s.Type == other.Type && slices.Equal(s.meaning(), other.meaning())
}

// meaning returns the values in their canonical form, sorted, each once.
func (s Set) meaning() []string {
	values := make([]string, len(s.Values))
	for i, value := range s.Values {
		canonical, err := Canonical(s.Type, value)
		if err != nil {
			canonical = value
		}
		values[i] = canonical
	}
	slices.Sort(values)
	return slices.Compact(values)
}

// records returns the set as records, each value once.
func (s Set) records() ([]dns.RR, error) {
	var records []dns.RR
	for _, value := range s.meaning() {
		record, err := parse(s.Type, value)
		if err != nil {
			return nil, err
		}
		header := record.Header()
		header.Name, header.Ttl = dns.Fqdn(s.Name), uint32(s.TTL)
		records = append(records, record)
	}
	return records, nil
}

// setOf returns the set that records are, all of its name and type.
func setOf(name, kind string, records []dns.RR) Set {
	s := Set{Name: name, Type: kind, Values: []string{}}
	for _, record := range records {
		s.TTL = int64(record.Header().Ttl)
		s.Values = append(s.Values, valueOf(record))
	}
	s.Values = s.meaning()
	return s
}

// checkReplace refuses what no provider can do.
func checkReplace(zone string, old, new Set) error {
	switch {
	case old.Name != new.Name || old.Type != new.Type:
		return fmt.Errorf("%s %s cannot become %s %s", old.Name, old.Type, new.Name, new.Type)
	case !within(zone, new.Name):
		return fmt.Errorf("%s is not in the zone %s", new.Name, zone)
	case new.TTL < 0 || new.TTL > maxTTL:
		return fmt.Errorf("%d is not a TTL", new.TTL)
	case new.Type == "CNAME" && len(new.meaning()) > 1:
		return fmt.Errorf("%s cannot have several CNAME records", new.Name)
	case new.Type == "NS" && new.Name == zone:
		return fmt.Errorf("the NS records of the zone %s itself are left to its provider", zone)
	}
	_, err := new.records()
	return err
}

// replace is Replace of a provider that cannot compare by itself: write runs when the
// set is old now, or new with another TTL.
func replace(now, old, new Set, write func() error) error {
	if now.Same(new) && (now.TTL == new.TTL || len(new.Values) == 0) {
		return nil
	}
	if !now.Same(old) && !now.Same(new) {
		return ErrChanged
	}
	return write()
}

// within reports whether a name is a zone's or below it.
func within(zone, name string) bool { return name == zone || strings.HasSuffix(name, "."+zone) }

// parent returns a name without its first label, "" above a top-level domain.
func parent(name string) string {
	_, above, _ := strings.Cut(name, ".")
	return above
}

// registry reports whether zone is where a registry sells names, or above: no
// customer's hostname belongs to such a zone.
func registry(zone string) bool {
	suffix, official := publicsuffix.PublicSuffix(zone)
	return zone == "" || zone == suffix && (official || !strings.Contains(zone, "."))
}

// cause returns why a call failed: that its time was up, where that was the reason.
func cause(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}
