package dnsprovider

import (
	"context"
	"fmt"
	"hash/maphash"
	"net/http"
	"strings"
	"time"

	"github.com/miekg/dns"

	"github.com/waymarkhq/waymark/internal/fault"
)

// PowerDNS is a Provider that changes the zones of a PowerDNS Authoritative Server by
// its HTTP API. It makes the zones that are not there.
//
// The API cannot compare before it changes. Replace reads, compares and writes; calls
// of one process for one zone take turns. What somebody else changes in the
// milliseconds between the reading and the writing is overwritten unnoticed.
type PowerDNS struct {
	url, key    string
	nameservers []string
	client      *http.Client
	timeout     time.Duration
	// turns of zones, chosen by the hash of the zone's name; whoever puts something in
	// has it.
	turns [64]chan struct{}
}

// NewPowerDNS returns the provider with its API at url and an API key. nameservers are
// those of the zones that it makes.
func NewPowerDNS(url, key string, nameservers []string) *PowerDNS {
	p := &PowerDNS{url: strings.TrimSuffix(url, "/") + "/api/v1/servers/localhost", key: key, nameservers: nameservers,
		timeout: callTimeout}
	for i := range p.turns {
		p.turns[i] = make(chan struct{}, 1)
	}
	// No proxy of the environment: the API is the operator's own. No redirects: they
	// would carry the key elsewhere.
	p.client = &http.Client{
		Transport:     &http.Transport{MaxIdleConns: 4, MaxIdleConnsPerHost: 4, IdleConnTimeout: 30 * time.Second},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return p
}

// zoneJSON, rrset and recordJSON are what the API calls Zone, RRSet and Record.
type zoneJSON struct {
	Name        string   `json:"name,omitempty"`
	Kind        string   `json:"kind,omitempty"`
	Nameservers []string `json:"nameservers,omitempty"`
	RRsets      []rrset  `json:"rrsets,omitempty"`
}

type rrset struct {
	Name       string       `json:"name"`
	Type       string       `json:"type"`
	TTL        int64        `json:"ttl"`
	ChangeType string       `json:"changetype,omitempty"`
	Records    []recordJSON `json:"records"`
}

type recordJSON struct {
	Content  string `json:"content"`
	Disabled bool   `json:"disabled"`
}

// Check asks the server for its version, with the key, and tells what was found.
func (p *PowerDNS) Check(ctx context.Context, _ string) (found string, err error) {
	ctx, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	var server struct {
		Version string `json:"version"`
	}
	if err := p.call(ctx, "GET", "", nil, &server); err != nil {
		return "", err
	}
	return fmt.Sprintf("PowerDNS %.40s accepts the key", server.Version), nil
}

// Zone implements Provider. It makes a zone of the hostname where neither the hostname
// nor a name above it is one.
func (p *PowerDNS) Zone(ctx context.Context, hostname string) (zone string, err error) {
	defer fault.Wrap(&err, "powerdns: zone of %s", hostname)
	ctx, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	if registry(hostname) {
		return "", ErrNoZone
	}
	for name := hostname; !registry(name); name = parent(name) {
		if found, err := p.hosts(ctx, name); found || err != nil {
			return name, err
		}
	}
	made := zoneJSON{Name: dns.Fqdn(hostname), Kind: "Native"}
	for _, nameserver := range p.nameservers {
		made.Nameservers = append(made.Nameservers, dns.Fqdn(nameserver))
	}
	err = p.call(ctx, "POST", "/zones?rrsets=false", made, nil)
	if status(err) != 0 {
		// Another process may have made it meanwhile: 409, or 500 where the server noticed
		// late.
		if found, errFind := p.hosts(ctx, hostname); found || errFind != nil {
			return hostname, errFind
		}
	}
	return hostname, err
}

// hosts reports whether the server has a zone of a name.
func (p *PowerDNS) hosts(ctx context.Context, name string) (bool, error) {
	var zones []zoneJSON
	err := p.call(ctx, "GET", "/zones?zone="+dns.Fqdn(name), nil, &zones)
	return len(zones) > 0, err
}

// Get implements Provider.
func (p *PowerDNS) Get(ctx context.Context, zone, name, kind string) (s Set, err error) {
	defer fault.Wrap(&err, "powerdns: get %s %s", name, kind)
	ctx, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	return p.get(ctx, zone, name, kind)
}

func (p *PowerDNS) get(ctx context.Context, zone, name, kind string) (s Set, err error) {
	if dns.StringToType[kind] == 0 || !within(zone, name) {
		return Set{}, fmt.Errorf("there are no records %s %.20q in the zone %s", name, kind, zone)
	}
	var there zoneJSON
	path := zonePath(zone) + "?rrset_name=" + dns.Fqdn(name) + "&rrset_type=" + kind
	if err := p.call(ctx, "GET", path, nil, &there); err != nil {
		return Set{}, absent(err)
	}
	var records []dns.RR
	for _, set := range there.RRsets {
		if undotted(set.Name) != name || set.Type != kind { // of a server that does not know the filter
			continue
		}
		for _, r := range set.Records {
			if r.Disabled {
				continue // it is not served
			}
			record, err := dns.NewRR(fmt.Sprintf("%s %d IN %s %s", dns.Fqdn(name), set.TTL, kind, r.Content))
			if err != nil || record == nil {
				return Set{}, fmt.Errorf("the server has a record %.100q, which cannot be read: %w", r.Content, err)
			}
			records = append(records, record)
		}
	}
	return setOf(name, kind, records), nil
}

// Replace implements Provider.
func (p *PowerDNS) Replace(ctx context.Context, zone string, old, new Set) (err error) {
	defer fault.Wrap(&err, "powerdns: replace %s %s", new.Name, new.Type)
	if err := checkReplace(zone, old, new); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	turn := p.turns[maphash.String(seed, zone)%uint64(len(p.turns))]
	select {
	case turn <- struct{}{}:
		defer func() { <-turn }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	now, err := p.get(ctx, zone, new.Name, new.Type)
	if err != nil {
		return err
	}
	return replace(now, old, new, func() error { return p.patch(ctx, zone, new) })
}

var seed = maphash.MakeSeed()

// patch makes a set new, whatever it is.
func (p *PowerDNS) patch(ctx context.Context, zone string, new Set) error {
	records, err := new.records()
	if err != nil {
		return err
	}
	set := rrset{Name: dns.Fqdn(new.Name), Type: new.Type, TTL: new.TTL, ChangeType: "REPLACE", Records: []recordJSON{}}
	for _, record := range records {
		set.Records = append(set.Records, recordJSON{Content: content(record)})
	}
	if len(records) == 0 {
		set.ChangeType = "DELETE"
	}
	err = p.call(ctx, "PATCH", zonePath(zone), zoneJSON{RRsets: []rrset{set}}, nil)
	if status(err) == http.StatusUnprocessableEntity && strings.Contains(err.Error(), "onflicts with") {
		return fmt.Errorf("%w: %w", ErrChanged, err)
	}
	return absent(err)
}
