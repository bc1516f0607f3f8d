package introspect_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/waymarkhq/waymark/internal/apitest"
	"github.com/waymarkhq/waymark/internal/fault"
)

type M = apitest.M

func TestCapabilities(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		all := owner.Call("GET", "/capabilities", nil).Want(200).Has("data.environment", `"staging"`).
			Has("data.appId", "null").Has("data.principal.actorType", `"human"`)
		if !strings.Contains(all.Value("data.operations"), `"createApiKeys"`) {
			t.Error("a human session may not create keys")
		}
		key := owner.Key("capabilities:read", "links:read")
		few := key.Call("GET", "/apps/"+key.AppID+"/capabilities", nil).Want(200).Has("data.appId", `"`+key.AppID+`"`)
		if got := few.Len("data.operations"); got != 7 {
			t.Errorf("a key with two permissions has %d operations: %s", got, few.Value("data.operations"))
		}
	})
}

func TestAuditEvents(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner, eve := i.Prepared(t, "ann@example.com"), i.Prepared(t, "eve@example.com")
		before := i.Clock.Now()
		i.Clock.Move(time.Minute)
		key := owner.Key("links:create")
		link := key.Link("a", nil).Want(201)
		key.Link("a", nil).Refused(fault.ResourceConflict) // leaves none
		r := owner.Call("GET", "/audit-events?appId="+owner.AppID+"&from="+before.Add(time.Second).String(), nil).
			Want(200)
		r.Has("data.0.operation", `"createLinks"`).Has("data.0.actor.type", `"api_key"`).
			Has("data.0.actor.name", `"key"`).Has("data.0.resource.id", link.Value("data.id")).
			Has("data.0.revision", link.Value("data.revision")).
			Has("data.0.correlationId", link.Value("meta.requestId")).Has("data.0.appId", `"`+owner.AppID+`"`).
			Has("data.1", "")
		owner.Call("GET", "/audit-events?operation=createApiKeys", nil).Want(200).
			Has("data.0.actor.name", `"ann@example.com"`)
		owner.Call("PATCH", "/me", M{"displayName": "Ann"}, apitest.IfMatch(owner.Call("GET", "/me", nil).Revision())).
			Want(200)
		owner.Call("GET", "/audit-events?operation=createApiKeys", nil).Want(200).Has("data.0.actor.name", `"Ann"`)
		owner.Call("GET", "/requests?operation=createLinks&status=201", nil).Want(200).Has("data.0.actor.name", `"key"`)
		for query, want := range map[string]int{
			"operation=createApiKeys": 1, "resourceType=link": 1, "resourceId=" + apitest.Path(link.Text("data.id")): 1,
			"actorId=" + r.Text("data.0.actor.id"):   1,
			"to=" + before.Add(time.Second).String(): 2, "operation=none": 0,
		} {
			if n := owner.Call("GET", "/audit-events?"+query, nil).Want(200).Len("data"); n != want {
				t.Errorf("%s finds %d events, want %d", query, n, want)
			}
		}
		if n := eve.Call("GET", "/audit-events?resourceType=link", nil).Want(200).Len("data"); n != 0 {
			t.Errorf("a stranger sees %d events", n)
		}
		eve.Call("GET", "/audit-events?appId="+owner.AppID, nil).Refused(fault.NotFound)
		key.Call("GET", "/audit-events", nil).Refused(fault.InsufficientPermission)
	})
}

func TestRequests(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner, eve := i.Prepared(t, "ann@example.com"), i.Prepared(t, "eve@example.com")
		link := owner.Link("a", nil).Want(201)
		i.Clock.Move(time.Second)
		refused := owner.Call("GET", "/links/none:none", nil).Refused(fault.NotFound)
		owner.Call("GET", "/requests?operation=getLinksLinkId", nil).Want(200).
			Has("data.0.id", `"`+refused.Text("error.requestId")+`"`).
			Has("data.0.status", "404").Has("data.0.errorCode", `"not_found"`).
			Has("data.0.route", `"/v1/links/{linkId}"`).Has("data.0.method", `"GET"`)
		owner.Call("GET", "/requests?operation=createLinks&status=201&appId="+owner.AppID, nil).Want(200).
			Has("data.0.id", link.Value("meta.requestId")).Has("data.0.errorCode", "null").
			Has("data.0.appId", `"`+owner.AppID+`"`)
		if n := owner.Call("GET", "/requests?errorCode=not_found", nil).Want(200).Len("data"); n != 1 {
			t.Errorf("%d refused requests", n)
		}
		all := owner.Call("GET", "/requests", nil).Want(200)
		if strings.Contains(string(all.Body), "203.0.113.7") || strings.Contains(string(all.Body), "none:none") {
			t.Errorf("a record tells an address or a path: %s", all.Body)
		}
		if n := eve.Call("GET", "/requests?operation=createLinks", nil).Want(200).Len("data"); n != 0 {
			t.Errorf("a stranger sees %d requests", n)
		}
		owner.Call("GET", fmt.Sprintf("/requests?status=%d", 99), nil).Refused(fault.InvalidRequest, "query.status")
	})
}
