package webhook_test

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/waymarkhq/waymark/internal/apitest"
	"github.com/waymarkhq/waymark/internal/delivery"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/outbound"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
	"github.com/waymarkhq/waymark/internal/webhook"
)

// dispatcher returns another one than the installation's own.
func dispatcher(i *apitest.Installation, r *receiver, metrics prometheus.Registerer) *webhook.Dispatcher {
	return dispatcherWith(i, outbound.New(r.options()), metrics)
}

func dispatcherWith(i *apitest.Installation, client *outbound.Client,
	metrics prometheus.Registerer) *webhook.Dispatcher {
	return webhook.New(i.DB, client, slog.New(slog.DiscardHandler), metrics)
}

// run runs a dispatcher until the test or stop ends it.
func run(t *testing.T, d *webhook.Dispatcher) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { d.Run(ctx) })
	stop = sync.OnceFunc(func() { cancel(); running.Wait() })
	t.Cleanup(stop)
	return stop
}

// emit makes events without the cost of what they are about.
func emit(t *testing.T, i *apitest.Installation, appID string, n int) {
	t.Helper()
	for range n {
		if err := i.DB.InTx(t.Context(), func(tx *store.Tx) error {
			return delivery.Emit(t.Context(), tx, delivery.LinkCreated, linkOf(appID))
		}); err != nil {
			t.Fatal(err)
		}
	}
}

// Without a word from anybody: a commit wakes the dispatcher, and those of
// another process are found.
func TestRun(t *testing.T) {
	each(t, func(t *testing.T, i *apitest.Installation, r *receiver) {
		owner := i.Prepared(t, "ann@example.com")
		w := register(t, owner, nil)
		metrics := prometheus.NewRegistry()
		stop := run(t, dispatcher(i, r, metrics))
		emit(t, i, owner.AppID, 50)
		storetest.Eventually(t, "delivery", func() bool {
			return count(t, i.DB, "SELECT COUNT(*) FROM webhook_delivery WHERE state = 'succeeded'") == 50
		})
		// As another process would: no signal comes with it.
		test := w.c.Call("POST", w.path+"/test", M{}).Want(202).Text("data.id")
		storetest.Eventually(t, "the test", func() bool {
			return w.c.Call("GET", "/webhook-deliveries/"+test, nil).Text("data.state") == "succeeded"
		})
		exec(t, i.DB, "UPDATE webhook_delivery SET state = 'pending', due_at = ? WHERE id = ?", i.Clock.Now(), test)
		storetest.Eventually(t, "delivery of another process's", func() bool {
			return count(t, i.DB, "SELECT COUNT(*) FROM webhook_delivery WHERE state = 'succeeded'") == 51
		})
		stop()
		seen := map[string]int{}
		for _, one := range r.take() {
			seen[one.header.Get("Service-Delivery-Id")]++
		}
		if len(seen) != 51 || seen[test] != 2 {
			t.Errorf("%d deliveries arrived, the test %d times", len(seen), seen[test])
		}
		families, err := metrics.Gather()
		if err != nil || len(families) != 2 || families[0].GetName() != "waymark_webhook_attempts_total" ||
			families[0].Metric[0].Counter.GetValue() != 52 ||
			families[1].Metric[0].Histogram.GetSampleCount() != 52 {
			t.Errorf("metrics %v, %v", families, err)
		}
		if n, _, err := delivery.Depth(t.Context(), i.DB); n != 0 || err != nil {
			t.Errorf("%d wait: %v", n, err)
		}
	})
}

// A receiver that does not answer delays nobody, and an end of the process is
// not the end of its attempts.
func TestSlowReceiver(t *testing.T) {
	each(t, func(t *testing.T, i *apitest.Installation, r *receiver) {
		owner := i.Prepared(t, "ann@example.com")
		slow, fast := register(t, owner, nil), register(t, owner, M{"url": "https://b.example.com/"})
		fastDone, arrived := make(chan struct{}), make(chan struct{}, 100)
		r.answers(func(host string, _ received) int {
			if host == "a.example.com" {
				arrived <- struct{}{}
				<-fastDone
			}
			return 204
		})
		stop := run(t, dispatcher(i, r, nil))
		emit(t, i, owner.AppID, 30)
		<-arrived
		storetest.Eventually(t, "delivery to the fast one", func() bool {
			return count(t, i.DB, "SELECT COUNT(*) FROM webhook_delivery WHERE webhook_id = ? AND state = 'succeeded'",
				fast.id) == 30
		})
		if n := count(t, i.DB, "SELECT COUNT(*) FROM webhook_delivery WHERE webhook_id = ? AND state = 'delivering'",
			slow.id); n == 0 || n > 10 {
			t.Errorf("%d are under way to the slow one", n)
		}
		time.AfterFunc(50*time.Millisecond, func() { close(fastDone) })
		stop()
		if n := count(t, i.DB, "SELECT COUNT(*) FROM webhook_delivery WHERE state = 'delivering'"); n != 0 {
			t.Errorf("%d attempts were not recorded at the end", n)
		}
		if n := count(t, i.DB, "SELECT COUNT(*) FROM webhook_delivery WHERE webhook_id = ? AND state = 'succeeded'",
			slow.id); n == 0 {
			t.Error("no attempt was finished at the end")
		}
	})
}

// More destinations than are served at once all have their turn.
func TestManyDestinations(t *testing.T) {
	each(t, func(t *testing.T, i *apitest.Installation, r *receiver) {
		owner := i.Prepared(t, "ann@example.com")
		key := owner.Key(permissions...)
		for range 70 {
			registerAs(t, key, nil)
		}
		emit(t, i, owner.AppID, 11)
		i.Deliver(t)
		seen := map[string]int{}
		for _, one := range r.take() {
			seen[one.header.Get("Service-Delivery-Id")]++
		}
		if len(seen) != 70*11 {
			t.Errorf("%d deliveries arrived", len(seen))
		}
		for id, n := range seen {
			if n != 1 {
				t.Fatalf("%s arrived %d times", id, n)
			}
		}
	})
}

// The destinations of an owner who has all their places do not hide those of others,
// however many are due.
func TestManyHangingDestinations(t *testing.T) {
	each(t, func(t *testing.T, i *apitest.Installation, r *receiver) {
		owner, other := i.Prepared(t, "ann@example.com"), i.Prepared(t, "bob@example.com")
		register(t, owner, nil)
		w := register(t, other, M{"url": "https://b.example.com/"})
		emit(t, i, owner.AppID, 1)
		// More than a look finds, and all before the other owner's.
		const numbers, some = "WITH RECURSIVE s(n) AS (SELECT 10000 UNION ALL SELECT n + 1 FROM s WHERE n < 11899) ", "'0' || s.n"
		exec(t, i.DB, `INSERT INTO webhook (id, app_id, url, events, enabled, consecutive_failures, secret, owner_id, credential,
			authorizer_type, authorizer_id, authorized_until, revision, created_at, updated_at) `+numbers+`SELECT `+some+`, app_id,
			url, events, enabled, consecutive_failures, secret, owner_id, credential, authorizer_type, authorizer_id,
			authorized_until, revision, created_at, updated_at FROM webhook, s WHERE app_id = ?`, owner.AppID)
		exec(t, i.DB, `INSERT INTO webhook_delivery (id, webhook_id, webhook_revision, app_id, event_id, event_type, resource_id,
			resource_revision, occurred_at, state, attempts, lease_no, due_at, revision, created_at, updated_at) `+numbers+
			`SELECT `+some+`, `+some+`, webhook_revision, app_id, event_id, event_type, resource_id, resource_revision,
			occurred_at, state, attempts, lease_no, due_at, revision, created_at, updated_at FROM webhook_delivery, s`)
		hanging := make(chan struct{})
		var hung atomic.Int64
		r.answers(func(host string, _ received) int {
			if host == "a.example.com" {
				hung.Add(1)
				<-hanging
			}
			return 204
		})
		stop := run(t, dispatcher(i, r, nil))
		storetest.Eventually(t, "all places of an owner are taken", func() bool { return hung.Load() == 160 })
		emit(t, i, other.AppID, 1)
		storetest.Eventually(t, "delivery to the other owner", func() bool {
			return count(t, i.DB, "SELECT COUNT(*) FROM webhook_delivery WHERE webhook_id = ? AND state = 'succeeded'", w.id) == 1
		})
		if n := hung.Load(); n >= 320 { // attempts that ended make room for others after 5 s
			t.Errorf("the other owner was served after %d that hang", n)
		}
		close(hanging)
		stop()
	})
}

// Deliveries of a dispatcher that died are attempted again once their lease
// ends, and the attempt that nobody knows the end of does not count.
func TestDispatcherDied(t *testing.T) {
	each(t, func(t *testing.T, i *apitest.Installation, r *receiver) {
		owner := i.Prepared(t, "ann@example.com")
		w := register(t, owner, nil)
		claim := func() {
			t.Helper()
			if err := i.DB.InTx(t.Context(), func(tx *store.Tx) error {
				leased, err := delivery.Lease(t.Context(), tx, w.id, 100)
				if len(leased) == 0 {
					t.Error("nothing is leased")
				}
				return err
			}); err != nil {
				t.Fatal(err)
			}
		}
		for n := range 7 {
			owner.Link("s"+strconv.Itoa(n), nil).Want(201)
		}
		for range 6 {
			claim()
			w.newest().Has("data.state", `"delivering"`).Has("data.nextAttemptAt", "null")
			i.Clock.Move(20*time.Second - time.Millisecond)
			i.Deliver(t)
			if got := r.take(); len(got) != 0 {
				t.Fatalf("%d requests while the lease is another's", len(got))
			}
			i.Clock.Move(time.Millisecond)
		}
		i.Deliver(t)
		if got := r.take(); len(got) != 7 {
			t.Errorf("%d requests after the lease", len(got))
		}
		w.newest().Has("data.state", `"succeeded"`).Has("data.attempts", "1")
		// The only dispatcher of an installation need not wait.
		owner.Link("b", nil).Want(201)
		claim()
		if err := delivery.TakeOver(t.Context(), i.DB); err != nil {
			t.Fatal(err)
		}
		i.Deliver(t)
		if got := r.take(); len(got) != 1 {
			t.Errorf("%d requests after taking over", len(got))
		}
	})
}

// A delivery that another transaction changes at this moment is neither waited for nor leased.
func TestLeaseBesideAChange(t *testing.T) {
	r := newReceiver(t)
	i := apitest.New(t, "postgres", apitest.Options{Outbound: r.options()}) // SQLite has one writer at a time
	owner := i.Prepared(t, "ann@example.com")
	w := register(t, owner, nil)
	owner.Link("changed", nil).Want(201)
	owner.Link("left-alone", nil).Want(201)
	if err := i.DB.InTxReadCommitted(t.Context(), func(changing *store.Tx) error {
		changed, err := store.One(t.Context(), changing, store.Value[string],
			`UPDATE webhook_delivery SET state = 'cancelled', due_at = NULL
				WHERE id = (SELECT MIN(id) FROM webhook_delivery) RETURNING id`)
		if err != nil {
			return err
		}
		return i.DB.InTxReadCommitted(t.Context(), func(tx *store.Tx) error {
			leased, err := delivery.Lease(t.Context(), tx, w.id, 100)
			if len(leased) != 1 || leased[0].ID == changed {
				t.Errorf("leased %+v beside a change of %s", leased, changed)
			}
			return err
		})
	}); err != nil {
		t.Error(err)
	}
}

// An attempt whose lease was taken over records nothing.
func TestLeaseLost(t *testing.T) {
	each(t, func(t *testing.T, i *apitest.Installation, r *receiver) {
		owner := i.Prepared(t, "ann@example.com")
		w := register(t, owner, nil)
		other := dispatcher(i, r, nil)
		var taken atomic.Bool
		r.answers(func(string, received) int {
			if taken.Swap(true) {
				return 200
			}
			i.Clock.Move(30 * time.Second) // this process stands still until its lease is over
			if err := other.Drain(context.Background()); err != nil {
				t.Error(err)
			}
			return 500
		})
		owner.Link("a", nil).Want(201)
		i.Deliver(t)
		if got := r.take(); len(got) != 2 {
			t.Errorf("%d requests", len(got))
		}
		w.newest().Has("data.state", `"succeeded"`).Has("data.attempts", "1").Has("data.httpStatus", "200")
		w.get().Has("data.consecutiveFailures", "0").Has("data.lastFailureAt", "null")
	})
}

// An attempt that ends after its lease, while another dispatcher delivers, records
// nothing: what counts is what comes of the other attempt.
func TestLateRecord(t *testing.T) {
	each(t, func(t *testing.T, i *apitest.Installation, r *receiver) {
		owner := i.Prepared(t, "ann@example.com")
		w := register(t, owner, nil)
		r.answers(func(string, received) int {
			i.Clock.Move(30 * time.Second)
			exec(t, i.DB, "UPDATE webhook_delivery SET lease_no = lease_no + 1, due_at = ? WHERE state = 'delivering'",
				i.Clock.Now().Add(20*time.Second))
			return 500
		})
		owner.Link("a", nil).Want(201)
		i.Deliver(t)
		w.newest().Has("data.state", `"delivering"`).Has("data.attempts", "0").Has("data.httpStatus", "null").
			Has("data.error", "null")
		w.get().Has("data.consecutiveFailures", "0").Has("data.lastFailureAt", "null")
	})
}

// Several dispatchers share the work without doing it twice.
func TestSeveralDispatchers(t *testing.T) {
	r := newReceiver(t)
	i := apitest.New(t, "postgres", apitest.Options{Outbound: r.options()})
	owner := i.Prepared(t, "ann@example.com")
	register(t, owner, nil)
	register(t, owner, M{"url": "https://b.example.com/"})
	var n int
	r.answers(func(string, received) int {
		r.mu.Lock()
		defer r.mu.Unlock()
		n++
		if n%9 == 0 {
			return 500
		}
		return 204
	})
	for range 3 {
		run(t, dispatcher(i, r, nil))
	}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() { emit(t, i, owner.AppID, 50) })
	}
	all.Wait()
	storetest.Eventually(t, "every first attempt", func() bool {
		return count(t, i.DB, "SELECT COUNT(*) FROM webhook_delivery WHERE attempts = 0") == 0
	})
	storetest.Eventually(t, "delivery", func() bool {
		// Time goes on when all wait for it: no lease ends meanwhile.
		if count(t, i.DB, "SELECT COUNT(*) FROM webhook_delivery WHERE state = 'delivering' OR due_at <= ?",
			i.Clock.Now()) == 0 {
			i.Clock.Move(60 * time.Second)
		}
		return count(t, i.DB, "SELECT COUNT(*) FROM webhook_delivery WHERE state = 'succeeded'") == 400
	})
	attempts := count(t, i.DB, "SELECT SUM(attempts) FROM webhook_delivery")
	if got := len(r.take()); int64(got) != attempts {
		t.Errorf("%d requests for %d attempts", got, attempts)
	}
}

// A destination with much to send and several dispatchers at it is changed,
// disabled, rotated, deleted, and goes with its app, at once: nothing is sent
// afterwards, and nothing stays behind.
func TestChangedUnderLoad(t *testing.T) {
	const events = 2000 // so many that a slow machine has not sent all of them before the change
	each(t, func(t *testing.T, i *apitest.Installation, r *receiver) {
		run(t, dispatcher(i, r, nil))
		run(t, dispatcher(i, r, nil))
		for n, change := range []func(owner *apitest.Client, w *registered){
			func(_ *apitest.Client, w *registered) { w.patch(M{"enabled": false}) },
			func(_ *apitest.Client, w *registered) { w.patch(M{"url": "https://b.example.com/"}) },
			func(_ *apitest.Client, w *registered) {
				w.c.Call("POST", w.path+"/rotate-secret", M{"overlapSeconds": 0}, apitest.IfMatch(w.get().Revision())).
					Want(200)
			},
			func(_ *apitest.Client, w *registered) {
				w.c.Call("DELETE", w.path, nil, apitest.IfMatch(w.get().Revision())).Want(204)
			},
			func(owner *apitest.Client, _ *registered) {
				exec(t, i.DB, "UPDATE domain SET detached = TRUE, removal_state = 'removed' WHERE app_id = ?",
					owner.AppID)
				if err := i.DB.InTx(t.Context(), func(tx *store.Tx) error {
					return webhook.RemoveApp(t.Context(), tx,
						"", owner.AppID)
				}); err != nil {
					t.Error(err)
				}
			},
		} {
			owner := i.Prepared(t, fmt.Sprintf("owner%d@example.com", n))
			w := register(t, owner, nil)
			if err := i.DB.InTx(t.Context(), func(tx *store.Tx) error {
				for range events {
					if err := delivery.Emit(t.Context(), tx, delivery.LinkCreated, linkOf(owner.AppID)); err != nil {
						return err
					}
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			storetest.Eventually(t, "the first attempts", func() bool {
				return count(t, i.DB, `SELECT COUNT(*) FROM webhook_delivery WHERE webhook_id = ?
					AND state = 'succeeded'`, w.id) > 20
			})
			change(owner, w)
			if left := count(t, i.DB, `SELECT COUNT(*) FROM webhook_delivery WHERE webhook_id = ?
				AND due_at IS NOT NULL`, w.id); left != 0 {
				t.Errorf("change %d: %d deliveries are still to be sent", n, left)
			}
			sent := count(t, i.DB, "SELECT COUNT(*) FROM webhook_delivery WHERE webhook_id = ? AND state = 'succeeded'",
				w.id)
			cancelled := count(t, i.DB, `SELECT COUNT(*) FROM webhook_delivery WHERE webhook_id = ?
				AND error_code = 'configuration_changed'`, w.id)
			if sent+cancelled != events || cancelled == 0 {
				t.Errorf("change %d: %d sent and %d cancelled of %d", n, sent, cancelled, events)
			}
		}
	})
}

// A change whose destinations cannot be read does not happen: its event would be missing.
func TestDestinationsThatCannotBeRead(t *testing.T) {
	each(t, func(t *testing.T, i *apitest.Installation, _ *receiver) {
		owner := i.Prepared(t, "ann@example.com")
		register(t, owner, nil)
		exec(t, i.DB, "ALTER TABLE webhook_subscription RENAME TO away")
		owner.Link("a", nil).Refused(fault.Internal)
		exec(t, i.DB, "ALTER TABLE away RENAME TO webhook_subscription")
		owner.Link("a", nil).Want(201)
	})
}

// An event that cannot be written as JSON is not sent. Its attempt does not count, and the operator is told.
func TestEventThatCannotBeWritten(t *testing.T) {
	r, log := newReceiver(t), &apitest.Journal{}
	i := apitest.New(t, "sqlite", apitest.Options{Outbound: r.options(), Log: log}) // PostgreSQL keeps no such text
	owner := i.Prepared(t, "ann@example.com")
	w := register(t, owner, nil)
	emit(t, i, owner.AppID, 1)
	exec(t, i.DB, "UPDATE webhook_delivery SET resource_id = CAST(X'ff' AS TEXT)")
	i.Deliver(t)
	if got := r.take(); len(got) != 0 {
		t.Errorf("it is sent: %v", got)
	}
	w.newest().Has("data.attempts", "0").Has("data.state", `"delivering"`)
	if !strings.Contains(log.String(), "webhook dispatcher") || !strings.Contains(log.String(), "UTF-8") {
		t.Errorf("the log does not tell of it: %s", log)
	}
}
