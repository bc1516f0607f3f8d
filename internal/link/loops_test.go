package link_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/waymarkhq/waymark/internal/apitest"
	"github.com/waymarkhq/waymark/internal/fault"
)

// loops fails the test unless an answer is the refusal of a circle, at each of
// the paths and nowhere else.
func loops(t *testing.T, r *apitest.Response, paths ...string) {
	t.Helper()
	r.Refused(fault.ValidationFailed, paths...)
	if n := r.Len("error.details"); n != len(paths) {
		t.Errorf("%d details, want %v: %s", n, paths, r.Body)
	}
	for n := range paths {
		r.Has(fmt.Sprintf("error.details.%d.code", n), `"redirect_loop"`)
	}
}

// A link does not lead to itself, however its address is written.
func TestLinkToItself(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		create := func(destination string) *apitest.Response {
			return owner.Link("straße", M{"prefix": "p/q", "desktopUrl": destination})
		}
		upper, wide := strings.ToUpper(owner.Host), strings.Replace(owner.Host, "ann", "ａｎｎ", 1)
		for _, itself := range []string{
			owner.Host + "/p/q/straße", upper + "/p/q/straße", wide + "/p/q/straße", owner.Host + "./p/q/straße",
			owner.Host + ":443/p/q/straße", owner.Host + ":0443/p/q/straße",
			owner.Host + "/p/q/stra%C3%9Fe", owner.Host + "/%70/q/straße", owner.Host + "/p/q/straße?x=1",
			owner.Host + "/p/q/straße#x", owner.Host + "/p/q/straße?",
			owner.Host + "/./p/x/../q/straße", owner.Host + "/../p/%2e/q/a%2Fb/%2E%2e/straße",
			owner.Host + "/a//../../p/q/straße",
		} {
			loops(t, create("https://"+itself), "/desktopUrl")
		}
		loops(t, owner.Link("é", M{"desktopUrl": "https://" + owner.Host + "/e\u0301"}), "/desktopUrl")
		loops(t, owner.Link("x", M{"desktopUrl": nil, "playStoreUrl": "https://" + owner.Host + "/x",
			"appStoreUrl": "https://" + owner.Host + "/x", "lifecycle": M{"expiredUrl": "https://" + owner.Host +
				"/x"}}),
			"/playStoreUrl", "/appStoreUrl", "/lifecycle/expiredUrl")
		// What the redirector does not take for the address is another one.
		for n, other := range []string{
			owner.Host + "/p/q/straße/", owner.Host + "/p%2Fq/straße", owner.Host + "/p/q/STRASSE",
			owner.Host + "/p//q/straße", owner.Host + "/p/q/straße/.", owner.Host + ":8443/p/q/straße",
			owner.Host, owner.Host + "/", "www." + owner.Host + "/p/q/straße", owner.Host + "/p/q/stra%25C3%259Fe",
			"192.0.2.1/p/q/straße",
		} {
			r := create("https://" + other).Want(201)
			owner.Call("DELETE", "/links/"+apitest.Path(r.Text("data.id")), nil, apitest.IfMatch(r.Revision())).
				Want(204)
			if n > 0 {
				continue
			}
			// Defaults that a link copies are its own destinations.
			app := owner.Call("GET", "/apps/"+owner.AppID, nil).Want(200)
			app = owner.Call("PUT", "/apps/"+owner.AppID+"/defaults", M{"desktopUrl": "https://" + owner.Host + "/x"},
				apitest.IfMatch(app.Revision())).Want(200)
			loops(t, owner.Call("POST", "/links", M{"appId": owner.AppID, "domain": owner.Host, "slug": "x"}),
				"/desktopUrl")
			owner.Call("PUT", "/apps/"+owner.AppID+"/defaults", M{}, apitest.IfMatch(app.Revision())).Want(200)
		}
		r := owner.Call("POST", "/links/validate", M{"appId": owner.AppID, "domain": owner.Host, "slug": "x",
			"desktopUrl": "https://" + owner.Host + "/x"}).Want(200).Has("data.issues.0.code", `"redirect_loop"`)
		r.Has("data.valid", "false")
	})
}

// Links lead to links, but not in a circle, whichever end is written last, by
// whatever operation and by whatever kind of destination.
func TestCircles(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner, eve := i.Prepared(t, "ann@example.com"), i.Prepared(t, "eve@example.com")
		at := func(c *apitest.Client, slug string) string { return "https://" + c.Host + "/" + slug }
		path := func(r *apitest.Response) string { return "/links/" + apitest.Path(r.Text("data.id")) }
		match := func(r *apitest.Response) apitest.With { return apitest.IfMatch(r.Revision()) }

		// The first leads to where there is no link yet; the circle is closed by a
		// creation, a change, rules, or a copy.
		first := owner.Link("first", M{"desktopUrl": at(eve, "second")}).Want(201)
		loops(t, eve.Link("second", M{"desktopUrl": at(owner, "first") + "?utm=1"}), "/desktopUrl")
		second := eve.Link("second", M{"desktopUrl": at(eve, "third")}).Want(201)
		owner.Link("third", nil).Want(201)
		loops(t, eve.Link("third", M{"appStoreUrl": at(owner, "first"), "playStoreUrl": at(eve, "second"),
			"desktopUrl": at(owner, "third")}), "/playStoreUrl", "/appStoreUrl")
		third := eve.Link("third", nil).Want(201)
		loops(t, eve.Call("PATCH", path(third), M{"lifecycle": M{"expiredUrl": at(owner, "first")}}, match(third)),
			"/lifecycle/expiredUrl")
		loops(t, eve.Call("PUT", path(third)+"/routing-rules",
			M{"rules": []M{{"destinationUrl": "https://example.com/"},
				{"country": "DE", "destinationUrl": at(eve, "second")}}}, match(third)), "/rules/1/destinationUrl")
		loops(t, owner.Call("PATCH", path(first), M{"desktopUrl": at(owner, "first")}, match(first)), "/desktopUrl")

		// A rule in between counts, and an archived link.
		between := owner.Link("between", M{"lifecycle": M{"archived": true}}).Want(201)
		ruled := owner.Call("PUT", path(between)+"/routing-rules",
			M{"rules": []M{{"platform": "ios", "startsAt": "2040-01-01T00:00:00Z",
				"destinationUrl": at(owner, "first")}}}, match(between)).Want(200)
		loops(t, eve.Call("PATCH", path(third), M{"desktopUrl": at(owner, "between")}, match(third)), "/desktopUrl")
		owner.Call("PUT", path(between)+"/routing-rules", M{"rules": []M{}}, match(ruled)).Want(200)
		third = eve.Call("PATCH", path(third), M{"desktopUrl": at(owner, "between")}, match(third)).Want(200)

		// A copy leads where its original does.
		owner.Link("original", M{"desktopUrl": at(owner, "copy")}).Want(201)
		original := owner.Link("other", M{"desktopUrl": at(owner, "original")}).Want(201)
		loops(t, owner.Call("POST", path(original)+"/duplicate", M{"slug": "copy"}), "/slug")
		owner.Call("POST", path(original)+"/duplicate", M{"slug": "copy2"}).Want(201)

		// A batch refuses the item.
		batch := owner.Call("POST", "/link-batches", M{"appId": owner.AppID, "items": []M{
			{"clientId": "a", "action": "create", "input": M{"appId": owner.AppID, "domain": owner.Host, "slug": "a",
				"desktopUrl": at(owner, "b")}},
			{"clientId": "b", "action": "create", "input": M{"appId": owner.AppID, "domain": owner.Host, "slug": "b",
				"desktopUrl": at(owner, "a")}}}}).Want(202)
		i.Settle(t)
		owner.Call("GET", "/link-batches/"+batch.Text("data.id")+"/items", nil).Want(200).
			Has("data.0.state", `"succeeded"`).Has("data.1.error.details.0.code", `"redirect_loop"`)

		// What does not change the destinations is not looked at: a circle of
		// older days can be archived, and opened.
		if _, err := i.DB.Exec(t.Context(), "UPDATE link SET desktop_url = ? WHERE id = ?", at(owner, "first"),
			third.Text("data.id")); err != nil {
			t.Fatal(err)
		}
		second = eve.Call("PATCH", path(second), M{"title": "x", "desktopUrl": at(eve, "third"),
			"lifecycle": M{"archived": true}}, match(second)).Want(200)
		loops(t, eve.Call("PATCH", path(second), M{"playStoreUrl": at(eve, "third")}, match(second)), "/playStoreUrl")
		eve.Call("PATCH", path(second), M{"desktopUrl": "https://example.com/"}, match(second)).Want(200)
		eve.Link("free", M{"desktopUrl": at(owner, "first")}).Want(201)
	})
}

// The search is bounded: through ten links it looks, and two hundred addresses.
func TestLongWays(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner, eve := i.Prepared(t, "ann@example.com"), i.Prepared(t, "eve@example.com")
		at := func(c *apitest.Client, slug string, n int) string {
			return fmt.Sprintf("https://%s/%s%d", c.Host, slug, n)
		}
		for n := 1; n <= 10; n++ { // each leads to the one before, the first to another hostname
			destination := at(owner, "s", n-1)
			if n == 1 {
				destination = at(eve, "end", 0)
			}
			owner.Link(fmt.Sprintf("s%d", n), M{"desktopUrl": destination}).Want(201)
		}
		// through nine, and then an address without a link
		eleventh := owner.Link("s11", M{"desktopUrl": at(owner, "s", 9)}).Want(201)
		path := "/links/" + apitest.Path(eleventh.Text("data.id"))
		loops(t, owner.Call("PATCH", path, M{"desktopUrl": at(owner, "s", 10)}, apitest.IfMatch(eleventh.Revision())),
			"/desktopUrl")
		owner.Call("PATCH", path, M{"playStoreUrl": at(owner, "s", 8)}, apitest.IfMatch(eleventh.Revision())).Want(200)

		rules := func(prefix string, n int) []M {
			all := []M{}
			for k := range n {
				all = append(all, M{"destinationUrl": fmt.Sprintf("https://%s/%s-%d", owner.Host, prefix, k)})
			}
			return all
		}
		// Three links of fifty rules each, all to addresses of the installation.
		for n := range 3 {
			wide := owner.Link(fmt.Sprintf("wide%d", n), M{"desktopUrl": "https://example.com/"}).Want(201)
			owner.Call("PUT", "/links/"+apitest.Path(wide.Text("data.id"))+"/routing-rules",
				M{"rules": rules(fmt.Sprintf("w%d", n), 50)}, apitest.IfMatch(wide.Revision())).Want(200)
		}
		hub := owner.Link("hub", M{"desktopUrl": at(owner, "wide", 0), "playStoreUrl": at(owner, "wide", 1),
			"appStoreUrl": at(owner, "wide", 2)}).Want(201)
		path = "/links/" + apitest.Path(hub.Text("data.id")) + "/routing-rules"
		more := func(n int) M {
			return M{"rules": append(rules("h", n-6), M{"destinationUrl": at(owner, "wide", 0)},
				M{"destinationUrl": at(owner, "wide", 1)}, M{"destinationUrl": at(owner, "wide", 2)})}
		}
		r := owner.Call("PUT", path, more(50), apitest.IfMatch(hub.Revision())).Want(200) // 44 + 3 + 150
		// Its desktop URL was looked at already, and does not count again.
		if _, err := i.DB.Exec(t.Context(), `UPDATE link SET app_store_url = ?, play_store_url = ?, expired_url = ?,
			desktop_url = ? WHERE slug = 'wide0'`, at(owner, "z", 1), at(owner, "z", 2), at(owner, "z", 3),
			at(owner, "h-", 0)); err != nil {
			t.Fatal(err)
		}
		r = owner.Call("PUT", path, more(50), apitest.IfMatch(r.Revision())).Want(200) // 200
		loops(t, owner.Call("PUT", path, more(51), apitest.IfMatch(r.Revision())), "/rules/45/destinationUrl",
			"/rules/46/destinationUrl", "/rules/47/destinationUrl")
	})
}

// Links that are looked at together may lead to a thousand addresses.
func TestWideWays(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		outside := func(n int) string { return fmt.Sprintf("https://example.com/%d", n) }
		rulesOf := func(link *apitest.Response, n int, destination func(int) string) *apitest.Response {
			t.Helper()
			rules := []M{}
			for k := range n {
				rules = append(rules, M{"destinationUrl": destination(k)})
			}
			path := "/links/" + apitest.Path(link.Text("data.id"))
			return owner.Call("PUT", path+"/routing-rules", M{"rules": rules},
				apitest.IfMatch(owner.Call("GET", path, nil).Revision()))
		}
		for n := range 20 {
			wide := owner.Link(fmt.Sprintf("wide%d", n), M{"desktopUrl": outside(0)}).Want(201)
			rulesOf(wide, 50, func(k int) string { return outside(50*n + k) }).Want(200)
		}
		hub := owner.Link("hub", M{"desktopUrl": outside(0)}).Want(201)
		toAll := func(n int) string { return fmt.Sprintf("https://%s/wide%d", owner.Host, n) }
		rulesOf(hub, 20, toAll).Want(200)
		if _, err := i.DB.Exec(t.Context(), "UPDATE link SET app_store_url = ? WHERE slug = 'wide0'",
			outside(1000)); err != nil {
			t.Fatal(err)
		}
		rulesOf(hub, 20, toAll).Refused(fault.ValidationFailed)
	})
}
