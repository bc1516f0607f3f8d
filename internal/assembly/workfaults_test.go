package assembly_test

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waymarkhq/waymark/internal/apitest"
	"github.com/waymarkhq/waymark/internal/delivery"
	"github.com/waymarkhq/waymark/internal/store"
)

// work starts what the executor does, the nth time that it is asked to, and returns where
// clients read what came of it.
type work func(owner *apitest.Client, nth int) (paths []string)

// works are all kinds of work, each with more than one thing to do.
func works(t *testing.T, i *apitest.Installation, owner *apitest.Client) map[string]work {
	of := func(r *apitest.Response, record string, parts ...string) []string {
		paths := []string{"/operations/" + r.Text("data.operationId")}
		for _, part := range parts {
			paths = append(paths, record+r.Text("data.id")+part)
		}
		return paths
	}
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
	chosen := []string{owner.Link("chosen", nil).Want(201).Text("data.id"), owner.Link("chosen-too", nil).Want(201).Text("data.id")}
	return map[string]work{
		"link": func(owner *apitest.Client, nth int) []string {
			return []string{"/links/" + apitest.Path(owner.Link(fmt.Sprint("link-", nth), nil).Want(201).Text("data.id"))}
		},
		"batch": func(owner *apitest.Client, nth int) []string {
			old := owner.Link(fmt.Sprint("old-", nth), nil).Want(201)
			i.Settle(t)
			return of(owner.Call("POST", "/link-batches", apitest.M{"appId": owner.AppID, "items": []apitest.M{
				{"clientId": "a", "action": "create", "input": apitest.M{"appId": owner.AppID, "domain": owner.Host,
					"slug": fmt.Sprint("batch-", nth)}},
				{"clientId": "b", "action": "delete", "linkId": old.Text("data.id"), "revision": old.Revision()},
			}}).Want(202), "/link-batches/", "/items")
		},
		"import": func(owner *apitest.Client, nth int) []string {
			i := owner.Call("POST", "/imports", apitest.M{"appId": owner.AppID, "format": "csv",
				"content": fmt.Sprintf("domain,slug\n%s,import-%d\n%[1]s,import-%[2]d-b\n", owner.Host, nth)}).Want(201)
			path := "/imports/" + i.Text("data.id")
			valid := owner.Call("POST", path+"/validate", apitest.M{}).Want(200)
			return of(owner.Call("POST", path+"/commit", apitest.M{}, apitest.IfMatch(valid.Text("data.revision"))).Want(202),
				"/imports/", "", "/items")
		},
		"export": func(owner *apitest.Client, _ int) []string {
			return of(owner.Call("POST", "/exports", apitest.M{"appId": owner.AppID, "dataset": "links", "format": "csv",
				"filters": apitest.M{}}).Want(202), "/exports/", "")
		},
		"domain": func(owner *apitest.Client, nth int) []string {
			return []string{"/operations/" + owner.Call("POST", "/domains", apitest.M{"appId": owner.AppID, "mode": "platform",
				"prefix": fmt.Sprint("domain-", nth)}).Want(202).Text("data.id")}
		},
		"detachment": func(owner *apitest.Client, nth int) []string {
			begun := owner.Call("POST", "/domains", apitest.M{"appId": owner.AppID, "mode": "platform",
				"prefix": fmt.Sprint("gone-", nth)}).Want(202).Text("data.id")
			i.Settle(t)
			d := "/domains/" + owner.Call("GET", "/operations/"+begun, nil).Want(200).Text("data.result.resource.id")
			return []string{"/operations/" + owner.Call("DELETE", d, nil,
				apitest.IfMatch(owner.Call("GET", d, nil).Revision())).Want(202).Text("data.id"), d}
		},
		"campaign": func(owner *apitest.Client, nth int) []string {
			path := "/campaigns/" + campaign
			owner.Call("PATCH", path, apitest.M{"utm": apitest.M{"source": fmt.Sprint("source-", nth)}},
				apitest.IfMatch(owner.Call("GET", path, nil).Revision())).Want(200)
			return []string{path, "/links?limit=100&appId=" + owner.AppID + "&campaignId=" + campaign}
		},
		"template": func(owner *apitest.Client, nth int) []string {
			path := "/templates/" + template
			draft := owner.Call("GET", path+"/draft", nil).Want(200)
			config := apitest.M{"content": apitest.M{"heading": fmt.Sprint("Heading ", nth)}}
			owner.Call("PUT", path+"/draft", apitest.M{"config": config}, apitest.IfMatch(draft.Revision())).Want(200)
			var targets []apitest.M
			var paths []string
			for _, id := range chosen {
				link := "/links/" + apitest.Path(id)
				expected := owner.Call("GET", link+"/template-selection", nil).Want(200).Value("data.bindingRevisions.android")
				var revision any
				if expected != "null" {
					revision = strings.Trim(expected, `"`)
				}
				targets = append(targets, apitest.M{"scope": "link", "linkId": id, "expectedRevision": revision})
				paths = append(paths, link)
			}
			return append(paths, "/template-publications/"+owner.Call("POST", path+"/publish",
				apitest.M{"targets": targets}).Want(202).Text("data.id"))
		},
	}
}

// A statement of work fails, or its result cannot be read. The log tells it. The next attempt ends well:
// clients read the same, and each table grows by as many rows, as without the failure.
func TestWorkSurvivesFailedStatements(t *testing.T) {
	log := &apitest.Journal{}
	i := apitest.New(t, "sqlite", apitest.Options{Log: log})
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
		var read []string
		var failed []string
		for nth := 1; ; nth++ {
			before := rows(t, i.DB)
			paths := begin(owner, nth)
			f := &failing{nth: nth}
			logged, err := len(log.String()), i.SettleIn(store.WithFaults(t.Context(), f.fails))
			statement := strings.Join(f.failed, ", ")
			if statement != "" && err == nil && !strings.Contains(log.String()[logged:], "made to fail") {
				t.Errorf("%s: nobody is told of a failed %q", name, statement)
			}
			finish()
			var texts []string
			for _, path := range paths {
				r := owner.Call("GET", path, nil).Want(200)
				if strings.HasPrefix(path, "/operations/") && r.Text("data.status") != "succeeded" {
					t.Errorf("%s is %s after a failed %q", name, r.Text("data.status"), statement)
				}
				texts = append(texts, changing.ReplaceAllString(path+" "+string(r.Body), "?"))
			}
			read = append(read, strings.Join(texts, "\n"))
			failed, left = append(failed, statement), append(left, more(before, rows(t, i.DB)))
			if statement == "" {
				break
			}
		}
		if len(failed) < 8 {
			t.Errorf("%s has %d statements", name, len(failed))
		}
		last := len(left) - 1
		for n := range left {
			if !maps.Equal(left[n], left[last]) {
				t.Errorf("%s leaves %v after a failed %q, and without it %v", name, left[n], failed[n], left[last])
			}
			if read[n] != read[last] {
				t.Errorf("%s: after a failed %q one reads\n%s\nand without it\n%s", name, failed[n], read[n], read[last])
			}
		}
		t.Logf("%s: %d statements failed", name, len(failed)-1)
	}
	if status, err := store.All(t.Context(), i.DB, store.Value[string], `SELECT DISTINCT publication_status FROM link
		UNION SELECT DISTINCT publication_status FROM domain`); err != nil || !slices.Equal(status, []string{"synced"}) {
		t.Errorf("links and domains are %v, %v", status, err)
	}
}

// changing is what differs each time: ids, instants, versions and numbers in names.
var changing = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|req_[0-9a-f]+|\d{4}-\d\d-\d\dT[\d:.]+Z|"version":\d+|-\d+`)

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
