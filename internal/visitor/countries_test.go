package visitor

import (
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/maxmind/mmdbwriter"
	"github.com/maxmind/mmdbwriter/mmdbtype"

	"github.com/waymarkhq/waymark/internal/visitor/visitortest"
)

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
	visitortest.WriteCountries(t, path,
		visitortest.Network{"198.51.100.0/24", "PT", "ES"}, visitortest.Network{"2001:db8::/32", "", "DE"},
		visitortest.Network{"203.0.113.0/25", "", ""},
		visitortest.Network{"203.0.113.128/25", "de", ""}, visitortest.Network{"192.0.2.0/24", "ABC", ""})
	c := open(t, path)
	for address, want := range map[string]string{
		"198.51.100.7": "PT", "2001:db8::1": "DE", "203.0.113.1": "", "203.0.113.200": "DE", "192.0.2.1": "",
		"8.8.8.8": "", "2001:db9::": "",
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
		visitortest.Insert(t, tree, network, value)
	}
	visitortest.Write(t, tree, other)
	for _, address := range []string{"198.51.100.7", "203.0.113.1", "192.0.2.1"} {
		if got := open(t, other).of(netip.MustParseAddr(address)); got != "" {
			t.Errorf("%s: %q", address, got)
		}
	}
}

func TestCountriesRefused(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "countries.mmdb")
	visitortest.WriteCountries(t, path, visitortest.Network{"198.51.100.0/24", "PT", ""})
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"empty": "", "text": "country: PT",
		"half": string(whole[:len(whole)/2])} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"", "missing", "empty", "text", "half"} {
		if _, err := OpenCountries(filepath.Join(dir, name), slog.Default()); err == nil ||
			!strings.Contains(err.Error(), filepath.Join(dir, name)) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// TestCountriesReplaced moves another file to the place of the one in use,
// which others read meanwhile.
func TestCountriesReplaced(t *testing.T) {
	path := filepath.Join(t.TempDir(), "countries.mmdb")
	visitortest.WriteCountries(t, path, visitortest.Network{"198.51.100.0/24", "PT", ""})
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
			visitortest.WriteCountries(t, path, visitortest.Network{"198.51.100.0/24", country, ""})
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

func BenchmarkCountries(b *testing.B) {
	path := filepath.Join(b.TempDir(), "countries.mmdb")
	visitortest.WriteCountries(b, path, visitortest.Network{"198.51.100.0/24", "PT", "ES"},
		visitortest.Network{"2001:db8::/32", "", "DE"})
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
