package assembly_test

import (
	"strings"
	"testing"
	"time"

	"github.com/waymarkhq/waymark/internal/apitest"
	"github.com/waymarkhq/waymark/internal/store"
)

// otherCalls are calls of the operations that the examples of the contract do not fit, as they need a query, a body or a
// state of their own, and calls that have more to do than an example. Each can be made as often as its change is undone.
func otherCalls(t *testing.T, i *apitest.Installation, owner *apitest.Client,
	ids map[string]string) map[string]func(apitest.With) *apitest.Response {
	of := func(path string) apitest.With {
		return apitest.IfMatch(owner.Call("GET", path, nil).Want(200).Revision())
	}
	app := "/apps/" + owner.AppID
	another := "/apps/" + owner.Call("POST", "/apps", apitest.M{"name": "another"}).Want(201).Text("data.id")
	picture := apitest.Picture(t)
	asset := owner.Upload("image/png", picture).Want(201)
	unused := owner.Upload("image/png", picture).Want(201) // its deletion begins, and is not undone
	record := "/domains/" + ids["domainId"] + "/dns-records/" + ids["recordId"]
	ofRecord := func() apitest.With {
		revision, err := store.One(t.Context(), i.DB, store.Value[string], "SELECT revision FROM dns_record WHERE id = ?",
			ids["recordId"])
		if err != nil {
			t.Fatal(err)
		}
		return apitest.IfMatch(revision)
	}
	csv := owner.Call("POST", "/imports", apitest.M{"appId": owner.AppID, "format": "csv",
		"content": "domain,slug\n" + owner.Host + ",imported\n"}).Want(201).Text("data.id")
	valid := owner.Call("POST", "/imports/"+csv+"/validate", apitest.M{}).Want(200)

	template := "/templates/" + ids["templateId"]
	stale := staleTargets(ids)
	publication := "/template-publications/" + owner.Call("POST", template+"/publish",
		apitest.M{"version": 1, "targets": stale}).Want(202).Text("data.id")
	for range 3 {
		i.Settle(t)
		i.Clock.Move(time.Minute)
	}
	owner.Call("GET", publication, nil).Want(200).Has("data.state", `"partial"`)

	tested := owner.Call("POST", "/webhooks/"+ids["webhookId"]+"/test", "{}").Want(202).Text("data.id")
	exec(t, i.DB, "UPDATE webhook_delivery SET state = 'failed', due_at = NULL WHERE id = '"+tested+"'")
	delivery := "/webhook-deliveries/" + tested

	// A link that has everything, and leads to another one.
	full := apitest.M{"folderId": ids["folderId"], "campaignId": ids["campaignId"], "imageUrl": asset.Text("data.url"),
		"desktopUrl":        "https://" + owner.Host + "/a",
		"templateSelection": apitest.M{"android": apitest.M{"mode": "custom", "templateId": ids["templateId"], "version": 1}}}
	changed := func(path, method string, body apitest.M, with ...apitest.With) *apitest.Response {
		return owner.Call(method, path, body, append(with, of(path))...)
	}
	links := "/links?limit=100&appId=" + owner.AppID
	link := "/links/" + owner.Link("full", full).Want(201).Text("data.id")
	changed(link+"/tags", "PUT", apitest.M{"tagIds": []string{ids["tagId"]}}).Want(200)
	rules := apitest.M{"rules": []apitest.M{{"destinationUrl": "https://" + owner.Host + "/a", "country": "DE"}}}
	changed(link+"/routing-rules", "PUT", rules).Want(200)
	begun := beginDomain(owner, "spare")
	i.Settle(t)
	spare := "/domains/" + owner.Call("GET", "/operations/"+begun, nil).Want(200).Text("data.result.resource.id")

	calls := map[string]func(apitest.With) *apitest.Response{
		"POST /links with everything": func(with apitest.With) *apitest.Response { return owner.Link("another", full, with) },
		"PATCH /links/{linkId} with everything": func(with apitest.With) *apitest.Response {
			return changed(link, "PATCH", full, with)
		},
		"POST /links/{linkId}/duplicate of everything": func(with apitest.With) *apitest.Response {
			return owner.Call("POST", link+"/duplicate", apitest.M{"slug": "copy"}, with)
		},
		"PUT /links/{linkId}/routing-rules to a link": func(with apitest.With) *apitest.Response {
			return changed(link+"/routing-rules", "PUT", rules, with)
		},
		"DELETE /links/{linkId} with everything": func(with apitest.With) *apitest.Response {
			return owner.Call("DELETE", link, nil, of(link), with)
		},
		"GET /links of a tag and a folder": func(with apitest.With) *apitest.Response {
			return owner.Call("GET", links+"&tagId="+ids["tagId"]+"&folderId="+ids["folderId"], nil, with)
		},
		"GET /links of a campaign": func(with apitest.With) *apitest.Response {
			return owner.Call("GET", links+"&campaignId="+ids["campaignId"], nil, with)
		},
		"GET /analytics/breakdown": func(with apitest.With) *apitest.Response {
			return owner.Call("GET", "/analytics/breakdown?dimension=country&start=2026-11-01T00:00:00Z&end=2026-11-20T00:00:00Z&appId="+
				owner.AppID, nil, with)
		},
		"DELETE /apps/{appId}": func(with apitest.With) *apitest.Response {
			return owner.Call("DELETE", another, nil, of(another), with)
		},
		"PUT /apps/{appId}/logo": func(with apitest.With) *apitest.Response {
			return owner.Call("PUT", app+"/logo", apitest.M{"assetId": asset.Text("data.id")}, of(app+"/logo"), with)
		},
		"POST /assets": func(with apitest.With) *apitest.Response { return owner.Upload("image/png", picture, with) },
		"GET /assets/{assetId}": func(with apitest.With) *apitest.Response {
			return owner.Call("GET", "/assets/"+asset.Text("data.id"), nil, with)
		},
		"DELETE /assets/{assetId}": func(with apitest.With) *apitest.Response {
			return owner.Call("DELETE", "/assets/"+unused.Text("data.id"), nil, apitest.IfMatch(unused.Revision()), with)
		},
		"PATCH /domains/{domainId}/dns-records/{recordId}": func(with apitest.With) *apitest.Response {
			return owner.Call("PATCH", record, apitest.M{"value": "b"}, ofRecord(), with)
		},
		"DELETE /domains/{domainId}/dns-records/{recordId}": func(with apitest.With) *apitest.Response {
			return owner.Call("DELETE", record, nil, ofRecord(), with)
		},
		"POST /imports/{importId}/commit": func(with apitest.With) *apitest.Response {
			return owner.Call("POST", "/imports/"+csv+"/commit", apitest.M{}, apitest.IfMatch(valid.Revision()), with)
		},
		"GET /links/availability": func(with apitest.With) *apitest.Response {
			return owner.Call("GET", "/links/availability?slug=free&domain="+owner.Host, nil, with)
		},
		"POST /template-publications/{publicationId}/retry": func(with apitest.With) *apitest.Response {
			return owner.Call("POST", publication+"/retry", apitest.M{}, of(publication), with)
		},
		"POST /templates/{templateId}/restore": func(with apitest.With) *apitest.Response {
			return owner.Call("POST", template+"/restore", apitest.M{"version": 1, "targets": stale}, of(template), with)
		},
		"POST /templates/{templateId}/versions": func(with apitest.With) *apitest.Response {
			return owner.Call("POST", template+"/versions", apitest.M{}, of(template+"/draft"), with)
		},
		"POST /webhook-deliveries/{deliveryId}/retry": func(with apitest.With) *apitest.Response {
			return owner.Call("POST", delivery+"/retry", apitest.M{}, of(delivery), with)
		},
	}
	beginWork(owner, ids, "other")
	owner.Call("DELETE", spare, nil, of(spare)).Want(202)
	waiting, err := store.All(t.Context(), i.DB, func(r store.Row) (o [2]string, err error) {
		return o, r.Scan(&o[0], &o[1])
	}, "SELECT type, id FROM operation WHERE app_id = ? AND status = 'queued'", owner.AppID)
	if err != nil || len(waiting) != 5 {
		t.Fatalf("%v wait, %v", waiting, err)
	}
	for _, o := range waiting {
		calls["POST /operations/{operationId}/cancel of "+o[0]] = func(with apitest.With) *apitest.Response {
			return owner.Call("POST", "/operations/"+o[1]+"/cancel", apitest.M{}, with)
		}
	}
	return calls
}

// staleTargets are two targets of a publication. The revision that the second one expects is not the current one.
func staleTargets(ids map[string]string) []apitest.M {
	return []apitest.M{{"scope": "link", "linkId": ids["linkId"], "expectedRevision": nil},
		{"scope": "app", "expectedRevision": "7b711433-cd54-47c4-bbb9-cb64c7d9922b"}}
}

// beginWork begins durable work of several kinds; name tells it from other work of the app.
func beginWork(owner *apitest.Client, ids map[string]string, name string) {
	owner.Call("POST", "/link-batches", apitest.M{"appId": owner.AppID, "items": []apitest.M{{"clientId": "a",
		"action": "create", "input": apitest.M{"appId": owner.AppID, "domain": owner.Host, "slug": name}}}}).Want(202)
	owner.Call("POST", "/exports", apitest.M{"appId": owner.AppID, "dataset": "links", "format": "csv",
		"filters": apitest.M{}}).Want(202)
	owner.Call("POST", "/templates/"+ids["templateId"]+"/publish", apitest.M{"version": 1, "targets": staleTargets(ids)}).
		Want(202)
	beginDomain(owner, name)
}

// beginDomain begins to make a domain of the platform, whose hostname no other app has, and returns the operation's id.
func beginDomain(owner *apitest.Client, name string) (operation string) {
	label, _, _ := strings.Cut(owner.Host, ".")
	return owner.Call("POST", "/domains", apitest.M{"appId": owner.AppID, "mode": "platform", "prefix": name + "-" + label}).
		Want(202).Text("data.id")
}
