package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/waymarkhq/waymark/internal/actor"
	"github.com/waymarkhq/waymark/internal/certificate"
	"github.com/waymarkhq/waymark/internal/clicklog"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/delivery"
	"github.com/waymarkhq/waymark/internal/durable"
	"github.com/waymarkhq/waymark/internal/jobs"
	"github.com/waymarkhq/waymark/internal/loaded"
	"github.com/waymarkhq/waymark/internal/store"
)

// lateAfter is how long work may be due: what is alive begins it within seconds.
const lateAfter = time.Minute

// lookAtTheDatabase is the advice for questions that the database did not answer.
const lookAtTheDatabase = "look at the log of PostgreSQL; with SQLite, at the disk of the data folder and at its lock, waymark.lock"

// checkQueues checks that jobs and webhooks are being done.
func checkQueues(ctx context.Context, db *store.DB, r *report) {
	for _, queue := range []struct {
		check, what, advice string
		depth               func(context.Context, store.Q) (int64, clock.Instant, error)
	}{
		{"jobs", "waiting", "look whether a process with the role executor runs, and at its log", jobs.Depth},
		{"webhooks", "deliveries waiting", "look whether a process with the role executor runs; slow destinations wait for their turn, too",
			delivery.Depth},
	} {
		n, oldest, err := queue.depth(ctx, db)
		if err != nil {
			r.add(queue.check, fail(err.Error(), lookAtTheDatabase))
			continue
		}
		r.add(queue.check, judgeQueue(n, max(0, db.Now().Sub(oldest)), queue.what, queue.advice))
	}
}

// judgeQueue judges a queue by its length and by how long its oldest entry has been due.
func judgeQueue(n int64, late time.Duration, what, advice string) finding {
	found := fmt.Sprintf("%d %s", n, what)
	if n > 0 && late > lateAfter {
		return warn(fmt.Sprintf("%s, the oldest due for %s", found, late.Round(time.Second)), advice)
	}
	return ok(found)
}

// checkClicks checks that the clicks in the data folder are moved to the event store.
func (c *doctorCommand) checkClicks(ctx context.Context, db *store.DB) finding {
	positions, err := loaded.Events.All(ctx, db)
	if err != nil {
		return fail(err.Error(), lookAtTheDatabase)
	}
	oldest, err := clicklog.Oldest(filepath.Join(c.DataDir, "clicks"),
		func(log string) (file, end int64) { return loaded.At(positions, log) })
	if err != nil {
		return fail(err.Error(), "look at the rights of the folder clicks, and at its disk")
	}
	if lag := db.Now().Sub(oldest); oldest != 0 && lag > lateAfter {
		return warn(fmt.Sprintf("a click of %s ago is not in the event store", lag.Round(time.Second)),
			"look whether a process with the role redirect runs, and at its log line: events stay in the click log for now")
	}
	return ok("all in the event store that are older than a minute")
}

// shownHostnames is how many hostnames doctor names.
const shownHostnames = 5

// checkCertificates tells how many certificates there are, until when they last, and which are late.
func checkCertificates(ctx context.Context, db *store.DB) finding {
	now := db.Now()
	s, err := certificate.ReadStatus(ctx, db, now)
	if err != nil {
		return fail(err.Error(), lookAtTheDatabase)
	}
	if s.Valid+s.Due+s.Expired+s.Failing == 0 {
		return ok("none: TLS ends in front of Waymark, or no hostname is served yet")
	}
	found := fmt.Sprintf("%d valid", s.Valid+s.Due)
	if s.Earliest != 0 {
		found += fmt.Sprintf(", the first expires in %.0f days", s.DaysLeft(now))
	}
	if s.Due+s.Expired+s.Failing == 0 {
		return ok(found)
	}
	hostnames, err := certificate.Troubled(ctx, db, now, shownHostnames)
	if err != nil {
		return fail(err.Error(), lookAtTheDatabase)
	}
	found += fmt.Sprintf("; %d late to be renewed, %d expired, %d hostnames whose last order failed: %s",
		s.Due, s.Expired, s.Failing, strings.Join(hostnames, ", "))
	const advice = "look at the log line: certificate not issued; and whether port 80 or 443 of these hostnames leads here"
	if s.Expired > 0 {
		return fail(found, advice)
	}
	return warn(found, advice)
}

// checkExecutor has an executor do a job that does nothing.
func checkExecutor(ctx context.Context, db *store.DB) finding {
	took, err := tryExecutor(ctx, db)
	switch {
	case err != nil:
		return fail(err.Error(), lookAtTheDatabase)
	case took == 0:
		return fail(fmt.Sprintf("no executor did a test job within %s: is waymark serve running?", executorPatience),
			"start a process with the role executor, or look at the log of the one that runs")
	}
	return ok("did a test job within " + took.Round(time.Millisecond).String())
}

// executorPatience is how long doctor waits for an executor.
const executorPatience = 3 * time.Second

// tryExecutor has an executor do a job that does nothing and returns how long
// that took, 0 when none did it.
func tryExecutor(ctx context.Context, db *store.DB) (time.Duration, error) {
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
