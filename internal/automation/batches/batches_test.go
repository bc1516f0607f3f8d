package batches_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waymarkhq/waymark/internal/actor"
	"github.com/waymarkhq/waymark/internal/apitest"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/store"
)

type M = apitest.M

// items returns the items of the batch that an answer started.
func items(c *apitest.Client, accepted *apitest.Response) *apitest.Response {
	return c.Call("GET", "/link-batches/"+accepted.Text("data.id")+"/items", nil).Want(200)
}

// All five actions, in order, each with its own result.
func TestActions(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		folder := owner.Call("POST", "/folders", M{"appId": owner.AppID, "name": "F"}).Want(201).Text("data.id")
		var ids, revisions []string
		for _, slug := range []string{"update", "move", "archive", "delete", "stale"} {
			l := owner.Link(slug, nil).Want(201)
			ids, revisions = append(ids, l.Text("data.id")), append(revisions, l.Revision())
		}
		used := owner.Link("used", nil).Want(201)
		owner.Call("POST", "/qr-codes", M{"appId": owner.AppID, "linkId": used.Text("data.id"), "name": "Q"}).Want(201)
		owner.Call("PATCH", "/links/"+apitest.Path(ids[4]), M{"title": "kept"}, apitest.IfMatch(revisions[4])).Want(200)
		i.Settle(t)

		accepted := owner.Call("POST", "/link-batches", M{"appId": owner.AppID, "items": []M{
			{"clientId": "new", "action": "create", "input": M{"appId": owner.AppID, "domain": owner.Host,
				"slug": "new", "desktopUrl": "https://example.com/new", "title": "New"}},
			{"clientId": "taken", "action": "create", "input": M{"appId": owner.AppID, "domain": owner.Host,
				"slug": "update"}},
			{"clientId": "bad", "action": "create", "input": M{"appId": owner.AppID, "domain": owner.Host,
				"slug": "a/b", "title": strings.Repeat("x", 201)}},
			{"clientId": "upd", "action": "update", "linkId": ids[0], "revision": revisions[0],
				"input": M{"title": "Updated"}},
			{"clientId": "mov", "action": "move", "linkId": ids[1], "revision": revisions[1],
				"input": M{"folderId": folder}},
			{"clientId": "arc", "action": "archive", "linkId": ids[2], "revision": revisions[2],
				"input": M{"lifecycle": M{"archived": true}}},
			{"clientId": "del", "action": "delete", "linkId": ids[3], "revision": revisions[3]},
			{"clientId": "stale", "action": "update", "linkId": ids[4], "revision": revisions[4],
				"input": M{"title": "lost"}},
			{"clientId": "none", "action": "delete", "linkId": "x.example:1", "revision": revisions[4]},
			{"clientId": "used", "action": "delete", "linkId": used.Text("data.id"), "revision": used.Revision()},
		}}).Want(202).Has("data.kind", `"batch"`).Has("data.state", `"queued"`).Has("data.total", "10")
		location := accepted.Header.Get("Location")
		if location != "/v1/operations/"+accepted.Text("data.operationId") ||
			accepted.Header.Get("Retry-After") != "1" {
			t.Errorf("headers %v", accepted.Header)
		}
		items(owner, accepted).Has("data.0.state", `"pending"`).Has("data.8.clientId", `"none"`)
		i.Settle(t)

		owner.Call("GET", location, nil).Want(200).Has("data.status", `"partially_succeeded"`).
			Has("data.result.succeeded", "5").Has("data.result.failed", "5").
			Has("data.result.resource.id", `"`+accepted.Text("data.id")+`"`)
		got := items(owner, accepted)
		for n, want := range []string{"succeeded", "resource_conflict", "validation_failed", "succeeded", "succeeded",
			"succeeded", "succeeded", "revision_conflict", "not_found", "resource_conflict"} {
			if at := fmt.Sprintf("data.%d.", n); want == "succeeded" {
				got.Has(at+"state", `"succeeded"`).Has(at+"error", "null")
			} else {
				got.Has(at+"state", `"failed"`).Has(at+"error.code", `"`+want+`"`).Has(at+"result", "null")
			}
		}
		got.Has("data.9.error.dependencies.0.type", `"qr_code"`).Has("data.1.error.dependencies", "").
			Has("data.1.error.details", "")
		if details := got.Text("data.2.error.details.0.path"); details != "/title" {
			t.Errorf("first detail of the bad item at %s", details)
		}
		owner.Call("GET", "/links/"+apitest.Path(ids[0]), nil).Want(200).Has("data.title", `"Updated"`).
			Has("data.revision", `"`+got.Text("data.3.result.revision")+`"`)
		owner.Call("GET", "/links/"+apitest.Path(ids[1]), nil).Want(200).Has("data.folderId", `"`+folder+`"`)
		owner.Call("GET", "/links/"+apitest.Path(ids[2]), nil).Want(200).Has("data.state", `"archived"`)
		owner.Call("GET", "/links/"+apitest.Path(ids[3]), nil).Refused(fault.NotFound)
		owner.Call("GET", "/links/"+apitest.Path(ids[4]), nil).Want(200).Has("data.title", `"kept"`)
		owner.Call("GET", "/links/"+apitest.Path(got.Text("data.0.result.linkId")), nil).Want(200).
			Has("data.origin", `"api"`).Has("data.publication.status", `"synced"`)

		// Each effect is audited under the operation that has it on one link, and
		// under the request that asked for it, which leads to the batch.
		for operation, links := range map[string][]string{
			"createLinks": {got.Text("data.0.result.linkId")}, "updateLinksLinkId": ids[:3],
			"deleteLinksLinkId": ids[3:4],
		} {
			audit := owner.Call("GET", "/audit-events?resourceType=link&operation="+operation, nil).Want(200)
			var named []string
			for n := range audit.Len("data") {
				if at := fmt.Sprintf("data.%d.", n); audit.Text(at+"correlationId") == accepted.Text("meta.requestId") {
					named = append(named, audit.Text(at+"resource.id"))
					if gone := audit.Value(at+"revision") == "null"; gone != (operation == "deleteLinksLinkId") {
						t.Errorf("%s: revision %s", operation, audit.Value(at+"revision"))
					}
				}
			}
			slices.Sort(named)
			if want := slices.Sorted(slices.Values(links)); !slices.Equal(named, want) {
				t.Errorf("%s is audited for %v, want %v", operation, named, want)
			}
		}
		audit := owner.Call("GET", "/audit-events?operation=createLinkBatches", nil).Want(200).
			Has("data.0.resource", `{"type":"batch","id":"`+accepted.Text("data.id")+`"}`).
			Has("data.0.correlationId", `"`+accepted.Text("meta.requestId")+`"`)
		if n := audit.Len("data"); n != 1 {
			t.Errorf("%d audit events of the batch, want 1", n)
		}
	})
}

// What is wrong with the envelope prevents the batch.
func TestRefusals(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner, eve := i.Prepared(t, "ann@example.com"), i.Prepared(t, "eve@example.com")
		l := owner.Link("a", nil).Want(201)
		i.Settle(t)
		create := M{"clientId": "a", "action": "create", "input": M{"appId": owner.AppID, "domain": owner.Host,
			"slug": "b"}}
		remove := M{"clientId": "b", "action": "delete", "linkId": l.Text("data.id"), "revision": l.Revision()}
		many := []M{}
		for n := range 51 {
			many = append(many, M{"clientId": fmt.Sprint(n), "action": "create", "input": M{}})
		}
		for name, bad := range map[string]any{
			"no items": []M{}, "too many": many, "twice": []M{create, create},
			"no input": []M{{"clientId": "a", "action": "create"}},
			"input of a delete": []M{{"clientId": "a", "action": "delete", "linkId": "x", "revision": l.Revision(),
				"input": M{}}},
			"linkId of a create": []M{{"clientId": "a", "action": "create", "linkId": "x", "input": M{}}},
			"no revision":        []M{{"clientId": "a", "action": "delete", "linkId": "x"}},
			"action":             []M{{"clientId": "a", "action": "explode", "input": M{}}},
			"clientId":           []M{{"clientId": "a b", "action": "create", "input": M{}}},
			"long clientId":      []M{{"clientId": strings.Repeat("a", 101), "action": "create", "input": M{}}},
			"unknown":            []M{{"clientId": "a", "action": "create", "input": M{}, "then": 1}},
			"input is text":      []M{{"clientId": "a", "action": "create", "input": "x"}},
			"input is null":      []M{{"clientId": "a", "action": "create", "input": nil}},
		} {
			r := owner.Call("POST", "/link-batches", M{"appId": owner.AppID, "items": bad})
			if r.Status != 422 {
				t.Errorf("%s: %d %s", name, r.Status, r.Body)
			}
		}
		eve.Call("POST", "/link-batches", M{"appId": owner.AppID, "items": []M{create}}).Refused(fault.NotFound)
		key := owner.Key("batches:create", "batches:read", "links:create", "operations:read")
		key.Call("POST", "/link-batches", M{"appId": owner.AppID, "items": []M{create, remove}}).
			Refused(fault.InsufficientPermission)
		owner.Key("links:create").Call("POST", "/link-batches", M{"appId": owner.AppID, "items": []M{create}}).
			Refused(fault.InsufficientPermission)
		b := key.Call("POST", "/link-batches", M{"appId": owner.AppID, "items": []M{create}}).Want(202)
		eve.Call("GET", "/link-batches/"+b.Text("data.id")+"/items", nil).Refused(fault.NotFound)
		eve.Call("GET", b.Header.Get("Location"), nil).Refused(fault.NotFound)
		for limit, want := range map[string]int{"0": 400, "1": 200, "50": 200, "51": 400} {
			owner.Call("GET", "/link-batches/"+b.Text("data.id")+"/items?limit="+limit, nil).Want(want)
		}
		owner.Call("GET", "/exports/"+b.Text("data.id"), nil).Refused(fault.NotFound)

		// An item cannot reach a link of another app.
		theirs := eve.Link("t", nil).Want(201)
		foreign := owner.Call("POST", "/link-batches", M{"appId": owner.AppID, "items": []M{
			{"clientId": "a", "action": "delete", "linkId": theirs.Text("data.id"), "revision": theirs.Revision()},
			{"clientId": "b", "action": "create", "input": M{"appId": eve.AppID, "domain": eve.Host, "slug": "mine"}},
		}}).Want(202)
		i.Settle(t)
		items(owner, foreign).Has("data.0.error.code", `"not_found"`).Has("data.1.error.code", `"validation_failed"`)
		owner.Call("GET", foreign.Header.Get("Location"), nil).Want(200).Has("data.status", `"failed"`).
			Has("data.error.code", `"items_failed"`)
		eve.Call("GET", "/links/"+apitest.Path(theirs.Text("data.id")), nil).Want(200)
	})
}

// An input that is none for its action refuses the batch and names its place;
// what breaks a rule of links is the item's error.
func TestInputs(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		l := owner.Link("a", nil).Want(201)
		i.Settle(t)
		item := func(action string, input any) M {
			b := M{"clientId": "n", "action": action, "input": input}
			if action != "create" {
				b["linkId"], b["revision"] = l.Text("data.id"), l.Revision()
			}
			return b
		}
		create := func(more M) M {
			input := M{"appId": owner.AppID, "domain": owner.Host, "slug": "b"}
			for name, value := range more {
				input[name] = value
			}
			return item("create", input)
		}
		good := M{"clientId": "good", "action": "create", "input": M{"appId": owner.AppID, "domain": owner.Host,
			"slug": "good"}}
		for _, c := range []struct {
			item       M
			path, code string
		}{
			{create(M{"url": "https://example.com"}), "/items/1/input/url", "unknown_field"},
			{create(M{"utm": M{"where": "x"}}), "/items/1/input/utm/where", "unknown_field"},
			{create(M{"title": 7}), "/items/1/input/title", "wrong_type"},
			{create(M{"webOnly": "true"}), "/items/1/input/webOnly", "wrong_type"},
			{create(M{"webOnly": nil}), "/items/1/input/webOnly", "wrong_type"},
			{create(M{"lifecycle": M{"maxClicks": "7"}}), "/items/1/input/lifecycle/maxClicks", "wrong_type"},
			{create(M{"parameters": []int{1}}), "/items/1/input/parameters", "wrong_type"},
			{item("create", M{"appId": owner.AppID, "domain": owner.Host}), "/items/1/input/slug", "required"},
			{item("update", M{"slug": "b"}), "/items/1/input/slug", "unknown_field"},
			{item("update", M{"title": true}), "/items/1/input/title", "wrong_type"},
			{item("move", M{"folder": nil}), "/items/1/input/folder", "unknown_field"},
			{item("move", M{"folderId": 1}), "/items/1/input/folderId", "wrong_type"},
			{item("archive", M{"archived": true}), "/items/1/input/archived", "unknown_field"},
			{item("archive", M{"lifecycle": M{"archived": "yes"}}), "/items/1/input/lifecycle/archived", "wrong_type"},
		} {
			r := owner.Call("POST", "/link-batches", M{"appId": owner.AppID, "items": []M{good, c.item}}).
				Refused(fault.ValidationFailed)
			found := false
			for n := range r.Len("error.details") {
				at := fmt.Sprintf("error.details.%d.", n)
				found = found || r.Text(at+"path") == c.path && r.Text(at+"code") == c.code
			}
			if !found {
				t.Errorf("%v is refused with %s, want %s at %s", c.item["input"], r.Value("error.details"), c.code,
					c.path)
			}
		}
		owner.Call("GET", "/links/availability?domain="+owner.Host+"&slug=good", nil).Want(200).
			Has("data.available", "true")

		for name, b := range map[string]M{
			"title": create(M{"title": strings.Repeat("x", 201)}), "slug": create(M{"slug": "a/b"}),
			"desktopUrl": create(M{"desktopUrl": "http://example.com"}),
			"behavior":   create(M{"behavior": "turbo"}),
			"lifecycle":  create(M{"lifecycle": M{"expiresAt": "tomorrow"}}),
			"folderId":   item("move", M{"folderId": "none"}), "appPath": item("update", M{"appPath": "/a"}),
		} {
			started := owner.Call("POST", "/link-batches", M{"appId": owner.AppID, "items": []M{b}}).Want(202)
			i.Settle(t)
			if got := items(owner, started).Has("data.0.error.code",
				`"validation_failed"`); !strings.HasPrefix(got.Text("data.0.error.details.0.path"), "/"+name) {
				t.Errorf("%s: %s", name, got.Body)
			}
		}
	})
}

// An input that its action cannot take is the error of its item, and changes nothing: one that breaks a rule, or
// one that is damaged.
func TestInputsThatCannotBeTaken(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		l := owner.Link("a", nil).Want(201)
		batch := []M{{"action": "update", "input": M{"title": strings.Repeat("x", 201)}},
			{"action": "move", "input": M{"folderId": strings.Repeat("x", 101)}},
			{"action": "archive", "input": M{"lifecycle": M{"archived": true}}}}
		for n, item := range batch {
			item["clientId"], item["linkId"], item["revision"] = fmt.Sprint(n), l.Text("data.id"), l.Revision()
		}
		started := owner.Call("POST", "/link-batches", M{"appId": owner.AppID, "items": batch}).Want(202)
		if n, err := i.DB.Exec(t.Context(), `UPDATE automation_item SET input = '{"lifecycle":{"archived":"true"}}'
			WHERE action = 'archive'`); n != 1 || err != nil {
			t.Fatal(n, err)
		}
		i.Settle(t)
		got := items(owner, started)
		for n, path := range []string{"/title", "/folderId", "/lifecycle/archived"} {
			at := fmt.Sprintf("data.%d.error.", n)
			got.Has(at+"code", `"validation_failed"`).Has(at+"details.0.path", `"`+path+`"`)
		}
		owner.Call("GET", "/links/"+apitest.Path(l.Text("data.id")), nil).Want(200).
			Has("data.revision", l.Value("data.revision"))
	})
}

// A batch that did not start is cancelled at once, with all its items and no others; one that
// lost its authorization does nothing more.
func TestCancelAndLostAuthorization(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		batch := func(c *apitest.Client, slugs ...string) *apitest.Response {
			all := []M{}
			for _, s := range slugs {
				all = append(all, M{"clientId": s, "action": "create",
					"input": M{"appId": owner.AppID, "domain": owner.Host, "slug": s}})
			}
			return c.Call("POST", "/link-batches", M{"appId": owner.AppID, "items": all}).Want(202)
		}
		b, other := batch(owner, "a", "b"), batch(owner, "other")
		owner.Call("POST", b.Header.Get("Location")[3:]+"/cancel", M{}).Want(202).Has("data.status", `"cancelled"`)
		items(owner, b).Has("data.0.state", `"cancelled"`).Has("data.1.state", `"cancelled"`)
		i.Settle(t)
		items(owner, other).Has("data.0.state", `"succeeded"`)
		owner.Call("GET", b.Header.Get("Location"), nil).Want(200).Has("data.status", `"cancelled"`)
		items(owner, b).Has("data.0.state", `"cancelled"`)
		owner.Call("POST", b.Header.Get("Location")[3:]+"/cancel", M{}).Want(202).Has("data.status", `"cancelled"`)

		key := owner.Key("batches:create", "links:create")
		b = batch(key, "c", "d")
		list := owner.Call("GET", "/api-keys", nil).Want(200)
		owner.Call("DELETE", "/api-keys/"+list.Text("data.0.id"), nil, apitest.IfMatch(list.Text("data.0.revision"))).
			Want(204)
		i.Settle(t)
		owner.Call("GET", b.Header.Get("Location"), nil).Want(200).Has("data.status", `"failed"`).
			Has("data.error.code", `"authorization_lost"`).
			Has("data.error.message", `"The credential that started this is no longer authorized."`)
		items(owner, b).Has("data.0.state", `"cancelled"`)
		owner.Call("GET", "/links?appId="+owner.AppID, nil).Want(200).Has("data.0.slug", `"other"`).Has("data.1", "")
	})
}

// A sixth operation waits for one of five to end.
func TestActiveOperations(t *testing.T) {
	apitest.EachWith(t, apitest.Options{LimitScale: 1}, func(t *testing.T, i *apitest.Installation) {
		owner, other := i.Prepared(t, "ann@example.com"), i.Prepared(t, "bob@example.com")
		batch := func(c *apitest.Client, slug string) *apitest.Response {
			return c.Call("POST", "/link-batches", M{"appId": c.AppID, "items": []M{
				{"clientId": "a", "action": "create", "input": M{"appId": c.AppID, "domain": c.Host, "slug": slug}}}})
		}
		for n := range 5 {
			batch(owner, fmt.Sprint(n)).Want(202)
		}
		if r := batch(owner, "6").Refused(fault.RateLimited); r.Header.Get("Retry-After") != "5" ||
			r.Header.Get("X-RateLimit-Policy") != "" {
			t.Errorf("headers: %v", r.Header)
		}
		batch(other, "1").Want(202)
		i.Settle(t)
		batch(owner, "6").Want(202)
	})
}

// A batch that cannot be ended fails an attempt, and is ended later.
func TestEndFails(t *testing.T) {
	i := apitest.New(t, "sqlite", apitest.Options{})
	owner := i.Prepared(t, "ann@example.com")
	batch := owner.Call("POST", "/link-batches", M{"appId": owner.AppID, "items": []M{{"clientId": "a",
		"action": "create", "input": M{"appId": owner.AppID, "domain": owner.Host, "slug": "a"}}}}).Want(202)
	exec := func(statement string) {
		t.Helper()
		if _, err := i.DB.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	exec(`CREATE TRIGGER ends BEFORE UPDATE ON operation WHEN NEW.status = 'succeeded'
		BEGIN SELECT RAISE(ABORT, 'it cannot end'); END`)
	i.Cycle(t)
	if failed, err := store.One(t.Context(), i.DB, store.Value[int64],
		"SELECT COUNT(*) FROM job WHERE kind = 'batch' AND attempts = 1"); failed != 1 || err != nil {
		t.Errorf("the batch has no failed attempt: %v", err)
	}
	exec("DROP TRIGGER ends")
	i.Clock.Move(2 * time.Second)
	i.Settle(t)
	owner.Call("GET", batch.Header.Get("Location"), nil).Want(200).Has("data.status", `"succeeded"`)
}

// Creations by batches count against what the app may create: the rest waits
// for the next window.
func TestCreationBudget(t *testing.T) {
	apitest.EachWith(t, apitest.Options{LimitScale: 1}, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		var started []*apitest.Response
		for b := range 2 {
			all := []M{}
			for n := range 40 {
				slug := fmt.Sprintf("%d-%d", b, n)
				all = append(all, M{"clientId": slug, "action": "create",
					"input": M{"appId": owner.AppID, "domain": owner.Host, "slug": slug}})
			}
			started = append(started, owner.Call("POST", "/link-batches", M{"appId": owner.AppID, "items": all}).
				Want(202))
		}
		i.Settle(t)
		done := 0
		for _, b := range started {
			done += strings.Count(string(items(owner, b).Body), `"succeeded"`)
		}
		if done != 60 {
			t.Errorf("%d links were created in one minute, want 60", done)
		}
		// A batch that waits is cancelled at once.
		refused := []M{}
		for n := range 50 {
			refused = append(refused, M{"clientId": fmt.Sprint(n), "action": "create",
				"input": M{"appId": owner.AppID, "domain": owner.Host, "slug": strings.Repeat("x", 201)}})
		}
		all := append([]M{}, M{"clientId": "later", "action": "create",
			"input": M{"appId": owner.AppID, "domain": owner.Host, "slug": "later"}})
		waiting := owner.Call("POST", "/link-batches", M{"appId": owner.AppID, "items": append(all, refused[:5]...)}).
			Want(202)
		started = append(started, owner.Call("POST", "/link-batches", M{"appId": owner.AppID, "items": refused}).
			Want(202))
		i.Settle(t)
		owner.Call("POST", waiting.Header.Get("Location")[3:]+"/cancel", M{}).Want(202)
		i.Settle(t)
		owner.Call("GET", waiting.Header.Get("Location"), nil).Want(200).Has("data.status", `"cancelled"`)
		// What is refused anyway costs nothing.
		owner.Call("GET", started[2].Header.Get("Location"), nil).Want(200).Has("data.status", `"failed"`).
			Has("data.result.failed", "50")
		started = started[:2]
		i.Clock.Move(time.Minute)
		i.Settle(t)
		for _, b := range started {
			owner.Call("GET", b.Header.Get("Location"), nil).Want(200).Has("data.status", `"succeeded"`)
		}
	})
}

// A batch at work stops before its next item when it is cancelled, and loses
// its authorization in the middle: what is done stays done.
func TestStoppedInTheMiddle(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		start := func(c *apitest.Client, name string) *apitest.Response {
			all := []M{}
			for n := range 25 {
				slug := fmt.Sprintf("%s-%d", name, n)
				all = append(all, M{"clientId": slug, "action": "create",
					"input": M{"appId": owner.AppID, "domain": owner.Host, "slug": slug}})
			}
			b := c.Call("POST", "/link-batches", M{"appId": owner.AppID, "items": all}).Want(202)
			i.Cycle(t)
			owner.Call("GET", b.Header.Get("Location"), nil).Want(200).Has("data.status", `"running"`)
			return b
		}
		stopped := func(b *apitest.Response, status string) {
			t.Helper()
			i.Settle(t)
			owner.Call("GET", b.Header.Get("Location"), nil).Want(200).Has("data.status", `"`+status+`"`)
			all := string(items(owner, b).Body)
			if done, cancelled := strings.Count(all, `"succeeded"`), strings.Count(all, `"cancelled"`); done != 10 ||
				cancelled != 15 {
				t.Errorf("%s: %d items are done and %d cancelled, want 10 and 15", status, done, cancelled)
			}
			owner.Call("GET", b.Header.Get("Location"), nil).Want(200).Has("data.result.succeeded", "10").
				Has("data.result.failed", "0")
		}
		b := start(owner, "cancel")
		asked := owner.Call("POST", b.Header.Get("Location")[3:]+"/cancel", M{}).Want(202).
			Has("data.status", `"cancel_requested"`)
		if asked.Header.Get("Retry-After") == "" || asked.Header.Get("Location") != b.Header.Get("Location") {
			t.Errorf("headers of the cancellation: %v", asked.Header)
		}
		stopped(b, "cancelled")

		key := owner.Key("batches:create", "links:create")
		b = start(key, "revoke")
		list := owner.Call("GET", "/api-keys", nil).Want(200)
		owner.Call("DELETE", "/api-keys/"+list.Text("data.0.id"), nil, apitest.IfMatch(list.Text("data.0.revision"))).
			Want(204)
		stopped(b, "failed")

		other := owner.Call("POST", "/apps", M{"name": "Other"}).Want(201).Text("data.id")
		for name, lose := range map[string]func(){
			"app": func() {
				list := owner.Call("GET", "/api-keys", nil).Want(200)
				owner.Call("PATCH", "/api-keys/"+list.Text("data.0.id"), M{"appIds": []string{other}},
					apitest.IfMatch(list.Text("data.0.revision"))).Want(200)
			},
			"permission": func() {
				list := owner.Call("GET", "/api-keys", nil).Want(200)
				owner.Call("PATCH", "/api-keys/"+list.Text("data.0.id"), M{"permissions": []string{"links:create"}},
					apitest.IfMatch(list.Text("data.0.revision"))).Want(200)
			},
			"owner": func() {
				for _, active := range []bool{false, true} {
					if _, err := actor.SetActive(t.Context(), i.DB, "ann@example.com", active); err != nil {
						t.Fatal(err)
					}
					i.Settle(t)
				}
			},
		} {
			issued := owner.Call("POST", "/api-keys", M{"name": name, "appIds": []string{owner.AppID, other},
				"permissions": []string{"batches:create", "links:create"}}).Want(201)
			b = start(i.Client(t, issued.Text("data.secret")), name)
			lose()
			stopped(b, "failed")
			owner.Call("GET", b.Header.Get("Location"), nil).Want(200).Has("data.error.code", `"authorization_lost"`)
		}
		session := i.Owner(t, "ann@example.com")
		b = start(session, "session")
		if _, err := i.DB.Exec(t.Context(), `UPDATE session SET ended_at = ? WHERE credential IN (SELECT credential
			FROM job)`, i.Clock.Now()); err != nil {
			t.Fatal(err)
		}
		stopped(b, "failed")

		// Without the permission of the action the items fail, one by one.
		key = owner.Key("batches:create", "links:create")
		b = start(key, "reduce")
		list = owner.Call("GET", "/api-keys", nil).Want(200)
		owner.Call("PATCH", "/api-keys/"+list.Text("data.0.id"), M{"permissions": []string{"batches:create"}},
			apitest.IfMatch(list.Text("data.0.revision"))).Want(200)
		i.Settle(t)
		owner.Call("GET", b.Header.Get("Location"), nil).Want(200).Has("data.status", `"partially_succeeded"`).
			Has("data.result.succeeded", "10").Has("data.result.failed", "15")
		items(owner, b).Has("data.10.error.code", `"insufficient_permission"`)
	})
}
