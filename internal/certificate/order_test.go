package certificate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mholt/acmez/v3/acme"

	"github.com/waymarkhq/waymark/internal/certificate/pebbletest"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/dnsprovider"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
)

// TestOneOrderOfManyProcesses has three managers want the same certificate at once.
func TestOneOrderOfManyProcesses(t *testing.T) {
	for _, engine := range storetest.Engines {
		t.Run(engine, func(t *testing.T) {
			address := storetest.Address(t, engine)
			i := newInstallation(t, storetest.Open(t, address, &clock.Clock{}), nil)
			managers := []*Manager{i.Manager}
			for range 2 {
				db := i.DB
				if engine == "postgres" {
					db = storetest.Open(t, address, &clock.Clock{})
				}
				managers = append(managers, i.manager(t, db, nil))
			}
			var obtaining sync.WaitGroup
			for n := range 12 {
				obtaining.Go(func() {
					if err := managers[n%len(managers)].Obtain(t.Context(), "one.example"); err != nil {
						t.Error(err)
					}
				})
			}
			obtaining.Wait()
			i.mustVisit(t, "one.example")
			i.wantOrders(t, 1)
		})
	}
}

// provider is the DNS provider of an authority's DNS server. It has one zone.
type provider struct {
	*pebbletest.Authority
	zone string
	mu   sync.Mutex
	sets map[string][]string
	// others is how many changes are still refused because somebody else came first.
	others int
	fail   error
}

func (p *provider) Zone(_ context.Context, hostname string) (string, error) {
	if hostname != p.zone && !strings.HasSuffix(hostname, "."+p.zone) {
		return "", dnsprovider.ErrNoZone
	}
	return p.zone, p.fail
}

func (p *provider) Get(_ context.Context, _, name, kind string) (dnsprovider.Set, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return dnsprovider.Set{Name: name, Type: kind, TTL: txtTTL, Values: p.sets[name]}, p.fail
}

func (p *provider) Replace(_ context.Context, _ string, old, wanted dnsprovider.Set) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.others > 0 {
		p.others--
		return dnsprovider.ErrChanged
	}
	if !slices.Equal(p.sets[old.Name], old.Values) {
		return dnsprovider.ErrChanged
	}
	p.sets[wanted.Name] = wanted.Values
	err := p.TrySet("clear-txt", map[string]any{"host": wanted.Name + "."})
	for _, value := range wanted.Values {
		err = errors.Join(err, p.TrySet("set-txt", map[string]any{"host": wanted.Name + ".", "value": value}))
	}
	return err
}

// TestWildcard covers the hostnames of the platform zone by one certificate.
func TestWildcard(t *testing.T) {
	db := storetest.Open(t, storetest.Address(t, "sqlite"), &clock.Clock{})
	var p *provider
	const record = "_acme-challenge.go.example"
	i := newInstallation(t, db, func(i *installation, o *Options) {
		p = &provider{Authority: i.Authority, zone: "go.example", others: 1,
			sets: map[string][]string{record: {"of another"}}}
		o.Zone, o.Provider, o.Own = p.zone, p, []string{"assets.go.example", "api.example"}
	})
	if err := i.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	i.wantOrders(t, 2)
	for hostname, subject := range map[string]string{"a.go.example": "*.go.example",
		"assets.go.example": "*.go.example", "api.example": "api.example"} {
		if names := i.mustVisit(t, hostname).PeerCertificates[0].DNSNames; !slices.Equal(names, []string{subject}) {
			t.Errorf("%s has a certificate of %q", hostname, names)
		}
	}
	i.wantOrders(t, 2)
	i.mustVisit(t, "a.b.go.example") // a wildcard stands for one label
	i.wantOrders(t, 3)
	if !slices.Equal(p.sets[record], []string{"of another"}) {
		t.Errorf("left in the zone: %q", p.sets[record])
	}
}

// TestFailuresBackOff has orders fail and looks at what the owner is told, and when the
// next order is made.
func TestFailuresBackOff(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, c *clock.Clock) {
		realTime(c)
		var p *provider
		i := newInstallation(t, db, func(i *installation, o *Options) {
			p = &provider{Authority: i.Authority, zone: "zone.example", sets: map[string][]string{},
				fail: errors.New("provider is away")}
			o.Zone, o.Provider = p.zone, p
		})
		i.Set(t, "add-a", map[string]any{"host": "away.example", "addresses": []string{"127.0.0.9"}})
		for hostname, want := range map[string]struct{ code, says string }{
			"away.example":    {Unreachable, "connect to away.example on port 80 or 443"},
			"blocked.example": {Refused, "issues no certificates for blocked.example"},
			"a.zone.example":  {ProviderAway, "DNS provider"},
		} {
			var f *Failure
			if err := i.Obtain(t.Context(), hostname); !errors.As(err, &f) || f.Code != want.code ||
				!strings.Contains(f.Message, want.says) || !strings.HasSuffix(f.Message, nextOrder(c, waits[0])) ||
				f.RetryAt != c.Now().Add(waits[0]) {
				t.Errorf("%s: %+v, want %v", hostname, err, want)
			}
		}
		before := i.Orders.Load()
		again := i.manager(t, db, nil) // it remembers nothing in memory
		told := nextOrder(c, waits[0])
		fails := func(wait time.Duration) {
			t.Helper()
			var f *Failure
			if err := again.obtain(t.Context(), "away.example", visit); !errors.As(err, &f) || f.Code != Unreachable ||
				f.RetryAt != c.Now().Add(wait) || !strings.HasSuffix(f.Message, told) {
				t.Fatalf("%+v", err)
			}
			again.forget()
		}
		c.Move(waits[0] - time.Millisecond)
		fails(time.Millisecond)
		i.wantOrders(t, before)
		c.Move(time.Millisecond)
		told = nextOrder(c, askAgainAfter)
		fails(waits[1])
		i.wantOrders(t, before+2) // one for each way to prove it
		status, err := ReadStatus(t.Context(), db, c.Now())
		if err != nil || status.Failing != 3 {
			t.Error(status, err)
		}
		c.Move(waits[1])
		i.Set(t, "clear-a", map[string]any{"host": "away.example"})
		if err := again.Obtain(t.Context(), "away.example"); err != nil {
			t.Fatal(err)
		}
		if status, err := ReadStatus(t.Context(), db, c.Now()); err != nil || status.Failing != 2 || status.Valid != 1 {
			t.Error(status, err)
		}
	})
}

// nextOrder is the end of a message that tells of the next order.
func nextOrder(c *clock.Clock, wait time.Duration) string {
	return c.Now().Add(wait).Time().UTC().Format(" The next order is made after 15:04 UTC on 2 January.")
}

// TestVerificationAsksAgain has a verification order in spite of older failures, unless the
// authority takes no orders.
func TestVerificationAsksAgain(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, c *clock.Clock) {
		realTime(c)
		i := newInstallation(t, db, nil)
		note := func(hostname, code string, next time.Duration) {
			t.Helper()
			var last *Failure
			for range waits {
				last = &Failure{Code: code}
				if err := i.storage.failed(t.Context(), hostname, last); err != nil {
					t.Fatal(err)
				}
			}
			if !strings.HasSuffix(last.Message, nextOrder(c, next)) {
				t.Errorf("%s: %q", hostname, last.Message)
			}
		}
		note("mended.example", Unreachable, askAgainAfter)
		note("limited.example", RateLimited, waits[len(waits)-1])
		asks := func(hostname string, by asker, refused bool) {
			t.Helper()
			i.forget()
			err := i.obtain(t.Context(), hostname, by)
			if isFailure(err) != refused || err != nil && !refused {
				t.Errorf("%s, asker %d: %v", hostname, by, err)
			}
		}
		c.Move(askAgainAfter - time.Millisecond)
		asks("mended.example", verification, true)
		c.Move(time.Millisecond)
		asks("mended.example", visit, true)
		asks("mended.example", upkeep, true)
		i.wantOrders(t, 0)
		asks("mended.example", verification, false)
		i.wantOrders(t, 1)
		c.Move(waits[len(waits)-1] - askAgainAfter - time.Millisecond)
		asks("limited.example", verification, true)
		c.Move(time.Millisecond)
		asks("limited.example", verification, false)
	})
}

// TestIssuedCertificateIsKept loses the table of failures in the middle of an order.
func TestIssuedCertificateIsKept(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, c *clock.Clock) {
		realTime(c)
		i := newInstallation(t, db, nil)
		var once sync.Once // a request whose nonce is not taken comes again
		lose := func(r *http.Request) {
			if strings.HasPrefix(r.URL.Path, "/finalize-order/") {
				once.Do(func() {
					if _, err := db.Exec(r.Context(), "ALTER TABLE certificate_failure RENAME TO lost"); err != nil {
						t.Error(err)
					}
				})
			}
		}
		i.Before.Store(&lose)
		if err := i.Obtain(t.Context(), "a.example"); err != nil {
			t.Error(err)
		}
		i.mustVisit(t, "a.example")
		i.wantOrders(t, 1)
	})
}

// forget lands every flight, as time does.
func (m *Manager) forget() {
	m.mu.Lock()
	defer m.mu.Unlock()
	clear(m.flights)
}

// TestExplain knows what cannot be had from Pebble.
func TestExplain(t *testing.T) {
	limited := explain("x.example", acme.Problem{Type: acme.ProblemTypeRateLimited, Detail: "too many\ncertificates " +
		strings.Repeat("ä", maxDetail)})
	if limited.Code != RateLimited || !strings.Contains(limited.Message, "It says: too many certificates ä") ||
		len(limited.Message) > maxDetail+200 || !json.Valid([]byte(`"`+limited.Message+`"`)) {
		t.Errorf("%+v", limited)
	}
	for kind, want := range map[string]string{acme.ProblemTypeCAA: CAAForbids, acme.ProblemTypeDNS: DNSFailed,
		acme.ProblemTypeTLS: Unreachable, acme.ProblemTypeUnauthorized: WrongAnswer,
		acme.ProblemTypeServerInternal: AuthorityAway, acme.ProblemTypeMalformed: Refused} {
		err := fmt.Errorf("order: %w", acme.Problem{Type: kind})
		f := explain("x.example", err)
		if f.Code != want || !strings.Contains(f.Message, "x.example") || !errors.Is(f, err) {
			t.Errorf("%s: %+v, want %s", kind, f, want)
		}
	}
	if f := explain("x.example", context.DeadlineExceeded); f.Code != AuthorityAway {
		t.Errorf("%+v", f)
	}
}

// TestForgottenAccount registers again where the authority lost the account.
func TestForgottenAccount(t *testing.T) {
	db := storetest.Open(t, storetest.Address(t, "sqlite"), &clock.Clock{})
	i := newInstallation(t, db, nil)
	if err := i.Obtain(t.Context(), "a.example"); err != nil {
		t.Fatal(err)
	}
	i.Restart(t)
	if err := i.Obtain(t.Context(), "b.example"); err != nil {
		t.Fatal(err)
	}
}
