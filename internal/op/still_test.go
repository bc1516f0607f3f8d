package op_test

import (
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/waymarkhq/waymark/internal/apitest"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
)

// halfway makes something happen when the first half of a body has come in, which is
// after the caller was authenticated.
func halfway(happen func()) apitest.With {
	return func(r *http.Request) { r.Body = &halves{r.Body, int(r.ContentLength / 2), happen} }
}

type halves struct {
	io.ReadCloser
	left   int
	happen func()
}

func (h *halves) Read(p []byte) (int, error) {
	if h.left == 0 && h.happen != nil {
		h.happen()
		h.happen = nil
	}
	if h.happen != nil {
		p = p[:min(len(p), h.left)]
		h.left -= len(p)
	}
	return h.ReadCloser.Read(p)
}

// What a caller loses while its call comes in, it has no more when the call takes effect:
// in the only transaction, in that of a stage, and for a permission that the body needs.
func TestPermissionLostWhileTheBodyComesIn(t *testing.T) {
	picture := apitest.Picture(t)
	calls := map[string]func(*apitest.Client, apitest.With) *apitest.Response{
		"tag": func(c *apitest.Client, with apitest.With) *apitest.Response {
			return c.Call("POST", "/tags", M{"appId": c.AppID, "name": "x"}, with)
		},
		"asset": func(c *apitest.Client, with apitest.With) *apitest.Response {
			return c.Upload("image/png", picture, with)
		},
		"batch": func(c *apitest.Client, with apitest.With) *apitest.Response {
			return c.Call("POST", "/link-batches", M{"appId": c.AppID, "items": []M{{"clientId": "a", "action": "create",
				"input": M{"appId": c.AppID, "domain": "none." + apitest.Zone, "slug": "a"}}}}, with)
		},
	}
	match := func(owner *apitest.Client, path string) apitest.With {
		return apitest.IfMatch(owner.Call("GET", path, nil).Revision())
	}
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		exec := func(query string, args ...any) {
			t.Helper()
			if n, err := i.DB.Exec(t.Context(), query, args...); err != nil || n != 1 {
				t.Fatalf("%s: %d, %v", query, n, err)
			}
		}
		const ofApp = "(SELECT owner_id FROM app WHERE id = ?)"
		for name, test := range map[string]struct {
			lose func(owner *apitest.Client, key string)
			// ofKey and ofSession are the refusals of a key and of its owner, "" for none.
			ofKey, ofSession fault.Code
		}{
			"nothing": {func(*apitest.Client, string) {}, "", ""},
			"key": {func(owner *apitest.Client, key string) {
				owner.Call("DELETE", key, nil, match(owner, key)).Want(204)
			}, fault.Unauthenticated, ""},
			"permission": {func(owner *apitest.Client, key string) {
				owner.Call("PATCH", key, M{"permissions": []string{"batches:create"}}, match(owner, key)).Want(200)
			}, fault.InsufficientPermission, ""},
			"reach": {func(owner *apitest.Client, key string) {
				other := owner.Call("GET", key, nil).Text("data.appIds.0")
				if other == owner.AppID {
					other = owner.Call("GET", key, nil).Text("data.appIds.1")
				}
				owner.Call("PATCH", key, M{"appIds": []string{other}}, match(owner, key)).Want(200)
			}, fault.NotFound, ""},
			"account": {func(owner *apitest.Client, _ string) {
				exec("UPDATE users SET active = FALSE WHERE id = "+ofApp, owner.AppID)
			}, fault.Unauthenticated, fault.Unauthenticated},
			"session": {func(owner *apitest.Client, _ string) {
				exec("UPDATE session SET ended_at = ? WHERE user_id = "+ofApp, i.Clock.Now(), owner.AppID)
			}, "", fault.Unauthenticated},
			"app": {func(owner *apitest.Client, _ string) { exec("DELETE FROM app WHERE id = ?", owner.AppID) },
				fault.NotFound, fault.NotFound},
			"time": {func(*apitest.Client, string) { i.Clock.Move(366 * 24 * time.Hour) }, fault.Unauthenticated, ""},
		} {
			for kind, call := range calls {
				for _, withKey := range []bool{true, false} {
					i.Clock.Set(storetest.Start)
					owner := i.Owner(t, fmt.Sprint(name, kind, withKey, "@example.com"))
					owner.AppID = owner.Call("POST", "/apps", M{"name": "App"}).Want(201).Text("data.id")
					other := owner.Call("POST", "/apps", M{"name": "Other"}).Want(201).Text("data.id")
					key := owner.Call("POST", "/api-keys", M{"name": "key", "appIds": []string{owner.AppID, other},
						"permissions": []string{"tags:create", "assets:create", "batches:create", "links:create"}}).Want(201)
					path := "/api-keys/" + key.Text("data.key.id")
					caller, refusal := owner, test.ofSession
					if withKey {
						caller, refusal = i.Client(t, key.Text("data.secret")), test.ofKey
						caller.AppID = owner.AppID
					}
					r := call(caller, halfway(func() { test.lose(owner, path) }))
					left := effects(t, i, owner.AppID)
					switch {
					case refusal == "" && (r.Status >= 300 || left == 0):
						t.Errorf("%s, %s, key %t: %d %s", name, kind, withKey, r.Status, r.Body)
					case refusal != "":
						if r.Refused(refusal); left > 0 {
							t.Errorf("%s, %s, key %t: %d rows are left", name, kind, withKey, left)
						}
					}
					if name == "account" {
						exec("UPDATE users SET active = TRUE WHERE id = "+ofApp, owner.AppID)
					}
				}
			}
		}
	})
}

// effects counts what the calls of the test leave.
func effects(t *testing.T, i *apitest.Installation, appID string) (n int64) {
	t.Helper()
	for _, table := range []string{"tag", "asset", "automation_job", "operation"} {
		rows, err := store.One(t.Context(), i.DB, store.Value[int64], "SELECT COUNT(*) FROM "+table+
			" WHERE app_id = ?", appID)
		if err != nil {
			t.Fatal(err)
		}
		n += rows
	}
	return n
}
