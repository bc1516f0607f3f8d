package assembly_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waymarkhq/waymark/internal/apitest"
	"github.com/waymarkhq/waymark/internal/delivery"
	"github.com/waymarkhq/waymark/internal/store"
)

// work starts what the executor does, the nth time that it is asked to, and returns where the
// operation that it ends is, "" for none.
type work func(owner *apitest.Client, nth int) (operation string)

// works are all kinds of work, each with more than one thing to do.
func works(t *testing.T, i *apitest.Installation, owner *apitest.Client) map[string]work {
	of := func(r *apitest.Response) string { return "/operations/" + r.Text("data.operationId") }
	made := func(path string, body apitest.M) string {
		body["appId"] = owner.AppID
		return owner.Call("POST", path, body).Want(201).Text("data.id")
	}
	campaign := made("/campaigns", apitest.M{"name": "a"})
	for n := range 2 {
		owner.Link(fmt.Sprint("of-campaign-", n), apitest.M{"campaignId": campaign}).Want(201)
	}
	template := owner.Call("POST", "/templates", apitest.M{"appId": owner.AppID, "name": "a", "baseTemplateId": "android"}).
		Want(201).Text("data.template.id")
	chosen := owner.Link("chosen", nil).Want(201).Text("data.id")
	return map[string]work{
		"link": func(owner *apitest.Client, nth int) string {
			owner.Link(fmt.Sprint("link-", nth), nil).Want(201)
			return ""
		},
		"batch": func(owner *apitest.Client, nth int) string {
			old := owner.Link(fmt.Sprint("old-", nth), nil).Want(201)
			i.Settle(t)
			return of(owner.Call("POST", "/link-batches", apitest.M{"appId": owner.AppID, "items": []apitest.M{
				{"clientId": "a", "action": "create", "input": apitest.M{"appId": owner.AppID, "domain": owner.Host,
					"slug": fmt.Sprint("batch-", nth)}},
				{"clientId": "b", "action": "delete", "linkId": old.Text("data.id"), "revision": old.Revision()},
			}}).Want(202))
		},
		"import": func(owner *apitest.Client, nth int) string {
			i := owner.Call("POST", "/imports", apitest.M{"appId": owner.AppID, "format": "csv",
				"content": fmt.Sprintf("domain,slug\n%s,import-%d\n%[1]s,import-%[2]d-b\n", owner.Host, nth)}).Want(201)
			path := "/imports/" + i.Text("data.id")
			valid := owner.Call("POST", path+"/validate", apitest.M{}).Want(200)
			return of(owner.Call("POST", path+"/commit", apitest.M{}, apitest.IfMatch(valid.Text("data.revision"))).Want(202))
		},
		"export": func(owner *apitest.Client, _ int) string {
			return of(owner.Call("POST", "/exports", apitest.M{"appId": owner.AppID, "dataset": "links", "format": "csv",
				"filters": apitest.M{}}).Want(202))
		},
		"domain": func(owner *apitest.Client, nth int) string {
			return "/operations/" + owner.Call("POST", "/domains", apitest.M{"appId": owner.AppID, "mode": "platform",
				"prefix": fmt.Sprint("domain-", nth)}).Want(202).Text("data.id")
		},
		"detachment": func(owner *apitest.Client, nth int) string {
			begun := owner.Call("POST", "/domains", apitest.M{"appId": owner.AppID, "mode": "platform",
				"prefix": fmt.Sprint("gone-", nth)}).Want(202).Text("data.id")
			i.Settle(t)
			d := "/domains/" + owner.Call("GET", "/operations/"+begun, nil).Want(200).Text("data.result.resource.id")
			return "/operations/" + owner.Call("DELETE", d, nil,
				apitest.IfMatch(owner.Call("GET", d, nil).Revision())).Want(202).Text("data.id")
		},
		"campaign": func(owner *apitest.Client, nth int) string {
			path := "/campaigns/" + campaign
			owner.Call("PATCH", path, apitest.M{"utm": apitest.M{"source": fmt.Sprint("source-", nth)}},
				apitest.IfMatch(owner.Call("GET", path, nil).Revision())).Want(200)
			return ""
		},
		"template": func(owner *apitest.Client, nth int) string {
			path := "/templates/" + template
			draft := owner.Call("GET", path+"/draft", nil).Want(200)
			config := apitest.M{"content": apitest.M{"heading": fmt.Sprint("Heading ", nth)}}
			owner.Call("PUT", path+"/draft", apitest.M{"config": config}, apitest.IfMatch(draft.Revision())).Want(200)
			link := "/links/" + apitest.Path(chosen)
			expected := owner.Call("GET", link+"/template-selection", nil).Want(200).Value("data.bindingRevisions.android")
			var revision any
			if expected != "null" {
				revision = strings.Trim(expected, `"`)
			}
			owner.Call("POST", path+"/publish", apitest.M{"targets": []apitest.M{{"scope": "link", "linkId": chosen,
				"expectedRevision": revision}}}).Want(202)
			return ""
		},
	}
}

// Work of which any statement fails, or cannot be read, is done all the same when it is tried
// again: it ends well, and leaves as many rows in each table as without a failure.
func TestWorkSurvivesFailedStatements(t *testing.T) {
	i := apitest.New(t, "sqlite", apitest.Options{})
	owner := i.Prepared(t, "ann@example.com")
	owner.Call("POST", "/webhooks", apitest.M{"appId": owner.AppID, "url": "https://hooks.example.com/",
		"events": delivery.Selectable}).Want(201)
	finish := func() {
		for range 5 {
			i.Settle(t)
			i.Clock.Move(time.Minute)
		}
		i.Settle(t)
	}
	for name, begin := range works(t, i, owner) {
		begin(owner, 0)
		finish()
		var left []map[string]int64 // in each table, by the statement that failed
		var failed []string
		for nth := 1; ; nth++ {
			before := rows(t, i.DB)
			operation := begin(owner, nth)
			f := &failing{nth: nth}
			ctx := store.WithFaults(t.Context(), f.fails)
			for again := true; again; {
				took, err := i.CycleIn(ctx)
				again = err == nil && took > 0
			}
			finish()
			statement := strings.Join(f.failed, ", ")
			if operation != "" {
				if status := owner.Call("GET", operation, nil).Want(200).Text("data.status"); status != "succeeded" {
					t.Errorf("%s is %s after a failed %q", name, status, statement)
				}
			}
			failed, left = append(failed, statement), append(left, more(before, rows(t, i.DB)))
			if statement == "" {
				break
			}
		}
		if len(failed) < 8 {
			t.Errorf("%s has %d statements", name, len(failed))
		}
		want := left[len(left)-1]
		for n := range left {
			if !maps.Equal(left[n], want) {
				t.Errorf("%s leaves %v after a failed %q, and without it %v", name, left[n], failed[n], want)
			}
		}
		t.Logf("%s: %d statements failed", name, len(failed)-1)
	}
	if status, err := store.All(t.Context(), i.DB, store.Value[string], `SELECT DISTINCT publication_status FROM link
		UNION SELECT DISTINCT publication_status FROM domain`); err != nil || !slices.Equal(status, []string{"synced"}) {
		t.Errorf("links and domains are %v, %v", status, err)
	}
}

// rows counts those of each table.
func rows(t *testing.T, db *store.DB) map[string]int64 {
	t.Helper()
	counts := map[string]int64{}
	for _, table := range tables(t, db) {
		n, err := store.One(t.Context(), db, store.Value[int64], "SELECT COUNT(*) FROM "+table)
		if err != nil {
			t.Fatal(err)
		}
		counts[table] = n
	}
	return counts
}

// more returns by how much the tables have grown.
func more(before, after map[string]int64) map[string]int64 {
	grown := map[string]int64{}
	for table, n := range after {
		if n != before[table] {
			grown[table] = n - before[table]
		}
	}
	return grown
}
