package link_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/waymarkhq/waymark/internal/apitest"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/link"
	"github.com/waymarkhq/waymark/internal/store"
)

type M = apitest.M

func TestCreate(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner, eve := i.Prepared(t, "ann@example.com"), i.Prepared(t, "eve@example.com")
		app := owner.Call("GET", "/apps/"+owner.AppID, nil).Want(200)
		owner.Call("PUT", "/apps/"+owner.AppID+"/defaults", M{"playStoreUrl": "https://play.example/a"},
			apitest.IfMatch(app.Revision())).Want(200)
		big := `{"n": 12345678901234567890.10, "deep":{"a":{"b":{"c":1}}}}`
		r := owner.Call("POST", "/links", `{"appId":"`+owner.AppID+`","domain":"`+strings.ToUpper(owner.Host)+
			`","prefix":"sommer/2026","slug":"Straße",
			"title":"T","parameters":`+big+`,"lifecycle":{"maxClicks":5},"utm":{"source":"mail"},"group":"main"}`).
			Want(201).
			Has("data.domain", `"`+owner.Host+`"`).Has("data.url", `"https://`+owner.Host+`/sommer/2026/Stra%C3%9Fe"`).
			Has("data.playStoreUrl", `"https://play.example/a"`).Has("data.desktopUrl", "null").
			Has("data.behavior", `"manual"`).
			Has("data.origin", `"api"`).Has("data.state", `"active"`).Has("data.publication.status", `"pending"`).
			Has("data.parameters", strings.ReplaceAll(big, " ", "")).Has("data.lifecycle.maxClicks", "5").
			Has("data.group", `"main"`)
		if !strings.HasPrefix(r.Text("data.id"), owner.Host+":") ||
			r.Header.Get("Location") != "/v1/links/"+apitest.Path(r.Text("data.id")) {
			t.Errorf("id %s, Location %s", r.Text("data.id"), r.Header.Get("Location"))
		}
		// The id is accepted raw and percent-encoded.
		owner.Call("GET", "/links/"+r.Text("data.id"), nil).Want(200)
		owner.Call("GET", "/links/"+strings.ReplaceAll(r.Text("data.id"), ":", "%3A"), nil).Want(200).
			Has("data.revision", r.Value("data.revision"))
		// Later defaults do not change stored links; the same address written
		// in another normal form is the same address.
		owner.Link("Strasse", M{"prefix": "sommer/2026"}).Want(201)
		owner.Link("e\u0301", nil).Want(201).Has("data.slug", `"é"`)
		owner.Link("é", nil).Refused(fault.ResourceConflict)
		owner.Link("É", nil).Want(201)
		owner.Link(strings.Repeat("é", 200), M{"prefix": strings.Repeat("ß", 200)}).Want(201)

		for _, c := range []struct {
			path string
			body M
		}{
			{"/slug", M{"slug": "_service"}}, {"/slug", M{"slug": "Robots.TXT"}}, {"/slug", M{"slug": "a/b"}},
			{"/slug", M{"slug": ".."}}, {"/slug", M{"slug": "a b"}}, {"/slug", M{"slug": "\u0301a"}},
			{"/slug", M{"slug": ""}}, {"/slug", M{"slug": strings.Repeat("a", 201)}},
			{"/prefix", M{"prefix": strings.Repeat("a", 201)}}, {"/slug", M{"slug": "a%2fb"}}, {"/slug", M{"slug": "😀"}},
			{"/prefix", M{"prefix": "a//b"}}, {"/prefix", M{"prefix": "/a"}}, {"/prefix", M{"prefix": ".well-known"}},
			{"/prefix", M{"prefix": "a/_SERVICE"}},
			{"/domain", M{"domain": "nowhere.example"}}, {"/domain", M{"domain": eve.Host}},
			{"/domain", M{"domain": "not a host"}},
			{"/desktopUrl", M{"desktopUrl": "javascript:alert(1)"}}, {"/imageUrl", M{"imageUrl": "http://x.example"}},
			{"/folderId", M{"folderId": "0198c9a2-7f3e-7c11-9d52-0a6f6e1b2c3d"}}, {"/campaignId", M{"campaignId": "x"}},
			{"/desktopUrl", M{"desktopUrl": "https://" + strings.ToUpper(owner.Host) + "/x?round=1"}},
			{"/lifecycle/expiredUrl", M{"lifecycle": M{"expiredUrl": "https://" + owner.Host + "/x"}}},
			{"/title", M{"title": "a\u0007"}}, {"/title", M{"title": ""}},
			{"/description", M{"description": "\u001b[31m"}},
			{"/appPath", M{"appPath": "/x"}}, {"/appPath", M{"appPath": "javascript:alert(1)"}},
			{"/appPath", M{"appPath": " JavaScript:alert(1)"}}, {"/appPath", M{"appPath": "javascript%3Aalert(1)"}},
			{"/appPath", M{"appPath": "//evil.example"}}, {"/appPath", M{"appPath": "a//b"}},
			{"/appPath", M{"appPath": "a/%2Fb"}}, {"/appPath", M{"appPath": ".."}},
			{"/appPath", M{"appPath": "a/../b"}},
			{"/appPath", M{"appPath": "a/%2e%2E"}}, {"/appPath", M{"appPath": "a/..?b"}},
			{"/appPath", M{"appPath": "a\\b"}}, {"/appPath", M{"appPath": "a\tb"}}, {"/appPath", M{"appPath": "a%0ab"}},
			{"/appPath", M{"appPath": "a\u0085"}},
			{"/appPath", M{"appPath": strings.Repeat("é", 1001)}},
			{"/parameters", M{"parameters": M{"a": M{"b": M{"c": M{"d": M{"e": M{}}}}}}}},
			{"/parameters", M{"parameters": M{"a": strings.Repeat("x", 16<<10)}}},
			{"/parameters", M{"parameters": []int{1}}}, {"/lifecycle/expiresAt",
				M{"lifecycle": M{"startsAt": "2026-12-01T00:00:00Z", "expiresAt": "2026-12-01T00:00:00Z"}}},
			{"/lifecycle/maxClicks", M{"lifecycle": M{"maxClicks": 0}}},
			{"/lifecycle/expiredUrl", M{"lifecycle": M{"expiredUrl": "x"}}}, {"/utm/source", M{"utm": M{"source": ""}}},
			{"/templateData/a", M{"templateData": M{"a": 1}}},
			{"/templateSelection/ios/templateId", M{"templateSelection": M{"ios": M{"mode": "custom", "templateId": "x",
				"version": 1}}}},
			{"/templateSelection/ios/mode", M{"templateSelection": M{"ios": M{"mode": "odd"}}}},
			{"/url", M{"url": "https://x"}},
		} {
			owner.Link("x", c.body).Refused(fault.ValidationFailed, c.path)
		}
		owner.Link("x", M{"appId": eve.AppID}).Refused(fault.NotFound)
		owner.Link("x", M{"appId": "app_none"}).Refused(fault.NotFound)
		n, err := store.One(t.Context(), i.DB, store.Value[int], "SELECT COUNT(*) FROM link")
		if err != nil || n != 5 {
			t.Errorf("%d links, %v; want 5", n, err)
		}
	})
}

func TestChange(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner, eve := i.Prepared(t, "ann@example.com"), i.Prepared(t, "eve@example.com")
		owner.Call("POST", "/webhooks", M{"appId": owner.AppID, "url": "https://hooks.example.com/",
			"events": []string{"link.created", "link.updated", "link.deleted"}}).Want(201)
		r := owner.Link("a", M{"title": "One", "utm": M{"source": "mail", "medium": "x"},
			"lifecycle": M{"maxClicks": 7}}).Want(201)
		id := r.Text("data.id")
		path := "/links/" + apitest.Path(id)
		r = owner.Call("PATCH", path, M{"description": "D", "utm": M{"medium": nil}, "lifecycle": M{"archived": true}},
			apitest.IfMatch(r.Revision())).Want(200).
			Has("data.title", `"One"`).Has("data.utm.source", `"mail"`).Has("data.utm.medium", "null").
			Has("data.lifecycle.maxClicks", "7").Has("data.state", `"archived"`)
		if r.Text("data.publication.desiredRevision") != r.Revision() {
			t.Errorf("desired %s, revision %s", r.Value("data.publication.desiredRevision"), r.Revision())
		}
		r = owner.Call("PATCH", path, M{"lifecycle": M{"archived": false}}, apitest.IfMatch(r.Revision())).Want(200)
		// A resync is told when it is done, also when the link is changed before.
		owner.Call("POST", path+"/resync", M{}, apitest.IfMatch(r.Revision())).Want(202)
		r = owner.Call("PATCH", path, M{"title": "Two"}, apitest.IfMatch(r.Revision())).Want(200)
		i.Settle(t)
		match := apitest.IfMatch(r.Revision())
		eve.Call("PATCH", path, M{"title": "x"}, match).Refused(fault.NotFound)
		eve.Call("DELETE", path, nil, match).Refused(fault.NotFound)
		eve.Call("GET", path, nil).Refused(fault.NotFound)
		eve.Call("GET", path+"/publication", nil).Refused(fault.NotFound)
		owner.Call("DELETE", path, nil, match).Want(204)
		owner.Call("GET", path, nil).Refused(fault.NotFound)
		again := owner.Link("a", nil).Want(201)
		if again.Text("data.id") == id {
			t.Error("the id was used again")
		}
		actions, err := store.All(t.Context(), i.DB, store.Value[string], `SELECT action FROM link_history
			WHERE link_id = ? ORDER BY id`, id)
		if err != nil || strings.Join(actions, " ") != "created archived restored resynced updated deleted" {
			t.Errorf("history %q, %v", actions, err)
		}
		fields, err := store.One(t.Context(), i.DB, store.Value[string], `SELECT fields FROM link_history
			WHERE link_id = ? AND action = 'archived'`, id)
		if err != nil || fields != `["description","lifecycle","utm"]` {
			t.Errorf("changed fields %s, %v", fields, err)
		}
		events, err := store.All(t.Context(), i.DB, store.Value[string], `SELECT event_type FROM webhook_delivery
			WHERE resource_id = ? ORDER BY id`, id)
		if err != nil || strings.Join(events, " ") != "link.created"+strings.Repeat(" link.updated", 4)+" link.deleted" {
			t.Errorf("events %q, %v", events, err)
		}
	})
}

// Every field is stored and read as it was sent, when a link is made and when it is changed.
func TestFieldsAreKept(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		fields := M{"folderId": created(owner, "/folders", M{"name": "f"}), "campaignId": created(owner, "/campaigns", M{"name": "c"}),
			"title": "Title", "description": "Description", "imageUrl": "https://example.com/image",
			"desktopUrl": "https://example.com/desktop", "playStoreUrl": "https://play.google.com/store/apps/details?id=a",
			"appStoreUrl": "https://apps.apple.com/app/id1", "appPath": "path", "parameters": M{"a": "b"}, "webOnly": true,
			"behavior": "automatic", "group": "main"}
		lifecycle := M{"archived": true, "startsAt": "2027-01-01T00:00:00.000Z", "expiresAt": "2027-02-01T00:00:00.000Z",
			"maxClicks": 7, "expiredUrl": "https://example.com/expired"}
		utm := M{"source": "s", "medium": "m", "campaign": "c", "term": "t", "content": "n"}
		sent := maps.Clone(fields)
		sent["lifecycle"], sent["utm"] = lifecycle, utm
		bare := owner.Link("bare", nil).Want(201)
		path := "/links/" + apitest.Path(bare.Text("data.id"))
		for name, r := range map[string]*apitest.Response{"made": owner.Link("whole", sent).Want(201),
			"changed": owner.Call("PATCH", path, sent, apitest.IfMatch(bare.Revision())).Want(200)} {
			read := owner.Call("GET", "/links/"+apitest.Path(r.Text("data.id")), nil).Want(200).Has("data", r.Value("data"))
			for prefix, part := range map[string]M{"data.": fields, "data.lifecycle.": lifecycle, "data.utm.": utm} {
				for field, value := range part {
					want, err := json.Marshal(value, json.Deterministic(true))
					if err != nil {
						t.Fatal(err)
					}
					if got := read.Value(prefix + field); got != string(want) {
						t.Errorf("%s: %s%s is %s, want %s", name, prefix, field, got, want)
					}
				}
			}
		}
	})
}

// A change tells the clicks that the link has by then, not those of another one.
func TestClicksOfAChange(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		links, counts := map[string]*apitest.Response{}, map[string]int{"a": 3, "b": 7}
		for slug, clicks := range counts {
			links[slug] = owner.Link(slug, nil).Want(201)
			if _, err := i.DB.Exec(t.Context(), "INSERT INTO click_count (link_id, clicks) VALUES (?, ?)",
				links[slug].Text("data.id"), clicks); err != nil {
				t.Fatal(err)
			}
		}
		for slug, clicks := range counts {
			owner.Call("PATCH", "/links/"+apitest.Path(links[slug].Text("data.id")), M{"lifecycle": M{"maxClicks": 100}},
				apitest.IfMatch(links[slug].Revision())).Want(200).Has("data.lifecycle.clicks", fmt.Sprint(clicks))
		}
	})
}

func TestList(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		now := i.Clock.Now()
		for n, more := range []M{
			{"title": "Ärger 100%", "group": "main"},
			{"prefix": "p", "description": "weekly mail"},
			{"lifecycle": M{"archived": true}},
			{"lifecycle": M{"startsAt": now.Add(time.Hour).String()}},
			{"lifecycle": M{"expiresAt": now.Add(30 * time.Second).String()}},
			{"lifecycle": M{"archived": true, "startsAt": now.Add(time.Hour).String()}},
		} {
			owner.Link(fmt.Sprintf("s%d", n), more).Want(201)
			i.Clock.Move(10 * time.Second)
		}
		at := func(seconds int) string { return now.Add(time.Duration(seconds) * time.Second).String() }
		for query, want := range map[string]string{
			"":                                   "s5 s4 s3 s2 s1 s0",
			"order=createdAt:asc":                "s0 s1 s2 s3 s4 s5",
			"group=main":                         "s0",
			"prefix=":                            "s5 s4 s3 s2 s0",
			"prefix=p":                           "s1",
			"archived=all":                       "s5 s4 s3 s2 s1 s0",
			"archived=true":                      "s5 s2",
			"archived=false&order=createdAt:asc": "s0 s1 s3 s4",
			"state=archived":                     "s5 s2",
			"state=scheduled":                    "s3",
			"state=expired":                      "s4",
			"state=active":                       "s1 s0",
			"q=%C3%84RGER":                       "s0",
			"q=arger":                            "",
			"q=100%25":                           "s0",
			"q=WEEKLY":                           "s1",
			"q=S3":                               "s3",
			"q=_":                                "",
			"createdFrom=" + at(10) + "&createdTo=" + at(30): "s2 s1",
			"domain=" + owner.Host:                           "s5 s4 s3 s2 s1 s0",
			"domain=other.example":                           "",
			"origin=api&group=operational&state=active":      "s1",
			"folderId=x":   "",
			"campaignId=x": "",
			"tagId=x":      "",
		} {
			if got := slugs(owner, "&"+query); got != want {
				t.Errorf("%s lists %q, want %q", query, got, want)
			}
			// Page by page it is the same.
			if got := slugs(owner, "&limit=1&"+query); got != want {
				t.Errorf("%s lists %q page by page, want %q", query, got, want)
			}
		}
	})
}

// A tag and another filter choose the links that fulfil both, of a tag with few links and of one with very many.
func TestListByTagOfMany(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		tag, other := created(owner, "/tags", M{"name": "t"}), created(owner, "/tags", M{"name": "other"})
		for slug, tagID := range map[string]string{"both": tag, "other": other} {
			r := owner.Link(slug, M{"group": "main"}).Want(201)
			owner.Call("PUT", "/links/"+apitest.Path(r.Text("data.id"))+"/tags", M{"tagIds": []string{tagID}},
				apitest.IfMatch(r.Revision())).Want(200)
		}
		owner.Link("none", M{"group": "main"}).Want(201)
		for _, links := range []int{1, 1999, 2000} {
			// The other links of the tag are those of no app: this test needs nothing of them.
			if _, err := i.DB.Exec(t.Context(), `INSERT INTO link_tag (tag_id, link_created_at, link_id)
				WITH RECURSIVE s(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < ?)
				SELECT tag_id, link_created_at, 'link' || s.n FROM link_tag, s WHERE tag_id = ? AND link_id NOT LIKE 'link%' AND s.n < ?
				ON CONFLICT DO NOTHING`, links, tag, links); err != nil {
				t.Fatal(err)
			}
			for query, want := range map[string]string{"group=main": "both", "group=operational": "", "q=both": "both", "q=none": "",
				"archived=false&order=createdAt:asc": "both"} {
				if got := slugs(owner, "&tagId="+tag+"&"+query); got != want {
					t.Errorf("of %d links %s lists %q, want %q", links, query, got, want)
				}
			}
		}
	})
}

// A link starts and expires at the very instants that it names, in lists as in its
// own state.
func TestStateAtItsInstants(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		starts, expires := i.Clock.Now().Add(time.Hour), i.Clock.Now().Add(2*time.Hour)
		link := owner.Link("a", M{"lifecycle": M{"startsAt": starts.String(), "expiresAt": starts.Add(time.Microsecond).String()}}).
			Want(201)
		change := func(lifecycle M) *apitest.Response {
			return owner.Call("PATCH", "/links/"+apitest.Path(link.Text("data.id")), M{"lifecycle": lifecycle},
				apitest.IfMatch(link.Revision()))
		}
		change(M{"expiresAt": starts.String()}).Refused(fault.ValidationFailed, "/lifecycle/expiresAt")
		change(M{"startsAt": starts.Add(time.Microsecond).String()}).Refused(fault.ValidationFailed, "/lifecycle/expiresAt")
		link = change(M{"expiresAt": expires.String()}).Want(200)
		for _, c := range []struct {
			at    clock.Instant
			state string
		}{
			{starts - 1, "scheduled"}, {starts, "active"}, {expires - 1, "active"}, {expires, "expired"},
		} {
			i.Clock.Set(c.at)
			owner.Call("GET", "/links/"+apitest.Path(link.Text("data.id")), nil).Want(200).
				Has("data.state", `"`+c.state+`"`)
			for _, state := range []string{"active", "scheduled", "expired", "archived"} {
				if listed := slugs(owner, "&state="+state) != ""; listed != (state == c.state) {
					t.Errorf("%s: the link is listed as %s: %v", c.at, state, listed)
				}
			}
		}
	})
}

// slugs lists all pages of a query.
func slugs(c *apitest.Client, query string) string {
	var all []string
	for cursor := ""; ; {
		r := c.Call("GET", "/links?appId="+c.AppID+strings.TrimSuffix(query, "&")+cursor, nil).Want(200)
		for n := range r.Len("data") {
			all = append(all, r.Text(fmt.Sprintf("data.%d.slug", n)))
		}
		if r.Text("pagination.nextCursor") == "" {
			return strings.Join(all, " ")
		}
		cursor = "&cursor=" + r.Text("pagination.nextCursor")
	}
}

func TestPublication(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		r := owner.Link("a", nil).Want(201)
		path := "/links/" + apitest.Path(r.Text("data.id"))
		owner.Call("GET", path+"/publication", nil).Want(200).Has("data.status", `"pending"`).
			Has("data.confirmedRevision", "null").Has("data.attempts", "0")
		i.Settle(t)
		owner.Call("GET", path+"/publication", nil).Want(200).Has("data.status", `"synced"`).
			Has("data.confirmedRevision", r.Value("data.revision"))
		address := "https://" + owner.Host + "/a"
		i.Visit(t, address, nil, goes("https://example.com/a"))
		changed := owner.Call("PATCH", path, M{"desktopUrl": "https://example.com/b"}, apitest.IfMatch(r.Revision())).
			Want(200).
			Has("data.publication.status", `"pending"`).Has("data.publication.confirmedRevision",
			r.Value("data.revision"))
		i.Settle(t)
		i.Visit(t, address, nil, goes("https://example.com/b"))

		idn := owner.Link("idn", M{"desktopUrl": "https://bücher.example/"}).Want(201).
			Has("data.desktopUrl", `"https://bücher.example/"`)
		i.Settle(t)
		i.Visit(t, "https://"+owner.Host+"/idn", nil, goes("https://xn--bcher-kva.example/"))
		owner.Call("DELETE", "/links/"+apitest.Path(idn.Text("data.id")), nil, apitest.IfMatch(idn.Revision())).
			Want(204)

		// The projection fails five times, then is given up; resync starts anew.
		breakRoutes(t, i)
		last := owner.Call("PATCH", path, M{"desktopUrl": "https://example.com/c"},
			apitest.IfMatch(changed.Revision())).Want(200)
		for attempt := 1; attempt <= 5; attempt++ {
			i.Settle(t)
			status := `"pending"`
			if attempt == 5 {
				status = `"failed"`
			}
			owner.Call("GET", path+"/publication", nil).Want(200).Has("data.status", status).
				Has("data.attempts", fmt.Sprint(attempt)).Has("data.lastError.code", `"projection_failed"`).
				Has("data.confirmedRevision", changed.Value("data.revision"))
			i.Clock.Move(11 * time.Second)
		}
		i.Settle(t)
		i.Visit(t, address, nil, goes("https://example.com/b"))
		mendRoutes(t, i)
		accepted := owner.Call("POST", path+"/resync", M{}, apitest.IfMatch(last.Revision())).Want(202).
			Has("data.status", `"pending"`).Has("data.attempts", "0").Has("data.lastError", "null")
		if accepted.Header.Get("Location") != "/v1"+path+"/publication" || accepted.Header.Get("Retry-After") == "" {
			t.Errorf("resync: %v", accepted.Header)
		}
		owner.Call("POST", path+"/resync", M{}).Refused(fault.PreconditionRequired)
		i.Settle(t)
		owner.Call("GET", path, nil).Want(200).Has("data.publication.status", `"synced"`).
			Has("data.revision", last.Value("data.revision"))
		i.Visit(t, address, nil, goes("https://example.com/c"))

		owner.Call("DELETE", path, nil, apitest.IfMatch(last.Revision())).Want(204)
		// The address is taken again before the removal is published.
		owner.Link("a", M{"desktopUrl": "https://example.com/d"}).Want(201)
		i.Settle(t)
		i.Visit(t, address, nil, goes("https://example.com/d"))
	})
}

// breakRoutes makes every write to the routes fail, as a full disk or a broken
// table would.
func breakRoutes(t *testing.T, i *apitest.Installation) {
	t.Helper()
	if _, err := i.DB.Exec(t.Context(), "ALTER TABLE route RENAME TO route_away"); err != nil {
		t.Fatal(err)
	}
}

func mendRoutes(t *testing.T, i *apitest.Installation) {
	t.Helper()
	if _, err := i.DB.Exec(t.Context(), "ALTER TABLE route_away RENAME TO route"); err != nil {
		t.Fatal(err)
	}
}

// What reads as a path inside the app is one, however long it may be.
func TestAppPath(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		for n, path := range []string{"", "item", "item/5?a=b:c#d", "a/b:c", "a/...", "a/..b/c..", "?q=../..", "100%",
			"straße/😀", strings.Repeat("é", 1000)} {
			text, err := json.Marshal(path)
			if err != nil {
				t.Fatal(err)
			}
			owner.Link(fmt.Sprintf("p%d", n), M{"appPath": path}).Want(201).Has("data.appPath", string(text))
		}
	})
}

// The bound of parameters counts the value, not the way in which it is written,
// and numbers keep their digits.
func TestSizeOfParameters(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		owner.Link("deep", M{"parameters": M{"a": M{"b": M{"c": M{"d": M{}}}}}}).Want(201) // five levels
		const frame = len(`{"n":1.00e3,"t":""}`)
		for n, c := range []struct {
			unit   string // as it is sent
			times  int
			filler int // bytes
			fits   bool
		}{
			{"é", 2730, 0, true}, {`\u00e9`, 2730, 0, true}, {`\u00E9`, 4000, 0, true},
			{`\/`, 8000, 16<<10 - frame - 8000, true}, {`\/`, 8000, 16<<10 - frame - 8000 + 1, false},
			{"é", 4000, 16<<10 - frame - 8000, true}, {"é", 4000, 16<<10 - frame - 8000 + 1, false},
			// there is no shorter form
			{`\u0001`, 2000, 16<<10 - frame - 12000, true}, {`\u0001`, 2000, 16<<10 - frame - 12000 + 1, false},
		} {
			text := `{"n": 1.00e3, "t": "` + strings.Repeat(c.unit, c.times) + strings.Repeat("x", c.filler) + `"}`
			r := owner.Call("POST", "/links", fmt.Sprintf(`{"appId":"%s","domain":"%s","slug":"s%d","parameters":%s}`,
				owner.AppID, owner.Host, n, text))
			if !c.fits {
				r.Refused(fault.ValidationFailed, "/parameters")
				continue
			}
			got := owner.Call("GET", "/links/"+apitest.Path(r.Want(201).Text("data.id")), nil).Want(200).
				Has("data.parameters.n", "1.00e3")
			var value string
			if err := json.Unmarshal([]byte(`"`+strings.Repeat(c.unit, c.times)+`"`), &value); err != nil ||
				got.Text("data.parameters.t") != value+strings.Repeat("x", c.filler) {
				t.Errorf("%d %s come back as another text, %v", c.times, c.unit, err)
			}
		}
	})
}

// A selection is shown whole: the three base templates, and what a choice does
// not name.
func TestTemplateSelection(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		link := owner.Link("a", nil).Want(201).Has("data.templateSelection",
			`{"android":null,"ios":null,"recovery":null}`)
		path := "/links/" + apitest.Path(link.Text("data.id"))
		official := `{"mode":"official","templateId":null,"version":null}`
		r := owner.Call("PATCH", path, M{"templateSelection": M{"ios": M{"mode": "official"}}},
			apitest.IfMatch(link.Revision())).Want(200).
			Has("data.templateSelection", `{"android":null,"ios":`+official+`,"recovery":null}`)
		owner.Call("GET", path, nil).Want(200).Has("data.templateSelection.ios", official)
		// It can be sent back as it was read.
		r = owner.Call("PATCH", path, `{"templateSelection":`+r.Value("data.templateSelection")+`}`,
			apitest.IfMatch(r.Revision())).Want(200).Has("data.templateSelection.ios", official)
		owner.Call("PATCH", path, M{"templateSelection": M{"ios": M{"mode": "official", "version": 1}}},
			apitest.IfMatch(r.Revision())).Refused(fault.ValidationFailed, "/templateSelection/ios/version")
		owner.Call("PATCH", path, M{"templateSelection": M{"ios": nil}}, apitest.IfMatch(r.Revision())).Want(200).
			Has("data.templateSelection.ios", "null")
	})
}

// Titles are those of the app's links that have one.
func TestTitles(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner, eve := i.Prepared(t, "ann@example.com"), i.Prepared(t, "eve@example.com")
		titled := owner.Link("a", M{"title": "A"}).Want(201).Text("data.id")
		ids := []string{titled, owner.Link("b", nil).Want(201).Text("data.id"),
			eve.Link("c", M{"title": "C"}).Want(201).Text("data.id"), "none"}
		owner.Link("d", M{"title": "D"}).Want(201)
		titles, err := link.Titles(t.Context(), i.DB, owner.AppID, ids)
		if err != nil || len(titles) != 1 || titles[titled] == nil || *titles[titled] != "A" {
			t.Errorf("%v, %v", titles, err)
		}
	})
}

// An app stays while it has links, or had some not long ago. Those of others do not keep it.
func TestLinksKeepTheirApp(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		other := owner.Call("POST", "/apps", M{"name": "Other"}).Want(201)
		kept, gone := owner.Link("kept", nil).Want(201), owner.Link("gone", nil).Want(201)
		owner.Call("DELETE", "/links/"+apitest.Path(gone.Text("data.id")), nil, apitest.IfMatch(gone.Revision())).Want(204)
		i.Settle(t)
		own := "/apps/" + owner.AppID
		r := owner.Call("DELETE", own, nil, apitest.IfMatch(owner.Call("GET", own, nil).Want(200).Revision())).
			Refused(fault.ResourceConflict)
		for kind, id := range map[string]string{"link": kept.Value("data.id"), "link_history": gone.Value("data.id")} {
			if want := `"type":"` + kind + `","count":1,"ids":[` + id + `]`; !strings.Contains(string(r.Body), want) {
				t.Errorf("%s is not in %s", want, r.Body)
			}
		}
		owner.Call("DELETE", "/apps/"+other.Text("data.id"), nil, apitest.IfMatch(other.Revision())).Want(204)
	})
}

// A link stays while a QR code of it is stored, and an image while a link has it.
func TestWhatKeepsALinkAndItsImage(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		image := owner.Upload("image/png", apitest.Picture(t)).Want(201)
		link, other := owner.Link("a", M{"imageUrl": image.Text("data.url")}).Want(201), owner.Link("b", nil).Want(201)
		code := owner.Call("POST", "/qr-codes", M{"appId": owner.AppID, "linkId": link.Text("data.id"), "name": "Q"}).Want(201)
		path := func(r *apitest.Response) string { return "/links/" + apitest.Path(r.Text("data.id")) }
		removeImage := func() *apitest.Response {
			return owner.Call("DELETE", "/assets/"+image.Text("data.id"), nil, apitest.IfMatch(image.Revision()))
		}
		owner.Call("DELETE", path(link), nil, apitest.IfMatch(link.Revision())).Refused(fault.ResourceConflict).
			Has("error.dependencies.0.type", `"qr_code"`).Has("error.dependencies.0.ids", "["+code.Value("data.id")+"]").
			Has("error.dependencies.1", "")
		owner.Call("DELETE", path(other), nil, apitest.IfMatch(other.Revision())).Want(204)
		removeImage().Refused(fault.ResourceConflict).Has("error.dependencies.0.ids", "["+link.Value("data.id")+"]")
		owner.Call("PATCH", path(link), M{"imageUrl": "https://images.example.com/a.png"}, apitest.IfMatch(link.Revision())).
			Want(200)
		removeImage().Want(204)
	})
}
