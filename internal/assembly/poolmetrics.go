package assembly

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/waymarkhq/waymark/internal/store"
)

// poolMetrics shows the connections to the database, which three views have of their own.
type poolMetrics struct {
	db                        *store.DB
	open, most, waits, waited *prometheus.Desc
}

func newPoolMetrics(db *store.DB) *poolMetrics {
	of := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc(name, help, append([]string{"pool"}, labels...), nil)
	}
	return &poolMetrics{
		db:     db,
		open:   of("waymark_database_connections", "Open connections to the database, busy ones and idle ones.", "state"),
		most:   of("waymark_database_connections_max", "How many connections to the database may be open."),
		waits:  of("waymark_database_waits_total", "How often a statement waited for a connection to the database."),
		waited: of("waymark_database_wait_seconds_total", "How long statements waited for a connection to the database, in all."),
	}
}

// Describe implements prometheus.Collector.
func (m *poolMetrics) Describe(to chan<- *prometheus.Desc) {
	for _, desc := range []*prometheus.Desc{m.open, m.most, m.waits, m.waited} {
		to <- desc
	}
}

// Collect implements prometheus.Collector.
func (m *poolMetrics) Collect(to chan<- prometheus.Metric) {
	for _, p := range m.db.Pools() {
		gauge := func(desc *prometheus.Desc, n int, labels ...string) {
			to <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, float64(n), append([]string{p.View}, labels...)...)
		}
		gauge(m.open, p.Busy, "busy")
		gauge(m.open, p.Open-p.Busy, "idle")
		gauge(m.most, p.Most)
		to <- prometheus.MustNewConstMetric(m.waits, prometheus.CounterValue, float64(p.Waits), p.View)
		to <- prometheus.MustNewConstMetric(m.waited, prometheus.CounterValue, p.Waited.Seconds(), p.View)
	}
}
