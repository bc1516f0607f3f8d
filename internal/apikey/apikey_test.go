package apikey_test

import (
	"strings"
	"testing"
	"time"

	"github.com/waymarkhq/waymark/internal/apitest"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/store"
)

type M = apitest.M

func TestIssue(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner, eve := i.Prepared(t, "ann@example.com"), i.Prepared(t, "eve@example.com")
		body := func(more M) M {
			m := M{"name": "CI", "appIds": []string{owner.AppID}, "permissions": []string{"links:read", "links:create", "links:read"}}
			for k, v := range more {
				m[k] = v
			}
			return m
		}
		idempotent := apitest.Idempotent(apitest.NewKey())
		r := owner.Call("POST", "/api-keys", body(nil), idempotent).Want(201).
			Has("data.key.expiresAt", `"`+i.Clock.Now().Add(90*24*time.Hour).String()+`"`).Has("data.key.permissions", `["links:create","links:read"]`)
		secret := r.Text("data.secret")
		if !strings.HasPrefix(secret, "svc_test_") || !strings.HasPrefix(secret, r.Text("data.key.prefix")) || len(secret) != 9+32+6 {
			t.Errorf("secret %q, prefix %q", secret, r.Text("data.key.prefix"))
		}
		lost := owner.Call("POST", "/api-keys", body(nil), idempotent).Refused(fault.SecretNotReplayable)
		if lost.Text("error.resource.id") != r.Text("data.key.id") || lost.Header.Get("Location") != r.Header.Get("Location") {
			t.Errorf("a lost secret points at %s, %s", lost.Value("error.resource"), lost.Header.Get("Location"))
		}
		owner.Call("GET", strings.TrimPrefix(r.Header.Get("Location"), "/v1"), nil).Want(200).Has("data.secret", "")

		// The secret is nowhere in the database.
		for _, query := range []string{"SELECT COUNT(*) FROM receipt WHERE body LIKE ? OR header LIKE ?", "SELECT COUNT(*) FROM api_key WHERE digest LIKE ? OR prefix LIKE ?"} {
			n, err := store.One(t.Context(), i.DB, store.Value[int], query, "%"+secret[13:]+"%", "%"+secret[13:]+"%")
			if err != nil || n != 0 {
				t.Errorf("%s: %d, %v", query, n, err)
			}
		}
		for path, more := range map[string]M{
			"/appIds":      {"appIds": []string{owner.AppID, eve.AppID}},
			"/permissions": {"permissions": []string{"api_keys:create"}},
			"/expiresAt":   {"expiresAt": i.Clock.Now().Add(366 * 24 * time.Hour).String()},
			"/name":        {"name": ""},
			"/scope":       {"scope": "*"},
		} {
			owner.Call("POST", "/api-keys", body(more)).Refused(fault.ValidationFailed, path)
		}
		for _, more := range []M{{"appIds": []string{}}, {"permissions": []string{"*"}}, {"expiresAt": "2020-01-01T00:00:00Z"}, {"appIds": []string{"app_none"}}} {
			owner.Call("POST", "/api-keys", body(more)).Refused(fault.ValidationFailed)
		}
	})
}

func TestScope(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		other := owner.Call("POST", "/apps", M{"name": "Other"}).Want(201).Text("data.id")
		key := owner.Key("links:read", "apps:read")
		key.Call("GET", "/apps", nil).Want(200).Has("data.0.id", `"`+owner.AppID+`"`).Has("data.1", "")
		key.Call("GET", "/apps/"+other, nil).Refused(fault.NotFound)
		key.Call("GET", "/links?appId="+other, nil).Refused(fault.NotFound)
		key.Link("a", nil).Refused(fault.InsufficientPermission)
		key.Call("GET", "/api-keys", nil).Refused(fault.InsufficientPermission)
		// Keys of the other environment and mistyped ones.
		for _, bad := range []string{"svc_live_" + key.Credential[9:], key.Credential[:len(key.Credential)-1] + "!", key.Credential + "x", "svc_test_"} {
			i.Client(t, bad).Call("GET", "/apps", nil).Refused(fault.Unauthenticated)
		}
	})
}

func TestReduceAndRevoke(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner, eve := i.Prepared(t, "ann@example.com"), i.Prepared(t, "eve@example.com")
		r := owner.Call("POST", "/api-keys", M{"name": "k", "appIds": []string{owner.AppID}, "permissions": []string{"links:read", "apps:read"}}).Want(201)
		path, key := "/api-keys/"+r.Text("data.key.id"), i.Client(t, r.Text("data.secret"))
		match := apitest.IfMatch(r.Revision())
		owner.Call("PATCH", path, M{"permissions": []string{"links:create"}}, match).Refused(fault.ValidationFailed, "/permissions")
		owner.Call("PATCH", path, M{"expiresAt": "2027-01-01T00:00:00Z"}, match).Refused(fault.ValidationFailed, "/expiresAt")
		reduced := owner.Call("PATCH", path, M{"name": "reader", "permissions": []string{"apps:read"}}, match).Want(200).Has("data.name", `"reader"`)
		key.Call("GET", "/links?appId="+owner.AppID, nil).Refused(fault.InsufficientPermission)
		key.Call("GET", "/apps", nil).Want(200)
		for _, call := range []string{"GET", "PATCH", "DELETE"} {
			var body any
			if call == "PATCH" {
				body = M{"name": "mine"}
			}
			eve.Call(call, path, body, apitest.IfMatch(reduced.Revision())).Refused(fault.NotFound)
		}
		owner.Call("DELETE", path, nil, match).Refused(fault.RevisionConflict)
		owner.Call("DELETE", path, nil).Refused(fault.PreconditionRequired)
		intent := apitest.Idempotent(apitest.NewKey())
		owner.Call("DELETE", path, nil, apitest.IfMatch(reduced.Revision()), intent).Want(204)
		owner.Call("DELETE", path, nil, apitest.IfMatch(reduced.Revision()), intent).Want(204)
		key.Call("GET", "/apps", nil).Refused(fault.Unauthenticated)
		owner.Call("GET", path, nil).Want(200).Has("data.revokedAt", `"`+i.Clock.Now().String()+`"`)
	})
}

func TestRotate(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		r := owner.Call("POST", "/api-keys", M{"name": "k", "appIds": []string{owner.AppID}, "permissions": []string{"apps:read"},
			"expiresAt": i.Clock.Now().Add(2 * time.Hour).String()}).Want(201)
		path, old := "/api-keys/"+r.Text("data.key.id"), i.Client(t, r.Text("data.secret"))
		match := apitest.IfMatch(r.Revision())
		for _, seconds := range []any{-1, 86401, "60", 1.5, nil} {
			owner.Call("POST", path+"/rotate", M{"overlapSeconds": seconds}, match).Refused(fault.ValidationFailed, "/overlapSeconds")
		}
		rotated := owner.Call("POST", path+"/rotate", M{"overlapSeconds": 600}, match).Want(201).
			Has("data.key.expiresAt", r.Value("data.key.expiresAt")).Has("data.key.permissions", `["apps:read"]`)
		next := i.Client(t, rotated.Text("data.secret"))
		old.Call("GET", "/apps", nil).Want(200)
		next.Call("GET", "/apps", nil).Want(200)
		i.Clock.Move(600*time.Second - time.Millisecond)
		old.Call("GET", "/apps", nil).Want(200)
		i.Clock.Move(time.Millisecond)
		old.Call("GET", "/apps", nil).Refused(fault.Unauthenticated)

		// An overlap never extends the expiry, and none ends the old key at once.
		path = "/api-keys/" + rotated.Text("data.key.id")
		third := owner.Call("POST", path+"/rotate", M{"overlapSeconds": 86400}, apitest.IfMatch(rotated.Revision())).Want(201)
		owner.Call("GET", path, nil).Want(200).Has("data.revokedAt", r.Value("data.key.expiresAt"))
		path = "/api-keys/" + third.Text("data.key.id")
		owner.Call("POST", path+"/rotate", M{"overlapSeconds": 0}, apitest.IfMatch(third.Revision())).Want(201)
		i.Client(t, third.Text("data.secret")).Call("GET", "/apps", nil).Refused(fault.Unauthenticated)
		i.Clock.Move(2 * time.Hour)
		next.Call("GET", "/apps", nil).Refused(fault.Unauthenticated)

		for status, want := range map[string]int{"active": 0, "revoked": 3, "expired": 1} {
			if n := owner.Call("GET", "/api-keys?status="+status, nil).Want(200).Len("data"); n != want {
				t.Errorf("%d keys are %s, want %d", n, status, want)
			}
		}
	})
}
