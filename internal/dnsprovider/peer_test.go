package dnsprovider

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waymarkhq/waymark/internal/dnsprovider/dnstest"
)

// zone is the zone that the servers of the tests host.
const zone = "zone.example"

// peer is a provider and the server behind it.
type peer struct {
	Provider
	*dnstest.Server
	// makesZones tells that the provider makes zones that are not there.
	makesZones bool
}

// eachPeer runs a test against each provider with its real server.
func eachPeer(t *testing.T, test func(t *testing.T, p peer)) {
	for name, start := range peers {
		t.Run(name, func(t *testing.T) { test(t, start(t)) })
	}
}

var peers = map[string]func(t *testing.T) peer{
	"rfc2136 knot": func(t *testing.T) peer {
		s := dnstest.Knot(t, zone)
		return peer{NewRFC2136(s.Address, testKey(t, dnstest.Key)), s, false}
	},
	"rfc2136 bind": func(t *testing.T) peer {
		s := dnstest.BIND(t, zone)
		return peer{NewRFC2136(s.Address, testKey(t, dnstest.Key)), s, false}
	},
	"powerdns": func(t *testing.T) peer {
		s := dnstest.PowerDNS(t, zone)
		return peer{NewPowerDNS(s.URL, s.APIKey, []string{"ns1.example.net", "ns2.example.net"}), s, true}
	},
	// The script that docs/dns-provider.md shows.
	"script": func(t *testing.T) peer {
		s, dir := dnstest.PowerDNS(t, zone), t.TempDir()
		key, path := filepath.Join(dir, "powerdns.key"), filepath.Join(dir, "provider.py")
		script := strings.NewReplacer("http://127.0.0.1:8081", s.URL, "/etc/waymark/powerdns.key", key).
			Replace(dnstest.Example(t, "provider.py"))
		for file, content := range map[string]string{key: s.APIKey, path: script} {
			if err := os.WriteFile(file, []byte(content), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		p, err := NewScript(path, nil)
		if err != nil {
			t.Fatal(err)
		}
		return peer{p, s, false}
	},
}

func testKey(t *testing.T, text string) Key {
	t.Helper()
	key, err := ParseKey(text)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func set(name, kind string, ttl int64, values ...string) Set {
	return Set{Name: name, Type: kind, TTL: ttl, Values: values}
}

// none is the set that is not there.
func none(s Set) Set { return Set{Name: s.Name, Type: s.Type} }

// replace must succeed.
func (p peer) replace(t *testing.T, old, new Set) {
	t.Helper()
	if err := p.Replace(t.Context(), zone, old, new); err != nil {
		t.Fatalf("%v becomes %v: %v", old, new, err)
	}
}

// changed must fail because of what is there.
func (p peer) changed(t *testing.T, old, new Set) {
	t.Helper()
	if err := p.Replace(t.Context(), zone, old, new); !errors.Is(err, ErrChanged) {
		t.Errorf("%v becomes %v: %v, not %v", old, new, err, ErrChanged)
	}
}

// has tells what Get must return and what the server must answer: as many records.
func (p peer) has(t *testing.T, want Set) {
	t.Helper()
	got, err := p.Get(t.Context(), zone, want.Name, want.Type)
	if err != nil {
		t.Fatalf("get %s %s: %v", want.Name, want.Type, err)
	}
	if !got.Same(want) || len(got.Values) != len(want.Values) || len(want.Values) > 0 && got.TTL != want.TTL {
		t.Errorf("got %v, not %v", got, want)
	}
	if served := p.Records(t, want.Name, want.Type); len(served) != len(want.Values) {
		t.Errorf("%s %s: the server answers %q", want.Name, want.Type, served)
	}
}
