package redirect

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// outcome is how a request ended, for the counters.
type outcome int

const (
	redirected outcome = iota // to the destination of a link
	previewed                 // a page about a link, for crawlers
	paged                     // a page that opens an app
	elsewhere                 // to an owner's page for what does not resolve
	notFound
	gone
	unavailable
	badMethod
	service // robots.txt, health and the like
	outcomes
)

var outcomeNames = [outcomes]string{"redirect", "preview", "page", "elsewhere", "not_found", "gone", "unavailable",
	"method_not_allowed", "service"}

func (o outcome) String() string { return outcomeNames[o] }

// metrics are resolved once: finding a counter by its label costs more than
// counting.
type metrics struct {
	answers [outcomes]prometheus.Counter
	seconds prometheus.Histogram
	lost    prometheus.Counter
	// unstored counts events by what they were too many of.
	unstored  [floods]prometheus.Counter
	referrers prometheus.Counter
	// calls counts the calls of apps by endpoint and outcome. They are too few for the
	// cost of finding a counter by its labels to matter.
	calls *prometheus.CounterVec
}

func newMetrics(r prometheus.Registerer) (m metrics) {
	factory := promauto.With(r)
	answers := factory.NewCounterVec(prometheus.CounterOpts{
		Name: "waymark_redirect_requests_total",
		Help: "Requests to the public listener by outcome.",
	}, []string{"outcome"})
	for i, name := range outcomeNames {
		m.answers[i] = answers.WithLabelValues(name)
	}
	m.seconds = factory.NewHistogram(prometheus.HistogramOpts{
		Name:    "waymark_redirect_seconds",
		Help:    "Duration of requests to the public listener, from their header to the end of the answer.",
		Buckets: []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5},
	})
	m.lost = factory.NewCounter(prometheus.CounterOpts{
		Name: "waymark_redirect_clicks_lost_total",
		Help: "Clicks of visitors that were redirected although the click log could not be written.",
	})
	unstored := factory.NewCounterVec(prometheus.CounterOpts{
		Name: "waymark_redirect_clicks_unstored_total",
		Help: "Clicks and other events that were counted and not stored, by what had too many: an address or a link.",
	}, []string{"bound"})
	for flood := ofAddress; flood < floods; flood++ {
		m.unstored[flood] = unstored.WithLabelValues(floodNames[flood])
	}
	m.referrers = factory.NewCounter(prometheus.CounterOpts{
		Name: "waymark_redirect_referrers_unstored_total",
		Help: "Events that were stored without their referrer because their link had too many new ones on that day.",
	})
	m.calls = factory.NewCounterVec(prometheus.CounterOpts{
		Name: "waymark_sdk_requests_total",
		Help: "Calls of apps, and visitors on their way to a store with a recovery token, by endpoint and outcome.",
	}, []string{"endpoint", "outcome"})
	return m
}
