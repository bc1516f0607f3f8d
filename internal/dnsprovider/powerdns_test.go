package dnsprovider

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/waymarkhq/waymark/internal/dnsprovider/dnstest"
)

var nameservers = []string{"ns1.example.net", "ns2.example.net."}

// front is a proxy before the API of a server; before may answer instead.
func front(t *testing.T, s *dnstest.Server, before func(w http.ResponseWriter, r *http.Request) bool,
	after func(*http.Response) error) string {
	t.Helper()
	behind, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(behind)
	proxy.ModifyResponse = after
	proxy.ErrorHandler = func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) }
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if before == nil || !before(w, r) {
			proxy.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func TestMadeZones(t *testing.T) {
	s := dnstest.PowerDNS(t, zone)
	p := peer{NewPowerDNS(s.URL+"/", s.APIKey, nameservers), s, true}
	const hostname = "go.example.org"
	a := set("www."+hostname, "A", 300, "192.0.2.1")
	if err := p.Replace(t.Context(), hostname, none(a), a); !errors.Is(err, ErrNoZone) {
		t.Errorf("a record without a zone: %v", err)
	}
	if _, err := p.Get(t.Context(), hostname, a.Name, "A"); !errors.Is(err, ErrNoZone) {
		t.Errorf("a record without a zone: %v", err)
	}
	var all sync.WaitGroup
	for range 4 { // at the same time
		all.Go(func() {
			if got, err := p.Zone(t.Context(), hostname); got != hostname || err != nil {
				t.Errorf("the zone is %q, %v", got, err)
			}
		})
	}
	all.Wait()
	if served := strings.Join(p.Records(t, hostname, "NS"), "\n"); strings.Count(served, "\n") != 1 ||
		!strings.Contains(served, "ns1.example.net.") || !strings.Contains(served, "ns2.example.net.") {
		t.Errorf("the nameservers of the zone are %q", served)
	}
	if got, err := p.Zone(t.Context(), "a."+hostname); got != hostname || err != nil {
		t.Errorf("the zone of a name below is %q, %v", got, err)
	}
	if err := p.Replace(t.Context(), hostname, none(a), a); err != nil {
		t.Error(err)
	}
	if got, err := p.Get(t.Context(), hostname, a.Name, "A"); err != nil || !got.Same(a) {
		t.Errorf("got %v, %v", got, err)
	}
	for _, none := range []string{"org", "co.uk", "localhost"} {
		if got, err := p.Zone(t.Context(), none); !errors.Is(err, ErrNoZone) {
			t.Errorf("the zone of %s is %q, %v", none, got, err)
		}
	}
}

func TestWrongAPIKey(t *testing.T) {
	s := dnstest.PowerDNS(t, zone)
	for _, err := range calls(t.Context(), NewPowerDNS(s.URL, "wrong", nameservers)) {
		if status(err) != http.StatusUnauthorized || errors.Is(err, ErrNoZone) ||
			strings.Contains(err.Error(), "wrong") {
			t.Error(err)
		}
	}
	if _, err := NewPowerDNS(s.URL, "wrong", nil).Check(t.Context(), ""); status(err) != http.StatusUnauthorized {
		t.Error(err)
	}
	found, err := NewPowerDNS(s.URL, s.APIKey, nil).Check(t.Context(), "")
	if err != nil || !strings.HasPrefix(found, "PowerDNS 4.") {
		t.Errorf("%q, %v", found, err)
	}
}

// As TestLostUpdate.
func TestLostPatch(t *testing.T) {
	s := dnstest.PowerDNS(t, zone)
	patches := 0
	p := NewPowerDNS(front(t, s, nil, func(r *http.Response) error {
		if r.Request.Method == http.MethodPatch {
			patches++
			return errors.New("lost")
		}
		return nil
	}), s.APIKey, nameservers)
	direct := peer{NewPowerDNS(s.URL, s.APIKey, nameservers), s, true}
	for _, each := range sets {
		steps := []Set{none(each.first), each.first, each.second, none(each.first)}
		for i, new := range steps[1:] {
			if err := p.Replace(t.Context(), zone, steps[i], new); err == nil || errors.Is(err, ErrChanged) {
				t.Fatalf("the lost answer became %v", err)
			}
			if err := p.Replace(t.Context(), zone, steps[i], new); err != nil {
				t.Errorf("again %v: %v", new, err)
			}
			direct.has(t, new)
		}
	}
	if patches != 3*len(sets) {
		t.Errorf("%d changes were sent, not %d", patches, 3*len(sets))
	}
}

// A key is not carried to where an answer leads, and an answer without end is not read
// to its end.
func TestBadAnswers(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("%s %s came with the key %q", r.Method, r.URL, r.Header.Get("X-API-Key"))
	}))
	defer elsewhere.Close()
	s := dnstest.PowerDNS(t, zone)
	for name, answer := range map[string]http.HandlerFunc{
		"a redirect": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere.URL+r.URL.Path, http.StatusTemporaryRedirect)
		},
		"too long": func(w http.ResponseWriter, _ *http.Request) { w.Write(make([]byte, answerLimit+1)) },
		"no JSON":  func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("[{")) },
		"a broken page": func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "<h1>"+strings.Repeat("x", 9000), http.StatusBadGateway)
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := NewPowerDNS(front(t, s, func(w http.ResponseWriter, r *http.Request) bool {
				answer(w, r)
				return true
			}, nil), "key", nil)
			for _, err := range calls(t.Context(), p) {
				if err == nil || errors.Is(err, ErrNoZone) || len(err.Error()) > 2*shownLimit {
					t.Error(err)
				}
			}
		})
	}
	t.Run("as long as allowed", func(t *testing.T) {
		p := NewPowerDNS(front(t, s, func(w http.ResponseWriter, r *http.Request) bool {
			w.Write(slices.Concat([]byte(`{"rrsets":[]`), []byte(strings.Repeat(" ", answerLimit-13)), []byte("}")))
			return true
		}, nil), "key", nil)
		if _, err := p.Get(t.Context(), zone, zone, "A"); err != nil {
			t.Error(err)
		}
	})
}

// Whoever waits for the turn of a zone waits no longer than its context.
func TestTurns(t *testing.T) {
	p := NewPowerDNS("http://"+gone(t), "key", nil)
	for i := range p.turns {
		p.turns[i] <- struct{}{}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	a := set("a."+zone, "A", 300, "192.0.2.1")
	if err := p.Replace(ctx, zone, none(a), a); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// A record that is disabled is not there. Servers that do not know the filter answer
// with all that a zone has.
func TestDisabledRecord(t *testing.T) {
	s := dnstest.PowerDNS(t, zone)
	all := front(t, s, func(_ http.ResponseWriter, r *http.Request) bool {
		r.URL.RawQuery = ""
		return false
	}, nil)
	p := NewPowerDNS(all, s.APIKey, nil)
	a, txt := set("a."+zone, "A", 300, "192.0.2.1"), set("a."+zone, "TXT", 300, "text")
	disabled := zoneJSON{RRsets: []rrset{{Name: a.Name + ".", Type: "A", TTL: 300, ChangeType: "REPLACE",
		Records: []recordJSON{{Content: "192.0.2.9", Disabled: true}}}}}
	if err := p.call(t.Context(), "PATCH", zonePath(zone), disabled, nil); err != nil {
		t.Fatal(err)
	}
	for _, p := range []peer{{p, s, true}, {NewPowerDNS(s.URL, s.APIKey, nil), s, true}} {
		p.has(t, none(a))
		p.replace(t, none(txt), txt)
		p.has(t, txt)
	}
	direct := peer{NewPowerDNS(s.URL, s.APIKey, nil), s, true}
	direct.replace(t, none(a), a)
	direct.has(t, a)
}
