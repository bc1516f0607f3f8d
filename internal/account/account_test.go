package account_test

import (
	"testing"

	"github.com/waymarkhq/waymark/internal/apitest"
	"github.com/waymarkhq/waymark/internal/fault"
)

type M = apitest.M

func TestMe(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		me := owner.Call("GET", "/me", nil).Want(200).Has("data.actorType", `"human"`).
			Has("data.displayName", `"ann@example.com"`).Has("data.email", `"ann@example.com"`)
		changed := owner.Call("PATCH", "/me", M{"displayName": "Ann", "photoUrl": "https://example.com/a.png"},
			apitest.IfMatch(me.Revision())).
			Want(200).Has("data.displayName", `"Ann"`)
		if changed.Revision() == me.Revision() {
			t.Error("the change kept its revision")
		}
		owner.Call("PATCH", "/me", M{"displayName": "Eve"}, apitest.IfMatch(me.Revision())).
			Refused(fault.RevisionConflict)
		owner.Call("PATCH", "/me", M{"photoUrl": nil}, apitest.IfMatch(changed.Revision())).Want(200).
			Has("data.displayName", `"Ann"`).Has("data.photoUrl", "null")
		now := apitest.IfMatch(owner.Call("GET", "/me", nil).Revision())
		for path, body := range map[string]M{
			"/email": {"email": "x@example.com"}, "/displayName": {"displayName": nil},
			"/photoUrl": {"photoUrl": "http://example.com"},
		} {
			owner.Call("PATCH", "/me", body, now).Refused(fault.ValidationFailed, path)
		}

		// A key is a minimal technical identity and may not change the profile.
		key := owner.Key("identity:read")
		key.Call("GET", "/me", nil).Want(200).Has("data.actorType", `"api_key"`).Has("data.displayName", "null").
			Has("data.email", "").Has("data.userId", me.Value("data.userId"))
		key.Call("PATCH", "/me", M{"displayName": "x"}, now).Refused(fault.InsufficientPermission)
	})
}

func TestPreferences(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner, eve := i.Prepared(t, "ann@example.com"), i.Prepared(t, "eve@example.com")
		p := owner.Call("GET", "/me/preferences", nil).Want(200).Has("data.theme", `"system"`).
			Has("data.selectedAppId", "null")
		p = owner.Call("PATCH", "/me/preferences", M{"selectedAppId": owner.AppID, "theme": "dark"},
			apitest.IfMatch(p.Revision())).Want(200).
			Has("data.selectedAppId", `"`+owner.AppID+`"`)
		match := apitest.IfMatch(p.Revision())
		for _, body := range []M{{"selectedAppId": eve.AppID}, {"selectedAppId": "app_none"}} {
			owner.Call("PATCH", "/me/preferences", body, match).Refused(fault.ValidationFailed, "/selectedAppId")
		}
		owner.Call("PATCH", "/me/preferences", M{"theme": "pink"}, match).Refused(fault.ValidationFailed, "/theme")
		// The selection of an app that is deleted changes under a new revision.
		other := owner.Call("POST", "/apps", M{"name": "Other"}).Want(201)
		p = owner.Call("PATCH", "/me/preferences", M{"selectedAppId": other.Text("data.id")}, match).Want(200)
		third := owner.Call("POST", "/apps", M{"name": "Third"}).Want(201)
		owner.Call("DELETE", "/apps/"+third.Text("data.id"), nil, apitest.IfMatch(third.Revision())).Want(204)
		if same := owner.Call("GET", "/me/preferences", nil).Want(200).
			Has("data", p.Value("data")); same.Revision() != p.Revision() {
			t.Error("the deletion of an app that is not selected changed the preferences")
		}
		owner.Call("DELETE", "/apps/"+other.Text("data.id"), nil, apitest.IfMatch(other.Revision())).Want(204)
		if left := owner.Call("GET", "/me/preferences", nil).Want(200).
			Has("data.selectedAppId", "null"); left.Revision() == p.Revision() {
			t.Error("the selection went under the same revision")
		}
		owner.Call("PATCH", "/me/preferences", M{"theme": "light"}, apitest.IfMatch(p.Revision())).
			Refused(fault.RevisionConflict)
		match = apitest.IfMatch(owner.Call("GET", "/me/preferences", nil).Revision())
		owner.Call("PATCH", "/me/preferences", M{"selectedAppId": nil}, match).Want(200).
			Has("data.selectedAppId", "null").Has("data.theme", `"dark"`)
		owner.Key("links:read").Call("GET", "/me/preferences", nil).Refused(fault.InsufficientPermission)
	})
}

func TestTimesOfOwners(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		match := apitest.IfMatch(owner.Call("GET", "/me/preferences", nil).Want(200).
			Has("data.timezone", "null").Has("data.locale", "null").Revision())
		for path, values := range map[string][]any{
			"/timezone": {"", "Mars/Olympus", "Local", "posix/Europe/Berlin", "../zone", 1},
			"/locale":   {"", "english", "zz", "de DE", "e", true},
		} {
			for _, v := range values {
				owner.Call("PATCH", "/me/preferences", M{path[1:]: v}, match).Refused(fault.ValidationFailed, path)
			}
		}
		p := owner.Call("PATCH", "/me/preferences", M{"timezone": "America/Sao_Paulo", "locale": "pt_br"}, match).Want(200).
			Has("data.timezone", `"America/Sao_Paulo"`).Has("data.locale", `"pt-BR"`).Has("data.theme", `"system"`)
		p = owner.Call("PATCH", "/me/preferences", M{"theme": "dark"}, apitest.IfMatch(p.Revision())).Want(200)
		owner.Call("GET", "/me/preferences", nil).Want(200).Has("data", p.Value("data")).
			Has("data.timezone", `"America/Sao_Paulo"`).Has("data.locale", `"pt-BR"`)
		owner.Call("PATCH", "/me/preferences", M{"timezone": nil, "locale": nil}, apitest.IfMatch(p.Revision())).Want(200).
			Has("data.timezone", "null").Has("data.locale", "null").Has("data.theme", `"dark"`)
	})
}
