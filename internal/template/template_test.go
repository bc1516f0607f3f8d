package template_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/waymarkhq/waymark/internal/apitest"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/ids"
	"github.com/waymarkhq/waymark/internal/store"
)

type M = apitest.M

// design returns a configuration with a heading and more.
func design(heading string, more M) M {
	config := M{"content": M{"heading": heading}}
	for name, value := range more {
		config[name] = value
	}
	return config
}

// unreadable is a look that a draft may have, but no version.
var unreadable = M{"light": M{"text": "#777777", "surface": "#7a7a7a", "background": "#7a7a7a"}}

// made creates a template with a design.
func made(owner *apitest.Client, base string, config M) *apitest.Response {
	return owner.Call("POST", "/templates", M{"appId": owner.AppID, "name": "Sale", "baseTemplateId": base,
		"config": config}).Want(201)
}

func pathOf(r *apitest.Response) string { return "/templates/" + r.Text("data.template.id") }

func TestTemplates(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		r := owner.Call("POST", "/templates", M{"appId": owner.AppID, "name": "  Spring \n sale ",
			"baseTemplateId": "android"}).Want(201).Has("data.template.name", `"Spring sale"`).
			Has("data.template.archived", "false").Has("data.template.baseTemplateId", `"android"`).
			Has("data.template.appId", `"`+owner.AppID+`"`).Has("data.draft.config", "{}").
			Has("data.draft.baseVersion", "null")
		path := pathOf(r)
		if r.Header.Get("Location") != "/v1"+path || r.Value("data.revision") != r.Value("data.template.revision") ||
			r.Value("data.draft.revision") == r.Value("data.revision") {
			t.Errorf("Location %s, %s", r.Header.Get("Location"), r.Body)
		}
		owner.Call("GET", path, nil).Want(200).Has("data", r.Value("data"))

		owner.Call("PATCH", path, M{"name": "x"}).Refused(fault.PreconditionRequired)
		draft := r.Text("data.draft.revision")
		owner.Call("PATCH", path, M{"name": "x"}, apitest.IfMatch(draft)).Refused(fault.RevisionConflict)
		renamed := owner.Call("PATCH", path, M{"name": "Summer sale"}, apitest.IfMatch(r.Revision())).Want(200).
			Has("data.template.name", `"Summer sale"`).Has("data.draft", r.Value("data.draft"))
		owner.Call("PATCH", path, M{"archived": true}, apitest.IfMatch(r.Revision())).Refused(fault.RevisionConflict)
		archived := owner.Call("PATCH", path, M{"archived": true}, apitest.IfMatch(renamed.Revision())).Want(200).
			Has("data.template.archived", "true").Has("data.template.name", `"Summer sale"`)
		for field, value := range map[string]any{"name": strings.Repeat("x", 101), "archived": "yes",
			"baseTemplateId": "ios"} {
			owner.Call("PATCH", path, M{field: value}, apitest.IfMatch(archived.Revision())).
				Refused(fault.ValidationFailed, "/"+field)
		}
		owner.Call("PATCH", path, M{"name": strings.Repeat("é", 100)}, apitest.IfMatch(archived.Revision())).Want(200)
		owner.Call("POST", "/templates", M{"appId": owner.AppID, "name": "x", "baseTemplateId": "web"}).
			Refused(fault.ValidationFailed, "/baseTemplateId")
		owner.Call("POST", "/templates", M{"appId": owner.AppID, "name": "x", "baseTemplateId": "ios",
			"config": M{"baseTemplateId": "android"}}).Refused(fault.ValidationFailed, "/config/baseTemplateId")

		i.Clock.Move(time.Second)
		second := made(owner, "ios", nil)
		for filter, want := range map[string][]*apitest.Response{
			"": {second, r}, "&archived=all": {second, r}, "&archived=true": {r}, "&archived=false": {second},
		} {
			found := owner.Call("GET", "/templates?appId="+owner.AppID+filter, nil).Want(200)
			if found.Len("data") != len(want) {
				t.Errorf("%q lists %s", filter, found.Body)
				continue
			}
			for n, w := range want {
				found.Has(fmt.Sprintf("data.%d.id", n), w.Value("data.template.id"))
			}
		}
		first := owner.Call("GET", "/templates?limit=1&appId="+owner.AppID, nil).Want(200)
		owner.Call("GET", "/templates?limit=1&archived=all&appId="+owner.AppID+"&cursor="+
			first.Text("pagination.nextCursor"), nil).Want(200).Has("data.0.id", r.Value("data.template.id")).
			Has("pagination.hasMore", "false")

		events := owner.Call("GET", "/audit-events?resourceType=template&resourceId="+r.Text("data.template.id"), nil).
			Want(200)
		if n := events.Len("data"); n != 4 {
			t.Errorf("%d audit events", n)
		}
		events.Has("data.3.operation", `"createTemplates"`).Has("data.3.revision", r.Value("data.revision")).
			Has("data.0.operation", `"updateTemplatesTemplateId"`)
	})
}

// One intent has one effect.
func TestReceipt(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		intent := apitest.Idempotent(apitest.NewKey())
		body := M{"appId": owner.AppID, "name": "x", "baseTemplateId": "recovery"}
		r := owner.Call("POST", "/templates", body, intent).Want(201)
		owner.Call("POST", "/templates", body, intent).Want(201).Has("data", r.Value("data"))
		version := apitest.Idempotent(apitest.NewKey())
		owner.Call("POST", pathOf(r)+"/versions", "{}", version).Want(201).Has("data.version", "1")
		owner.Call("POST", pathOf(r)+"/versions", "{}", version).Want(201).Has("data.version", "1")
		if n := owner.Call("GET", pathOf(r)+"/versions", nil).Want(200).Len("data"); n != 1 {
			t.Errorf("%d versions", n)
		}
		if n := owner.Call("GET", "/templates?appId="+owner.AppID, nil).Want(200).Len("data"); n != 1 {
			t.Errorf("%d templates", n)
		}
	})
}

// What another owner has looks like nothing, and a key does what it may.
func TestScope(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner, eve := i.Prepared(t, "ann@example.com"), i.Prepared(t, "eve@example.com")
		r := made(owner, "android", nil)
		path := pathOf(r)
		version := owner.Call("POST", path+"/versions", "{}").Want(201)
		match, draft := apitest.IfMatch(r.Revision()), apitest.IfMatch(r.Text("data.draft.revision"))
		calls := []struct {
			permission, method, path string
			body                     any
			with                     apitest.With
			status                   int
		}{
			{"templates:read", "GET", path, nil, nil, 200},
			{"templates:read", "GET", path + "/draft", nil, nil, 200},
			{"templates:read", "GET", path + "/versions", nil, nil, 200},
			{"templates:read", "GET", path + "/versions/1", nil, nil, 200},
			{"templates:read", "GET", path + "/availability", nil, nil, 200},
			{"templates:read", "GET", "/templates?appId=" + owner.AppID, nil, nil, 200},
			{"templates:read", "GET", "/template-choices?appId=" + owner.AppID, nil, nil, 200},
			{"templates:validate", "POST", path + "/validate", "{}", nil, 200},
			{"templates:preview", "POST", path + "/preview", "{}", nil, 200},
			{"templates:snapshot", "POST", path + "/versions", "{}", draft, 201},
			{"templates:create", "POST", path + "/duplicate", M{"name": "x"}, match, 201},
			{"templates:create", "POST", "/templates", M{"appId": owner.AppID, "name": "x", "baseTemplateId": "ios"}, nil,
				201},
			{"templates:update", "PATCH", path, M{"name": "x"}, match, 200},
			{"templates:update", "PUT", path + "/draft", M{"config": M{}}, draft, 200},
		}
		for _, c := range calls {
			with := []apitest.With{}
			if c.with != nil {
				with = append(with, c.with)
			}
			eve.Call(c.method, c.path, c.body, with...).Refused(fault.NotFound)
			other := "templates:read"
			if c.permission == other {
				other = "templates:update"
			}
			owner.Key(other).Call(c.method, c.path, c.body, with...).Refused(fault.InsufficientPermission)
			owner.Key(c.permission).Call(c.method, c.path, c.body, with...).Want(c.status)
		}
		for _, unknown := range []string{ids.New(), "x"} {
			owner.Call("GET", "/templates/"+unknown, nil).Refused(fault.NotFound)
			owner.Call("POST", "/templates/"+unknown+"/validate", "{}").Refused(fault.NotFound)
		}
		for _, unknown := range []string{"0", "3", "-1", "01", "1.0", "+1", "x", "9223372036854775808"} {
			owner.Call("GET", path+"/versions/"+unknown, nil).Refused(fault.NotFound)
		}
		if version.Header.Get("Location") != "/v1"+path+"/versions/1" {
			t.Errorf("Location %s", version.Header.Get("Location"))
		}
		for _, base := range []string{"android", "ios", "recovery"} {
			owner.Key("templates:read").Call("GET", "/template-catalog/"+base+"/schema", nil).Want(200).
				Has("data.baseTemplateId", `"`+base+`"`)
		}
		owner.Call("GET", "/template-catalog/web/schema", nil).Refused(fault.NotFound)
	})
}

// A call of which a statement fails makes and changes nothing.
func TestCallsAreWhole(t *testing.T) {
	i := apitest.New(t, "sqlite", apitest.Options{}) // on one database, as each call is made once for each of its statements
	owner := i.Prepared(t, "ann@example.com")
	logo := owner.Upload("image/png", imageOf(t, 30)).Want(201).Text("data.id")
	r := made(owner, "ios", M{"appearance": M{"logoAssetId": logo}})
	path, list := pathOf(r), "/templates?appId="+owner.AppID
	owner.Call("POST", path+"/versions", "{}").Want(201)
	chosen := M{"defaults": M{"ios": M{"mode": "custom", "templateId": r.Text("data.template.id"), "version": 1}}}
	app := "/apps/" + owner.AppID
	domain := "/domains/" + owner.Call("GET", "/domains?appId="+owner.AppID, nil).Want(200).Text("data.0.id")
	its := M{"config": M{"appearance": M{"logoAssetId": logo}}}
	for _, c := range []struct {
		method, path string
		body         any
		holder, at   string // where the revision stands that the call needs
		status       int
	}{
		{"POST", "/templates", M{"appId": owner.AppID, "name": "b", "baseTemplateId": "ios", "config": its["config"]}, "", "",
			201},
		{"PUT", path + "/draft", its, path, "data.draft.revision", 200},
		{"PATCH", path, M{"archived": true}, path, "data.revision", 200},
		{"PATCH", path, M{"archived": false}, path, "data.revision", 200},
		{"POST", path + "/versions", M{}, "", "", 201},
		{"POST", path + "/duplicate", M{"name": "c"}, "", "", 201},
		{"POST", path + "/duplicate", M{"name": "d", "sourceVersion": 1}, "", "", 201},
		{"POST", path + "/validate", its, "", "", 200}, {"POST", path + "/preview", its, "", "", 200},
		{"PUT", app + "/template-defaults", chosen, app, "data.revision", 200},
		{"PUT", domain + "/template-defaults", chosen, domain, "data.revision", 200},
		{"GET", app + "/template-defaults", nil, "", "", 200}, {"GET", domain + "/template-defaults", nil, "", "", 200},
		{"GET", list, nil, "", "", 200}, {"GET", path, nil, "", "", 200}, {"GET", path + "/draft", nil, "", "", 200},
		{"GET", path + "/versions", nil, "", "", 200}, {"GET", path + "/versions/1", nil, "", "", 200},
		{"GET", path + "/availability", nil, "", "", 200},
		{"GET", "/template-choices?appId=" + owner.AppID, nil, "", "", 200},
	} {
		var with []apitest.With
		if c.holder != "" {
			with = append(with, apitest.IfMatch(owner.Call("GET", c.holder, nil).Want(200).Text(c.at)))
		}
		apitest.EveryStatement(t, c.method+" "+c.path, func(failing apitest.With) *apitest.Response {
			return owner.Call(c.method, c.path, c.body, append(with, failing)...)
		}, func() string {
			return owner.Call("GET", list, nil).Value("data") + owner.Call("GET", path+"/versions", nil).Value("data") +
				owner.Call("GET", app, nil).Value("data") + owner.Call("GET", domain, nil).Value("data")
		}).Want(c.status)
	}
}

// The defaults of an app and of its domain are read and replaced alike, each under its own revision.
func TestDefaults(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner, eve := i.Prepared(t, "ann@example.com"), i.Prepared(t, "eve@example.com")
		r := made(owner, "android", nil)
		path, id := pathOf(r), r.Text("data.template.id")
		for range 2 {
			owner.Call("POST", path+"/versions", "{}").Want(201)
		}
		of := func(id string, version int) M { return M{"mode": "custom", "templateId": id, "version": version} }
		choice := func(version int) M { return of(id, version) }
		// Other templates have a version 3, and one is another owner's.
		var others []string
		for _, c := range []*apitest.Client{owner, eve} {
			other := made(c, "ios", nil)
			for range 3 {
				c.Call("POST", pathOf(other)+"/versions", "{}").Want(201)
			}
			others = append(others, other.Text("data.template.id"))
		}
		// The choices of the other owner are damaged here. No call of this owner reads them.
		for _, table := range []string{"app", "domain"} {
			if _, err := i.DB.Exec(t.Context(), "UPDATE "+table+" SET template_defaults = 'damaged' WHERE id IN (?, ?)",
				eve.AppID, eve.Call("GET", "/domains?appId="+eve.AppID, nil).Text("data.0.id")); err != nil {
				t.Fatal(err)
			}
		}
		domain := owner.Call("GET", "/domains?appId="+owner.AppID, nil).Want(200).Value("data.0.id")
		for n, c := range []struct{ holder, domain, inUse string }{
			{"/apps/" + owner.AppID, "null", `{"app":1,"domains":0,"links":0}`},
			{"/domains/" + strings.Trim(domain, `"`), domain, `{"app":1,"domains":1,"links":0}`},
		} {
			at := c.holder + "/template-defaults"
			before := owner.Call("GET", at, nil).Want(200).Has("data.domainId", c.domain).
				Has("data.appId", `"`+owner.AppID+`"`).Has("data.defaults", `{"android":null,"ios":null,"recovery":null}`)
			if before.Revision() != owner.Call("GET", c.holder, nil).Revision() {
				t.Errorf("%s has another revision than its defaults", c.holder)
			}
			match := apitest.IfMatch(before.Revision())
			put := func(version int, with apitest.With) *apitest.Response {
				return owner.Call("PUT", at, M{"defaults": M{"android": choice(version)}}, with)
			}
			put(3, match).Refused(fault.ValidationFailed, "/defaults/android/version")
			owner.Call("PUT", at, M{"defaults": M{"ios": choice(1)}}, match).
				Refused(fault.ValidationFailed, "/defaults/ios/templateId")
			owner.Call("PUT", at, M{"defaults": M{"ios": of(others[1], 3)}}, match).
				Refused(fault.ValidationFailed, "/defaults/ios/templateId")
			owner.Call("GET", at, nil).Want(200).Has("data", before.Value("data"))
			after := put(n+1, match).Want(200).Has("data.defaults.android.version", fmt.Sprint(n+1)).
				Has("data.domainId", c.domain)
			put(n+1, match).Refused(fault.RevisionConflict)
			both := M{"android": choice(n + 1), "ios": of(others[0], 3)}
			after = owner.Call("PUT", at, M{"defaults": both}, apitest.IfMatch(after.Revision())).Want(200)
			owner.Call("GET", at, nil).Want(200).Has("data", after.Value("data"))
			eve.Call("GET", at, nil).Refused(fault.NotFound)
			// What is chosen is available, and no other version.
			for v := range 2 { // the newest stands first
				want := `"available"`
				if v == 0 && n == 0 {
					want = `"prepared"`
				}
				owner.Call("GET", path+"/availability", nil).Want(200).Has("data.inUse", c.inUse).
					Has(fmt.Sprintf("data.versions.%d.availability", v), want)
			}
		}
	})
}

// fill gives an app so many templates more.
func fill(t *testing.T, i *apitest.Installation, owner *apitest.Client, count int, archived bool) {
	t.Helper()
	if err := i.DB.InTx(t.Context(), func(tx *store.Tx) error {
		for n := range count {
			if _, err := tx.Exec(t.Context(), `INSERT INTO template (id, app_id, name, base, archived, last_version, revision,
				created_at, updated_at, draft, draft_revision, draft_updated_at)
				VALUES (?, ?, 'x', 'ios', ?, 0, ?, 0, 0, '{}', ?, 0)`, ids.New(), owner.AppID, archived, fmt.Sprint(n),
				ids.Revision()); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

func TestBounds(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		fill(t, i, i.Prepared(t, "bob@example.com"), 1, false) // what another app has does not count
		fill(t, i, owner, 198, false)
		first := made(owner, "ios", nil)
		second := owner.Call("POST", pathOf(first)+"/duplicate", M{"name": "Copy"}).Want(201)
		create := M{"appId": owner.AppID, "name": "x", "baseTemplateId": "ios"}
		owner.Call("POST", "/templates", create).Refused(fault.ResourceConflict)
		owner.Call("POST", pathOf(first)+"/duplicate", M{"name": "x"}).Refused(fault.ResourceConflict)
		// An archived template counts no more, until it comes back.
		archived := owner.Call("PATCH", pathOf(first), M{"archived": true}, apitest.IfMatch(first.Revision())).Want(200)
		owner.Call("PATCH", pathOf(first), M{"archived": false}, apitest.IfMatch(archived.Revision())).Want(200)
		archived = owner.Call("GET", pathOf(first), nil).Want(200)
		archived = owner.Call("PATCH", pathOf(first), M{"archived": true}, apitest.IfMatch(archived.Revision())).Want(200)
		owner.Call("POST", "/templates", create).Want(201)
		owner.Call("PATCH", pathOf(first), M{"archived": false}, apitest.IfMatch(archived.Revision())).
			Refused(fault.ResourceConflict)
		owner.Call("PATCH", pathOf(first), M{"name": "Old"}, apitest.IfMatch(archived.Revision())).Want(200).
			Has("data.template.archived", "true")
		owner.Call("PATCH", pathOf(second), M{"archived": false}, apitest.IfMatch(second.Revision())).Want(200)

		if _, err := i.DB.Exec(t.Context(), "UPDATE template SET last_version = ? WHERE id = ?",
			999, second.Text("data.template.id")); err != nil {
			t.Fatal(err)
		}
		owner.Call("POST", pathOf(second)+"/versions", "{}").Want(201).Has("data.version", "1000")
		owner.Call("POST", pathOf(second)+"/versions", "{}").Refused(fault.ResourceConflict)
		owner.Call("GET", pathOf(second)+"/versions", nil).Want(200).Has("data.0.version", "1000")
	})
}

// Archived templates count among all that an app has.
func TestBoundInAll(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		fill(t, i, i.Prepared(t, "bob@example.com"), 1, true) // what another app has does not count
		fill(t, i, owner, 999, true)
		last := made(owner, "ios", nil)
		owner.Call("POST", "/templates", M{"appId": owner.AppID, "name": "x", "baseTemplateId": "ios"}).
			Refused(fault.ResourceConflict)
		owner.Call("POST", pathOf(last)+"/duplicate", M{"name": "x"}).Refused(fault.ResourceConflict)
		archived := owner.Call("PATCH", pathOf(last), M{"archived": true}, apitest.IfMatch(last.Revision())).Want(200)
		owner.Call("PATCH", pathOf(last), M{"archived": false}, apitest.IfMatch(archived.Revision())).Want(200)
	})
}

func TestDuplicate(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		r := made(owner, "android", design("One", nil))
		path := pathOf(r)
		owner.Call("POST", path+"/versions", "{}").Want(201)
		draft := owner.Call("PUT", path+"/draft", M{"config": design("Two", M{"appearance": unreadable})},
			apitest.IfMatch(r.Text("data.draft.revision"))).Want(200)

		owner.Call("POST", path+"/duplicate", M{"name": "x"}, apitest.IfMatch(r.Revision())).
			Refused(fault.RevisionConflict)
		owner.Call("POST", path+"/duplicate", M{"name": "Draft"},
			apitest.IfMatch(owner.Call("GET", path, nil).Revision())).Want(201).
			Has("data.template.name", `"Draft"`).Has("data.template.baseTemplateId", `"android"`).
			Has("data.draft.config.content.heading", `"Two"`).Has("data.draft.baseVersion", "null")
		copied := owner.Call("POST", path+"/duplicate", M{"name": "Version", "sourceVersion": 1}).Want(201).
			Has("data.draft.config.content.heading", `"One"`).Has("data.draft.baseVersion", "null")
		if copied.Header.Get("Location") != "/v1"+pathOf(copied) || pathOf(copied) == path {
			t.Errorf("Location %s", copied.Header.Get("Location"))
		}
		owner.Call("GET", pathOf(copied)+"/versions", nil).Want(200).Has("data", "[]")
		owner.Call("POST", path+"/duplicate", M{"name": "x", "draftRevision": strings.ToUpper(draft.Revision())}).Want(201)
		owner.Call("POST", path+"/duplicate", M{"name": "x", "draftRevision": r.Text("data.draft.revision")}).
			Refused(fault.RevisionConflict)
		owner.Call("POST", path+"/duplicate", M{"name": "x"}, apitest.IfMatch(draft.Revision())).
			Refused(fault.RevisionConflict)
		owner.Call("POST", path+"/duplicate", M{"name": "x", "sourceVersion": 1, "draftRevision": draft.Revision()}).
			Refused(fault.ValidationFailed, "/draftRevision")
		owner.Call("POST", path+"/duplicate", M{"name": "x", "sourceVersion": 2}).
			Refused(fault.ValidationFailed, "/sourceVersion")
		owner.Call("POST", path+"/duplicate", M{"sourceVersion": 1}).Refused(fault.ValidationFailed, "/name")
	})
}
