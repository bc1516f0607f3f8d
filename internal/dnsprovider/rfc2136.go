package dnsprovider

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/miekg/dns"

	"github.com/waymarkhq/waymark/internal/fault"
)

const (
	// callTimeout bounds each call of a provider's server.
	callTimeout = 10 * time.Second
	// fudge is how many seconds the clocks of both sides may differ.
	fudge = 300
)

// RFC2136 is a Provider that changes the zones of one server by dynamic updates
// (RFC 2136) over TCP, signed with a key. The server itself compares before it
// changes, in one step: of two that change a set at the same time one gets
// ErrChanged.
type RFC2136 struct {
	server  string
	key     Key
	timeout time.Duration
	now     func() time.Time
}

// NewRFC2136 returns the provider at host:port.
func NewRFC2136(server string, key Key) *RFC2136 {
	return &RFC2136{server, key, callTimeout, time.Now}
}

// Check asks for the zone of a hostname, signed, and tells what was found. Some servers
// look at a signature only where they host the zone.
func (p *RFC2136) Check(ctx context.Context, hostname string) (found string, err error) {
	ctx, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	_, err = p.ask(ctx, newQuestion(hostname, dns.TypeSOA))
	if errors.Is(err, errRefused) {
		return fmt.Sprintf("%s answers, the key was not tried: it hosts no zone of %q", p.server, hostname), nil
	} else if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s accepts the key %s", p.server, undotted(p.key.name)), nil
}

// Zone implements Provider. It makes no zones.
func (p *RFC2136) Zone(ctx context.Context, hostname string) (zone string, err error) {
	defer fault.Wrap(&err, "rfc2136: zone of %s", hostname)
	ctx, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	for name := hostname; !registry(name); name = parent(name) {
		answer, err := p.question(ctx, name, dns.TypeSOA)
		if err != nil {
			return "", err
		}
		if !answer.Authoritative { // it refers to other servers, or has asked them
			return "", ErrNoZone
		}
		records := answer.Answer
		if len(records) == 0 {
			records = answer.Ns
		}
		for _, record := range records {
			zone := undotted(record.Header().Name)
			if record.Header().Rrtype == dns.TypeSOA && within(zone, name) && !registry(zone) {
				return zone, nil
			}
		}
		// A CNAME hides the zone; the name above it shows it.
	}
	return "", ErrNoZone
}

// Get implements Provider.
func (p *RFC2136) Get(ctx context.Context, zone, name, kind string) (s Set, err error) {
	defer fault.Wrap(&err, "rfc2136: get %s %s", name, kind)
	ctx, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	records, err := p.read(ctx, zone, name, kind)
	return setOf(name, kind, records), err
}

// Replace implements Provider.
func (p *RFC2136) Replace(ctx context.Context, zone string, old, new Set) (err error) {
	defer fault.Wrap(&err, "rfc2136: replace %s %s", new.Name, new.Type)
	ctx, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	if err := checkReplace(zone, old, new); err != nil {
		return err
	}
	// Once more, for a set that changed between the reading and the update.
	for range 2 {
		var records []dns.RR
		if records, err = p.read(ctx, zone, new.Name, new.Type); err != nil {
			return err
		}
		err = replace(setOf(new.Name, new.Type, records), old, new, func() error {
			return p.update(ctx, zone, records, new)
		})
		if !errors.Is(err, errPrerequisite) {
			return err
		}
	}
	return fmt.Errorf("%w: other records at the name are in the way", ErrChanged)
}

// errPrerequisite means that an update was refused because of what is there.
var errPrerequisite = errors.New("the records of the zone are not as the update demands")

// read returns the records of a set as the server has them.
func (p *RFC2136) read(ctx context.Context, zone, name, kind string) ([]dns.RR, error) {
	numeric, ok := dns.StringToType[kind]
	if !ok || !within(zone, name) {
		return nil, fmt.Errorf("there are no records %s %.20q in the zone %s", name, kind, zone)
	}
	answer, err := p.question(ctx, name, numeric)
	if err != nil {
		return nil, err
	}
	there := answer.Answer
	if !answer.Authoritative {
		if there, err = referral(answer, zone, name); err != nil {
			return nil, err
		}
	}
	records := slices.DeleteFunc(there, func(r dns.RR) bool {
		return r.Header().Rrtype != numeric || undotted(r.Header().Name) != name
	})
	if len(records) == 0 {
		return nil, nil
	}
	// A wildcard answers with the name that was asked, too. What demands the set and
	// changes nothing tells whether it is there.
	m := new(dns.Msg).SetUpdate(dns.Fqdn(zone))
	m.RRsetUsed(records[:1])
	if err := p.send(ctx, m); errors.Is(err, errPrerequisite) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	return records, nil
}

// referral returns what a referral shows of the zone: the NS records of the
// delegation, and the addresses of these nameservers. Other records there are in the
// zone that was delegated, and those of the zone itself do not show.
func referral(answer *dns.Msg, zone, name string) ([]dns.RR, error) {
	for _, record := range answer.Ns {
		ns, ok := record.(*dns.NS)
		if !ok || !within(zone, undotted(ns.Hdr.Name)) || undotted(ns.Hdr.Name) == zone {
			continue
		}
		asked := answer.Question[0].Qtype
		address := asked == dns.TypeA || asked == dns.TypeAAAA
		if asked == dns.TypeNS && undotted(ns.Hdr.Name) == name || address && undotted(ns.Ns) == name {
			return slices.Concat(answer.Ns, answer.Extra), nil
		}
	}
	if len(answer.Ns) > 0 && within(zone, undotted(answer.Ns[0].Header().Name)) {
		return nil, fmt.Errorf("%w: %s is delegated to other nameservers", ErrChanged,
			undotted(answer.Ns[0].Header().Name))
	}
	return nil, fmt.Errorf("%w: the server is not an authority for %s", ErrNoZone, zone)
}

// update makes a set new where its records are those that were read.
func (p *RFC2136) update(ctx context.Context, zone string, read []dns.RR, set Set) error {
	records, err := set.records()
	if err != nil {
		return err
	}
	m := new(dns.Msg).SetUpdate(dns.Fqdn(zone))
	// one stands for the name and a type in what demands or removes a whole set.
	one := func(kind string) []dns.RR {
		return []dns.RR{&dns.ANY{Hdr: dns.RR_Header{Name: dns.Fqdn(set.Name), Rrtype: dns.StringToType[kind]}}}
	}
	switch {
	case len(read) > 0:
		m.Used(read)
	case set.Type == "CNAME":
		m.NameNotUsed(one("CNAME"))
	default:
		m.RRsetNotUsed(slices.Concat(one(set.Type), one("CNAME")))
	}
	if len(read) > 0 {
		m.RemoveRRset(one(set.Type))
	}
	m.Insert(records)
	return p.send(ctx, m)
}

// send sends an update.
func (p *RFC2136) send(ctx context.Context, m *dns.Msg) error {
	answer, err := p.ask(ctx, m)
	if err != nil {
		return err
	}
	switch answer.Rcode {
	case dns.RcodeSuccess:
		return nil
	case dns.RcodeNXRrset, dns.RcodeYXRrset, dns.RcodeYXDomain:
		return errPrerequisite
	case dns.RcodeNotAuth, dns.RcodeNotZone:
		return fmt.Errorf("%w: %w", ErrNoZone, p.refused(answer))
	}
	return p.refused(answer)
}
