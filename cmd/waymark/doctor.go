package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/waymarkhq/waymark/internal/actor"
	"github.com/waymarkhq/waymark/internal/assembly"
	"github.com/waymarkhq/waymark/internal/certificate"
	"github.com/waymarkhq/waymark/internal/delivery"
	"github.com/waymarkhq/waymark/internal/durable"
	"github.com/waymarkhq/waymark/internal/jobs"
	"github.com/waymarkhq/waymark/internal/store"
)

type doctorCommand struct {
	storage   `group:"Storage:"`
	images    `group:"Storage:"`
	events    `group:"Storage:"`
	hostnames `group:"Hostnames:"`
	dns       `group:"Hostnames:"`
	webhooks  `group:"Webhooks:"`
	zones     `group:"DNS provider:"`
}

// Run checks the data folder, the database, its pages and schema, the asset store, the engine of
// events, the DNS, the settings of webhooks, the DNS provider and the queues, and tells
// what it found, one line a check.
func (c *doctorCommand) Run(ctx context.Context) error {
	if err := errors.Join(c.zones.check(), c.events.check()); err != nil {
		return err
	}
	return c.with(ctx, func(db *store.DB) error {
		report := func(check, found string) { fmt.Printf("%-12s %s\n", check, found) }
		if err := c.prepare(); err != nil {
			return err
		}
		report("data folder", "ok, writable: "+c.DataDir)
		started := time.Now()
		version, err := db.Schema(ctx)
		if err != nil {
			return err
		}
		took := time.Since(started)
		if err := db.Verify(ctx); err != nil {
			return err
		}
		report("database", fmt.Sprintf("ok, %s, schema version %d, answers in %s", db.Dialect().Name, version,
			took.Round(time.Microsecond)))
		blobs, err := c.openBlobs(c.DataDir)
		if err == nil {
			err = blobs.Check(ctx)
		}
		if err != nil {
			return err
		}
		report("asset store", "ok")
		events, failed := assembly.CheckEngine(ctx, c.options(db, c.engine(c.Events)))
		if failed == nil {
			report("events", "ok, "+events)
		} else { // nothing below depends on it
			report("events", failed.Error())
			failed = errors.New("the engine of events does not do its work, or is another one")
		}
		err = c.checkNetwork(ctx, db, report)
		if err == nil {
			err = c.checkQueues(ctx, db, report)
		}
		return errors.Join(failed, err)
	})
}

// checkNetwork checks the DNS, the certificates, the settings of webhooks and the DNS
// provider.
func (c *doctorCommand) checkNetwork(ctx context.Context, db *store.DB, report func(check, found string)) error {
	found, err := c.tryDNS(ctx)
	if err != nil {
		return err
	}
	report("dns", found)
	if _, err := c.client(c.DNSResolver); err != nil {
		return err
	}
	if err := reportCertificates(ctx, db, report); err != nil {
		return err
	}
	n, _, err := delivery.Depth(ctx, db)
	if err != nil {
		return err
	}
	report("webhooks", fmt.Sprintf("ok, %d deliveries waiting", n))
	found, err = c.tryProvider(ctx)
	if err == nil && found != "" {
		report("dns provider", "ok, "+found)
	}
	return err
}

// checkQueues checks that durable work is being done.
func (c *doctorCommand) checkQueues(ctx context.Context, db *store.DB, report func(check, found string)) error {
	n, oldest, err := jobs.Depth(ctx, db)
	if err != nil {
		return err
	}
	if late := max(0, db.Now().Sub(oldest)); n > 0 && late > time.Minute {
		report("jobs", fmt.Sprintf("%d waiting, the oldest due for %s: is an executor running?", n,
			late.Round(time.Second)))
		return errors.New("jobs are not being done")
	}
	report("jobs", fmt.Sprintf("ok, %d waiting", n))
	took, err := c.tryExecutor(ctx, db)
	switch {
	case err != nil:
		return err
	case took == 0:
		return fmt.Errorf("no executor did a test job within %s: is waymark serve running?", executorPatience)
	}
	report("executor", "ok, did a test job within "+took.Round(time.Millisecond).String())
	return nil
}

// tryDNS asks the DNS where the hostnames of owners are to lead, and tells what it
// answered.
func (c *doctorCommand) tryDNS(ctx context.Context) (string, error) {
	if err := errors.Join(c.hostnames.check(false), c.dns.check()); err != nil {
		return "", err
	}
	if c.ConnectCNAME == "" {
		return "not asked: --connect-cname is not set", nil
	}
	started := time.Now()
	host, err := c.resolver().Host(ctx, c.ConnectCNAME)
	if err != nil {
		return "", fmt.Errorf("--connect-cname: %w", err)
	}
	return fmt.Sprintf("ok, %s leads to %s, answers in %s", c.ConnectCNAME, host.Addresses,
		time.Since(started).Round(time.Microsecond)), nil
}

// reportCertificates tells how many certificates there are and until when they last.
func reportCertificates(ctx context.Context, db *store.DB, report func(check, found string)) error {
	now := db.Now()
	s, err := certificate.ReadStatus(ctx, db, now)
	if err != nil {
		return err
	}
	found := fmt.Sprintf("ok, %d valid", s.Valid+s.Due)
	if s.Earliest != 0 {
		found += fmt.Sprintf(", the first expires in %.0f days", s.DaysLeft(now))
	}
	if s.Due+s.Expired+s.Failing > 0 {
		found += fmt.Sprintf("; %d late to be renewed, %d expired, %d hostnames whose last order failed: see the log",
			s.Due, s.Expired, s.Failing)
	}
	report("certificates", found)
	return nil
}

// executorPatience is how long doctor waits for an executor.
const executorPatience = 3 * time.Second

// tryExecutor has an executor do a job that does nothing and returns how long
// that took, 0 when none did it.
func (c *doctorCommand) tryExecutor(ctx context.Context, db *store.DB) (time.Duration, error) {
	started := time.Now()
	var id string
	err := db.InTx(ctx, func(tx *store.Tx) (err error) {
		id, err = jobs.EnqueueID(ctx, tx, durable.TypeNoop, "", "", actor.Grant{})
		return err
	})
	for err == nil && time.Since(started) < executorPatience {
		var waits bool
		if waits, err = store.Exists(ctx, db, "SELECT 1 FROM job WHERE id = ?", id); err == nil && !waits {
			return time.Since(started), nil
		}
		time.Sleep(20 * time.Millisecond)
	}
	if err == nil {
		_, err = db.Exec(ctx, "DELETE FROM job WHERE id = ?", id)
	}
	return 0, err
}
