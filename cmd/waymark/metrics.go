package main

import (
	"context"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/store"
)

// apiMetrics count calls of the API.
type apiMetrics struct {
	calls    *prometheus.CounterVec
	duration *prometheus.HistogramVec
}

func newAPIMetrics(r prometheus.Registerer) *apiMetrics {
	m := &apiMetrics{
		calls: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "waymark_api_calls_total", Help: "Finished API calls by operation and HTTP status.",
		}, []string{"operation", "status"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "waymark_api_call_seconds", Help: "Duration of API calls by operation.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5},
		}, []string{"operation"}),
	}
	r.MustRegister(m.calls, m.duration)
	return m
}

func (m *apiMetrics) observe(operation string, status int, seconds float64) {
	m.calls.WithLabelValues(operation, strconv.Itoa(status)).Inc()
	m.duration.WithLabelValues(operation).Observe(seconds)
}

// newJobMetrics counts attempts at durable jobs; it returns what an executor
// tells of them.
func newJobMetrics(r prometheus.Registerer) func(kind, outcome string) {
	attempts := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "waymark_job_attempts_total", Help: "Attempts at durable jobs by kind and outcome (done, progress, waiting, failed, given_up, lease_lost).",
	}, []string{"kind", "outcome"})
	r.MustRegister(attempts)
	return func(kind, outcome string) { attempts.WithLabelValues(kind, outcome).Inc() }
}

// queue shows how many of what wait, and for how long the oldest has been due.
func (p *process) queue(waiting, oldest, what string, depth func(context.Context, store.Q) (int64, clock.Instant, error)) {
	read := func() (int64, clock.Instant, error) {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		return depth(ctx, p.db)
	}
	p.gauge(waiting, "How many "+what+" wait or are under way.", func() float64 {
		n, _, err := read()
		if err != nil {
			return -1
		}
		return float64(n)
	})
	p.gauge(oldest, "For how long the oldest of the due "+what+" has been due.", func() float64 {
		n, since, err := read()
		if err != nil || n == 0 {
			return 0
		}
		return max(0, p.db.Now().Sub(since).Seconds())
	})
}

func (p *process) gauge(name, help string, f func() float64) {
	p.metrics.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, f))
}
