package op_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/waymarkhq/waymark/internal/apitest"
	"github.com/waymarkhq/waymark/internal/fault"
)

// add sends a header once more.
func add(name, value string) apitest.With {
	return func(r *http.Request) { r.Header.Add(name, value) }
}

// An absent header is told apart from a malformed one, and a repeated one from
// both.
func TestHeaders(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		link := owner.Link("a", nil).Want(201)
		path := "/links/" + apitest.Path(link.Text("data.id"))
		says := func(r *apitest.Response, code fault.Code, path string, reason fault.Reason) {
			t.Helper()
			r.Refused(code, path)
			if got := r.Text("error.details.0.code"); got != string(reason) {
				t.Errorf("the reason is %q, want %q: %s", got, reason, r.Body)
			}
		}
		const key, match = "header.Idempotency-Key", "header.If-Match"
		says(owner.Call("POST", "/tags", M{}, apitest.Idempotent("")), fault.InvalidRequest, key, fault.ReasonRequired)
		says(owner.Call("POST", "/tags", M{}, apitest.Idempotent("1")), fault.InvalidRequest, key,
			fault.ReasonInvalidFormat)
		says(owner.Call("POST", "/tags", M{}, apitest.Idempotent(uuid.Must(uuid.NewV7()).String())),
			fault.InvalidRequest, key, fault.ReasonInvalidFormat)
		says(owner.Call("POST", "/tags", M{}, add("Idempotency-Key", apitest.NewKey())), fault.InvalidRequest, key,
			fault.ReasonRepeated)
		says(owner.Call("POST", "/tags", M{}, add("Content-Type", "application/json")), fault.InvalidRequest,
			"header.Content-Type", fault.ReasonRepeated)
		says(owner.Upload("image/png", apitest.Picture(t), add("Content-Type", "multipart/form-data; boundary=x")),
			fault.InvalidRequest, "header.Content-Type", fault.ReasonRepeated)
		says(owner.Call("POST", "/tags", M{}, add("Content-Encoding", ""), add("Content-Encoding", "gzip")),
			fault.InvalidRequest, "header.Content-Encoding", fault.ReasonRepeated)
		for _, weak := range []string{"*", `W/"` + link.Revision() + `"`, link.Revision(),
			`"` + link.Revision() + `", "` + link.Revision() + `"`} {
			says(owner.Call("PATCH", path, M{"title": "x"}, apitest.Header("If-Match", weak)), fault.InvalidRequest,
				match, fault.ReasonInvalidFormat)
		}
		says(owner.Call("PATCH", path, M{"title": "x"}, add("If-Match", `"`+link.Revision()+`"`),
			add("If-Match", `"`+link.Revision()+`"`)), fault.InvalidRequest, match, fault.ReasonRepeated)

		changed := owner.Call("PATCH", path, M{"title": "x"}, apitest.IfMatch(strings.ToUpper(link.Revision()))).
			Want(200)
		owner.Call("DELETE", path, nil, apitest.IfMatch(strings.ToUpper(changed.Revision())),
			apitest.Header("Content-Encoding", "gzip")).Refused(fault.UnsupportedMediaType)
		owner.Call("DELETE", path, nil, apitest.IfMatch(strings.ToUpper(changed.Revision()))).Want(204)
	})
}

// One detail is the message; of several the first is, with how many more there
// are.
func TestMessagesSayWhatWasWrong(t *testing.T) {
	i := apitest.New(t, "sqlite", apitest.Options{})
	owner := i.Prepared(t, "ann@example.com")
	for _, c := range []struct {
		method, path string
		body         any
		message      string
	}{
		{"POST", "/tags", M{"appId": owner.AppID}, "/name: the field is required."},
		{"POST", "/tags", M{}, "/appId: the field is required (and 1 more)."},
		{"POST", "/tags", M{"colour": 1}, "/appId: the field is required (and 2 more)."},
		{"POST", "/tags", M{"appId": owner.AppID, "name": "a", "archive": true},
			"/archive: the field is unknown; did you mean archived?"},
		{"POST", "/links", M{"appId": owner.AppID, "domain": owner.Host, "slug": "a", "url": "https://example.com/"},
			"/url: the field is unknown; did you mean desktopUrl?"},
		{"POST", "/tags", `[]`, "The body: must be an object, not an array."},
		{"GET", "/tags?appId=" + owner.AppID + "&limt=3", nil,
			"query.limt: the parameter is unknown; did you mean limit?"},
		{"GET", "/tags", nil, "query.appId: the parameter is required."},
		{"POST", "/tags", "", "The body is empty: send a JSON object."},
		{"POST", "/api-keys", M{"name": "k", "appIds": []string{owner.AppID}, "permissions": []string{"links:raed"}},
			"/permissions/0: API keys cannot hold a permission links:raed; did you mean links:read?"},
		{"GET", "/tags?appId=" + owner.AppID + "&limit=101", nil, "query.limit: must be from 1 to 100."},
		{"GET", "/tags?appId=" + owner.AppID + "&limit=", nil, "query.limit: must be a whole number."},
		{"GET", "/tags?appId=" + owner.AppID + "&q=", nil, "query.q: must not be empty; leave the parameter out " +
			"instead."},
		{"POST", "/tags", M{strings.Repeat("x", 30000): 1}, "/appId: the field is required (and 2 more)."},
	} {
		r := owner.Call(c.method, c.path, c.body)
		if got := r.Text("error.message"); r.Status < 400 || got != c.message {
			t.Errorf("%s %s: %d %.300q, want %q", c.method, c.path, r.Status, got, c.message)
		}
	}
}

// Whole numbers and instants may be written in each of their spellings, and one
// that is none is refused.
func TestSpellings(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		for n, c := range []struct{ lifecycle, shown string }{
			{`"maxClicks":100`, `100`}, {`"maxClicks":100.0`, `100`}, {`"maxClicks":1e2`, `100`},
			{`"maxClicks":10.0E1`, `100`}, {`"maxClicks":null`, `null`},
			{`"maxClicks":100.5`, ``}, {`"maxClicks":0.0`, ``}, {`"maxClicks":1e10`, ``}, {`"maxClicks":"100"`, ``},
		} {
			body := `{"appId":"` + owner.AppID + `","domain":"` + owner.Host + `","slug":"n` + strconv.Itoa(n) +
				`","desktopUrl":"https://example.com/","lifecycle":{` + c.lifecycle + `}}`
			if r := owner.Call("POST", "/links", body); c.shown == "" {
				r.Refused(fault.ValidationFailed, "/lifecycle/maxClicks")
			} else {
				r.Want(201).Has("data.lifecycle.maxClicks", c.shown)
			}
		}
		for sent, shown := range map[string]string{
			"2026-11-20t12:00:00z":            `"2026-11-20T12:00:00.000Z"`,
			"2026-11-20T13:00:00.5+01:00":     `"2026-11-20T12:00:00.500Z"`,
			"2026-11-20T12:00:00.123456789Z":  `"2026-11-20T12:00:00.123456Z"`,
			"2026-12-31T23:59:60Z":            `"2026-12-31T23:59:59.999999Z"`,
			"2026-11-20T12:00:00":             ``,
			"2026-11-20T12:00:00.1234567890Z": ``,
			"20 November 2026":                ``,
		} {
			r := owner.Link("i"+regexp.MustCompile(`\W`).ReplaceAllString(sent, ""),
				M{"lifecycle": M{"startsAt": sent}})
			if shown == "" {
				r.Refused(fault.ValidationFailed, "/lifecycle/startsAt")
				continue
			}
			r.Want(201).Has("data.lifecycle.startsAt", shown)
			owner.Call("GET", "/links/"+apitest.Path(r.Text("data.id")), nil).Want(200).
				Has("data.lifecycle.startsAt", shown)
		}
	})
}

// Locations hold ids as paths need them, and bytes have a UUID for their tag.
func TestLocationAndTagOfBytes(t *testing.T) {
	i := apitest.New(t, "sqlite", apitest.Options{})
	owner := i.Prepared(t, "ann@example.com")
	link := owner.Link("a", nil).Want(201)
	id := link.Text("data.id")
	if got, want := link.Header.Get("Location"), "/v1/links/"+url.QueryEscape(id); got != want ||
		!strings.Contains(got, "%3A") {
		t.Errorf("Location is %s, want %s", got, want)
	}
	owner.Call("GET", link.Header.Get("Location"), nil).Want(200).Has("data.id", `"`+id+`"`)
	qr := "/links/" + apitest.Path(id) + "/qr?format="
	tags := map[string]bool{}
	for _, format := range []string{"svg", "png", "svg"} {
		tag := owner.Call("GET", qr+format, nil).Want(200).Header.Get("ETag")
		if u, err := uuid.Parse(strings.Trim(tag, `"`)); err != nil || u.Version() != 8 || u.Variant() != uuid.RFC4122 {
			t.Errorf("the tag of bytes is %s", tag)
		}
		tags[tag] = true
	}
	if len(tags) != 2 {
		t.Errorf("tags %v of two files", tags)
	}
}

// Only calls without a valid credential count for their address.
func TestRefusedCallsWithACredentialDoNotCountForTheAddress(t *testing.T) {
	i := apitest.New(t, "sqlite", apitest.Options{})
	owner := i.Prepared(t, "ann@example.com")
	remaining := func() string {
		r := i.Client(t, "nonsense").Call("GET", "/me", nil).Want(401)
		return r.Header.Get("X-RateLimit-Remaining")
	}
	before, err := strconv.Atoi(remaining())
	if err != nil {
		t.Fatal(err)
	}
	for range 5 {
		owner.Call("GET", "/links/none", nil).Refused(fault.NotFound)
		owner.Call("POST", "/tags", "{").Refused(fault.InvalidRequest)
		owner.Call("POST", "/tags", M{}).Refused(fault.ValidationFailed)
	}
	if after, _ := strconv.Atoi(remaining()); after != before-1 {
		t.Errorf("the address had %d calls left, then %d", before, after)
	}
}

// Names and titles are one line in their stored form, whatever operation takes
// them; longer texts keep their lines (completions.md §11, Text).
func TestTextsOfEveryOperation(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		link := owner.Link("a", nil).Want(201)
		linkPath := "/links/" + apitest.Path(link.Text("data.id"))
		app := owner.Call("GET", "/apps/"+owner.AppID, nil).Want(200)
		me := owner.Call("GET", "/me", nil).Want(200)
		with := func(name string, value any, more M) M {
			body := M{"appId": owner.AppID, name: value}
			for name, value := range more {
				body[name] = value
			}
			return body
		}
		for n, c := range []struct {
			method, path, member, shown string
			longest                     int
			nullable                    bool
			body                        func(value any) M
			match                       *apitest.Response
		}{
			{"POST", "/tags", "name", "data.name", 100, false, func(v any) M { return with("name", v, nil) }, nil},
			{"POST", "/folders", "name", "data.name", 100, false, func(v any) M { return with("name", v, nil) }, nil},
			{"POST", "/campaigns", "name", "data.name", 100, false, func(v any) M { return with("name", v, nil) }, nil},
			{"POST", "/qr-codes", "name", "data.name", 100, false,
				func(v any) M { return with("name", v, M{"linkId": link.Text("data.id")}) }, nil},
			{"POST", "/apps", "name", "data.name", 100, false, func(v any) M { return M{"name": v} }, nil},
			{"PATCH", "/apps/" + owner.AppID, "name", "data.name", 100, false, func(v any) M { return M{"name": v} },
				app},
			{"POST", "/api-keys", "name", "data.key.name", 100, false, func(v any) M {
				return M{"name": v, "appIds": []string{owner.AppID}, "permissions": []string{"links:read"}}
			}, nil},
			{"PATCH", "/me", "displayName", "data.displayName", 100, false,
				func(v any) M { return M{"displayName": v} }, me},
			{"PATCH", linkPath, "title", "data.title", 200, true, func(v any) M { return M{"title": v} }, link},
			{"PATCH", linkPath, "utm/source", "data.utm.source", 255, true,
				func(v any) M { return M{"utm": M{"source": v}} }, link},
		} {
			revision := ""
			call := func(v any) *apitest.Response {
				if c.match == nil {
					return owner.Call(c.method, c.path, c.body(v))
				}
				if revision == "" {
					revision = owner.Call("GET", c.path, nil).Want(200).Revision()
				}
				r := owner.Call(c.method, c.path, c.body(v), apitest.IfMatch(revision))
				if r.Status == 200 {
					revision = r.Revision()
				}
				return r
			}
			accepted := func(v, shown any) {
				t.Helper()
				if r := call(v); r.Status >= 300 || r.Text(c.shown) != shown {
					t.Errorf("%s %s %s = %q is answered %d %q, want %q: %.200s", c.method, c.path, c.member, v,
						r.Status, r.Text(c.shown), shown, r.Body)
				}
			}
			long := strings.Repeat("é", c.longest-2) + strconv.Itoa(10+n)
			accepted(" \t\n spring\r\n sale "+strconv.Itoa(n), "spring sale "+strconv.Itoa(n))
			accepted(long, long)
			accepted("  "+long[:len(long)-1]+"x  ", long[:len(long)-1]+"x")
			for _, bad := range []any{"", " ", "\u200b", "\ufeff\u2060", "bell\a", "\x7f", "over\u202eride",
				long + "x"} {
				call(bad).Refused(fault.ValidationFailed, "/"+c.member)
			}
			if r := call(nil); c.nullable != (r.Status == 200) {
				t.Errorf("%s %s %s = null is answered %d", c.method, c.path, c.member, r.Status)
			}
		}
		for _, path := range []string{"/tags", "/folders", "/campaigns"} {
			text := " two\r\n\tlines "
			owner.Call("POST", path, M{"appId": owner.AppID, "name": "described", "description": text}).Want(201).
				Has("data.description", `" two\r\n\tlines "`)
			owner.Call("POST", path, M{"appId": owner.AppID, "name": "described", "description": "bell\a"}).
				Refused(fault.ValidationFailed, "/description")
			owner.Call("POST", path, M{"appId": owner.AppID, "name": "described", "description": "\u202e"}).
				Refused(fault.ValidationFailed, "/description")
		}
		owner.Call("POST", "/links", M{"appId": owner.AppID, "domain": owner.Host, "slug": "b\a"}).
			Refused(fault.ValidationFailed, "/slug")
	})
}
