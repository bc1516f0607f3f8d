package redirect

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/waymarkhq/waymark/internal/clicklog"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/eventstore"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
	"github.com/waymarkhq/waymark/internal/visitor/visitortest"
)

// hour is the beginning of one.
const hour = clock.Instant(500_000 * 3_600_000_000)

// The bounds of addresses and links hold exactly, for an hour each, and grow with the
// scale.
func TestFloodBounds(t *testing.T) {
	one, two := netip.MustParseAddr("198.51.100.1"), netip.MustParseAddr("198.51.100.2")
	for scale, want := range map[float64][2]int{1: {50_000, 1_000_000}, 0.5: {25_000, 500_000}, 1e-9: {1, 1}} {
		f := newFlooding(scale)
		for i := range want[0] + 10 {
			if got := f.event(hour, one, "link"); (got == noFlood) != (i < want[0]) {
				t.Fatalf("scale %v: click %d of an address: %v", scale, i+1, got)
			}
		}
		if got := f.event(hour.Add(time.Hour)-1, one, "other"); got != ofAddress {
			t.Errorf("scale %v: another link, the same hour: %v", scale, got)
		}
		if got := f.event(hour.Add(time.Hour), one, "other"); got != noFlood {
			t.Errorf("scale %v: the next hour: %v", scale, got)
		}
		if got := f.event(hour, two, "other"); got != noFlood {
			t.Errorf("scale %v: another address: %v", scale, got)
		}
		f = newFlooding(scale)
		for i := range want[1] + 10 {
			if got := f.event(hour, netip.Addr{}, "link"); (got == noFlood) != (i < want[1]) {
				t.Fatalf("scale %v: click %d of a link: %v", scale, i+1, got)
			}
		}
		if got := f.event(hour, one, "link"); got != ofLink {
			t.Errorf("scale %v: got %v", scale, got)
		}
		if got := f.event(hour.Add(time.Hour), one, "link"); got != noFlood {
			t.Errorf("scale %v: the next hour: %v", scale, got)
		}
	}
	if f := newFlooding(1e9); f.addresses.limit != 1<<31 {
		t.Errorf("the greatest bound is %d", f.addresses.limit)
	}
}

// A client with IPv6 has a /64, and what it sends beyond its bound does not use up that of
// a link.
func TestFloodOfANetwork(t *testing.T) {
	f := newFlooding(1)
	f.addresses.limit, f.links.limit = 5, 6
	for i := range 20 {
		address := netip.MustParseAddr(fmt.Sprintf("2001:db8::%x", i+1))
		if got := f.event(hour, address, "link"); (got == noFlood) != (i < 5) || got == ofLink {
			t.Errorf("click %d: %v", i+1, got)
		}
	}
	for i, want := range []flood{noFlood, ofLink} {
		if got := f.event(hour, netip.MustParseAddr("2001:db8:0:1::1"), "link"); got != want {
			t.Errorf("click %d of another network: %v, want %v", i+1, got, want)
		}
	}
}

// A link has a thousand new referrers a day, and any number of clicks from those.
func TestReferrerBound(t *testing.T) {
	f := newFlooding(1)
	day := hour - hour%clock.Instant((24*time.Hour).Microseconds())
	name := func(i int) string { return fmt.Sprintf("%d.example", i) }
	for round := range 3 {
		for i := range 1000 {
			if !f.referrer(day, "link", name(i)) {
				t.Fatalf("round %d: referrer %d is not stored", round, i+1)
			}
		}
	}
	const more = 200
	stored := 0
	for i := range more {
		if f.referrer(day.Add(24*time.Hour)-1, "link", name(1000+i)) {
			stored++
		}
	}
	if stored > 2 { // seen is about right
		t.Errorf("%d of %d more referrers are stored", stored, more)
	}
	if !f.referrer(day, "link", name(0)) || !f.referrer(day, "other", name(1001)) {
		t.Error("a known referrer, and another link's, are not stored")
	}
	stored = 0
	for i := range 1000 {
		if f.referrer(day.Add(24*time.Hour), "link", name(i)) {
			stored++
		}
	}
	if stored != 1000 || f.referrer(day.Add(24*time.Hour), "link", "another.example") {
		t.Errorf("on the next day %d referrers are stored, and perhaps one too many", stored)
	}
}

// Visitors of a flood are redirected, their clicks counted and not stored. Those that a
// limit concerns are in the log all the same.
func TestFlood(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, c *clock.Clock) {
		publish(t, db)
		w := newWorld(t, db, c)
		w.flooding.addresses.limit = 2
		ask := func(target string, header ...string) {
			t.Helper()
			if got := w.get(request("GET", "a.example", target, append(header, "User-Agent",
				visitortest.SafariPhone)...)); got.Code != 302 {
				t.Errorf("%s: %d", target, got.Code)
			}
		}
		wantClicks := func(unstored, clicks int) {
			t.Helper()
			stored := 0
			for _, e := range w.clicks {
				if !e.Unstored {
					stored++
				}
			}
			if stored != clicks || w.unstored["app"] != int64(unstored) ||
				counted(t, w.registry, "waymark_redirect_clicks_unstored_total", "address") != float64(unstored) {
				t.Errorf("%d stored, %v unstored; want %d, %d", stored, w.unstored, clicks, unstored)
			}
		}
		for range 5 {
			ask("/x")
		}
		wantClicks(3, 2)
		for range permitted {
			ask("/limited")
		}
		wantClicks(3+permitted, 2)
		if got := w.get(request("GET", "a.example", "/limited", "User-Agent", visitortest.SafariPhone)); got.Code != 410 {
			t.Errorf("the limit does not hold: %d", got.Code)
		}
		limited := 0
		for _, e := range w.clicks {
			if e.Limited && e.Unstored {
				limited++
			}
		}
		if limited != permitted || len(w.clicks) != 2+permitted {
			t.Errorf("%d limited clicks of %d are in the log, want %d", limited, len(w.clicks), permitted)
		}
		// What cannot be counted is stored.
		w.full = true
		ask("/x")
		wantClicks(3+permitted, 3)
		w.full = false
		// Programs come in floods, too.
		if got := w.get(request("GET", "a.example", "/x", "User-Agent", "Googlebot/2.1")); got.Code != 302 {
			t.Errorf("a program: %d", got.Code)
		}
		wantClicks(4+permitted, 3)
		c.Set(c.Now().Add(time.Hour))
		ask("/x")
		wantClicks(4+permitted, 4)
	})
}

// All types of events have the bounds. Beyond them the sender gets the usual answer, the
// event is counted on its day, and nothing is in the log. A type that nothing records
// has no request here.
func TestFloodOfEveryType(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, c *clock.Clock) {
		w, linkID := appWorld(t, db, c)
		c.Set(hour)
		earlier := hour.Add(-3 * 24 * time.Hour)
		send := func(kind clicklog.EventType) func(string) bool {
			return func(string) bool {
				r := w.post("events", fmt.Sprintf(`{"events":[{"type":%q,"linkId":%q,"occurredAt":%q}]}`, kind, linkID,
					earlier))
				return r.Code == 202 && r.Body.String() == `{"accepted":1,"ignored":0}`
			}
		}
		types := map[clicklog.EventType]struct {
			send func(token string) (answered bool)
			at   clock.Instant
		}{
			"": {},
			clicklog.Click: {func(string) bool {
				return w.get(request("GET", "a.example", "/x", "User-Agent", visitortest.ChromeAndroid)).Code == 302
			}, hour},
			clicklog.AppOpen:           {send(clicklog.AppOpen), earlier},
			clicklog.ContentView:       {send(clicklog.ContentView), earlier},
			clicklog.LegacyContentLoad: {},
			clicklog.RecoveryCreated: {func(string) bool {
				_, token := w.install(t, "x")
				return token != ""
			}, hour},
			clicklog.RecoveryMatched: {func(token string) bool {
				return strings.Contains(w.post("recover", `{"token":"`+token+`"}`).Body.String(), `"matched":true`)
			}, hour},
		}
		for _, kind := range eventstore.Types {
			event, known := types[kind]
			if !known {
				t.Errorf("%s: its bound is not tested", kind)
			}
			if event.send == nil {
				continue
			}
			for _, over := range []flood{noFlood, ofAddress, ofLink} {
				w.flooding = newFlooding(1)
				_, token := w.install(t, "x")
				switch over {
				case ofAddress:
					w.flooding.addresses.limit = 0
				case ofLink:
					w.flooding.links.limit = 0
				}
				before := w.unstoredOf(t, over)
				w.clicks, w.days = nil, nil
				if !event.send(token) {
					t.Errorf("%s, flood %d: not the usual answer", kind, over)
				}
				if over == noFlood {
					if len(w.clicks) != 1 || w.clicks[0].Type != kind || len(w.days) != 0 {
						t.Errorf("%s: %v in the log, %d unstored", kind, w.clicks, len(w.days))
					}
				} else if len(w.clicks) != 0 || len(w.days) != 1 || w.days[0] != event.at ||
					w.unstoredOf(t, over) != before+1 {
					t.Errorf("%s, flood %d: %v in the log, unstored of %v", kind, over, w.clicks, w.days)
				}
			}
		}
	})
}

// unstoredOf returns how many events were not stored because of a flood.
func (w *world) unstoredOf(t *testing.T, f flood) float64 {
	if f == noFlood {
		return 0
	}
	return counted(t, w.registry, "waymark_redirect_clicks_unstored_total", floodNames[f])
}

// Beyond the bound of its link, a click or another event is stored without its referrer.
func TestFloodOfReferrers(t *testing.T) {
	db, c := openSQLite(t)
	w, _ := appWorld(t, db, c)
	w.flooding.referrersOfLink.limit = 1
	for _, referrer := range []string{"https://one.example/", "https://two.example/", "https://one.example/", ""} {
		w.get(request("GET", "a.example", "/x", "User-Agent", visitortest.SafariPhone, "Referer", referrer))
	}
	want := []string{"one.example", "", "one.example", ""}
	w.install(t, "x", "Referer", "https://three.example/")
	w.install(t, "x", "Referer", "https://one.example/")
	want = append(want, "", "one.example")
	for i, e := range w.clicks {
		if (e.Type == clicklog.Click) != (i < 4) || e.ReferrerHost != want[i] {
			t.Errorf("click %d: from %q, want %q", i, e.ReferrerHost, want[i])
		}
	}
	if n := counted(t, w.registry, "waymark_redirect_referrers_unstored_total", ""); n != 2 || len(w.clicks) != 6 {
		t.Errorf("%v referrers of %d clicks dropped", n, len(w.clicks))
	}
}

// What is asked at each click neither allocates nor takes long.
func BenchmarkFlooding(b *testing.B) {
	f := newFlooding(1e9)
	address := netip.MustParseAddr("198.51.100.1")
	b.ReportAllocs()
	for b.Loop() {
		if f.event(hour, address, "links.example:0b2f6d1e") != noFlood || !f.referrer(hour, "links.example:0b2f6d1e",
			"news.example") {
			b.Fatal("too many")
		}
	}
}
