package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/waymarkhq/waymark/internal/assembly"
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

// Run checks an installation and tells what it found, one line a check. A check that fails keeps
// none from being made but those that need what it looked for.
func (c *doctorCommand) Run(ctx context.Context) error {
	if err := errors.Join(c.zones.check(), c.events.check(), c.hostnames.check(false), c.dns.check()); err != nil {
		return err
	}
	if err := c.find(); err != nil {
		return err
	}
	r := &report{out: os.Stdout}
	c.checkFolder(r)
	r.add("asset store", c.checkAssets(ctx))
	db, err := c.open(ctx)
	if err == nil {
		defer db.Close()
		err = usable(ctx, db)
	}
	if err != nil {
		r.add("database", fail(err.Error(), "then run doctor again: what needs the database was not checked"))
	} else {
		c.checkDatabase(ctx, db, r)
	}
	r.add("dns", c.checkDNS(ctx))
	if _, err := c.client(c.DNSResolver); err != nil {
		r.add("webhooks", fail(err.Error(), "give doctor the flags of the server"))
	}
	if found, err := c.tryProvider(ctx); err != nil {
		r.add("dns provider", fail(err.Error(), "docs/dns-provider.md has what each answer means"))
	} else if found != "" {
		r.add("dns provider", ok(found))
	}
	return r.end()
}

// checkFolder checks the data folder, its disk, and that of the click log where it is another one.
func (c *doctorCommand) checkFolder(r *report) {
	if err := c.prepare(); err != nil {
		r.add("data folder", fail(err.Error(), "have the folder belong to the user of the server, and make room on its disk"))
		return
	}
	r.add("data folder", ok("writable: "+c.DataDir))
	data := diskOf(c.DataDir)
	r.add("disk", data.judge())
	clicks := diskOf(filepath.Join(c.DataDir, "clicks"))
	if clicks.err == nil && clicks.Disk != data.Disk {
		r.add("click disk", clicks.judge())
	}
}

// checkAssets stores an image, reads it and removes it.
func (c *doctorCommand) checkAssets(ctx context.Context) finding {
	blobs, err := c.openBlobs(c.DataDir)
	if err == nil {
		err = blobs.Check(ctx)
	}
	if err != nil {
		return fail(err.Error(), "until the store of --asset-store works, no image can be uploaded, and none is shown")
	}
	return ok("stores, reads and removes")
}

// checkDatabase makes the checks that need the database.
func (c *doctorCommand) checkDatabase(ctx context.Context, db *store.DB, r *report) {
	started := time.Now()
	version, err := db.Schema(ctx)
	took := time.Since(started)
	if err == nil {
		err = db.Verify(ctx)
	}
	if err != nil {
		r.add("database", fail(err.Error(), "keep the data folder as it is until you have a copy of it"))
	} else {
		r.add("database", ok(fmt.Sprintf("%s, schema version %d, answers in %s", db.Dialect().Name, version,
			took.Round(time.Microsecond))))
	}
	checkSettings(ctx, db, r)
	r.add("clock", checkClock(ctx, db))
	events, err := assembly.CheckEngine(ctx, c.options(db, c.engine(c.Events)))
	if err != nil {
		r.add("events", fail(err.Error(), "the engine of events does not do its work, or is another one: see --events"))
	} else {
		r.add("events", ok(events))
	}
	r.add("click log", c.checkClicks(ctx, db))
	r.add("certificates", checkCertificates(ctx, db))
	checkQueues(ctx, db, r)
	r.add("executor", checkExecutor(ctx, db))
}

// checkSettings checks how the database is set up.
func checkSettings(ctx context.Context, db *store.DB, r *report) {
	found, troubles, err := db.CheckSettings(ctx)
	if err != nil {
		r.add("settings", fail(err.Error(), lookAtTheDatabase))
		return
	}
	for _, t := range troubles {
		if t.Fatal {
			r.add("settings", fail(t.What, t.Do))
		} else {
			r.add("settings", warn(t.What, t.Do))
		}
	}
	if len(troubles) == 0 {
		r.add("settings", ok(found))
	}
}

// checkDNS asks the DNS where the hostnames of owners are to lead.
func (c *doctorCommand) checkDNS(ctx context.Context) finding {
	if c.ConnectCNAME == "" {
		return ok("not asked: --connect-cname is not set")
	}
	started := time.Now()
	host, err := c.resolver().Host(ctx, c.ConnectCNAME)
	if err != nil {
		return fail("--connect-cname: "+err.Error(), "set its A and AAAA records to the redirector, or look at --dns-resolver")
	}
	return ok(fmt.Sprintf("%s leads to %s, answers in %s", c.ConnectCNAME, host.Addresses,
		time.Since(started).Round(time.Microsecond)))
}
