package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/waymarkhq/waymark/test/upgrade"
)

const (
	prefix = "demo"
	host   = prefix + "." + zone
)

// filled holds the ids that were made, by the parameter of a path that takes them.
type filled map[string][]string

func (f filled) add(parameter, id string) { f[parameter] = append(f[parameter], url.PathEscape(id)) }

// fill makes some of everything that the program offers, and returns what it
// reads of that.
func fill(s *server) (*upgrade.Recorded, error) {
	ids := filled{}
	app := s.create("/apps", object{"name": "Première app 🚀", "iosBundleId": "com.example.app",
		"androidPackage": "com.example.app", "scheme": "example"})
	ids.add("appId", app.ID)
	s.call("POST", "/domains", object{"appId": app.ID, "mode": "platform", "prefix": prefix})
	var domains []struct{ ID, Links string }
	s.within("a ready domain", func() bool {
		s.into(&domains, s.call("GET", "/domains?appId="+app.ID, nil))
		return len(domains) == 1 && domains[0].Links == "ready"
	})
	for _, d := range domains {
		ids.add("domainId", d.ID)
	}
	if s.offered["PUT /domains/{domainId}/recovery-config"] {
		var domain resource
		s.into(&domain, s.call("GET", "/domains/"+domains[0].ID, nil))
		s.change("PUT", "/domains/"+domain.ID+"/recovery-config", domain.Revision, object{"enabled": true})
	}
	s.into(&app, s.call("GET", "/apps/"+app.ID, nil))
	s.change("PUT", "/apps/"+app.ID+"/defaults", app.Revision,
		object{"defaultDomain": host, "desktopUrl": "https://example.com/",
			"playStoreUrl": "https://play.google.com/store/apps/details?id=com.example.app", "appStoreUrl": nil})

	var key struct {
		Key    resource
		Secret string
	}
	s.into(&key, s.call("POST", "/api-keys", object{"name": "Reader", "appIds": []string{app.ID},
		"permissions": []string{"links:read"}}))
	ids.add("keyId", key.Key.ID)
	var preferences resource
	s.into(&preferences, s.call("GET", "/me/preferences", nil))
	s.change("PATCH", "/me/preferences", preferences.Revision, object{"theme": "dark", "selectedAppId": app.ID})

	grouped := s.organize(ids, app.ID)
	hooked := s.offered["POST /webhooks"]
	var hook struct{ Webhook resource }
	if hooked {
		s.into(&hook, s.call("POST", "/webhooks", object{"appId": app.ID, "url": "https://hooks.example.com/",
			"events": []string{"link.created", "link.deleted"}, "description": "Nobody receives"}))
		ids.add("webhookId", hook.Webhook.ID)
	}

	recorded := &upgrade.Recorded{Owner: owner, Secret: key.Secret, Visits: map[string]string{}}
	link := func(slug string, more object) resource {
		body := object{"appId": app.ID, "domain": host, "slug": slug, "desktopUrl": "https://example.com/" + slug}
		maps.Copy(body, more)
		l := s.create("/links", body)
		ids.add("linkId", l.ID)
		return l
	}
	plain := link("hello", nil)
	whole := object{"prefix": "été/2026", "title": "A title", "description": "Two\nlines? No: one \"quoted\" text, 日本語",
		"imageUrl": "https://example.com/i.png",
		"appPath":  "open/1", "parameters": object{"big": 12345678901234567,
			"deep": object{"list": []any{1, "two", nil}}},
		"utm": object{"source": "mail", "medium": "letter"}, "behavior": "automatic", "group": "main",
		"templateSelection": object{"ios": object{"mode": "official"}},
		"lifecycle": object{"startsAt": "2026-01-01T00:00:00.000Z", "expiresAt": "2099-01-01T00:00:00.000Z",
			"maxClicks": 1000, "expiredUrl": "https://example.com/over"}}
	maps.Copy(whole, grouped)
	full := link("whole", whole)
	link("archived", object{"lifecycle": object{"archived": true}})
	gone := link("deleted", nil)
	s.into(&plain, s.change("PATCH", path("/links/", plain), plain.Revision, object{"title": "Changed"}))
	s.change("DELETE", path("/links/", gone), gone.Revision, nil)
	ids["linkId"] = slices.DeleteFunc(ids["linkId"], func(id string) bool { return id == url.PathEscape(gone.ID) })
	if s.offered["PUT /links/{linkId}/routing-rules"] {
		s.into(&plain, s.call("GET", path("/links/", plain), nil))
		s.change("PUT", path("/links/", plain)+"/routing-rules", plain.Revision, object{"rules": []object{
			{"platform": "ios", "destinationUrl": "https://example.com/ios"},
			{"country": "CH", "startsAt": "2026-01-01T00:00:00.000Z", "destinationUrl": "https://example.com/ch",
				"utm": object{"source": "rule"}}}})
	}
	if tags := ids["tagId"]; len(tags) > 0 {
		s.into(&full, s.call("GET", path("/links/", full), nil))
		s.change("PUT", path("/links/", full)+"/tags", full.Revision, object{"tagIds": tags})
	}
	if s.offered["POST /qr-codes"] {
		ids.add("qrId", s.create("/qr-codes", object{"appId": app.ID, "linkId": plain.ID, "name": "Poster"}).ID)
	}
	if s.offered["POST /assets"] {
		var picture bytes.Buffer
		s.fail(png.Encode(&picture, image.NewGray(image.Rect(0, 0, 64, 64))))
		asset := s.upload(app.ID, picture.Bytes())
		ids.add("assetId", asset.ID)
		s.into(&app, s.call("GET", "/apps/"+app.ID, nil))
		s.change("PUT", "/apps/"+app.ID+"/logo", app.Revision, object{"assetId": asset.ID})
	}
	if s.offered["POST /templates"] {
		s.template(ids, app.ID, path("/links/", plain))
	}
	s.work(ids, app.ID)
	if hooked {
		s.into(&hook.Webhook, s.call("GET", "/webhooks/"+hook.Webhook.ID, nil))
		s.change("PATCH", "/webhooks/"+hook.Webhook.ID, hook.Webhook.Revision, object{"enabled": false})
	}

	for _, slug := range []string{"/hello", "/" + url.PathEscape("été") + "/2026/whole"} {
		recorded.Visits["https://"+host+slug] = s.visit(slug)
	}
	const day = 24 * time.Hour
	period := fmt.Sprintf("?appId=%s&start=%s&end=%s", app.ID, time.Now().UTC().Truncate(day).Format(time.RFC3339),
		time.Now().UTC().Truncate(day).Add(day).Format(time.RFC3339))
	summary := "/analytics/summary" + period
	s.within("the visits in the event store", func() bool {
		var found struct{ Totals struct{ Clicks int } }
		s.into(&found, s.call("GET", summary, nil))
		return found.Totals.Clicks >= len(recorded.Visits)
	})
	recorded.Answers = s.read(ids, app.ID)
	recorded.Answers[summary] = s.call("GET", summary, nil)
	if s.offered["GET /analytics/top-links"] {
		for _, path := range []string{"/analytics/top-links" + period, "/analytics/events" + period,
			"/analytics/breakdown" + period + "&dimension=tag", "/analytics/campaigns/" + ids["campaignId"][0] + period} {
			recorded.Answers[path] = s.call("GET", path, nil)
		}
	}
	recorded.At = time.Now().UTC().Truncate(time.Millisecond)
	return recorded, s.err
}

func path(collection string, r resource) string { return collection + url.PathEscape(r.ID) }

// organize makes a folder, tags and a campaign, and returns what a link says of
// them.
func (s *server) organize(ids filled, appID string) object {
	of := object{}
	if s.offered["POST /folders"] {
		folder := s.create("/folders", object{"appId": appID, "name": "Folder"})
		ids.add("folderId", folder.ID)
		of["folderId"] = folder.ID
	}
	if s.offered["POST /tags"] {
		for _, name := range []string{"one", "two"} {
			ids.add("tagId", s.create("/tags", object{"appId": appID, "name": name}).ID)
		}
	}
	if s.offered["POST /campaigns"] {
		campaign := s.create("/campaigns", object{"appId": appID, "name": "Campaign",
			"utm": object{"campaign": "spring"}, "startsAt": "2026-03-01T00:00:00.000Z"})
		ids.add("campaignId", campaign.ID)
		of["campaignId"] = campaign.ID
	}
	return of
}

// template makes a template with a version, which an app has by default and a link
// chooses.
func (s *server) template(ids filled, appID, link string) {
	var made struct{ Template resource }
	s.into(&made, s.call("POST", "/templates", object{"appId": appID, "name": "Spring sale", "baseTemplateId": "android"}))
	template := made.Template
	ids.add("templateId", template.ID)
	one := "/templates/" + template.ID
	var draft resource
	s.into(&draft, s.call("GET", one+"/draft", nil))
	s.change("PUT", one+"/draft", draft.Revision, object{"config": object{
		"appearance": object{"light": object{"accent": "#2f6f5e"}, "fontFamily": "serif"},
		"content":    object{"heading": "See {{offer}} in our app"},
		"variables":  []object{{"key": "offer", "label": "Offer", "maxLength": 60, "defaultValue": "our offers"}}}})
	s.call("POST", one+"/versions", object{})
	publication := s.create(one+"/publish", object{"version": 1,
		"targets": []object{{"scope": "app", "expectedRevision": nil}}})
	ids.add("publicationId", publication.ID)
	s.within("the end of a publication", func() bool {
		var now struct{ State string }
		s.into(&now, s.call("GET", "/template-publications/"+publication.ID, nil))
		return now.State == "confirmed"
	})
	var chosen resource
	s.into(&chosen, s.call("GET", link, nil))
	s.change("PUT", link+"/template-selection", chosen.Revision, object{"selection": object{
		"android": object{"mode": "custom", "templateId": template.ID, "version": 1}}})
}

// work does what outlives its request, and waits for its end.
func (s *server) work(ids filled, appID string) {
	await := func(id string) {
		ids.add("operationId", id)
		s.within("the end of operation "+id, func() bool {
			var operation resource
			s.into(&operation, s.call("GET", "/operations/"+id, nil))
			return operation.Status != "queued" && operation.Status != "running"
		})
	}
	if s.offered["POST /link-batches"] {
		batch := s.create("/link-batches", object{"appId": appID, "items": []object{
			{"clientId": "a", "action": "create", "input": object{"appId": appID, "domain": host, "slug": "batched",
				"desktopUrl": "https://example.com/batched"}},
			{"clientId": "b", "action": "create", "input": object{"appId": appID, "domain": host, "slug": "hello"}}}})
		ids.add("batchId", batch.ID)
		await(batch.OperationID)
	}
	if s.offered["POST /imports"] {
		var imported resource
		for _, slug := range []string{"imported", "tried"} { // the second one stays as it is
			imported = s.create("/imports", object{"appId": appID, "format": "csv",
				"content": "slug,domain,desktopUrl\n" + slug + "," + host + ",https://example.com/" + slug + "\n"})
			ids.add("importId", imported.ID)
			s.change("POST", "/imports/"+imported.ID+"/validate", imported.Revision, object{})
			if slug == "tried" {
				break
			}
			s.into(&imported, s.call("GET", "/imports/"+imported.ID, nil))
			s.into(&imported, s.change("POST", "/imports/"+imported.ID+"/commit", imported.Revision, object{}))
			await(imported.OperationID)
		}
	}
	if s.offered["POST /exports"] {
		export := s.create("/exports", object{"appId": appID, "dataset": "links", "format": "csv"})
		ids.add("exportId", export.ID)
		await(export.OperationID)
	}
}

var parameter = regexp.MustCompile(`\{(\w+)\}`)

// unread are operations whose answer is of the moment, or is no JSON, or that the
// platform domain does not have, or that tells how the installation is set up.
var unread = []string{"/domain-options", "/domains/{domainId}/diagnostics", "/domains/{domainId}/dns-records",
	"/capabilities", "/apps/{appId}/capabilities", "/domains/{domainId}/capabilities",
	"/apps/{appId}/usage", "/requests", "/links/availability",
	"/links/{linkId}/qr", "/qr-codes/{qrId}/download", "/exports/{exportId}/download", "/template-catalog/{baseId}/schema"}

// read returns what each GET answers, for all that was made.
func (s *server) read(ids filled, appID string) map[string]json.RawMessage {
	answers := map[string]json.RawMessage{}
	for _, offered := range slices.Sorted(maps.Keys(s.offered)) {
		template, ok := strings.CutPrefix(offered, "GET ")
		if !ok || slices.Contains(unread, template) || strings.HasPrefix(template, "/analytics/") {
			continue
		}
		name := parameter.FindStringSubmatch(template)
		if name == nil {
			if !slices.Contains([]string{"/me", "/me/preferences", "/apps", "/api-keys", "/template-catalog"}, template) {
				template += "?appId=" + appID
			}
			answers[template] = s.call("GET", template, nil)
			continue
		}
		for _, id := range ids[name[1]] {
			path := strings.Replace(strings.Replace(template, name[0], id, 1), "{version}", "1", 1)
			answers[path] = s.call("GET", path, nil)
		}
	}
	return answers
}
