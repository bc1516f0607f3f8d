package publishing_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/waymarkhq/waymark/internal/apitest"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/store"
)

// Of two publications to one target one wins; the target has its template and its
// version, and nothing of the other.
func TestTwoPublications(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		w := newWorld(t, i)
		templates := []string{w.template, w.newTemplate("android")}
		for round := range 6 {
			link := w.newLink(fmt.Sprint(round))
			var all sync.WaitGroup
			answers := make([]*apitest.Response, 2)
			for n, template := range templates {
				all.Go(func() {
					answers[n] = w.owner.Call("POST", "/templates/"+template+"/publish",
						M{"version": n + 1, "targets": []M{ofLink(link, nil)}}).Want(202)
				})
			}
			all.Go(func() { i.Settle(t) })
			all.Wait()
			w.settle()
			selection := w.selection(link).Value("data.selection.android")
			won := 0
			for n, template := range templates {
				switch p := w.read(answers[n]); p.Text("data.state") {
				case "confirmed":
					won++
					if want := w.chosen(template, fmt.Sprint(n+1)); selection != want {
						t.Errorf("the link has %s, want %s", selection, want)
					}
				case "conflict", "superseded":
					p.Has("data.targets.0.appliedRevision", "null")
				default:
					t.Errorf("%s", p.Body)
				}
			}
			if won != 1 {
				t.Errorf("%d publications won", won)
			}
		}
	})
}

// A newer publication takes over the targets that wait, and their old publication
// gets a new revision at once.
func TestSuperseded(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		w := newWorld(t, i)
		other := w.newLink("b")
		older := w.publish(ofLink(w.link, nil), ofLink(other, nil)).Want(202)
		newer := w.restore(M{"mode": "official"}, ofLink(w.link, nil)).Want(202)
		if p := w.read(older).Has("data.targets.0.state", `"superseded"`).Has("data.targets.1.state", `"pending"`); p.Revision() ==
			older.Revision() {
			t.Error("the older publication kept its revision")
		}
		w.settle()
		w.read(newer).Has("data.state", `"confirmed"`).Has("data.choice", `{"mode":"official","templateId":null,"version":null}`).
			Has("data.versionAvailability", "null")
		p := w.read(older).Has("data.state", `"partial"`).Has("data.targets.1.state", `"applied"`)
		w.selection(w.link).Has("data.selection.android.mode", `"official"`)
		// Nothing is left to retry: the newer one decided.
		w.owner.Call("POST", "/template-publications/"+p.Text("data.id")+"/retry", M{}, apitest.IfMatch(p.Revision())).
			Refused(fault.ResourceConflict)
		now := w.selection(w.link).Text("data.bindingRevisions.android")
		older = w.publish(ofLink(w.link, now)).Want(202)
		w.publish(ofLink(w.link, now)).Want(202)
		w.settle()
		w.read(older).Has("data.state", `"superseded"`)
	})
}

// A target that a newer publication takes over in the moment in which it is to be applied is left to that one.
func TestSupersededAtWork(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		w := newWorld(t, i)
		older := w.publish(ofLink(w.link, nil)).Want(202)
		var newer *apitest.Response
		// The work has read that the target is pending, and has not begun to apply it.
		ctx := store.WithFaults(t.Context(), func(query string) error {
			if newer != nil || !strings.HasPrefix(query, "row of SELECT publication_id, ordinal") {
				return nil
			}
			phase, err := store.One(t.Context(), i.DB, store.Value[string], "SELECT phase FROM template_publication")
			if err == nil && phase == "activation" {
				newer = w.restore(M{"mode": "official"}, ofLink(w.link, nil)).Want(202)
			}
			return err
		})
		if _, err := i.CycleIn(ctx); err != nil || newer == nil {
			t.Fatalf("there was no such moment: %v", err)
		}
		w.settle()
		w.read(older).Has("data.state", `"superseded"`).Has("data.targets.0.appliedRevision", "null")
		w.read(newer).Has("data.state", `"confirmed"`)
		w.selection(w.link).Has("data.selection.android.mode", `"official"`)
	})
}

// A cancellation of which a statement fails changes nothing of the publication.
func TestCancellationIsWhole(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		w := newWorld(t, i)
		p := w.publish(ofLink(w.link, nil), ofApp(nil)).Want(202)
		id, err := store.One(t.Context(), i.DB, store.Value[string], "SELECT id FROM operation WHERE status = 'queued'")
		if err != nil {
			t.Fatal(err)
		}
		apitest.EveryStatement(t, "the cancellation", func(with apitest.With) *apitest.Response {
			return w.owner.Call("POST", "/operations/"+id+"/cancel", M{}, with)
		}, func() string {
			return w.owner.Call("GET", "/operations/"+id, nil).Value("data") + w.read(p).Value("data")
		}).Want(202).Has("data.status", `"cancelled"`)
		w.read(p).Has("data.state", `"denied"`).Has("data.targets.0.state", `"denied"`).
			Has("data.targets.1.state", `"denied"`)
	})
}

// A call of which a statement fails begins nothing, and leaves a publication as it is.
func TestCallsAreWhole(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		w := newWorld(t, i)
		list, path := "/template-publications?appId="+w.owner.AppID, "/templates/"+w.template
		all := func() string { return w.owner.Call("GET", list, nil).Want(200).Value("data") }
		call := func(method, path string, body any, with ...apitest.With) *apitest.Response {
			t.Helper()
			return apitest.EveryStatement(t, method+" "+path, func(failing apitest.With) *apitest.Response {
				return w.owner.Call(method, path, body, append(with, failing)...)
			}, all)
		}
		stale := "7b711433-cd54-47c4-bbb9-cb64c7d9922b"
		late := ofLink(w.newLink("b"), nil)
		late["expectedLinkRevision"] = stale
		p := call("POST", path+"/publish", M{"targets": []M{ofApp(stale), w.ofDomain(stale), ofLink(w.link, stale), late}}).
			Want(202)
		w.settle()
		one := "/template-publications/" + p.Text("data.id")
		call("GET", one, nil).Want(200).Has("data.state", `"conflict"`)
		call("GET", list, nil).Want(200).Has("data.0.id", p.Value("data.id"))
		call("POST", one+"/retry", M{}, apitest.IfMatch(w.read(p).Revision())).Want(202)
		w.settle()
		call("GET", one, nil).Want(200).Has("data.state", `"confirmed"`)
		call("POST", path+"/restore", M{"mode": "official", "targets": []M{ofLink(w.link,
			w.selection(w.link).Text("data.bindingRevisions.android"))}},
			apitest.IfMatch(w.owner.Call("GET", path, nil).Text("data.revision"))).Want(202)
	})
}

// Beside a publication one of these comes first: the other is refused, or the target
// is in conflict.
func TestBesideChanges(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		w := newWorld(t, i)
		for name, change := range map[string]func(path string, match apitest.With) int{
			"selection": func(path string, match apitest.With) int {
				return w.owner.Call("PUT", path+"/template-selection", M{"selection": M{"android": M{"mode": "official"}}},
					match).Status
			},
			"deletion": func(path string, match apitest.With) int {
				return w.owner.Call("DELETE", path, nil, match).Status
			},
		} {
			for round := range 6 {
				link := w.newLink(fmt.Sprint(name, round))
				path := "/links/" + apitest.Path(link)
				match := apitest.IfMatch(w.owner.Call("GET", path, nil).Want(200).Revision())
				p := w.publish(ofLink(link, nil)).Want(202)
				var both sync.WaitGroup
				var status int
				both.Go(func() { status = change(path, match) })
				both.Go(func() { i.Settle(t) })
				both.Wait()
				w.settle()
				applied := w.read(p).Text("data.targets.0.state") == "applied"
				if changed := status < 300; changed == applied || !changed && status != 412 {
					t.Errorf("%s: status %d, and the target is applied: %v", name, status, applied)
				}
			}
		}
		orphans, err := store.One(t.Context(), i.DB, store.Value[int], `SELECT COUNT(*) FROM link_template
			WHERE NOT EXISTS (SELECT 1 FROM link WHERE link.id = link_id)`)
		if err != nil || orphans != 0 {
			t.Errorf("%d links that are gone are indexed, %v", orphans, err)
		}
	})
}

// What a template that was archived meanwhile was not chosen for, it is not chosen for
// any more; a retry goes on once it is back.
func TestArchivedMeanwhile(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		w := newWorld(t, i)
		path := "/templates/" + w.template
		archive := func(archived bool) {
			t.Helper()
			revision := w.owner.Call("GET", path, nil).Want(200).Text("data.revision")
			w.owner.Call("PATCH", path, M{"archived": archived}, apitest.IfMatch(revision)).Want(200)
		}
		targets := w.links(12)
		p := w.publish(targets...).Want(202)
		i.Cycle(t)
		archive(true)
		w.settle()
		done := w.read(p).Has("data.state", `"partial"`).Has("data.targets.0.state", `"applied"`).
			Has("data.targets.11.state", `"conflict"`).Has("data.targets.11.appliedRevision", "null")
		if !strings.Contains(done.Text("data.targets.11.error"), "archived") {
			t.Errorf("%s", done.Value("data.targets.11"))
		}
		retry := func() *apitest.Response {
			return w.owner.Call("POST", "/template-publications/"+p.Text("data.id")+"/retry", M{},
				apitest.IfMatch(done.Revision()))
		}
		retry().Refused(fault.ResourceConflict)
		w.publish(ofApp(nil)).Refused(fault.ResourceConflict)
		w.owner.Call("POST", path+"/publish", M{"targets": []M{ofApp(nil)}}).Refused(fault.ResourceConflict)
		archive(false)
		before := w.selection(targets[0]["linkId"].(string)).Revision()
		retry().Want(202).Has("data.state", `"queued"`).Has("data.targets.0.state", `"applied"`).
			Has("data.targets.11.state", `"pending"`)
		w.settle()
		w.read(p).Has("data.state", `"confirmed"`)
		if w.selection(targets[0]["linkId"].(string)).Revision() != before {
			t.Error("the retry changed what was applied")
		}
	})
}

// links returns targets of new links.
func (w *world) links(n int) (targets []M) {
	w.Helper()
	for k := range n {
		targets = append(targets, ofLink(w.newLink(fmt.Sprint("many", k)), nil))
	}
	w.i.Settle(w)
	return targets
}

// What a caller starts ends when the caller is no longer authorized, or cancels it;
// what was applied until then stays, and a retry does the rest on behalf of its own
// caller.
func TestStopped(t *testing.T) {
	for name, stop := range map[string]func(w *world, key M){
		"revoked": func(w *world, key M) {
			path := "/api-keys/" + key["id"].(string)
			w.owner.Call("DELETE", path, nil, apitest.IfMatch(w.owner.Call("GET", path, nil).Want(200).Revision())).Want(204)
		},
		"narrowed": func(w *world, key M) {
			path := "/api-keys/" + key["id"].(string)
			w.owner.Call("PATCH", path, M{"permissions": []string{"templates:read"}},
				apitest.IfMatch(w.owner.Call("GET", path, nil).Want(200).Revision())).Want(200)
		},
		"cancelled": func(w *world, key M) {
			id, err := store.One(w.Context(), w.i.DB, store.Value[string], `SELECT id FROM operation
				WHERE type = 'template.publish' AND status IN ('queued', 'running')`)
			if err != nil {
				w.Fatal(err)
			}
			w.owner.Call("POST", "/operations/"+id+"/cancel", M{}).Want(202)
		},
	} {
		t.Run(name, func(t *testing.T) {
			apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
				w := newWorld(t, i)
				hook := w.owner.Call("POST", "/webhooks", M{"appId": w.owner.AppID, "url": "https://hooks.example.com/",
					"events": []string{"template.publication_failed"}}).Want(201).Text("data.webhook.id")
				issued := w.owner.Call("POST", "/api-keys", M{"name": "key", "appIds": []string{w.owner.AppID},
					"permissions": []string{"templates:publish", "templates:read"}}).Want(201)
				key := i.Client(t, issued.Text("data.secret"))
				targets := w.links(12)
				p := key.Call("POST", "/templates/"+w.template+"/publish", M{"version": 1, "targets": targets}).Want(202)
				i.Cycle(t)
				stop(w, M{"id": issued.Text("data.key.id")})
				w.settle()
				done := w.read(p).Has("data.state", `"partial"`).Has("data.targets.0.state", `"applied"`).
					Has("data.targets.11.state", `"denied"`)
				w.selection(targets[11]["linkId"].(string)).Has("data.selection.android", "null")
				w.owner.Call("GET", "/webhooks/"+hook+"/deliveries", nil).Want(200).
					Has("data.0.eventType", `"template.publication_failed"`).Has("data.1", "")
				w.owner.Call("POST", "/template-publications/"+p.Text("data.id")+"/retry", M{},
					apitest.IfMatch(p.Revision())).Refused(fault.RevisionConflict)
				w.owner.Key("templates:retry").Call("POST", "/template-publications/"+p.Text("data.id")+"/retry", M{},
					apitest.IfMatch(done.Revision())).Refused(fault.InsufficientPermission)
				w.owner.Key("templates:retry", "templates:publish").Call("POST",
					"/template-publications/"+p.Text("data.id")+"/retry", M{}, apitest.IfMatch(done.Revision())).Want(202)
				w.settle()
				w.read(p).Has("data.state", `"confirmed"`)
				audited, err := store.One(t.Context(), i.DB, store.Value[int], `SELECT COUNT(*) FROM audit_event
					WHERE operation = 'setLinksLinkIdTemplateSelection'`)
				if err != nil || audited != 12 {
					t.Errorf("%d effects on 12 targets, %v", audited, err)
				}
			})
		})
	}
}

// Each target that is applied makes another revision of the publication: clients see the progress by it.
func TestProgressIsARevision(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		w := newWorld(t, i)
		p := w.publish(w.links(25)...).Want(202)
		revisions := map[string]bool{p.Revision(): true}
		for turn := range 3 {
			i.Clock.Move(time.Second)
			i.Cycle(t)
			r := w.read(p)
			if revisions[r.Revision()] || r.Text("data.updatedAt") != i.Clock.Now().String() {
				t.Errorf("after turn %d the publication has the revision %s, of %s", turn, r.Revision(), r.Text("data.updatedAt"))
			}
			revisions[r.Revision()] = true
		}
		w.settle()
		w.read(p).Has("data.state", `"confirmed"`)
	})
}

// What is stopped before its first effect changes nothing, and can be retried once.
func TestStoppedAtOnce(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		w := newWorld(t, i)
		p := w.publish(ofLink(w.link, nil)).Want(202)
		id, err := store.One(t.Context(), i.DB, store.Value[string], "SELECT id FROM operation WHERE status = 'queued'")
		if err != nil {
			t.Fatal(err)
		}
		w.owner.Call("POST", "/operations/"+id+"/cancel", M{}).Want(202).Has("data.status", `"cancelled"`)
		w.read(p).Has("data.state", `"denied"`).Has("data.versionAvailability", `"prepared"`).
			Has("data.targets.0.error", `"The operation was cancelled before."`)
		w.settle()
		w.selection(w.link).Has("data.selection.android", "null")
		retry := func() *apitest.Response {
			return w.owner.Call("POST", "/template-publications/"+p.Text("data.id")+"/retry", M{},
				apitest.IfMatch(w.read(p).Revision()))
		}
		retry().Want(202)
		only := "Only a publication that is partial, conflict or denied can be retried. This one is "
		retry().Refused(fault.ResourceConflict).Has("error.message", `"`+only+`queued."`)
		w.settle()
		w.selection(w.link).Has("data.selection.android", w.chosen(w.template, "1"))
		retry().Refused(fault.ResourceConflict).Has("error.message", `"`+only+`confirmed."`)
	})
}

// A publication takes over the targets of its own base alone.
func TestOtherBaseIsNotSuperseded(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		w := newWorld(t, i)
		older := w.publish(ofLink(w.link, nil)).Want(202)
		other := w.owner.Call("POST", "/templates/"+w.newTemplate("ios")+"/publish",
			M{"version": 1, "targets": []M{ofLink(w.link, nil)}}).Want(202)
		w.read(older).Has("data.targets.0.state", `"pending"`)
		w.settle()
		w.read(older).Has("data.state", `"confirmed"`)
		w.read(other).Has("data.state", `"confirmed"`)
	})
}
