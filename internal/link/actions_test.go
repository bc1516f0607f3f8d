package link_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waymarkhq/waymark/internal/apitest"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/store"
)

// created creates one of a kind and returns its id.
func created(c *apitest.Client, path string, body M) string {
	body["appId"] = c.AppID
	return c.Call("POST", path, body).Want(201).Text("data.id")
}

func goes(want string) func(*http.Response) bool {
	return func(r *http.Response) bool { return r.Header.Get("Location") == want }
}

// A list has the tags of its links, so that a table of them takes one call.
func TestListedTags(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		campaign := created(owner, "/campaigns", M{"name": "c"})
		both := []string{created(owner, "/tags", M{"name": "one"}), created(owner, "/tags", M{"name": "two"})}
		slices.Sort(both)
		owner.Link("bare", M{"campaignId": campaign}).Want(201)
		i.Clock.Move(time.Second)
		tag := func(r *apitest.Response) (path string, match apitest.With) {
			path = "/links/" + apitest.Path(r.Text("data.id"))
			r = owner.Call("PUT", path+"/tags", M{"tagIds": both}, apitest.IfMatch(r.Revision())).Want(200)
			return path, apitest.IfMatch(r.Revision())
		}
		tag(owner.Link("tagged", M{"campaignId": campaign}).Want(201))
		gone, match := tag(owner.Link("gone", nil).Want(201))
		owner.Call("DELETE", gone, nil, match).Want(204) // its tags are its own alone
		for _, list := range []string{"/links?appId=" + owner.AppID, "/campaigns/" + campaign + "/links"} {
			owner.Call("GET", list, nil).Want(200).
				Has("data.0.slug", `"tagged"`).Has("data.0.tagIds", `["`+strings.Join(both, `","`)+`"]`).
				Has("data.1.slug", `"bare"`).Has("data.1.tagIds", "[]")
		}
		owner.Call("GET", "/links?archived=true&appId="+owner.AppID, nil).Want(200).Has("data", "[]")
	})
}

func TestTags(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner, eve := i.Prepared(t, "ann@example.com"), i.Prepared(t, "eve@example.com")
		one, two := created(owner, "/tags", M{"name": "one"}), created(owner, "/tags", M{"name": "two"})
		foreign := created(eve, "/tags", M{"name": "one"})
		link := owner.Link("a", nil).Want(201)
		path := "/links/" + apitest.Path(link.Text("data.id"))
		match := apitest.IfMatch(link.Revision())
		owner.Call("GET", path+"/tags", nil).Want(200).Has("data.tagIds", "[]").
			Has("data.revision", link.Value("data.revision"))

		// What is another's and what is nobody's look alike, and change nothing.
		refusals := map[string]bool{}
		for _, id := range []string{foreign, "0198c9a2-7f3e-7c11-9d52-0a6f6e1b2c3d", "x"} {
			r := owner.Call("PUT", path+"/tags", M{"tagIds": []string{one, id}}, match).
				Refused(fault.ValidationFailed, "/tagIds")
			refusals[r.Value("error.details")] = true
		}
		if len(refusals) != 1 {
			t.Errorf("refusals differ: %v", refusals)
		}
		owner.Call("PUT", path+"/tags", M{"tagIds": []string{one, one}}, match).
			Refused(fault.ValidationFailed, "/tagIds/1")
		owner.Call("PUT", path+"/tags", M{"tagIds": strings.Split(strings.Repeat("x,", 50)+"y", ",")}, match).
			Refused(fault.ValidationFailed, "/tagIds")
		owner.Call("PUT", path+"/tags", M{}, match).Refused(fault.ValidationFailed, "/tagIds")
		owner.Call("PUT", path+"/tags", M{"tagIds": nil}, match).Refused(fault.ValidationFailed, "/tagIds")
		owner.Call("PUT", path+"/tags", M{"tagIds": []string{one}}).Refused(fault.PreconditionRequired)
		eve.Call("PUT", path+"/tags", M{"tagIds": []string{foreign}}, match).Refused(fault.NotFound)
		eve.Call("GET", path+"/tags", nil).Refused(fault.NotFound)

		r := owner.Call("PUT", path+"/tags", M{"tagIds": []string{two, one}}, match).Want(200).
			Has("data.tagIds", fmt.Sprintf(`["%s","%s"]`, one, two))
		owner.Call("GET", path, nil).Want(200).Has("data.revision", r.Value("data.revision")).
			Has("data.publication.status", `"pending"`)
		owner.Call("PUT", path+"/tags", M{"tagIds": []string{}}, match).Refused(fault.RevisionConflict)
		for _, more := range []string{"q=a", "domain=" + owner.Host, "prefix=", "group=operational", "origin=api",
			"createdFrom=2020-01-01T00:00:00Z",
			"createdTo=2040-01-01T00:00:00Z", "order=createdAt:asc", "state=active", "archived=false"} {
			if got := slugs(owner, "&tagId="+one+"&"+more); got != "a" {
				t.Errorf("tag with %s: %q", more, got)
			}
		}
		if got := slugs(owner, "&tagId="+one); got != "a" {
			t.Errorf("the tag lists %q", got)
		}
		r = owner.Call("PUT", path+"/tags", M{"tagIds": []string{two}}, apitest.IfMatch(r.Revision())).Want(200)
		if got := slugs(owner, "&tagId="+one); got != "" {
			t.Errorf("the removed tag lists %q", got)
		}
		history := owner.Call("GET", path+"/history", nil).Want(200).Has("data.0.action", `"tags_replaced"`).
			Has("data.0.fields", `["tagIds"]`).
			Has("data.0.revision", r.Value("data.revision")).Has("data.2.action", `"created"`).
			Has("data.0.linkId", owner.Call("GET", path, nil).Value("data.id")).Has("data.0.appId", `"`+owner.AppID+`"`)
		if history.Len("data") != 3 {
			t.Errorf("history %s", history.Body)
		}
		// Tags are not what a link's key may change without their permission.
		owner.Key("links:read", "links:update", "tags:read").
			Call("PUT", path+"/tags", M{"tagIds": []string{}}, apitest.IfMatch(r.Revision())).
			Refused(fault.InsufficientPermission)

		i.Settle(t)
		i.Visit(t, "https://"+owner.Host+"/a", nil, goes("https://example.com/a"))
		i.LoadClicks(t)
		owner.Call("GET", "/analytics/summary?appId="+owner.AppID+
			"&start=2026-11-01T00:00:00Z&end=2026-12-01T00:00:00Z&tagId="+two, nil).Want(200).
			Has("data.totals.clicks", "1")

		theirs := eve.Link("gone", nil).Want(201)
		eve.Call("DELETE", "/links/"+apitest.Path(theirs.Text("data.id")), nil, apitest.IfMatch(theirs.Revision())).Want(204)
		owner.Call("DELETE", path, nil, apitest.IfMatch(r.Revision())).Want(204)
		// The history outlives the link, for its owner alone.
		eve.Call("GET", "/links/"+apitest.Path(theirs.Text("data.id"))+"/history", nil).Want(200).Has("data.0.action", `"deleted"`)
		owner.Call("GET", path+"/history", nil).Want(200).Has("data.0.action", `"deleted"`)
		owner.Call("GET", path+"/history?limit=2", nil).Want(200).Has("pagination.hasMore", "true")
		eve.Call("GET", path+"/history", nil).Refused(fault.NotFound)
		owner.Call("GET", path+"/tags", nil).Refused(fault.NotFound)
	})
}

func TestRules(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner, eve := i.Prepared(t, "ann@example.com"), i.Prepared(t, "eve@example.com")
		link := owner.Link("a", M{"utm": M{"source": "link", "medium": "link"}}).Want(201)
		path := "/links/" + apitest.Path(link.Text("data.id"))
		match := apitest.IfMatch(link.Revision())
		another := owner.Link("other", nil).Want(201)
		other := owner.Call("PUT", "/links/"+apitest.Path(another.Text("data.id"))+"/routing-rules",
			M{"rules": []M{{"destinationUrl": "https://example.com/rule"}}}, apitest.IfMatch(another.Revision())).
			Want(200)
		owner.Call("GET", path+"/routing-rules", nil).Want(200).Has("data.rules", "[]")
		ok := func(more M) M {
			rule := M{"destinationUrl": "https://example.com/rule"}
			for name, value := range more {
				rule[name] = value
			}
			return rule
		}
		for _, c := range []struct {
			path  string
			rules any
		}{
			{"/rules/0/destinationUrl", []M{{}}}, {"/rules/0/destinationUrl",
				[]M{ok(M{"destinationUrl": "http://example.com"})}},
			{"/rules/0/destinationUrl", []M{ok(M{"destinationUrl": "https://u:p@example.com"})}},
			{"/rules/0/destinationUrl", []M{ok(M{"destinationUrl": nil})}},
			{"/rules/1/destinationUrl", []M{ok(nil), ok(M{"destinationUrl": "https://" + strings.Repeat("a", 4096)})}},
			{"/rules/0/platform", []M{ok(M{"platform": "windows"})}}, {"/rules/0/country", []M{ok(M{"country": "de"})}},
			{"/rules/0/country", []M{ok(M{"country": "ZZ"})}},
			{"/rules/0/country", []M{ok(M{"country": "EU"})}}, {"/rules/0/country", []M{ok(M{"country": "UK"})}},
			{"/rules/0/country", []M{ok(M{"country": "AN"})}}, {"/rules/0/country", []M{ok(M{"country": "XK"})}},
			{"/rules/0/country", []M{ok(M{"country": "SU"})}}, {"/rules/0/country", []M{ok(M{"country": "AA"})}},
			{"/rules/0/expiresAt", []M{ok(M{"startsAt": "2026-12-01T00:00:00Z", "expiresAt": "2026-12-01T00:00:00Z"})}},
			{"/rules/0/id", []M{ok(M{"id": "x"})}}, {"/rules/0/id", []M{ok(M{"id": other.Text("data.rules.0.id")})}},
			{"/rules/0/id", []M{ok(M{"id": "0198c9a2-7f3e-7c11-9d52-0a6f6e1b2c3d"})}},
			{"/rules/1/id", []M{ok(M{"id": "0198c9a2-7f3e-7c11-9d52-0a6f6e1b2c3d"}),
				ok(M{"id": "0198c9a2-7f3e-7c11-9d52-0a6f6e1b2c3d"})}},
			{"/rules/1/id", []M{ok(M{"id": "0198c9a2-7f3e-7c11-9d52-0a6f6e1b2c3d"}),
				ok(M{"id": "0198C9A2-7F3E-7C11-9D52-0A6F6E1B2C3D"})}},
			{"/rules/0/destinationUrl", []M{ok(M{"destinationUrl": "https://" + owner.Host + "/a"})}},
			{"/rules/0/utm/source", []M{ok(M{"utm": M{"source": ""}})}}, {"/rules/0/extra", []M{ok(M{"extra": 1})}},
			{"/rules", M{}}, {"/rules", nil},
		} {
			owner.Call("PUT", path+"/routing-rules", M{"rules": c.rules}, match).Refused(fault.ValidationFailed, c.path)
		}
		many := []M{}
		for range 51 {
			many = append(many, M{"destinationUrl": "https://x.example"})
		}
		owner.Call("PUT", path+"/routing-rules", M{"rules": many}, match).Refused(fault.ValidationFailed, "/rules")
		eve.Call("PUT", path+"/routing-rules", M{"rules": []M{}}, match).Refused(fault.NotFound)
		owner.Call("PUT", path+"/routing-rules", M{"rules": []M{}}).Refused(fault.PreconditionRequired)
		owner.Call("GET", path, nil).Want(200).Has("data.revision", link.Value("data.revision"))

		now := i.Clock.Now()
		r := owner.Call("PUT", path+"/routing-rules", M{"rules": []M{
			ok(M{"platform": "ios", "country": "DE", "destinationUrl": "https://example.com/ios-de"}),
			ok(M{"platform": "ios", "destinationUrl": "https://example.com/ios", "utm": M{"source": "rule"}}),
			ok(M{"country": "FR", "startsAt": now.String(), "expiresAt": now.Add(time.Hour).String(),
				"destinationUrl": "https://bücher.example/fr"}),
		}}, match).Want(200).Has("data.rules.2.platform", "null").Has("data.rules.1.utm.source", `"rule"`).
			Has("data.rules.1.utm.medium", "null")
		owner.Call("GET", path+"/routing-rules", nil).Want(200).Has("data", r.Value("data"))
		i.Settle(t)
		iphone := "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) " +
			"Version/18.0 Mobile/15E148 Safari/604.1"
		address := "https://" + owner.Host + "/a"
		from := func(agent, country string) http.Header {
			return http.Header{"User-Agent": {agent}, "Cf-Ipcountry": {country}, "X-Forwarded-For": {"203.0.113.9"}}
		}
		utm := "?utm_source=link&utm_medium=link"
		i.Visit(t, address, from(iphone, "DE"), goes("https://example.com/ios-de"+utm))
		i.Visit(t, address, from(iphone, "FR"), goes("https://example.com/ios?utm_source=rule&utm_medium=link"))
		i.Visit(t, address, from("Mozilla/5.0 (X11; Linux x86_64) Chrome/140.0.0.0 Safari/537.36", "FR"),
			goes("https://xn--bcher-kva.example/fr"+utm))
		i.Visit(t, address, from("Mozilla/5.0 (X11; Linux x86_64) Chrome/140.0.0.0 Safari/537.36", "DE"),
			goes("https://example.com/a"+utm))
		i.Clock.Move(time.Hour)
		i.Visit(t, address, from("Mozilla/5.0 (X11; Linux x86_64) Chrome/140.0.0.0 Safari/537.36", "FR"),
			goes("https://example.com/a"+utm))

		// An id that is sent is kept, in whatever place.
		kept := owner.Call("PUT", path+"/routing-rules", M{"rules": []M{ok(nil),
			ok(M{"id": r.Text("data.rules.1.id")})}}, apitest.IfMatch(r.Revision())).Want(200).
			Has("data.rules.1.id", r.Value("data.rules.1.id"))
		owner.Call("GET", path+"/history", nil).Want(200).Has("data.0.action", `"routing_rules_replaced"`).
			Has("data.0.revision", kept.Value("data.revision"))
	})
}

func TestCampaignParameters(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner, eve := i.Prepared(t, "ann@example.com"), i.Prepared(t, "eve@example.com")
		r := owner.Call("POST", "/campaigns", M{"appId": owner.AppID, "name": "c",
			"utm": M{"source": "campaign", "medium": "campaign"}}).Want(201)
		path, id := "/campaigns/"+r.Text("data.id"), r.Text("data.id")
		for n := range 105 { // more than are published at a time
			owner.Link(fmt.Sprintf("c%d", n), M{"campaignId": id, "utm": M{"medium": "link"}}).Want(201)
		}
		owner.Link("other", nil).Want(201)
		i.Settle(t)
		for _, slug := range []string{"c0", "c104"} {
			i.Visit(t, "https://"+owner.Host+"/"+slug, nil, goes("https://example.com/"+slug+
				"?utm_source=campaign&utm_medium=link"))
		}
		if n, err := i.DB.Exec(t.Context(), "UPDATE route SET revision = 'kept' WHERE path = 'other'"); err != nil || n != 1 {
			t.Fatalf("%d routes, %v", n, err)
		}
		owner.Call("PATCH", path, M{"utm": M{"source": "changed"}}, apitest.IfMatch(r.Revision())).Want(200).
			Has("data.linkCount", "105")
		// A later change takes the place of one that is not done yet; the same
		// parameters again are published again.
		for _, source := range []string{"other", "another", "changed"} {
			r = owner.Call("GET", path, nil).Want(200)
			owner.Call("PATCH", path, M{"utm": M{"source": source}}, apitest.IfMatch(r.Revision())).Want(200)
		}
		i.Settle(t)
		for _, slug := range []string{"c0", "c99", "c100", "c104"} {
			i.Visit(t, "https://"+owner.Host+"/"+slug, nil, goes("https://example.com/"+slug+
				"?utm_source=changed&utm_medium=link"))
		}
		if kept, err := store.Exists(t.Context(), i.DB, "SELECT 1 FROM route WHERE revision = 'kept'"); err != nil || !kept {
			t.Errorf("a link of no campaign is published with those of one, %v", err)
		}
		links := owner.Call("GET", path+"/links?limit=100", nil).Want(200).Has("pagination.hasMore", "true").
			Has("data.0.slug", `"c104"`)
		owner.Call("GET", path+"/links?limit=100&cursor="+links.Text("pagination.nextCursor"), nil).Want(200).
			Has("pagination.hasMore", "false").Has("data.4.slug", `"c0"`)
		eve.Call("GET", path+"/links", nil).Refused(fault.NotFound)
		eve.Link("x", M{"campaignId": id}).Refused(fault.ValidationFailed, "/campaignId")
	})
}

func TestDuplicate(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner, eve := i.Prepared(t, "ann@example.com"), i.Prepared(t, "eve@example.com")
		folder, tag := created(owner, "/folders", M{"name": "f"}), created(owner, "/tags", M{"name": "t"})
		link := owner.Link("a", M{"prefix": "p", "title": "T", "folderId": folder, "utm": M{"source": "s"},
			"parameters": M{"n": 1}, "behavior": "automatic",
			"lifecycle": M{"archived": true, "maxClicks": 3}}).Want(201)
		path := "/links/" + apitest.Path(link.Text("data.id"))
		r := owner.Call("PUT", path+"/tags", M{"tagIds": []string{tag}}, apitest.IfMatch(link.Revision())).Want(200)
		r = owner.Call("PUT", path+"/routing-rules",
			M{"rules": []M{{"platform": "ios", "destinationUrl": "https://example.com/ios"}}},
			apitest.IfMatch(r.Revision())).Want(200)

		owner.Call("POST", path+"/duplicate", M{"slug": "a"}).Refused(fault.ResourceConflict)
		owner.Call("POST", path+"/duplicate", M{"slug": "b c", "domain": eve.Host}).
			Refused(fault.ValidationFailed, "/slug", "/domain")
		owner.Call("POST", path+"/duplicate", M{"slug": "b", "domain": "no host"}).
			Refused(fault.ValidationFailed, "/domain").Has("error.details.1", "")
		owner.Call("POST", path+"/duplicate", M{}).Refused(fault.ValidationFailed, "/slug")
		owner.Call("POST", path+"/duplicate", M{"slug": "b"}, apitest.IfMatch(link.Revision())).
			Refused(fault.RevisionConflict)
		eve.Call("POST", path+"/duplicate", M{"slug": "b"}).Refused(fault.NotFound)
		copied := owner.Call("POST", path+"/duplicate", M{"slug": "b"}).Want(201).Has("data.prefix", `"p"`).
			Has("data.title", `"T"`).Has("data.folderId", `"`+folder+`"`).
			Has("data.utm.source", `"s"`).Has("data.parameters", `{"n":1}`).Has("data.behavior", `"automatic"`).
			Has("data.state", `"active"`).
			Has("data.lifecycle.maxClicks", "3").Has("data.desktopUrl", `"https://example.com/a"`)
		at := "/links/" + apitest.Path(copied.Text("data.id"))
		if copied.Header.Get("Location") != "/v1"+at {
			t.Errorf("Location %s", copied.Header.Get("Location"))
		}
		owner.Call("GET", at+"/tags", nil).Want(200).Has("data.tagIds", `["`+tag+`"]`)
		rules := owner.Call("GET", at+"/routing-rules", nil).Want(200).
			Has("data.rules.0.destinationUrl", `"https://example.com/ios"`)
		if rules.Text("data.rules.0.id") == r.Text("data.rules.0.id") {
			t.Error("two links' rules share an id")
		}
		if n := owner.Call("GET", at+"/history", nil).Want(200).Len("data"); n != 1 {
			t.Errorf("the copy has %d entries of history", n)
		}
		owner.Call("GET", path, nil).Want(200).Has("data.revision", r.Value("data.revision")).
			Has("data.state", `"archived"`)
		owner.Call("POST", path+"/duplicate", M{"slug": "c", "prefix": "", "title": nil}).Want(201).
			Has("data.prefix", `""`).Has("data.title", "null")
		i.Settle(t)
		i.Visit(t, "https://"+owner.Host+"/p/b",
			http.Header{"User-Agent": {"Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Mobile/15E148 " +
				"Safari/604.1"}},
			goes("https://example.com/ios?utm_source=s"))
	})
}

func TestValidateAndAvailability(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner, eve := i.Prepared(t, "ann@example.com"), i.Prepared(t, "eve@example.com")
		owner.Link("taken", nil).Want(201)
		eve.Link("free", nil).Want(201) // on another hostname
		body := M{"appId": owner.AppID, "domain": owner.Host, "slug": "free"}
		url := `"https://` + owner.Host + `/free"`
		owner.Call("POST", "/links/validate", body).Want(200).Has("data.valid", "true").Has("data.available", "true").
			Has("data.url", url).Has("data.issues", "[]")
		body["slug"] = "taken"
		owner.Call("POST", "/links/validate", body).Want(200).Has("data.valid", "true").Has("data.available", "false")
		body["slug"], body["folderId"], body["desktopUrl"] = "free", "none", "ftp://x"
		r := owner.Call("POST", "/links/validate", body).Want(200).Has("data.valid", "false").
			Has("data.available", "true").Has("data.url", url)
		if r.Len("data.issues") != 2 || r.Text("data.issues.0.path") != "/desktopUrl" ||
			r.Text("data.issues.1.path") != "/folderId" {
			t.Errorf("issues %s", r.Value("data.issues"))
		}
		owner.Call("POST", "/links/validate", M{"appId": owner.AppID, "domain": eve.Host, "slug": "_service"}).
			Want(200).
			Has("data.available", "false").Has("data.url", "null").Has("data.issues.0.path", `"/slug"`).
			Has("data.issues.1.path", `"/domain"`)
		// Any part of the address may be what is wrong with it.
		for _, c := range []struct{ part, wrong string }{
			{"domain", eve.Host}, {"domain", "no host"}, {"prefix", "a b"}, {"slug", "a/b"},
		} {
			all := M{"appId": owner.AppID, "domain": owner.Host, "slug": "free"}
			all[c.part] = c.wrong
			owner.Call("POST", "/links/validate", all).Want(200).Has("data.issues.0.path", `"/`+c.part+`"`).
				Has("data.issues.1", "").Has("data.available", "false").Has("data.url", "null")
		}
		// What the schema of a creation bounds is an answer like any other rule,
		// and all of it is told at once.
		r = owner.Call("POST", "/links/validate", M{"appId": owner.AppID, "domain": owner.Host, "slug": "free",
			"title": strings.Repeat("x", 201), "behavior": "odd", "folderId": "none",
			"lifecycle":         M{"maxClicks": 0, "expiresAt": "tomorrow", "expiredUrl": "ftp://x"},
			"templateSelection": M{"ios": M{"mode": "odd"}}}).Want(200).
			Has("data.valid", "false").Has("data.available", "true").Has("data.url", url)
		issues := map[string]int{}
		for n := range r.Len("data.issues") {
			issues[r.Text(fmt.Sprintf("data.issues.%d.path", n))]++
		}
		if want := map[string]int{"/title": 1, "/behavior": 1, "/folderId": 1, "/lifecycle/maxClicks": 1,
			"/lifecycle/expiresAt": 1, "/lifecycle/expiredUrl": 1,
			"/templateSelection/ios/mode": 1}; !maps.Equal(issues, want) {
			t.Errorf("issues %s", r.Value("data.issues"))
		}
		for _, slug := range []string{"", strings.Repeat("a", 201)} {
			r := owner.Call("POST", "/links/validate", M{"appId": owner.AppID, "domain": owner.Host, "slug": slug}).
				Want(200).Has("data.available", "false").Has("data.url", "null")
			if r.Len("data.issues") != 1 || r.Text("data.issues.0.path") != "/slug" {
				t.Errorf("slug %q: %s", slug, r.Value("data.issues"))
			}
		}
		// What is no creation input is refused.
		for at, more := range map[string]M{"/url": {"url": "https://x"},
			"/lifecycle/ends": {"lifecycle": M{"ends": nil}}, "/title": {"title": 7}, "/webOnly": {"webOnly": nil},
			"/lifecycle/maxClicks": {"lifecycle": M{"maxClicks": "3"}}} {
			all := M{"appId": owner.AppID, "domain": owner.Host, "slug": "free"}
			maps.Copy(all, more)
			owner.Call("POST", "/links/validate", all).Refused(fault.ValidationFailed, at)
		}
		owner.Call("POST", "/links/validate", M{"appId": owner.AppID, "domain": owner.Host}).
			Refused(fault.ValidationFailed, "/slug")
		owner.Call("POST", "/links/validate", M{"appId": eve.AppID, "domain": owner.Host, "slug": "x"}).
			Refused(fault.NotFound)

		for query, want := range map[string]string{
			"slug=free": "null", "slug=taken": `"taken"`, "slug=TAKEN": "null", "slug=robots.txt": `"reserved"`,
			"slug=a/b": `"invalid"`, "prefix=p&slug=taken": "null",
			"prefix=&slug=taken": `"taken"`, "slug=" + strings.Repeat("a", 201): `"invalid"`,
			"prefix=a%20b&slug=_service": `"invalid"`,
		} {
			r := owner.Call("GET", "/links/availability?domain="+strings.ToUpper(owner.Host)+"&"+query, nil).Want(200).
				Has("data.reason", want).Has("data.domain", `"`+owner.Host+`"`)
			if available := r.Value("data.available") == "true"; available != (want == "null") {
				t.Errorf("%s: %s", query, r.Body)
			}
			if want != "null" && want != `"taken"` {
				r.Has("data.url", "null")
			}
		}
		for query, path := range map[string]string{"slug=free": "free", "slug=taken": "taken", "prefix=p&slug=free": "p/free"} {
			owner.Call("GET", "/links/availability?domain="+owner.Host+"&"+query, nil).Want(200).
				Has("data.url", `"https://`+owner.Host+"/"+path+`"`)
		}
		for _, domain := range []string{eve.Host, "nowhere.example", "not%20a%20host"} {
			owner.Call("GET", "/links/availability?slug=x&domain="+domain, nil).Refused(fault.NotFound)
		}
		owner.Call("GET", "/links/availability?slug=x", nil).Refused(fault.InvalidRequest, "query.domain")
		owner.Call("GET", "/links/availability?domain="+owner.Host, nil).Refused(fault.InvalidRequest, "query.slug")
		owner.Key("apps:read").Call("GET", "/links/availability?slug=x&domain="+owner.Host, nil).
			Refused(fault.InsufficientPermission)
	})
}

// On a domain that is not ready for links, or that is being removed, no address is free.
func TestAvailabilityWithoutReadyDomain(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		for _, c := range []struct{ state, reason string }{
			{"links = 'pending'", `"invalid"`}, {"links = 'ready', removal_state = 'removing'", `"invalid"`},
			{"removal_state = NULL", "null"},
		} {
			exec(t, i, "UPDATE domain SET "+c.state)
			r := owner.Call("GET", "/links/availability?slug=free&domain="+owner.Host, nil).Want(200).Has("data.reason", c.reason)
			if free := c.reason == "null"; free != (r.Value("data.available") == "true") || free == (r.Value("data.url") == "null") {
				t.Errorf("%s: %s", c.state, r.Body)
			}
		}
	})
}

func TestPreview(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner, eve := i.Prepared(t, "ann@example.com"), i.Prepared(t, "eve@example.com")
		now := i.Clock.Now()
		link := owner.Link("a", M{"playStoreUrl": "https://play.example/a",
			"lifecycle": M{"expiresAt": now.Add(24 * time.Hour).String(), "expiredUrl": "https://example.com/over"}}).
			Want(201)
		path := "/links/" + apitest.Path(link.Text("data.id"))
		rules := owner.Call("PUT", path+"/routing-rules",
			M{"rules": []M{{"country": "FR", "startsAt": now.Add(time.Hour).String(),
				"destinationUrl": "https://example.com/fr"}}},
			apitest.IfMatch(link.Revision())).Want(200)
		rule := rules.Value("data.rules.0.id")
		for _, c := range []struct {
			body              M
			mode, where, rule string
		}{
			{M{}, "redirect", "https://example.com/a", "null"},
			{M{"platform": "android"}, "redirect", "https://play.example/a", "null"},
			{M{"country": "FR"}, "redirect", "https://example.com/a", "null"},
			{M{"country": "FR", "at": now.Add(time.Hour).String()}, "redirect", "https://example.com/fr", rule},
			{M{"at": now.Add(24 * time.Hour).String()}, "redirect", "https://example.com/over", "null"},
		} {
			body := M{"platform": "desktop", "source": "browser"}
			for name, value := range c.body {
				body[name] = value
			}
			owner.Call("POST", path+"/preview", body).Want(200).Has("data.mode", `"`+c.mode+`"`).
				Has("data.destinationUrl", `"`+c.where+`"`).Has("data.matchedRuleId", c.rule).
				Has("data.sideEffects", "false").Has("data.opening", `"none"`).
				Has("data.publication.status", `"pending"`)
		}
		for at, body := range map[string]M{
			"/platform": {"source": "browser"}, "/source": {"platform": "ios", "source": "qr"},
			"/country": {"platform": "ios", "source": "browser", "country": "XX"},
			"/at":      {"platform": "ios", "source": "browser", "at": "now"},
		} {
			owner.Call("POST", path+"/preview", body).Refused(fault.ValidationFailed, at)
		}
		body := M{"platform": "ios", "source": "social"}
		eve.Call("POST", path+"/preview", body).Refused(fault.NotFound)
		archived := owner.Call("PATCH", path, M{"lifecycle": M{"archived": true}}, apitest.IfMatch(rules.Revision())).
			Want(200)
		owner.Call("POST", path+"/preview", body, apitest.IfMatch(rules.Revision())).Refused(fault.RevisionConflict)
		owner.Call("POST", path+"/preview", body, apitest.IfMatch(archived.Revision())).Want(200).
			Has("data.mode", `"unavailable"`).Has("data.destinationUrl", "null")
		// Without its domain it leads nowhere, either.
		lost := owner.Link("lost", nil).Want(201)
		if _, err := i.DB.Exec(t.Context(), "DELETE FROM domain WHERE hostname = ?", owner.Host); err != nil {
			t.Fatal(err)
		}
		owner.Call("POST", "/links/"+apitest.Path(lost.Text("data.id"))+"/preview", M{"platform": "desktop", "source": "browser"}).
			Want(200).Has("data.mode", `"unavailable"`)
		i.LoadClicks(t)
		owner.Call("GET", "/analytics/summary?appId="+owner.AppID+
			"&start=2026-11-01T00:00:00Z&end=2026-12-01T00:00:00Z", nil).Want(200).Has("data.totals.clicks", "0")
	})
}

func TestReferences(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner, eve := i.Prepared(t, "ann@example.com"), i.Prepared(t, "eve@example.com")
		link := owner.Link("a", nil).Want(201)
		path := "/links/" + apitest.Path(link.Text("data.id"))
		for member, kind := range map[string]string{"folderId": "/folders", "campaignId": "/campaigns"} {
			foreign := created(eve, kind, M{"name": "x"})
			seen := map[string]bool{}
			for _, id := range []string{foreign, "0198c9a2-7f3e-7c11-9d52-0a6f6e1b2c3d"} {
				seen[owner.Link("b", M{member: id}).Refused(fault.ValidationFailed, "/"+member).
					Value("error.details")] = true
				owner.Call("PATCH", path, M{member: id, "title": "x"}, apitest.IfMatch(link.Revision())).
					Refused(fault.ValidationFailed, "/"+member)
			}
			if len(seen) != 1 {
				t.Errorf("another's and nobody's %s are told apart: %v", member, seen)
			}
		}
		// All that is wrong is told at once.
		owner.Link("b", M{"folderId": "x", "campaignId": "x", "desktopUrl": "x", "appPath": "/x"}).
			Refused(fault.ValidationFailed, "/folderId", "/campaignId", "/desktopUrl", "/appPath")
		owner.Call("GET", path, nil).Want(200).Has("data.revision", link.Value("data.revision")).
			Has("data.title", "null")
		if got := slugs(owner, ""); got != "a" {
			t.Errorf("links %q", got)
		}
	})
}

// The budget of link creation is the app's, whoever draws on it.
func TestBudget(t *testing.T) {
	apitest.EachWith(t, apitest.Options{LimitScale: 1}, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		key := owner.Key("links:create", "links:read", "usage:read")
		var first *apitest.Response
		for n := range 60 {
			c := []*apitest.Client{owner, key}[n%2]
			r := c.Link(fmt.Sprintf("s%d", n), nil).Want(201)
			if n == 0 {
				first = r
			}
		}
		refused := key.Link("over", nil).Refused(fault.RateLimited)
		if refused.Header.Get("Retry-After") != "60" || !strings.HasPrefix(refused.Header.Get("X-RateLimit-Policy"),
			`60;w=60;name="link-create";by="app"`) {
			t.Errorf("headers %v", refused.Header)
		}
		path := "/links/" + apitest.Path(first.Text("data.id"))
		owner.Call("POST", path+"/duplicate", M{"slug": "copy"}).Refused(fault.RateLimited)
		owner.Call("PATCH", path, M{"title": "x"}, apitest.IfMatch(first.Revision())).Want(200)
		key.Call("GET", "/apps/"+owner.AppID+"/usage", nil).Want(200).
			Has("data.sharedUsage.app.linkCreatePerMinute.used", "60").
			Has("data.sharedUsage.app.linkCreatePerHour.used", "60").
			Has("data.sharedLimits.app.linkCreatePerHour", `{"limit":3000,"windowSeconds":3600}`)
		// Another app has its own, and the next minute all of it again.
		i.Clock.Move(time.Minute)
		key.Link("over", nil).Want(201)
		key.Call("GET", "/apps/"+owner.AppID+"/usage", nil).Want(200).
			Has("data.sharedUsage.app.linkCreatePerMinute.used", "1").
			Has("data.sharedUsage.app.linkCreatePerHour.used", "61")
	})
}

// A limit counts the clicks of people, whoever else looks; owners see it used
// up, and raise it.
func TestMaxClicks(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		link := owner.Link("a", M{"description": "About it",
			"lifecycle": M{"maxClicks": 3, "expiredUrl": "https://example.com/over"}}).Want(201).
			Has("data.lifecycle.clicks", "0")
		owner.Link("free", nil).Want(201)
		path, address := "/links/"+apitest.Path(link.Text("data.id")), "https://"+owner.Host+"/a"
		i.Settle(t)
		crawler := http.Header{"User-Agent": {"facebookexternalhit/1.1 " +
			"(+http://www.facebook.com/externalhit_uatext.php)"}}
		if r := i.Visit(t, address, crawler, nil); r.StatusCode != 200 {
			t.Errorf("a preview answers %d", r.StatusCode)
		}
		bot := http.Header{"User-Agent": {"Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"}}
		for range 5 {
			i.Visit(t, address, bot, goes("https://example.com/a"))
		}
		for range 3 {
			i.Visit(t, address, nil, goes("https://example.com/a"))
		}
		for _, who := range []http.Header{nil, bot, crawler} {
			if r := i.Visit(t, address, who, nil); r.Header.Get("Location") != "https://example.com/over" {
				t.Errorf("after three clicks %v gets %d %v", who, r.StatusCode, r.Header)
			}
		}
		i.LoadClicks(t)
		owner.Call("GET", path, nil).Want(200).Has("data.state", `"expired"`).Has("data.lifecycle.clicks", "3").
			Has("data.revision", link.Value("data.revision"))
		owner.Call("GET", "/links?appId="+owner.AppID, nil).Want(200).Has("data.0.slug", `"free"`).
			Has("data.0.lifecycle.clicks", "null").
			Has("data.1.state", `"expired"`).Has("data.1.lifecycle.clicks", "3")
		if expired, active := slugs(owner, "&state=expired"), slugs(owner, "&state=active"); expired != "a" ||
			active != "free" {
			t.Errorf("expired %q, active %q", expired, active)
		}
		owner.Call("POST", path+"/preview", M{"platform": "desktop", "source": "browser"}).Want(200).
			Has("data.destinationUrl", `"https://example.com/over"`)
		owner.Call("GET", "/analytics/summary?appId="+owner.AppID+
			"&start=2026-11-01T00:00:00Z&end=2026-12-01T00:00:00Z", nil).Want(200).Has("data.totals.clicks", "3")
		owner.Call("GET", "/analytics/summary?appId="+owner.AppID+
			"&start=2026-11-01T00:00:00Z&end=2026-12-01T00:00:00Z&device=bot", nil).Want(200).
			Has("data.totals.clicks", "6")

		owner.Call("PATCH", path, M{"lifecycle": M{"clicks": 0}}, apitest.IfMatch(link.Revision())).
			Refused(fault.ValidationFailed, "/lifecycle/clicks")
		raised := owner.Call("PATCH", path, M{"lifecycle": M{"maxClicks": 4}}, apitest.IfMatch(link.Revision())).
			Want(200).Has("data.state", `"active"`).Has("data.lifecycle.clicks", "3")
		if copied := owner.Call("POST", path+"/duplicate", M{"slug": "copy"}).Want(201).
			Has("data.state", `"active"`); copied.Value("data.lifecycle.clicks") != "0" {
			t.Errorf("the copy has %s", copied.Value("data.lifecycle"))
		}
		i.Settle(t)
		i.Visit(t, address, nil, goes("https://example.com/a"))
		i.Visit(t, address, nil, goes("https://example.com/over"))
		i.LoadClicks(t)
		if got := slugs(owner, "&state=expired"); got != "a" {
			t.Errorf("used up again it is not among %q", got)
		}
		free := owner.Call("PATCH", path, M{"lifecycle": M{"maxClicks": nil}}, apitest.IfMatch(raised.Revision())).
			Want(200).Has("data.state", `"active"`).Has("data.lifecycle.clicks", "null")
		owner.Call("PATCH", path, M{"lifecycle": M{"maxClicks": 4}}, apitest.IfMatch(free.Revision())).Want(200).
			Has("data.state", `"expired"`).Has("data.lifecycle.clicks", "4")
	})
}
