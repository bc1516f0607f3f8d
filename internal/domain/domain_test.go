package domain_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/waymarkhq/waymark/internal/apitest"
	"github.com/waymarkhq/waymark/internal/domain"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
)

type M = apitest.M

func TestCreatePlatformDomain(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner, eve := i.Prepared(t, "ann@example.com"), i.Prepared(t, "eve@example.com")
		body := func(prefix string) M { return M{"appId": owner.AppID, "mode": "platform", "prefix": prefix} }
		r := owner.Call("POST", "/domains", body("Go")).Want(202).Has("data.type", `"domain.create"`).
			Has("data.status", `"queued"`)
		follow := strings.TrimPrefix(r.Header.Get("Location"), "/v1")
		if r.Header.Get("Retry-After") == "" || r.Revision() == "" || follow != "/operations/"+r.Text("data.id") {
			t.Errorf("acceptance headers: %v", r.Header)
		}
		// Links can be made at once; visitors come once it is published.
		host := "go." + apitest.Zone
		owner.Call("POST", "/links", M{"appId": owner.AppID, "domain": host, "slug": "a",
			"desktopUrl": "https://example.com/"}).Want(201)
		i.Settle(t)
		done := owner.Call("GET", follow, nil).Want(200).Has("data.status", `"succeeded"`).
			Has("data.result.resource.type", `"domain"`)
		d := owner.Call("GET", "/domains/"+done.Text("data.result.resource.id"), nil).Want(200).
			Has("data.hostname", `"`+host+`"`).Has("data.ownership", `"verified"`).Has("data.dns", `"configured"`).
			Has("data.https", `"delegated"`).
			Has("data.links", `"ready"`).Has("data.detached", "false").Has("data.publication.status", `"synced"`).
			Has("data.removalState", "null")
		if d.Revision() != d.Text("data.publication.confirmedRevision") {
			t.Errorf("confirmed %s", d.Value("data.publication"))
		}
		i.Visit(t, "https://"+host+"/a", nil, func(r *http.Response) bool { return r.StatusCode == 302 })

		// A hostname is one domain in the whole installation.
		for _, c := range []*apitest.Client{owner, eve} {
			c.Call("POST", "/domains", M{"appId": c.AppID, "mode": "platform", "prefix": "GO"}).
				Refused(fault.ResourceConflict)
		}
		for _, c := range []struct {
			path string
			body M
		}{
			{"/mode", M{"appId": owner.AppID, "mode": "odd"}}, {"/mode", M{"appId": owner.AppID}},
			{"/prefix", M{"appId": owner.AppID, "mode": "platform"}}, {"/prefix", body("a.b")}, {"/prefix", body("-a")},
			{"/prefix", body("a_b")}, {"/prefix", body("a。b")}, {"/prefix", body("www")}, {"/prefix", body("adm1n")},
			{"/prefix", body(strings.Repeat("a", 33))}, {"/hostname",
				M{"appId": owner.AppID, "mode": "platform", "prefix": "x", "hostname": "x.example"}},
			{"/apexProfileId", M{"appId": owner.AppID, "mode": "platform", "prefix": "x", "apexProfileId": "x"}},
		} {
			owner.Call("POST", "/domains", c.body).Refused(fault.ValidationFailed, c.path)
		}
		owner.Call("POST", "/domains", M{"appId": eve.AppID, "mode": "platform", "prefix": "x"}).Refused(fault.NotFound)

		if n := owner.Call("GET", "/domains?appId="+owner.AppID, nil).Want(200).Len("data"); n != 2 {
			t.Errorf("%d domains", n)
		}
		if n := owner.Call("GET", "/domains?detached=true&appId="+owner.AppID, nil).Want(200).Len("data"); n != 0 {
			t.Errorf("%d detached domains", n)
		}
		eve.Call("GET", "/domains/"+d.Text("data.id"), nil).Refused(fault.NotFound)
		eve.Call("GET", follow, nil).Refused(fault.NotFound)
	})
}

// The newest domain stands first, and of those of one instant the one that was made last, on whatever page.
func TestListDomains(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		for _, prefix := range []string{"a", "b", "old"} {
			create(t, i, owner, M{"mode": "platform", "prefix": prefix})
		}
		if _, err := i.DB.Exec(t.Context(), "UPDATE domain SET created_at = created_at - 1 WHERE hostname = ?",
			"old."+apitest.Zone); err != nil {
			t.Fatal(err)
		}
		next := ""
		for n, want := range []string{"b", "a", "ann", "old"} {
			page := owner.Call("GET", "/domains?limit=1&appId="+owner.AppID+next, nil).Want(200).
				Has("data.0.hostname", `"`+want+"."+apitest.Zone+`"`).Has("pagination.hasMore", fmt.Sprint(n < 3))
			next = "&cursor=" + page.Text("pagination.nextCursor")
		}
	})
}

// What the executor does is checked against the grant as it is then.
func TestAuthorizationIsCheckedAgain(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		issued := owner.Call("POST", "/api-keys", M{"name": "k", "appIds": []string{owner.AppID},
			"permissions": []string{"domains:create", "operations:read"}}).Want(201)
		key := i.Client(t, issued.Text("data.secret"))
		r := key.Call("POST", "/domains", M{"appId": owner.AppID, "mode": "platform", "prefix": "late"}).Want(202)
		owner.Call("DELETE", "/api-keys/"+issued.Text("data.key.id"), nil, apitest.IfMatch(issued.Revision())).Want(204)
		i.Settle(t)
		owner.Call("GET", "/operations/"+r.Text("data.id"), nil).Want(200).Has("data.status", `"failed"`).
			Has("data.error.code", `"authorization_lost"`)
		if n := owner.Call("GET", "/domains?appId="+owner.AppID, nil).Want(200).Len("data"); n != 1 {
			t.Errorf("%d domains, want the owner's first alone", n)
		}
		// The hostname is free again.
		owner.Call("POST", "/domains", M{"appId": owner.AppID, "mode": "platform", "prefix": "late"}).Want(202)
	})
}

// A creation that does not succeed, however often it is tried, leaves nothing
// behind: it can be started again.
func TestAttemptsExhausted(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		body := M{"appId": owner.AppID, "mode": "platform", "prefix": "broken"}
		r := owner.Call("POST", "/domains", body).Want(202)
		if _, err := i.DB.Exec(t.Context(), "DELETE FROM sequence WHERE name = 'route_change'"); err != nil {
			t.Fatal(err)
		}
		for range 5 {
			i.Cycle(t)
			i.Clock.Move(15 * time.Second)
		}
		owner.Call("GET", "/operations/"+r.Text("data.id"), nil).Want(200).Has("data.status", `"failed"`).
			Has("data.error.code", `"attempts_exhausted"`)
		owner.Call("POST", "/domains", body).Want(202)
	})
}

func TestCancel(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		hook := owner.Call("POST", "/webhooks", M{"appId": owner.AppID, "url": "https://hooks.example.com/",
			"events": []string{"domain.status_changed"}}).Want(201).Text("data.webhook.id")
		r := owner.Call("POST", "/domains", M{"appId": owner.AppID, "mode": "platform", "prefix": "never"}).Want(202)
		path := "/operations/" + r.Text("data.id")
		owner.Call("POST", path+"/cancel", nil, apitest.IfMatch("00000000-0000-4000-8000-000000000000")).
			Refused(fault.RevisionConflict)
		events := func() int { return owner.Call("GET", "/webhooks/"+hook+"/deliveries", nil).Want(200).Len("data") }
		before := events()
		cancelled := owner.Call("POST", path+"/cancel", nil).Want(202).Has("data.status", `"cancelled"`)
		if cancelled.Header.Get("Location") != "/v1"+path || cancelled.Revision() == r.Revision() {
			t.Errorf("cancel: %v", cancelled.Header)
		}
		if n := events() - before; n != 1 {
			t.Errorf("%d events of a domain that is given up", n)
		}
		// It never was ready for visitors: it is removed at once, and its hostname is free.
		if n := owner.Call("GET", "/domains?appId="+owner.AppID, nil).Want(200).Len("data"); n != 1 {
			t.Errorf("%d domains before the executor came, want the owner's first alone", n)
		}
		i.Settle(t)
		// It is terminal: a further cancel changes nothing.
		owner.Call("POST", path+"/cancel", M{}).Want(202).Has("data.revision", cancelled.Value("data.revision"))
		// No record of it is kept.
		if n := owner.Call("GET", "/domains?appId="+owner.AppID, nil).Want(200).Len("data"); n != 1 {
			t.Errorf("%d domains, want the owner's first alone", n)
		}
		if found, err := store.Exists(t.Context(), i.DB, "SELECT 1 FROM route WHERE hostname = ?",
			"never."+apitest.Zone); err != nil || found {
			t.Errorf("a cancelled domain was published: %v, %v", found, err)
		}
	})
}

// A domain that is in use stays when its creation is cancelled: as the default of
// its app, or as the address of a link. The history of a link on a domain that is
// gone can still be read.
func TestCancelInUse(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		var history string
		for _, c := range []struct {
			prefix string
			use    func(host string)
			stays  bool
		}{
			{"default", func(host string) {
				app := owner.Call("GET", "/apps/"+owner.AppID, nil).Want(200)
				owner.Call("PATCH", "/apps/"+owner.AppID, M{"defaultDomain": host}, apitest.IfMatch(app.Revision())).
					Want(200)
			}, true},
			{"linked", func(host string) { owner.Link("a", M{"domain": host}).Want(201) }, true},
			{"once", func(host string) {
				link := owner.Link("a", M{"domain": host}).Want(201)
				path := "/links/" + apitest.Path(link.Text("data.id"))
				owner.Call("DELETE", path, nil, apitest.IfMatch(link.Revision())).Want(204)
				history = path + "/history"
			}, false},
		} {
			r := owner.Call("POST", "/domains", M{"appId": owner.AppID, "mode": "platform", "prefix": c.prefix}).
				Want(202)
			c.use(c.prefix + "." + apitest.Zone)
			owner.Call("POST", "/operations/"+r.Text("data.id")+"/cancel", nil).Want(202).
				Has("data.status", `"cancelled"`)
			i.Settle(t)
			published, err := store.Exists(t.Context(), i.DB, "SELECT 1 FROM route WHERE hostname = ? AND path = ''",
				c.prefix+"."+apitest.Zone)
			if err != nil || published != c.stays {
				t.Errorf("the domain %s is published: %v, %v", c.prefix, published, err)
			}
			stays, err := store.Exists(t.Context(), i.DB, "SELECT 1 FROM domain WHERE hostname = ? AND links = 'ready'",
				c.prefix+"."+apitest.Zone)
			if err != nil || stays != c.stays {
				t.Errorf("the domain %s stays: %v, %v", c.prefix, stays, err)
			}
		}
		owner.Call("GET", history, nil).Want(200).Has("data.0.action", `"deleted"`)
	})
}

// A claim to a hostname can be cancelled even though another app uses the hostname.
func TestCancelClaimThatAnotherUses(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner, eve := i.Prepared(t, "ann@example.com"), i.Prepared(t, "eve@example.com")
		const host = "go.example.org"
		proved := create(t, i, eve, M{"mode": "external", "hostname": host})
		path := "/domains/" + proved.Text("data.id")
		claim := owner.Call("POST", "/domains", M{"appId": owner.AppID, "mode": "external", "hostname": host}).Want(202)
		if _, err := i.DB.Exec(t.Context(), `UPDATE domain SET verified_at = 1, ownership = 'verified', links = 'ready'
			WHERE id = ?`, proved.Text("data.id")); err != nil {
			t.Fatal(err)
		}
		eve.Link("a", M{"domain": host}).Want(201)
		app := "/apps/" + eve.AppID
		eve.Call("PATCH", app, M{"defaultDomain": host}, apitest.IfMatch(eve.Call("GET", app, nil).Revision())).Want(200)
		eve.Call("PUT", path+"/web-config", M{"robots": "noindex"}, apitest.IfMatch(eve.Call("GET", path, nil).Revision())).
			Want(200)
		owner.Call("POST", "/operations/"+claim.Text("data.id")+"/cancel", nil).Want(202).Has("data.status", `"cancelled"`)
		i.Settle(t)
		holders, err := store.All(t.Context(), i.DB, store.Value[string], "SELECT app_id FROM domain WHERE hostname = ?", host)
		if err != nil || len(holders) != 1 || holders[0] != eve.AppID {
			t.Errorf("the hostname is of %v, %v", holders, err)
		}
	})
}

// A hostname is ready for the app that has it, and for no other.
func TestReady(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner, eve := i.Prepared(t, "ann@example.com"), i.Prepared(t, "eve@example.com")
		for _, c := range []struct {
			app, hostname string
			want          bool
		}{{owner.AppID, owner.Host, true}, {owner.AppID, eve.Host, false}, {owner.AppID, "none.example.org", false},
			{eve.AppID, eve.Host, true}} {
			if ready, err := domain.Ready(t.Context(), i.DB, c.app, c.hostname); ready != c.want || err != nil {
				t.Errorf("%s is ready for %s: %t, %v", c.hostname, c.app, ready, err)
			}
			scopes, err := domain.Inherited(t.Context(), i.DB, c.app, c.hostname)
			if c.want != (len(scopes) > 0) || err != nil {
				t.Errorf("links of %s on %s inherit from %d scopes, %v", c.app, c.hostname, len(scopes), err)
			}
		}
	})
}

// A hostname that an owner brings is nothing but a claim until it is proved: others
// may claim it too, and visitors see nothing of it.
func TestClaimHostname(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner, eve := i.Prepared(t, "ann@example.com"), i.Prepared(t, "eve@example.com")
		body := func(c *apitest.Client) M {
			return M{"appId": c.AppID, "mode": "external", "hostname": "Go.Example.org"}
		}
		for _, hostname := range []string{"x." + apitest.Zone, apitest.Zone, "co.uk", "раypal.com", "localhost"} {
			owner.Call("POST", "/domains", M{"appId": owner.AppID, "mode": "external", "hostname": hostname}).
				Refused(fault.ValidationFailed, "/hostname")
		}
		r := owner.Call("POST", "/domains", body(owner)).Want(202)
		owner.Call("POST", "/domains", body(owner)).Refused(fault.ResourceConflict)
		eve.Call("POST", "/domains", body(eve)).Want(202)
		i.Settle(t)
		done := owner.Call("GET", "/operations/"+r.Text("data.id"), nil).Want(200).Has("data.status", `"succeeded"`)
		d := owner.Call("GET", "/domains/"+done.Text("data.result.resource.id"), nil).Want(200).
			Has("data.hostname", `"go.example.org"`).Has("data.ownership", `"unverified"`).
			Has("data.dns", `"pending"`).Has("data.links", `"pending"`).
			Has("data.challenge.name", `"_waymark-challenge.go.example.org"`).Has("data.challenge.status", `"pending"`)
		if len(d.Text("data.challenge.value")) < 40 {
			t.Errorf("the challenge is %q", d.Text("data.challenge.value"))
		}
		owner.Call("POST", "/links", M{"appId": owner.AppID, "domain": "go.example.org", "slug": "a",
			"desktopUrl": "https://example.com/"}).Refused(fault.ValidationFailed)
		if published, err := store.Exists(t.Context(), i.DB, "SELECT 1 FROM route WHERE hostname = ?",
			"go.example.org"); published || err != nil {
			t.Errorf("the claim is published: %v, %v", published, err)
		}
	})
}

// Each hostname has the app of its own domain.
func TestHost(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		for _, c := range []*apitest.Client{i.Prepared(t, "ann@example.com"), i.Prepared(t, "eve@example.com")} {
			if host, err := domain.Host(t.Context(), i.DB, c.Host); err != nil || host.AppID != c.AppID {
				t.Errorf("%s is of %s, %v; want %s", c.Host, host.AppID, err, c.AppID)
			}
		}
		if _, err := domain.Host(t.Context(), i.DB, "none."+apitest.Zone); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("a hostname without a domain: %v", err)
		}
		storetest.Faulty(t, func(ctx context.Context) error {
			_, err := domain.Host(ctx, i.DB, "ann."+apitest.Zone)
			return err
		})
	})
}
