package enginetest

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/waymarkhq/waymark/internal/clicklog"
	"github.com/waymarkhq/waymark/internal/clock"
)

// Traffic makes random events of an app: few values of everything, so that groups and
// filters meet. A visitor is of one UTC day, as the salt of its hash is.
type Traffic struct {
	*rand.Rand
	App string
	// Day is midnight before the first event; Days is how many the events lie on.
	Day  clock.Instant
	Days int
	// Visitors is how many there are on a day.
	Visitors int
}

// day is the length of a UTC day.
const day = clock.Instant(24 * time.Hour / time.Microsecond)

// NewTraffic returns the traffic of a seed, which begins on a day.
func NewTraffic(seed uint64, app string, start clock.Instant) *Traffic {
	random := rand.New(rand.NewPCG(seed, 13))
	return &Traffic{random, app, start - start%day, 1 + random.IntN(6), 1 + random.IntN(60)}
}

// pick returns one of the values.
func (t *Traffic) pick(values ...string) string { return values[t.IntN(len(values))] }

// Instant returns a random instant of the days of t; many are the first, the last, or
// the same one of a day.
func (t *Traffic) Instant() clock.Instant {
	offset := clock.Instant(t.Int64N(int64(day)))
	switch t.IntN(10) {
	case 0:
		offset = 0
	case 1:
		offset = day - 1
	case 2:
		offset = day / 2
	}
	return t.Day + clock.Instant(t.IntN(t.Days))*day + offset
}

// visitor returns a hash that no other day has: multiplying by an odd number keeps
// different numbers different.
func (t *Traffic) visitor(at clock.Instant) int64 {
	number := uint64(at/day)<<32 | uint64(t.IntN(t.Visitors))
	return int64(number * 0x9e3779b97f4a7c15)
}

// Link returns a random state of a random link.
func (t *Traffic) Link() clicklog.Link {
	number := min(t.IntN(12), t.IntN(12))
	l := clicklog.Link{
		ID: fmt.Sprintf("%s link %d", t.App, number), AppID: t.App, Hostname: "go.example.com", Prefix: "l",
		Slug: fmt.Sprint("slug-", number), Group: "main",
	}
	switch number % 4 {
	case 1:
		l.Hostname, l.Prefix, l.Group = "other.example.com", "", "operational"
	case 2:
		l.Prefix, l.TagIDs = "é", []string{"tag2"}
	case 3:
		l.FolderID = t.pick("", "folder1", "folder2")
		l.CampaignID = t.pick("", "campaign1", "Campaign1", "campaign10")
		l.TagIDs = [][]string{nil, {"tag1"}, {"tag1", "tag2"}, {"tag10", "TAG1", "tag2"}}[t.IntN(4)]
	}
	return l
}

// Events returns n events in no order.
func (t *Traffic) Events(n int) []clicklog.Event {
	events := make([]clicklog.Event, n)
	for i := range events {
		at := t.Instant()
		events[i] = clicklog.Event{
			ID: 1 + t.Int64N(1<<47-1), At: at, Visitor: t.visitor(at), Link: t.Link(),
			Type: clicklog.EventType(t.pick("click", "click", "click", "app_open", "content_view",
				"legacy_content_load", "recovery_created", "recovery_matched")),
			Install:     []int64{0, 0, 0, 1, -1, 77, -1 << 63, 1<<63 - 1}[t.IntN(8)],
			Device:      t.pick("ios", "android", "desktop", "other", "bot"),
			OS:          t.pick("", "iOS", "Android", "Windows"),
			Browser:     t.pick("", "Safari", "Chrome", "Firefox"),
			Source:      t.pick("browser", "social", "qr", "app", "unknown"),
			Country:     t.pick("PT", "DE", "US", "ZZ"),
			Destination: t.pick("web", "store", "app", "page", "none"),
		}
		if t.IntN(2) == 0 {
			events[i].ReferrerHost = fmt.Sprintf("www%d.example.org", t.IntN(5))
			events[i].RuleID = t.pick("", "rule1", "rule2")
		}
	}
	return events
}
