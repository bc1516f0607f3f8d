package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/waymarkhq/waymark/internal/assembly"
	"github.com/waymarkhq/waymark/internal/clock"
)

// others measures what an owner feels of the heavy reads of another one, on both
// databases, where they cost most: the events are in the main database.
func (b *bench) others() error {
	sqlite := b.data
	b.data = filepath.Join(b.dir, "others-sqlite")
	err := b.othersOn("SQLite")
	if b.data = sqlite; err != nil {
		return err
	}
	return b.onPostgres("others-postgres", func(int) error { return b.othersOn("PostgreSQL") })
}

// othersOn measures it on a database, without the heavy reads and with them.
func (b *bench) othersOn(name string) error {
	engine := assembly.EngineSettings{Address: assembly.Database}
	s, heavy, err := b.prepared("others", "--events", engine.Address)
	if err != nil {
		return err
	}
	var campaign created
	err = heavy.call("POST", "/campaigns", map[string]any{"appId": heavy.app, "name": "Benchmark"}, &campaign)
	if err := errors.Join(err, s.stop()); err != nil {
		return err
	}
	today := clock.At(time.Now().UTC().Truncate(24 * time.Hour))
	traffic := newTraffic(*otherEvents, today, linksOf(heavy, campaign.Data.ID))
	if _, err := b.fill(engine, assembly.Database, traffic, *otherEvents); err != nil {
		return err
	}
	if s, err = b.serve("--events", engine.Address); err != nil {
		return err
	}
	defer s.stop()
	heavy.api = s.api + "/v1"
	owner, err := b.newClientAs(s, "owner@example.com")
	if err == nil {
		err = owner.newApp("owner")
	}
	if err != nil {
		return err
	}
	calls := []timedCall{
		{"GET /me", func(int) error { return owner.call("GET", "/me", nil, nil) }},
		{"POST /links", func(i int) error {
			_, err := owner.createLink(fmt.Sprintf("other-%d-%d", time.Now().UnixNano(), i))
			return err
		}},
		{"visit of an address that is not in memory", func(int) error {
			return answers(http.StatusNotFound, "http://"+s.public, fmt.Sprintf("/none-%d", time.Now().UnixNano()), owner.domain)
		}},
		{"GET /readyz", func(int) error { return answers(http.StatusOK, s.api, "/readyz", "") }},
	}
	paths := []string{"/links?q=benchmark&appId=" + heavy.app}
	for _, q := range questions {
		paths = append(paths, q.at(heavy.app, campaign.Data.ID, today.Add(-period), today))
	}
	idle, err := timed(calls, func(int) error { return nil })
	if err != nil {
		return err
	}
	stop := make(chan struct{})
	var work sync.WaitGroup
	var reads, refused atomic.Int64
	errs := make([]error, heavyReads)
	for i := range heavyReads {
		work.Go(func() { errs[i] = readOn(heavy, paths, i, stop, &reads, &refused) })
	}
	busy, err := timed(calls, func(int) error { return nil })
	close(stop)
	work.Wait()
	if err := errors.Join(append(errs, err)...); err != nil {
		return err
	}
	for i, c := range calls {
		before, during := quantile(idle[i], 0.99), quantile(busy[i], 0.99)
		b.add(fmt.Sprintf("%s: %s beside 8 heavy reads of another account, p99 ms", name, c.name), "%.1f", during, 100,
			fmt.Sprintf("%.1f × that without them, %.1f; p50 %.1f", during/before, before, quantile(busy[i], 0.5)))
	}
	b.add("  heavy reads answered", "%.0f", float64(reads.Load()), 0, fmt.Sprintf("%d turned away", refused.Load()))
	return nil
}

// answers asks for a page of a host and fails unless it is answered with a status.
func answers(status int, address, path, host string) error {
	request, err := http.NewRequest("GET", address+path, nil)
	if err != nil {
		return err
	}
	request.Host = host
	response, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, response.Body)
	if response.StatusCode != status {
		err = fmt.Errorf("%s answers %s", path, response.Status)
	}
	return errors.Join(err, response.Body.Close())
}
