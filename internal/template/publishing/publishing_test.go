package publishing_test

import (
	"strings"
	"testing"
	"time"

	"github.com/waymarkhq/waymark/internal/apitest"
	"github.com/waymarkhq/waymark/internal/fault"
)

type M = apitest.M

// world is an owner with a template of one version, a link and a domain.
type world struct {
	*testing.T
	i                      *apitest.Installation
	owner                  *apitest.Client
	template, domain, link string
}

func newWorld(t *testing.T, i *apitest.Installation) *world {
	t.Helper()
	w := &world{T: t, i: i, owner: i.Prepared(t, "ann@example.com")}
	w.template = w.newTemplate("android")
	w.domain = w.owner.Call("GET", "/domains?appId="+w.owner.AppID, nil).Want(200).Text("data.0.id")
	w.link = w.newLink("a")
	i.Settle(t)
	return w
}

// newTemplate makes a template with two versions and returns its id.
func (w *world) newTemplate(base string) string {
	w.Helper()
	id := w.owner.Call("POST", "/templates", M{"appId": w.owner.AppID, "name": "T", "baseTemplateId": base}).Want(201).
		Text("data.template.id")
	for range 2 {
		w.owner.Call("POST", "/templates/"+id+"/versions", M{}).Want(201)
	}
	return id
}

func (w *world) newLink(slug string) string {
	w.Helper()
	return w.owner.Link(slug, nil).Want(201).Text("data.id")
}

func ofApp(expected any) M { return M{"scope": "app", "expectedRevision": expected} }

func (w *world) ofDomain(expected any) M {
	return M{"scope": "domain", "domainId": w.domain, "expectedRevision": expected}
}

func ofLink(id string, expected any) M {
	return M{"scope": "link", "linkId": id, "expectedRevision": expected}
}

// publish publishes version 1 of the template.
func (w *world) publish(targets ...M) *apitest.Response {
	w.Helper()
	return w.owner.Call("POST", "/templates/"+w.template+"/publish", M{"version": 1, "targets": targets})
}

// restore restores the template with more members.
func (w *world) restore(more M, targets ...M) *apitest.Response {
	w.Helper()
	body := M{"targets": targets}
	for name, value := range more {
		body[name] = value
	}
	revision := w.owner.Call("GET", "/templates/"+w.template, nil).Want(200).Text("data.revision")
	return w.owner.Call("POST", "/templates/"+w.template+"/restore", body, apitest.IfMatch(revision))
}

// settle lets the executor do everything, and the waits of publications end.
func (w *world) settle() {
	w.Helper()
	for range 3 {
		w.i.Settle(w)
		w.i.Clock.Move(time.Second)
	}
	w.i.Settle(w)
}

// read reads a publication again.
func (w *world) read(p *apitest.Response) *apitest.Response {
	w.Helper()
	return w.owner.Call("GET", "/template-publications/"+p.Text("data.id"), nil).Want(200)
}

func (w *world) selection(link string) *apitest.Response {
	w.Helper()
	return w.owner.Call("GET", "/links/"+apitest.Path(link)+"/template-selection", nil).Want(200)
}

func (w *world) chosen(id string, version string) string {
	return `{"mode":"custom","templateId":"` + id + `","version":` + version + `}`
}

// A publication goes through its phases to all its targets, whose publications,
// histories and audit events are those of direct changes.
func TestPublish(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		w := newWorld(t, i)
		hook := w.owner.Call("POST", "/webhooks", M{"appId": w.owner.AppID, "url": "https://hooks.example.com/",
			"events": []string{"template.publication_succeeded", "operation.completed", "link.updated"}}).Want(201).
			Text("data.webhook.id")
		p := w.publish(ofApp(nil), w.ofDomain(nil), ofLink(w.link, nil)).Want(202).Has("data.state", `"queued"`).
			Has("data.phase", `"version"`).Has("data.action", `"publish"`).Has("data.versionAvailability", `"prepared"`).
			Has("data.choice", w.chosen(w.template, "1")).Has("data.targets.2.state", `"pending"`).Has("data.error", "null")
		if got := p.Header.Get("Location"); got != "/v1/template-publications/"+p.Text("data.id") ||
			p.Header.Get("Retry-After") == "" {
			t.Errorf("headers %v", p.Header)
		}
		p.Revision()
		w.settle()
		done := w.read(p).Has("data.state", `"confirmed"`).Has("data.phase", `"projection"`).
			Has("data.versionAvailability", `"available"`).Has("data.error", "null").Has("data.targets.0.error", "null")
		if done.Revision() == p.Revision() {
			t.Error("the publication changed under its revision")
		}
		for n, r := range []*apitest.Response{
			w.owner.Call("GET", "/apps/"+w.owner.AppID+"/template-defaults", nil).Want(200).
				Has("data.defaults.android", w.chosen(w.template, "1")).Has("data.domainId", "null"),
			w.owner.Call("GET", "/domains/"+w.domain+"/template-defaults", nil).Want(200).
				Has("data.defaults.android", w.chosen(w.template, "1")).Has("data.domainId", `"`+w.domain+`"`),
			w.selection(w.link).Has("data.selection.android", w.chosen(w.template, "1")),
		} {
			done.Has("data.targets."+string(rune('0'+n))+".appliedRevision", r.Value("data.bindingRevisions.android"))
		}
		w.owner.Call("GET", "/links/"+apitest.Path(w.link)+"/history", nil).Want(200).
			Has("data.0.action", `"template_selection_replaced"`).Has("data.0.fields", `["templateSelection"]`)
		w.owner.Call("GET", "/links/"+apitest.Path(w.link), nil).Want(200).Has("data.publication.status", `"synced"`)
		for operation, resource := range map[string]string{
			"setLinksLinkIdTemplateSelection": w.link, "setDomainsDomainIdTemplateDefaults": w.domain,
			"setAppsAppIdTemplateDefaults": w.owner.AppID, "publishTemplatesTemplateId": p.Text("data.id"),
		} {
			w.owner.Call("GET", "/audit-events?operation="+operation, nil).Want(200).
				Has("data.0.resource.id", `"`+resource+`"`).Has("data.1", "")
		}
		sent := w.owner.Call("GET", "/webhooks/"+hook+"/deliveries", nil).Want(200)
		for _, event := range []string{"template.publication_succeeded", "operation.completed", "link.updated"} {
			if n := strings.Count(string(sent.Body), `"eventType":"`+event+`"`); n != 1 {
				t.Errorf("%d events %s", n, event)
			}
		}
		w.owner.Call("POST", "/template-publications/"+p.Text("data.id")+"/retry", M{},
			apitest.IfMatch(done.Revision())).Refused(fault.ResourceConflict)
	})
}
