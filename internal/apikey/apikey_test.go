package apikey_test

import (
	"strconv"
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
			m := M{"name": "CI", "appIds": []string{owner.AppID},
				"permissions": []string{"links:read", "links:create", "links:read"}}
			for k, v := range more {
				m[k] = v
			}
			return m
		}
		idempotent := apitest.Idempotent(apitest.NewKey())
		r := owner.Call("POST", "/api-keys", body(nil), idempotent).Want(201).
			Has("data.key.expiresAt", `"`+i.Clock.Now().Add(90*24*time.Hour).String()+`"`).
			Has("data.key.permissions", `["links:create","links:read"]`)
		secret := r.Text("data.secret")
		if !strings.HasPrefix(secret, "svc_test_") || !strings.HasPrefix(secret, r.Text("data.key.prefix")) ||
			len(secret) != 9+32+6 {
			t.Errorf("secret %q, prefix %q", secret, r.Text("data.key.prefix"))
		}
		lost := owner.Call("POST", "/api-keys", body(nil), idempotent).Refused(fault.SecretNotReplayable)
		if lost.Text("error.resource.id") != r.Text("data.key.id") ||
			lost.Header.Get("Location") != r.Header.Get("Location") {
			t.Errorf("a lost secret points at %s, %s", lost.Value("error.resource"), lost.Header.Get("Location"))
		}
		owner.Call("GET", strings.TrimPrefix(r.Header.Get("Location"), "/v1"), nil).Want(200).Has("data.secret", "")

		// The secret is nowhere in the database.
		for _, query := range []string{"SELECT COUNT(*) FROM receipt WHERE body LIKE ? OR header LIKE ? " +
			"OR has_secret AND COALESCE(LENGTH(packed), 0) > 0",
			"SELECT COUNT(*) FROM api_key WHERE digest LIKE ? OR prefix LIKE ?"} {
			n, err := store.One(t.Context(), i.DB, store.Value[int], query, "%"+secret[13:]+"%", "%"+secret[13:]+"%")
			if err != nil || n != 0 {
				t.Errorf("%s: %d, %v", query, n, err)
			}
		}
		for path, more := range map[string]M{
			"/appIds/1":      {"appIds": []string{owner.AppID, eve.AppID}},
			"/permissions/0": {"permissions": []string{"api_keys:create"}},
			"/expiresAt":     {"expiresAt": i.Clock.Now().Add(366 * 24 * time.Hour).String()},
			"/name":          {"name": ""},
			"/scope":         {"scope": "*"},
		} {
			owner.Call("POST", "/api-keys", body(more)).Refused(fault.ValidationFailed, path)
		}
		for _, more := range []M{{"appIds": []string{}}, {"permissions": []string{"*"}},
			{"expiresAt": "2020-01-01T00:00:00Z"}, {"appIds": []string{"app_none"}}} {
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
		for _, bad := range []string{"svc_live_" + key.Credential[9:], key.Credential[:len(key.Credential)-1] + "!",
			key.Credential + "x", "svc_test_"} {
			i.Client(t, bad).Call("GET", "/apps", nil).Refused(fault.Unauthenticated)
		}
	})
}

func TestReduceAndRevoke(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner, eve := i.Prepared(t, "ann@example.com"), i.Prepared(t, "eve@example.com")
		r := owner.Call("POST", "/api-keys", M{"name": "k", "appIds": []string{owner.AppID},
			"permissions": []string{"links:read", "apps:read"}}).Want(201)
		path, key := "/api-keys/"+r.Text("data.key.id"), i.Client(t, r.Text("data.secret"))
		match := apitest.IfMatch(r.Revision())
		owner.Call("PATCH", path, M{"permissions": []string{"links:create"}}, match).
			Refused(fault.ValidationFailed, "/permissions/0")
		owner.Call("PATCH", path, M{"expiresAt": "2027-01-01T00:00:00Z"}, match).
			Refused(fault.ValidationFailed, "/expiresAt")
		reduced := owner.Call("PATCH", path, M{"name": "reader", "permissions": []string{"apps:read"}}, match).
			Want(200).Has("data.name", `"reader"`)
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
		r := owner.Call("POST", "/api-keys", M{"name": "k", "appIds": []string{owner.AppID},
			"permissions": []string{"apps:read"},
			"expiresAt":   i.Clock.Now().Add(2 * time.Hour).String()}).Want(201)
		path, old := "/api-keys/"+r.Text("data.key.id"), i.Client(t, r.Text("data.secret"))
		match := apitest.IfMatch(r.Revision())
		for _, seconds := range []any{-1, 86401, "60", 1.5, nil} {
			owner.Call("POST", path+"/rotate", M{"overlapSeconds": seconds}, match).
				Refused(fault.ValidationFailed, "/overlapSeconds")
		}
		rotated := owner.Call("POST", path+"/rotate", M{"overlapSeconds": 600}, match).Want(201).
			Has("data.key.expiresAt", r.Value("data.key.expiresAt")).Has("data.key.permissions", `["apps:read"]`)
		next := i.Client(t, rotated.Text("data.secret"))
		old.Call("GET", "/apps", nil).Want(200)
		next.Call("GET", "/apps", nil).Want(200)
		// It has its one successor, although it is still in force.
		replaced := owner.Call("GET", path, nil).Want(200)
		owner.Call("POST", path+"/rotate", M{"overlapSeconds": 600}, apitest.IfMatch(replaced.Revision())).
			Refused(fault.ResourceConflict)
		owner.Call("GET", path, nil).Want(200).Has("data", replaced.Value("data"))
		next.Call("GET", "/apps", nil).Want(200)
		i.Clock.Move(600*time.Second - time.Millisecond)
		old.Call("GET", "/apps", nil).Want(200)
		i.Clock.Move(time.Millisecond)
		old.Call("GET", "/apps", nil).Refused(fault.Unauthenticated)

		// An overlap never extends the expiry, and none ends the old key at once.
		path = "/api-keys/" + rotated.Text("data.key.id")
		third := owner.Call("POST", path+"/rotate", M{"overlapSeconds": 86400}, apitest.IfMatch(rotated.Revision())).
			Want(201)
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

// Rotation does not reset the windows: all keys of a chain count against the
// same ones, each other key against its own.
func TestRotationKeepsWindows(t *testing.T) {
	apitest.EachWith(t, apitest.Options{LimitScale: 0.1}, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		issued := owner.Call("POST", "/api-keys", M{"name": "k", "appIds": []string{owner.AppID},
			"permissions": []string{"identity:read", "usage:read"}}).Want(201)
		other := owner.Key("identity:read")
		chain := []*apitest.Client{i.Client(t, issued.Text("data.secret"))}
		rotate := func() {
			t.Helper()
			issued = owner.Call("POST", "/api-keys/"+issued.Text("data.key.id")+"/rotate", M{"overlapSeconds": 600},
				apitest.IfMatch(issued.Text("data.key.revision"))).Want(201)
			chain = append(chain, i.Client(t, issued.Text("data.secret")))
		}
		used := func(want int) {
			t.Helper()
			for _, k := range chain {
				want++ // the question itself counts
				k.Call("GET", "/apps/"+owner.AppID+"/usage", nil).Want(200).
					Has("data.usage.read.used", strconv.Itoa(want)).Has("data.usage.entry.used", strconv.Itoa(want))
			}
		}
		read := func(times int) {
			t.Helper()
			for n := range times {
				chain[n%len(chain)].Call("GET", "/me", nil).Want(200)
			}
		}
		read(20)
		used(20)
		rotate()
		read(10)
		used(31)
		rotate()
		read(24)
		used(57)
		for _, k := range chain {
			if r := k.Call("GET", "/me", nil).
				Refused(fault.RateLimited); r.Header.Get("X-RateLimit-Policy") != `60;w=60;name="read";by="credential"` {
				t.Errorf("policy %s", r.Header.Get("X-RateLimit-Policy"))
			}
		}
		rotate()
		chain[3].Call("GET", "/me", nil).Refused(fault.RateLimited)
		other.Call("GET", "/me", nil).Want(200)
		i.Clock.Move(time.Minute)
		used(0)
	})
}

// DELETE of a key that is not in force any more is answered like any other: GET
// still shows it.
func TestRevokeAgain(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		issue := func() (path, revision string) {
			r := owner.Call("POST", "/api-keys", M{"name": "k", "appIds": []string{owner.AppID},
				"permissions": []string{"apps:read"},
				"expiresAt":   i.Clock.Now().Add(time.Hour).String()}).Want(201)
			return "/api-keys/" + r.Text("data.key.id"), r.Text("data.key.revision")
		}
		path, first := issue()
		owner.Call("DELETE", path, nil, apitest.IfMatch(first)).Want(204)
		revoked := owner.Call("GET", path, nil).Want(200)
		i.Clock.Move(time.Minute)
		owner.Call("DELETE", path, nil, apitest.IfMatch(first)).Refused(fault.RevisionConflict)
		owner.Call("DELETE", path, nil, apitest.IfMatch(revoked.Revision())).Want(204)
		owner.Call("GET", path, nil).Want(200).Has("data", revoked.Value("data"))

		path, revision := issue()
		i.Clock.Move(time.Hour)
		owner.Call("DELETE", path, nil, apitest.IfMatch(revision)).Want(204)
		owner.Call("GET", path, nil).Want(200).Has("data.revokedAt", `"`+i.Clock.Now().String()+`"`)
		owner.Call("DELETE", "/api-keys/none", nil, apitest.IfMatch(revision)).Refused(fault.NotFound)
	})
}

// The deletion of an app takes it out of keys under a new revision. A key
// without apps reaches nothing, and nobody can ask for one.
func TestKeyOfDeletedApps(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		created := owner.Call("POST", "/apps", M{"name": "Other"}).Want(201)
		app := created.Text("data.id")
		issue := func(apps ...string) (path, revision string, key *apitest.Client) {
			r := owner.Call("POST", "/api-keys", M{"name": "k", "appIds": apps,
				"permissions": []string{"apps:read", "identity:read"}}).Want(201)
			return "/api-keys/" + r.Text("data.key.id"), r.Text("data.key.revision"), i.Client(t, r.Text("data.secret"))
		}
		path, revision, key := issue(app)
		gone, goneRevision, _ := issue(app, owner.AppID)
		kept, keptRevision, _ := issue(owner.AppID)
		owner.Call("DELETE", gone, nil, apitest.IfMatch(goneRevision)).Want(204)
		goneRevision = owner.Call("GET", gone, nil).Revision()
		owner.Call("DELETE", "/apps/"+app, nil, apitest.IfMatch(created.Revision())).Want(204)

		if left := owner.Call("GET", path, nil).Want(200).Has("data.appIds", "[]"); left.Revision() == revision {
			t.Error("the key lost its app under the same revision")
		}
		if left := owner.Call("GET", gone, nil).Want(200).Has("data.appIds",
			`["`+owner.AppID+`"]`); left.Revision() == goneRevision {
			t.Error("the revoked key lost its app under the same revision")
		}
		if left := owner.Call("GET", kept, nil).Want(200); left.Revision() != keptRevision {
			t.Error("a key that does not name the app was changed")
		}
		owner.Call("GET", "/api-keys?status=active", nil).Want(200).Has("data.1.appIds", "[]")
		key.Call("GET", "/me", nil).Want(200)
		key.Call("GET", "/apps", nil).Want(200).Has("data", "[]")
		key.Call("GET", "/apps/"+owner.AppID, nil).Refused(fault.NotFound)
		owner.Call("PATCH", path, M{"name": "old"}, apitest.IfMatch(revision)).Refused(fault.RevisionConflict)
		match := apitest.IfMatch(owner.Call("GET", path, nil).Revision())
		owner.Call("PATCH", path, M{"appIds": []string{}}, match).Refused(fault.ValidationFailed, "/appIds")
		owner.Call("PATCH", path, M{"appIds": []string{owner.AppID}}, match).
			Refused(fault.ValidationFailed, "/appIds/0")
		owner.Call("PATCH", path, M{"name": "old"}, match).Want(200).Has("data.appIds", "[]")
	})
}
