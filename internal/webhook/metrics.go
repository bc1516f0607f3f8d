package webhook

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/waymarkhq/waymark/internal/clock"
)

type metrics struct {
	attempts *prometheus.CounterVec
	seconds  prometheus.Histogram
}

func newMetrics(r prometheus.Registerer) metrics {
	factory := promauto.With(r)
	return metrics{
		attempts: factory.NewCounterVec(prometheus.CounterOpts{
			Name: "waymark_webhook_attempts_total", Help: "Attempts to deliver an event: succeeded, or the code of " +
				"the failure.",
		}, []string{"outcome"}),
		seconds: factory.NewHistogram(prometheus.HistogramOpts{
			Name: "waymark_webhook_delivery_seconds", Help: "From an event to its successful delivery.",
			Buckets: []float64{.01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600},
		}),
	}
}

func (m *metrics) observe(ended []claimed, now clock.Instant) {
	for _, c := range ended {
		outcome := "succeeded"
		if c.failure != nil {
			outcome = c.failure.Code
		} else {
			m.seconds.Observe(now.Sub(c.Event.OccurredAt).Seconds())
		}
		m.attempts.WithLabelValues(outcome).Inc()
	}
}
