package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

var (
	seed     = flag.String("seed", "1", "what the sample is drawn from")
	number   = flag.Int("n", 100, "how many mutants are drawn")
	packages = flag.String("packages", "", "packages to draw from, such as jobs,automation/batches; all by default")
	only     = flag.String("run", "", "ids of mutants to run in place of a sample")
	results  = flag.String("results", "bin/mutants.json", "the file that gets the results")
)

func main() {
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	names := sorted(judges)
	if *packages != "" {
		names = strings.Split(*packages, ",")
	}
	from, err := sources(ctx, names)
	if err != nil {
		return err
	}
	var all []mutant
	for _, name := range names {
		if _, judged := judges[name]; !judged || from[name] == nil {
			return fmt.Errorf("%s is not among the packages of judges.go", name)
		}
		found, err := from[name].mutants()
		if err != nil {
			return err
		}
		all = append(all, found...)
	}
	identify(all)
	sample, err := sampled(all, from)
	if err != nil {
		return err
	}
	t, err := newTrials(from, sample)
	if err != nil {
		return err
	}
	defer t.close()
	verdicts := map[string]int{}
	for i, m := range sample {
		if err := t.try(ctx, m); err != nil {
			return err
		}
		fmt.Println(m)
		verdicts[m.Verdict]++
		if err := save(*results, sample[:i+1]); err != nil {
			return err
		}
	}
	fmt.Printf("%d mutants: %d noticed, %d out of time, %d equivalent, %d NOT noticed\n",
		len(sample), verdicts[noticed], verdicts[outOfTime], verdicts[equivalent], verdicts[notNoticed])
	return nil
}

// sampled returns the mutants that the flags ask for.
func sampled(all []mutant, from map[string]*source) (sample []*mutant, err error) {
	ids, n := []string(nil), *number
	if *only != "" {
		ids = strings.Split(*only, ",")
		n = len(ids)
	}
	for _, m := range draw(all, *seed) {
		if len(sample) == n {
			break
		}
		if ids != nil && !slices.Contains(ids, m.ID) {
			continue
		}
		if s := from[m.pkg()]; s.compiles(m.File, m.made) {
			m.canSwitch = s.compiles(m.File, m.switched)
			sample = append(sample, &m)
		}
	}
	if len(sample) < n {
		return nil, fmt.Errorf("of %d mutants, %d are there", n, len(sample))
	}
	return sample, nil
}

// save writes the results so far.
func save(name string, done []*mutant) error {
	text, err := json.MarshalIndent(done, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return os.WriteFile(name, append(text, '\n'), 0o644)
}

// sorted returns the keys of a map in their order.
func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
