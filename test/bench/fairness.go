package main

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/waymarkhq/waymark/internal/clock"
)

const (
	// heavyReads are the reads of one app that go on all the time.
	heavyReads = 8
	// clicksPerSecond come in meanwhile, over so many connections.
	clicksPerSecond, clickers = 5000, 20
)

// fairness measures what everybody else feels of the heavy reads of one app and of
// clicks that come in: the calls of another owner, a redirect, the loader's lag. Half of
// the clicks are those of the app that is read, up to the moment.
func (b *bench) fairness(s *server, heavy *client, kind, campaign string) error {
	other, err := b.newClientAs(s, "other@example.com")
	if err == nil {
		err = other.newApp("other")
	}
	if err != nil {
		return err
	}
	for _, c := range []*client{heavy, other} {
		if _, err := c.createLink(slug); err != nil {
			return err
		}
	}
	if err := s.drained("waymark_jobs_waiting"); err != nil {
		return err
	}
	domains := []string{heavy.domain, other.domain}
	for _, domain := range domains {
		if _, err := visitOn(s.public, "/"+slug, domain); err != nil {
			return err
		}
	}
	end := clock.At(time.Now().UTC().Truncate(24 * time.Hour)).Add(24 * time.Hour)
	var paths []string
	for _, q := range questions {
		paths = append(paths, q.at(heavy.app, campaign, end.Add(-period), end))
	}
	calls := []timedCall{
		{"GET /me", func(int) error { return other.call("GET", "/me", nil, nil) }},
		{"GET /links", func(int) error { return other.call("GET", "/links?appId="+other.app, nil, nil) }},
		{"POST /links", func(i int) error {
			_, err := other.createLink(fmt.Sprintf("fair-%d-%d", time.Now().UnixNano(), i))
			return err
		}},
		{"analytics of a small app", func(int) error {
			return other.call("GET", strings.Replace(paths[0], heavy.app, other.app, 1), nil, nil)
		}},
		{"redirect", func(int) error {
			_, err := visitOn(s.public, "/"+slug, other.domain)
			return err
		}},
	}
	for _, busy := range []bool{false, true} {
		stop := make(chan struct{})
		var work sync.WaitGroup
		var failed atomic.Pointer[error]
		note := func(err error) {
			if err != nil {
				failed.Store(&err)
			}
		}
		work.Go(func() { note(pacedClicks(s.public, domains, stop)) })
		var reads, refused atomic.Int64
		for i := range heavyReads {
			if !busy {
				break
			}
			work.Go(func() { note(readOn(heavy, paths, i, stop, &reads, &refused)) })
		}
		when := "beside 5,000 clicks/s"
		if busy {
			when += " and 8 heavy reads of another app"
		}
		var lag float64
		times, err := timed(calls, func(i int) error {
			if i%10 > 0 {
				return nil
			}
			value, err := s.gauge("waymark_event_lag_seconds")
			lag = max(lag, value)
			return err
		})
		note(err)
		if !busy {
			for i, path := range paths {
				note(b.askBeside(heavy, fmt.Sprintf("%s: %s %s, ms", kind, questions[i].name, when), path))
			}
		}
		close(stop)
		work.Wait()
		if err := failed.Load(); err != nil {
			return *err
		}
		for c := range calls {
			b.add(fmt.Sprintf("%s: %s %s, p99 ms", kind, calls[c].name, when), "%.1f", quantile(times[c], 0.99), 100,
				fmt.Sprintf("p50 %.1f, %d calls", quantile(times[c], 0.5), len(times[c])))
		}
		b.add("  the loader's lag, s", "%.1f", lag, 2, fmt.Sprintf("most; %d reads answered, %d turned away", reads.Load(),
			refused.Load()))
	}
	return nil
}

// timedCall is a call whose time counts.
type timedCall struct {
	name string
	call func(i int) error
}

// timed makes calls in turns for the seconds of a turn, and returns what each took in ms.
// after is called after each round.
func timed(calls []timedCall, after func(i int) error) ([][]float64, error) {
	times := make([][]float64, len(calls))
	for started, i := time.Now(), 0; time.Since(started) < time.Duration(*seconds)*time.Second; i++ {
		for c := range calls {
			began := time.Now()
			if err := calls[c].call(i); err != nil {
				return times, fmt.Errorf("%s: %w", calls[c].name, err)
			}
			times[c] = append(times[c], time.Since(began).Seconds()*1e3)
		}
		if err := after(i); err != nil {
			return times, err
		}
	}
	return times, nil
}

// askBeside asks a question while something else goes on.
func (b *bench) askBeside(c *client, what, path string) error {
	var times []float64
	for began := time.Now(); len(times) < 1 || len(times) < 3**rounds && time.Since(began) < patience/2; {
		started := time.Now()
		if err := c.call("GET", path, nil, nil); err != nil && !strings.Contains(err.Error(), ": 503 ") {
			return err
		}
		times = append(times, time.Since(started).Seconds()*1e3)
	}
	b.add(what, "%.1f", median(times), 300, fmt.Sprintf("median of %d", len(times)))
	return nil
}

// readOn reads one path after the other until stop is closed. Being turned away is an
// answer, too.
func readOn(c *client, paths []string, i int, stop chan struct{}, reads, refused *atomic.Int64) error {
	for ; ; i++ {
		select {
		case <-stop:
			return nil
		default:
		}
		err := c.call("GET", paths[i%len(paths)], nil, nil)
		switch {
		case err == nil:
			reads.Add(1)
		case strings.Contains(err.Error(), ": 503 ") || strings.Contains(err.Error(), ": 429 "):
			refused.Add(1)
			time.Sleep(50 * time.Millisecond)
		default:
			return err
		}
	}
}

// pacedClicks visits a link of each domain, in all so many times a second, until stop is
// closed.
func pacedClicks(address string, domains []string, stop chan struct{}) error {
	var all sync.WaitGroup
	errs := make([]error, clickers)
	for i := range clickers {
		all.Go(func() { errs[i] = clicksOn(address, domains[i%len(domains)], stop) })
	}
	all.Wait()
	return errors.Join(errs...)
}

// clicksOn makes the clicks of one connection, in step with the clock: what a slow
// answer delays comes right after it.
func clicksOn(address, domain string, stop chan struct{}) error {
	const every = time.Second * clickers / clicksPerSecond
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return err
	}
	defer conn.Close()
	ask := []byte("GET /" + slug + " HTTP/1.1\r\nHost: " + domain + "\r\nUser-Agent: " + userAgent + "\r\n\r\n")
	input := bufio.NewReader(conn)
	for next := time.Now(); ; next = next.Add(every) {
		select {
		case <-stop:
			return nil
		case <-time.After(time.Until(next)):
		}
		if _, err := conn.Write(ask); err != nil {
			return err
		}
		response, err := http.ReadResponse(input, nil)
		if err != nil {
			return err
		}
		if err := response.Body.Close(); err != nil || response.StatusCode != http.StatusFound {
			return errors.Join(fmt.Errorf("a click is answered with %s", response.Status), err)
		}
	}
}
