package assembly

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/waymarkhq/waymark/internal/clicklog"
	"github.com/waymarkhq/waymark/internal/eventstore"
	"github.com/waymarkhq/waymark/internal/turns"
)

// observed is an engine whose reads are timed.
type observed struct {
	eventstore.Engine
	duration *prometheus.HistogramVec
	slow     prometheus.Counter
}

// observe returns e with metrics of its reads.
func observe(e eventstore.Engine, r prometheus.Registerer) eventstore.Engine {
	factory := promauto.With(r)
	return &observed{e, factory.NewHistogramVec(prometheus.HistogramOpts{
		Name: "waymark_event_read_seconds",
		Help: "How long reads of events took, by what was read: total, the dimension of the groups, several of these with " +
			"a plus between them, list or links.",
		Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10},
	}, []string{"read"}), factory.NewCounter(prometheus.CounterOpts{
		Name: "waymark_event_reads_slow_total",
		Help: "Reads of events that were ended by their deadline of 10 seconds, waiting included.",
	})}
}

// read times a read that began at an instant and ended with err. One that was turned
// away was none.
func (o *observed) read(what string, began time.Time, err error) {
	if !errors.Is(err, turns.ErrBusy) {
		o.duration.WithLabelValues(what).Observe(time.Since(began).Seconds())
	}
	if errors.Is(err, turns.ErrSlow) {
		o.slow.Inc()
	}
}

// Count implements eventstore.Engine.
func (o *observed) Count(ctx context.Context, f eventstore.Filter, by ...eventstore.Grouping) (
	rows [][]eventstore.Row, err error) {
	var what []string
	for _, g := range by {
		what = append(what, cmp.Or(string(g.By), "total"))
	}
	defer func(began time.Time) { o.read(strings.Join(what, "+"), began, err) }(time.Now())
	return o.Engine.Count(ctx, f, by...)
}

// List implements eventstore.Engine.
func (o *observed) List(ctx context.Context, f eventstore.Filter, before *eventstore.Place,
	limit int) (events []eventstore.Listed, err error) {
	defer func(began time.Time) { o.read("list", began, err) }(time.Now())
	return o.Engine.List(ctx, f, before, limit)
}

// Links implements eventstore.Engine.
func (o *observed) Links(ctx context.Context, appID string, ids []string) (links map[string]clicklog.Link, err error) {
	defer func(began time.Time) { o.read("links", began, err) }(time.Now())
	return o.Engine.Links(ctx, appID, ids)
}
