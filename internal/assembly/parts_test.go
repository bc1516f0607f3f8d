package assembly_test

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/waymarkhq/waymark/internal/apitest"
	"github.com/waymarkhq/waymark/internal/assembly"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
)

type M = apitest.M

// tablesOfApps returns the tables that parts say they keep of apps, with the name
// of the part.
func tablesOfApps(t *testing.T) map[string]string {
	t.Helper()
	owner := map[string]string{}
	for _, p := range assembly.Declare(op.New(op.Options{Log: slog.New(slog.DiscardHandler)}), assembly.Options{}) {
		for _, table := range p.OfApp.Tables {
			if other, twice := owner[table]; twice {
				t.Errorf("table %s belongs to %s and to %s", table, other, p.Name)
			}
			owner[table] = p.Name
		}
	}
	return owner
}

// A table that nobody thinks of when an app is deleted would keep its rows for
// ever.
func TestTablesOfAppsBelongToParts(t *testing.T) {
	owner := tablesOfApps(t)
	i := apitest.New(t, "sqlite", apitest.Options{}) // every engine has the same tables
	tables, err := store.All(t.Context(), i.DB, store.Value[string],
		`SELECT t.name FROM sqlite_master AS t JOIN pragma_table_info(t.name) AS c WHERE t.type = 'table'
			AND c.name = 'app_id'`)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, table := range tables {
		found[table] = true
		if owner[table] == "" {
			t.Errorf("table %s has an app_id and belongs to no part: name it in OfApp.Tables of its capability, "+
				"and say there what becomes of it when the app is deleted", table)
		}
	}
	for table, part := range owner {
		if !found[table] {
			t.Errorf("%s claims %s, which is no table with an app_id", part, table)
		}
	}
}

// A sweep of which a statement fails returns the error.
func TestSweepsWithFailedStatements(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := everything(t, i, "ann@example.com")
		unused := owner.links[1]
		owner.Call("DELETE", "/links/"+apitest.Path(unused.Text("data.id")), nil, apitest.IfMatch(unused.Revision())).Want(204)
		i.Settle(t)
		i.Clock.Move(401 * 24 * time.Hour)
		storetest.Faulty(t, i.SweepIn)
	})
}

// withEverything is an owner whose app has something in each table of apps.
type withEverything struct {
	*apitest.Client
	links        []*apitest.Response
	qr, template *apitest.Response
}

func everything(t *testing.T, i *apitest.Installation, email string) withEverything {
	t.Helper()
	owner := i.Prepared(t, email)
	links := []*apitest.Response{owner.Link("a", nil).Want(201)}
	owner.Upload("image/png", apitest.Picture(t)).Want(201)
	owner.Key("apps:read", "webhooks:create").Call("POST", "/webhooks", M{
		"appId": owner.AppID, "url": "https://hooks.example.com/", "events": []string{"link.created", "link.deleted"},
	}).Want(201)
	for _, kind := range []string{"tags", "folders", "campaigns"} {
		owner.Call("POST", "/"+kind, M{"appId": owner.AppID, "name": "x"}).Want(201)
	}
	links = append(links, owner.Link("b", nil).Want(201)) // of which the webhook is told
	qr := owner.Call("POST", "/qr-codes", M{
		"appId": owner.AppID, "linkId": links[0].Text("data.id"), "name": "x",
	}).Want(201)
	template := owner.Call("POST", "/templates", M{
		"appId": owner.AppID, "name": "x", "baseTemplateId": "android",
	}).Want(201)
	path := "/templates/" + template.Text("data.template.id")
	owner.Call("POST", path+"/versions", "{}").Want(201)
	owner.Call("POST", path+"/publish", M{"targets": []M{{"scope": "app", "expectedRevision": nil}}}).Want(202)
	owner.Call("POST", "/exports", M{"appId": owner.AppID, "dataset": "links", "format": "csv"}).Want(202)
	preferences := owner.Call("GET", "/me/preferences", nil).Want(200)
	owner.Call("PATCH", "/me/preferences", M{"selectedAppId": owner.AppID}, apitest.IfMatch(preferences.Revision())).Want(200)
	i.Settle(t)
	i.Clock.Move(time.Minute) // the publication looks again
	i.Settle(t)
	i.Visit(t, "https://"+owner.Host+"/a", nil, nil)
	i.LoadClicks(t)
	if _, err := i.DB.Exec(t.Context(), "INSERT INTO event_unstored (app_id, day, clicks) VALUES (?, ?, 1)", owner.AppID,
		i.Clock.Now().Unix()/86400); err != nil {
		t.Fatal(err)
	}
	owner.Call("GET", "/requests?appId="+owner.AppID, nil).Want(200) // stores the records, to read them
	return withEverything{owner, links, qr, template}
}

// Once its links and domains are gone and everything is past its retention, no
// row of a deleted app is left. Another app keeps all that it has.
func TestNothingIsLeftOfADeletedApp(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner, other := everything(t, i, "ann@example.com"), everything(t, i, "bob@example.com")
		app := "/apps/" + owner.AppID
		counts := func(appID string) map[string]int64 {
			t.Helper()
			all := map[string]int64{}
			for table := range tablesOfApps(t) {
				n, err := store.One(t.Context(), i.DB, store.Value[int64],
					"SELECT COUNT(*) FROM "+table+" WHERE app_id = ?", appID)
				if err != nil {
					t.Fatal(err)
				}
				all[table] = n
			}
			return all
		}
		owner.Call("DELETE", "/qr-codes/"+owner.qr.Text("data.id"), nil, apitest.IfMatch(owner.qr.Revision())).Want(204)
		for _, link := range owner.links {
			owner.Call("DELETE", "/links/"+apitest.Path(link.Text("data.id")), nil, apitest.IfMatch(link.Revision())).Want(204)
		}
		for table, n := range counts(owner.AppID) {
			if gone := "link qr_code"; n == 0 && !strings.Contains(gone, table) {
				t.Errorf("the app has nothing in %s: this test does not see what becomes of it", table)
			}
		}
		i.Settle(t)
		// Nothing removes a domain yet.
		if _, err := i.DB.Exec(t.Context(), `UPDATE domain SET detached = TRUE, links = 'blocked',
			removal_state = 'removed', updated_at = ? WHERE app_id = ?`, i.DB.Now(), owner.AppID); err != nil {
			t.Fatal(err)
		}
		i.Clock.Move(31 * 24 * time.Hour)
		owner.Credential = i.Owner(t, "ann@example.com").Credential // sessions end sooner
		match := apitest.IfMatch(owner.Call("GET", app, nil).Want(200).Revision())
		owner.Call("DELETE", app, nil, match).Refused(fault.ResourceConflict).
			Has("error.dependencies.0.type", `"template"`).
			Has("error.dependencies.0.ids.0", owner.template.Value("data.template.id")).Has("error.dependencies.1", "")
		owner.Call("PATCH", "/templates/"+owner.template.Text("data.template.id"), M{"archived": true},
			apitest.IfMatch(owner.template.Revision())).Want(200)
		match = apitest.IfMatch(owner.Call("GET", app, nil).Want(200).Revision())
		other.Link("published-later", nil).Want(201) // a job
		before := counts(other.AppID)
		owner.Call("DELETE", app, nil, match).Want(204)
		for table, n := range counts(other.AppID) {
			if n != before[table] || n == 0 {
				t.Errorf("another app has %d rows in %s, and %d before", n, table, before[table])
			}
		}
		i.Clock.Move(401 * 24 * time.Hour)
		i.Settle(t)
		i.Sweep(t)
		for table, n := range counts(owner.AppID) {
			// The number of an app in the event store is given once and for good.
			if n > 0 && table != "event_app" {
				t.Errorf("%s has %d rows of the app that is gone", table, n)
			}
		}
	})
}
