package imports_test

import (
	"strings"
	"testing"

	"github.com/waymarkhq/waymark/internal/apitest"
	"github.com/waymarkhq/waymark/internal/fault"
)

// setDestinations gives an app destinations that links without their own take.
func setDestinations(c *apitest.Client) {
	defaults := c.Call("GET", "/apps/"+c.AppID+"/defaults", nil).Want(200)
	c.Call("PUT", "/apps/"+c.AppID+"/defaults", M{"defaultDomain": c.Host, "desktopUrl": "https://app.example/",
		"playStoreUrl": "https://play.example/app", "appStoreUrl": "https://apple.example/app"},
		apitest.IfMatch(defaults.Revision())).Want(200)
}

// An import takes the app's web page where a row has no destination, and never
// its store pages: a phone that follows an imported web link must not end in a
// store.
func TestStorePages(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		setDestinations(owner)
		for _, c := range []struct {
			format, content string
			mapping         M
			want            [3]string
		}{
			{"csv", "slug,desktopUrl,playStoreUrl\na,https://example.com/,\n", nil,
				[3]string{"https://example.com/", "", ""}},
			{"json", `[{"slug":"a","desktopUrl":"https://example.com/"}]`, nil,
				[3]string{"https://example.com/", "", ""}},
			{"csv", "slug,desktopUrl\na,\n", nil, [3]string{"https://app.example/", "", ""}},
			{"csv", "slug,desktopUrl\na,null\n", nil, [3]string{"", "", ""}},
			{"json", `[{"slug":"a","desktopUrl":null}]`, nil, [3]string{"", "", ""}},
			{"csv", "slug,playStoreUrl\na,https://play.example/own\n", nil,
				[3]string{"https://app.example/", "https://play.example/own", ""}},
			{"csv", "slug,android\na,\n", M{"slug": "slug", "android": "playStoreUrl",
				"playStoreUrl": M{"value": "https://play.example/all"}},
				[3]string{"https://app.example/", "https://play.example/all", ""}},
			{"csv", "slug,android\na,null\n", M{"slug": "slug", "android": "playStoreUrl",
				"playStoreUrl": M{"value": "https://play.example/all"}}, [3]string{"https://app.example/", "", ""}},
			{"csv", "slug\na\n", M{"appStoreUrl": M{"value": "https://apple.example/all"},
				"desktopUrl": M{"value": nil}}, [3]string{"", "", "https://apple.example/all"}},
		} {
			created := upload(owner, c.format, c.content, c.mapping).Want(201)
			commit(owner, validate(owner, created).Want(200).Has("data.invalid", "0")).Want(202)
			i.Settle(t)
			id := items(owner, created).Text("data.0.result.linkId")
			l := owner.Call("GET", "/links/"+apitest.Path(id), nil).Want(200)
			if got := [3]string{l.Text("data.desktopUrl"), l.Text("data.playStoreUrl"),
				l.Text("data.appStoreUrl")}; got != c.want {
				t.Errorf("%s %v: destinations %q, want %q", c.content, c.mapping, got, c.want)
			}
			owner.Call("DELETE", "/links/"+apitest.Path(id), nil, apitest.IfMatch(l.Revision())).Want(204)
		}
	})
}

// Constants stand where the rows say nothing, and null, TRUE and False mean what
// they say.
func TestConstants(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		setDestinations(owner)
		for _, c := range []struct {
			format, content string
			mapping         M
			path, want      string
		}{
			{"csv", "s,w\na,\n", M{"s": "slug", "webOnly": M{"value": true}}, "webOnly", "true"},
			{"csv", "s,w\na,FALSE\n", M{"s": "slug", "w": "webOnly", "webOnly": M{"value": true}}, "webOnly", "false"},
			{"csv", "slug,webOnly\na,True\n", nil, "webOnly", "true"},
			{"csv", "slug,webOnly\na,\"TRUE\"\n", nil, "webOnly", "true"},
			{"csv", "slug,lifecycle.archived\na,fAlSe\n", nil, "lifecycle", `{"archived":false}`},
			{"csv", "slug\na\n", M{"lifecycle": M{"value": M{"maxClicks": 3}}}, "lifecycle", `{"maxClicks":3}`},
			{"csv", "slug,utm.source\na,mail\n", M{"utm.medium": M{"value": "email"}}, "utm",
				`{"medium":"email","source":"mail"}`},
			{"csv", "slug,title\na,null\n", nil, "title", "null"},
			{"csv", "slug,title\na,\"null\"\n", nil, "title", `"null"`},
			{"csv", "slug,title\na,NULL\n", nil, "title", `"NULL"`},
			{"csv", "slug,title\na,null\n", M{"slug": "slug", "title": "title"}, "title", "null"},
			{"csv", "slug,lifecycle.maxClicks\na,5.0\n", nil, "lifecycle", `{"maxClicks":5}`},
			{"csv", "slug,lifecycle.maxClicks\na,1E+06\n", nil, "lifecycle", `{"maxClicks":1000000}`},
			{"csv", "slug,lifecycle.maxClicks\na,null\n", nil, "lifecycle", `{"maxClicks":null}`},
			{"csv", "slug,domain\na,null\n", nil, "domain", `"` + owner.Host + `"`},
			{"csv", "u\nhttps://other.example/x/a\n", M{"u": "url", "domain": M{"value": owner.Host}}, "domain",
				`"` + owner.Host + `"`},
			{"json", `[{"slug":"a"}]`, M{"behavior": M{"value": "inteligente"}}, "behavior", `"intelligent"`},
			{"json", `[{"slug":"a","n":null}]`, M{"slug": "slug", "n": "title", "title": M{"value": "x"}}, "title",
				"null"},
			{"json", `[{"slug":"a"}]`, M{"slug": "slug", "n": "title", "title": M{"value": "x"}}, "title", `"x"`},
		} {
			created := upload(owner, c.format, c.content, c.mapping).Want(201)
			validate(owner, created).Want(200)
			items(owner, created).Has("data.0.state", `"valid"`).Has("data.0.input."+c.path, c.want)
		}
		for _, c := range []struct {
			mapping             M
			path, code, message string
		}{
			{M{"webOnly": M{"value": "yes"}}, "/mapping/webOnly/value", "wrong_type",
				"must be true or false, not a string"},
			{M{"behavior": M{"value": "turbo"}}, "/mapping/behavior/value", "not_one_of",
				"must be one of manual, automatic, intelligent"},
			{M{"utm": M{"value": M{"where": "x"}}}, "/mapping/utm/value/where", "unknown_field",
				"the field is unknown; known are source, medium, campaign, term, content"},
			{M{"lifecycle.maxClicks": M{"value": 0}}, "/mapping/lifecycle.maxClicks/value", "out_of_range",
				"must be from 1 to 1000000000"},
			{M{"clientId": M{"value": "a b"}}, "/mapping/clientId/value", "invalid",
				`"a b" is not 1 to 100 letters, digits, dots, hyphens and underscores`},
			{M{"permissions": M{"value": true}}, "/mapping/permissions", "unknown_field",
				`"permissions" is not a field that can be imported; the fields are ` + allFields},
			{M{"appId": M{"value": "x"}}, "/mapping/appId", "not_allowed",
				"the app of all links is the appId of the request; neither a column nor a constant can give it"},
			{M{"slug": "slug", "title": "utm.source", "utm": M{"value": M{}}}, "/mapping/utm", "duplicate",
				`"title" and "utm" both give utm`},
			{M{"utm": M{"value": M{}}, "utm.source": M{"value": "x"}}, "/mapping/utm.source", "duplicate",
				`"utm" and "utm.source" both give utm`},
		} {
			r := upload(owner, "csv", "slug,title\na,b\n", c.mapping).Refused(fault.ValidationFailed, c.path)
			if r.Text("error.details.0.code") != c.code || r.Text("error.details.0.message") != c.message ||
				r.Len("error.details") != 1 {
				t.Errorf("%v: %s", c.mapping, r.Value("error.details"))
			}
		}
		for _, source := range []any{nil, []string{"slug"}, true, strings.Repeat("x", 101)} {
			upload(owner, "csv", "slug,title\na,b\n", M{"title": source}).
				Refused(fault.ValidationFailed, "/mapping/title")
		}
		upload(owner, "csv", "slug,title\na,b\n", M{"title": M{}}).
			Refused(fault.ValidationFailed, "/mapping/title/value")
		upload(owner, "csv", "slug,title\na,b\n", M{"title": M{"value": 1, "column": "x"}}).
			Refused(fault.ValidationFailed, "/mapping/title/column")
	})
}

// An import that leaves rows out says so: in the validation, the job, the
// operation and the final state.
func TestInvalidItems(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		setDefaultDomain(owner)
		owner.Link("taken", nil).Want(201)
		run := func(content string, valid, invalid, state string) {
			t.Helper()
			created := upload(owner, "csv", content, nil).Want(201).Has("data.invalid", "0").Has("data.valid", "")
			validate(owner, created).Want(200)
			validated := validate(owner, created).Want(200).Has("data.valid", valid).Has("data.invalid", invalid)
			accepted := commit(owner, validated).Want(202).Has("data.invalid", invalid)
			i.Settle(t)
			owner.Call("GET", path(created), nil).Want(200).Has("data.state", state).Has("data.succeeded", valid).
				Has("data.invalid", invalid).Has("data.failed", "0")
			owner.Call("GET", accepted.Header.Get("Location"), nil).Want(200).Has("data.status", state).
				Has("data.result.invalid", invalid).Has("data.result.failed", "0")
		}
		run("slug\na\nb\n", "2", "0", `"succeeded"`)
		run("slug\nc\ntaken\n", "1", "1", `"partially_succeeded"`)

		// What fails after the validation is counted apart from what is invalid.
		created := upload(owner, "csv", "slug\nd\ne\ntaken\n", nil).Want(201)
		validated := validate(owner, created).Want(200)
		owner.Link("e", nil).Want(201)
		commit(owner, validated).Want(202)
		i.Settle(t)
		owner.Call("GET", path(created), nil).Want(200).Has("data.state", `"partially_succeeded"`).
			Has("data.total", "3").
			Has("data.succeeded", "1").Has("data.failed", "1").Has("data.invalid", "1")

		none := validate(owner, upload(owner, "csv", "slug\ntaken\n", nil).Want(201)).Want(200).Has("data.valid", "0").
			Has("data.invalid", "1")
		commit(owner, none).Refused(fault.ResourceConflict)
		owner.Call("GET", path(none), nil).Want(200).Has("data.state", `"validated"`)
	})
}
