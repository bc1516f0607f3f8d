// Command simulate sends a month of visits through the real redirector, its route cache, the click log, the
// loader and the segments, in minutes: the clock is moved, nothing else is made up. It prints what a day of
// each kind took, and what a billion events a year would take.
//
//	go run ./test/simulate -visits 3000000
//
// Days are as visitors make them: nights and weekends are quiet, few links get most visits, from 200
// countries. Three days are special: one link becomes as popular as all others together, everybody
// follows one link within ten minutes, and somebody tries slugs that do not exist, as many as there are visits.
//
// Only Linux tells what is measured. Nothing fails on a figure; it fails when a visit is answered
// wrongly, or a click is missing at the end.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime"
	"text/tabwriter"
	"time"

	"github.com/waymarkhq/waymark/internal/assembly"
)

// Sizes of the run.
var (
	days    = flag.Int("days", 30, "days that are simulated")
	visits  = flag.Int("visits", 3_000_000, "visits on these days, but for the special ones' more")
	links   = flag.Int("links", 100_000, "links that there are")
	workers = flag.Int("workers", 2*runtime.GOMAXPROCS(0), "visitors at the same time")
	seed    = flag.Uint64("seed", 1, "what visits are drawn from")
)

func main() {
	flag.Parse()
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "simulate:", err)
		os.Exit(1)
	}
}

// year is what the last lines tell of, in events.
const year float64 = 1e9

func run() (err error) {
	if *days < 1 || *visits < 1 || *workers < 1 || *links <= crowdLink {
		return fmt.Errorf("it needs a day, a visit, a worker and more than %d links", crowdLink)
	}
	i, err := open(assembly.Segments)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, i.close()) }()
	if err := i.publish(*links); err != nil {
		return err
	}
	idle, err := i.measure()
	if err != nil {
		return err
	}
	fmt.Printf("%d days, %d visits, %d links, %d at a time, %d processors\n", *days, *visits, *links, *workers, runtime.GOMAXPROCS(0))
	out := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(out, "day\tvisits\tµs of CPU each\tvisits/s\tMiB of memory\tpeak\tMiB of events\tof the database\ts until loaded\t")
	tell := func(name string, n int, before, after reading, loaded time.Duration) {
		fmt.Fprintf(out, "%s\t%d\t%.1f\t%.0f\t%.0f\t%.0f\t%.1f\t%.1f\t%.1f\t\n", name, n, microseconds(before, after, n),
			float64(n)/after.at.Sub(before.at).Seconds(), mib(after.memory), mib(after.peak), mib(after.events), mib(after.database),
			loaded.Seconds())
	}
	t := newTraffic(*seed, *links)
	before := idle
	var usual time.Duration
	var first reading
	var usualVisits int
	for day := range *days {
		name, n, err := i.day(t, day)
		if err != nil {
			return fmt.Errorf("day %d: %w", day+1, err)
		}
		loaded, err := i.awaitLoaded()
		if err != nil {
			return err
		}
		after, err := i.measure()
		if err != nil {
			return err
		}
		tell(fmt.Sprintf("%d%s", day+1, name), n, before, after, loaded)
		if name == "" && day > 0 {
			usual += after.cpu - before.cpu
			usualVisits += n
		}
		if day == 0 {
			first = after
		}
		before = after
	}
	out.Flush()
	stored, err := i.sealed()
	if err != nil {
		return err
	}
	last, err := i.measure()
	if err != nil {
		return err
	}
	if clicks := t.clicks.Load(); stored != clicks {
		return fmt.Errorf("%d clicks were made, %d are stored", clicks, stored)
	}
	each, bytes := float64(usual.Microseconds())/float64(max(1, usualVisits)), float64(last.events)/float64(stored)
	fmt.Printf("\n%d events are stored, none is missing; %.1f bytes each when all days are over\n", stored, bytes)
	fmt.Printf("memory grew by %.0f MiB from the end of day 1 to the end\n", mib(last.memory)-mib(first.memory))
	fmt.Printf("a billion events a year: %.1f a second on average, %.2f %% of a processor, %.1f GB of events\n",
		year/(365*86400), each*year/(365*86400)/1e4, bytes*year/1e9)
	return nil
}

func microseconds(before, after reading, n int) float64 {
	return float64((after.cpu - before.cpu).Microseconds()) / float64(max(1, n))
}

func mib(bytes int64) float64 { return float64(bytes) / (1 << 20) }
