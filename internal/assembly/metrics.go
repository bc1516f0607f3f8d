package assembly

import (
	"context"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/eventstore/segments"
	"github.com/waymarkhq/waymark/internal/jobs"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/turns"
)

// observeCalls counts calls of the API; it returns the function that the
// pipeline calls for each.
func observeCalls(r prometheus.Registerer) func(operation string, status int, seconds float64) {
	factory := promauto.With(r)
	calls := factory.NewCounterVec(prometheus.CounterOpts{
		Name: "waymark_api_calls_total", Help: "Finished API calls by operation and HTTP status.",
	}, []string{"operation", "status"})
	duration := factory.NewHistogramVec(prometheus.HistogramOpts{
		Name: "waymark_api_call_seconds", Help: "Duration of API calls by operation.",
		Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5},
	}, []string{"operation"})
	return func(operation string, status int, seconds float64) {
		calls.WithLabelValues(operation, strconv.Itoa(status)).Inc()
		duration.WithLabelValues(operation).Observe(seconds)
	}
}

// observeJobs counts attempts at durable jobs of some kinds; it returns the function that
// an executor calls for each.
func observeJobs(r prometheus.Registerer, kinds []jobs.Kind) func(kind, outcome string) {
	attempts := promauto.With(r).NewCounterVec(prometheus.CounterOpts{
		Name: "waymark_job_attempts_total",
		Help: "Attempts at durable jobs by kind and outcome (done, progress, waiting, failed, given_up, lease_lost).",
	}, []string{"kind", "outcome"})
	// A counter that begins with 1 has not increased, as Prometheus sees it: the first job
	// that is given up would raise no alert.
	for _, kind := range kinds {
		attempts.WithLabelValues(kind.Name, "given_up")
	}
	return func(kind, outcome string) { attempts.WithLabelValues(kind, outcome).Inc() }
}

// observeVerifications counts verifications of domains; it returns the function that
// is called for each.
func observeVerifications(r prometheus.Registerer) func(trigger, outcome string, took time.Duration) {
	factory := promauto.With(r)
	ended := factory.NewCounterVec(prometheus.CounterOpts{
		Name: "waymark_domain_verifications_total",
		Help: "Verifications of domains by trigger (request, schedule) and outcome: ready, or the code of the failure.",
	}, []string{"trigger", "outcome"})
	duration := factory.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "waymark_domain_verification_seconds",
		Help:    "How long verifications of domains took: on request from the call to the end of its operation.",
		Buckets: []float64{.01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300, 600},
	}, []string{"trigger"})
	return func(trigger, outcome string, took time.Duration) {
		ended.WithLabelValues(trigger, outcome).Inc()
		duration.WithLabelValues(trigger).Observe(took.Seconds())
	}
}

// queue shows the length of a queue, and for how long its oldest entry has been
// due.
func (i *Installation) queue(waiting, oldest, what string,
	depth func(context.Context, store.Q) (int64, clock.Instant, error)) {
	db := i.settings.DB
	read := func() (int64, clock.Instant, error) {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		return depth(ctx, db)
	}
	i.gauge(waiting, "How many "+what+" wait or are under way.", func() float64 {
		n, _, err := read()
		if err != nil {
			return -1
		}
		return float64(n)
	})
	i.gauge(oldest, "For how long the oldest of the due "+what+" has been due.", func() float64 {
		n, since, err := read()
		if err != nil || n == 0 {
			return 0
		}
		return max(0, db.Now().Sub(since).Seconds())
	})
}

func (i *Installation) gauge(name, help string, f func() float64) {
	promauto.With(i.settings.Metrics).NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, f)
}

func (i *Installation) counter(name, help string, f func() int64) {
	promauto.With(i.settings.Metrics).NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help},
		func() float64 { return float64(f()) })
}

// calls shows what the calls of the API use of what is bounded.
func (i *Installation) calls(p *op.Pipeline) {
	for _, m := range []struct {
		running, refused, what string
		of                     func(op.Load) op.Share
	}{
		{"waymark_api_calls_running", "waymark_api_calls_refused_total", "Calls of the API", func(l op.Load) op.Share {
			return l.Calls
		}},
		{"waymark_api_uploads_running", "waymark_api_uploads_refused_total", "Uploads", func(l op.Load) op.Share {
			return l.Uploads
		}},
		{"waymark_api_answer_bytes", "waymark_api_answers_refused_total", "Bytes of answers of the API",
			func(l op.Load) op.Share { return l.Answers }},
	} {
		i.gauge(m.running, m.what+" under way.", func() float64 { return float64(m.of(p.Load()).Taken) })
		i.counter(m.refused, m.what+" that were turned away with 503 because too many were under way.",
			func() int64 { return m.of(p.Load()).Refused })
	}
	i.counter("waymark_api_answers_unread_total", "Answers that their clients did not read to the end in time.",
		func() int64 { return p.Load().Unread })
	i.counter("waymark_api_receipts_refused_total", "Mutations that were refused with 429 because the receipts of their "+
		"account took too many bytes.", func() int64 { return p.Load().FullReceipts })
}

// turns shows what reads do that share turns, under names that begin with prefix.
func (i *Installation) turns(prefix, reads string, t *turns.Pool) {
	i.gauge(prefix+"running", reads+" under way.", func() float64 { return float64(t.Load().Running) })
	i.gauge(prefix+"waiting", reads+" that wait for others of their account, or of all.", func() float64 {
		return float64(t.Load().Waiting)
	})
	i.counter(prefix+"refused_total", reads+" that were turned away because too many waited.",
		func() int64 { return t.Load().Refused })
}

// segmentMetrics are the amounts of segments, which one query reads for all of them.
type segmentMetrics struct {
	db                      *store.DB
	segments, events, bytes *prometheus.Desc
}

func newSegmentMetrics(db *store.DB) *segmentMetrics {
	of := func(name, help string) *prometheus.Desc {
		return prometheus.NewDesc(name, help+" by state: young ones are in the main database, sealed ones in the segment "+
			"store.", []string{"state"}, nil)
	}
	return &segmentMetrics{
		db:       db,
		segments: of("waymark_event_segments", "Segments of events"),
		events:   of("waymark_event_segment_events", "Events in segments"),
		bytes:    of("waymark_event_segment_bytes", "Bytes of segments"),
	}
}

// Describe implements prometheus.Collector.
func (m *segmentMetrics) Describe(to chan<- *prometheus.Desc) {
	to <- m.segments
	to <- m.events
	to <- m.bytes
}

// Collect implements prometheus.Collector. Without an answer of the database there are
// no values.
func (m *segmentMetrics) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	status, err := segments.ReadStatus(ctx, m.db)
	if err != nil {
		return
	}
	for state, a := range map[string]segments.Amount{"young": status.Young, "sealed": status.Sealed} {
		for desc, n := range map[*prometheus.Desc]int64{m.segments: a.Segments, m.events: a.Events, m.bytes: a.Bytes} {
			to <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, float64(n), state)
		}
	}
}
