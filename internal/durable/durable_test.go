package durable_test

import (
	"strings"
	"testing"
	"time"

	"github.com/waymarkhq/waymark/internal/apitest"
	"github.com/waymarkhq/waymark/internal/durable"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/store"
)

type M = apitest.M

// started starts an operation, a batch of one item.
func started(c *apitest.Client) (path string) {
	return c.Call("POST", "/link-batches", M{"appId": c.AppID, "items": []M{
		{"clientId": "a", "action": "create", "input": M{"appId": c.AppID, "domain": c.Host, "slug": "a"}}}}).
		Want(202).Header.Get("Location")[3:]
}

func exec(t *testing.T, i *apitest.Installation, statements ...string) {
	t.Helper()
	for _, s := range statements {
		if _, err := i.DB.Exec(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
}

// The internal operation that does nothing goes the way of all others.
func TestNoop(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		path := started(owner)
		exec(t, i, "UPDATE operation SET type = 'foundation.noop' WHERE status = 'queued'", `UPDATE job
			SET kind = 'foundation.noop'`)
		i.Settle(t)
		owner.Call("GET", path, nil).Want(200).Has("data.status", `"succeeded"`).Has("data.type", `"foundation.noop"`).
			Has("data.result.resource.type", `"app"`)
	})
}

// Work that fails five times ends as failed, with an error that tells nothing
// of its cause.
func TestAttemptsExhausted(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		owner.Call("POST", "/webhooks", M{"appId": owner.AppID, "url": "https://hooks.example.com/",
			"events": []string{"operation.failed"}}).Want(201)
		path := started(owner)
		exec(t, i, "DELETE FROM automation_job")
		for range 5 {
			owner.Call("GET", path, nil).Want(200).Has("data.status", `"queued"`)
			if i.Cycle(t) != 1 {
				t.Fatal("the job is not tried")
			}
			i.Clock.Move(15 * time.Second)
		}
		r := owner.Call("GET", path, nil).Want(200).Has("data.status", `"failed"`).
			Has("data.error.code", `"attempts_exhausted"`).Has("data.result", "null")
		owner.Call("GET", "/webhooks?appId="+owner.AppID, nil).Want(200)
		id := owner.Call("GET", "/webhooks?appId="+owner.AppID, nil).Want(200).Text("data.0.id")
		owner.Call("GET", "/webhooks/"+id+"/deliveries", nil).Want(200).Has("data.0.eventType", `"operation.failed"`).
			Has("data.1", "")
		owner.Call("POST", path+"/cancel", M{}, apitest.IfMatch(r.Revision())).Want(202).Has("data.status", `"failed"`)
		if i.Cycle(t) != 0 {
			t.Error("it is tried once more")
		}
	})
}

// Finished operations go thirty days later; those under way stay, with what they
// work on.
func TestRetention(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner, other := i.Prepared(t, "ann@example.com"), i.Prepared(t, "bob@example.com")
		done := started(owner)
		i.Settle(t)
		waiting := started(other)
		i.Clock.Move(30 * 24 * time.Hour)
		owner, other = i.Owner(t, "ann@example.com"), i.Owner(t, "bob@example.com")
		i.Sweep(t)
		owner.Call("GET", done, nil).Want(200)
		i.Clock.Move(time.Microsecond)
		i.Sweep(t)
		owner.Call("GET", done, nil).Refused(fault.NotFound)
		other.Call("GET", waiting, nil).Want(200).Has("data.status", `"queued"`)
		exec(t, i, "UPDATE operation SET status = 'running' WHERE status = 'queued'",
			"UPDATE automation_job SET state = 'running' WHERE state = 'queued'")
		i.Sweep(t)
		i.Settle(t)
		batch := other.Call("GET", waiting, nil).Want(200).Text("data.result.resource.id")
		other.Call("GET", "/link-batches/"+batch+"/items", nil).Want(200).Has("data.0.state", `"succeeded"`)
	})
}

func TestCancelRefusals(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner, eve := i.Prepared(t, "ann@example.com"), i.Prepared(t, "eve@example.com")
		path := started(owner)
		before := owner.Call("GET", path, nil).Want(200).Revision()
		eve.Call("GET", path, nil).Refused(fault.NotFound)
		eve.Call("POST", path+"/cancel", M{}).Refused(fault.NotFound)
		owner.Key("operations:read").Call("POST", path+"/cancel", M{}).Refused(fault.InsufficientPermission)
		owner.Call("POST", path+"/cancel", M{"now": true}).Refused(fault.ValidationFailed)
		i.Settle(t)
		owner.Call("POST", path+"/cancel", M{}, apitest.IfMatch(before)).Refused(fault.RevisionConflict)
		owner.Call("POST", path+"/cancel", M{}).Want(202).Has("data.status", `"succeeded"`)
	})
}

// An operation whose type no work has, of a newer version, stays as it is: its cancellation is an internal error whose cause
// is logged.
func TestCancelUnknownWork(t *testing.T) {
	var log apitest.Journal
	apitest.EachWith(t, apitest.Options{Log: &log}, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		path := started(owner)
		exec(t, i, "UPDATE operation SET type = 'novel' WHERE status = 'queued'")
		owner.Call("POST", path+"/cancel", M{}).Refused(fault.Internal)
		want := "cancel operation " + strings.TrimPrefix(path, "/operations/") + ": no work is of type novel"
		if !strings.Contains(log.String(), want) {
			t.Errorf("%q is not logged", want)
		}
		exec(t, i, "UPDATE operation SET type = 'batch' WHERE type = 'novel'")
		owner.Call("GET", path, nil).Want(200).Has("data.status", `"queued"`)
	})
}

// The app of a cancelled operation may go before the executor has come to its
// job.
func TestGoneWithItsApp(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		path := started(owner)
		owner.Call("POST", path+"/cancel", M{}).Want(202).Has("data.status", `"cancelled"`)
		exec(t, i, "DELETE FROM operation")
		if i.Cycle(t) != 1 || i.Cycle(t) != 0 {
			t.Error("the job of an operation that is gone does not end")
		}
	})
}

// What reads only what is committed cannot overwrite a cancellation.
func TestChangedMeanwhile(t *testing.T) {
	i := apitest.New(t, "postgres", apitest.Options{})
	owner := i.Prepared(t, "ann@example.com")
	path := started(owner)
	err := i.DB.InTxReadCommitted(t.Context(), func(tx *store.Tx) error {
		o, err := durable.Load(t.Context(), tx, strings.TrimPrefix(path, "/operations/"))
		if err != nil {
			return err
		}
		owner.Call("POST", path+"/cancel", M{}).Want(202).Has("data.status", `"cancelled"`)
		return o.Finish(t.Context(), tx, durable.Result{})
	})
	if err == nil {
		t.Error("an operation was ended that another transaction had ended")
	}
	owner.Call("GET", path, nil).Want(200).Has("data.status", `"cancelled"`)
}

// An app is kept by work that goes on, and by none that has ended.
func TestWorkKeepsItsApp(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		id := strings.TrimPrefix(started(owner), "/operations/")
		app := "/apps/" + owner.AppID
		match := apitest.IfMatch(owner.Call("GET", app, nil).Revision())
		for _, status := range []string{"queued", "running", "cancel_requested", "succeeded", "failed", "cancelled"} {
			exec(t, i, "UPDATE operation SET status = '"+status+"' WHERE id = '"+id+"'")
			goesOn := status == "queued" || status == "running" || status == "cancel_requested"
			kept := owner.Call("DELETE", app, nil, match).Refused(fault.ResourceConflict).Value("error.dependencies")
			if strings.Contains(kept, `{"type":"operation","count":1,"ids":["`+id+`"]}`) != goesOn {
				t.Errorf("work that is %s: the app is kept by %s", status, kept)
			}
		}
	})
}
