package op_test

import (
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/waymarkhq/waymark/internal/apitest"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/store"
)

type M = apitest.M

// Each step of the order of refusals is met although later ones would refuse
// as well (completions.md §1).
func TestOrderOfRefusals(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		link := owner.Link("a", nil).Want(201)
		path := "/links/" + apitest.Path(link.Text("data.id"))
		reader := owner.Key("links:read")
		noPath := "/links/" + strings.Repeat("x", 501)
		none, weak := apitest.Header("Idempotency-Key", ""), apitest.Header("If-Match", "*")
		large, plain := strings.Repeat("{", 40<<10), apitest.Header("Content-Type", "text/plain")
		stale := apitest.IfMatch("00000000-0000-4000-8000-000000000000")
		nowhere, used := "/links/links.example:none", apitest.Idempotent(apitest.NewKey())
		owner.Call("POST", "/apps", M{"name": "Other"}, used).Want(201)

		i.Client(t, "svc_test_nonsense").Call("PATCH", "/nowhere", "{", none).Refused(fault.NotFound)
		i.Client(t, "svc_test_nonsense").Call("PUT", path, "{", none).Refused(fault.MethodNotAllowed)
		i.Client(t, "svc_test_nonsense").Call("PATCH", path, "{", none).Refused(fault.Unauthenticated)
		reader.Call("PATCH", path, "{", none).Refused(fault.InsufficientPermission)
		reader.Call("PATCH", noPath, "{", none).Refused(fault.InsufficientPermission)
		owner.Call("PATCH", noPath+"?x=1", "{", none).Refused(fault.NotFound)
		owner.Call("PATCH", path+"?x=1", "{", none, weak).Refused(fault.InvalidRequest, "header.Idempotency-Key")
		owner.Call("PATCH", path+"?x=1", "{", weak).Refused(fault.InvalidRequest, "header.If-Match")
		owner.Call("PATCH", path+"?x=1", large, plain).Refused(fault.InvalidRequest, "query.x")
		owner.Call("PATCH", path, large, plain).Refused(fault.PayloadTooLarge)
		owner.Call("PATCH", path, "{", plain).Refused(fault.UnsupportedMediaType)
		owner.Call("PATCH", path, "{").Refused(fault.InvalidRequest)
		owner.Call("PATCH", path, M{"nope": 1}).Refused(fault.ValidationFailed, "/nope")
		owner.Call("PATCH", path, M{"title": "x"}, used).Refused(fault.IdempotencyConflict)
		owner.Call("PATCH", nowhere, M{"title": "x"}).Refused(fault.PreconditionRequired)
		owner.Call("PATCH", nowhere, M{"desktopUrl": "http://x"}, stale).Refused(fault.NotFound)
		owner.Call("PATCH", path, M{"desktopUrl": "http://x"}, stale).Refused(fault.RevisionConflict)
		owner.Call("PATCH", path, M{"desktopUrl": "http://x"}, apitest.IfMatch(link.Revision())).
			Refused(fault.ValidationFailed, "/desktopUrl")
		owner.Call("GET", path, nil).Want(200).Has("data.title", "null")
	})
}

// The permission that a body calls for is asked after the body's own rules and
// before the receipt; a window refuses before what it is to spare: the entry window
// before the permission, that of writes before the app is looked for.
func TestOrderOfRefusalsOfOneCredential(t *testing.T) {
	apitest.EachWith(t, apitest.Options{LimitScale: 0.05}, func(t *testing.T, i *apitest.Installation) {
		key := i.Prepared(t, "ann@example.com").Key("links:update", "tags:create", "exports:create")
		stale := apitest.IfMatch("00000000-0000-4000-8000-000000000000")
		nowhere, title := "/links/links.example:none", M{"title": "x"}
		used := apitest.Idempotent(apitest.NewKey())
		key.Call("POST", "/tags", M{"appId": key.AppID, "name": "t"}, used).Want(201)
		export := M{"appId": key.AppID, "dataset": "links", "format": "csv"}
		key.Call("POST", "/exports", export, used).Refused(fault.InsufficientPermission)
		export["nope"] = 1
		key.Call("POST", "/exports", export, used).Refused(fault.ValidationFailed, "/nope")

		for range 5 { // of 6 writes
			key.Call("PATCH", nowhere, title, stale).Refused(fault.NotFound)
		}
		key.Call("PATCH", nowhere, title).Refused(fault.PreconditionRequired)
		key.Call("PATCH", nowhere, title, stale).Refused(fault.RateLimited)
		for range 50 { // of 60 entries
			key.Call("DELETE", nowhere, nil, stale).Refused(fault.InsufficientPermission)
		}
		key.Call("DELETE", nowhere, nil, stale).Refused(fault.RateLimited)
	})
}

// A body has at most 32,768 bytes, whether or not its length is known before.
func TestSizeOfBodies(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Owner(t, "ann@example.com")
		chunked := func(r *http.Request) { r.ContentLength = -1 }
		for _, with := range [][]apitest.With{nil, {chunked}} {
			body := `{"name":"App"}` + strings.Repeat(" ", 32_768-len(`{"name":"App"}`))
			owner.Call("POST", "/apps", body, with...).Want(201)
			owner.Call("POST", "/apps", body+" ", with...).Refused(fault.PayloadTooLarge)
		}
	})
}

// An upload has at most 1 MiB and 64 KiB, with what follows its parts and whether or not its length is known before. The
// id of its app has at most 500 bytes.
func TestSizeOfUploads(t *testing.T) {
	i := apitest.New(t, "sqlite", apitest.Options{})
	owner := i.Prepared(t, "ann@example.com")
	upload := func(app string, size int, with apitest.With) *apitest.Response {
		body := "--b\r\nContent-Disposition: form-data; name=\"appId\"\r\n\r\n" + app +
			"\r\n--b\r\nContent-Disposition: form-data; name=\"file\"\r\nContent-Type: image/png\r\n\r\n" +
			string(apitest.Picture(t)) + "\r\n--b--\r\n"
		return owner.Call("POST", "/assets", body+strings.Repeat("x", size-len(body)),
			apitest.Header("Content-Type", "multipart/form-data; boundary=b"), with)
	}
	const most = 1<<20 + 64<<10
	for _, with := range []apitest.With{func(*http.Request) {}, func(r *http.Request) { r.ContentLength = -1 }} {
		upload(owner.AppID, most, with).Want(201)
		upload(owner.AppID, most+1, with).Refused(fault.PayloadTooLarge)
		upload(strings.Repeat("x", 500), most, with).Refused(fault.NotFound)
		upload(strings.Repeat("x", 501), most, with).Refused(fault.ValidationFailed, "/appId")
	}
}

// An upload that the disk does not take is answered as a part of the service that is unavailable. The log alone says
// why, and the same key works later.
func TestUploadThatIsNotStored(t *testing.T) {
	var log apitest.Journal
	apitest.EachWith(t, apitest.Options{Log: &log}, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		key := apitest.Idempotent(apitest.NewKey())
		if err := os.Rename(i.DataDir, i.DataDir+"-away"); err != nil {
			t.Fatal(err)
		}
		r := owner.Upload("image/png", apitest.Picture(t), key).Refused(fault.Unavailable)
		if r.Header.Get("Retry-After") != "5" || strings.Contains(string(r.Body), i.DataDir) {
			t.Errorf("%v %s", r.Header, r.Body)
		}
		if lines := log.String(); !strings.Contains(lines, "call failed") || !strings.Contains(lines, i.DataDir) {
			t.Errorf("the log does not say why: %s", lines)
		}
		if err := os.Rename(i.DataDir+"-away", i.DataDir); err != nil {
			t.Fatal(err)
		}
		if n := owner.Call("GET", "/assets?appId="+owner.AppID, nil).Want(200).Len("data"); n != 0 {
			t.Errorf("%d assets", n)
		}
		if r := owner.Upload("image/png", apitest.Picture(t), key).Want(201); r.Header.Get("Idempotency-Replayed") != "" {
			t.Error("a refused upload left a receipt")
		}
	})
}

// The log names the operation of a call that fails and the ids in its path, and nothing of its query.
func TestFailedCallIsNamed(t *testing.T) {
	var log apitest.Journal
	apitest.EachWith(t, apitest.Options{Log: &log}, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		id := owner.Call("GET", "/domains?appId="+owner.AppID, nil).Want(200).Text("data.0.id")
		began := len(log.String())
		broken := func(r *http.Request) {
			*r = *r.WithContext(store.WithFaults(r.Context(), func(query string) error {
				if strings.Contains(query, "FROM domain") {
					return errors.New("the disk failed")
				}
				return nil
			}))
		}
		owner.Call("GET", "/domains/"+id, nil, broken).Refused(fault.Internal)
		owner.Call("GET", "/domains?limit=7&appId="+owner.AppID, nil, broken).Refused(fault.Internal)
		lines := log.String()[began:]
		for _, want := range []string{"getDomainsDomainId(" + id + "): ", "getDomains(): ", "the disk failed"} {
			if !strings.Contains(lines, want) {
				t.Errorf("the log lacks %q: %s", want, lines)
			}
		}
		if strings.Contains(lines, "limit=7") {
			t.Errorf("the log has a query: %s", lines)
		}
	})
}

// An upload that comes in too slowly is told apart from one that is cut off, whichever part of it was the last.
func TestUploadThatDoesNotComeIn(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		for part, bytes := range map[string]int64{"nothing": 0, "header": 100, "appId": 112, "half of appId": 130, "file": 300,
			"the last boundary": 1 << 20} {
			for want, err := range map[string]error{"The body came in too slowly": os.ErrDeadlineExceeded,
				"The body is not valid multipart": io.ErrUnexpectedEOF} {
				r := owner.Upload("image/png", apitest.Picture(t), func(r *http.Request) {
					r.Body = io.NopCloser(io.MultiReader(io.LimitReader(r.Body, bytes), iotest.ErrReader(err)))
				}).Refused(fault.InvalidRequest)
				if message := r.Text("error.message"); !strings.HasPrefix(message, want) {
					t.Errorf("%v after %s: %s", err, part, message)
				}
			}
		}
		if n := owner.Call("GET", "/assets?appId="+owner.AppID, nil).Want(200).Len("data"); n != 0 {
			t.Errorf("%d assets", n)
		}
	})
}

// A transaction that lost each of its races is answered as a part of the service
// that is unavailable, and leaves nothing: the same key works later.
func TestLostRaces(t *testing.T) {
	i := apitest.New(t, "postgres", apitest.Options{})
	owner := i.Owner(t, "ann@example.com")
	execute := func(statement string) {
		t.Helper()
		if _, err := i.DB.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	execute(`CREATE FUNCTION lose() RETURNS trigger LANGUAGE plpgsql AS
		$$ BEGIN RAISE EXCEPTION 'lost' USING ERRCODE = 'serialization_failure'; END $$`)
	execute("CREATE TRIGGER lose BEFORE INSERT ON app EXECUTE FUNCTION lose()")
	key := apitest.Idempotent(apitest.NewKey())
	r := owner.Call("POST", "/apps", M{"name": "App"}, key).Refused(fault.Unavailable)
	if after := r.Header.Get("Retry-After"); after != "5" || i.DB.Retries() != 29 {
		t.Errorf("Retry-After %q after %d retries, want 5 after 29", after, i.DB.Retries())
	}
	execute("DROP TRIGGER lose ON app")
	if r := owner.Call("POST", "/apps", M{"name": "App"}, key).Want(201); r.Header.Get("Idempotency-Replayed") != "" {
		t.Error("a refused call left a receipt")
	}
	owner.Call("GET", "/apps", nil).Want(200).Has("data.1", "")
}

func TestBadRequests(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		link := owner.Link("a", nil).Want(201)
		path := "/links/" + apitest.Path(link.Text("data.id"))
		ok := apitest.IfMatch(link.Revision())
		for _, c := range []struct {
			name string
			body string
			code fault.Code
			path string
		}{
			{"empty body", ``, fault.InvalidRequest, ""},
			{"array", `[]`, fault.ValidationFailed, ""},
			{"null", `null`, fault.ValidationFailed, ""},
			{"trailing data", `{} x`, fault.InvalidRequest, ""},
			{"duplicate member", `{"title":"a","title":"b"}`, fault.InvalidRequest, ""},
			{"NUL", `{"title":"a\u0000"}`, fault.ValidationFailed, "/title"},
			{"letter case", `{"Title":"a"}`, fault.ValidationFailed, "/Title"},
			{"wrong type", `{"webOnly":"true"}`, fault.ValidationFailed, "/webOnly"},
			{"null for a plain field", `{"webOnly":null}`, fault.ValidationFailed, "/webOnly"},
			{"null for an object", `{"lifecycle":null}`, fault.ValidationFailed, "/lifecycle"},
			{"null inside", `{"lifecycle":{"archived":null}}`, fault.ValidationFailed, "/lifecycle/archived"},
			{"unknown inside", `{"utm":{"sauce":"x"}}`, fault.ValidationFailed, "/utm/sauce"},
			{"too long", `{"title":"` + strings.Repeat("é", 201) + `"}`, fault.ValidationFailed, "/title"},
			{"enumeration", `{"behavior":"eager"}`, fault.ValidationFailed, "/behavior"},
			{"identity", `{"slug":"b"}`, fault.ValidationFailed, "/slug"},
			{"fraction", `{"lifecycle":{"maxClicks":1.5}}`, fault.ValidationFailed, "/lifecycle/maxClicks"},
			{"huge integer", `{"lifecycle":{"maxClicks":1e30}}`, fault.ValidationFailed, "/lifecycle/maxClicks"},
			{"time", `{"lifecycle":{"startsAt":"tomorrow"}}`, fault.ValidationFailed, "/lifecycle/startsAt"},
			{"year", `{"lifecycle":{"startsAt":"0001-01-01T00:00:00Z"}}`, fault.ValidationFailed,
				"/lifecycle/startsAt"},
			{"depth", `{"parameters":{"a":` + strings.Repeat("[", 40) + strings.Repeat("]", 40) + `}}`,
				fault.InvalidRequest, ""},
		} {
			r := owner.Call("PATCH", path, c.body, ok).Refused(c.code)
			if c.path != "" {
				r.Refused(c.code, c.path)
			}
			if t.Failed() {
				t.Fatalf("at %s", c.name)
			}
		}
		for _, query := range []string{"limit=0", "limit=101", "limit=x", "limit=", "limit=1&limit=2", "cursor=x",
			"unknown=1", "state=odd", "archived=yes",
			"createdFrom=2026-11-20", "order=title", "q=%00", "q=%ff", "q=%zz", "group="} {
			owner.Call("GET", "/links?appId="+owner.AppID+"&"+query, nil).Refused(fault.InvalidRequest)
		}
		owner.Call("GET", "/links", nil).Refused(fault.InvalidRequest, "query.appId")
		for _, match := range []string{`W/"` + link.Revision() + `"`, "*", link.Revision(), `"x"`,
			`"` + link.Revision() + `", "` + link.Revision() + `"`} {
			owner.Call("PATCH", path, M{"title": "x"}, apitest.Header("If-Match", match)).
				Refused(fault.InvalidRequest, "header.If-Match")
		}
		for _, key := range []string{"", "x", "01926d2c-7b1a-7c11-9d52-0a6f6e1b2c3d"} {
			owner.Call("PATCH", path, M{"title": "x"}, ok, apitest.Idempotent(key)).
				Refused(fault.InvalidRequest, "header.Idempotency-Key")
		}
		owner.Call("PATCH", path, M{"title": "x"}, ok, apitest.Header("Content-Encoding", "gzip")).
			Refused(fault.UnsupportedMediaType)
		owner.Call("PATCH", path, M{"title": "x"}, ok, apitest.Header("Content-Type",
			"application/json; charset=latin1")).Refused(fault.UnsupportedMediaType)
		owner.Call("DELETE", path, "{}", ok).Refused(fault.InvalidRequest)
		// Nothing of all this changed anything.
		owner.Call("GET", path, nil).Want(200).Has("data.revision", `"`+link.Revision()+`"`)
		if n := owner.Call("GET", "/audit-events?resourceId="+apitest.Path(link.Text("data.id")), nil).Want(200).
			Len("data"); n != 1 {
			t.Errorf("%d audit events, want that of the creation", n)
		}
	})
}

func TestRoutesAndMethods(t *testing.T) {
	i := apitest.New(t, "sqlite", apitest.Options{CORSOrigins: []string{"https://console.example"}})
	owner := i.Prepared(t, "ann@example.com")
	anonymous := i.Client(t, "")
	for _, path := range []string{"/v1", "/v1/", "/v1/me/", "/v1//me", "//v1/me", "/v1/../v1/me", "/v1/./me",
		"/v1/me%00", "/v1/%ff", "/v2/me", "/", "/V1/me", "/v1/me%2f"} {
		anonymous.Call("GET", path, nil).Refused(fault.NotFound)
	}
	for method, allow := range map[string]string{"POST": "GET, HEAD, PATCH", "DELETE": "GET, HEAD, PATCH",
		"OPTIONS": "GET, HEAD, PATCH", "TRACE": "GET, HEAD, PATCH"} {
		r := anonymous.Call(method, "/me", nil, apitest.Header("X-HTTP-Method-Override", "GET")).
			Refused(fault.MethodNotAllowed)
		if got := r.Header.Get("Allow"); got != allow {
			t.Errorf("%s: Allow %q, want %q", method, got, allow)
		}
	}
	get := owner.Call("GET", "/me", nil).Want(200)
	head := owner.Call("HEAD", "/me", nil).Want(200)
	if head.Header.Get("ETag") != get.Header.Get("ETag") ||
		head.Header.Get("Content-Length") != get.Header.Get("Content-Length") {
		t.Errorf("HEAD has other headers than GET: %v, %v", head.Header, get.Header)
	}
	r := anonymous.Call("GET", "/me", nil).Refused(fault.Unauthenticated)
	if r.Header.Get("WWW-Authenticate") != "Bearer" ||
		r.Text("error.documentationUrl") != "https://api.example/docs/api/errors/#unauthenticated" {
		t.Errorf("401: %v %s", r.Header, r.Body)
	}

	from := func(origin string) apitest.With { return apitest.Header("Origin", origin) }
	preflight := apitest.Header("Access-Control-Request-Method", "PATCH")
	allowed := anonymous.Call("OPTIONS", "/me", nil, from("https://console.example"), preflight).Want(204)
	if got := allowed.Header.Get("Access-Control-Allow-Methods"); got != "GET, HEAD, PATCH" {
		t.Errorf("preflight allows %q", got)
	}
	anonymous.Call("OPTIONS", "/me", nil, from("https://evil.example"), preflight).Refused(fault.MethodNotAllowed)
	for origin, want := range map[string]string{"https://console.example": "https://console.example",
		"https://evil.example": "", "null": ""} {
		if got := owner.Call("GET", "/me", nil, from(origin)).
			Want(200).Header.Get("Access-Control-Allow-Origin"); got != want {
			t.Errorf("origin %s is allowed as %q", origin, got)
		}
	}
}

// What only looks like a path or a number in the client's own words.
func TestOddWords(t *testing.T) {
	i := apitest.New(t, "sqlite", apitest.Options{})
	owner := i.Prepared(t, "ann@example.com")
	owner.Call("GET", "/me?%ff=1", nil).Refused(fault.InvalidRequest)
	owner.Call("POST", "/apps", M{"name": "x", "a.b[0]/~": 1}).Refused(fault.ValidationFailed, "/a.b[0]~1~0")
	owner.Call("POST", "/apps", M{"name": "x", "": 1}).Refused(fault.ValidationFailed, "/")
	owner.Call("POST", "/apps", M{"name": "x"}, apitest.Header("If-Match", `W/"x"`)).
		Refused(fault.InvalidRequest, "header.If-Match")
	// An id has at most 500 bytes; what is longer is none, whatever else is wrong.
	longest := "/apps/" + strings.Repeat("x", 500)
	owner.Call("GET", longest+"?x=1", nil).Refused(fault.InvalidRequest, "query.x")
	owner.Call("GET", longest+"x?x=1", nil).Refused(fault.NotFound)
	link := owner.Link("big", M{"parameters": M{}}).Want(201)
	big := owner.Call("PATCH", "/links/"+apitest.Path(link.Text("data.id")),
		`{"parameters":{"n":12345678901234567890123.450}}`, apitest.IfMatch(link.Revision())).Want(200)
	big.Has("data.parameters.n", "12345678901234567890123.450")
	// One resource, however its id is escaped: one intent.
	key := apitest.Idempotent(apitest.NewKey())
	id := link.Text("data.id")
	owner.Call("PATCH", "/links/"+id, M{"title": "x"}, apitest.IfMatch(big.Revision()), key).Want(200)
	owner.Call("PATCH", "/links/"+strings.ReplaceAll(id, ":", "%3a"), M{"title": "x"}, apitest.IfMatch(big.Revision()),
		key).Want(200)
}
