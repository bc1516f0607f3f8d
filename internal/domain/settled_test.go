package domain_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/waymarkhq/waymark/internal/apitest"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
)

// What was proved before its creation was cancelled is a confirmed effect: it stays,
// and can be detached like any other domain.
func TestCancelCreationOfProved(t *testing.T) {
	eachWorld(t, apitest.Options{}, func(t *testing.T, w *world) {
		owner := w.Prepared(t, "ann@example.com")
		r := owner.Call("POST", "/domains", M{"appId": owner.AppID, "mode": "external",
			"hostname": "go.example.com"}).Want(202)
		path := "/domains/" + owner.Call("GET", "/domains?limit=1&appId="+owner.AppID, nil).Want(200).Text("data.0.id")
		d := owner.Call("GET", path, nil).Want(200)
		w.add(t, d.Text("data.challenge.name")+". TXT "+d.Text("data.challenge.value"), "go CNAME connect."+apitest.Zone+".")
		// The verification is done before the creation has its turn.
		if _, err := w.DB.Exec(t.Context(), "UPDATE job SET run_after = ? WHERE kind = 'domain.create'",
			w.DB.Now().Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
		w.verify(t, owner, path).Has("data.status", `"succeeded"`)
		owner.Call("POST", "/operations/"+r.Text("data.id")+"/cancel", M{}).Want(202).Has("data.status", `"cancelled"`)
		w.Settle(t)
		d = owner.Call("GET", path, nil).Want(200).Has("data.links", `"ready"`)
		detachNow(owner, d).Want(202)
		w.Settle(t)
		if left, err := store.Exists(t.Context(), w.DB, "SELECT 1 FROM route WHERE hostname = 'go.example.com'"); left ||
			err != nil {
			t.Errorf("a route is left: %v, %v", left, err)
		}
	})
}

// A domain that works never stays issuing after its certificate could not be got.
func TestIssuingEnds(t *testing.T) {
	o := apitest.Options{}
	o.Domains.Certify = func(context.Context, string) error { return errors.New("no certificate today") }
	eachWorld(t, o, func(t *testing.T, w *world) {
		owner := w.Prepared(t, "ann@example.com")
		path := "/domains/" + owner.Call("GET", "/domains?appId="+owner.AppID, nil).Want(200).Text("data.0.id")
		w.verify(t, owner, path).Has("data.error.code", `"certificate_failed"`)
		owner.Call("GET", path, nil).Want(200).Has("data.links", `"ready"`).Has("data.https", `"pending"`)
		owner.Call("GET", path+"/diagnostics", nil).Want(200).Has("data.checks.2.status", `"failed"`).
			Has("data.checks.3.message", `"The hostname has no certificate yet."`)
	})
}

// While a domain leaves nothing of it changes, and then its diagnostics say that it
// left. The record of a claim does not keep its app from being deleted.
func TestLeaving(t *testing.T) {
	eachWorld(t, apitest.Options{}, func(t *testing.T, w *world) {
		owner := w.Prepared(t, "ann@example.com")
		path := w.ready(t, owner, "go.example.com")
		d := owner.Call("GET", path, nil).Want(200)
		w.Clock.Move(time.Minute)
		detachNow(owner, d).Want(202)
		with := apitest.IfMatch(d.Revision())
		owner.Call("POST", path+"/verify", M{}, with).Refused(fault.ResourceConflict)
		owner.Call("PUT", path+"/web-config", M{"rootUrl": nil, "notFoundUrl": nil, "robots": "index",
			"redirectStatus": 302}, with).Refused(fault.ResourceConflict)
		w.Settle(t)
		owner.Call("GET", path+"/diagnostics", nil).Want(200).Has("data.checks.1.status", `"skipped"`).
			Has("data.checks.1.message", `"The domain is detached."`)

		other := *owner
		other.AppID = owner.Call("POST", "/apps", M{"name": "Other"}).Want(201).Text("data.id")
		detachNow(&other, create(t, w.Installation, &other, M{"mode": "external", "hostname": "go.example.net"})).Want(202)
		w.Settle(t)
		app := owner.Call("GET", "/apps/"+other.AppID, nil).Want(200)
		owner.Call("DELETE", "/apps/"+other.AppID, nil, apitest.IfMatch(app.Revision())).Want(204)
	})
}

// An owner whose provider the operator gave up can detach a managed domain all the
// same; what is at the provider is the operator's.
func TestDetachWithoutProvider(t *testing.T) {
	for _, engine := range storetest.Engines {
		t.Run(engine, func(t *testing.T) {
			o := managedBy(&away{})
			database := storetest.Address(t, engine)
			i := apitest.New(t, engine, apitest.Options{Domains: o, Database: database})
			owner := i.Prepared(t, "ann@example.com")
			d := create(t, i, owner, M{"mode": "managed", "hostname": "go.example.org"})
			proved(t, i, o, d.Text("data.id"))
			i.Settle(t)
			i = apitest.New(t, engine, apitest.Options{Database: database})
			owner = i.Owner(t, "ann@example.com")
			detachNow(owner, d).Want(202)
			for range 3 {
				i.Settle(t)
				i.Clock.Move(time.Second)
			}
			owner.Call("GET", "/domains/"+d.Text("data.id"), nil).Want(200).Has("data.removalState", `"removed"`)
		})
	}
}
