package app_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/waymarkhq/waymark/internal/apitest"
	"github.com/waymarkhq/waymark/internal/binding"
	"github.com/waymarkhq/waymark/internal/opt"
	"github.com/waymarkhq/waymark/internal/page"
	"github.com/waymarkhq/waymark/internal/route"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/text"
)

// TestShown has what visitors see of an app follow its changes.
func TestShown(t *testing.T) {
	iPhone := http.Header{"User-Agent": {"Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 " +
		"(KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1"}}
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		app, host := "/apps/"+owner.AppID, "https://"+owner.Host
		domain := "/domains/" + owner.Call("GET", "/domains?appId="+owner.AppID, nil).Text("data.0.id")
		owner.Link("x", M{"desktopUrl": "https://example.com/page", "appPath": "products/7"}).Want(201)
		i.Settle(t)
		i.Visit(t, host+"/x", iPhone, func(r *http.Response) bool { return r.StatusCode == 302 })
		before := owner.Call("GET", domain, nil)
		change := func(method, path string, body any) {
			t.Helper()
			if r := owner.Call(method, path, body, apitest.IfMatch(owner.Call("GET", app,
				nil).Revision())); r.Status >= 300 {
				t.Fatalf("%s %s: %s", method, path, r.Body)
			}
			i.Settle(t)
		}
		// shows waits until a page has a text, or does not have it any more.
		shows := func(path string, header http.Header, has bool, part string) {
			t.Helper()
			i.Visit(t, host+path, header, func(r *http.Response) bool {
				body, err := io.ReadAll(r.Body)
				if err != nil {
					t.Fatal(err)
				}
				return r.StatusCode != 302 && strings.Contains(string(body), part) == has
			})
		}
		change("PATCH", app, M{"name": "Blue Shop"})
		shows("/unknown", nil, true, "Blue Shop")
		change("PATCH", app, M{"desktopUrl": "https://bücher.example/"})
		shows("/unknown", nil, true, `href="https://xn--bcher-kva.example/"`)
		change("PUT", app+"/defaults", M{})
		shows("/unknown", nil, false, "bcher")
		change("PATCH", app, M{"scheme": "shop"})
		shows("/x", iPhone, true, `href="shop://products/7?`)
		change("PATCH", app, M{"scheme": "store"})
		shows("/x", iPhone, true, `href="store://products/7?`)

		drawn := apitest.Picture(t)
		const icon = "data:image/png;base64,iVBORw0KGgo="
		asset := owner.Upload("image/png", drawn).Want(201).Text("data.id")
		if _, err := i.DB.Exec(t.Context(), "UPDATE asset SET icon = ? WHERE id = ?", icon, asset); err != nil {
			t.Fatal(err)
		}
		change("PUT", app+"/logo", M{"assetId": asset})
		owner.Call("PUT", app+"/logo", M{"assetId": asset}, apitest.IfMatch(owner.Call("GET", app, nil).Revision())).Want(200)
		owner.Call("GET", domain, nil).Want(200).Has("data.publication.status", `"synced"`) // the same logo
		shows("/x", iPhone, true, icon)
		shows("/unknown", nil, true, icon)
		change("DELETE", app+"/logo", nil)
		shows("/x", iPhone, false, icon)

		// The templates that hold are the domain's, then the app's.
		for id, heading := range map[string]string{"a": "Of the app", "d": "Of the domain"} {
			if err := i.DB.InTx(t.Context(), func(tx *store.Tx) error {
				return route.PutTemplate(t.Context(), tx, id, 1, route.TemplateVersion{AppID: owner.AppID,
					Base:   binding.IOS,
					Config: page.Config{Content: opt.OptOf(page.Content{Heading: opt.OptOf(text.Line(heading))})}})
			}); err != nil {
				t.Fatal(err)
			}
		}
		choose := func(table, id string, choice binding.Selection) {
			t.Helper()
			var b binding.Bindings
			b.Choose(binding.IOS, opt.NullOf(choice))
			column, err := b.Column()
			if err == nil {
				_, err = i.DB.Exec(t.Context(), "UPDATE "+table+" SET template_defaults = ? WHERE id = ?", column, id)
			}
			if err != nil {
				t.Fatal(err)
			}
			change("PATCH", app, M{"name": "Shop with " + id + string(choice.Mode)})
		}
		domainID := strings.TrimPrefix(domain, "/domains/")
		choose("app", owner.AppID, binding.CustomOf("a", 1))
		shows("/x", iPhone, true, ">Of the app</h1>")
		choose("domain", domainID, binding.CustomOf("d", 1))
		shows("/x", iPhone, true, ">Of the domain</h1>")
		choose("domain", domainID, binding.Selection{Mode: binding.Official})
		shows("/x", iPhone, false, ">Of the ")
		choose("domain", domainID, binding.Selection{Mode: binding.Inherit})
		shows("/x", iPhone, true, ">Of the app</h1>")

		// Nothing of that is the domain's own.
		if after := owner.Call("GET", domain, nil).Has("data.publication.status",
			`"synced"`); after.Revision() != before.Revision() {
			t.Error("the domain got a new revision")
		}
		// What visitors do not see is not published again.
		jobs := func() int64 {
			n, err := store.One(t.Context(), i.DB, store.Value[int64],
				"SELECT COUNT(*) FROM job WHERE kind = 'domain.publish'")
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		revision := owner.Call("GET", app, nil).Revision()
		r := owner.Call("PATCH", app, M{"playStoreUrl": "https://play.example/shop"},
			apitest.IfMatch(revision)).Want(200)
		if n := jobs(); n != 0 {
			t.Errorf("%d jobs for a change that no visitor sees", n)
		}
		owner.Call("PATCH", app, M{"name": "Red Shop"}, apitest.IfMatch(r.Revision())).Want(200)
		if n := jobs(); n != 1 {
			t.Errorf("%d jobs for a change that visitors see", n)
		}
	})
}
