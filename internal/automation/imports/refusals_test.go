package imports_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/waymarkhq/waymark/internal/apitest"
	"github.com/waymarkhq/waymark/internal/csvtable"
	"github.com/waymarkhq/waymark/internal/fault"
)

const allFields = "appPath, appStoreUrl, behavior, campaignId, clientId, description, desktopUrl, domain, folderId, " +
	"group, imageUrl, " +
	"lifecycle, lifecycle.archived, lifecycle.expiredUrl, lifecycle.expiresAt, lifecycle.maxClicks, " +
	"lifecycle.startsAt, parameters, playStoreUrl, " +
	"prefix, slug, templateData, templateSelection, title, url, url.path, utm, utm.campaign, utm.content, " +
	"utm.medium, utm.source, utm.term, webOnly"

// What is wrong with a content or its columns refuses the whole, and says where
// and why.
func TestRefusals(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner, eve := i.Prepared(t, "ann@example.com"), i.Prepared(t, "eve@example.com")
		for _, c := range []struct {
			format, content string
			mapping         M
			path, message   string
		}{
			{"csv", "", nil, "/content", "the content is not valid CSV: the header: it is missing; the first line " +
				"must name the columns"},
			{"csv", "slug\n", nil, "/content", "the content has no links"},
			{"csv", "slug,slug\na,b\n", nil, "/content",
				`the content is not valid CSV: the header: two columns have the name "slug"`},
			{"csv", "slug,title\na\n", nil, "/content", "the content is not valid CSV: row 1 (line 2): the row has 1 " +
				"cells, the header has 2"},
			{"csv", "slug\n\"a\n", nil, "/content", "the content is not valid CSV: row 1 (line 2): a quoted cell has " +
				"no closing quote"},
			{"csv", "slug\n" + strings.Repeat("a\n", 51), nil, "/content",
				"the content has more than 50 links, at most 50 are allowed; split the file"},
			{"csv", "slug\n" + strings.Repeat("a", 24_000), nil, "/content",
				"the content has 24005 bytes, at most 24000 are allowed; split the file"},
			{"csv", "slug\n" + strings.Repeat("é", 11_998), nil, "/content",
				"the content has 24001 bytes, at most 24000 are allowed; split the file"},
			{"csv", "slug,Titulo\na,b\n", nil, "/content",
				`the column "Titulo" is not named as a field; name the field of each column in mapping`},
			{"csv", "slug,appId\na,b\n", nil, "/content", "the app of all links is the appId of the request; neither " +
				"a column nor a constant can give it"},
			{"csv", "slug,secret\na,b\n", nil, "/content",
				`the column "secret" is not named as a field; name the field of each column in mapping`},
			{"csv", "utm,utm.source\na,b\n", nil, "/content", `"utm" and "utm.source" both give utm`},
			{"csv", "utm.source,utm\na,b\n", nil, "/content", `"utm.source" and "utm" both give utm`},
			{"csv", "url,url.path\na,b\n", nil, "/content", `"url" and "url.path" both give url`},
			{"csv", "slug;title\na;b\n", nil, "/content", "the cells are separated by ';', not by commas; save the " +
				"file as CSV with commas"},
			{"csv", "|slug\n1|a\n", nil, "/content", "the cells are separated by '|', not by commas; save the " +
				"file as CSV with commas"},
			{"csv", "slug,title\na,caf\ufffd\n", nil, "/content",
				"the content has the character U+FFFD, which stands for bytes that were not UTF-8; convert the file " +
					"to UTF-8 before you upload it"},
			{"csv", "a,b\n1,2\n", M{"c": "slug"}, "/mapping/c",
				`the content has no column "c"; its columns are "a, b"`},
			{"csv", "a,b\n1,2\n", M{"c/~d": "slug"}, "/mapping/c~1~0d",
				`the content has no column "c/~d"; its columns are "a, b"`},
			{"csv", "a,b\n1,2\n", M{"a": "permissions"}, "/mapping/a",
				`"permissions" is not a field that can be imported; the fields are ` + allFields},
			{"csv", "a,b\n1,2\n", M{"a": "appId"}, "/mapping/a",
				"the app of all links is the appId of the request; neither a column nor a constant can give it"},
			{"csv", "a,b\n1,2\n", M{"a": "slug", "b": "slug"}, "/mapping/b", `the columns "a" and "b" both give slug`},
			{"csv", "a,b\n1,2\n", M{"a": 7}, "/mapping/a", "must be a string or an object"},
			{"json", "", nil, "/content", "the content must be a JSON array of objects: it ends too early"},
			{"json", "{}", nil, "/content", "the content must be a JSON array of objects: it is not an array"},
			{"json", "[]", nil, "/content", "the content has no links"},
			{"json", `[{"slug":"a"},"b"]`, nil, "/content", "the content must be a JSON array of objects: the value " +
				"at /1 is not an object"},
			{"json", `[{"slug":"a"},null]`, nil, "/content",
				"the content must be a JSON array of objects: the value at /1 is null"},
			{"json", `[{"slug":"a","slug":"b"}]`, nil, "/content",
				"the content must be a JSON array of objects: an object has the same member twice"},
			{"json", `[{"slug":"a","utm":{"source":"a","source":"b"}}]`, nil, "/content",
				"the content must be a JSON array of objects: an object has the same member twice"},
			{"json", `[{"slug":"a"}] []`, nil, "/content", "the content must be a JSON array of objects: it is " +
				"malformed at byte 15"},
			{"json", "[" + strings.Repeat("{},", 50) + "{}]", nil, "/content",
				"the content has 51 links, at most 50 are allowed; split the file"},
			{"json", `[{"slug":"a"},{"titulo":"b"}]`, nil, "/content",
				`the column "titulo" is not named as a field; name the field of each column in mapping`},
			{"json", `[{"slug":"a"},{"appId":"b"}]`, nil, "/content",
				"the app of all links is the appId of the request; neither a column nor a constant can give it"},
			{"json", `[{"slug":` + strings.Repeat("[", 31) + strings.Repeat("]", 31) + `}]`, nil, "/content",
				"the content nests deeper than 32 levels"},
			{"xml", "<a/>", nil, "/format", "must be one of csv, json"},
		} {
			r := upload(owner, c.format, c.content, c.mapping).Refused(fault.ValidationFailed, c.path)
			if got := r.Text("error.details.0.message"); got != c.message {
				t.Errorf("%.60q: %s, want %s", c.content, got, c.message)
			}
		}
		// The columns that there are are listed once.
		upload(owner, "csv", "a,b\n1,2\n", M{"c": "slug", "d": "title", "e": "domain"}).Refused(fault.ValidationFailed).
			Has("error.details.0.message", `"the content has no column \"c\"; its columns are \"a, b\""`).
			Has("error.details.1", `{"path":"/mapping/d","code":"unknown_column","message":"the content has no column \"d\""}`).
			Has("error.details.2.message", `"the content has no column \"e\""`)
		upload(owner, "csv", "slug\n"+strings.Repeat("\"\"", 9_000), nil).Refused(fault.PayloadTooLarge)
		if n := upload(owner, "csv", strings.Repeat("a,", 60)+"a\n", nil).Refused(fault.ValidationFailed).
			Len("error.details"); n > 50 {
			t.Errorf("%d details", n)
		}
		unknown := "a0"
		for n := range 99 {
			unknown += ",a" + strconv.Itoa(n+1)
		}
		if n := upload(owner, "csv", unknown+"\n", nil).Refused(fault.ValidationFailed).Len("error.details"); n != 50 {
			t.Errorf("%d details, want 50", n)
		}
		eve.Call("POST", "/imports", M{"appId": owner.AppID, "format": "csv", "content": "slug\na\n"}).
			Refused(fault.NotFound)
		owner.Call("POST", "/imports", M{"appId": owner.AppID, "format": "csv", "content": "slug\na\n",
			"file": "https://x.example"}).Refused(fault.ValidationFailed, "/file")

		// The largest that is accepted; an empty mapping is none.
		upload(owner, "csv", "slug\n"+strings.Repeat("a\n", 50), M{}).Want(201).Has("data.total", "50")
		upload(owner, "json", "["+strings.Repeat(`{"slug":"a"},`, 49)+`{"slug":"a"}]`, nil).Want(201).
			Has("data.total", "50")
		upload(owner, "csv", "slug\n"+strings.Repeat("a", 23_995), nil).Want(201)
		upload(owner, "csv", "a,b,appId\n1,2,3\n", M{"a": "slug"}).Want(201)
	})
}

// The address of a row that cannot be imported is free for another row,
// whatever is wrong with the first.
func TestAddressOfAnInvalidRow(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		created := upload(owner, "csv", csvtable.Write([]string{"domain", "slug", "webOnly", "folderId"}, [][]string{
			{owner.Host, "unread", "sim", ""}, {owner.Host, "unread", "", ""}, {owner.Host, "unread", "", ""},
			{owner.Host, "refused", "", "Sales"}, {owner.Host, "refused", "", ""},
		}), nil).Want(201)
		validate(owner, created).Want(200)
		got := items(owner, created)
		for n, want := range []string{"/webOnly", "", "/slug", "/folderId", ""} {
			if path := got.Text("data." + strconv.Itoa(n) + ".error.details.0.path"); path != want {
				t.Errorf("row %d: what is wrong is %q, want %q", n+1, path, want)
			}
		}
	})
}

// What is wrong with a row is the row's own error, in words that say what to
// change.
func TestErrorsOfRows(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		deep := strings.Repeat(`{"a":`, 33) + "1" + strings.Repeat("}", 33)
		for _, c := range []struct{ column, cell, path, message string }{
			{"webOnly", "sim", "/webOnly", `"sim" is neither true, false nor empty`},
			{"webOnly", "1", "/webOnly", `"1" is neither true, false nor empty`},
			{"lifecycle.archived", "não", "/lifecycle/archived", `"não" is neither true, false nor empty`},
			{"lifecycle.maxClicks", "1.5", "/lifecycle/maxClicks", `"1.5" is not a whole number`},
			{"lifecycle.maxClicks", "many", "/lifecycle/maxClicks", `"many" is not a whole number`},
			{"lifecycle.maxClicks", "Inf", "/lifecycle/maxClicks", `"Inf" is not a whole number`},
			{"lifecycle.maxClicks", "1e16", "/lifecycle/maxClicks", `"1e16" is not a whole number`},
			{"lifecycle.maxClicks", "0", "/lifecycle/maxClicks", "must be from 1 to 1000000000"},
			{"lifecycle.expiresAt", "tomorrow", "/lifecycle/expiresAt",
				"must be an RFC 3339 instant such as 2026-11-20T12:00:00Z"},
			{"lifecycle", `{"expires":1}`, "/lifecycle/expires", "the field is unknown; did you mean expiresAt?"},
			{"parameters", "a=b", "/parameters", `"a=b" is not a JSON object`},
			{"parameters", "[1]", "/parameters", `"[1]" is not a JSON object`},
			{"parameters", `{"a":1,"a":2}`, "/parameters", `"{"a":1,"a":2}" is not a JSON object`},
			{"parameters", `{"a":{"b":{"c":{"d":{"e":{}}}}}}`, "/parameters",
				"the object must have at most 16384 bytes, counted without white space and needless escapes, and at " +
					"most 5 levels"},
			{"parameters", deep, "/parameters", `"` + deep + `" is not a JSON object`},
			{"utm", "mail", "/utm", `"mail" is not a JSON object`},
			{"behavior", "turbo", "/behavior", "must be one of manual, automatic, intelligent"},
			{"desktopUrl", "http://example.com", "/desktopUrl", "the URL must start with https://"},
			{"folderId", "Sales", "/folderId", "there is no such resource in this app"},
			{"prefix", "a b", "/prefix", "a segment must consist of letters, digits, -, _, . and ~"},
			{"clientId", "a b", "/clientId", `"a b" is not 1 to 100 letters, digits, dots, hyphens and underscores`},
			{"clientId", strings.Repeat("x", 200), "/clientId",
				`"` + strings.Repeat("x", 200) + `" is not 1 to 100 letters, digits, dots, hyphens and underscores`},
			{"clientId", strings.Repeat("x", 201), "/clientId",
				`"` + strings.Repeat("x", 200) + `…" is not 1 to 100 letters, digits, dots, hyphens and underscores`},
			{"title", strings.Repeat("x", 201), "/title", "must have at most 200 characters"},
		} {
			table := csvtable.Write([]string{"domain", "slug", c.column}, [][]string{{owner.Host, "s", c.cell}})
			created := upload(owner, "csv", table, nil).Want(201)
			validate(owner, created).Want(200)
			got := items(owner, created).Has("data.0.state", `"invalid"`)
			if got.Text("data.0.error.details.0.path") != c.path ||
				got.Text("data.0.error.details.0.message") != c.message || got.Len("data.0.error.details") != 1 {
				t.Errorf("%s %.60s: %s", c.column, c.cell, got.Value("data.0.error"))
			}
		}
		for content, want := range map[string]string{
			`[{"slug":"s"}]`:                 "/domain the field is required",
			`[{"domain":"HOST"}]`:            "/slug the field is required",
			`[{"url":7}]`:                    "/url must be a string",
			`[{"url":"https://HOST/"}]`:      `/url "https://HOST/" has no path that can be a prefix and a slug; url is the address of the link itself, its destination is desktopUrl`,
			`[{"url":"https://HOST/a?b=c"}]`: `/url "https://HOST/a?b=c" has a query or a fragment; the address of a link has neither`,
			`[{"url":"/a/b"}]`:               `/url "/a/b" is not the address of a link, such as https://go.example.com/spring`,
			`[{"url.path":"x://y"}]`:         `/url/path "x://y" is not the address of a link, such as https://go.example.com/spring`,
			`[{"url":"https://HOST/_service"}]`: "/slug the segment _service is reserved for " +
				"the redirector; choose another one",
			`[{"url":"https://other.example/a"}]`: "/domain the domain must be one of this app " +
				"that is ready for links",
			`[{"domain":"HOST","slug":"s","webOnly":"true"}]`:          "/webOnly must be true or false, not a string",
			`[{"domain":"HOST","slug":"s","clientId":"a\u0000\nb"}]`:   `/clientId "a  b" is not 1 to 100 letters, digits, dots, hyphens and underscores`,
			`[{"domain":"HOST","slug":"","clientId":null,"url":null}]`: "/slug must not be empty",
			`[{"domain":"HOST","slug":"s","clientId":1}]`:              "/clientId must be a string",
			`[{"domain":"HOST","slug":"s","utm":{"where":"x"}}]`: "/utm/where the field is unknown; known are " +
				"source, medium, campaign, term, content",
			`[{"domain":"HOST","slug":"s","title":"a\u0000"}]`: "/title the text contains the character NUL",
		} {
			created := upload(owner, "json", strings.ReplaceAll(content, "HOST", owner.Host), nil).Want(201)
			validate(owner, created).Want(200)
			got := items(owner, created).Has("data.0.state", `"invalid"`)
			if said := got.Text("data.0.error.details.0.path") + " " +
				got.Text("data.0.error.details.0.message"); said != strings.ReplaceAll(want, "HOST", owner.Host) ||
				got.Len("data.0.error.details") != 1 {
				t.Errorf("%s: %s", content, got.Value("data.0.error"))
			}
		}
	})
}
