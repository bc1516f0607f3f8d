package domain_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/waymarkhq/waymark/internal/apitest"
	"github.com/waymarkhq/waymark/internal/domain"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
)

// Whoever proves a hostname first gets it; all other claims end, and their owners are
// told.
func TestTakeOver(t *testing.T) {
	eachWorld(t, apitest.Options{}, func(t *testing.T, w *world) {
		ann, eve, bob := w.Prepared(t, "ann@example.com"), w.Prepared(t, "eve@example.com"), w.Prepared(t, "bob@example.com")
		eve.Call("POST", "/webhooks", M{"appId": eve.AppID, "url": "https://hooks.example.com/",
			"events": []string{"domain.status_changed"}}).Want(201)
		lost, lostProof := w.claim(t, eve, "go.example.com")
		other, _ := w.claim(t, bob, "go.example.com")
		won, proof := w.claim(t, ann, "go.example.com")
		before := eve.Call("GET", lost, nil).Want(200).Revision()
		w.add(t, proof, "go CNAME connect."+apitest.Zone+".")
		w.verify(t, ann, won).Has("data.status", `"succeeded"`)

		for c, path := range map[*apitest.Client]string{eve: lost, bob: other} {
			d := c.Call("GET", path, nil).Want(200).Has("data.detached", "true").Has("data.removalState", `"removed"`).
				Has("data.ownership", `"failed"`).Has("data.lastError.code", `"displaced"`).
				Has("data.publication.status", `"synced"`)
			c.Call("POST", path+"/verify", M{}, apitest.IfMatch(d.Revision())).Refused(fault.ResourceConflict)
			c.Call("POST", "/domains", M{"appId": c.AppID, "mode": "external", "hostname": "go.example.com"}).
				Refused(fault.ResourceConflict)
		}
		after := eve.Call("GET", lost, nil).Want(200).Revision()
		hook := eve.Call("GET", "/webhooks?appId="+eve.AppID, nil).Want(200).Text("data.0.id")
		// One event of its claim, one of its end.
		if n := eve.Call("GET", "/webhooks/"+hook+"/deliveries", nil).Want(200).Len("data"); n != 2 || before == after {
			t.Errorf("the owner of a displaced claim gets %d events, revision %s after %s", n, after, before)
		}
		// The other proof is of no use any more.
		w.add(t, lostProof)
		w.Settle(t)
		ann.Call("GET", won, nil).Want(200).Has("data.links", `"ready"`)
		// Nor for a claim that was made in the instant of the take-over, and stayed.
		if _, err := w.DB.Exec(t.Context(), `UPDATE domain SET detached = FALSE, removal_state = NULL, last_error = NULL
			WHERE id = ?`, lost[len("/domains/"):]); err != nil {
			t.Fatal(err)
		}
		w.verify(t, eve, lost).Has("data.status", `"failed"`).Has("data.error.code", `"resource_conflict"`)
		eve.Call("GET", lost, nil).Want(200).Has("data.ownership", `"failed"`).Has("data.links", `"pending"`)
		ann.Call("GET", won, nil).Want(200).Has("data.detached", "false").Has("data.links", `"ready"`)
	})
}

// A take-over of which a statement fails is an error, so that it is undone as a whole.
func TestTakeOverIsWhole(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		ann, eve := i.Prepared(t, "ann@example.com"), i.Prepared(t, "eve@example.com")
		eve.Call("POST", "/webhooks", M{"appId": eve.AppID, "url": "https://hooks.example.com/",
			"events": []string{"domain.status_changed"}}).Want(201)
		won := create(t, i, ann, M{"mode": "external", "hostname": "go.example.com"})
		lost := create(t, i, eve, M{"mode": "external", "hostname": "go.example.com"})
		storetest.Faulty(t, func(ctx context.Context) error {
			return i.DB.InTx(ctx, func(tx *store.Tx) error {
				beaten, err := domain.Prove(ctx, tx, won.Text("data.id"))
				if beaten && err == nil {
					t.Error("a claim is beaten by one that was never proved")
				}
				return err
			})
		})
		eve.Call("GET", "/domains/"+lost.Text("data.id"), nil).Want(200).Has("data.removalState", `"removed"`).
			Has("data.lastError.code", `"displaced"`)
		hook := eve.Call("GET", "/webhooks?appId="+eve.AppID, nil).Want(200).Text("data.0.id")
		if n := eve.Call("GET", "/webhooks/"+hook+"/deliveries", nil).Want(200).Len("data"); n != 2 {
			t.Errorf("%d events of a claim and its end", n)
		}
	})
}

// A claimant that proves the hostname while another one's proof is being stored is told so, and changes nothing.
func TestTakeOverBesideAnother(t *testing.T) {
	i := apitest.New(t, "postgres", apitest.Options{}) // SQLite has one writer at a time
	ann, eve := i.Prepared(t, "ann@example.com"), i.Prepared(t, "eve@example.com")
	won := create(t, i, ann, M{"mode": "external", "hostname": "go.example.com"}).Text("data.id")
	lost := create(t, i, eve, M{"mode": "external", "hostname": "go.example.com"}).Text("data.id")
	var ended atomic.Bool
	var proving sync.WaitGroup
	if err := i.DB.InTxReadCommitted(t.Context(), func(tx *store.Tx) error {
		if beaten, err := domain.Prove(t.Context(), tx, won); err != nil || beaten {
			return fmt.Errorf("%t, %w", beaten, err)
		}
		proving.Go(func() {
			defer ended.Store(true)
			if err := i.DB.InTxReadCommitted(t.Context(), func(tx *store.Tx) error {
				beaten, err := domain.Prove(t.Context(), tx, lost)
				if !beaten {
					t.Error("the hostname is given twice")
				}
				return err
			}); err != nil {
				t.Error(err)
			}
		})
		storetest.Eventually(t, "the other proof ends or waits", func() bool { return ended.Load() || storetest.Waiting(t, i.DB) > 0 })
		_, err := tx.Exec(t.Context(), "UPDATE domain SET ownership = 'verified', verified_at = ? WHERE id = ?", tx.Now, won)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	proving.Wait()
	ann.Call("GET", "/domains/"+won, nil).Want(200).Has("data.detached", "false").Has("data.ownership", `"verified"`)
}

// Of two claimants that both prove the hostname at the same instant one gets it.
func TestTakeOverRace(t *testing.T) {
	eachWorld(t, apitest.Options{}, func(t *testing.T, w *world) {
		ann, eve := w.Prepared(t, "ann@example.com"), w.Prepared(t, "eve@example.com")
		for _, hostname := range []string{"a.example.com", "b.example.com", "c.example.com", "d.example.com",
			"e.example.com"} {
			mine, proof := w.claim(t, ann, hostname)
			theirs, otherProof := w.claim(t, eve, hostname)
			w.add(t, proof, otherProof, hostname+". CNAME connect."+apitest.Zone+".")
			operations := map[*apitest.Client]*apitest.Response{
				ann: w.startVerification(t, ann, mine), eve: w.startVerification(t, eve, theirs)}
			w.Settle(t) // long jobs run side by side
			outcomes := map[string]int{}
			for c, r := range operations {
				o := w.end(t, c, r)
				outcomes[o.Text("data.status")+" "+o.Text("data.error.code")]++
			}
			if outcomes["succeeded "] != 1 || outcomes["failed resource_conflict"] != 1 {
				t.Errorf("%s: %v", hostname, outcomes)
			}
			holders, err := store.All(t.Context(), w.DB, store.Value[string], `SELECT app_id FROM domain WHERE hostname = ?
				AND NOT detached`, hostname)
			if err != nil || len(holders) != 1 {
				t.Errorf("%s is held by %q, %v", hostname, holders, err)
			}
		}
	})
}
