package segments

import (
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"
	"time"

	"github.com/waymarkhq/waymark/internal/clicklog"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/eventstore/database"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
)

// batchSize is that of the loader.
const batchSize = 2048

// traffic makes events like those of an installation: 2,000 links of which few get most
// clicks, in order of time.
type traffic struct {
	random *rand.Rand
	skew   *rand.Zipf
	at     clock.Instant
	end    int64
}

func newTraffic() *traffic {
	random := rand.New(rand.NewPCG(1, 2))
	return &traffic{random: random, skew: rand.NewZipf(random, 1.2, 8, 1999), at: storetest.Start}
}

// batch returns n events as the click log hands them out.
func (g *traffic) batch(n int) *clicklog.Batch {
	pick := func(values ...string) string { return values[g.random.IntN(len(values))] }
	run := clicklog.Run{Log: "log", File: 1}
	b := &clicklog.Batch{}
	for range n {
		g.at = g.at.Add(time.Duration(g.random.IntN(100)) * time.Millisecond)
		link := g.skew.Uint64()
		e := clicklog.Event{
			ID: 1 + g.random.Int64N(1<<47-1), At: g.at, Type: clicklog.Click, Visitor: int64(g.random.Uint64()),
			Link: clicklog.Link{
				ID: fmt.Sprintf("0198b3d2-6f0e-7c3a-9a51-%012x", link), AppID: "app_5fk2m9q1x7",
				Hostname: "go.example.com", Prefix: "l", Slug: fmt.Sprint("slug-", link), Group: "main",
				TagIDs: []string{"0198b3d2-6f0e-7c3a-9a51-0c9f5e1d2b77"},
			},
			Device: pick("ios", "android", "desktop", "other"), OS: pick("iOS", "Android", "Windows", "macOS"),
			Browser: pick("Safari", "Chrome", "Firefox", "Edge", "Samsung"),
			Source:  pick("browser", "browser", "social", "qr"),
			Country: pick("PT", "DE", "US", "BR", "FR", "IN", "ZZ"), Destination: pick("web", "store", "app"),
		}
		if g.random.IntN(2) == 0 {
			e.ReferrerHost = fmt.Sprintf("www%d.example.org", g.skew.Uint64())
		}
		g.end += 200
		run.Ends = append(run.Ends, g.end)
		b.Events = append(b.Events, e)
	}
	b.Runs = []clicklog.Run{run}
	return b
}

// BenchmarkAppend reports what loading costs per event, beside the engine that keeps
// rows.
func BenchmarkAppend(b *testing.B) {
	for _, address := range storetest.Engines {
		db := func(b *testing.B) *store.DB { return storetest.Open(b, storetest.Address(b, address), &clock.Clock{}) }
		b.Run("segments/"+address, func(b *testing.B) {
			e := open(b, db(b), b.TempDir())
			benchmarkAppend(b, func(batch *clicklog.Batch) error { return e.Append(b.Context(), batch) })
		})
		b.Run("database/"+address, func(b *testing.B) {
			e := database.Open(db(b))
			benchmarkAppend(b, func(batch *clicklog.Batch) error { return e.Append(b.Context(), batch) })
		})
	}
}

func benchmarkAppend(b *testing.B, add func(*clicklog.Batch) error) {
	g := newTraffic()
	if err := add(g.batch(batchSize)); err != nil { // the links are known
		b.Fatal(err)
	}
	b.ReportAllocs()
	var used time.Duration
	for b.Loop() {
		b.StopTimer()
		batch := g.batch(batchSize)
		before := processorTime(b)
		b.StartTimer()
		if err := add(batch); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		used += processorTime(b) - before
		b.StartTimer()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*batchSize), "ns/event")
	b.ReportMetric(float64(used.Nanoseconds())/float64(b.N*batchSize), "cpu-ns/event")
}

// processorTime is what the process has used of the processor: on a busy machine it says
// more than the time that passes.
func processorTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkSeal reports what sealing costs per event: reading young segments, merging
// and writing a file.
func BenchmarkSeal(b *testing.B) {
	e := open(b, storetest.Open(b, storetest.Address(b, "sqlite"), &clock.Clock{}), b.TempDir())
	g, events := newTraffic(), 0
	for b.Loop() {
		b.StopTimer()
		for range 16 {
			if err := e.Append(b.Context(), g.batch(batchSize)); err != nil {
				b.Fatal(err)
			}
		}
		events += 16 * batchSize
		b.StartTimer()
		seal(b, e)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(events), "ns/event")
}
