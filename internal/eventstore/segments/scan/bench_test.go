package scan

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"testing"

	"github.com/waymarkhq/waymark/internal/clicklog"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/eventstore"
	"github.com/waymarkhq/waymark/internal/eventstore/segments/segment"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
	"github.com/waymarkhq/waymark/internal/turns"
)

// The traffic of the benchmarks: half of all events are of one app of 50.
const (
	benchApps  = 50
	benchDays  = 400
	fileDays   = 30
	benchLinks = 2000 // of each app
)

// benchFolder names a folder in which the files of a benchmark stay, so that the next
// run need not make them.
const benchFolder = "WAYMARK_BENCH_SEGMENTS"

// benchmark has n events in files of some 30 days, of app "app_1" half of them.
func benchmark(b *testing.B, n int) (links *Links, groups []Group) {
	b.Helper()
	folder := os.Getenv(benchFolder)
	if folder == "" {
		folder = b.TempDir()
	}
	db := storetest.Open(b, storetest.Address(b, "sqlite"), &clock.Clock{})
	first := benchStates(b, db)
	size, events := int64(0), int64(0)
	for from := 0; from < benchDays; from += fileDays {
		path := filepath.Join(folder, fmt.Sprintf("%d-%d.parquet", n, from))
		days := min(fileDays, benchDays-from)
		if _, err := os.Stat(path); err != nil {
			writeBench(b, path, first, from, days, n/benchDays)
		}
		file, err := os.Open(path)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { file.Close() })
		info, err := file.Stat()
		if err != nil {
			b.Fatal(err)
		}
		f, err := segment.Open(file, info.Size())
		if err != nil {
			b.Fatal(err)
		}
		size, events = size+info.Size(), events+f.Rows()
		groups = Groups(groups, f)
	}
	b.Logf("%d events in %d row groups, %.1f bytes/event", events, len(groups), float64(size)/float64(events))
	return NewLinks(db), groups
}

// benchStates numbers the apps from 1 on, and their links one app after the other. It
// returns the number of the first link.
func benchStates(b *testing.B, db *store.DB) (first int64) {
	b.Helper()
	numbers := eventstore.NewNumbers()
	for app := range benchApps {
		err := db.InTx(context.Background(), func(tx *store.Tx) error {
			id, no := fmt.Sprint("app_", app+1), int64(0)
			in, err := numbers.In(context.Background(), tx)
			if err == nil {
				no, err = in.App(context.Background(), id)
			}
			for i := 0; i < benchLinks && err == nil; i++ {
				var link int64
				link, err = in.Link(context.Background(), no, &clicklog.Link{
					ID: fmt.Sprintf("link%d-%d", app, i), AppID: id, Hostname: fmt.Sprint("go", i%3, ".example.com"),
					Prefix: "l", Slug: fmt.Sprint(i), Group: "main", CampaignID: fmt.Sprint("campaign", i%7),
					TagIDs: []string{fmt.Sprint("tag", i%5), fmt.Sprint("tag", 5+i%11)},
				})
				if first == 0 {
					first = link
				}
			}
			return err
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	return first
}

// writeBench writes a file of some days with perDay events on each.
func writeBench(b *testing.B, path string, firstLink int64, from, days, perDay int) {
	b.Helper()
	file, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	out := bufio.NewWriterSize(file, 1<<20)
	w := segment.NewWriter(out)
	for app := range benchApps {
		n := perDay / 2
		if app > 0 {
			n = perDay / 2 / (benchApps - 1)
		}
		random := rand.New(rand.NewPCG(uint64(app), uint64(from)))
		for d := from; d < from+days && err == nil; d++ {
			for _, e := range benchDay(random, app, d, n, firstLink) {
				err = cmp.Or(err, w.Add(&e))
			}
		}
	}
	if err = cmp.Or(err, w.Close(), out.Flush(), file.Close()); err != nil {
		b.Fatal(err)
	}
}

// benchDay makes the events of an app on a day, two thirds of them of visitors of their
// own, 15% of bots.
func benchDay(random *rand.Rand, app, d, n int, firstLink int64) []segment.Event {
	links, many := rand.NewZipf(random, 1.2, 8, benchLinks-1), rand.NewZipf(random, 1.3, 3, 999)
	some := func(list ...string) string { return list[min(many.Uint64(), uint64(random.IntN(len(list))))] }
	events := make([]segment.Event, n)
	for i := range events {
		visitor := uint64(d)<<40 | uint64(random.IntN(n+n/5))<<8 | uint64(app)
		e := segment.Event{
			App: int64(app + 1), At: start + clock.Instant(d)*day + clock.Instant(random.Int64N(int64(day))),
			ID: segment.MakeID(random.Int64N(1 << 47)), Type: string(clicklog.Click),
			Link: firstLink + int64(app*benchLinks) + int64(links.Uint64()), Visitor: int64(visitor * spread),
			Device: some("ios", "android", "desktop", "other"), OS: some("iOS", "Android", "Windows", "macOS", ""),
			Browser:     some("Safari", "Chrome", "Firefox", "Edge", ""),
			Source:      some("browser", "social", "qr", "unknown"),
			Country:     fmt.Sprintf("%c%c", 'A'+many.Uint64()%26, 'A'+many.Uint64()%8),
			Destination: some("web", "store", "app"), Rule: some("", "rule1", "rule2", "rule3"),
		}
		if random.IntN(100) < 15 {
			e.Device, e.Source = "bot", "unknown"
		}
		if random.IntN(100) < 8 {
			e.Type, e.Source = some("app_open", "content_view", "recovery_created"), "app"
		}
		if random.IntN(100) < 20 {
			e.Install = int64(1+random.Uint64N(1<<20)) * math.MaxInt32
		}
		if random.IntN(2) == 0 {
			e.Referrer = fmt.Sprint("www", many.Uint64(), ".example.org")
		}
		events[i] = e
	}
	slices.SortFunc(events, inOrder)
	return events
}

// benchQuestions are those of the analytics operations.
var benchQuestions = []struct {
	name string
	by   []eventstore.Grouping
}{
	{"summary", []eventstore.Grouping{{Visitors: true, Links: true}}},
	{"timeseries/day", []eventstore.Grouping{{By: eventstore.Time, Visitors: true}}},
	{"country", []eventstore.Grouping{{By: eventstore.ByCountry}}},
	{"device", []eventstore.Grouping{{By: eventstore.ByDevice}}},
	{"referrer", []eventstore.Grouping{{By: eventstore.ByReferrer}}},
	{"country+visitors", []eventstore.Grouping{{By: eventstore.ByCountry, Visitors: true}}},
	{"top-links+visitors", []eventstore.Grouping{{By: eventstore.ByLink, Visitors: true, Limit: 100}}},
	{"tag+visitors", []eventstore.Grouping{{By: eventstore.ByTag, Visitors: true}}},
	{"native", []eventstore.Grouping{{Installs: true}, {By: eventstore.ByDevice}, {By: eventstore.Time}}},
	{"campaign", []eventstore.Grouping{{Visitors: true, Links: true}, {By: eventstore.Time, Visitors: true},
		{By: eventstore.ByLink, Visitors: true, Limit: 10}}},
}

// BenchmarkCount reports what each question about 5 of 10 million events costs on one
// goroutine, plain and for a country and campaign, and what memory.
func BenchmarkCount(b *testing.B) {
	links, groups := benchmark(b, 10_000_000)
	benchCount(b, links, groups)
}

// BenchmarkCountByHash does the same where every day lies in two files.
func BenchmarkCountByHash(b *testing.B) {
	links, groups := benchmark(b, 10_000_000)
	late := filepath.Join(b.TempDir(), "late")
	writeBench(b, late, 1, 0, benchDays, 100)
	data, err := os.ReadFile(late)
	if err != nil {
		b.Fatal(err)
	}
	f, err := segment.Open(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		b.Fatal(err)
	}
	benchCount(b, links, Groups(groups, f))
}

func benchCount(b *testing.B, links *Links, groups []Group) {
	pool := turns.New(1)
	for _, c := range benchQuestions {
		for _, filter := range []string{"plain", "filtered"} {
			b.Run(c.name+"/"+filter, func(b *testing.B) {
				f := eventstore.Filter{AppID: "app_1", Start: start, End: start + benchDays*day}
				if filter == "filtered" {
					f.Country, f.CampaignID = "AA", "campaign1"
				}
				by := slices.Clone(c.by)
				for i := range by {
					for d := range benchDays + 1 {
						by[i].Bounds = append(by[i].Bounds, start+clock.Instant(d)*day)
					}
				}
				before := cpu(b)
				for b.Loop() {
					if _, err := counted(context.Background(), pool, f, by, links, groups); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(cpu(b)-before)/float64(b.N)/1e6, "cpu-ms")
				b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N), "ms")
				b.ReportMetric(0, "ns/op")
				b.ReportMetric(heap(), "heap-MiB")
			})
		}
	}
}

// BenchmarkList lists the newest events, of all and of a rare link.
func BenchmarkList(b *testing.B) {
	links, groups := benchmark(b, 10_000_000)
	pool := turns.New(1)
	for name, f := range map[string]eventstore.Filter{"all": {}, "rare": {LinkID: "link0-1990", Country: "ZA"}} {
		b.Run(name, func(b *testing.B) {
			f.AppID, f.Start, f.End = "app_1", start, start+benchDays*day
			for b.Loop() {
				_, err := listed(context.Background(), pool, f, nil, 100, links, groups)
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// cpu returns the processor time that the process has used, in nanoseconds.
func cpu(b *testing.B) int64 {
	var use syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &use); err != nil {
		b.Fatal(err)
	}
	return use.Utime.Nano() + use.Stime.Nano()
}

// heap returns what the process has of the system for its heap, in MiB.
func heap() float64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapSys-m.HeapReleased) / (1 << 20)
}
