package actor

import (
	"testing"
	"time"
)

// Whoever started something may go on with it only as long as nothing that let
// them start it is gone.
func TestHolder(t *testing.T) {
	eachWorld(t, func(w *world) {
		const permission, app = "links:create", "app_1"
		for _, id := range []string{app, "app_2"} {
			w.exec(`INSERT INTO app (id, owner_id, name, search, revision, created_at, updated_at)
				VALUES (?, ?, '', '', '', 0, 0)`, id, w.owner)
		}
		text, _, _ := NewKey(Staging)
		id := w.storeKey(text, []string{app}, []string{permission}, w.now().Add(time.Hour), nil)
		key := w.accepts("key", text).Grant()
		session := w.accepts("session", w.mint(map[string]any{"sid": "one"})).Grant()
		may := func(name string, want bool, g Grant, permission, app string) {
			t.Helper()
			a, err := g.Holder(t.Context(), w.db, w.now(), permission, app)
			if err != nil || (a != nil) != want {
				t.Errorf("%s: %+v, %v", name, a, err)
			} else if want && a.Grant() != g {
				t.Errorf("%s: %+v became %+v", name, g, a.Grant())
			}
		}
		both := func(name string, want bool) {
			t.Helper()
			may("key, "+name, want, key, permission, app)
			may("session, "+name, want, session, permission, app)
		}
		both("as they were", true)
		may("session, in another app", true, session, permission, "app_2")
		may("key, in another app", false, key, permission, "app_2")
		may("key, for another permission", false, key, "links:delete", app)
		// What names no permission is for people alone.
		may("session, for none", true, session, "", app)
		may("key, for none", false, key, "", app)
		may("nobody", false, Grant{}, "", app)

		w.exec("UPDATE api_key SET permissions = '[\"links:read\"]' WHERE id = ?", id)
		may("key, without the permission", false, key, permission, app)
		w.exec("UPDATE api_key SET permissions = '[\"links:create\"]', app_ids = '[\"app_2\"]' WHERE id = ?", id)
		may("key, without the app", false, key, permission, app)
		w.exec("UPDATE api_key SET app_ids = '[\"app_1\"]', revoked_at = ? WHERE id = ?", w.now(), id)
		may("key, revoked", false, key, permission, app)
		w.exec("UPDATE api_key SET revoked_at = NULL WHERE id = ?", id)
		both("as they were again", true)
		w.exec("UPDATE users SET active = FALSE WHERE id = ?", w.owner)
		both("of a disabled owner", false)
		w.exec("UPDATE users SET active = TRUE WHERE id = ?", w.owner)
		w.ends("one", 1)
		may("session, ended", false, session, permission, app)
		w.exec("DELETE FROM app WHERE id = ?", app)
		may("key, when the app is gone", false, key, permission, app)
	})
}
