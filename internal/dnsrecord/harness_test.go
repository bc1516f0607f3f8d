package dnsrecord_test

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/waymarkhq/waymark/internal/apitest"
	"github.com/waymarkhq/waymark/internal/dnsprovider"
	"github.com/waymarkhq/waymark/internal/dnsrecord"
	"github.com/waymarkhq/waymark/internal/domain"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
)

type M = apitest.M

// provider is a DNS provider that keeps its sets in memory and compares as the real
// ones do, against which package dnsprovider is tested.
type provider struct {
	mu   sync.Mutex
	sets map[string]dnsprovider.Set
	// away is the error of every call, if any.
	away error
	// before and after run around the change of a Replace that compares well.
	before, after func()
	replaced      int
}

var errAway = errors.New("connection refused")

func (p *provider) Zone(context.Context, string) (string, error) { return "example.org", nil }

func (p *provider) Get(_ context.Context, _, name, kind string) (dnsprovider.Set, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s, ok := p.sets[name+" "+kind]
	if !ok {
		s = dnsprovider.Set{Name: name, Type: kind}
	}
	return s, p.away
}

func (p *provider) Replace(_ context.Context, _ string, old, new dnsprovider.Set) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	now, ok := p.sets[new.Name+" "+new.Type]
	if !ok {
		now = dnsprovider.Set{Name: new.Name, Type: new.Type}
	}
	switch {
	case p.away != nil:
		return p.away
	case !now.Same(old) && !now.Same(new):
		return dnsprovider.ErrChanged
	}
	if p.before != nil {
		p.before()
	}
	p.put(new)
	p.replaced++
	if p.after != nil {
		p.after()
	}
	return nil
}

func (p *provider) put(s dnsprovider.Set) {
	if len(s.Values) == 0 {
		delete(p.sets, s.Name+" "+s.Type)
		return
	}
	s.Values = slices.Sorted(slices.Values(s.Values))
	p.sets[s.Name+" "+s.Type] = s
}

// set is what somebody else does at the provider.
func (p *provider) set(name, kind string, values ...string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.put(dnsprovider.Set{Name: name, Type: kind, TTL: 300, Values: values})
}

// has fails the test unless the provider has exactly these values.
func (p *provider) has(t *testing.T, name, kind string, values ...string) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	now, want := p.sets[name+" "+kind], dnsprovider.Set{Name: name, Type: kind, Values: values}
	if now.Name, now.Type = name, kind; !now.Same(want) || len(now.Values) != len(values) {
		t.Errorf("the provider has %s %s %q, want %q", name, kind, now.Values, values)
	}
}

// host is the hostname of the domains of these tests.
const host = "go.example.org"

// each runs a test on both engines in an installation with a provider.
func each(t *testing.T, f func(t *testing.T, i *apitest.Installation, p *provider)) {
	for _, engine := range storetest.Engines {
		t.Run(engine, func(t *testing.T) {
			i, p := served(t, engine)
			f(t, i, p)
		})
	}
}

// served returns an installation whose zones a provider serves.
func served(t *testing.T, engine string) (*apitest.Installation, *provider) {
	t.Helper()
	p := &provider{sets: map[string]dnsprovider.Set{}}
	return apitest.New(t, engine, apitest.Options{Domains: domain.Options{Provider: p, PerApp: 100,
		Nameservers: []string{"ns1.links.example", "ns2.links.example"}}}), p
}

// claim returns the id of a new managed domain of a client, which is not proved.
func claim(t *testing.T, i *apitest.Installation, c *apitest.Client, hostname string) string {
	t.Helper()
	r := c.Call("POST", "/domains", M{"appId": c.AppID, "mode": "managed", "hostname": hostname}).Want(202)
	i.Settle(t)
	return c.Call("GET", "/operations/"+r.Text("data.id"), nil).Want(200).Text("data.result.resource.id")
}

// prove does what a verification does that found the challenge.
func prove(t *testing.T, i *apitest.Installation, id string) {
	t.Helper()
	if _, err := i.DB.Exec(t.Context(), `UPDATE domain SET ownership = 'verified', verified_at = ?,
		zone_name = 'example.org' WHERE id = ?`, i.DB.Now(), id); err != nil {
		t.Fatal(err)
	}
	ensure(t, i, id, system...)
	i.Settle(t)
}

var system = []dnsrecord.System{{Type: dnsrecord.TXT, Name: dnsrecord.ChallengeName, Value: "proof"},
	{Type: dnsrecord.A, Name: "@", Value: netip.MustParseAddr("192.0.2.80").String()}}

func ensure(t *testing.T, i *apitest.Installation, id string, records ...dnsrecord.System) {
	t.Helper()
	if err := i.DB.InTx(t.Context(), func(tx *store.Tx) error {
		return dnsrecord.Ensure(t.Context(), tx, id, records)
	}); err != nil {
		t.Fatal(err)
	}
}

// hosted returns an owner, and the path of the records of a domain of theirs that is
// proved.
func hosted(t *testing.T, i *apitest.Installation) (owner *apitest.Client, path string) {
	t.Helper()
	owner = i.Prepared(t, "ann@example.com")
	id := claim(t, i, owner, host)
	prove(t, i, id)
	return owner, "/domains/" + id + "/dns-records"
}

// of returns the records in an answer.
func of(t *testing.T, list *apitest.Response) (all []M) {
	t.Helper()
	if err := json.Unmarshal([]byte(list.Want(200).Value("data")), &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// record returns the record with an id, as the list has it, or nil.
func record(t *testing.T, c *apitest.Client, path, id string) M {
	t.Helper()
	for _, r := range of(t, c.Call("GET", path+"?limit=100", nil)) {
		if r["id"] == id {
			return r
		}
	}
	return nil
}

// rows fails the test unless a table has so many rows.
func rows(t *testing.T, i *apitest.Installation, table string, want int) {
	t.Helper()
	n, err := store.One(t.Context(), i.DB, store.Value[int], "SELECT COUNT(*) FROM "+table)
	if err != nil || n != want {
		t.Errorf("%s has %d rows, want %d: %v", table, n, want, err)
	}
}
