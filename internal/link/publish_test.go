package link_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/waymarkhq/waymark/internal/apitest"
	"github.com/waymarkhq/waymark/internal/route"
	"github.com/waymarkhq/waymark/internal/store"
)

// Whatever is published together is there as it would be alone: links that were
// changed again, that are gone, whose address another one has by now, with tags
// and rules.
func TestPublishedTogether(t *testing.T) {
	apitest.EachWith(t, apitest.Options{LimitScale: 1e6}, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		i.Settle(t)
		tag := owner.Call("POST", "/tags", M{"appId": owner.AppID, "name": "one"}).Want(201).Text("data.id")
		want := map[string]string{} // by slug: link, destination, number of rules, tags
		const links = 40
		var all [links]*apitest.Response
		for n := range all {
			all[n] = owner.Link(fmt.Sprint("s", n), M{"desktopUrl": "https://www.example.com/first"}).Want(201)
		}
		i.Settle(t)
		for n, made := range all {
			slug, id := fmt.Sprint("s", n), made.Text("data.id")
			path, revision := "/links/"+apitest.Path(id), made.Revision()
			change := func(method, path string, body any) {
				t.Helper()
				r := owner.Call(method, path, body, apitest.IfMatch(revision))
				if r.Status/100 != 2 {
					t.Fatalf("%s %s: %d", method, path, r.Status)
				}
				if method != "DELETE" {
					revision = r.Revision()
				}
			}
			destination, rules, tags := "https://www.example.com/first", 0, ""
			switch n % 5 {
			case 1:
				destination = "https://www.example.com/second"
				change("PATCH", path, M{"title": "changed twice"})
				change("PATCH", path, M{"desktopUrl": destination})
			case 2:
				tags = tag
				change("PUT", path+"/tags", M{"tagIds": []string{tag}})
			case 3:
				rules = 2
				change("PUT", path+"/routing-rules", M{"rules": []M{
					{"platform": "ios", "destinationUrl": "https://www.example.com/i"},
					{"country": "DE", "destinationUrl": "https://www.example.com/d"}}})
			case 4:
				change("DELETE", path, nil)
				if n%2 == 0 {
					continue
				}
				id = owner.Link(slug, M{"desktopUrl": destination}).Want(201).Text("data.id")
			}
			want[slug] = fmt.Sprint(id, destination, rules, tags)
		}
		i.Settle(t)
		type row struct{ revision, document string }
		found := map[string]string{}
		rows, err := store.All(t.Context(), i.DB, func(r store.Row) (v row, err error) {
			err = r.Scan(&v.revision, &v.document)
			return v, err
		}, "SELECT revision, document FROM route WHERE path <> ''")
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range rows {
			var l route.Link
			if err := json.Unmarshal([]byte(r.document), &l); err != nil {
				t.Fatal(err)
			}
			found[l.Slug] = fmt.Sprint(l.LinkID, l.DesktopURL, len(l.Rules), strings.Join(l.TagIDs, " "))
			state := owner.Call("GET", "/links/"+apitest.Path(l.LinkID), nil).Want(200)
			if got := state.Text("data.publication.status"); got != "synced" ||
				state.Text("data.publication.confirmedRevision") != r.revision || state.Revision() != r.revision {
				t.Errorf("%s: %s, %v", l.Slug, got, r)
			}
		}
		for slug, w := range want {
			if found[slug] != w {
				t.Errorf("%s: published %q, want %q", slug, found[slug], w)
			}
		}
		if len(found) != len(want) {
			t.Errorf("%d routes, want %d", len(found), len(want))
		}
		// The changes have numbers without a gap, which followers count on.
		numbers, err := store.All(t.Context(), i.DB, store.Value[int64], "SELECT seq FROM route_change ORDER BY seq")
		if err != nil || len(numbers) == 0 {
			t.Fatal(numbers, err)
		}
		if span := numbers[len(numbers)-1] - numbers[0]; span != int64(len(numbers)-1) || !slices.IsSorted(numbers) {
			t.Errorf("%d changes have numbers from %d to %d", len(numbers), numbers[0], numbers[len(numbers)-1])
		}
	})
}
