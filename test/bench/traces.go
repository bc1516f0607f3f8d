package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
)

// traces compares redirects and creations without traces, with what is traced by default, and with all traced, in
// turns. The collector takes what it gets and does nothing with it.
func (b *bench) traces() error {
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { io.Copy(io.Discard, r.Body) }))
	defer collector.Close()
	data := b.data
	defer func() { b.data = data }()
	b.data += "-traces"
	kinds := []struct {
		name  string
		flags []string
	}{
		{"off", nil},
		{"by default (all calls, a visit of a thousand)", []string{"--trace-endpoint", collector.URL}},
		{"all", []string{"--trace-endpoint", collector.URL, "--trace-visits", "1"}},
	}
	s, c, err := b.prepared("go")
	if err != nil {
		return err
	}
	if _, err := c.createLink(slug); err != nil {
		return err
	}
	if err := s.stop(); err != nil {
		return err
	}
	redirects, creations := make([]*contender, len(kinds)), make([]*contender, len(kinds))
	for i, k := range kinds {
		redirects[i], creations[i] = &contender{name: k.name}, &contender{name: k.name}
	}
	for round := range *rounds {
		for i, k := range kinds {
			s, err := b.serve(k.flags...)
			if err != nil {
				return err
			}
			c.api = s.api + "/v1"
			redirects[i].child = s.child
			creations[i].child = &child{cmd: s.cmd, address: s.api[len("http://"):]}
			if _, err := visit(s.public, "/"+slug); err != nil {
				return err
			}
			if err := redirects[i].count(func() (int, error) { return visits(s.public, "/"+slug, 32) }); err != nil {
				return err
			}
			if err := s.drained("waymark_click_log_bytes"); err != nil {
				return err
			}
			if err := creations[i].turn(load{32, http.StatusCreated, func(of int64) []byte {
				return written(c.creation(fmt.Sprintf("t%d-%d-%d", round, i, of)))
			}}); err != nil {
				return err
			}
			if err := s.drained("waymark_jobs_waiting"); err != nil {
				return err
			}
			if err := s.stop(); err != nil {
				return err
			}
		}
	}
	for _, of := range []struct {
		what string
		all  []*contender
	}{{"redirect", redirects}, {"create link", creations}} {
		for _, c := range of.all {
			cost := median(c.cost)
			b.add(fmt.Sprintf("%s, 32 clients, traces %s, CPU µs", of.what, c.name), "%.1f", cost, 0,
				fmt.Sprintf("%.2f of that without; %.0f/s", cost/median(of.all[0].cost), median(c.rate)))
		}
	}
	return nil
}
