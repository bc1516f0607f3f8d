package op_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/waymarkhq/waymark/internal/apitest"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/receipt"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
)

func TestReplay(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		key := apitest.Idempotent(apitest.NewKey())
		body := `{"appId":"` + owner.AppID + `","domain":"` + owner.Host +
			`","slug":"a","desktopUrl":"https://example.com/"}`
		first := owner.Call("POST", "/links", body, key).Want(201)
		// Member order and white space do not matter, nor the letter case of
		// the key.
		again := owner.Call("POST", "/links", ` { "slug":"a", "domain":"`+owner.Host+
			`", "desktopUrl":"https://example.com/", "appId":"`+owner.AppID+`" }`, key).Want(201)
		for _, name := range []string{"ETag", "Location", "Content-Type"} {
			if first.Header.Get(name) != again.Header.Get(name) {
				t.Errorf("replayed %s: %q, first %q", name, again.Header.Get(name), first.Header.Get(name))
			}
		}
		if first.Value("data") != again.Value("data") || again.Header.Get("Idempotency-Replayed") != "true" ||
			first.Header.Get("Idempotency-Replayed") != "" {
			t.Errorf("replay %s of %s", again.Body, first.Body)
		}
		if first.Text("meta.requestId") == again.Text("meta.requestId") {
			t.Error("a replay has the first request id")
		}
		conflict := owner.Call("POST", "/links", strings.Replace(body, `"a"`, `"b"`, 1), key).
			Refused(fault.IdempotencyConflict)
		if conflict.Text("error.resource.id") != first.Text("data.id") {
			t.Errorf("the conflict names %s", conflict.Value("error.resource"))
		}
		// The key belongs to its credential.
		owner.Key("links:create").Call("POST", "/links", body, key).Refused(fault.ResourceConflict)

		// A DELETE replays its 204 although the link is gone; with a new key it
		// is not there.
		path, revision := "/links/"+apitest.Path(first.Text("data.id")), apitest.IfMatch(first.Revision())
		gone := apitest.Idempotent(apitest.NewKey())
		owner.Call("DELETE", path, nil, revision, gone).Want(204)
		if r := owner.Call("DELETE", path, nil, revision, gone).
			Want(204); r.Header.Get("Idempotency-Replayed") != "true" {
			t.Error("the second DELETE was no replay")
		}
		owner.Call("DELETE", path, nil, gone).Refused(fault.IdempotencyConflict) // other If-Match, other intent
		owner.Call("DELETE", path, nil, revision).Refused(fault.NotFound)

		// A refusal leaves no receipt.
		retried := apitest.Idempotent(apitest.NewKey())
		owner.Call("POST", "/links", strings.Replace(body, "https:", "http:", 1), retried).
			Refused(fault.ValidationFailed)
		second := owner.Call("POST", "/links", body, retried).Want(201)

		// After its 24 hours the key is a new intent.
		i.Clock.Move(24*time.Hour + time.Second)
		owner.Call("POST", "/links", body, retried).Refused(fault.ResourceConflict)
		owner.Call("DELETE", "/links/"+apitest.Path(second.Text("data.id")), nil, apitest.IfMatch(second.Revision())).
			Want(204)
		if r := owner.Call("POST", "/links", body, retried).Want(201); r.Text("data.id") == second.Text("data.id") {
			t.Error("the id of a deleted link was used again")
		}
	})
}

// What issued a secret is not answered again: the refusal tells where the resource is, so that it can be replaced.
func TestSecretIsNotReplayed(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner, key := i.Prepared(t, "ann@example.com"), apitest.Idempotent(apitest.NewKey())
		issue := func() *apitest.Response {
			return owner.Call("POST", "/api-keys", M{"name": "k", "appIds": []string{owner.AppID},
				"permissions": []string{"links:read"}}, key)
		}
		issued := issue().Want(201)
		r := issue().Refused(fault.SecretNotReplayable).Has("error.resource.id", issued.Value("data.key.id"))
		if got, want := r.Header.Get("Location"), issued.Header.Get("Location"); got != want || want == "" {
			t.Errorf("Location is %q, was %q", got, want)
		}
		if secret := issued.Text("data.secret"); secret == "" || strings.Contains(string(r.Body), secret) {
			t.Errorf("the secret %q was issued again: %s", secret, r.Body)
		}
	})
}

// A receipt answers until the instant at which its 24 hours end, and not then.
func TestReplayEnds(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Owner(t, "ann@example.com")
		key, other := apitest.Idempotent(apitest.NewKey()), apitest.Idempotent(apitest.NewKey())
		create := func(key apitest.With, replayed string) string {
			t.Helper()
			r := owner.Call("POST", "/apps", M{"name": "App"}, key).Want(201)
			if got := r.Header.Get("Idempotency-Replayed"); got != replayed {
				t.Errorf("at %s: replayed %q, want %q", i.Clock.Now(), got, replayed)
			}
			return r.Text("data.id")
		}
		swept := func(want int64) {
			t.Helper()
			if n, err := receipt.Sweep(t.Context(), i.DB, 10); n != want || err != nil {
				t.Errorf("at %s the sweep removed %d receipts, %v, want %d", i.Clock.Now(), n, err, want)
			}
		}
		i.Clock.Set(clock.At(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)))
		first := create(key, "")
		create(other, "")
		for _, before := range []time.Duration{time.Second, time.Microsecond} {
			i.Clock.Set(clock.At(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)).Add(-before))
			swept(0)
			if create(key, "true") != first {
				t.Errorf("%s before its end the receipt is of another app", before)
			}
		}
		i.Clock.Set(clock.At(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)))
		again := create(key, "")
		swept(1) // the other one
		if create(key, "true") != again || again == first {
			t.Errorf("the key stands for %s, then %s", first, again)
		}
	})
}

func TestReplayChecksAuthorization(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		other := owner.Call("POST", "/apps", M{"name": "Other"}).Want(201).Text("data.id")
		issued := owner.Call("POST", "/api-keys", M{"name": "k", "appIds": []string{owner.AppID, other},
			"permissions": []string{"links:create", "apps:read"}}).Want(201)
		k := i.Client(t, issued.Text("data.secret"))
		k.AppID, k.Host = owner.AppID, owner.Host
		key := apitest.Idempotent(apitest.NewKey())
		body := M{"appId": k.AppID, "domain": k.Host, "slug": "a"}
		k.Call("POST", "/links", body, key).Want(201)
		path := "/api-keys/" + issued.Text("data.key.id")
		reduced := owner.Call("PATCH", path, M{"appIds": []string{other}}, apitest.IfMatch(issued.Revision())).Want(200)
		// That is known from the receipt, before the call counts as a write.
		r := k.Call("POST", "/links", body, key).Refused(fault.NotFound)
		if policy := r.Header.Get("X-RateLimit-Policy"); !strings.Contains(policy, `name="entry"`) {
			t.Errorf("the window is %s", policy)
		}
		owner.Call("PATCH", path, M{"permissions": []string{"apps:read"}}, apitest.IfMatch(reduced.Revision())).
			Want(200)
		k.Call("POST", "/links", body, key).Refused(fault.InsufficientPermission)
	})
}

// failing has statements of a call fail that end with a text.
func failing(end string) apitest.With {
	return func(r *http.Request) {
		*r = *r.WithContext(store.WithFaults(r.Context(), func(query string) error {
			if strings.HasSuffix(query, end) {
				return errors.New("the statement was made to fail")
			}
			return nil
		}))
	}
}

// A receipt that cannot be read, or of whose app it is not known whether it is still there, answers nothing. What was
// done is not done again.
func TestReceiptThatCannotBeUsed(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		other := owner.Call("POST", "/apps", M{"name": "Other"}).Want(201).Text("data.id")
		issued := owner.Call("POST", "/api-keys", M{"name": "k", "appIds": []string{owner.AppID, other},
			"permissions": []string{"tags:create"}}).Want(201)
		k, key := i.Client(t, issued.Text("data.secret")), apitest.Idempotent(apitest.NewKey())
		again := func(with apitest.With) *apitest.Response {
			t.Helper()
			return k.Call("POST", "/tags", M{"appId": owner.AppID, "name": "t"}, key, with)
		}
		as := func(*http.Request) {}
		again(as).Want(201)
		fails := func(with apitest.With) {
			t.Helper()
			if r := again(with).Refused(fault.Internal); r.Header.Get("Idempotency-Replayed") != "" {
				t.Errorf("a failure says that it is a replay: %v", r.Header)
			}
		}
		fails(failing("FROM receipt WHERE credential = ? AND key = ? AND expires_at > ?"))
		headers, err := store.One(t.Context(), i.DB, store.Value[string], "SELECT header FROM receipt WHERE credential LIKE 'key:%'")
		if err != nil {
			t.Fatal(err)
		}
		set := func(header string) {
			t.Helper()
			if _, err := i.DB.Exec(t.Context(), "UPDATE receipt SET header = ? WHERE credential LIKE 'key:%'", header); err != nil {
				t.Fatal(err)
			}
		}
		for _, damaged := range []string{"!{", "{"} { // it is not JSON, or ends too early
			set(damaged)
			fails(as)
		}
		set(headers)
		if r := again(as).Want(201); r.Header.Get("Idempotency-Replayed") != "true" {
			t.Error("the repaired receipt does not answer")
		}
		owner.Call("PATCH", "/api-keys/"+issued.Text("data.key.id"), M{"appIds": []string{other}},
			apitest.IfMatch(issued.Revision())).Want(200)
		fails(failing("SELECT 1 FROM app WHERE id = ?"))
		again(as).Refused(fault.NotFound)
		if n := owner.Call("GET", "/tags?appId="+owner.AppID, nil).Want(200).Len("data"); n != 1 {
			t.Errorf("%d tags", n)
		}
	})
}

// 50 clients with one key: one effect, one audit event, every answer a 201 or
// "in progress", and the effect's answer once none is in progress.
func TestOneKeyOneEffect(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		key := apitest.Idempotent(apitest.NewKey())
		create := func() *apitest.Response {
			return owner.Call("POST", "/links", M{"appId": owner.AppID, "domain": owner.Host, "slug": "one"}, key)
		}
		var ids sync.Map
		var wg sync.WaitGroup
		for range 50 {
			wg.Go(func() {
				if r := create(); r.Status == 409 {
					r.Refused(fault.OperationInProgress)
				} else {
					ids.Store(r.Want(201).Text("data.id"), true)
				}
			})
		}
		wg.Wait()
		replay := create().Want(201)
		if ids.Store(replay.Text("data.id"), true); replay.Header.Get("Idempotency-Replayed") != "true" {
			t.Error("none of the 50 clients had the effect")
		}
		n, id := 0, ""
		ids.Range(func(k, _ any) bool { n++; id = k.(string); return true })
		if n != 1 {
			t.Fatalf("%d links were created under one key", n)
		}
		if events := owner.Call("GET", "/audit-events?resourceId="+apitest.Path(id), nil).Want(200).
			Len("data"); events != 1 {
			t.Errorf("%d audit events, want 1", events)
		}
	})
}

// A key whose intent another process works on is refused at once; the other keys
// of its credential are not.
func TestOneKeyInTwoProcesses(t *testing.T) {
	address := storetest.Address(t, "postgres")
	one := apitest.New(t, "postgres", apitest.Options{Database: address})
	two := apitest.New(t, "postgres", apitest.Options{Database: address, DataDir: one.DataDir})
	owner := one.Prepared(t, "ann@example.com")
	here := owner.Key("tags:update", "tags:create")
	there := two.Client(t, here.Credential)
	tag := owner.Call("POST", "/tags", M{"appId": owner.AppID, "name": "t"}).Want(201)
	key := apitest.Idempotent(apitest.NewKey())
	rename := func(c *apitest.Client) *apitest.Response {
		return c.Call("PATCH", "/tags/"+tag.Text("data.id"), M{"name": "u"}, apitest.IfMatch(tag.Revision()), key)
	}
	var first sync.WaitGroup
	if err := one.DB.InTxReadCommitted(t.Context(), func(tx *store.Tx) error {
		// However slow the machine is, the row stays locked.
		if err := tx.Send(t.Context(), "SET LOCAL idle_in_transaction_session_timeout = 0"); err != nil {
			return err
		}
		if _, err := tx.Exec(t.Context(), "SELECT 1 FROM tag WHERE id = ? FOR NO KEY UPDATE",
			tag.Text("data.id")); err != nil {
			return err
		}
		first.Go(func() {
			if r := rename(here); r.Status != 200 {
				t.Errorf("the first process answers %s", r.Body)
			}
		})
		storetest.Eventually(t, "the first process waits", func() bool {
			waits, err := store.Exists(t.Context(), one.DB, `SELECT 1 FROM pg_stat_activity WHERE datname =
				current_database() AND wait_event_type = 'Lock'`)
			return err == nil && waits
		})
		rename(there).Refused(fault.OperationInProgress)
		there.Call("POST", "/tags", M{"appId": owner.AppID, "name": "v"}).Want(201)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	first.Wait()
	if r := rename(there).Want(200); r.Header.Get("Idempotency-Replayed") != "true" {
		t.Error("the second process renamed the tag again")
	}
}

// What another process did under the same key, after this one had looked for it, is the
// answer: not the refusal that its effect causes.
func TestKeyThatAnotherProcessWasFasterWith(t *testing.T) {
	address := storetest.Address(t, "postgres")
	one := apitest.New(t, "postgres", apitest.Options{Database: address})
	two := apitest.New(t, "postgres", apitest.Options{Database: address, DataDir: one.DataDir})
	owner := one.Prepared(t, "ann@example.com")
	key := owner.Key("tags:update")
	tag := owner.Call("POST", "/tags", M{"appId": owner.AppID, "name": "t"}).Want(201)
	path, intent := "/tags/"+tag.Text("data.id"), apitest.NewKey()
	var looked, faster bool
	ctx := store.WithFaults(t.Context(), func(query string) error {
		if looked && !faster {
			faster = true
			key.Call("PATCH", path, M{"name": "u"}, apitest.IfMatch(tag.Revision()), apitest.Idempotent(intent)).Want(200)
		}
		looked = looked || strings.Contains(query, "FROM receipt")
		return nil
	})
	r := httptest.NewRequestWithContext(ctx, "PATCH", "https://api.example/v1"+path, strings.NewReader(`{"name":"u"}`))
	r.Header.Set("Authorization", "Bearer "+key.Credential)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Idempotency-Key", intent)
	r.Header.Set("If-Match", tag.Header.Get("ETag"))
	w := httptest.NewRecorder()
	two.API.ServeHTTP(w, r)
	if !faster || w.Code != 200 || w.Header().Get("Idempotency-Replayed") != "true" {
		t.Errorf("another process was faster: %t; the answer is %d %s", faster, w.Code, w.Body)
	}
}

// 50 clients with a key each want one address: one gets it.
func TestOneAddressOneLink(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		var won atomic.Int64
		var wg sync.WaitGroup
		for range 50 {
			wg.Go(func() {
				if r := owner.Link("a", nil); r.Status == 201 {
					won.Add(1)
				} else {
					r.Refused(fault.ResourceConflict)
				}
			})
		}
		wg.Wait()
		if won.Load() != 1 {
			t.Errorf("%d of 50 creations won", won.Load())
		}
	})
}

// 50 writers with one revision: one winner.
func TestOneRevisionOneWinner(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		link := owner.Link("a", nil).Want(201)
		var won, lost atomic.Int64
		var wg sync.WaitGroup
		for range 50 {
			wg.Go(func() {
				r := owner.Call("PATCH", "/links/"+apitest.Path(link.Text("data.id")), M{"title": "x"},
					apitest.IfMatch(link.Revision()))
				if r.Status == 200 {
					won.Add(1)
					return
				}
				r.Refused(fault.RevisionConflict)
				lost.Add(1)
			})
		}
		wg.Wait()
		if won.Load() != 1 || lost.Load() != 49 {
			t.Errorf("%d won, %d lost; want 1 and 49", won.Load(), lost.Load())
		}
	})
}
