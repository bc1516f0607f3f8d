package redirect

import (
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
	"github.com/waymarkhq/waymark/internal/visitor"
	"github.com/waymarkhq/waymark/internal/visitor/visitortest"
)

// TestCountryOfClick has the file and a header, and visitors who say where they
// come from.
func TestCountryOfClick(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, now *clock.Clock) {
		publish(t, db)
		path := filepath.Join(t.TempDir(), "countries.mmdb")
		visitortest.WriteCountries(t, path, visitortest.Network{"198.51.100.0/24", "PT", ""},
			visitortest.Network{"203.0.113.0/24", "DE", ""}, visitortest.Network{"10.0.0.0/8", "US", ""})
		file, err := visitor.OpenCountries(path, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
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
			for _, countries := range []*visitor.Countries{file, nil} {
				w := newWorld(t, db, now)
				w.Visitors.Countries = countries
				want := c.without
				if countries != nil {
					want = c.withFile
				}
				for _, target := range []string{"/x", "/ruled"} {
					r := request("GET", "a.example", target, "User-Agent", visitortest.SafariMac)
					r.RemoteAddr = c.peer
					if c.forwarded != "" {
						r.Header.Set("X-Forwarded-For", c.forwarded)
					}
					if c.header != "" {
						r.Header.Set("X-Country", c.header)
					}
					got := w.get(r)
					e := w.clicks[len(w.clicks)-1]
					if e.Country != want || target == "/ruled" && (e.RuleID == "de") != (want == "DE") ||
						strings.HasPrefix(got.Header().Get("Location"), "https://example.de/") != (e.RuleID == "de") {
						t.Errorf("%s, file %v, %s: %s by rule %q, want %s", c.name, countries != nil, target, e.Country,
							e.RuleID, want)
					}
				}
			}
		}
	})
}
