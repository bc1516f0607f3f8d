package webhook_test

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/waymarkhq/waymark/internal/apitest"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/delivery"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/ids"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
	"github.com/waymarkhq/waymark/internal/webhook"
)

// Each confirmed change of an app's resources reaches each destination that
// selected it, once.
func TestEmission(t *testing.T) {
	each(t, func(t *testing.T, i *apitest.Installation, r *receiver) {
		owner := i.Prepared(t, "ann@example.com")
		all := []string{}
		for _, t := range delivery.Selectable {
			all = append(all, string(t))
		}
		register(t, owner, M{"events": all})
		register(t, owner, M{"events": []string{linkDeleted}, "url": "https://b.example.com/"})
		register(t, owner, M{"events": all, "url": "https://b.example.com/off", "enabled": false})
		expect := func(what, want string) []received {
			t.Helper()
			i.Deliver(t)
			got := r.take()
			var arrived []string
			for _, one := range got {
				arrived = append(arrived, one.host[:1]+" "+one.event.Type)
			}
			slices.Sort(arrived)
			if text := strings.Join(arrived, ", "); text != want {
				t.Errorf("%s: %s, want %s", what, text, want)
			}
			return got
		}
		link := owner.Link("a", nil).Want(201)
		id, path := link.Text("data.id"), "/links/"+apitest.Path(link.Text("data.id"))
		got := expect("creation", "a link.created")
		one := got[0]
		want := `{"id":"` + one.event.ID + `","type":"link.created","schemaVersion":"1","appId":"` + owner.AppID +
			`","occurredAt":"` + i.Clock.Now().String() +
			`","test":false,"resource":{"id":"` + id + `","revision":"` + link.Revision() + `"}}`
		if one.body != want || one.header.Get("Service-Event-Id") != one.event.ID ||
			one.header.Get("Service-Delivery-Id") == "" ||
			one.header.Get("Content-Type") != "application/json; charset=utf-8" ||
			!strings.HasPrefix(one.header.Get("Service-Signature"),
				"t="+strconv.FormatInt(i.Clock.Now().Unix(), 10)+",v1=") {
			t.Errorf("%s\n%s\n%v", one.body, want, one.header)
		}
		revision := func() apitest.With { return apitest.IfMatch(owner.Call("GET", path, nil).Want(200).Revision()) }
		owner.Link("a", nil).Refused(fault.ResourceConflict)
		owner.Call("PATCH", path, M{"title": "x"}, apitest.IfMatch("0198c9a2-7f3e-4c11-9d52-0a6f6e1b2c3d")).
			Refused(fault.RevisionConflict)
		owner.Call("POST", "/links/validate", M{"appId": owner.AppID, "domain": owner.Host, "slug": "free"}).Want(200)
		expect("refusals", "")
		once := apitest.Idempotent(apitest.NewKey())
		match := revision()
		for range 2 {
			owner.Call("PATCH", path, M{"title": "x"}, match, once).Want(200)
		}
		expect("change and its replay", "a link.updated")
		tag := owner.Call("POST", "/tags", M{"appId": owner.AppID, "name": "t"}).Want(201).Text("data.id")
		expect("tag", "")
		owner.Call("PUT", path+"/tags", M{"tagIds": []string{tag}}, revision()).Want(200)
		expect("tags of a link", "a link.updated")
		owner.Call("PUT", path+"/routing-rules",
			M{"rules": []M{{"platform": "ios", "destinationUrl": "https://example.com/ios"}}}, revision()).Want(200)
		expect("rules", "a link.updated")
		i.Settle(t)
		expect("publication", "")
		owner.Call("POST", path+"/resync", M{}, revision()).Want(202)
		expect("resync asked for", "")
		i.Settle(t)
		expect("resync confirmed", "a link.updated")
		owner.Call("POST", path+"/duplicate", M{"slug": "b"}).Want(201)
		expect("duplicate", "a link.created")
		last := owner.Call("GET", path, nil).Revision()
		owner.Call("DELETE", path, nil, apitest.IfMatch(last)).Want(204)
		got = expect("deletion", "a link.deleted, b link.deleted")
		if got[0].event.ID != got[1].event.ID ||
			got[0].header.Get("Service-Delivery-Id") == got[1].header.Get("Service-Delivery-Id") ||
			got[0].event.Resource.Revision != last {
			t.Errorf("one event, two deliveries: %v", got)
		}
		owner.Call("POST", "/domains", M{"appId": owner.AppID, "mode": "platform", "prefix": "more"}).Want(202)
		expect("domain", "a domain.status_changed")
		i.Settle(t)
		i.Deliver(t)
		types := map[string]int{}
		for _, one := range r.take() {
			types[one.event.Type]++
		}
		if types["operation.completed"] != 1 || types["operation.failed"] != 0 {
			t.Errorf("after the domain's operation: %v", types)
		}
		owner.Call("POST", "/link-batches", M{"appId": owner.AppID, "items": []M{
			{"clientId": "a", "action": "create", "input": M{"appId": owner.AppID, "domain": owner.Host,
				"slug": "batch", "desktopUrl": "https://example.com/"}},
			{"clientId": "b", "action": "create", "input": M{"appId": owner.AppID, "domain": owner.Host,
				"slug": "batch", "desktopUrl": "https://example.com/"}},
		}}).Want(202)
		i.Settle(t)
		expect("batch of which one item is refused", "a link.created, a operation.completed")
		owner.Call("POST", "/exports", M{"appId": owner.AppID, "dataset": "links", "format": "json"}).Want(202)
		i.Settle(t)
		expect("export", "a export.ready, a operation.completed")
		// Another app's changes are not this one's.
		i.Prepared(t, "eve@example.com").Link("a", nil).Want(201)
		expect("another app", "")
		// What is rolled back never was.
		rollback := errors.New("rolled back")
		if err := i.DB.InTx(t.Context(), func(tx *store.Tx) error {
			return errors.Join(delivery.Emit(t.Context(), tx, delivery.LinkCreated, linkOf(owner.AppID)), rollback)
		}); !errors.Is(err, rollback) {
			t.Fatal(err)
		}
		expect("rolled back", "")
		// The types whose makers are still to come are delivered as well.
		for _, kind := range []delivery.Type{delivery.TemplatePublicationSucceeded, delivery.TemplatePublicationFailed,
			delivery.OperationFailed} {
			if err := i.DB.InTx(t.Context(), func(tx *store.Tx) error {
				return delivery.Emit(t.Context(), tx, kind, linkOf(owner.AppID))
			}); err != nil {
				t.Fatal(err)
			}
			expect(string(kind), "a "+string(kind))
		}
	})
}

func TestAttempts(t *testing.T) {
	each(t, func(t *testing.T, i *apitest.Installation, r *receiver) {
		owner := i.Prepared(t, "ann@example.com")
		w := register(t, owner, nil)
		r.answers(always(500))
		start := i.Clock.Now()
		owner.Link("a", nil).Want(201)
		w.newest().Has("data.state", `"pending"`).Has("data.attempts", "0").
			Has("data.nextAttemptAt", `"`+start.String()+`"`).Has("data.error", "null").Has("data.httpStatus", "null")
		var seen []received
		for n, after := range []time.Duration{0, 30, 90, 210, 450} {
			if at := start.Add(after * time.Second); at > start {
				i.Clock.Set(at.Add(-time.Millisecond))
				i.Deliver(t)
				if early := r.take(); len(early) != 0 {
					t.Fatalf("attempt %d came early", n+1)
				}
				i.Clock.Set(at)
			}
			i.Deliver(t)
			got := r.take()
			if len(got) != 1 {
				t.Fatalf("attempt %d: %d requests", n+1, len(got))
			}
			if got[0].signed(w.secret) != "0" || !strings.HasPrefix(got[0].header.Get("Service-Signature"),
				"t="+strconv.FormatInt(i.Clock.Now().Unix(), 10)+",") {
				t.Errorf("attempt %d: %v", n+1, got[0].header)
			}
			seen = append(seen, got[0])
			d := w.newest().Has("data.attempts", strconv.Itoa(n+1)).Has("data.httpStatus", "500").
				Has("data.error.code", `"http_status"`)
			if n < 4 {
				d.Has("data.state", `"pending"`).Has("data.nextAttemptAt",
					`"`+start.Add([]time.Duration{30, 90, 210, 450}[n]*time.Second).String()+`"`)
			} else {
				d.Has("data.state", `"failed"`).Has("data.nextAttemptAt", "null")
			}
		}
		for _, one := range seen[1:] {
			if one.body != seen[0].body ||
				one.header.Get("Service-Event-Id") != seen[0].header.Get("Service-Event-Id") ||
				one.header.Get("Service-Delivery-Id") != seen[0].header.Get("Service-Delivery-Id") {
				t.Errorf("attempts differ: %v and %v", seen[0], one)
			}
		}
		i.Clock.Move(time.Hour)
		i.Deliver(t)
		if got := r.take(); len(got) != 0 {
			t.Errorf("%d requests after the last attempt", len(got))
		}
		w.get().Has("data.consecutiveFailures", "5").Has("data.status", `"active"`).
			Has("data.lastFailureAt", `"`+start.Add(450*time.Second).String()+`"`).Has("data.lastSuccessAt", "null")

		// A success starts the count again; a redirect is none.
		r.answers(always(302))
		owner.Link("b", nil).Want(201)
		i.Deliver(t)
		w.newest().Has("data.httpStatus", "302").Has("data.error.code", `"redirect_refused"`)
		if got := r.take(); len(got) != 1 {
			t.Errorf("a redirect made %d requests", len(got))
		}
		r.answers(always(201))
		i.Clock.Move(30 * time.Second)
		i.Deliver(t)
		w.newest().Has("data.state", `"succeeded"`).Has("data.attempts", "2").Has("data.httpStatus", "201").
			Has("data.error", "null").Has("data.nextAttemptAt", "null")
		w.get().Has("data.consecutiveFailures", "0").Has("data.lastSuccessAt", `"`+i.Clock.Now().String()+`"`)
	})
}

func TestSuspension(t *testing.T) {
	each(t, func(t *testing.T, i *apitest.Installation, r *receiver) {
		owner := i.Prepared(t, "ann@example.com")
		w, other := register(t, owner, nil), register(t, owner, M{"url": "https://b.example.com/"})
		revision := w.get().Revision()
		r.answers(func(host string, _ received) int {
			if host == "a.example.com" {
				return 503
			}
			return 204
		})
		for n := range 9 {
			owner.Link("a"+strconv.Itoa(n), nil).Want(201)
		}
		i.Deliver(t)
		w.get().Has("data.consecutiveFailures", "9").Has("data.status", `"active"`)
		owner.Link("tenth", nil).Want(201)
		i.Deliver(t)
		w.get().Has("data.consecutiveFailures", "10").Has("data.status", `"suspended"`).Has("data.enabled", "true").
			Has("data.revision", `"`+revision+`"`)
		w.wantStates(strings.TrimSpace(strings.Repeat("cancelled:suspended ", 10)))
		if why := w.newest().Text("data.error.message"); !strings.Contains(why, "503") {
			t.Errorf("the last delivery does not tell why it is suspended: %s", why)
		}
		other.wantStates(strings.TrimSpace(strings.Repeat("succeeded ", 10)))
		r.take()
		// What happens meanwhile is there to be sent later.
		owner.Link("missed", nil).Want(201)
		i.Clock.Move(time.Hour)
		i.Deliver(t)
		for _, one := range r.take() {
			if one.host == "a.example.com" {
				t.Error("a suspended destination is sent to")
			}
		}
		missed := w.newest().Has("data.state", `"cancelled"`).Has("data.error.code", `"suspended"`).
			Has("data.attempts", "0")
		retry := "/webhook-deliveries/" + missed.Text("data.id") + "/retry"
		w.c.Call("POST", w.path+"/test", M{}).Refused(fault.ResourceConflict)
		w.c.Call("POST", retry, M{}, apitest.IfMatch(missed.Revision())).Refused(fault.ResourceConflict)
		w.patch(M{"description": "still suspended"}).Has("data.status", `"suspended"`)
		w.patch(M{"enabled": true}).Has("data.status", `"active"`).Has("data.consecutiveFailures", "0")
		r.answers(nil)
		again := w.c.Call("POST", retry, M{}, apitest.IfMatch(missed.Revision())).Want(202).
			Has("data.state", `"pending"`).Has("data.eventId", missed.Value("data.eventId")).
			Has("data.webhookRevision", `"`+w.get().Revision()+`"`)
		if again.Text("data.id") == missed.Text("data.id") ||
			again.Header.Get("Location") != "/v1/webhook-deliveries/"+again.Text("data.id") {
			t.Errorf("retry: %s %v", again.Body, again.Header)
		}
		i.Deliver(t)
		if got := r.take(); len(got) != 1 || got[0].event.ID != missed.Text("data.eventId") ||
			got[0].event.OccurredAt != missed.Text("data.createdAt") {
			t.Errorf("sent later: %v", got)
		}
		w.c.Call("GET", "/webhook-deliveries/"+missed.Text("data.id"), nil).Want(200).Has("data.state", `"cancelled"`)
		// A success between failures keeps a destination going.
		r.answers(always(500))
		for n := range 9 {
			owner.Link("b"+strconv.Itoa(n), nil).Want(201)
		}
		i.Deliver(t)
		r.answers(nil)
		owner.Link("good", nil).Want(201)
		i.Deliver(t)
		w.get().Has("data.consecutiveFailures", "0").Has("data.status", `"active"`)
	})
}

// After eight failures in a row two more attempts are made before the destination
// is suspended, and after nine only one, however many deliveries are due.
func TestAttemptsBeforeSuspension(t *testing.T) {
	each(t, func(t *testing.T, i *apitest.Installation, r *receiver) {
		owner := i.Prepared(t, "ann@example.com")
		r.answers(always(500))
		for failures, left := range map[int]int{8: 2, 9: 1} {
			w := register(t, owner, nil)
			emit(t, i, owner.AppID, failures)
			i.Deliver(t)
			w.get().Has("data.consecutiveFailures", strconv.Itoa(failures)).Has("data.status", `"active"`)
			r.take()
			emit(t, i, owner.AppID, 5)
			i.Deliver(t)
			if got := r.take(); len(got) != left {
				t.Errorf("%d requests after %d failures, want %d", len(got), failures, left)
			}
			w.get().Has("data.consecutiveFailures", "10").Has("data.status", `"suspended"`)
		}
	})
}

func TestTestAndRetry(t *testing.T) {
	each(t, func(t *testing.T, i *apitest.Installation, r *receiver) {
		owner := i.Prepared(t, "ann@example.com")
		w := register(t, owner, M{"events": []string{"export.ready"}})
		test := w.c.Call("POST", w.path+"/test", M{}, apitest.IfMatch(w.get().Revision())).Want(202).
			Has("data.eventType", `"webhook.test"`).Has("data.test", "true").
			Has("data.state", `"pending"`).Has("data.webhookId", `"`+w.id+`"`)
		path := "/webhook-deliveries/" + test.Text("data.id")
		if test.Header.Get("Location") != "/v1"+path || test.Header.Get("Retry-After") != "1" {
			t.Errorf("headers %v", test.Header)
		}
		w.c.Call("POST", path+"/retry", M{}, apitest.IfMatch(test.Revision())).Refused(fault.ResourceConflict)
		i.Deliver(t)
		got := r.take()
		if len(got) != 1 || !got[0].event.Test || got[0].event.Type != "webhook.test" ||
			got[0].event.Resource.ID != w.id || got[0].event.Resource.Revision != w.get().Revision() {
			t.Fatalf("%v", got)
		}
		done := w.c.Call("GET", path, nil).Want(200).Has("data.state", `"succeeded"`)
		w.c.Call("POST", path+"/retry", M{}, apitest.IfMatch(test.Revision())).Refused(fault.RevisionConflict)
		w.c.Call("POST", path+"/retry", M{}, apitest.IfMatch(done.Revision())).Want(202)
		i.Deliver(t)
		if again := r.take(); len(again) != 1 || again[0].body != got[0].body {
			t.Errorf("again: %v", again)
		}
		// Lists and their filters.
		i.Clock.Move(time.Second)
		r.answers(always(400))
		w.c.Call("POST", w.path+"/test", M{}).Want(202)
		i.Deliver(t)
		w.wantStates("succeeded succeeded pending:http_status")
		for query, want := range map[string]int{"state=succeeded": 2, "state=pending": 1, "state=failed": 0,
			"eventType=webhook.test": 3, "eventType=export.ready": 0, "eventType=webhook.test&state=pending": 1} {
			if n := w.c.Call("GET", w.path+"/deliveries?"+query, nil).Want(200).Len("data"); n != want {
				t.Errorf("%s: %d deliveries, want %d", query, n, want)
			}
		}
		page := w.c.Call("GET", w.path+"/deliveries?limit=1", nil).Want(200).Has("pagination.hasMore", "true").
			Has("data.0.state", `"pending"`)
		w.c.Call("GET", w.path+"/deliveries?limit=1&cursor="+page.Text("pagination.nextCursor"), nil).Want(200).
			Has("data.0.state", `"succeeded"`)
		owner.Call("GET", "/audit-events?resourceType=webhook_delivery", nil).Want(200).
			Has("data.0.operation", `"testWebhooksWebhookId"`)

		// Deliveries outlive their destination, until their retention ends.
		w.c.Call("DELETE", w.path, nil, apitest.IfMatch(w.get().Revision())).Want(204)
		gone := w.c.Call("GET", path, nil).Want(200).Has("data.state", `"succeeded"`)
		w.c.Call("POST", path+"/retry", M{}, apitest.IfMatch(gone.Revision())).Refused(fault.ResourceConflict)
		sweep := func(want int64) {
			t.Helper()
			for {
				n, err := webhook.Sweep(t.Context(), i.DB, 2)
				if err != nil {
					t.Fatal(err)
				}
				if n < 2 {
					break
				}
			}
			if n := count(t, i.DB,
				"SELECT (SELECT COUNT(*) FROM webhook) + (SELECT COUNT(*) FROM webhook_delivery)"); n != want {
				t.Errorf("%d rows are left, want %d", n, want)
			}
		}
		sweep(4)
		i.Clock.Move(7 * 24 * time.Hour)
		sweep(2) // the last delivery and the destination
		i.Clock.Move(time.Second)
		sweep(0)
	})
}

func TestChangeCancels(t *testing.T) {
	each(t, func(t *testing.T, i *apitest.Installation, r *receiver) {
		owner := i.Prepared(t, "ann@example.com")
		for name, change := range map[string]func(w *registered){
			"url":     func(w *registered) { w.patch(M{"url": "https://b.example.com/"}) },
			"nothing": func(w *registered) { w.patch(M{}) },
			"disable": func(w *registered) { w.patch(M{"enabled": false}) },
			"enable":  func(w *registered) { w.patch(M{"enabled": true}) },
			"rotate": func(w *registered) {
				w.c.Call("POST", w.path+"/rotate-secret", M{"overlapSeconds": 60}, apitest.IfMatch(w.get().Revision())).
					Want(200)
			},
			"delete": func(w *registered) {
				w.c.Call("DELETE", w.path, nil, apitest.IfMatch(w.get().Revision())).
					Want(204)
			},
		} {
			w := register(t, owner, nil)
			test := w.c.Call("POST", w.path+"/test", M{}).Want(202)
			waiting := "/webhook-deliveries/" + test.Text("data.id")
			change(w)
			w.c.Call("GET", waiting, nil).Want(200).Has("data.state", `"cancelled"`).
				Has("data.error.code", `"configuration_changed"`).Has("data.nextAttemptAt", "null")
			i.Deliver(t)
			if got := r.take(); len(got) != 0 {
				t.Errorf("%s: the cancelled delivery was sent", name)
			}
			if name == "disable" || name == "delete" {
				owner.Link(name, nil).Want(201)
				if n := count(t, i.DB, "SELECT COUNT(*) FROM webhook_delivery WHERE webhook_id = ?", w.id); n != 1 {
					t.Errorf("%s: %d deliveries", name, n)
				}
				continue
			}
			w.patch(M{"enabled": false})
		}
		// Under way: what comes of it does not count.
		w := register(t, owner, nil)
		r.answers(func(string, received) int {
			w.patch(M{"description": "changed under way"})
			return 500
		})
		w.c.Call("POST", w.path+"/test", M{}).Want(202)
		i.Deliver(t)
		w.wantStates("cancelled:configuration_changed")
		w.get().Has("data.consecutiveFailures", "0").Has("data.lastFailureAt", "null")
		r.answers(func(string, received) int {
			w.patch(M{"description": "again"})
			return 200
		})
		w.c.Call("POST", w.path+"/test", M{}).Want(202)
		i.Deliver(t)
		w.wantStates("cancelled:configuration_changed cancelled:configuration_changed")
		w.get().Has("data.lastSuccessAt", "null")
	})
}

// An app that goes takes its destinations along, and what waited for them.
func TestAppDeleted(t *testing.T) {
	each(t, func(t *testing.T, i *apitest.Installation, r *receiver) {
		owner := i.Owner(t, "ann@example.com")
		app := owner.Call("POST", "/apps", M{"name": "App"}).Want(201)
		owner.AppID = app.Text("data.id")
		w := register(t, owner, nil)
		w.c.Call("POST", w.path+"/test", M{}).Want(202)
		owner.Call("DELETE", "/apps/"+owner.AppID, nil, apitest.IfMatch(app.Revision())).Want(204)
		i.Deliver(t)
		if got := r.take(); len(got) != 0 {
			t.Errorf("%d requests", len(got))
		}
		w.c.Call("GET", w.path, nil).Refused(fault.NotFound)
		if n := count(t, i.DB, `SELECT (SELECT COUNT(*) FROM webhook) + (SELECT COUNT(*)
			FROM webhook_subscription) + (SELECT COUNT(*) FROM webhook_delivery WHERE state <> 'cancelled')`); n != 0 {
			t.Errorf("%d rows are left", n)
		}
	})
}

func TestAuthorizationLost(t *testing.T) {
	each(t, func(t *testing.T, i *apitest.Installation, r *receiver) {
		session := func(owner *apitest.Client) *apitest.Client { return owner }
		key := func(owner *apitest.Client) *apitest.Client { return owner.Key(permissions...) }
		revision := func(owner *apitest.Client, path string) apitest.With {
			return apitest.IfMatch(owner.Call("GET", path, nil).Want(200).Revision())
		}
		keyPath := func(owner *apitest.Client) string {
			return "/api-keys/" + owner.Call("GET", "/api-keys", nil).Want(200).Text("data.0.id")
		}
		names := 0
		for name, c := range map[string]struct {
			by   func(*apitest.Client) *apitest.Client
			lose func(owner *apitest.Client, w *registered)
		}{
			"key revoked": {key, func(owner *apitest.Client, _ *registered) {
				owner.Call("DELETE", keyPath(owner), nil, revision(owner, keyPath(owner))).Want(204)
			}},
			"key rotated without overlap": {key, func(owner *apitest.Client, _ *registered) {
				owner.Call("POST", keyPath(owner)+"/rotate", M{"overlapSeconds": 0}, revision(owner, keyPath(owner))).
					Want(201)
			}},
			"key expired": {key, func(*apitest.Client, *registered) { i.Clock.Move(91 * 24 * time.Hour) }},
			"permission removed": {key, func(owner *apitest.Client, _ *registered) {
				owner.Call("PATCH", keyPath(owner), M{"permissions": permissions[1:]}, revision(owner, keyPath(owner))).
					Want(200)
			}},
			"app removed from key": {func(owner *apitest.Client) *apitest.Client {
				other := owner.Call("POST", "/apps", M{"name": "Other"}).Want(201).Text("data.id")
				r := owner.Call("POST", "/api-keys", M{"name": "k", "appIds": []string{owner.AppID, other},
					"permissions": permissions}).Want(201)
				k := i.Client(t, r.Text("data.secret"))
				k.AppID = owner.AppID
				return k
			}, func(owner *apitest.Client, _ *registered) {
				apps := owner.Call("GET", "/apps", nil).Want(200).Text("data.0.id")
				owner.Call("PATCH", keyPath(owner), M{"appIds": []string{apps}}, revision(owner, keyPath(owner))).
					Want(200)
			}},
			"session expired": {session, func(_ *apitest.Client, w *registered) {
				exec(t, i.DB, "UPDATE webhook SET authorized_until = ? WHERE id = ?", i.Clock.Now(), w.id)
			}},
			"session revoked": {session, func(_ *apitest.Client, w *registered) {
				exec(t, i.DB, `UPDATE session SET ended_at = 1 WHERE credential = (SELECT credential FROM webhook
					WHERE id = ?)`, w.id)
			}},
			"owner inactive": {key, func(_ *apitest.Client, w *registered) {
				exec(t, i.DB, "UPDATE users SET active = FALSE WHERE id = (SELECT owner_id FROM webhook WHERE id = ?)",
					w.id)
			}},
		} {
			names++
			email := "owner" + strconv.Itoa(names) + "@example.com"
			owner := i.Prepared(t, email)
			w := registerAs(t, c.by(owner), nil)
			// The expiry of a session is the machine's, not of this clock.
			exec(t, i.DB, "UPDATE webhook SET authorized_until = ? WHERE id = ? AND authorizer_type = 'human'",
				i.Clock.Now().Add(time.Hour), w.id)
			owner.Link("before", nil).Want(201)
			i.Deliver(t)
			if got := r.take(); len(got) != 1 {
				t.Fatalf("%s: %d requests before", name, len(got))
			}
			owner.Link("waiting", nil).Want(201)
			other := i.Owner(t, email) // another session of theirs
			c.lose(owner, w)
			// It shows before an attempt finds it, to whoever may look.
			if r := other.Call("GET", w.path, nil); r.Status == 200 &&
				r.Text("data.status") != "authorization_required" {
				t.Errorf("%s: the status is %s", name, r.Text("data.status"))
			}
			i.Deliver(t)
			if got := r.take(); len(got) != 0 {
				t.Errorf("%s: %d requests after", name, len(got))
			}
			if n := count(t, i.DB, `SELECT COUNT(*) FROM webhook_delivery WHERE webhook_id = ? AND state = 'cancelled'
				AND error_code = 'authorization_lost' AND attempts = 0`, w.id); n != 1 {
				t.Errorf("%s: %d deliveries are cancelled", name, n)
			}
			if n := count(t, i.DB, `SELECT COUNT(*) FROM webhook WHERE id = ? AND hold = 'authorization_required'
				AND consecutive_failures = 0`, w.id); n != 1 {
				t.Errorf("%s: the destination is not on hold", name)
			}
			exec(t, i.DB, "UPDATE users SET active = TRUE")
			exec(t, i.DB, "UPDATE session SET ended_at = NULL")
			// What happens meanwhile waits for its owner, who authorizes anew.
			w.c = owner.Key(permissions...)
			w.get().Has("data.status", `"authorization_required"`)
			owner.Link("meanwhile", nil).Want(201)
			missed := w.newest().Has("data.state", `"cancelled"`).Has("data.error.code", `"authorization_lost"`)
			w.c.Call("POST", w.path+"/test", M{}).Refused(fault.ResourceConflict)
			w.patch(M{"enabled": true}).Has("data.status", `"active"`).Has("data.authorizedBy.type", `"api_key"`)
			w.c.Call("POST", "/webhook-deliveries/"+missed.Text("data.id")+"/retry", M{},
				apitest.IfMatch(missed.Revision())).Want(202)
			i.Deliver(t)
			if got := r.take(); len(got) != 1 || got[0].event.ID != missed.Text("data.eventId") {
				t.Errorf("%s: after it is authorized anew: %v", name, got)
			}
			w.patch(M{"enabled": false})
		}
	})
}

// Nothing is sent to a destination on hold: what was due before is cancelled, and tells why.
func TestDueToADestinationOnHold(t *testing.T) {
	each(t, func(t *testing.T, i *apitest.Installation, r *receiver) {
		for hold, why := range map[string]string{"authorization_required": "authorization_lost", "suspended": "suspended"} {
			owner, _, _ := strings.Cut(hold, "_")
			w := register(t, i.Prepared(t, owner+"@example.com"), nil)
			emit(t, i, w.c.AppID, 2)
			exec(t, i.DB, "UPDATE webhook SET hold = ? WHERE id = ?", hold, w.id)
			i.Deliver(t)
			if got := r.take(); len(got) != 0 {
				t.Errorf("%s: %d requests", hold, len(got))
			}
			w.wantStates("cancelled:" + why + " cancelled:" + why)
			w.get().Has("data.status", `"`+hold+`"`)
		}
	})
}

// A destination that loses its authorization during an attempt needs another one: its attempt counts, what waits is
// cancelled for that reason, and too many failures do not have it suspended besides.
func TestAuthorizationLostDuringAnAttempt(t *testing.T) {
	each(t, func(t *testing.T, i *apitest.Installation, r *receiver) {
		for n, c := range []struct {
			status, failures int
			states, counted  string
		}{
			{204, 9, "succeeded cancelled:authorization_lost", "0"},
			{500, 0, "cancelled:authorization_lost cancelled:authorization_lost", "1"},
			{500, 9, "cancelled:authorization_lost cancelled:authorization_lost", "10"},
		} {
			w := register(t, i.Prepared(t, "owner"+strconv.Itoa(n)+"@example.com"), nil)
			emit(t, i, w.c.AppID, 2)
			exec(t, i.DB, "UPDATE webhook SET consecutive_failures = ? WHERE id = ?", c.failures, w.id)
			r.answers(func(string, received) int {
				exec(t, i.DB, "UPDATE webhook SET hold = 'authorization_required' WHERE id = ?", w.id)
				return c.status
			})
			i.Deliver(t)
			if got := r.take(); len(got) != 1 {
				t.Errorf("%d after %d failures: %d requests", c.status, c.failures, len(got))
			}
			w.wantStates(c.states)
			w.get().Has("data.status", `"authorization_required"`).Has("data.consecutiveFailures", c.counted)
		}
	})
}

// A delivery that is gone is missing, and no failure of the service.
func TestDeliveryGone(t *testing.T) {
	each(t, func(t *testing.T, i *apitest.Installation, _ *receiver) {
		_, err := delivery.Load(t.Context(), i.DB, "none")
		if refusal, ok := fault.From(err); !ok || refusal.Code != fault.NotFound {
			t.Error(err)
		}
	})
}

// A destination that is authorized anew while an attempt finds that its
// authorization is lost is not put on hold: what counts is what was committed.
func TestAuthorizedMeanwhile(t *testing.T) {
	r := newReceiver(t)
	i := apitest.New(t, "postgres", apitest.Options{Outbound: r.options()})
	owner := i.Prepared(t, "ann@example.com")
	w := registerAs(t, owner, nil)
	exec(t, i.DB, "UPDATE webhook SET authorized_until = ?", i.Clock.Now())
	emit(t, i, owner.AppID, 1)
	anew := ids.Revision()
	var delivering sync.WaitGroup
	if err := i.DB.InTxReadCommitted(t.Context(), func(tx *store.Tx) error {
		if _, err := tx.Exec(t.Context(), "UPDATE webhook SET authorized_until = ?, revision = ?",
			i.Clock.Now().Add(time.Hour), anew); err != nil {
			return err
		}
		if _, err := tx.Exec(t.Context(), "UPDATE webhook_delivery SET webhook_revision = ?", anew); err != nil {
			return err
		}
		delivering.Go(func() { i.Deliver(t) })
		storetest.Eventually(t, "the attempt waits", func() bool {
			return count(t, i.DB, `SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database()
				AND wait_event_type = 'Lock'`) == 1
		})
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	delivering.Wait()
	if got := r.take(); len(got) != 1 {
		t.Errorf("%d requests, want one", len(got))
	}
	w.wantStates("succeeded")
	w.get().Has("data.status", `"active"`)
}

// An authorization that ran out shows, and refuses, before an attempt finds it.
func TestAuthorizationRunsOut(t *testing.T) {
	each(t, func(t *testing.T, i *apitest.Installation, _ *receiver) {
		owner := i.Prepared(t, "ann@example.com")
		w := registerAs(t, owner, nil)
		if until := count(t, i.DB, "SELECT authorized_until FROM webhook"); until == 0 {
			t.Error("the expiry of the session is not kept")
		}
		w.c = owner.Key(permissions...)
		exec(t, i.DB, "UPDATE webhook SET authorized_until = ?", i.Clock.Now()+1)
		w.get().Has("data.status", `"active"`)
		w.c.Call("POST", w.path+"/test", M{}).Want(202)
		exec(t, i.DB, "UPDATE webhook SET authorized_until = ?", i.Clock.Now())
		w.get().Has("data.status", `"authorization_required"`)
		w.c.Call("POST", w.path+"/test", M{}).Refused(fault.ResourceConflict)
	})
}

// Deliveries that are over are removed after their retention, and a deleted destination
// after the last of its deliveries.
func TestSweep(t *testing.T) {
	each(t, func(t *testing.T, i *apitest.Installation, _ *receiver) {
		owner := i.Prepared(t, "ann@example.com")
		w, beside := register(t, owner, nil), register(t, owner, nil)
		emit(t, i, owner.AppID, 2)
		i.Deliver(t)
		emit(t, i, owner.AppID, 1) // they wait
		w.c.Call("DELETE", w.path, nil, apitest.IfMatch(w.get().Revision())).Want(204)
		left := func(limit int, want string) {
			t.Helper()
			n, err := webhook.Sweep(t.Context(), i.DB, limit)
			if err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprintf("%d: %d of %d, %d of %d", n,
				count(t, i.DB, "SELECT COUNT(*) FROM webhook_delivery WHERE webhook_id = ?", w.id),
				count(t, i.DB, "SELECT COUNT(*) FROM webhook WHERE id = ?", w.id),
				count(t, i.DB, "SELECT COUNT(*) FROM webhook_delivery WHERE webhook_id = ?", beside.id),
				count(t, i.DB, "SELECT COUNT(*) FROM webhook WHERE id = ?", beside.id)); got != want {
				t.Errorf("left are %s, want %s", got, want)
			}
		}
		i.Clock.Move(7 * 24 * time.Hour)
		left(100, "0: 3 of 1, 3 of 1")
		exec(t, i.DB, "UPDATE webhook_delivery SET created_at = created_at - 1 WHERE webhook_id = ?", w.id)
		left(2, "2: 1 of 1, 3 of 1")
		left(2, "1: 0 of 1, 3 of 1")
		exec(t, i.DB, "UPDATE webhook SET deleted_at = deleted_at - 1")
		exec(t, i.DB, "UPDATE webhook_delivery SET created_at = created_at - 1")
		left(100, "2: 0 of 0, 1 of 1") // one still waits
		exec(t, i.DB, "UPDATE webhook SET deleted_at = created_at - 1")
		left(100, "0: 0 of 0, 1 of 1")
	})
}

// A dispatcher that is the only one takes over what was under way. What waits for another
// attempt waits on.
func TestTakeOver(t *testing.T) {
	each(t, func(t *testing.T, i *apitest.Installation, r *receiver) {
		owner := i.Prepared(t, "ann@example.com")
		w := register(t, owner, nil)
		r.answers(always(500))
		emit(t, i, owner.AppID, 1)
		i.Deliver(t)
		waits := w.newest().Text("data.nextAttemptAt")
		emit(t, i, owner.AppID, 1)
		exec(t, i.DB, "UPDATE webhook_delivery SET state = 'delivering', due_at = due_at + 1 WHERE due_at <= ?",
			i.Clock.Now())
		if err := delivery.TakeOver(t.Context(), i.DB); err != nil {
			t.Fatal(err)
		}
		if n := count(t, i.DB, "SELECT COUNT(*) FROM webhook_delivery WHERE due_at <= ?", i.Clock.Now()); n != 1 {
			t.Errorf("%d deliveries are due, want the one under way", n)
		}
		r.answers(always(204))
		r.take()
		i.Deliver(t)
		if got := r.take(); len(got) != 1 {
			t.Errorf("%d deliveries are sent", len(got))
		}
		w.wantStates("pending:http_status succeeded")
		if due := count(t, i.DB, "SELECT MIN(due_at) FROM webhook_delivery"); clock.Instant(due).String() != waits {
			t.Errorf("what waited until %s waits until %s", waits, clock.Instant(due))
		}
	})
}

// What is due is found from destination to destination, without those of some owners.
func TestFindDue(t *testing.T) {
	each(t, func(t *testing.T, i *apitest.Installation, _ *receiver) {
		ann, bob := i.Prepared(t, "ann@example.com"), i.Prepared(t, "bob@example.com")
		ids := []string{register(t, ann, nil).id, register(t, bob, nil).id, register(t, ann, nil).id}
		idle := register(t, ann, M{"events": []string{linkDeleted}}).id
		find := func(after string, without []string, n int, want ...string) {
			t.Helper()
			due, err := delivery.FindDue(t.Context(), i.DB, after, without, n)
			var got []string
			for _, d := range due {
				got = append(got, d.WebhookID)
			}
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("after %q without %q, at most %d: %q, %v; want %q", after, without, n, got, err, want)
			}
		}
		find("", nil, 10)
		emit(t, i, ann.AppID, 2)
		emit(t, i, bob.AppID, 1)
		find("", nil, 10, ids...)
		find("", nil, 2, ids[:2]...)
		find(ids[0], nil, 10, ids[1:]...)
		find(ids[2], nil, 10)
		due, err := delivery.FindDue(t.Context(), i.DB, "", nil, 2)
		if err != nil || len(due) != 2 {
			t.Fatal(due, err)
		}
		find("", []string{due[0].OwnerID}, 10, ids[1])
		find("", []string{due[0].OwnerID, due[1].OwnerID}, 10)
		// What is due a moment later is not due, and neither is a destination of which nothing waits.
		exec(t, i.DB, "UPDATE webhook_delivery SET due_at = due_at + 1 WHERE webhook_id = ?", ids[0])
		exec(t, i.DB, "UPDATE webhook_delivery SET due_at = NULL WHERE webhook_id = ?", ids[1])
		exec(t, i.DB, "UPDATE webhook_delivery SET webhook_id = ? WHERE id IN (SELECT MIN(id) FROM webhook_delivery WHERE "+
			"webhook_id = ?)", idle, ids[2])
		find("", nil, 10, ids[2], idle)
	})
}
