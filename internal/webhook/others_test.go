package webhook_test

import (
	"strings"
	"testing"

	"github.com/waymarkhq/waymark/internal/apitest"
	"github.com/waymarkhq/waymark/internal/delivery"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/webhook"
)

// Whatever happens to a destination, the others stay as they are: those of its app, and
// those of other accounts when the app goes.
func TestOtherDestinationsStay(t *testing.T) {
	each(t, func(t *testing.T, i *apitest.Installation, r *receiver) {
		ann, bob := i.Prepared(t, "ann@example.com"), i.Prepared(t, "bob@example.com")
		w := register(t, ann, M{"events": []string{linkCreated}})
		beside := register(t, ann, M{"events": []string{linkDeleted}})
		foreign := register(t, bob, M{"events": []string{linkDeleted}})
		for _, appID := range []string{ann.AppID, bob.AppID} { // a delivery that waits for another attempt, and one that is over
			for range 2 {
				if err := i.DB.InTx(t.Context(), func(tx *store.Tx) error {
					return delivery.Emit(t.Context(), tx, delivery.LinkDeleted, linkOf(appID))
				}); err != nil {
					t.Fatal(err)
				}
			}
		}
		exec(t, i.DB, "UPDATE webhook_delivery SET due_at = due_at + 3600000000, attempts = 1")
		exec(t, i.DB, `UPDATE webhook_delivery SET due_at = NULL, state = 'failed' WHERE id IN (SELECT MIN(id) FROM webhook_delivery
			GROUP BY webhook_id)`)
		state := func(ids ...string) string {
			t.Helper()
			var all []string
			for _, id := range ids {
				for _, query := range []string{
					`SELECT id || ' ' || url || ' ' || CAST(enabled AS TEXT) || COALESCE(hold, '-') ||
						CAST(consecutive_failures AS TEXT) || COALESCE(CAST(last_success_at AS TEXT), '-') ||
						COALESCE(CAST(last_failure_at AS TEXT), '-') || secret || revision ||
						COALESCE(CAST(deleted_at AS TEXT), '-') FROM webhook WHERE id = ?`,
					`SELECT id || ' ' || state || CAST(attempts AS TEXT) || CAST(lease_no AS TEXT) ||
						COALESCE(CAST(due_at AS TEXT), '-') || COALESCE(error_code, '-') || revision
						FROM webhook_delivery WHERE webhook_id = ? ORDER BY id`,
					"SELECT app_id || ' ' || type FROM webhook_subscription WHERE webhook_id = ? ORDER BY type",
				} {
					rows, err := store.All(t.Context(), i.DB, store.Value[string], query, id)
					if err != nil {
						t.Fatal(err)
					}
					if len(rows) == 0 {
						t.Errorf("nothing is left of %s", id)
					}
					all = append(all, rows...)
				}
			}
			return strings.Join(all, "\n")
		}
		send := func(status int) {
			t.Helper()
			r.answers(always(status))
			emit(t, i, ann.AppID, 1)
			i.Deliver(t)
		}
		before, beforeForeign := state(beside.id, foreign.id), state(foreign.id)
		for _, step := range []struct {
			what, states string
			f            func()
		}{
			{"a success", "succeeded", func() { send(204) }},
			{"a failure", "succeeded pending:http_status", func() { send(500) }},
			{"a change", "succeeded cancelled:configuration_changed", func() {
				w.patch(M{"description": "changed"})
			}},
			{"too many failures", "succeeded cancelled:configuration_changed cancelled:suspended", func() {
				exec(t, i.DB, "UPDATE webhook SET consecutive_failures = 9 WHERE id = ?", w.id)
				send(500)
			}},
			{"another secret", "succeeded cancelled:configuration_changed cancelled:suspended", func() {
				w.patch(M{"enabled": false})
				w.patch(M{"enabled": true})
				w.c.Call("POST", w.path+"/rotate-secret", M{"overlapSeconds": 0}, apitest.IfMatch(w.get().Revision())).Want(200)
			}},
			{"lost authorization", "succeeded cancelled:configuration_changed cancelled:suspended cancelled:authorization_lost",
				func() {
					exec(t, i.DB, "UPDATE webhook SET authorized_until = 1 WHERE id = ?", w.id)
					send(204)
				}},
			{"its end", "", func() {
				w.c.Call("DELETE", w.path, nil, apitest.IfMatch(w.get().Revision())).Want(204)
			}},
		} {
			step.f()
			if step.states != "" {
				w.wantStates(step.states)
			}
			if after := state(beside.id, foreign.id); after != before {
				t.Errorf("after %s the others are\n%s\nwant\n%s", step.what, after, before)
			}
		}
		if err := i.DB.InTxReadCommitted(t.Context(), func(tx *store.Tx) error {
			return webhook.RemoveApp(t.Context(), tx, "", ann.AppID)
		}); err != nil {
			t.Fatal(err)
		}
		if after := state(foreign.id); after != beforeForeign {
			t.Errorf("without the app another account has\n%s\nwant\n%s", after, beforeForeign)
		}
	})
}

// Of a destination to which nothing more is sent, what is under way ends by itself.
func TestCancelWaiting(t *testing.T) {
	each(t, func(t *testing.T, i *apitest.Installation, _ *receiver) {
		w := register(t, i.Prepared(t, "ann@example.com"), nil)
		emit(t, i, w.c.AppID, 3)
		exec(t, i.DB, `UPDATE webhook_delivery SET state = 'delivering' WHERE id = (SELECT MIN(id) FROM webhook_delivery)`)
		if err := i.DB.InTx(t.Context(), func(tx *store.Tx) error {
			return delivery.CancelWaiting(t.Context(), tx, w.id, delivery.Suspended)
		}); err != nil {
			t.Fatal(err)
		}
		w.wantStates("delivering cancelled:suspended cancelled:suspended")
	})
}
