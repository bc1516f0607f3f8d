package assembly_test

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/waymarkhq/waymark/internal/apitest"
	"github.com/waymarkhq/waymark/internal/domain"
	"github.com/waymarkhq/waymark/internal/store"
)

// everyRow returns every row of the database as text that begins with the name of its table.
func everyRow(t *testing.T, db *store.DB) map[string]bool {
	t.Helper()
	all := map[string]bool{}
	for _, table := range tables(t, db) {
		columns, err := store.All(t.Context(), db, store.Value[string], "SELECT name FROM pragma_table_info(?)", table)
		if err != nil {
			t.Fatal(err)
		}
		found, err := store.All(t.Context(), db, store.Value[string],
			"SELECT '"+table+" ' || QUOTE("+strings.Join(columns, ") || ' ' || QUOTE(")+") FROM "+table)
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range found {
			all[row] = true
		}
	}
	return all
}

// mayChange reports whether any call may change a row: that of a counter, an account or a set of DNS records, which a job
// tries to apply again and again here.
func mayChange(row string) bool {
	for _, begin := range []string{"sequence ", "users ", "dns_record_set "} {
		if strings.HasPrefix(row, begin) {
			return true
		}
	}
	return strings.HasPrefix(row, "job ") && strings.Contains(row, "'dnsrecord.apply'")
}

// Calls for one app, and the work that follows from them, change nothing that another app has, whether both belong to one
// account or to two.
func TestCallsChangeTheirAppAlone(t *testing.T) {
	document := contractDocument(t)
	paths := document["paths"].(map[string]any)
	for _, account := range []string{"bob@example.com", "ann@example.com"} {
		t.Run(account, func(t *testing.T) {
			i := apitest.New(t, "sqlite", apitest.Options{
				Domains: domain.Options{Provider: awayDNS{}},
			})
			standing := i.Prepared(t, account)
			ids := resources(t, i, standing)
			otherCalls(t, i, standing, ids)
			i.Settle(t)
			beginWork(standing, ids, "waiting")
			exec(t, i.DB, "UPDATE job SET run_after = run_after + 1000000000000") // so that none of them runs during the test
			owner := i.Owner(t, "ann@example.com")
			before := everyRow(t, i.DB)
			unchanged := func(after string) {
				t.Helper()
				now := everyRow(t, i.DB)
				for row := range before {
					if !now[row] && !mayChange(row) {
						t.Errorf("%s changes %s", after, row)
						delete(before, row)
					}
				}
			}
			owner.Prepare("another")
			n := &nastyCaller{t: t, api: i.API, credential: owner.Credential, ids: resources(t, i, owner), document: document}
			unused := unused(t, i, owner, n.ids)
			others := otherCalls(t, i, owner, n.ids)
			unchanged("making what the calls are for")
			for _, name := range slices.Backward(slices.Sorted(maps.Keys(others))) { // those that delete are the last
				if answer := others[name](func(*http.Request) {}); answer.Status/100 != 2 {
					t.Errorf("%s answers %d %s", name, answer.Status, answer.Body)
				}
				unchanged(name)
			}
			i.Settle(t)
			unchanged("the work that follows")
			accepted := 0
			for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
				for _, path := range slices.Backward(slices.Sorted(maps.Keys(paths))) {
					operation := at(document, paths[path], strings.ToLower(method))
					if operation == nil {
						continue
					}
					if method == http.MethodDelete {
						n.ids = unused
					}
					target, body := n.valid(path, operation)
					if n.answer(n.request(method, target, body)).Code/100 == 2 {
						accepted++
					}
					unchanged(method + " " + path)
				}
			}
			if i.Settle(t); accepted < 50 {
				t.Errorf("only %d calls are accepted", accepted)
			}
			unchanged("the work that follows")
		})
	}
}

// Reads of an app answer the same when other apps have everything, too.
func TestReadsTellOfTheirAppAlone(t *testing.T) {
	r := allReads(t)
	ofAccount := []string{"/v1/apps?", "/v1/api-keys?", "/v1/audit-events?"}
	r.i.Settle(t)
	r.whole = r.answers()
	for _, account := range []string{"bob@example.com", "ann@example.com"} {
		other := r.i.Owner(t, account)
		other.Prepare("another-of-" + account[:3])
		resources(t, r.i, other)
		for at, answer := range r.answers() {
			if answer != r.whole[at] && (account != "ann@example.com" || !slices.Contains(ofAccount, r.targets[at])) {
				t.Errorf("with another app of %s, GET %s answers %.500s, and without %.500s", account, r.targets[at], answer,
					r.whole[at])
			}
		}
	}
}
