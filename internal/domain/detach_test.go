package domain_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/waymarkhq/waymark/internal/apitest"
	"github.com/waymarkhq/waymark/internal/dependents"
	"github.com/waymarkhq/waymark/internal/domain"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/store"
)

// create makes a domain and returns its answer once the creation is done.
func create(t *testing.T, i *apitest.Installation, c *apitest.Client, body M) *apitest.Response {
	t.Helper()
	body["appId"] = c.AppID
	r := c.Call("POST", "/domains", body).Want(202)
	i.Settle(t)
	done := c.Call("GET", "/operations/"+r.Text("data.id"), nil).Want(200).Has("data.status", `"succeeded"`)
	return c.Call("GET", "/domains/"+done.Text("data.result.resource.id"), nil).Want(200)
}

// detachNow detaches a domain and returns the operation.
func detachNow(c *apitest.Client, d *apitest.Response) *apitest.Response {
	return c.Call("DELETE", "/domains/"+d.Text("data.id"), nil, apitest.IfMatch(d.Revision()))
}

func TestDetach(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner, eve := i.Prepared(t, "ann@example.com"), i.Prepared(t, "eve@example.com")
		d := create(t, i, owner, M{"mode": "platform", "prefix": "go"})
		path, host := "/domains/"+d.Text("data.id"), d.Text("data.hostname")
		link := owner.Link("a", M{"domain": host}).Want(201)
		i.Settle(t)
		visit := func(status int) {
			t.Helper()
			i.Visit(t, "https://"+host+"/a", nil, func(r *http.Response) bool { return r.StatusCode == status })
		}
		visit(302)

		// What depends on the domain keeps it, and what depends on another one does not.
		eve.Link("a", nil).Want(201)
		its := "/apps/" + eve.AppID
		eve.Call("PATCH", its, M{"defaultDomain": eve.Host}, apitest.IfMatch(eve.Call("GET", its, nil).Revision())).Want(200)
		detachNow(owner, d).Refused(fault.ResourceConflict).
			Has("error.dependencies", `[{"type":"link","count":1,"ids":["`+link.Text("data.id")+`"]}]`)
		owner.Call("DELETE", "/links/"+apitest.Path(link.Text("data.id")), nil, apitest.IfMatch(link.Revision())).Want(204)
		app := owner.Call("GET", "/apps/"+owner.AppID, nil).Want(200)
		app = owner.Call("PATCH", "/apps/"+owner.AppID, M{"defaultDomain": host}, apitest.IfMatch(app.Revision())).Want(200)
		detachNow(owner, d).Refused(fault.ResourceConflict).Has("error.dependencies.0.type", `"app"`)
		owner.Call("PATCH", "/apps/"+owner.AppID, M{"defaultDomain": nil}, apitest.IfMatch(app.Revision())).Want(200)

		owner.Call("DELETE", path, nil).Refused(fault.PreconditionRequired)
		owner.Call("DELETE", path, nil, apitest.IfMatch(link.Revision())).Refused(fault.RevisionConflict)
		eve.Call("DELETE", path, nil, apitest.IfMatch(d.Revision())).Refused(fault.NotFound)
		owner.Key("domains:read").Call("DELETE", path, nil, apitest.IfMatch(d.Revision())).
			Refused(fault.InsufficientPermission)

		started := detachNow(owner, d).Want(202).Has("data.type", `"domain.detach"`)
		owner.Call("GET", path, nil).Want(200).Has("data.removalState", `"pending"`).Has("data.detached", "false")
		owner.Link("b", M{"domain": host}).Refused(fault.ValidationFailed)
		detachNow(owner, d).Refused(fault.ResourceConflict)
		i.Settle(t)
		owner.Call("GET", "/operations/"+started.Text("data.id"), nil).Want(200).Has("data.status", `"succeeded"`).
			Has("data.result.resource.id", `"`+d.Text("data.id")+`"`)
		gone := owner.Call("GET", path, nil).Want(200).Has("data.removalState", `"removed"`).Has("data.detached", "true").
			Has("data.links", `"blocked"`).Has("data.publication.status", `"synced"`)
		if gone.Revision() == d.Revision() {
			t.Error("the detached domain has its old revision")
		}
		visit(404)
		detachNow(owner, gone).Refused(fault.ResourceConflict)
		if n := owner.Call("GET", "/domains?detached=true&appId="+owner.AppID, nil).Want(200).Len("data"); n != 1 {
			t.Errorf("%d detached domains", n)
		}
		if n := owner.Call("GET", "/domains?detached=false&appId="+owner.AppID, nil).Want(200).Len("data"); n != 1 {
			t.Errorf("%d domains that are not detached", n)
		}

		// The hostname is free for others; the record is kept for a while.
		other := create(t, i, eve, M{"mode": "platform", "prefix": "go"})
		if other.Text("data.hostname") != host {
			t.Errorf("the new domain is %s", other.Text("data.hostname"))
		}
		i.Clock.Move(dependents.Retention - time.Second)
		i.Sweep(t)
		owner = again(t, i, owner)
		owner.Call("GET", path, nil).Want(200)
		i.Clock.Move(time.Second)
		i.Sweep(t)
		owner.Call("GET", path, nil).Refused(fault.NotFound)
	})
}

// again is the client with a new session.
func again(t *testing.T, i *apitest.Installation, c *apitest.Client) *apitest.Client {
	fresh := i.Owner(t, "ann@example.com")
	fresh.AppID, fresh.Host = c.AppID, c.Host
	return fresh
}

// A removal that is cancelled before it began leaves the domain as it was, and any other, too; a claim
// that was never proved can be detached as well.
func TestDetachCancelled(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		claim := create(t, i, owner, M{"mode": "external", "hostname": "go.example.org"})
		detachNow(owner, claim).Want(202)
		i.Settle(t)
		removed := owner.Call("GET", "/domains/"+claim.Text("data.id"), nil).Want(200).Has("data.removalState", `"removed"`)
		create(t, i, owner, M{"mode": "external", "hostname": "go.example.org"})

		d := create(t, i, owner, M{"mode": "platform", "prefix": "go"})
		started := detachNow(owner, d).Want(202)
		owner.Call("POST", "/operations/"+started.Text("data.id")+"/cancel", nil).Want(202).
			Has("data.status", `"cancelled"`)
		i.Settle(t)
		d = owner.Call("GET", "/domains/"+d.Text("data.id"), nil).Want(200).Has("data.removalState", "null").
			Has("data.links", `"ready"`)
		owner.Link("a", M{"domain": d.Text("data.hostname")}).Want(201)
		owner.Call("GET", "/domains/"+claim.Text("data.id"), nil).Want(200).Has("data", removed.Value("data"))
	})
}

// Once the hostname is free, a removal that cannot be finished has failed, and can be
// started again.
func TestDetachFailed(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		d := create(t, i, owner, M{"mode": "platform", "prefix": "go"})
		exec := func(statement string) {
			t.Helper()
			if _, err := i.DB.Exec(t.Context(), statement); err != nil {
				t.Fatal(err)
			}
		}
		// It can neither be taken away from visitors, nor can its records be removed.
		for _, away := range [][2]string{
			{"UPDATE sequence SET name = 'away' WHERE name = 'route_change'",
				"UPDATE sequence SET name = 'route_change' WHERE name = 'away'"},
			{"ALTER TABLE dns_record_set RENAME TO away", "ALTER TABLE away RENAME TO dns_record_set"},
		} {
			started := detachNow(owner, d).Want(202)
			exec(away[0])
			for range 6 {
				i.Cycle(t)
				i.Clock.Move(15 * time.Second)
			}
			exec(away[1])
			owner.Call("GET", "/operations/"+started.Text("data.id"), nil).Want(200).Has("data.status", `"failed"`)
			d = owner.Call("GET", "/domains/"+d.Text("data.id"), nil).Want(200).Has("data.removalState", `"failed"`).
				Has("data.detached", "true")
		}
		apitest.EveryStatement(t, "the detachment", func(with apitest.With) *apitest.Response {
			return owner.Call("DELETE", "/domains/"+d.Text("data.id"), nil, apitest.IfMatch(d.Revision()), with)
		}, func() string { return owner.Call("GET", "/domains/"+d.Text("data.id"), nil).Value("data") }).Want(202)
		i.Settle(t)
		owner.Call("GET", "/domains/"+d.Text("data.id"), nil).Want(200).Has("data.removalState", `"removed"`)
	})
}

// A domain and a link on it never part: of a link and a removal at the same time one
// is refused.
func TestDetachAgainstLinks(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		for n := range 8 {
			d := create(t, i, owner, M{"mode": "platform", "prefix": fmt.Sprintf("go%d", n)})
			linked := make(chan int)
			go func() { linked <- owner.Link("a", M{"domain": d.Text("data.hostname")}).Status }()
			removed := detachNow(owner, d).Status
			if made := <-linked; (made == 201) == (removed == 202) {
				t.Errorf("the link got %d, the removal %d", made, removed)
			}
		}
	})
}

func TestDomainsPerApp(t *testing.T) {
	apitest.EachWith(t, apitest.Options{LimitScale: 1, Domains: domain.Options{PerApp: 2}},
		func(t *testing.T, i *apitest.Installation) {
			i.Prepared(t, "bob@example.com")          // with a domain that does not count
			owner := i.Prepared(t, "ann@example.com") // with the first
			d := create(t, i, owner, M{"mode": "platform", "prefix": "go"})
			third := M{"appId": owner.AppID, "mode": "external", "hostname": "go.example.org"}
			owner.Call("POST", "/domains", third).Refused(fault.ResourceConflict)
			detachNow(owner, d).Want(202)
			i.Settle(t)
			owner.Call("POST", "/domains", third).Want(202)
		})
}

func TestChoices(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner, eve := i.Prepared(t, "ann@example.com"), i.Prepared(t, "eve@example.com")
		owner.Call("GET", "/domain-options?appId="+owner.AppID, nil).Want(200).
			Has("data.modes", `["platform","external"]`).Has("data.platformZones", `["`+apitest.Zone+`"]`).
			Has("data.connection.cname", `"connect.`+apitest.Zone+`"`).Has("data.connection.a", `["192.0.2.80"]`).
			Has("data.connection.aaaa", "[]").Has("data.nameservers", "[]").
			Has("data.apexProfiles.0.id", `"a"`).Has("data.apexProfiles.0.records.0.type", `"A"`).
			Has("data.apexProfiles.0.records.0.value", `"192.0.2.80"`).
			Has("data.limits.prefix", "32").Has("data.limits.domains", "100")
		eve.Call("GET", "/domain-options?appId="+owner.AppID, nil).Refused(fault.NotFound)
		for _, c := range []struct {
			path string
			body M
		}{
			{"/hostname", M{"mode": "external"}}, {"/prefix", M{"mode": "external", "hostname": "a.example.org", "prefix": "a"}},
			{"/apexProfileId", M{"mode": "external", "hostname": "example.org", "apexProfileId": "b"}},
		} {
			c.body["appId"] = owner.AppID
			owner.Call("POST", "/domains", c.body).Refused(fault.ValidationFailed, c.path)
		}
		owner.Call("POST", "/domains", M{"appId": owner.AppID, "mode": "managed", "hostname": "example.org"}).
			Refused(fault.InsufficientPermission)
		create(t, i, owner, M{"mode": "external", "hostname": "example.org", "apexProfileId": "a"})
	})
}

func TestCapabilities(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner, eve := i.Prepared(t, "ann@example.com"), i.Prepared(t, "eve@example.com")
		d := create(t, i, owner, M{"mode": "external", "hostname": "go.example.org"})
		path := "/domains/" + d.Text("data.id") + "/capabilities"
		r := owner.Call("GET", path, nil).Want(200).Has("data.mode", `"external"`).Has("data.actions.verify", "true").
			Has("data.actions.detach", "true").Has("data.actions.dns", "false").Has("data.actions.webConfig", "true")
		if got := r.Text("data.reasons.dns"); got != "The DNS of an external domain stays at its owner's provider." {
			t.Errorf("dns: %q", got)
		}
		owner.Key("capabilities:read", "domains:delete").Call("GET", path, nil).Want(200).
			Has("data.actions.detach", "true").Has("data.actions.verify", "false").
			Has("data.reasons.verify", `"The credential has no permission domains:verify."`)
		eve.Call("GET", path, nil).Refused(fault.NotFound)
		detachNow(owner, d).Want(202)
		owner.Call("GET", path, nil).Want(200).Has("data.actions.verify", "false").
			Has("data.reasons.verify", `"The domain is being detached already."`)
		i.Settle(t)
		owner.Call("GET", path, nil).Want(200).Has("data.actions.detach", "false").
			Has("data.reasons.detach", `"The domain is detached already."`)
	})
}

// Foreign links never keep a claim, nor does a claim keep anything of others.
func TestForeignLinksAreNoDependents(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner, eve := i.Prepared(t, "ann@example.com"), i.Prepared(t, "eve@example.com")
		d, claim := create(t, i, owner, M{"mode": "external", "hostname": "go.example.org"}),
			create(t, i, eve, M{"mode": "external", "hostname": "go.example.org"})
		if _, err := i.DB.Exec(t.Context(), `UPDATE domain SET verified_at = 1, ownership = 'verified', links = 'ready'
			WHERE id = ?`, d.Text("data.id")); err != nil {
			t.Fatal(err)
		}
		owner.Link("a", M{"domain": "go.example.org"}).Want(201)
		eve.Call("POST", "/domains", M{"appId": eve.AppID, "mode": "external", "hostname": "go.example.org"}).
			Refused(fault.ResourceConflict)
		detachNow(eve, claim).Want(202)
		i.Settle(t)
		if n, err := store.One(t.Context(), i.DB, store.Value[int64], `SELECT COUNT(*) FROM domain
			WHERE hostname = 'go.example.org' AND detached`); n != 1 || err != nil {
			t.Errorf("%d domains are detached, %v", n, err)
		}
		owner.Call("GET", "/domains/"+d.Text("data.id"), nil).Want(200).Has("data.links", `"ready"`)
	})
}
