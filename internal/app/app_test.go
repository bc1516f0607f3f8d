package app_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/waymarkhq/waymark/internal/apitest"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/store"
)

type M = apitest.M

func TestCreateAndChange(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		r := owner.Call("POST", "/apps", M{"name": " Shop ", "desktopUrl": "https://shop.example", "scheme": "shop",
			"androidPackage": "com.example.shop",
			"iosBundleId":    "com.example.shop", "iosTeamId": "ABCDE12345"}).Want(201).Has("data.name", `"Shop"`).
			Has("data.logoAssetId", "null")
		if r.Header.Get("Location") != "/v1/apps/"+r.Text("data.id") {
			t.Errorf("Location %s", r.Header.Get("Location"))
		}
		path, match := "/apps/"+r.Text("data.id"), apitest.IfMatch(r.Revision())
		for path, body := range map[string]M{
			"/name": {"name": " "}, "/desktopUrl": {"desktopUrl": "https://u:p@shop.example"},
			"/playStoreUrl":   {"playStoreUrl": "market://x"},
			"/appStoreUrl":    {"appStoreUrl": "https://" + strings.Repeat("a", 4096)},
			"/androidPackage": {"androidPackage": "shop"},
			"/iosBundleId":    {"iosBundleId": "shop"}, "/iosTeamId": {"iosTeamId": "abc"},
			"/defaultDomain": {"defaultDomain": "links.example"}, "/logoAssetId": {"logoAssetId": "x"},
		} {
			owner.Call("PATCH", "/apps/"+r.Text("data.id"), body, match).Refused(fault.ValidationFailed, path)
		}
		for _, scheme := range []string{"https", "javascript", "intent", "Shop", "s", "shop://", "1shop",
			strings.Repeat("s", 65)} {
			owner.Call("PATCH", path, M{"scheme": scheme}, match).Refused(fault.ValidationFailed, "/scheme")
		}
		r = owner.Call("PATCH", path, M{"scheme": nil, "playStoreUrl": "https://play.example/shop"}, match).Want(200).
			Has("data.scheme", "null").Has("data.desktopUrl", `"https://shop.example"`)
		// PUT defaults replaces: what is omitted is cleared, under the app's revision.
		d := owner.Call("PUT", path+"/defaults", M{"appStoreUrl": "https://apps.example/shop"},
			apitest.IfMatch(r.Revision())).Want(200).
			Has("data.desktopUrl", "null").Has("data.appStoreUrl", `"https://apps.example/shop"`)
		owner.Call("GET", path, nil).Want(200).Has("data.revision", `"`+d.Revision()+`"`).
			Has("data.playStoreUrl", "null").Has("data.androidPackage", `"com.example.shop"`)
		owner.Call("GET", path+"/defaults", nil).Want(200).Has("data.appStoreUrl", `"https://apps.example/shop"`)

		// A default domain must be one of the app.
		own, ownMatch := "/apps/"+owner.AppID, owner.Call("GET", "/apps/"+owner.AppID, nil).Revision()
		owner.Call("PATCH", own, M{"defaultDomain": strings.ToUpper(owner.Host)}, apitest.IfMatch(ownMatch)).Want(200).
			Has("data.defaultDomain", `"`+owner.Host+`"`)
		owner.Call("PATCH", path, M{"defaultDomain": owner.Host}, apitest.IfMatch(d.Revision())).
			Refused(fault.ValidationFailed, "/defaultDomain")

		owner.Key("apps:read", "links:read").Call("POST", "/apps", M{"name": "x"}).Refused(fault.InsufficientPermission)
	})
}

func TestListAndScope(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner, eve := i.Owner(t, "ann@example.com"), i.Prepared(t, "eve@example.com")
		for n := range 7 {
			owner.Call("POST", "/apps", M{"name": fmt.Sprintf("Ärger %d 100%%", n)}).Want(201)
			i.Clock.Move(time.Duration(n%2) * time.Second) // some share an instant
		}
		var seen []string
		cursor := ""
		for pages := 0; ; pages++ {
			r := owner.Call("GET", "/apps?limit=3"+cursor, nil).Want(200)
			for n := range r.Len("data") {
				seen = append(seen, r.Text(fmt.Sprintf("data.%d.id", n)))
			}
			if r.Value("pagination.hasMore") == "false" {
				r.Has("pagination.nextCursor", "null")
				break
			}
			cursor = "&cursor=" + r.Text("pagination.nextCursor")
			if pages == 0 {
				// A cursor is worth nothing elsewhere, altered, or later.
				owner.Call("GET", "/apps?limit=4"+cursor, nil).Refused(fault.InvalidRequest, "query.cursor")
				eve.Call("GET", "/apps?limit=3"+cursor, nil).Refused(fault.InvalidRequest, "query.cursor")
				owner.Call("GET", "/apps?limit=3"+cursor+"A", nil).Refused(fault.InvalidRequest, "query.cursor")
				owner.Call("GET", "/apps?limit=3&q=x"+cursor, nil).Refused(fault.InvalidRequest, "query.cursor")
			}
		}
		if len(seen) != 7 {
			t.Fatalf("paging showed %d apps, want 7", len(seen))
		}
		for n := 1; n < len(seen); n++ {
			if seen[n] == seen[n-1] {
				t.Errorf("paging repeated %s", seen[n])
			}
		}
		r := owner.Call("GET", "/apps?limit=3", nil).Want(200)
		i.Clock.Move(15*time.Minute + time.Second)
		owner.Call("GET", "/apps?limit=3&cursor="+r.Text("pagination.nextCursor"), nil).
			Refused(fault.InvalidRequest, "query.cursor")

		for q, want := range map[string]int{"%C3%A4RGER": 7, "arger": 0, "0%25": 7, "_": 0, "3 100": 1} {
			if n := owner.Call("GET", "/apps?q="+strings.ReplaceAll(q, " ", "+"), nil).Want(200).
				Len("data"); n != want {
				t.Errorf("q=%s finds %d, want %d", q, n, want)
			}
		}
		// Another owner's app looks like none.
		for _, path := range []string{"/apps/" + eve.AppID, "/apps/app_none", "/apps/" + eve.AppID + "/defaults",
			"/apps/" + eve.AppID + "/usage", "/apps/" + eve.AppID + "/capabilities"} {
			owner.Call("GET", path, nil).Refused(fault.NotFound)
		}
		owner.Call("PATCH", "/apps/"+eve.AppID, M{"name": "mine"},
			apitest.IfMatch(eve.Call("GET", "/apps/"+eve.AppID, nil).Revision())).Refused(fault.NotFound)
	})
}

func TestDelete(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		owner.Link("a", nil).Want(201)
		key := owner.Key("apps:read", "apps:delete")
		match := apitest.IfMatch(owner.Call("GET", "/apps/"+owner.AppID, nil).Revision())
		r := owner.Call("DELETE", "/apps/"+owner.AppID, nil, match).Refused(fault.ResourceConflict)
		r.Has("error.dependencies.0.type", `"link"`).Has("error.dependencies.0.count", "1").
			Has("error.dependencies.0.availableAt", "").
			Has("error.dependencies.1.type", `"domain"`).Has("error.dependencies.1.availableAt", "").
			Has("error.dependencies.2", "")

		empty := owner.Call("POST", "/apps", M{"name": "Empty"}).Want(201)
		id := empty.Text("data.id")
		issued := owner.Call("POST", "/api-keys", M{"name": "k", "appIds": []string{id, owner.AppID},
			"permissions": []string{"apps:read", "apps:delete"}}).Want(201)
		both := i.Client(t, issued.Text("data.secret"))
		key.Call("DELETE", "/apps/"+id, nil, apitest.IfMatch(empty.Revision())).Refused(fault.NotFound)
		intent := apitest.Idempotent(apitest.NewKey())
		both.Call("DELETE", "/apps/"+id, nil, apitest.IfMatch(empty.Revision()), intent).Want(204)
		both.Call("DELETE", "/apps/"+id, nil, apitest.IfMatch(empty.Revision()), intent).Want(204)
		owner.Call("GET", "/apps/"+id, nil).Refused(fault.NotFound)
		owner.Call("GET", "/api-keys/"+issued.Text("data.key.id"), nil).Want(200).
			Has("data.appIds", `["`+owner.AppID+`"]`)
	})
}

// The history of a deleted link and the record of a removed domain are kept for
// thirty days, and their app with them; then the app goes, swept or not.
func TestDeleteAfterRetention(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		for _, swept := range []bool{false, true} {
			email := fmt.Sprintf("swept-%v@example.com", swept)
			owner := i.Prepared(t, email)
			app := "/apps/" + owner.AppID
			link := owner.Link("a", nil).Want(201)
			path := "/links/" + apitest.Path(link.Text("data.id"))
			owner.Call("DELETE", path, nil, apitest.IfMatch(link.Revision())).Want(204)
			i.Settle(t)
			i.Clock.Move(time.Hour)
			removed := i.Clock.Now()
			// Nothing removes a domain yet.
			if _, err := i.DB.Exec(t.Context(), `UPDATE domain
				SET detached = TRUE, links = 'blocked', removal_state = 'removed', updated_at = ?
				WHERE hostname = ?`, removed, owner.Host); err != nil {
				t.Fatal(err)
			}
			remove := func() *apitest.Response {
				i.Settle(t)
				owner.Credential = i.Owner(t, email).Credential // sessions end sooner
				if swept {
					i.Sweep(t)
				}
				return owner.Call("DELETE", app, nil, apitest.IfMatch(owner.Call("GET", app, nil).Want(200).Revision()))
			}
			const days30 = 30 * 24 * time.Hour
			remove().Refused(fault.ResourceConflict).Has("error.dependencies.2", "").
				Has("error.dependencies.0.type", `"link_history"`).Has("error.dependencies.0.count", "1").
				Has("error.dependencies.0.ids.0", link.Value("data.id")).
				Has("error.dependencies.0.availableAt", `"`+removed.Add(days30-time.Hour).String()+`"`).
				Has("error.dependencies.1.type", `"removed_domain"`).Has("error.dependencies.1.count", "1").
				Has("error.dependencies.1.availableAt", `"`+removed.Add(days30).String()+`"`)
			i.Clock.Move(days30 - time.Hour - time.Microsecond)
			remove().Refused(fault.ResourceConflict).Has("error.dependencies.0.type", `"link_history"`).
				Has("error.dependencies.1.type", `"removed_domain"`)
			owner.Call("GET", path+"/history", nil).Want(200).Has("data.1.action", `"created"`)
			i.Clock.Move(time.Microsecond)
			remove().Refused(fault.ResourceConflict).Has("error.dependencies.0.type", `"removed_domain"`).
				Has("error.dependencies.1", "")
			if swept {
				owner.Call("GET", path+"/history", nil).Refused(fault.NotFound)
			}
			i.Clock.Move(time.Hour)
			remove().Want(204)
			i.Sweep(t)
			for _, table := range []string{"link_history", "domain"} {
				if left, err := store.Exists(t.Context(), i.DB, "SELECT 1 FROM "+table+" WHERE app_id = ?",
					owner.AppID); err != nil || left {
					t.Errorf("%s still has rows of the app: %v, %v", table, left, err)
				}
			}
		}
	})
}

// Deleting the selected app changes the preferences that named it.
func TestDeleteSelected(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Owner(t, "ann@example.com")
		app := owner.Call("POST", "/apps", M{"name": "App"}).Want(201)
		before := owner.Call("GET", "/me/preferences", nil).Want(200)
		before = owner.Call("PATCH", "/me/preferences", M{"selectedAppId": app.Text("data.id")},
			apitest.IfMatch(before.Revision())).Want(200)
		owner.Call("DELETE", "/apps/"+app.Text("data.id"), nil, apitest.IfMatch(app.Revision())).Want(204)
		owner.Call("GET", "/me/preferences", nil).Want(200).Has("data.selectedAppId", "null")
		owner.Call("PATCH", "/me/preferences", M{"theme": "dark"}, apitest.IfMatch(before.Revision())).
			Refused(fault.RevisionConflict)
	})
}
