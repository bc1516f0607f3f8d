package domain

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/places"
	"github.com/waymarkhq/waymark/internal/store"
)

const (
	// checkLimit is the time for one check. A check whose process died is made again
	// by any process after checkLease.
	checkLimit, checkLease = 45 * time.Second, 5 * time.Minute
	// checkPoll is the pause between looks for domains that are due.
	checkPoll = 5 * time.Second
	// maxPlaces is how many domains a process verifies at once, and ownerPlaces how
	// many of one owner: slow domains of one do not delay those of others.
	maxPlaces, ownerPlaces = 16, 4
)

// Checker verifies the domains that work again and again. Several may run on one
// PostgreSQL database.
type Checker struct {
	options Options
	db      *store.DB
	log     *slog.Logger
	running sync.WaitGroup
	places  *places.Places
}

// NewChecker returns a checker of domains with the given options.
func NewChecker(db *store.DB, o Options, log *slog.Logger) *Checker {
	return &Checker{options: o, db: db, log: log, places: places.New(maxPlaces, ownerPlaces)}
}

// Run works until ctx ends; checks under way are ended with it and made again later.
func (c *Checker) Run(ctx context.Context) {
	defer c.running.Wait()
	for ctx.Err() == nil {
		if _, err := c.begin(ctx); err != nil && ctx.Err() == nil {
			c.log.Error("check of domains", "error", err)
		}
		select {
		case <-ctx.Done():
		case <-c.places.Freed():
		case <-time.After(checkPoll):
		}
	}
}

// Drain checks until nothing is due. It is for tests; Run must not be running.
func (c *Checker) Drain(ctx context.Context) error {
	for {
		n, err := c.begin(ctx)
		c.running.Wait()
		if err != nil || n == 0 {
			return err
		}
	}
}

// dueDomain is a domain whose check is due.
type dueDomain struct {
	id, ownerID string
	at          clock.Instant
}

// begin begins the checks that are due, as many as there are places for, and
// returns how many.
func (c *Checker) begin(ctx context.Context) (n int, err error) {
	defer fault.Wrap(&err, "domain.Checker")
	for {
		found, err := c.due(ctx)
		began := 0
		for _, d := range found {
			if err != nil {
				break
			}
			var claimed bool
			if c.places.Take(d.ownerID) {
				if claimed, err = c.claim(ctx, d); !claimed {
					c.places.GiveBack(d.ownerID)
					continue
				}
				began++
				c.running.Go(func() {
					defer c.places.GiveBack(d.ownerID)
					c.check(ctx, d.id)
				})
			}
		}
		// An owner who has all their places may hide others who are due.
		if n += began; err != nil || began == 0 {
			return n, err
		}
	}
}

// due returns domains whose check is due and whose owners have a place left.
func (c *Checker) due(ctx context.Context) ([]dueDomain, error) {
	free, full := c.places.Left()
	if free == 0 {
		return nil, nil
	}
	var where store.Where
	where.And("d.next_check_at <= ?", c.db.Now()).And("NOT d.detached")
	for _, owner := range full {
		where.And("a.owner_id <> ?", owner)
	}
	return store.All(ctx, c.db, func(r store.Row) (d dueDomain, err error) {
		err = r.Scan(&d.id, &d.ownerID, &d.at)
		return d, err
	}, "SELECT d.id, a.owner_id, d.next_check_at FROM domain d JOIN app a ON a.id = d.app_id"+where.String()+
		" ORDER BY d.next_check_at LIMIT ?", where.Args(free)...)
}

// claim takes a due check for this process. Whoever moves the time of the check has
// it.
func (c *Checker) claim(ctx context.Context, d dueDomain) (bool, error) {
	n, err := c.db.Exec(ctx, "UPDATE domain SET next_check_at = ? WHERE id = ? AND next_check_at = ?",
		c.db.Now().Add(checkLease), d.id, d.at)
	return n == 1, err
}

// check verifies a domain and records what it saw.
func (c *Checker) check(ctx context.Context, id string) {
	began := time.Now()
	outcome, err := c.options.recheck(ctx, c.db, id)
	switch {
	case err != nil && ctx.Err() == nil:
		c.log.Error("check of a domain", "domain", id, "error", err)
	case err == nil:
		c.options.Observe("schedule", outcome, time.Since(began))
	}
}

// recheck verifies a domain that its owner did not ask for. Nothing is recorded when
// the process ends meanwhile.
func (o Options) recheck(ctx context.Context, db *store.DB, id string) (outcome string, err error) {
	defer fault.Wrap(&err, "domain.recheck(%s)", id)
	d, err := find(ctx, db, id)
	if err != nil {
		return "", err
	}
	limited, cancel := context.WithTimeout(ctx, checkLimit)
	defer cancel()
	v := o.inspectNames(limited, &d)
	o.inspectService(limited, &d, &v)
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	outcome = "ready"
	err = db.InTx(ctx, func(tx *store.Tx) error {
		failure, err := o.record(ctx, tx, id, &v)
		if failure != nil {
			outcome = failure.Code
		}
		return err
	})
	return outcome, err
}
