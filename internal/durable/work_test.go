package durable_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/waymarkhq/waymark/internal/actor"
	"github.com/waymarkhq/waymark/internal/apitest"
	"github.com/waymarkhq/waymark/internal/durable"
	"github.com/waymarkhq/waymark/internal/executor"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/jobs"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
)

// atWork is an operation whose work is the test's.
type atWork struct {
	*testing.T
	i        *apitest.Installation
	owner    *apitest.Client
	grant    actor.Grant
	id, path string
	executor *executor.Executor
	log      strings.Builder // of the executor
}

// begin starts an operation with the work next, of an installation whose limits
// are three times those of the contract.
func begin(t *testing.T, i *apitest.Installation, next func(ctx context.Context, r *durable.Run) error) *atWork {
	t.Helper()
	p := op.New(op.Options{DB: i.DB, LimitScale: 3, Log: slog.New(slog.DiscardHandler)})
	kind := durable.NewWorks(p).Add(durable.Work{Type: durable.TypeNoop, Next: next})
	w := &atWork{T: t, i: i, owner: i.Prepared(t, "ann@example.com")}
	w.executor = executor.New(executor.Options{DB: i.DB, Log: slog.New(slog.NewTextHandler(&w.log, nil)),
		Kinds: []jobs.Kind{kind}})
	var err error
	w.grant, err = store.One(t.Context(), i.DB, func(r store.Row) (g actor.Grant, err error) {
		err = r.Scan(&g.OwnerID, &g.Credential)
		return g, err
	}, "SELECT a.owner_id, s.credential FROM app a JOIN session s ON s.user_id = a.owner_id WHERE a.id = ?",
		w.owner.AppID)
	if err != nil {
		t.Fatal(err)
	}
	if err := i.DB.InTx(t.Context(), func(tx *store.Tx) error {
		caller := &actor.Actor{Type: actor.Human, OwnerID: w.grant.OwnerID, Credential: w.grant.Credential}
		o, err := durable.Start(t.Context(), p.CallFor(caller, "request", w.owner.AppID, tx.Now), tx, durable.TypeNoop,
			w.owner.AppID, "resource")
		w.id, w.path = o.ID, "/operations/"+o.ID
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return w
}

// cycle has the operation take up to ten turns.
func (w *atWork) cycle() {
	w.Helper()
	if n, err := w.executor.Cycle(w.Context()); err != nil || n != 1 {
		w.Fatalf("%d jobs, %v", n, err)
	}
}

func (w *atWork) cancel(want string) {
	w.Helper()
	w.owner.Call("POST", w.path+"/cancel", M{}).Want(202).Has("data.status", `"`+want+`"`)
}

// over expects that the operation ended and that its job is gone.
func (w *atWork) over(status string) {
	w.Helper()
	w.owner.Call("GET", w.path, nil).Want(200).Has("data.status", `"`+status+`"`)
	if n, _, err := jobs.Depth(w.Context(), w.i.DB); n != 0 || err != nil {
		w.Errorf("%d jobs are left, %v", n, err)
	}
}

func succeed(ctx context.Context, _ *op.Call, tx *store.Tx, o *durable.Operation) error {
	return o.Finish(ctx, tx, durable.Result{Resource: durable.Resource{Type: "app", ID: o.AppID}})
}

// An end that cannot be kept, or not be told to webhooks, is an error, so that the work is tried
// again.
func TestEndsThatCannotBeKept(t *testing.T) {
	none, one := int64(0), int64(1)
	ends := map[string]func(context.Context, *store.Tx, *durable.Operation) error{
		"succeeded": func(ctx context.Context, tx *store.Tx, o *durable.Operation) error {
			return succeed(ctx, nil, tx, o)
		},
		"failed": func(ctx context.Context, tx *store.Tx, o *durable.Operation) error {
			return o.Fail(ctx, tx, "reason", "It failed.")
		},
		"items": func(ctx context.Context, tx *store.Tx, o *durable.Operation) error {
			return o.Finish(ctx, tx, durable.Result{Succeeded: &none, Failed: &one, Invalid: &none})
		},
	}
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		owner.Call("POST", "/webhooks", M{"appId": owner.AppID, "url": "https://hooks.example.com/",
			"events": []string{"operation.failed", "operation.completed"}}).Want(201)
		for name, end := range ends {
			path := started(owner)
			storetest.Faulty(t, func(ctx context.Context) error {
				return i.DB.InTx(ctx, func(tx *store.Tx) error {
					o, err := durable.Load(t.Context(), tx, strings.TrimPrefix(path, "/operations/"))
					if err != nil {
						return err
					}
					return end(ctx, tx, &o)
				})
			})
			owner.Call("GET", path, nil).Want(200).Has("data.status", map[bool]string{true: `"succeeded"`,
				false: `"failed"`}[name == "succeeded"])
		}
	})
}

// An end that cannot be written down is an error, and the operation goes on.
func TestEndsThatCannotBeWritten(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		path := started(i.Prepared(t, "ann@example.com"))
		for name, end := range map[string]func(context.Context, *store.Tx, *durable.Operation) error{
			"failed": func(ctx context.Context, tx *store.Tx, o *durable.Operation) error {
				return o.Fail(ctx, tx, "reason", "\xff") // no UTF-8
			},
			"succeeded": func(ctx context.Context, tx *store.Tx, o *durable.Operation) error {
				return o.Finish(ctx, tx, durable.Result{Resource: durable.Resource{Type: "\xff"}})
			},
		} {
			if err := i.DB.InTx(t.Context(), func(tx *store.Tx) error {
				o, err := durable.Load(t.Context(), tx, strings.TrimPrefix(path, "/operations/"))
				if err != nil {
					t.Fatal(err)
				}
				if err := end(t.Context(), tx, &o); err == nil {
					t.Errorf("the operation has %s", name)
				}
				// Nothing was stored before the error, either.
				if kept, err := durable.Load(t.Context(), tx, o.ID); err != nil || kept.Status != durable.Queued {
					t.Errorf("the operation is %s, %v", kept.Status, err)
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// The log names the operation whose work failed, and its cause.
func TestFailureIsLogged(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		w := begin(t, i, func(context.Context, *durable.Run) error { return errors.New("the cause") })
		w.cycle()
		if want := "operation foundation.noop(" + w.id + "): the cause"; !strings.Contains(w.log.String(), want) {
			t.Errorf("logged as %q, want %q", w.log.String(), want)
		}
	})
}

// A call that is made for work has all that the call of a request has.
func TestCallOfWork(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		var calls []*op.Call
		w := begin(t, i, func(ctx context.Context, r *durable.Run) error {
			if calls = append(calls, r.Call); r.Operation.ResourceID != "resource" {
				t.Errorf("the work is on %q", r.Operation.ResourceID)
			}
			if r.Operation.Status == durable.Queued {
				return r.InTx(ctx, func(_ context.Context, c *op.Call, tx *store.Tx) error {
					if calls = append(calls, c); c.Now != tx.Now {
						t.Error("the call has another time than its transaction")
					}
					return nil
				})
			}
			return r.Finish(ctx, func(ctx context.Context, c *op.Call, tx *store.Tx, o *durable.Operation) error {
				calls = append(calls, c)
				return succeed(ctx, c, tx, o)
			})
		})
		w.cycle()
		w.over("succeeded")
		if len(calls) != 4 {
			t.Errorf("%d calls", len(calls))
		}
		for _, c := range calls {
			if c.Scaled(10) != 30 || c.RequestID != "request" || c.AppID != w.owner.AppID || c.DB != i.DB ||
				c.Actor.Grant() != w.grant {
				t.Errorf("call %+v of %+v", c, c.Actor)
			}
		}
	})
}

// A cancellation, a lost authorization or an end can come between the look at an operation and the
// transaction of its next effect. Each of them prevents that effect.
func TestStoppedBeforeItsEffect(t *testing.T) {
	stops := map[string]func(w *atWork){
		"succeeded": func(w *atWork) { exec(w.T, w.i, "UPDATE operation SET status = 'succeeded' WHERE status = 'running'") },
		"cancelled": func(w *atWork) { w.cancel("cancel_requested") },
		"failed": func(w *atWork) {
			exec(w.T, w.i, "UPDATE session SET ended_at = 1")
			w.owner.Credential = w.i.Owner(w, "ann@example.com").Credential
		},
	}
	for _, ends := range []bool{false, true} {
		for status, stop := range stops {
			apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
				effects := 0
				var w *atWork
				w = begin(t, i, func(ctx context.Context, r *durable.Run) error {
					if r.Operation.Status == durable.Running {
						stop(w)
						if ends {
							return r.FinishReadCommitted(ctx, func(ctx context.Context, c *op.Call, tx *store.Tx,
								o *durable.Operation) error {
								effects++
								return succeed(ctx, c, tx, o)
							})
						}
					}
					return r.InTx(ctx, func(context.Context, *op.Call, *store.Tx) error {
						effects++
						return nil
					})
				})
				w.cycle()
				w.over(status)
				if effects != 1 {
					t.Errorf("%s: %d effects, want the one before", status, effects)
				}
			})
		}
	}
}

// An operation that ended, or went with its app, before the last attempt at it failed stays so, and its job is over.
func TestLastAttemptOfWhatIsOver(t *testing.T) {
	for name, over := range map[string]struct {
		statement string
		answer    int
	}{
		"ended": {"UPDATE operation SET status = 'succeeded' WHERE type = 'foundation.noop'", 200},
		"gone":  {"DELETE FROM operation WHERE type = 'foundation.noop'", 404},
	} {
		apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
			w := begin(t, i, func(context.Context, *durable.Run) error {
				exec(t, i, over.statement)
				return errors.New("the cause")
			})
			exec(t, i, "UPDATE job SET attempts = 4 WHERE kind = 'foundation.noop'")
			w.cycle()
			if r := w.owner.Call("GET", w.path, nil).Want(over.answer); over.answer == 200 {
				r.Has("data.status", `"succeeded"`).Has("data.error", "null")
			}
			if n, _, err := jobs.Depth(t.Context(), i.DB); n != 0 || err != nil {
				t.Errorf("%s: %d jobs are left, %v", name, n, err)
			}
		})
	}
}

// That the last attempt failed is told once it can be, even though the work is not tried again.
func TestLastFailureIsToldLater(t *testing.T) {
	for _, statement := range []string{"SELECT", "UPDATE operation "} {
		apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
			turns, away := 0, false
			w := begin(t, i, func(context.Context, *durable.Run) error {
				turns, away = turns+1, true
				return errors.New("the cause")
			})
			exec(t, i, "UPDATE job SET attempts = 4 WHERE kind = 'foundation.noop'")
			if _, err := w.executor.Cycle(store.WithFaults(t.Context(), func(query string) error {
				if away && strings.HasPrefix(query, statement) && strings.Contains(query, "operation ") {
					return errors.New("the database is away")
				}
				return nil
			})); err != nil {
				t.Fatal(err)
			}
			w.owner.Call("GET", w.path, nil).Want(200).Has("data.status", `"queued"`)
			i.Clock.Move(time.Minute)
			w.cycle()
			w.over("failed")
			if turns != 1 {
				t.Errorf("the work is tried %d times", turns)
			}
		})
	}
}

// Nothing happens while it cannot be found out whether an operation goes on. It is
// tried again.
func TestUnknownWhetherItGoesOn(t *testing.T) {
	for name, effect := range map[string]func(ctx context.Context, r *durable.Run, effects *int) error{
		"InTx": func(ctx context.Context, r *durable.Run, effects *int) error {
			return r.InTx(ctx, func(context.Context, *op.Call, *store.Tx) error { *effects++; return nil })
		},
		"Finish": func(ctx context.Context, r *durable.Run, effects *int) error {
			return r.Finish(ctx, func(context.Context, *op.Call, *store.Tx, *durable.Operation) error {
				*effects++
				return nil
			})
		},
		"FinishReadCommitted": func(ctx context.Context, r *durable.Run, effects *int) error {
			return r.FinishReadCommitted(ctx, func(context.Context, *op.Call, *store.Tx, *durable.Operation) error {
				*effects++
				return nil
			})
		},
	} {
		apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
			turns, effects := 0, 0
			w := begin(t, i, func(ctx context.Context, r *durable.Run) error {
				if turns++; turns > 1 {
					return r.Finish(ctx, succeed)
				}
				exec(t, i, "ALTER TABLE session RENAME TO away")
				defer exec(t, i, "ALTER TABLE away RENAME TO session")
				return effect(ctx, r, &effects)
			})
			w.cycle()
			if turns != 1 || effects != 0 {
				t.Errorf("%s: %d turns, %d effects", name, turns, effects)
			}
			i.Clock.Move(2 * time.Second)
			w.cycle()
			w.over("succeeded")
		})
	}
}

// An operation goes on when the reason to end it no longer holds.
func TestReasonToEndIsGone(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		turns, effects := 0, 0
		w := begin(t, i, func(ctx context.Context, r *durable.Run) error {
			if turns++; turns > 1 {
				return r.Finish(ctx, succeed)
			}
			exec(t, i, "UPDATE session SET ended_at = 1")
			defer exec(t, i, "UPDATE session SET ended_at = NULL")
			return r.InTx(ctx, func(context.Context, *op.Call, *store.Tx) error { effects++; return nil })
		})
		w.cycle()
		i.Clock.Move(2 * time.Second)
		w.cycle()
		w.over("succeeded")
		if turns != 2 || effects != 0 {
			t.Errorf("%d turns, %d effects", turns, effects)
		}
	})
}

// An operation that is cancelled while it is ended in a transaction that reads
// what is committed stays cancelled, and nothing else of that transaction stands.
func TestCancelledWhileItFinishes(t *testing.T) {
	i := apitest.New(t, "postgres", apitest.Options{})
	var w *atWork
	w = begin(t, i, func(ctx context.Context, r *durable.Run) error {
		return r.FinishReadCommitted(ctx, func(ctx context.Context, c *op.Call, tx *store.Tx,
			o *durable.Operation) error {
			if _, err := tx.Exec(ctx, "UPDATE app SET name = 'changed' WHERE id = ?", o.AppID); err != nil {
				return err
			}
			w.cancel("cancelled")
			return succeed(ctx, c, tx, o)
		})
	})
	w.cycle()
	w.over("cancelled")
	w.owner.Call("GET", "/apps/"+w.owner.AppID, nil).Want(200).Has("data.name", `"App"`)
}

// A cancelled operation that waits for a later turn takes it at once.
func TestCancelledWhileItWaits(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		w := begin(t, i, func(ctx context.Context, r *durable.Run) error {
			if err := r.InTx(ctx, func(context.Context, *op.Call, *store.Tx) error { return nil }); err != nil {
				return err
			}
			return r.Later(ctx, i.DB.Now().Add(time.Hour))
		})
		w.cycle()
		w.cancel("cancel_requested")
		w.cycle()
		w.over("cancelled")
	})
}

// An operation that was asked to stop is under way until it has stopped.
func TestCancelRequestedIsActive(t *testing.T) {
	apitest.EachWith(t, apitest.Options{LimitScale: 1}, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		batch := func() *apitest.Response {
			return owner.Call("POST", "/link-batches", M{"appId": owner.AppID, "items": []M{
				{"clientId": "a", "action": "create", "input": M{"appId": owner.AppID, "domain": owner.Host,
					"slug": "a"}}}})
		}
		for range 4 {
			batch().Want(202)
		}
		id := batch().Want(202).Text("data.id")
		exec(t, i, "UPDATE operation SET status = 'cancel_requested' WHERE status = 'queued'")
		batch().Refused(fault.RateLimited)
		for _, c := range []struct {
			kind, app, resource string
			want                bool
		}{
			{"batch", owner.AppID, id, true}, {"import", owner.AppID, id, false}, {"batch", "another", id, false},
			{"batch", owner.AppID, "another", false},
		} {
			active, err := durable.IsActive(t.Context(), i.DB, c.kind, c.app, c.resource)
			if active != c.want || err != nil {
				t.Errorf("%+v is under way: %t, %v", c, active, err)
			}
		}
		i.Clock.Move(31 * 24 * time.Hour)
		i.Sweep(t)
		if n, err := store.One(t.Context(), i.DB, store.Value[int64], `SELECT COUNT(*) FROM operation
			WHERE status = 'cancel_requested'`); n != 5 || err != nil {
			t.Errorf("%d are left after the sweep, %v", n, err)
		}
		exec(t, i, "UPDATE operation SET status = 'cancelled'")
		if active, err := durable.IsActive(t.Context(), i.DB, "batch", owner.AppID, id); active || err != nil {
			t.Errorf("what has ended is under way: %t, %v", active, err)
		}
	})
}
