package certificate

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/store"
)

// Status sums up the certificates of an installation.
type Status struct {
	// Valid, Due and Expired count the stored certificates. Due are those that are
	// valid and should have been renewed.
	Valid, Due, Expired int64
	// Failing counts the hostnames whose last order failed.
	Failing int64
	// Earliest is when the first of those that are not expired expires, 0 without any.
	Earliest clock.Instant
}

// ReadStatus returns the status of the certificates.
func ReadStatus(ctx context.Context, q store.Q, now clock.Instant) (s Status, err error) {
	defer fault.Wrap(&err, "certificate.ReadStatus")
	_, err = store.One(ctx, q, func(r store.Row) (struct{}, error) {
		return struct{}{}, r.Scan(&s.Valid, &s.Due, &s.Expired, &s.Earliest, &s.Failing)
	}, `SELECT COUNT(CASE WHEN not_after > ? AND renew_at > ? THEN 1 END),
		COUNT(CASE WHEN not_after > ? AND renew_at <= ? THEN 1 END),
		COUNT(CASE WHEN not_after <= ? THEN 1 END),
		COALESCE(MIN(CASE WHEN not_after > ? THEN not_after END), 0),
		(SELECT COUNT(*) FROM certificate_failure) FROM certificate_file WHERE not_after IS NOT NULL`,
		now, now, now, now, now, now)
	return s, err
}

// Troubled returns some of the hostnames whose certificate is late to be renewed or expired, or whose last
// order failed.
func Troubled(ctx context.Context, q store.Q, now clock.Instant, limit int) (hostnames []string, err error) {
	defer fault.Wrap(&err, "certificate.Troubled")
	return store.All(ctx, q, store.Value[string], `SELECT subject FROM certificate_file WHERE renew_at <= ? OR not_after <= ?
		UNION SELECT subject FROM certificate_failure ORDER BY 1 LIMIT ?`, now, now, limit)
}

// DaysLeft returns for how many days all certificates that are not expired stay so.
func (s *Status) DaysLeft(now clock.Instant) float64 {
	if s.Earliest == 0 {
		return 0
	}
	return s.Earliest.Sub(now).Hours() / 24
}

type metrics struct{ orders *prometheus.CounterVec }

func newMetrics(r prometheus.Registerer, db *store.DB) metrics {
	if r != nil {
		r.MustRegister(collector{db})
	}
	return metrics{promauto.With(r).NewCounterVec(prometheus.CounterOpts{
		Name: "waymark_certificate_orders_total", Help: "Orders of certificates: issued, or the code of the failure.",
	}, []string{"outcome"})}
}

// collector reads what is stored when the metrics are asked for.
type collector struct{ db *store.DB }

// statusFor bounds how long a read may take.
const statusFor = time.Second

var (
	stateDesc = prometheus.NewDesc("waymark_certificates",
		"Certificates by state (valid, due, expired), and hostnames whose last order failed (failing).",
		[]string{"state"}, nil)
	daysDesc = prometheus.NewDesc("waymark_certificate_days_left",
		"Days until the first of the certificates that are not expired expires.", nil, nil)
)

// Describe implements prometheus.Collector.
func (c collector) Describe(descs chan<- *prometheus.Desc) { descs <- stateDesc; descs <- daysDesc }

// Collect implements prometheus.Collector.
func (c collector) Collect(found chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), statusFor)
	defer cancel()
	now := c.db.Now()
	s, err := ReadStatus(ctx, c.db, now)
	if err != nil {
		return // the database is away, which other metrics tell
	}
	for state, n := range map[string]int64{"valid": s.Valid, "due": s.Due, "expired": s.Expired, "failing": s.Failing} {
		found <- prometheus.MustNewConstMetric(stateDesc, prometheus.GaugeValue, float64(n), state)
	}
	if s.Earliest != 0 {
		found <- prometheus.MustNewConstMetric(daysDesc, prometheus.GaugeValue, s.DaysLeft(now))
	}
}
