package domain_test

import (
	"context"
	"errors"
	"strings"
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

// No certificate is ordered before it is said that one is.
func TestIssuingIsToldFirst(t *testing.T) {
	orders := 0
	o := apitest.Options{}
	o.Domains.Certify = func(context.Context, string) error { orders++; return nil }
	apitest.EachWith(t, o, func(t *testing.T, i *apitest.Installation) {
		w, owner := &world{Installation: i}, i.Prepared(t, "ann@example.com")
		begun := w.startVerification(t, owner, domainOf(owner))
		cause := errors.New("the database is full")
		orders = 0
		if _, err := i.CycleIn(store.WithFaults(t.Context(), func(query string) error {
			if strings.HasPrefix(query, "UPDATE domain SET ownership") {
				return cause
			}
			return nil
		})); err != nil || orders != 0 {
			t.Errorf("%d certificates are ordered, %v", orders, err)
		}
		cause = nil
		w.end(t, owner, begun)
		if owner.Call("GET", domainOf(owner), nil).Want(200).Has("data.https", `"pending"`); orders == 0 {
			t.Error("none is ordered later")
		}
	})
}

// While a domain leaves nothing of it changes, and then its diagnostics say that it
// left. It keeps its app from being deleted, as does its record for a while; the record of a claim does not.
func TestLeaving(t *testing.T) {
	eachWorld(t, apitest.Options{}, func(t *testing.T, w *world) {
		owner := w.Prepared(t, "ann@example.com")
		path := w.ready(t, owner, "go.example.com")
		d := owner.Call("GET", path, nil).Want(200)
		kept := func() *apitest.Response {
			app := "/apps/" + owner.AppID
			return owner.Call("DELETE", app, nil, apitest.IfMatch(owner.Call("GET", app, nil).Revision())).
				Refused(fault.ResourceConflict).Has("error.dependencies.0.type", `"domain"`)
		}
		kept().Has("error.dependencies.0.count", "2").Has("error.dependencies.1", "")
		w.Clock.Move(time.Minute)
		detachNow(owner, d).Want(202)
		with := apitest.IfMatch(d.Revision())
		owner.Call("POST", path+"/verify", M{}, with).Refused(fault.ResourceConflict)
		owner.Call("PUT", path+"/web-config", M{"rootUrl": nil, "notFoundUrl": nil, "robots": "index",
			"redirectStatus": 302}, with).Refused(fault.ResourceConflict)
		owner.Call("PUT", path+"/template-defaults", M{"defaults": M{"android": M{"mode": "official"}}}, with).
			Refused(fault.ResourceConflict).Has("error.message", `"The domain is being detached already."`)
		w.Settle(t)
		owner.Call("GET", path+"/diagnostics", nil).Want(200).Has("data.checks.1.status", `"skipped"`).
			Has("data.checks.1.message", `"The domain is detached."`)
		kept().Has("error.dependencies.0.count", "1").Has("error.dependencies.1.type", `"removed_domain"`).
			Has("error.dependencies.1.count", "1")

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

// underWay begins something that an owner can cancel, of each kind, and returns the path of its domain and that of its
// operation.
func underWay(t *testing.T, i *apitest.Installation, owner *apitest.Client) map[string]func(name string) (domain,
	operation string) {
	path := func(r *apitest.Response) string { return "/operations/" + r.Want(202).Text("data.id") }
	return map[string]func(name string) (domain, operation string){
		"creation": func(name string) (string, string) {
			operation := path(owner.Call("POST", "/domains", M{"appId": owner.AppID, "mode": "platform", "prefix": name}))
			return domainOf(owner), operation // the newest stands first
		},
		"detachment": func(name string) (string, string) {
			d := create(t, i, owner, M{"mode": "platform", "prefix": name})
			return "/domains/" + d.Text("data.id"), path(detachNow(owner, d))
		},
		"verification": func(name string) (string, string) {
			d := "/domains/" + create(t, i, owner, M{"mode": "external", "hostname": name + ".example.com"}).Text("data.id")
			return d, path((&world{Installation: i}).startVerification(t, owner, d))
		},
	}
}

// A cancellation of which a statement fails changes nothing, neither of the operation nor of its domain.
func TestCancellationIsWhole(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		owner.Call("POST", "/webhooks", M{"appId": owner.AppID, "url": "https://hooks.example.com/",
			"events": []string{"domain.status_changed"}}).Want(201)
		for name, begin := range underWay(t, i, owner) {
			domain, operation := begin(name)
			apitest.EveryStatement(t, name, func(with apitest.With) *apitest.Response {
				return owner.Call("POST", operation+"/cancel", M{}, with)
			}, func() string {
				return owner.Call("GET", operation, nil).Value("data") + owner.Call("GET", domain, nil).Value("data")
			}).Want(202).Has("data.status", `"cancelled"`)
			switch d := owner.Call("GET", domain, nil); name {
			case "creation":
				d.Refused(fault.NotFound)
			case "detachment":
				d.Want(200).Has("data.removalState", "null")
			default:
				d.Want(200).Has("data.ownership", `"unverified"`)
			}
		}
	})
}

// A call of which a statement fails is an internal error, and its domain stays as it was.
func TestCallsAreWhole(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		path, app := domainOf(owner), "/apps/"+owner.AppID
		shows := M{"rootUrl": "https://www.example.com/", "notFoundUrl": "https://www.example.com/lost"}
		for _, c := range []struct {
			method, path string
			body         any
		}{
			{"PUT", path + "/native-config", M{"android": nil}}, {"PUT", path + "/web-config", shows},
			{"PUT", path + "/recovery-config", M{"enabled": true}},
			{"PATCH", app, M{"scheme": "shop", "iosTeamId": "A1B2C3D4E5", "iosBundleId": "com.example.shop"}},
			{"GET", "/domains?appId=" + owner.AppID, nil}, {"GET", path, nil}, {"GET", path + "/capabilities", nil},
			{"GET", path + "/diagnostics", nil}, {"GET", path + "/native-config", nil}, {"GET", path + "/web-config", nil},
			{"GET", path + "/recovery-config", nil},
		} {
			held := path
			if c.path == app {
				held = app
			}
			apitest.EveryStatement(t, c.method+" "+c.path, func(with apitest.With) *apitest.Response {
				return owner.Call(c.method, c.path, c.body, apitest.IfMatch(owner.Call("GET", held, nil).Revision()), with)
			}, func() string { return owner.Call("GET", path, nil).Value("data") }).Want(200)
		}
	})
}

// An operation on a domain that is gone can be cancelled all the same, and one on a domain that is detached changes nothing
// more of it.
func TestCancelWithoutDomain(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		exec := func(statement, domain string) {
			t.Helper()
			if _, err := i.DB.Exec(t.Context(), statement, strings.TrimPrefix(domain, "/domains/")); err != nil {
				t.Fatal(err)
			}
		}
		for name, begin := range underWay(t, i, owner) {
			domain, operation := begin(name)
			exec("DELETE FROM domain WHERE id = ?", domain)
			owner.Call("POST", operation+"/cancel", M{}).Want(202).Has("data.status", `"cancelled"`)
		}
		domain, operation := underWay(t, i, owner)["verification"]("late")
		exec("UPDATE domain SET detached = TRUE, removal_state = 'removed' WHERE id = ?", domain)
		before := owner.Call("GET", domain, nil).Want(200).Has("data.ownership", `"pending"`)
		owner.Call("POST", operation+"/cancel", M{}).Want(202).Has("data.status", `"cancelled"`)
		owner.Call("GET", domain, nil).Want(200).Has("data", before.Value("data"))
	})
}

// The verification of a claim that was given up, or detached, meanwhile ends by saying so, and nothing of it is recorded.
func TestVerifyOfWhatIsGone(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		w, owner := &world{Installation: i}, i.Prepared(t, "ann@example.com")
		ends := func(verification *apitest.Response) {
			t.Helper()
			w.Clock.Move(time.Hour)
			owner.Credential = i.Owner(t, "ann@example.com").Credential
			w.Settle(t)
			w.end(t, owner, verification).Has("data.status", `"failed"`).Has("data.error",
				`{"code":"domain_detached","message":"The domain was detached meanwhile."}`)
		}
		creation := owner.Call("POST", "/domains", M{"appId": owner.AppID, "mode": "external",
			"hostname": "a.example.com"}).Want(202)
		path := domainOf(owner)
		verification := w.startVerification(t, owner, path)
		owner.Call("POST", "/operations/"+creation.Text("data.id")+"/cancel", M{}).Want(202)
		owner.Call("GET", path, nil).Refused(fault.NotFound)
		ends(verification)

		d := create(t, i, owner, M{"mode": "external", "hostname": "b.example.com"})
		path = "/domains/" + d.Text("data.id")
		verification = w.startVerification(t, owner, path)
		if _, err := i.DB.Exec(t.Context(), "UPDATE job SET run_after = ? WHERE kind = 'domain.verify'",
			i.DB.Now().Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
		detachNow(owner, d).Want(202)
		i.Settle(t)
		before := owner.Call("GET", path, nil).Want(200).Has("data.detached", "true").Has("data.lastCheckedAt", "null")
		ends(verification)
		owner.Call("GET", path, nil).Want(200).Has("data", before.Value("data"))
	})
}
