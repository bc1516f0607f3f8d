// Command bench measures Waymark as it is installed: it builds the program,
// starts it with SQLite on disk, drives it over the network and prints, beside
// each figure, the aim of the design and the ratio to it. What is compared is
// measured in one run, in turns. Processor time is the server's own (user and
// system), from /proc, so Linux is needed.
//
//	go run ./test/bench
//
// Nothing fails on a figure; it fails when something does not work.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/waymarkhq/waymark/test/program"
)

// Sizes of the run.
var (
	rounds  = flag.Int("rounds", 3, "turns of each comparison; the median counts")
	seconds = flag.Int("seconds", 5, "seconds of load in each turn")
	parts   = flag.String("parts", "starts,administration,clients,redirects,tls,durable,postgres,several,traces,others,analytics",
		"what is measured; redirects and tls need administration")
	eventSizes  = flag.String("events", "100000,1000000,10000000", "events in the installations of analytics, half of one app")
	otherEvents = flag.Int64("other-events", 1_000_000, "events in the engines database and clickhouse; 0 leaves them out")
	keep        = flag.Bool("keep", false, "keep the temporary folder")
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == "bare" {
		bare(os.Args[2:])
		return
	}
	flag.Parse()
	b := &bench{database: "sqlite"}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	finished := make(chan error, 1)
	go func() { finished <- b.run() }()
	var err error
	select {
	case err = <-finished:
	case <-signals:
		err = errors.New("interrupted")
	}
	b.cleanUp()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

type bench struct {
	dir, binary, data string
	// database is what --database says.
	database string
	children []*child
	rows     []row
}

// row is one line of the table; aim 0 means that the design has none.
type row struct {
	what, figure string
	value, aim   float64
	atLeast      bool
	note         string
}

// add notes a figure that is to be small, and addAtLeast one that is to be
// large.
func (b *bench) add(what, format string, value, aim float64, note string) {
	b.note(row{what, fmt.Sprintf(format, value), value, aim, false, note})
}

func (b *bench) addAtLeast(what, format string, value, aim float64, note string) {
	b.note(row{what, fmt.Sprintf(format, value), value, aim, true, note})
}

func (b *bench) note(r row) {
	b.rows = append(b.rows, r)
	fmt.Fprintf(os.Stderr, "  %s: %s %s\n", r.what, r.figure, r.note)
}

func (b *bench) run() (err error) {
	if b.dir, err = os.MkdirTemp("", "waymark-bench-"); err != nil {
		return err
	}
	b.data = filepath.Join(b.dir, "data")
	if b.binary, err = program.Build(b.dir); err != nil {
		return err
	}
	info, err := os.Stat(b.binary)
	if err != nil {
		return err
	}
	b.add("binary size, MiB", "%.1f", float64(info.Size())/(1<<20), 0, "not stripped")
	for _, part := range []struct {
		name string
		run  func() error
	}{{"starts", b.starts}, {"administration", b.administration}, {"clients", b.clients}, {"redirects", b.redirects}, {"tls", b.tls},
		{"durable", b.durable}, {"postgres", b.postgres}, {"several", b.several}, {"traces", b.traces},
		{"others", b.others}, {"analytics", b.analytics}} {
		if !slices.Contains(strings.Split(*parts, ","), part.name) {
			continue
		}
		if err := part.run(); err != nil {
			return err
		}
	}
	b.print()
	return nil
}

func (b *bench) cleanUp() {
	for _, c := range slices.Backward(b.children) {
		c.stop()
	}
	if *keep {
		fmt.Fprintln(os.Stderr, "kept:", b.dir)
	} else if b.dir != "" {
		os.RemoveAll(b.dir)
	}
}

func (b *bench) print() {
	fmt.Printf("\nWaymark, %s; %s, %s, %d CPUs; load average %s; SQLite with synchronous=FULL on %s; %s\n\n",
		time.Now().UTC().Format("2006-01-02 15:04 UTC"), runtime.Version(), processor(), runtime.NumCPU(),
		loadAverage(), filesystem(b.dir), loader())
	t := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "what\tmeasured\taim\tratio to aim\t")
	for _, r := range b.rows {
		aim, ratio := "", ""
		if r.aim != 0 {
			sign := "≤ "
			if r.atLeast {
				sign = "≥ "
			}
			aim, ratio = sign+strings.TrimSuffix(fmt.Sprintf("%.1f", r.aim), ".0"), fmt.Sprintf("%.2f", r.value/r.aim)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", r.what, r.figure, aim, ratio, r.note)
	}
	t.Flush()
}

func processor() string {
	text, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(text)) {
		if name, ok := strings.CutPrefix(line, "model name"); ok {
			return strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(name), ":"))
		}
	}
	return runtime.GOARCH
}

func loadAverage() string {
	text, _ := os.ReadFile("/proc/loadavg")
	first, _, _ := strings.Cut(string(text), " ")
	return first
}

// filesystem names the type of the file system of a folder.
func filesystem(dir string) string {
	out, err := exec.Command("stat", "-f", "-c", "%T", dir).Output()
	if err != nil {
		return "an unknown file system"
	}
	return strings.TrimSpace(string(out))
}

// median returns the middle of values, which it sorts.
func median[T int64 | float64 | time.Duration](values []T) T { return quantile(values, 0.5) }

func quantile[T int64 | float64 | time.Duration](values []T, q float64) T {
	slices.Sort(values)
	return values[min(int(q*float64(len(values))), len(values)-1)]
}
