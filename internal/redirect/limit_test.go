package redirect

import (
	"errors"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/route"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
	"github.com/waymarkhq/waymark/internal/visitor/visitortest"
)

// TestLimit sends people, who are counted, and others, who are not.
func TestLimit(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, c *clock.Clock) {
		publish(t, db)
		w := newWorld(t, db, c)
		left := permitted
		ask := func(method, target string, header ...string) *httptest.ResponseRecorder {
			return w.get(request(method, "a.example", target, header...))
		}
		for {
			// What does not count sees what people would see.
			for _, other := range [][]string{{"HEAD", ""}, {"GET", "Googlebot/2.1"}, {"GET", "Twitterbot/1.0"}} {
				want := 302
				switch {
				case left == 0:
					want = 410
				case other[1] == "Twitterbot/1.0":
					want = 200
				}
				if got := ask(other[0], "/limited", "User-Agent", other[1]); got.Code != want {
					t.Errorf("%v with %d clicks left: %d, want %d", other, left, got.Code, want)
				}
			}
			if got := ask("GET", "/limited", "User-Agent", visitortest.SafariPhone, "Sec-Purpose",
				"prefetch"); (got.Code == 302) != (left > 0) {
				t.Errorf("prefetch with %d clicks left: %d", left, got.Code)
			}
			if left == 0 {
				break
			}
			if got := ask("GET", "/limited", "User-Agent", visitortest.SafariPhone); got.Code != 302 {
				t.Fatalf("with %d clicks left: %d", left, got.Code)
			}
			left--
		}
		if got := ask("GET", "/limited", "User-Agent", visitortest.SafariPhone); got.Code != 410 {
			t.Errorf("used up: %d", got.Code)
		}
		people := 0
		for _, e := range w.clicks {
			if e.Limited != (e.Device != "bot") {
				t.Errorf("an event of %s is limited: %v", e.Device, e.Limited)
			}
			if e.Limited {
				people++
			}
		}
		if people != permitted {
			t.Errorf("%d clicks of people, want %d", people, permitted)
		}
		for i := range permitted + 2 {
			want := web + "?a=1"
			if i >= permitted {
				want = "https://example.com/over"
			}
			if got := ask("GET", "/voucher?a=1"); got.Code != 302 || got.Header().Get("Location") != want {
				t.Errorf("click %d of the voucher: %d to %q", i, got.Code, got.Header().Get("Location"))
			}
		}
	})
}

// TestLimitAtOnce has many more visitors than clicks at the same moment.
func TestLimitAtOnce(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, c *clock.Clock) {
		publish(t, db)
		w := newWorld(t, db, c)
		var through, refused atomic.Int64
		var visits sync.WaitGroup
		for range 100 {
			visits.Go(func() {
				switch w.get(request("GET", "a.example", "/limited")).Code {
				case 302:
					through.Add(1)
				case 410:
					refused.Add(1)
				}
			})
		}
		visits.Wait()
		if through.Load() != permitted || refused.Load() != 100-permitted || len(w.clicks) != permitted {
			t.Errorf("%d came through, %d did not, %d events", through.Load(), refused.Load(), len(w.clicks))
		}
	})
}

// TestLimitUnknown asks while it is not known how many clicks there were: only
// limited links cannot be answered.
func TestLimitUnknown(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, c *clock.Clock) {
		publish(t, db)
		w := newWorld(t, db, c)
		expect := func(target string, want int) {
			t.Helper()
			got := w.get(request("GET", "a.example", target))
			if got.Code != want || (want == 503) != (got.Header().Get("Retry-After") != "") {
				t.Errorf("%s: %d %v", target, got.Code, got.Header())
			}
		}
		w.starting = true
		expect("/limited", 503)
		expect("/x", 302)
		w.starting = false
		expect("/limited", 302)
		if _, err := db.Exec(t.Context(), "ALTER TABLE click_count RENAME TO away"); err != nil {
			t.Fatal(err)
		}
		expect("/voucher", 503)
		expect("/limited", 302) // known from before
		// A click that cannot be written is given back, and its visitor is not
		// let through.
		w.broken = errors.New("disk full")
		expect("/limited", 503)
		expect("/x", 302)
		w.broken = nil
		expect("/limited", 302)
		expect("/limited", 410)
		if n := counted(t, w.registry, "waymark_redirect_clicks_lost_total", ""); n != 1 {
			t.Errorf("%v clicks were counted as lost", n)
		}
	})
}

// TestRules follows a country's rule, which is looked up only where it matters,
// and finds the rule in the event.
func TestRules(t *testing.T) {
	db, c := openSQLite(t)
	publish(t, db)
	w := newWorld(t, db, c)
	for _, c := range []struct {
		target, agent, country, location, rule, source string
	}{
		{"/ruled", visitortest.SafariMac, "DE", "https://example.de/?a=1", "de", "browser"},
		{"/ruled?a=2&b=3", visitortest.SafariMac, "de", "https://example.de/?a=1&b=3", "de", "browser"},
		{"/ruled?qr=1", visitortest.SafariMac, "DE", "https://example.de/?a=1", "de", "qr"},
		{"/ruled?b&qr=1&a=2&c", visitortest.SafariMac, "DE", "https://example.de/?a=1&b&c", "de", "qr"},
		{"/ruled?qr=1", visitortest.SafariPhone, "FR", "https://example.com/phone", "phone", "qr"},
		{"/ruled?qr=1", visitortest.SafariMac, "FR", web, "", "qr"},
		{"/ruled", visitortest.SafariMac, "XX", web, "", "browser"},
	} {
		w.clicks = nil
		r := request("GET", "a.example", c.target, "User-Agent", c.agent, "X-Country", c.country)
		r.RemoteAddr = "10.0.0.1:1"
		got := w.get(r).Header().Get("Location")
		if got != c.location || len(w.clicks) != 1 || w.clicks[0].RuleID != c.rule || w.clicks[0].Source != c.source ||
			w.clicks[0].Destination != string(route.ToWeb) {
			t.Errorf("%+v: to %q, %+v", c, got, w.clicks)
		}
	}
}
