package certificate

import (
	"context"
	"errors"
	"path"
	"sync"
	"time"

	"github.com/caddyserver/certmagic"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/retention"
	"github.com/waymarkhq/waymark/internal/store"
)

const (
	// sweepEvery is the pause between sweeps.
	sweepEvery = time.Minute
	// sweepAtMost bounds the certificates of one sweep.
	sweepAtMost = 100
	// lookAgainAfter is when a certificate is looked at again that should have been
	// renewed, at the earliest. unwantedFor is the same for one that is not wanted.
	lookAgainAfter, unwantedFor = 10 * time.Minute, day
	// stapleFor and failureFor are how long answers of OCSP and failures are kept.
	stapleFor, failureFor = 14 * 24 * time.Hour, 30 * 24 * time.Hour
)

// Run renews certificates and session tickets until ctx is done. Of all processes one
// renews at a time.
func (m *Manager) Run(ctx context.Context) {
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for {
		if err := m.renewTickets(ctx); err != nil && ctx.Err() == nil {
			m.Log.Warn("keys of TLS session tickets cannot be renewed", "error", err)
		}
		if err := m.Sweep(ctx); err != nil && ctx.Err() == nil {
			m.Log.Warn("certificates cannot be looked after", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// Sweep obtains the certificates of the installation's own hostnames, renews those that
// are due, whether or not anybody visits them, and removes what is not needed any more.
// It does nothing while another process does it, or where no hostnames are known.
func (m *Manager) Sweep(ctx context.Context) (err error) {
	defer fault.Wrap(&err, "certificate.Sweep")
	if m.Serves == nil {
		return nil
	}
	if taken, err := m.storage.TryLock(ctx, "sweep"); err != nil || !taken {
		return err
	}
	defer m.storage.Unlock(context.WithoutCancel(ctx), "sweep")
	var failures []error // one does not keep the rest away
	for _, subject := range m.subjects() {
		if err := m.obtain(ctx, subject, upkeep); err != nil && !isFailure(err) {
			failures = append(failures, err)
		}
	}
	return errors.Join(append(failures, m.renewDue(ctx), m.removeOld(ctx))...)
}

// removeOld removes what is of no use any more.
func (m *Manager) removeOld(ctx context.Context) error {
	if err := retention.Holds(ctx, m.DB); err != nil {
		return err
	}
	now := m.DB.Now()
	for _, old := range []struct {
		statement string
		before    clock.Instant
	}{
		{"DELETE FROM certificate_challenge WHERE expires_at <= ?", now},
		{"DELETE FROM certificate_lock WHERE lease_until <= ?", now.Add(-time.Hour)},
		{"DELETE FROM certificate_failure WHERE retry_at <= ?", now.Add(-failureFor)},
	} {
		if _, err := m.DB.Exec(ctx, old.statement, old.before); err != nil {
			return err
		}
	}
	first, last := below("ocsp")
	_, err := m.DB.Exec(ctx, "DELETE FROM certificate_file WHERE key >= ? AND key < ? AND modified_at <= ?", first, last,
		now.Add(-stapleFor))
	return err
}

// isFailure reports whether an error is the authority's refusal, which is noted.
func isFailure(err error) bool {
	var f *Failure
	return errors.As(err, &f)
}

// stored is a stored certificate.
type stored struct {
	key      []byte
	subject  string
	notAfter clock.Instant
}

func scanStored(r store.Row) (c stored, err error) {
	err = r.Scan(&c.key, &c.subject, &c.notAfter)
	return c, err
}

// renewDue renews certificates that are due, some at once, as soon as it is known which are
// wanted.
func (m *Manager) renewDue(ctx context.Context) error {
	if m.Ready != nil && !m.Ready() {
		return nil
	}
	due, err := store.All(ctx, m.DB, scanStored, `SELECT key, subject, not_after FROM certificate_file
		WHERE renew_at <= ? ORDER BY renew_at LIMIT ?`, m.DB.Now(), sweepAtMost)
	if err != nil {
		return err
	}
	var renewing sync.WaitGroup
	failures := make([]error, len(due))
	slots := make(chan struct{}, ordersAtOnce)
	for n, c := range due {
		slots <- struct{}{}
		renewing.Go(func() {
			defer func() { <-slots }()
			failures[n] = m.renew(ctx, c)
		})
	}
	renewing.Wait()
	return errors.Join(failures...)
}

// renew renews a certificate that is due. One of a hostname that is served no more, or
// of another authority, stays until it expires, in case it comes back.
func (m *Manager) renew(ctx context.Context, c stored) error {
	now := m.DB.Now()
	wanted := m.keeps(c.subject) && string(c.key) == string(m.key(c.subject))
	if !wanted && c.notAfter <= now {
		if err := retention.Holds(ctx, m.DB); err != nil {
			return err
		}
		return m.remove(ctx, c)
	}
	next := min(c.notAfter, now.Add(unwantedFor))
	if wanted {
		next = now.Add(lookAgainAfter)
		if failure, err := m.storage.waiting(ctx, c.subject); err != nil {
			return err
		} else if failure != nil {
			next = failure.RetryAt
		} else if err := m.config.RenewCertSync(ctx, c.subject, false); err != nil && !isFailure(err) {
			return err
		}
	}
	// What was renewed meanwhile is due later anyway.
	_, err := m.DB.Exec(ctx, "UPDATE certificate_file SET renew_at = ? WHERE key = ? AND renew_at <= ?", next, c.key,
		now)
	return err
}

// remove removes the files of a certificate.
func (m *Manager) remove(ctx context.Context, c stored) error {
	m.cache.RemoveManaged([]certmagic.SubjectIssuer{{Subject: c.subject}})
	m.Log.Info("expired certificate removed", "subject", c.subject)
	return m.storage.Delete(ctx, path.Dir(string(c.key)))
}
