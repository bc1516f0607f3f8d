package redirect

import (
	"log/slog"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/maxmind/mmdbwriter"
	"github.com/maxmind/mmdbwriter/mmdbtype"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
)

// record is what a file says of a network.
type record struct{ network, country, registered string }

// countriesFile writes a file in MaxMind's format.
func countriesFile(t testing.TB, path string, records ...record) {
	t.Helper()
	tree, err := mmdbwriter.New(mmdbwriter.Options{DatabaseType: "Test-Country", IncludeReservedNetworks: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		value := mmdbtype.Map{"continent": mmdbtype.Map{"code": mmdbtype.String("EU")}}
		for name, code := range map[string]string{"country": r.country, "registered_country": r.registered} {
			if code != "" {
				value[mmdbtype.String(name)] = mmdbtype.Map{
					"geoname_id": mmdbtype.Uint32(7), "iso_code": mmdbtype.String(code),
					"names": mmdbtype.Map{"en": mmdbtype.String("Name of " + code)},
				}
			}
		}
		insert(t, tree, r.network, value)
	}
	write(t, tree, path)
}

func insert(t testing.TB, tree *mmdbwriter.Tree, network string, value mmdbtype.DataType) {
	t.Helper()
	_, parsed, err := net.ParseCIDR(network)
	if err != nil {
		t.Fatal(err)
	}
	if err := tree.Insert(parsed, value); err != nil {
		t.Fatal(err)
	}
}

// write moves a file to its place, as what replaces one in use must be.
func write(t testing.TB, tree *mmdbwriter.Tree, path string) {
	t.Helper()
	file, err := os.Create(path + ".new")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tree.WriteTo(file); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

func open(t testing.TB, path string) *Countries {
	t.Helper()
	c, err := OpenCountries(path, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestCountries(t *testing.T) {
	path := filepath.Join(t.TempDir(), "countries.mmdb")
	countriesFile(t, path,
		record{"198.51.100.0/24", "PT", "ES"}, record{"2001:db8::/32", "", "DE"}, record{"203.0.113.0/25", "", ""},
		record{"203.0.113.128/25", "de", ""}, record{"192.0.2.0/24", "ABC", ""})
	c := open(t, path)
	for address, want := range map[string]string{
		"198.51.100.7": "PT", "2001:db8::1": "DE", "203.0.113.1": "", "203.0.113.200": "DE", "192.0.2.1": "", "8.8.8.8": "", "2001:db9::": "",
	} {
		if got := c.of(netip.MustParseAddr(address)); got != want {
			t.Errorf("%s: %q, want %q", address, got, want)
		}
	}
	if got := c.of(netip.Addr{}); got != "" {
		t.Errorf("no address: %q", got)
	}
	// Where files keep something else, nobody's country is known.
	other := filepath.Join(t.TempDir(), "other.mmdb")
	tree, err := mmdbwriter.New(mmdbwriter.Options{DatabaseType: "Test-Other", IncludeReservedNetworks: true})
	if err != nil {
		t.Fatal(err)
	}
	for network, value := range map[string]mmdbtype.DataType{
		"198.51.100.0/24": mmdbtype.String("DE"), "203.0.113.0/24": mmdbtype.Map{"country": mmdbtype.Uint32(7)},
		"192.0.2.0/24": mmdbtype.Map{"country": mmdbtype.Map{"iso_code": mmdbtype.Uint32(7)}},
	} {
		insert(t, tree, network, value)
	}
	write(t, tree, other)
	for _, address := range []string{"198.51.100.7", "203.0.113.1", "192.0.2.1"} {
		if got := open(t, other).of(netip.MustParseAddr(address)); got != "" {
			t.Errorf("%s: %q", address, got)
		}
	}
}

func TestCountriesRefused(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "countries.mmdb")
	countriesFile(t, path, record{"198.51.100.0/24", "PT", ""})
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"empty": "", "text": "country: PT", "half": string(whole[:len(whole)/2])} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"", "missing", "empty", "text", "half"} {
		if _, err := OpenCountries(filepath.Join(dir, name), slog.Default()); err == nil || !strings.Contains(err.Error(), filepath.Join(dir, name)) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// TestCountriesReplaced moves another file to the place of the one in use,
// which others read meanwhile.
func TestCountriesReplaced(t *testing.T) {
	path := filepath.Join(t.TempDir(), "countries.mmdb")
	countriesFile(t, path, record{"198.51.100.0/24", "PT", ""})
	c := open(t, path)
	address := netip.MustParseAddr("198.51.100.7")
	stop := make(chan struct{})
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if got := c.of(address); got != "PT" && got != "FR" {
					t.Errorf("got %q", got)
					return
				}
			}
		})
	}
	reopen := func(want bool) {
		t.Helper()
		if replaced, err := c.open(); err != nil || replaced != want {
			t.Fatalf("replaced %v, %v", replaced, err)
		}
	}
	reopen(false)
	for range 20 {
		for _, country := range []string{"FR", "PT"} {
			countriesFile(t, path, record{"198.51.100.0/24", country, ""})
			reopen(true)
			reopen(false)
			runtime.GC() // which unmaps what nobody reads
			if got := c.of(address); got != country {
				t.Fatalf("got %q, want %q", got, country)
			}
		}
	}
	// What cannot be used leaves what is there.
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := c.open(); err == nil {
		t.Error("a missing file was opened")
	}
	if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := c.open(); err == nil {
		t.Error("a bad file was opened")
	}
	if got := c.of(address); got != "PT" {
		t.Errorf("got %q", got)
	}
	close(stop)
	readers.Wait()
}

// TestCountryOfClick has the file and a header, and visitors who say where they
// come from.
func TestCountryOfClick(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, now *clock.Clock) {
		publish(t, db)
		path := filepath.Join(t.TempDir(), "countries.mmdb")
		countriesFile(t, path, record{"198.51.100.0/24", "PT", ""}, record{"203.0.113.0/24", "DE", ""}, record{"10.0.0.0/8", "US", ""})
		for _, c := range []struct {
			name, peer, forwarded, header string
			withFile, without             string
		}{
			{"direct", "203.0.113.5:1", "", "", "DE", "ZZ"},
			{"direct, with a tale", "203.0.113.5:1", "198.51.100.7", "FR", "DE", "ZZ"},
			{"direct and unknown, with a tale", "8.8.8.8:1", "198.51.100.7", "FR", "ZZ", "ZZ"},
			{"through a proxy", "10.0.0.1:1", "198.51.100.7", "", "PT", "ZZ"},
			{"the file knows better", "10.0.0.1:1", "198.51.100.7", "FR", "PT", "FR"},
			{"only the proxy knows", "10.0.0.1:1", "8.8.8.8", "FR", "FR", "FR"},
			{"nobody knows", "10.0.0.1:1", "8.8.8.8", "XX", "ZZ", "ZZ"},
			{"a tale before the proxy's word", "10.0.0.1:1", "198.51.100.7, 203.0.113.5", "FR", "DE", "FR"},
			{"no peer", "@", "198.51.100.7", "FR", "ZZ", "ZZ"},
		} {
			for _, countries := range []*Countries{open(t, path), nil} {
				w := newWorld(t, db, now)
				w.Countries = countries
				want := c.without
				if countries != nil {
					want = c.withFile
				}
				for _, target := range []string{"/x", "/ruled"} {
					r := request("GET", "a.example", target, "User-Agent", safariMac)
					r.RemoteAddr = c.peer
					if c.forwarded != "" {
						r.Header.Set("X-Forwarded-For", c.forwarded)
					}
					if c.header != "" {
						r.Header.Set("X-Country", c.header)
					}
					got := w.get(r)
					e := w.clicks[len(w.clicks)-1]
					if e.Country != want || target == "/ruled" && (e.RuleID == "de") != (want == "DE") || strings.HasPrefix(got.Header().Get("Location"), "https://example.de/") != (e.RuleID == "de") {
						t.Errorf("%s, file %v, %s: %s by rule %q, want %s", c.name, countries != nil, target, e.Country, e.RuleID, want)
					}
				}
			}
		}
	})
}

func BenchmarkCountries(b *testing.B) {
	path := filepath.Join(b.TempDir(), "countries.mmdb")
	countriesFile(b, path, record{"198.51.100.0/24", "PT", "ES"}, record{"2001:db8::/32", "", "DE"})
	countries := open(b, path)
	for _, address := range []string{"198.51.100.7", "2001:db8::1", "203.0.113.1"} {
		b.Run(address, func(b *testing.B) {
			b.ReportAllocs()
			a := netip.MustParseAddr(address)
			for b.Loop() {
				countries.of(a)
			}
		})
	}
}
