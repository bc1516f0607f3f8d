package database_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/waymarkhq/waymark/internal/clicklog"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/eventstore"
	"github.com/waymarkhq/waymark/internal/eventstore/database"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
)

// traffic makes events like those of an installation: 2,000 links of which few
// get most clicks, in order of time.
type traffic struct {
	random *rand.Rand
	skew   *rand.Zipf
	at     clock.Instant
}

func newTraffic() *traffic {
	random := rand.New(rand.NewPCG(1, 2))
	return &traffic{random, rand.NewZipf(random, 1.2, 8, 1999), storetest.Start}
}

func (g *traffic) events(n int) []clicklog.Event {
	pick := func(values ...string) string { return values[g.random.IntN(len(values))] }
	events := make([]clicklog.Event, n)
	for i := range events {
		g.at = g.at.Add(time.Duration(g.random.IntN(100)) * time.Millisecond)
		link := g.skew.Uint64()
		events[i] = clicklog.Event{
			ID: 1 + g.random.Int64N(1<<47-1), At: g.at, Type: clicklog.Click, Visitor: int64(g.random.Uint64()),
			Link: clicklog.Link{
				ID: fmt.Sprintf("0198b3d2-6f0e-7c3a-9a51-%012x", link), AppID: "app_5fk2m9q1x7",
				Hostname: "go.example.com",
				Prefix:   "l", Slug: fmt.Sprint("slug-", link), Group: "main",
				TagIDs: []string{"0198b3d2-6f0e-7c3a-9a51-0c9f5e1d2b77"},
			},
			Device: pick("ios", "android", "desktop", "other"), OS: pick("iOS", "Android", "Windows", "macOS"),
			Browser: pick("Safari", "Chrome", "Firefox", "Edge", "Samsung"),
			Source:  pick("browser", "browser", "social", "qr"),
			Country: pick("PT", "DE", "US", "BR", "FR", "IN", "ZZ"), Destination: pick("web", "store", "app"),
		}
		if g.random.IntN(2) == 0 {
			events[i].ReferrerHost = fmt.Sprintf("www%d.example.org", g.skew.Uint64())
		}
	}
	return events
}

// BenchmarkAppend reports what loading costs per event, and on SQLite the size
// of an event on disk: run it with -benchtime 200x for 200,000.
func BenchmarkAppend(b *testing.B) {
	for _, engine := range storetest.Engines {
		b.Run(engine, func(b *testing.B) {
			address := storetest.Address(b, engine)
			db := storetest.Open(b, address, &clock.Clock{})
			s, g := database.Open(db), newTraffic()
			size := fileSize(b, db, address)
			b.ReportAllocs()
			b.ResetTimer()
			for range b.N {
				b.StopTimer()
				events := g.events(1000)
				b.StartTimer()
				if err := s.Append(context.Background(), &clicklog.Batch{Events: events}); err != nil {
					b.Fatal(err)
				}
			}
			b.StopTimer()
			b.ReportMetric(float64(b.N*1000)/b.Elapsed().Seconds(), "events/s")
			if size > 0 {
				b.ReportMetric(float64(fileSize(b, db, address)-size)/float64(b.N*1000), "bytes/event")
			}
		})
	}
}

// fileSize returns the size of a SQLite database with everything in its main
// file, 0 for PostgreSQL.
func fileSize(b *testing.B, db *store.DB, address string) int64 {
	path, ok := strings.CutPrefix(address, "sqlite:")
	if !ok {
		return 0
	}
	if _, err := db.Exec(context.Background(), "PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
		b.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	return info.Size()
}

// BenchmarkSummary counts a million events, all of one app's period.
func BenchmarkSummary(b *testing.B) {
	for _, engine := range storetest.Engines {
		db := storetest.Open(b, storetest.Address(b, engine), &clock.Clock{})
		s, g := database.Open(db), newTraffic()
		for range 100 {
			if err := s.Append(context.Background(), &clicklog.Batch{Events: g.events(10_000)}); err != nil {
				b.Fatal(err)
			}
		}
		for name, f := range map[string]eventstore.Filter{
			"all":  {},
			"link": {LinkID: "0198b3d2-6f0e-7c3a-9a51-000000000001"},
			"hour": {End: storetest.Start.Add(time.Hour)},
		} {
			f.AppID, f.Start = "app_5fk2m9q1x7", storetest.Start
			if f.End == 0 {
				f.End = g.at + 1
			}
			b.Run(engine+"/"+name, func(b *testing.B) {
				for b.Loop() {
					if _, err := eventstore.Count(context.Background(), s, eventstore.Query{Filter: f,
						Grouping: eventstore.Grouping{Visitors: true, Links: true}}); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
