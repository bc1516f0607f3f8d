package process_test

import (
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/waymarkhq/waymark/internal/store"
)

// receiver is a destination of webhooks.
type receiver struct {
	flags []string // that let a process reach it

	mu     sync.Mutex
	events map[string]string // id to "type resource"
	calls  int
}

const receiverURL = "https://example.com/hook"

func newReceiver(t *testing.T) *receiver {
	r := &receiver{events: map[string]string{}}
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		var e struct {
			ID, Type string
			Resource struct{ ID string }
		}
		body, err := io.ReadAll(request.Body)
		if err := errors.Join(err, json.Unmarshal(body, &e)); err != nil {
			t.Errorf("a webhook brought %q: %v", body, err)
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.events[e.ID] = e.Type + " " + e.Resource.ID
		r.calls++
	}))
	t.Cleanup(s.Close)
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}),
		0o600); err != nil {
		t.Fatal(err)
	}
	r.flags = []string{"--webhook-allow", "example.com=" + s.Listener.Addr().String(), "--webhook-ca", ca}
	return r
}

// count returns how many different events, "type resource", came.
func (r *receiver) count(event string) (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.events {
		if e == event {
			n++
		}
	}
	return n
}

// durable is an account whose batches are watched.
type durable struct {
	*owner
	made int // batches
}

func newDurable(t *testing.T, s *server) *durable {
	d := &durable{owner: newOwner(t, s.client(s.token("owner@example.com")))}
	d.must(t, 201, intent{method: "POST", path: "/webhooks", body: map[string]any{"appId": d.app, "url": receiverURL,
		"events": []string{"link.created", "link.updated", "link.deleted", "operation.completed", "operation.failed"}}})
	return d
}

// job is what the tests look at of a batch or an import.
type job struct{ ID, OperationID, Revision string }

// audited are the operations that audit names for the effects of actions.
var audited = map[string]string{"create": "createLinks", "update": "updateLinksLinkId", "delete": "deleteLinksLinkId"}

// batch starts a batch of n creations, as many changes and removals of links
// that are made first.
func (d *durable) batch(t *testing.T, n int) job {
	t.Helper()
	d.made++
	var items []map[string]any
	for i := range n {
		slug := fmt.Sprintf("b%d-%d", d.made, i)
		items = append(items, map[string]any{"clientId": "c" + slug, "action": "create",
			"input": d.creation("new-"+slug, slug).body})
		for _, action := range []string{"update", "delete"} {
			l := d.create(t, action+"-"+slug)
			item := map[string]any{"clientId": action + slug, "action": action, "linkId": l.ID, "revision": l.Revision}
			if action == "update" {
				item["input"] = content("changed-" + slug)
			}
			items = append(items, item)
		}
	}
	return dataOf[job](t, d.must(t, 202, intent{method: "POST", path: "/link-batches",
		body: map[string]any{"appId": d.app, "items": items}}))
}

// imports starts the import of n links.
func (d *durable) imports(t *testing.T, n int) job {
	t.Helper()
	d.made++
	table := "domain,slug,desktopUrl\n"
	for i := range n {
		table += fmt.Sprintf("%s,i%d-%d,%s\n", hostname, d.made, i, target("imported"))
	}
	j := dataOf[job](t, d.must(t, 201, intent{method: "POST", path: "/imports",
		body: map[string]any{"appId": d.app, "format": "csv", "content": table}}))
	j = dataOf[job](t, d.must(t, 200, intent{method: "POST", path: "/imports/" + j.ID + "/validate",
		body: map[string]any{}}))
	return dataOf[job](t, d.must(t, 202, intent{method: "POST", path: "/imports/" + j.ID + "/commit",
		body: map[string]any{}, ifMatch: j.Revision}))
}

// doneItems returns how many items of a job are committed.
func doneItems(t *testing.T, db *store.DB, id string) int {
	return number(t, db, "SELECT succeeded + failed FROM automation_job WHERE id = ?", id)
}

// doneAtLeast waits until so many items of a job are committed, and looks often, so that few more are.
func doneAtLeast(t *testing.T, db *store.DB, id string, n int) {
	t.Helper()
	for deadline := time.Now().Add(patience); doneItems(t, db, id) < n; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d items are not done within %s", n, patience)
		}
	}
}

// ended waits until an operation is over and returns its status.
func ended(t *testing.T, db *store.DB, operationID string) (status string) {
	t.Helper()
	eventually(t, "the operation ends", func() error {
		var err error
		status, err = store.One(t.Context(), db, store.Value[string], "SELECT status FROM operation WHERE id = ?",
			operationID)
		if err == nil && (status == "queued" || status == "running") {
			err = errors.New(status)
		}
		return err
	})
	return status
}

// exactlyOnce checks that every item of a job succeeded and has its effect
// once, with all that belongs to it.
func exactlyOnce(t *testing.T, db *store.DB, b job, items int) {
	t.Helper()
	type item struct{ action, state, link, revision string }
	all, err := store.All(t.Context(), db, func(r store.Row) (i item, err error) {
		var result *string
		if err := r.Scan(&i.action, &i.state, &result); err != nil || result == nil {
			return i, err
		}
		var of struct{ LinkID, Revision string }
		err = json.Unmarshal([]byte(*result), &of)
		i.link, i.revision = of.LinkID, of.Revision
		return i, err
	}, "SELECT action, state, result FROM automation_item WHERE job_id = ? ORDER BY ordinal", b.ID)
	if err != nil || len(all) != items {
		t.Fatalf("%d items, %v, want %d", len(all), err, items)
	}
	for n, i := range all {
		did, exists := i.action+"d", 1
		if i.action == "delete" {
			exists = 0
		}
		for what, c := range map[string]struct {
			want  int
			query string
			args  []any
		}{
			"links": {exists, "SELECT COUNT(*) FROM link WHERE id = ? AND revision = ?",
				[]any{i.link, i.revision}},
			"history": {1, "SELECT COUNT(*) FROM link_history WHERE link_id = ? AND revision = ? AND action = ?",
				[]any{i.link, i.revision, did}},
			"all histories": {1, "SELECT COUNT(*) FROM link_history WHERE link_id = ? AND action = ?",
				[]any{i.link, did}},
			"audit": {1, "SELECT COUNT(*) FROM audit_event WHERE resource_id = ? AND operation = ?",
				[]any{i.link, audited[i.action]}},
			"events": {1, "SELECT COUNT(*) FROM webhook_delivery WHERE resource_id = ? AND event_type = ?",
				[]any{i.link, "link." + did}},
		} {
			if got := number(t, db, c.query, c.args...); i.state != "succeeded" || got != c.want {
				t.Errorf("item %d (%s, %s): %d in %s, want %d", n, i.action, i.state, got, what, c.want)
			}
		}
	}
	if n := number(t, db, "SELECT COUNT(*) FROM webhook_delivery WHERE resource_id = ?", b.OperationID); n != 1 {
		t.Errorf("%d events of the operation, want 1", n)
	}
	if n := number(t, db, "SELECT succeeded FROM automation_job WHERE id = ?", b.ID); n != items {
		t.Errorf("%d items are counted, want %d", n, items)
	}
}

// Durable work goes on after kill -9 at every item and inside transactions: no
// effect is lost, doubled or half done, and every event arrives.
func TestKillDurableWork(t *testing.T) {
	each(t, func(t *testing.T, database string) {
		rounds, per := 6, 4
		if soak {
			rounds = 50
		}
		dir, hook := t.TempDir(), newReceiver(t)
		// A short lease, because on PostgreSQL a killed executor's jobs wait for
		// its end.
		flags := append([]string{"--job-lease", "1s"}, hook.flags...)
		s := serve(t, dir, database, flags...)
		d := newDurable(t, s)
		db := open(t, dir, database)
		items := 3 * per
		var batches []job
		for round := range rounds {
			b := job{}
			if round%2 == 0 {
				b = d.batch(t, per)
			} else {
				b = d.imports(t, items)
			}
			batches = append(batches, b)
			// Every boundary of an item, and any moment, in turns of both kinds.
			if at := round / 2 % (items + 2); at <= items {
				doneAtLeast(t, db, b.ID, at)
			} else {
				time.Sleep(rand.N(100 * time.Millisecond))
			}
			s.kill()
			t.Logf("round %d: killed with %d of %d items done", round, doneItems(t, db, b.ID), items)
			s = serve(t, dir, database, flags...)
			d.client = s.client(d.token)
			if status := ended(t, db, b.OperationID); status != "succeeded" {
				t.Errorf("round %d: the operation is %s", round, status)
			}
			exactlyOnce(t, db, b, items)
		}
		eventually(t, "all deliveries end", func() error {
			if n := number(t, db, "SELECT COUNT(*) FROM webhook_delivery WHERE due_at IS NOT NULL"); n > 0 {
				return fmt.Errorf("%d are left", n)
			}
			return nil
		})
		events := number(t, db, "SELECT COUNT(DISTINCT event_id) FROM webhook_delivery")
		failed := number(t, db, "SELECT COUNT(*) FROM webhook_delivery WHERE state <> 'succeeded'")
		hook.mu.Lock()
		got, calls := len(hook.events), hook.calls
		hook.mu.Unlock()
		t.Logf("%d events, %d arrived in %d calls", events, got, calls)
		if got != events || failed != 0 {
			t.Errorf("%d of %d events arrived, %d deliveries did not succeed", got, events, failed)
		}
		for _, b := range batches {
			if n := hook.count("operation.completed " + b.OperationID); n != 1 {
				t.Errorf("%d different events tell that an operation ended, want 1", n)
			}
		}
		s.terminate()
	})
}

// SIGTERM in the middle of a batch ends the process in order; the next one goes
// on without waiting for a lease.
func TestTerminateDurableWork(t *testing.T) {
	each(t, func(t *testing.T, database string) {
		dir, hook := t.TempDir(), newReceiver(t)
		s := serve(t, dir, database, hook.flags...)
		d := newDurable(t, s)
		db := open(t, dir, database)
		b := d.batch(t, 15)
		doneAtLeast(t, db, b.ID, 5)
		s.terminate()
		s = serve(t, dir, database, hook.flags...)
		if status := ended(t, db, b.OperationID); status != "succeeded" {
			t.Errorf("the operation is %s", status)
		}
		exactlyOnce(t, db, b, 45)
		s.terminate()
	})
}

// An executor that stands still in the middle of a batch commits nothing under
// the lease that it lost.
func TestFrozenDurableWork(t *testing.T) {
	t.Parallel()
	database := addressOf(t, "postgres")
	s := serve(t, t.TempDir(), database, "--roles", "api,redirect")
	d := newDurable(t, s)
	db := open(t, "", database)
	frozen := serve(t, t.TempDir(), database, "--roles", "executor", "--job-lease", "1s")
	b := d.batch(t, 15)
	doneAtLeast(t, db, b.ID, 5)
	frozen.signal(syscall.SIGSTOP)
	other := serve(t, t.TempDir(), database, "--roles", "executor", "--job-lease", "1s")
	// A transaction that it stands still in is ended by the database.
	ended(t, db, b.OperationID)
	before := effects(t, db, b)
	frozen.signal(syscall.SIGCONT)
	time.Sleep(2 * time.Second) // for what it might still do
	if after := effects(t, db, b); !reflect.DeepEqual(before, after) {
		t.Errorf("an executor that woke up changed %v to %v", before, after)
	}
	exactlyOnce(t, db, b, 45)
	other.terminate()
	frozen.terminate()
}

// effects are all rows that a batch may change.
func effects(t *testing.T, db *store.DB, b job) []string {
	t.Helper()
	rows, err := store.All(t.Context(), db, store.Value[string], `SELECT 'item ' || client_id || state ||
		COALESCE(result, '') FROM automation_item WHERE job_id = ?
		UNION ALL SELECT 'link ' || id || revision FROM link UNION ALL SELECT 'history ' || id
		FROM link_history UNION ALL SELECT 'audit ' || id FROM audit_event
		UNION ALL SELECT 'event ' || event_id FROM webhook_delivery UNION ALL SELECT 'job ' || state || revision
		FROM automation_job
		UNION ALL SELECT 'operation ' || status || revision FROM operation ORDER BY 1`, b.ID)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}
