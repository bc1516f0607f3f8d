package publishing_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/waymarkhq/waymark/internal/apitest"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/store"
)

// What a client sends is checked in the call, each target by itself.
func TestRefusals(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		w := newWorld(t, i)
		eve := i.Prepared(t, "eve@example.com")
		foreign := eve.Link("a", nil).Want(201).Text("data.id")
		foreignDomain := eve.Call("GET", "/domains?appId="+eve.AppID, nil).Want(200).Text("data.0.id")
		many := make([]M, 51)
		for n := range many {
			many[n] = ofLink(fmt.Sprint("x", n), nil)
		}
		for _, c := range []struct {
			targets any
			paths   []string
		}{
			{[]M{}, []string{"/targets"}}, {many, []string{"/targets"}},
			{[]M{{"scope": "app"}}, []string{"/targets/0/expectedRevision"}},
			{[]M{{"scope": "team", "expectedRevision": nil}}, []string{"/targets/0/scope"}},
			{[]M{ofApp(nil), {"scope": "link", "expectedRevision": nil}}, []string{"/targets/1/linkId"}},
			{[]M{ofApp(nil), ofApp(nil), ofLink(w.link, nil), ofLink(w.link, nil)},
				[]string{"/targets/1/scope", "/targets/3/linkId"}},
			{[]M{ofLink(foreign, nil), ofLink("go.example.com:nothing", nil),
				{"scope": "domain", "domainId": "x", "expectedRevision": nil},
				{"scope": "domain", "domainId": foreignDomain, "expectedRevision": nil}},
				[]string{"/targets/0/linkId", "/targets/1/linkId", "/targets/2/domainId", "/targets/3/domainId"}},
			{[]M{{"scope": "domain", "domainId": w.owner.AppID, "expectedRevision": nil}, ofLink(w.owner.AppID, nil),
				ofLink(w.domain, nil), {"scope": "domain", "domainId": w.link, "expectedRevision": nil}},
				[]string{"/targets/0/domainId", "/targets/1/linkId", "/targets/2/linkId", "/targets/3/domainId"}},
			{[]M{{"scope": "app", "domainId": w.domain, "linkId": w.link, "expectedRevision": nil,
				"expectedLinkRevision": w.domain}},
				[]string{"/targets/0/domainId", "/targets/0/linkId", "/targets/0/expectedLinkRevision"}},
			{[]M{{"scope": "link", "linkId": w.link, "domainId": w.domain, "expectedRevision": nil},
				{"scope": "domain", "linkId": w.link, "domainId": w.domain, "expectedRevision": nil}},
				[]string{"/targets/0/domainId", "/targets/1/linkId"}},
		} {
			r := w.owner.Call("POST", "/templates/"+w.template+"/publish", M{"version": 1, "targets": c.targets}).
				Refused(fault.ValidationFailed, c.paths...)
			if r.Len("error.details") != len(c.paths) {
				t.Errorf("more than %s is refused: %s", c.paths, r.Body)
			}
		}
		fifty := append([]M{ofApp(nil)}, w.links(49)...)
		w.publish(fifty...).Want(202)
		path := "/templates/" + w.template
		one := []M{ofApp(nil)}
		w.owner.Call("POST", path+"/publish", M{"version": 3, "targets": one}).Refused(fault.ValidationFailed, "/version")
		w.owner.Call("POST", path+"/publish", M{"version": 0, "targets": one}).Refused(fault.ValidationFailed, "/version")
		w.owner.Call("POST", path+"/publish", M{"version": 1, "targets": one}, apitest.IfMatch(w.domain)).
			Refused(fault.RevisionConflict)
		w.restore(M{}, one...).Refused(fault.ValidationFailed, "/version")
		w.restore(M{"version": 1, "mode": "official"}, one...).Refused(fault.ValidationFailed, "/mode")
		w.restore(M{"mode": "custom"}, one...).Refused(fault.ValidationFailed, "/mode")
		w.owner.Call("POST", path+"/restore", M{"version": 1, "targets": one}).Refused(fault.PreconditionRequired)
		eve.Call("POST", path+"/publish", M{"version": 1, "targets": one}).Refused(fault.NotFound)
		w.owner.Key("templates:read", "template_bindings:update").
			Call("POST", path+"/publish", M{"version": 1, "targets": one}).Refused(fault.InsufficientPermission)
	})
}

// A publication of the draft makes a version of it only if the newest one differs.
func TestDraft(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		w := newWorld(t, i)
		path := "/templates/" + w.template
		publish := func(want string) {
			t.Helper()
			w.owner.Call("POST", path+"/publish", M{"targets": []M{ofLink(w.newLink("v"+want), nil)}}).Want(202).
				Has("data.choice.version", want)
		}
		publish("2")
		seen := w.owner.Call("GET", path, nil).Want(200).Revision()
		draft := w.owner.Call("GET", path+"/draft", nil).Want(200)
		draft = w.owner.Call("PUT", path+"/draft", M{"config": M{"content": M{"heading": "Hello"}}},
			apitest.IfMatch(draft.Revision())).Want(200)
		// What the client saw of the template had another draft.
		w.owner.Call("POST", path+"/publish", M{"targets": []M{ofApp(nil)}}, apitest.IfMatch(seen)).
			Refused(fault.RevisionConflict)
		publish("3")
		w.owner.Call("PUT", path+"/draft", M{"config": M{"appearance": M{"light": M{"text": "#ffffff",
			"background": "#ffffff", "surface": "#ffffff"}}}}, apitest.IfMatch(draft.Revision())).Want(200)
		if r := w.owner.Call("POST", path+"/publish", M{"targets": []M{ofApp(nil)}}); r.Status != 422 {
			t.Errorf("%s", r.Body)
		}
	})
}

// A target whose binding or whose link changed since it was read is left as it is. A
// retry replaces what the target has by then.
func TestConflict(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		w := newWorld(t, i)
		stale := "7b711433-cd54-47c4-bbb9-cb64c7d9922b"
		moved := ofLink(w.newLink("b"), nil)
		moved["expectedLinkRevision"] = stale
		right := ofLink(w.newLink("c"), nil)
		right["expectedLinkRevision"] = w.owner.Call("GET", "/links/"+apitest.Path(right["linkId"].(string)), nil).Revision()
		gone := w.newLink("d")
		p := w.publish(ofApp(stale), w.ofDomain(stale), ofLink(w.link, stale), moved).Want(202)
		w.settle()
		done := w.read(p).Has("data.state", `"conflict"`)
		for n := range 4 {
			done.Has(fmt.Sprintf("data.targets.%d.state", n), `"conflict"`).
				Has(fmt.Sprintf("data.targets.%d.appliedRevision", n), "null")
		}
		w.owner.Call("POST", "/template-publications/"+p.Text("data.id")+"/retry", M{},
			apitest.IfMatch(done.Revision())).Want(202)
		w.settle()
		w.read(p).Has("data.state", `"confirmed"`)

		p = w.publish(right, ofLink(gone, nil)).Want(202)
		link := "/links/" + apitest.Path(gone)
		w.owner.Call("DELETE", link, nil, apitest.IfMatch(w.owner.Call("GET", link, nil).Revision())).Want(204)
		w.settle()
		done = w.read(p).Has("data.state", `"partial"`).Has("data.targets.0.state", `"applied"`).
			Has("data.targets.1.error", `"The link does not exist any more."`)
		w.owner.Call("POST", "/template-publications/"+p.Text("data.id")+"/retry", M{},
			apitest.IfMatch(done.Revision())).Want(202)
		w.settle()
		w.read(p).Has("data.state", `"partial"`)
	})
}

// A restore chooses an earlier version, or none.
func TestRestore(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		w := newWorld(t, i)
		w.publish(ofApp(nil), ofLink(w.link, nil)).Want(202)
		w.settle()
		expected := func() (app, link string) {
			return w.owner.Call("GET", "/apps/"+w.owner.AppID+"/template-defaults", nil).Text("data.bindingRevisions.android"),
				w.selection(w.link).Text("data.bindingRevisions.android")
		}
		app, link := expected()
		w.restore(M{"version": 2}, ofApp(app), ofLink(w.link, link)).Want(202).Has("data.action", `"restore"`)
		w.settle()
		w.selection(w.link).Has("data.effective.android", w.chosen(w.template, "2"))
		_, link = expected()
		p := w.restore(M{"mode": "inherit"}, ofLink(w.link, link)).Want(202)
		w.settle()
		w.read(p).Has("data.state", `"confirmed"`)
		w.selection(w.link).Has("data.selection.android.mode", `"inherit"`).
			Has("data.effective.android", w.chosen(w.template, "2"))
		app, link = expected()
		// What is chosen already is applied without a change.
		before := w.owner.Call("GET", "/links/"+apitest.Path(w.link), nil).Revision()
		p = w.restore(M{"mode": "inherit"}, ofLink(w.link, link)).Want(202)
		w.settle()
		w.read(p).Has("data.state", `"confirmed"`).Has("data.targets.0.appliedRevision", `"`+link+`"`)
		if w.owner.Call("GET", "/links/"+apitest.Path(w.link), nil).Revision() != before {
			t.Error("the link changed")
		}
		w.restore(M{"mode": "official"}, ofApp(app)).Want(202)
		w.settle()
		w.selection(w.link).Has("data.effective.android", `{"mode":"official","templateId":null,"version":null}`)
	})
}

// A publication that chooses no version can be retried although its template was archived.
func TestRetryWithoutVersion(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		w := newWorld(t, i)
		p := w.restore(M{"mode": "official"}, ofLink(w.link, "7b711433-cd54-47c4-bbb9-cb64c7d9922b")).Want(202)
		w.settle()
		done := w.read(p).Has("data.state", `"conflict"`)
		path := "/templates/" + w.template
		w.owner.Call("PATCH", path, M{"archived": true},
			apitest.IfMatch(w.owner.Call("GET", path, nil).Want(200).Text("data.revision"))).Want(200)
		w.owner.Call("POST", "/template-publications/"+p.Text("data.id")+"/retry", M{},
			apitest.IfMatch(done.Revision())).Want(202)
		w.settle()
		w.read(p).Has("data.state", `"confirmed"`)
		w.selection(w.link).Has("data.selection.android.mode", `"official"`)
	})
}

// What waits when the work has failed too often is in conflict: it can be retried, and what was applied stays.
func TestAttemptsExhausted(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		w := newWorld(t, i)
		targets := w.links(12) // a cycle has ten turns, of which the first is for the version
		p := w.publish(targets...).Want(202)
		i.Cycle(t)
		exec := func(statement string) {
			t.Helper()
			if _, err := i.DB.Exec(t.Context(), statement); err != nil {
				t.Fatal(err)
			}
		}
		exec("ALTER TABLE link_template RENAME TO away")
		for range 6 {
			i.Clock.Move(15 * time.Second)
			i.Cycle(t)
		}
		exec("ALTER TABLE away RENAME TO link_template")
		done := w.read(p).Has("data.state", `"partial"`).Has("data.targets.8.state", `"applied"`).
			Has("data.targets.11.state", `"conflict"`)
		if why := done.Text("data.targets.11.error"); !strings.HasPrefix(why, "The work failed or was interrupted 5 times") {
			t.Errorf("the target says %q", why)
		}
		w.owner.Call("POST", "/template-publications/"+p.Text("data.id")+"/retry", M{},
			apitest.IfMatch(done.Revision())).Want(202).Has("data.targets.8.state", `"applied"`).
			Has("data.targets.11.state", `"pending"`)
		w.settle()
		w.read(p).Has("data.state", `"confirmed"`)
	})
}

// Lists are by app, template and state; what is over goes after thirty days, and what
// goes on stays.
func TestListAndRetention(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		w := newWorld(t, i)
		eve := i.Prepared(t, "eve@example.com")
		first := w.publish(ofApp(nil), ofLink(w.link, nil)).Want(202)
		w.settle()
		app := w.owner.Call("GET", "/apps/"+w.owner.AppID+"/template-defaults", nil).Text("data.bindingRevisions.android")
		second := w.publish(ofApp(app)).Want(202)
		list := "/template-publications?appId=" + w.owner.AppID
		w.owner.Call("GET", list, nil).Want(200).Has("data.0.id", second.Value("data.id")).
			Has("data.1.id", first.Value("data.id")).Has("data.1.targets.1.state", `"applied"`).Has("data.2", "")
		w.owner.Call("GET", list+"&state=confirmed&templateId="+w.template, nil).Want(200).
			Has("data.0.id", first.Value("data.id")).Has("data.1", "")
		w.owner.Call("GET", list+"&templateId=x", nil).Want(200).Has("data.0", "")
		page := w.owner.Call("GET", list+"&limit=1", nil).Want(200).Has("data.1", "").Has("pagination.hasMore", "true")
		w.owner.Call("GET", list+"&limit=1&cursor="+page.Text("pagination.nextCursor"), nil).Want(200).
			Has("data.0.id", first.Value("data.id")).Has("pagination.hasMore", "false")
		eve.Call("GET", list, nil).Refused(fault.NotFound)
		eve.Call("GET", "/template-publications/"+first.Text("data.id"), nil).Refused(fault.NotFound)
		ended, err := clock.Parse(w.read(first).Text("data.updatedAt"))
		if err != nil {
			t.Fatal(err)
		}
		i.Clock.Set(ended.Add(30 * 24 * time.Hour))
		i.Sweep(t)
		w.owner.Credential = i.Owner(t, "ann@example.com").Credential
		w.read(first)
		i.Clock.Move(time.Microsecond)
		i.Sweep(t)
		w.owner.Call("GET", "/template-publications/"+first.Text("data.id"), nil).Refused(fault.NotFound)
		w.read(second)
		left, err := store.One(t.Context(), i.DB, store.Value[int], "SELECT COUNT(*) FROM template_publication_target")
		if err != nil || left != 1 {
			t.Errorf("%d targets are left, %v", left, err)
		}
	})
}

// A publication waits until the redirector has taken its targets over, for a while.
func TestProjection(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		w := newWorld(t, i)
		// Nothing is told of a domain that was never published.
		w.owner.Call("POST", "/domains", M{"appId": w.owner.AppID, "mode": "external", "hostname": "go.example.org"}).Want(202)
		i.Settle(t)
		if n, err := i.DB.Exec(t.Context(), `UPDATE domain SET publication_status = 'failed',
			publication_confirmed = NULL WHERE mode = 'external'`); err != nil || n != 1 {
			t.Fatalf("%d domains are external, %v", n, err)
		}
		p := w.publish(ofLink(w.link, nil), ofApp(nil)).Want(202)
		// The jobs that publish are held back, and that of the publication has its turn at once.
		hold := func() {
			t.Helper()
			if _, err := i.DB.Exec(t.Context(), `UPDATE job SET run_after = CASE WHEN kind IN ('link.publish', 'domain.publish')
				THEN CAST(? AS BIGINT) ELSE 0 END`, i.Clock.Now().Add(24*time.Hour)); err != nil {
				t.Fatal(err)
			}
		}
		for range 4 {
			i.Cycle(t)
			hold()
			i.Clock.Move(time.Second)
		}
		applied, err := clock.Parse(w.read(p).Has("data.state", `"applying"`).Has("data.phase", `"projection"`).
			Has("data.targets.0.state", `"applied"`).Text("data.updatedAt"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := i.DB.Exec(t.Context(), "UPDATE link SET publication_status = 'failed'"); err != nil {
			t.Fatal(err)
		}
		i.Clock.Set(applied.Add(5*time.Minute - time.Microsecond))
		i.Cycle(t)
		w.read(p).Has("data.state", `"applying"`)
		hold()
		i.Clock.Move(time.Microsecond)
		i.Cycle(t)
		done := w.read(p).Has("data.state", `"confirmed"`)
		for n, want := range []string{"The choice is stored, but it could not be brought to the redirector. A resync of " +
			"the link, or another change of the app or the domain, tries it again.",
			"The choice is stored, but the redirector has not taken it over yet."} {
			done.Has(fmt.Sprintf("data.targets.%d.error", n), `"`+want+`"`)
		}
	})
}

// A retry ends with what visitors get by then.
func TestProjectionAfterRetry(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		w := newWorld(t, i)
		p := w.publish(ofLink(w.link, nil), ofApp("7b711433-cd54-47c4-bbb9-cb64c7d9922b")).Want(202)
		w.settle()
		done := w.read(p).Has("data.state", `"partial"`).Has("data.targets.0.error", "null")
		if _, err := i.DB.Exec(t.Context(), `UPDATE template_publication_target SET error = 'It was late.'
			WHERE state = 'applied'`); err != nil {
			t.Fatal(err)
		}
		w.owner.Call("POST", "/template-publications/"+p.Text("data.id")+"/retry", M{},
			apitest.IfMatch(done.Revision())).Want(202)
		w.settle()
		w.read(p).Has("data.state", `"confirmed"`).Has("data.targets.0.error", "null").Has("data.targets.1.error", "null")
	})
}

// An executor that died in the middle leaves the rest to another, which does nothing
// twice.
func TestTakenOver(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		w := newWorld(t, i)
		targets := w.links(12)
		p := w.publish(targets...).Want(202)
		i.Cycle(t)
		// Claimed, and never given back.
		if _, err := i.DB.Exec(t.Context(), `UPDATE job SET lease_no = lease_no + 1, attempts = 1, run_after = ?
			WHERE kind = 'template.publish'`, i.Clock.Now().Add(30*time.Second)); err != nil {
			t.Fatal(err)
		}
		i.Settle(t)
		w.read(p).Has("data.state", `"applying"`)
		i.Clock.Move(31 * time.Second)
		w.settle()
		w.read(p).Has("data.state", `"confirmed"`)
		entries, err := store.One(t.Context(), i.DB, store.Value[int], `SELECT COUNT(*) FROM link_history
			WHERE action = 'template_selection_replaced'`)
		if err != nil || entries != 12 {
			t.Errorf("%d changes of 12 links, %v", entries, err)
		}
	})
}
