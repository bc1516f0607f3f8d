package webhook_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/waymarkhq/waymark/internal/apitest"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/op"
)

// linkOf is a link of an app, of which an event tells.
func linkOf(appID string) op.Ref {
	return op.Ref{Type: "link", ID: "0198c9a2-7f3e-7c11-9d52-0a6f6e1b2c3d", AppID: appID,
		Revision: "f3b1c6de-8a5e-4f0b-9c8d-6a2e1b7f4c90"}
}

func TestRegister(t *testing.T) {
	each(t, func(t *testing.T, i *apitest.Installation, _ *receiver) {
		owner := i.Prepared(t, "ann@example.com")
		key := owner.Key(permissions...)
		body := M{"appId": owner.AppID, "url": "https://a.example.com/hook?x=1",
			"events": []string{"link.created", "export.ready"}, "description": "CI"}
		once := apitest.Idempotent(apitest.NewKey())
		r := key.Call("POST", "/webhooks", body, once).Want(201)
		id, secret := r.Text("data.webhook.id"), r.Text("data.secret")
		r.Has("data.webhook.url", `"https://a.example.com/hook?x=1"`).
			Has("data.webhook.events", `["link.created","export.ready"]`).Has("data.webhook.description", `"CI"`).
			Has("data.webhook.enabled", "true").Has("data.webhook.status", `"active"`).
			Has("data.webhook.consecutiveFailures", "0").
			Has("data.webhook.lastSuccessAt", "null").Has("data.webhook.authorizedBy.type", `"api_key"`)
		if !strings.HasPrefix(secret, "whsec_") || len(secret) != 6+43 ||
			r.Header.Get("Location") != "/v1/webhooks/"+id ||
			r.Header.Get("ETag") != `"`+r.Text("data.webhook.revision")+`"` {
			t.Errorf("secret of %d characters, headers %v", len(secret), r.Header)
		}
		replay := key.Call("POST", "/webhooks", body, once).Refused(fault.SecretNotReplayable)
		if replay.Text("error.resource.id") != id || replay.Header.Get("Location") != "/v1/webhooks/"+id {
			t.Errorf("replay: %s %v", replay.Body, replay.Header)
		}
		for _, answer := range []*apitest.Response{
			replay, key.Call("GET", "/webhooks/"+id, nil).Want(200).Has("data.id", `"`+id+`"`),
			key.Call("GET", "/webhooks?appId="+owner.AppID, nil).Want(200).Has("data.0.id", `"`+id+`"`),
			owner.Call("GET", "/audit-events?appId="+owner.AppID, nil).Want(200).
				Has("data.0.operation", `"createWebhooks"`).Has("data.0.resource", `{"type":"webhook","id":"`+id+`"}`),
		} {
			if strings.Contains(string(answer.Body), secret) {
				t.Errorf("the secret is shown again: %s", answer.Body)
			}
		}
		if n := count(t, i.DB, "SELECT COUNT(*) FROM receipt WHERE body LIKE '%whsec_%'"); n != 0 {
			t.Error("a receipt holds the secret")
		}

		// Each change is a new revision.
		path, revision := "/webhooks/"+id, r.Text("data.webhook.revision")
		i.Clock.Move(time.Second)
		patched := key.Call("PATCH", path, M{"events": []string{"link.deleted"}, "description": nil,
			"url": "https://b.example.com"}, apitest.IfMatch(revision)).Want(200).
			Has("data.events", `["link.deleted"]`).Has("data.description", "null").
			Has("data.url", `"https://b.example.com"`)
		if patched.Revision() == revision || patched.Text("data.updatedAt") == patched.Text("data.createdAt") {
			t.Errorf("after the change: %s", patched.Body)
		}
		key.Call("PATCH", path, M{}, apitest.IfMatch(revision)).Refused(fault.RevisionConflict)
		disabled := key.Call("PATCH", path, M{"enabled": false}, apitest.IfMatch(patched.Revision())).Want(200).
			Has("data.status", `"disabled"`)
		owner.Call("PATCH", path, M{"enabled": true}, apitest.IfMatch(disabled.Revision())).Want(200).
			Has("data.enabled", `true`).Has("data.authorizedBy.type", `"human"`)
		key.Call("PATCH", path, M{"enabled": true}, apitest.IfMatch(owner.Call("GET", path, nil).Revision())).Want(200).
			Has("data.status", `"active"`).Has("data.authorizedBy.type", `"api_key"`)

		// Pages.
		for n := range 3 {
			i.Clock.Move(time.Second)
			register(t, owner, M{"description": fmt.Sprint(n)})
		}
		page := key.Call("GET", "/webhooks?limit=2&appId="+owner.AppID, nil).Want(200).
			Has("pagination.hasMore", "true").Has("data.0.description", `"2"`)
		key.Call("GET", "/webhooks?limit=2&appId="+owner.AppID+"&cursor="+page.Text("pagination.nextCursor"), nil).
			Want(200).Has("pagination.hasMore", "false").Has("data.1.id", `"`+id+`"`)

		// It is gone, and stays gone.
		sent := "/webhook-deliveries/" + owner.Call("POST", path+"/test", "{}").Want(202).Text("data.id")
		again := apitest.Idempotent(apitest.NewKey())
		match := apitest.IfMatch(key.Call("GET", path, nil).Revision())
		key.Call("DELETE", path, nil, match, again).Want(204)
		key.Call("DELETE", path, nil, match, again).Want(204)
		key.Call("DELETE", path, nil, match).Refused(fault.NotFound)
		key.Call("GET", path, nil).Refused(fault.NotFound)
		key.Call("GET", path+"/deliveries", nil).Want(200) // its history stays
		owner.Call("POST", sent+"/retry", M{}, apitest.IfMatch(owner.Call("GET", sent, nil).Revision())).
			Refused(fault.ResourceConflict).
			Has("error.message", `"The destination was deleted. Nothing can be sent to it any more."`)
		key.Call("POST", path+"/test", M{}).Refused(fault.NotFound)
		if n := key.Call("GET", "/webhooks?appId="+owner.AppID, nil).Want(200).Len("data"); n != 3 {
			t.Errorf("%d destinations are left", n)
		}
		if n := count(t, i.DB, "SELECT COUNT(*) FROM webhook WHERE id = ? AND secret <> ''", id); n != 0 {
			t.Error("the secret of a deleted destination is kept")
		}
	})
}

func TestRefusals(t *testing.T) {
	each(t, func(t *testing.T, i *apitest.Installation, _ *receiver) {
		owner, eve := i.Prepared(t, "ann@example.com"), i.Prepared(t, "eve@example.com")
		w := register(t, owner, nil)
		good := M{"appId": owner.AppID, "url": "https://a.example.com/", "events": []string{linkCreated}}
		for _, c := range []struct {
			body M
			at   string
		}{
			{M{"url": "http://a.example.com/"}, "/url"}, {M{"url": "https://u:p@a.example.com/"}, "/url"},
			{M{"url": "https://a.example.com/#f"}, "/url"},
			{M{"url": "https://192.0.2.1/"}, "/url"}, {M{"url": "https://localhost/"}, "/url"},
			{M{"url": "https://a.example.com:8443/"}, "/url"},
			{M{"url": ""}, "/url"}, {M{"url": "https://a.example.com/" + strings.Repeat("a", 4096)}, "/url"},
			{M{"url": 1}, "/url"},
			{M{"events": []string{}}, "/events"}, {M{"events": []string{"*"}}, "/events/0"},
			{M{"events": []string{"webhook.test"}}, "/events/0"},
			{M{"events": []string{linkCreated, linkCreated}}, "/events/1"}, {M{"events": nil}, "/events"},
			{M{"events": []string{linkCreated, "link.clicked"}}, "/events/1"},
			{M{"description": strings.Repeat("d", 501)}, "/description"}, {M{"enabled": nil}, "/enabled"},
			{M{"enabled": "yes"}, "/enabled"}, {M{"secret": "whsec_x"}, "/secret"},
		} {
			body := M{}
			for name, value := range good {
				body[name] = value
			}
			for name, value := range c.body {
				body[name] = value
			}
			w.c.Call("POST", "/webhooks", body).Refused(fault.ValidationFailed, c.at)
			w.c.Call("PATCH", w.path, c.body, apitest.IfMatch(w.get().Revision())).Refused(fault.ValidationFailed, c.at)
		}
		w.c.Call("POST", "/webhooks", M{"appId": owner.AppID}).Refused(fault.ValidationFailed, "/url", "/events")
		w.c.Call("PATCH", w.path, M{"appId": eve.AppID}, apitest.IfMatch(w.get().Revision())).
			Refused(fault.ValidationFailed, "/appId")
		w.c.Call("GET", "/webhooks", nil).Refused(fault.InvalidRequest, "query.appId")
		w.c.Call("GET", w.path+"/deliveries?state=lost", nil).Refused(fault.InvalidRequest, "query.state")
		w.c.Call("GET", w.path+"/deliveries?eventType=link.clicked", nil).
			Refused(fault.InvalidRequest, "query.eventType")
		w.c.Call("GET", w.path+"/deliveries?eventType=webhook.test", nil).Want(200)
		w.c.Call("POST", w.path+"/test", M{"x": 1}).Refused(fault.ValidationFailed, "/x")

		test := w.c.Call("POST", w.path+"/test", M{}).Want(202)
		delivery := "/webhook-deliveries/" + test.Text("data.id")
		revision := w.get().Revision()
		calls := []struct {
			method, path string
			body         any
			permission   string
			match        bool // If-Match is needed
			own          string
		}{
			{"GET", "/webhooks?appId=" + owner.AppID, nil, "webhooks:read", false, ""},
			{"POST", "/webhooks", good, "webhooks:create", false, ""},
			{"GET", w.path, nil, "webhooks:read", false, ""},
			{"PATCH", w.path, M{"description": "x"}, "webhooks:update", true, revision},
			{"DELETE", w.path, nil, "webhooks:delete", true, revision},
			{"POST", w.path + "/rotate-secret", M{"overlapSeconds": 0}, "webhooks:rotate_secret", true, revision},
			{"POST", w.path + "/test", M{}, "webhooks:test", false, ""},
			{"GET", w.path + "/deliveries", nil, "webhooks:read", false, ""},
			{"GET", delivery, nil, "webhooks:read", false, ""},
			{"POST", delivery + "/retry", M{}, "webhooks:retry", true, test.Revision()},
		}
		for _, c := range calls {
			var others []string
			for _, p := range permissions {
				if p != c.permission {
					others = append(others, p)
				}
			}
			owner.Key(others...).Call(c.method, c.path, c.body).Refused(fault.InsufficientPermission)
			var with []apitest.With
			if c.match {
				w.c.Call(c.method, c.path, c.body).Refused(fault.PreconditionRequired)
				w.c.Call(c.method, c.path, c.body, apitest.IfMatch("0198c9a2-7f3e-4c11-9d52-0a6f6e1b2c3d")).
					Refused(fault.RevisionConflict)
				with = append(with, apitest.IfMatch(c.own))
			}
			eve.Call(c.method, c.path, c.body, with...).Refused(fault.NotFound)
			eve.Key(permissions...).Call(c.method, c.path, c.body, with...).Refused(fault.NotFound)
		}
		for _, path := range []string{"/webhooks/x", "/webhooks/0198c9a2-7f3e-7c11-9d52-0a6f6e1b2c3d",
			"/webhook-deliveries/x"} {
			w.c.Call("GET", path, nil).Refused(fault.NotFound)
		}
		for _, seconds := range []any{-1, 86401, nil, "1", 0.5} {
			w.c.Call("POST", w.path+"/rotate-secret", M{"overlapSeconds": seconds}, apitest.IfMatch(revision)).
				Refused(fault.ValidationFailed, "/overlapSeconds")
		}
		w.c.Call("POST", w.path+"/rotate-secret", M{}, apitest.IfMatch(revision)).
			Refused(fault.ValidationFailed, "/overlapSeconds")
		// Enabling is registering.
		editor := owner.Key("webhooks:update", "webhooks:read")
		editor.Call("PATCH", w.path, M{"enabled": true}, apitest.IfMatch(revision)).
			Refused(fault.InsufficientPermission)
		editor.Call("PATCH", w.path, M{"enabled": false}, apitest.IfMatch(revision)).Want(200).
			Has("data.status", `"disabled"`)
		w.c.Call("POST", w.path+"/test", M{}).Refused(fault.ResourceConflict)
	})
}

// Another address and other events are sent on behalf of whoever chose them, who
// needs what registering needs. All else leaves the destination to whom it was.
func TestRedirected(t *testing.T) {
	each(t, func(t *testing.T, i *apitest.Installation, r *receiver) {
		owner := i.Prepared(t, "ann@example.com")
		w := register(t, owner, M{"events": []string{linkCreated, linkDeleted}})
		by, first := w.get().Value("data.authorizedBy"), "/api-keys/"+w.get().Text("data.authorizedBy.id")
		registrar := w.c
		other, elsewhere := M{"events": []string{linkCreated}}, M{"url": "https://b.example.com/hook"}

		w.c = owner.Key("webhooks:update", "webhooks:read")
		for _, change := range []M{other, elsewhere, {"events": []string{linkCreated, linkDeleted, linkUpdated}},
			{"url": "https://a.example.com/hook?", "enabled": false}} {
			w.c.Call("PATCH", w.path, change, apitest.IfMatch(w.get().Revision())).Refused(fault.InsufficientPermission)
		}
		w.patch(M{"description": "x", "url": "https://a.example.com/hook", "enabled": false,
			"events": []string{linkDeleted, linkCreated}}).Has("data.authorizedBy", by)

		for _, change := range []M{other, elsewhere} {
			w.c = registrar
			w.patch(M{"enabled": true})
			w.c = owner.Key(permissions...)
			w.patch(M{"description": "y"}).Has("data.authorizedBy", by)
			if second := w.patch(change).Value("data.authorizedBy"); second == by {
				t.Errorf("after %v the destination is still authorized by %s", change, second)
			}
		}
		// The first key may go: nothing is sent on its behalf any more.
		owner.Call("DELETE", first, nil, apitest.IfMatch(owner.Call("GET", first, nil).Revision())).Want(204)
		owner.Link("a", nil).Want(201)
		i.Deliver(t)
		if got := r.take(); len(got) != 1 || got[0].host != "b.example.com" {
			t.Errorf("after the first key was revoked: %v", got)
		}
		// An authorization that was lost is given again, a suspension stays.
		exec(t, i.DB, "UPDATE webhook SET hold = 'authorization_required'")
		w.patch(M{"events": []string{linkDeleted}}).Has("data.status", `"active"`)
		exec(t, i.DB, "UPDATE webhook SET hold = 'suspended', consecutive_failures = 10")
		w.patch(other).Has("data.status", `"suspended"`).Has("data.consecutiveFailures", "10")
		w.patch(M{"enabled": true}).Has("data.status", `"active"`).Has("data.consecutiveFailures", "0")
	})
}

func TestLimit(t *testing.T) {
	apitest.EachWith(t, apitest.Options{LimitScale: 1}, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		register(t, i.Prepared(t, "bob@example.com"), nil) // what another app has does not count
		var last *registered
		key := owner.Key(permissions...)
		for range 10 {
			last = registerAs(t, key, nil)
		}
		owner.Call("GET", "/apps/"+owner.AppID+"/usage", nil).Want(200).Has("data.sharedUsage.app.webhooks", "10").
			Has("data.sharedLimits.app.webhooks", "10")
		body := M{"appId": owner.AppID, "url": "https://a.example.com/", "events": []string{linkCreated}}
		key.Call("POST", "/webhooks", body).Refused(fault.ResourceConflict)
		last.c.Call("DELETE", last.path, nil, apitest.IfMatch(last.get().Revision())).Want(204)
		key.Call("POST", "/webhooks", body).Want(201)
		key.Call("POST", "/webhooks", body).Refused(fault.ResourceConflict)
	})
}

func TestRotateSecret(t *testing.T) {
	each(t, func(t *testing.T, i *apitest.Installation, r *receiver) {
		owner := i.Prepared(t, "ann@example.com")
		w := register(t, owner, nil)
		secrets := []string{w.secret}
		rotate := func(seconds int) *apitest.Response {
			t.Helper()
			once, match := apitest.Idempotent(apitest.NewKey()), apitest.IfMatch(w.get().Revision())
			answer := w.c.Call("POST", w.path+"/rotate-secret", M{"overlapSeconds": seconds}, once, match).Want(200)
			replay := w.c.Call("POST", w.path+"/rotate-secret", M{"overlapSeconds": seconds}, once, match).
				Refused(fault.SecretNotReplayable)
			if replay.Header.Get("Location") != "/v1"+w.path || replay.Text("error.resource.id") != w.id {
				t.Errorf("replay: %v %s", replay.Header, replay.Body)
			}
			secrets = append(secrets, answer.Text("data.secret"))
			return answer
		}
		signedBy := func(want string) {
			t.Helper()
			w.c.Call("POST", w.path+"/test", M{}).Want(202)
			i.Deliver(t)
			got := r.take()
			if len(got) != 1 || got[0].signed(secrets...) != want {
				t.Fatalf("%d deliveries, signed by %v, want %s", len(got), got, want)
			}
			if n := strings.Count(got[0].header.Get("Service-Signature"), "v1="); n != len(strings.Fields(want)) {
				t.Errorf("%d signatures", n)
			}
		}
		signedBy("0")
		rotate(60).Has("data.previousSecretExpiresAt", `"`+i.Clock.Now().Add(time.Minute).String()+`"`).
			Has("data.webhook.id", `"`+w.id+`"`)
		signedBy("1 0")
		i.Clock.Move(time.Minute - time.Millisecond)
		signedBy("1 0")
		i.Clock.Move(time.Millisecond)
		signedBy("1")
		rotate(86400)
		rotate(86400)
		signedBy("3 2")
		rotate(0).Has("data.previousSecretExpiresAt", "null")
		signedBy("4")
		// A change in between leaves the overlap alone.
		rotate(60)
		w.patch(M{"description": "x"})
		signedBy("5 4")
	})
}

// A secret whose overlap is over is dropped with the next change of its destination.
func TestPreviousSecretIsDropped(t *testing.T) {
	each(t, func(t *testing.T, i *apitest.Installation, _ *receiver) {
		w := register(t, i.Prepared(t, "ann@example.com"), nil)
		w.c.Call("POST", w.path+"/rotate-secret", M{"overlapSeconds": 60}, apitest.IfMatch(w.get().Revision())).Want(200)
		for _, step := range []struct {
			after time.Duration
			kept  int64
		}{{time.Minute - time.Millisecond, 1}, {time.Millisecond, 0}} {
			i.Clock.Move(step.after)
			w.patch(M{"description": fmt.Sprint(step.kept)})
			if n := count(t, i.DB, "SELECT COUNT(*) FROM webhook WHERE previous_secret IS NOT NULL"); n != step.kept {
				t.Errorf("%d previous secrets are kept, want %d", n, step.kept)
			}
		}
	})
}
