package main

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
)

var (
	seed     = flag.String("seed", "1", "what the sample is drawn from")
	number   = flag.Int("n", 100, "how many mutants are drawn")
	packages = flag.String("packages", "", "packages to draw from, such as jobs,automation/batches; all by default")
	only     = flag.String("run", "", "ids of mutants to run in place of a sample")
	results  = flag.String("results", "bin/mutants.json", "the file that gets the results; a run on the same commit goes on with them")
	workers  = flag.Int("workers", 1, "how many mutants are tried at a time")
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
	if *packages == "" {
		if err := stale(all); err != nil {
			return err
		}
	}
	sample, err := sampled(all, from)
	if err != nil {
		return err
	}
	soFar, err := earlier(*results, runID(ctx))
	if err != nil {
		return err
	}
	var mu sync.Mutex // of soFar
	t, err := newTrials(from, sample, soFar.Tests, func(judge string, tests []*test) error {
		mu.Lock()
		defer mu.Unlock()
		soFar.Tests[judge] = tests
		return soFar.save(*results)
	})
	if err != nil {
		return err
	}
	defer t.close()
	verdicts := map[string]int{}
	queue := make(chan *mutant, len(sample))
	for _, m := range sample {
		if known := soFar.verdict(m.ID); known != nil {
			fmt.Println(known)
			verdicts[known.Verdict]++
			continue
		}
		queue <- m
	}
	tried := func(m *mutant) error {
		mu.Lock()
		defer mu.Unlock()
		fmt.Println(m)
		verdicts[m.Verdict]++
		soFar.Mutants = append(soFar.Mutants, m)
		return soFar.save(*results)
	}
	close(queue)
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	var working sync.WaitGroup
	for range *workers {
		working.Go(func() {
			for m := range queue {
				err := t.try(ctx, m)
				if err == nil {
					err = tried(m)
				}
				if err != nil {
					fail(err)
					return
				}
			}
		})
	}
	working.Wait()
	if err := context.Cause(ctx); err != nil {
		return err
	}
	fmt.Printf("%d mutants: %d noticed, %d out of time, %d NOT noticed\n", len(sample), verdicts[noticed],
		verdicts[outOfTime], verdicts[notNoticed])
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
		if ids == nil && m.Verdict == equivalent || ids != nil && !slices.Contains(ids, m.ID) {
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

// sorted returns the keys of a map in their order.
func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
