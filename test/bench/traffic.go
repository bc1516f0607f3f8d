package main

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/waymarkhq/waymark/internal/clicklog"
	"github.com/waymarkhq/waymark/internal/clock"
)

// The shape of an installation's traffic: half of all events are those of one app,
// and few of its links get most of them.
const (
	apps     = 50
	appLinks = 2000
	days     = 400
	// people are those who may visit an app on a day.
	people = 60_000
)

// traffic makes the events of an installation in the order of time. The same seed
// makes the same events.
type traffic struct {
	random   *rand.Rand
	link     *rand.Zipf
	referrer *rand.Zipf
	at       clock.Instant
	step     time.Duration
	// links are those of the large app; of the others they are made up.
	links []clicklog.Link
	done  int64
}

// newTraffic spreads a number of events over the days before an instant.
func newTraffic(events int64, until clock.Instant, links []clicklog.Link) *traffic {
	random := rand.New(rand.NewPCG(1, 2))
	return &traffic{random: random, link: rand.NewZipf(random, 1.2, 8, appLinks-1),
		referrer: rand.NewZipf(random, 1.3, 4, 299), at: until.Add(-days * 24 * time.Hour),
		step: days * 24 * time.Hour / time.Duration(events), links: links}
}

func pick[T any](random *rand.Rand, values ...T) T { return values[random.IntN(len(values))] }

// batch makes the next n events, as a loader would bring them.
func (t *traffic) batch(n int) *clicklog.Batch {
	b := &clicklog.Batch{Events: make([]clicklog.Event, n)}
	run := clicklog.Run{Log: "bench", File: 1, Ends: make([]int64, n)}
	for i := range b.Events {
		b.Events[i] = t.event()
		t.done++
		run.Ends[i] = t.done
	}
	b.Runs = []clicklog.Run{run}
	return b
}

func (t *traffic) event() clicklog.Event {
	r := t.random
	t.at = t.at.Add(time.Duration(r.Int64N(2 * int64(t.step))))
	app := 0
	if r.IntN(2) == 0 {
		app = 1 + r.IntN(apps-1)
	}
	e := clicklog.Event{
		ID: 1 + r.Int64N(1<<47-1), At: t.at, Type: clicklog.Click, Link: t.linkOf(app, int(t.link.Uint64())),
		Visitor: visitorOf(app, t.at, r.IntN(people)),
		Device:  "desktop", OS: "Windows", Browser: pick(r, "Chrome", "Firefox", "Edge"),
		Source: pick(r, "browser", "browser", "social", "qr"), Destination: "web",
		Country: pick(r, "PT", "DE", "US", "US", "US", "BR", "FR", "IN", "GB", "ZZ"),
	}
	switch r.IntN(20) {
	case 0, 1, 2:
		e.Device, e.OS, e.Browser, e.Source = "bot", "", "Googlebot", "unknown"
	case 3, 4, 5, 6, 7:
		e.Device, e.OS, e.Browser, e.Destination = "ios", "iOS", "Safari", "store"
	case 8, 9, 10, 11, 12:
		e.Device, e.OS, e.Browser, e.Destination = "android", "Android", "Chrome", "app"
	}
	if r.IntN(2) == 0 {
		e.ReferrerHost = fmt.Sprintf("www%d.example.org", t.referrer.Uint64())
	}
	if e.Device == "ios" || e.Device == "android" {
		switch r.IntN(10) {
		case 0:
			e.Type, e.Source, e.Destination, e.Install = clicklog.AppOpen, "app", "none", 1+r.Int64N(100_000)
		case 1:
			e.Type, e.Source, e.Destination, e.Install = clicklog.ContentView, "app", "none", 1+r.Int64N(100_000)
		case 2:
			e.Type, e.Destination = clicklog.RecoveryCreated, "store"
		}
	}
	return e
}

// linkOf returns a link of an app; app 0 is the large one.
func (t *traffic) linkOf(app, n int) clicklog.Link {
	if app == 0 {
		return t.links[n]
	}
	return clicklog.Link{ID: fmt.Sprintf("go.example.com:0198b3d2-6f0e-7c3a-%04x-%012x", app, n%200),
		AppID: fmt.Sprintf("app_%026d", app), Hostname: "go.example.com", Prefix: "l", Slug: fmt.Sprint("slug-", n%200),
		Group: "main"}
}

// visitorOf is the hash of one of an app's people on a UTC day.
func visitorOf(app int, at clock.Instant, who int) int64 {
	const golden = 0x9E3779B97F4A7C15
	h := (uint64(at.Time().Unix()/86400)*apps+uint64(app))*people + uint64(who) + 1
	h *= golden
	h ^= h >> 31
	return int64(h * golden)
}
