package dnsrecord

import (
	"context"
	"errors"
	"time"

	"github.com/waymarkhq/waymark/internal/dnsprovider"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/store"
)

const (
	// lookEvery is how long a set that was applied or given up is left alone.
	lookEvery = time.Hour
	// looks is how many sets a sweep looks at: with one sweep every 30 s at most 6,000
	// an hour. Of more sets each comes later.
	looks = 50
	// looksAtOnce of them are taken at a time for as long as lookFor, so that a slow
	// provider does not hold up the other sweeps.
	looksAtOnce, lookFor = 5, 10 * time.Second
)

// look asks the provider for sets that were not looked at for an hour, and has those
// applied again that are not as they should be. A provider that does not answer ends
// the sweep: the sets wait for the next hour.
func (s service) look(ctx context.Context, db *store.DB, limit int) (looked int64, err error) {
	defer fault.Wrap(&err, "dnsrecord.look")
	if s.provider == nil {
		return 0, nil
	}
	for until := time.Now().Add(lookFor); looked < int64(min(limit, looks)) && time.Now().Before(until); {
		due, err := claimLooks(ctx, db, min(limit-int(looked), looksAtOnce))
		if err != nil || len(due) == 0 {
			return looked, err
		}
		for _, id := range due {
			if err := s.lookAt(ctx, db, id); err != nil {
				return looked, err
			}
			looked++
		}
	}
	return looked, nil
}

// claimLooks returns sets whose turn it is and puts them off, so that every set has
// its turn once in a while, whatever becomes of this one.
func claimLooks(ctx context.Context, db *store.DB, n int) (due []string, err error) {
	before := db.Now().Add(-lookEvery)
	err = db.InTxReadCommitted(ctx, func(tx *store.Tx) error {
		due, err = store.All(ctx, tx, store.Value[string], `WITH due AS MATERIALIZED (SELECT id FROM dns_record_set
			WHERE job_id IS NULL AND checked_at <= ? ORDER BY checked_at LIMIT ?`+tx.Dialect().SkipLocked+`)
			UPDATE dns_record_set SET checked_at = ? WHERE id IN (SELECT id FROM due) RETURNING id`, before, n, tx.Now)
		return err
	})
	return due, err
}

// lookAt has a set applied again if the provider has something else than last seen,
// or if it was not as it should be then.
func (s service) lookAt(ctx context.Context, db *store.DB, id string) error {
	v, _, err := loadSet(ctx, db, id)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	d, err := findDomain(ctx, db, v.domainID)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	got, err := s.provider.Get(ctx, d.zone, v.fqdn, string(v.kind))
	if err != nil && !errors.Is(err, dnsprovider.ErrNoZone) {
		return err
	}
	if err == nil && v.status == OK && v.same(v.observed, content{Values: got.Values}) {
		return nil
	}
	return db.InTx(ctx, func(tx *store.Tx) error {
		v, _, err := loadSet(ctx, tx, id)
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		return v.enqueue(ctx, tx, d.appID)
	})
}
