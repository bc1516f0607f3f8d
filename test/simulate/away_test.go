package main

import (
	"testing"
	"time"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/eventstore"
	"github.com/waymarkhq/waymark/internal/eventstore/clickhouse"
	"github.com/waymarkhq/waymark/internal/eventstore/clickhouse/clickhousetest"
)

// A ClickHouse is away for an hour: all visits of the hour are redirected, their clicks wait on the disk, and
// once it is back none is missing and none is there twice.
func TestEventStoreAway(t *testing.T) {
	const sixth = 1000 // visits within ten minutes
	*links = 500
	address := clickhousetest.Address(t)
	relay, through := clickhousetest.NewRelay(t, address)
	relay.Up(t)
	i, err := open(through)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := i.close(); err != nil {
			t.Error(err)
		}
	}()
	if err := i.publish(*links); err != nil {
		t.Fatal(err)
	}
	visits := newTraffic(1, *links)
	tenMinutes := func(which int) {
		t.Helper()
		if err := i.hour(visits, 0, which, portion{sixth, i.visitLink}); err != nil {
			t.Fatal(err)
		}
	}
	tenMinutes(0)
	if _, err := i.awaitLoaded(); err != nil {
		t.Fatal(err)
	}
	relay.Down()
	began, waited := i.clock.Now(), 0.0
	for which := range 6 {
		tenMinutes(which + 1)
		waiting, err := i.gauge("waymark_click_log_bytes")
		if err != nil || waiting <= waited {
			t.Errorf("after %d visits %.0f bytes wait, %.0f did before (%v)", (which+1)*sixth, waiting, waited, err)
		}
		waited = waiting
	}
	if away := i.clock.Now().Sub(began); away < time.Hour {
		t.Errorf("it was away for %s", away)
	}
	relay.Up(t)
	loaded, err := i.awaitLoaded()
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d visits within an hour: %.0f bytes waited, loaded within %s", 6*sixth, waited, loaded)

	events, err := clickhouse.Open(address, &clock.Clock{})
	if err != nil {
		t.Fatal(err)
	}
	defer events.Close()
	var stored int64
	for _, device := range []string{"", "bot"} { // crawlers are in no count but their own
		rows, err := eventstore.Count(t.Context(), events,
			eventstore.Query{Filter: eventstore.Filter{AppID: app, End: i.clock.Now(), Device: device}})
		if err != nil {
			t.Fatal(err)
		}
		stored += rows[0].Clicks
	}
	if clicks := visits.clicks.Load(); stored != clicks || clicks != 7*sixth {
		t.Errorf("%d clicks are stored, %d were made", stored, clicks)
	}
}
