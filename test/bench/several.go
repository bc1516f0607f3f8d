package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"
)

// several compares redirects of one, two and three redirectors on one PostgreSQL, all of which are visited at
// once: what a redirect costs should not depend on how many there are.
func (b *bench) several() error {
	return b.onPostgres("several", func(postmaster int) error {
		api, c, err := b.prepared("go", "--roles", "api,executor")
		if err != nil {
			return err
		}
		defer api.stop()
		if _, err := c.createLink(slug); err != nil {
			return err
		}
		folder := b.data
		defer func() { b.data = folder }()
		var redirectors []*server
		var one float64
		for n := 1; n <= 3; n++ {
			b.data = filepath.Join(folder, fmt.Sprint("redirector-", n))
			s, err := b.serve("--roles", "redirect")
			if err != nil {
				return err
			}
			defer s.stop()
			redirectors = append(redirectors, s)
			cost, rate, database, err := b.visitAll(redirectors, func() time.Duration { return family(postmaster) })
			if err != nil {
				return err
			}
			if n == 1 {
				one = cost
			}
			b.add(fmt.Sprintf("redirect with %d redirector(s) on PostgreSQL, CPU µs", n), "%.1f", cost, 0,
				fmt.Sprintf("%.2f of that with one; the database %.1f more; %.0f/s together", cost/one, database, rate))
		}
		return nil
	})
}

// visitAll visits all redirectors at once, in turns, until their clicks are in the event store. It returns the
// processor time of a redirect, redirects a second, and the processor time of the database for each.
func (b *bench) visitAll(all []*server, of func() time.Duration) (cost, rate, database float64, err error) {
	used := func() (sum time.Duration) {
		for _, s := range all {
			sum += s.cpu()
		}
		return sum
	}
	var costs, rates, databases []float64
	for range *rounds {
		for _, s := range all {
			if _, err := visit(s.public, "/"+slug); err != nil {
				return 0, 0, 0, err
			}
		}
		cpu, databaseCPU, began := used(), of(), time.Now()
		errs, counts := make([]error, len(all)), make([]int, len(all))
		var visiting sync.WaitGroup
		for i, s := range all {
			visiting.Go(func() { counts[i], errs[i] = visits(s.public, "/"+slug, 32/len(all)) })
		}
		visiting.Wait()
		took, n := time.Since(began), 0
		for i, s := range all {
			n += counts[i]
			errs[i] = errors.Join(errs[i], s.drained("waymark_click_log_bytes"))
		}
		if err := errors.Join(errs...); err != nil {
			return 0, 0, 0, err
		}
		costs, databases = append(costs, per(used()-cpu, n)), append(databases, per(of()-databaseCPU, n))
		rates = append(rates, float64(n)/took.Seconds())
	}
	return median(costs), median(rates), median(databases), nil
}
