package imports_test

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/waymarkhq/waymark/internal/apitest"
	"github.com/waymarkhq/waymark/internal/csvtable"
	"github.com/waymarkhq/waymark/internal/csvtable/csvtest"
	"github.com/waymarkhq/waymark/internal/fault"
)

type M = apitest.M

func upload(c *apitest.Client, format, content string, mapping M) *apitest.Response {
	body := M{"appId": c.AppID, "format": format, "content": content}
	if mapping != nil {
		body["mapping"] = mapping
	}
	return c.Call("POST", "/imports", body)
}

func path(r *apitest.Response) string { return "/imports/" + r.Text("data.id") }

func validate(c *apitest.Client, of *apitest.Response) *apitest.Response {
	return c.Call("POST", path(of)+"/validate", M{})
}

func commit(c *apitest.Client, of *apitest.Response) *apitest.Response {
	return c.Call("POST", path(of)+"/commit", M{}, apitest.IfMatch(of.Text("data.revision")))
}

func items(c *apitest.Client, of *apitest.Response) *apitest.Response {
	return c.Call("GET", path(of)+"/items", nil).Want(200)
}

func count(r *apitest.Response, at string) int {
	n, _ := strconv.Atoi(r.Value(at))
	return n
}

func texts(row []csvtable.Cell) []string {
	all := make([]string, len(row))
	for n, cell := range row {
		all[n] = cell.Text
	}
	return all
}

func setDefaultDomain(c *apitest.Client) {
	app := c.Call("GET", "/apps/"+c.AppID, nil).Want(200)
	c.Call("PATCH", "/apps/"+c.AppID, M{"defaultDomain": c.Host}, apitest.IfMatch(app.Revision())).Want(200)
}

// An import from its upload to its report.
func TestImport(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		owner.Link("taken", nil).Want(201)
		content := "\ufeffclientId,domain,prefix,slug,desktopUrl,title,utm.source,lifecycle.maxClicks,lifecycle.archived,webOnly,parameters,behavior\r\n" +
			"one,HOST,a/b,full,https://example.com/1,'=Sum,mail,5,true,true,\"{\"\"n\"\":1.0,\"\"o\"\":{}}\",inteligente\r\n" +
			",HOST,,plain,,,,,,,,\r\n" +
			"three,HOST,,taken,,,,,,,,\r\n" +
			"four,HOST,,plain,,,,,,,,\r\n" +
			"one,HOST,,again,,,,,,sim,,\r\n"
		created := upload(owner, "csv", strings.ReplaceAll(content, "HOST", owner.Host), nil).Want(201).
			Has("data.kind", `"import"`).
			Has("data.state", `"uploaded"`).Has("data.operationId", "null").Has("data.total", "5").
			Has("data.downloadUrl", "null")
		if created.Header.Get("Location") != "/v1"+path(created) {
			t.Errorf("Location %q", created.Header.Get("Location"))
		}
		owner.Call("GET", path(created), nil).Want(200).Has("data.revision", `"`+created.Revision()+`"`)
		items(owner, created).Has("data.0.state", `"pending"`).Has("data.0.error", "null").
			Has("data.1.clientId", `"row-2"`).Has("data.4.ordinal", "5").
			Has("data.0.input",
				`{"appStoreUrl":null,"behavior":"intelligent","desktopUrl":"https://example.com/1","domain":"`+
					owner.Host+
					`","lifecycle":{"archived":true,"maxClicks":5},"parameters":{"n":1.0,"o":{}},"playStoreUrl":null,"prefix":"a/b","slug":"full","title":"=Sum","utm":{"source":"mail"},"webOnly":true}`)
		commit(owner, created).Refused(fault.ResourceConflict)

		validated := validate(owner, created).Want(200).Has("data.state", `"validated"`).
			Has("data.operationId", "null").
			Has("data.total", "5").Has("data.valid", "2").Has("data.invalid", "3").Has("data.failed", "0")
		owner.Call("GET", path(created), nil).Want(200).Has("data.invalid", "3").Has("data.valid", "")
		if validated.Revision() == created.Revision() {
			t.Error("the validation gave no new revision")
		}
		got := items(owner, created)
		for n, want := range []string{"", "", "/slug taken", "/slug duplicate",
			"/webOnly wrong_type, /clientId duplicate"} {
			at := fmt.Sprintf("data.%d.", n)
			if want == "" {
				got.Has(at+"state", `"valid"`).Has(at+"error", "null")
				continue
			}
			got.Has(at+"state", `"invalid"`).Has(at+"result", "null").Has(at+"error.code", `"validation_failed"`)
			var said []string
			for d := range got.Len(at + "error.details") {
				at := fmt.Sprintf("%serror.details.%d.", at, d)
				said = append(said, got.Text(at+"path")+" "+got.Text(at+"code"))
			}
			if strings.Join(said, ", ") != want {
				t.Errorf("item %d: %q, want %q", n, said, want)
			}
		}
		if n := owner.Call("GET", "/links?appId="+owner.AppID, nil).Want(200).Len("data"); n != 1 {
			t.Errorf("the validation left %d links", n)
		}

		owner.Call("POST", path(created)+"/commit", M{}).Refused(fault.PreconditionRequired)
		commit(owner, created).Refused(fault.RevisionConflict)
		accepted := commit(owner, validated).Want(202).Has("data.state", `"queued"`)
		location := accepted.Header.Get("Location")
		if location != "/v1/operations/"+accepted.Text("data.operationId") || accepted.Header.Get("Retry-After") == "" {
			t.Errorf("headers %v", accepted.Header)
		}
		validate(owner, created).Refused(fault.ResourceConflict)
		commit(owner, accepted).Refused(fault.ResourceConflict)
		i.Settle(t)

		owner.Call("GET", location, nil).Want(200).Has("data.status", `"partially_succeeded"`).
			Has("data.type", `"import"`).
			Has("data.result.succeeded", "2").Has("data.result.failed", "0").Has("data.result.invalid", "3")
		owner.Call("GET", path(created), nil).Want(200).Has("data.state", `"partially_succeeded"`).
			Has("data.succeeded", "2").Has("data.failed", "0").Has("data.invalid", "3").Has("data.total", "5")
		got = items(owner, created).Has("data.0.state", `"succeeded"`).Has("data.1.state", `"succeeded"`).
			Has("data.2.state", `"invalid"`)
		link := owner.Call("GET", "/links/"+apitest.Path(got.Text("data.0.result.linkId")), nil).Want(200).
			Has("data.url", `"https://`+owner.Host+`/a/b/full"`).
			Has("data.title", `"=Sum"`).Has("data.behavior", `"intelligent"`).Has("data.webOnly", "true").
			Has("data.parameters", `{"n":1.0,"o":{}}`).
			Has("data.lifecycle.maxClicks", "5").Has("data.state", `"archived"`).Has("data.utm.source", `"mail"`).
			Has("data.origin", `"api"`).Has("data.publication.status", `"synced"`)
		if link.Revision() != got.Text("data.0.result.revision") {
			t.Error("the result has another revision than the link")
		}
		owner.Call("GET", "/links/"+apitest.Path(link.Text("data.id"))+"/history", nil).Want(200).
			Has("data.0.action", `"created"`)
		audit := owner.Call("GET", "/audit-events?operation=createLinks&resourceId="+
			url.QueryEscape(link.Text("data.id")), nil).Want(200).
			Has("data.0.correlationId", `"`+accepted.Text("meta.requestId")+`"`).
			Has("data.0.revision", `"`+link.Revision()+`"`)
		if n := audit.Len("data"); n != 1 {
			t.Errorf("%d audit events of the link's creation, want 1", n)
		}
		owner.Call("GET", "/audit-events?operation=commitImportsImportId", nil).Want(200).
			Has("data.0.correlationId", `"`+accepted.Text("meta.requestId")+`"`).
			Has("data.0.resource.id", `"`+created.Text("data.id")+`"`)

		file := owner.Call("GET", path(created)+"/items?format=csv", nil).Want(200)
		if file.Header.Get("Content-Type") != "text/csv; charset=utf-8" ||
			!strings.HasPrefix(file.Header.Get("Content-Disposition"), "attachment") {
			t.Errorf("headers %v", file.Header)
		}
		csvtest.NoFormula(t, string(file.Body))
		header, rows, err := csvtable.Read(string(file.Body), 50)
		if err != nil || strings.Join(header, ",") != "clientId,ordinal,state,linkId,revision,errorCode,errorMessage" ||
			len(rows) != 5 {
			t.Fatalf("%v %v %v", header, rows, err)
		}
		if row := texts(rows[0]); row[0] != "one" || row[2] != "succeeded" || row[3] != link.Text("data.id") ||
			row[4] != link.Revision() || row[5]+row[6] != "" {
			t.Errorf("%q", row)
		}
		if row := texts(rows[4]); row[1] != "5" || row[2] != "invalid" || row[5] != "validation_failed" ||
			row[6] != `webOnly: "sim" is neither true, false nor empty; clientId: item 1 of this import has the clientId one too; give each item its own` {
			t.Errorf("%q", row)
		}
	})
}

// Validation can be repeated, reserves nothing and sees the app as it is;
// execution sees it again.
func TestCollisions(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		all := "domain,slug\n" + owner.Host + ",a\n" + owner.Host + ",b\n"
		one, other := upload(owner, "csv", all, nil).Want(201), upload(owner, "csv", all, nil).Want(201)
		first := validate(owner, one).Want(200)
		validated := validate(owner, other).Want(200)
		again := validate(owner, one).Want(200)
		if first.Revision() == again.Revision() {
			t.Error("the second validation gave no new revision")
		}
		owner.Call("POST", path(one)+"/validate", M{}, apitest.IfMatch(first.Revision())).
			Refused(fault.RevisionConflict)
		commit(owner, first).Refused(fault.RevisionConflict)
		owner.Link("b", nil).Want(201)
		commit(owner, again).Want(202)
		i.Settle(t)
		commit(owner, validated).Want(202)
		i.Settle(t)
		owner.Call("GET", path(one), nil).Want(200).Has("data.state", `"partially_succeeded"`).
			Has("data.succeeded", "1").Has("data.failed", "1")
		items(owner, one).Has("data.0.state", `"succeeded"`).Has("data.1.state", `"failed"`).
			Has("data.1.error.code", `"resource_conflict"`).Has("data.1.result", "null")
		// What is wrong with no single field is told in words, too.
		message := items(owner, one).Text("data.1.error.message")
		if report := string(owner.Call("GET", path(one)+"/items?format=csv", nil).Want(200).Body); message == "" ||
			!strings.HasSuffix(report, `,resource_conflict,"`+message+"\"\r\n") {
			t.Errorf("the report of %q is %q", message, report)
		}
		owner.Call("GET", path(other), nil).Want(200).Has("data.state", `"failed"`)

		// None is valid any more, though one of another import is.
		validate(owner, upload(owner, "csv", "domain,slug\n"+owner.Host+",fresh\n", nil).Want(201)).Want(200).
			Has("data.valid", "1")
		none := upload(owner, "csv", all, nil).Want(201)
		commit(owner, validate(owner, none).Want(200)).Refused(fault.ResourceConflict)

		// A correction outside makes an invalid item valid.
		later := upload(owner, "csv", "slug\nlater\n", nil).Want(201)
		validate(owner, later).Want(200)
		items(owner, later).Has("data.0.state", `"invalid"`)
		setDefaultDomain(owner)
		fresh := upload(owner, "json", `[{"slug":"later"}]`, nil).Want(201)
		validate(owner, fresh).Want(200)
		items(owner, fresh).Has("data.0.state", `"valid"`).Has("data.0.input.domain", `"`+owner.Host+`"`)
	})
}

// An import is validated whole or not at all: not when its request or an item is damaged, nor when anything cannot
// be read or written.
func TestValidatedWhole(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		created := upload(owner, "csv", "domain,slug\n"+owner.Host+",a\n"+owner.Host+",b\n", nil).Want(201)
		untouched := func() {
			t.Helper()
			owner.Call("GET", path(created), nil).Want(200).Has("data.state", `"uploaded"`).
				Has("data.revision", created.Value("data.revision"))
			items(owner, created).Has("data.0.state", `"pending"`).Has("data.1.state", `"pending"`)
		}
		for _, column := range []string{"automation_job SET request", "automation_item SET input"} {
			of, name, _ := strings.Cut(column, " SET ")
			damage(t, i, "UPDATE "+column+" = "+name+" || '!'")
			validate(owner, created).Refused(fault.Internal)
			damage(t, i, "UPDATE "+of+" SET "+name+" = SUBSTR("+name+", 1, LENGTH("+name+") - 1)")
			untouched()
		}
		apitest.EveryStatement(t, "the validation", func(failing apitest.With) *apitest.Response {
			return owner.Call("POST", path(created)+"/validate", M{}, failing)
		}, func() string {
			return owner.Call("GET", path(created), nil).Value("data") + items(owner, created).Value("data")
		}).Want(200).Has("data.valid", "2").Has("data.invalid", "0")
	})
}

// An item that is damaged makes no link, and makes it once it can be read.
func TestDamagedItem(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		created := upload(owner, "csv", "domain,slug\n"+owner.Host+",a\n", nil).Want(201)
		commit(owner, validate(owner, created).Want(200)).Want(202)
		damage(t, i, "UPDATE automation_item SET input = input || '!'")
		i.Settle(t)
		damage(t, i, "UPDATE automation_item SET input = SUBSTR(input, 1, LENGTH(input) - 1)")
		items(owner, created).Has("data.0.state", `"valid"`)
		owner.Call("GET", "/links?appId="+owner.AppID, nil).Want(200).Has("data", "[]")
		i.Clock.Move(time.Minute)
		i.Settle(t)
		items(owner, created).Has("data.0.state", `"succeeded"`)
	})
}

// damage changes what is stored, as no operation would.
func damage(t *testing.T, i *apitest.Installation, statement string) {
	t.Helper()
	if n, err := i.DB.Exec(t.Context(), statement); err != nil || n == 0 {
		t.Fatalf("%s: %d rows, %v", statement, n, err)
	}
}

// Of commits at the same time one is done.
func TestConcurrentCommits(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		validated := validate(owner, upload(owner, "csv", "domain,slug\n"+owner.Host+",a\n", nil).Want(201)).Want(200)
		answers := make([]*apitest.Response, 8)
		var all sync.WaitGroup
		for n := range answers {
			all.Go(func() { answers[n] = commit(owner, validated) })
		}
		all.Wait()
		done := 0
		for _, r := range answers {
			if r.Status == 202 {
				done++
			} else {
				r.Refused(fault.RevisionConflict)
			}
		}
		i.Settle(t)
		if links := owner.Call("GET", "/links?appId="+owner.AppID, nil).Want(200).Len("data"); done != 1 || links != 1 {
			t.Errorf("%d commits were accepted, %d links created", done, links)
		}
	})
}

// What one app exports another imports.
func TestExported(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner, other := i.Prepared(t, "ann@example.com"), i.Prepared(t, "bob@example.com")
		owner.Link("-5", M{"prefix": "a", "title": "=1+1", "description": "'=two\r\nlines, \"quoted\"", "webOnly": true,
			"behavior":   "intelligent",
			"parameters": M{"n": 1}, "utm": M{"source": "@mail"},
			"lifecycle": M{"maxClicks": 9, "expiresAt": "2030-01-01T00:00:00.000Z"}}).Want(201)
		owner.Link("plain", nil).Want(201)
		exported := owner.Call("POST", "/exports", M{"appId": owner.AppID, "dataset": "links", "format": "csv"}).
			Want(202)
		i.Settle(t)
		content := string(owner.Call("GET", "/exports/"+exported.Text("data.id")+"/download", nil).Want(200).Body)
		setDefaultDomain(other)
		var mapping M
		if err := json.Unmarshal(file(t, docs+"mappings/waymark.json"), &mapping); err != nil {
			t.Fatal(err)
		}
		created := upload(other, "csv", content, mapping).Want(201)
		commit(other, validate(other, created).Want(200)).Want(202)
		i.Settle(t)
		if got, want := links(t, other), strings.ReplaceAll(links(t, owner), owner.Host, other.Host); got != want {
			t.Errorf("imported as\n%s, want\n%s", got, want)
		}
	})
}

// Each step needs its permission, and from the validation on links:create, also
// when the work is done.
func TestPermissions(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner, eve := i.Prepared(t, "ann@example.com"), i.Prepared(t, "eve@example.com")
		all := "domain,slug\n" + owner.Host + ",a\n"
		steps := []string{"imports:create", "imports:validate", "imports:commit", "imports:read"}
		key := owner.Key(steps...)
		created := upload(key, "csv", all, nil).Want(201)
		validate(key, created).Refused(fault.InsufficientPermission)
		validated := validate(owner, created).Want(200)
		commit(key, validated).Refused(fault.InsufficientPermission)
		items(key, created)
		for n := range steps {
			lacking := owner.Key(append(append([]string{"links:create"}, steps[:n]...), steps[n+1:]...)...)
			switch steps[n] {
			case "imports:create":
				upload(lacking, "csv", all, nil).Refused(fault.InsufficientPermission)
			case "imports:validate":
				validate(lacking, created).Refused(fault.InsufficientPermission)
			case "imports:commit":
				commit(lacking, validated).Refused(fault.InsufficientPermission)
			case "imports:read":
				lacking.Call("GET", path(created), nil).Refused(fault.InsufficientPermission)
				lacking.Call("GET", path(created)+"/items?format=csv", nil).Refused(fault.InsufficientPermission)
			}
		}
		validate(eve, created).Refused(fault.NotFound)
		commit(eve, validated).Refused(fault.NotFound)
		eve.Call("GET", path(created), nil).Refused(fault.NotFound)
		eve.Call("GET", path(created)+"/items", nil).Refused(fault.NotFound)
		eve.Call("GET", path(created)+"/items?format=csv", nil).Refused(fault.NotFound)
		// It is no job of another kind, either.
		for _, other := range []string{"/exports/%s", "/exports/%s/download", "/link-batches/%s/items"} {
			owner.Call("GET", fmt.Sprintf(other, created.Text("data.id")), nil).Refused(fault.NotFound)
		}

		// The key loses links:create between commit and work.
		able := owner.Key(append(steps, "links:create")...)
		accepted := commit(able, validate(able, created).Want(200)).Want(202)
		list := owner.Call("GET", "/api-keys", nil).Want(200)
		owner.Call("PATCH", "/api-keys/"+list.Text("data.0.id"), M{"permissions": steps},
			apitest.IfMatch(list.Text("data.0.revision"))).Want(200)
		i.Settle(t)
		owner.Call("GET", accepted.Header.Get("Location"), nil).Want(200).Has("data.status", `"failed"`)
		items(owner, created).Has("data.0.state", `"failed"`).Has("data.0.error.code", `"insufficient_permission"`)
		owner.Call("GET", "/links?appId="+owner.AppID, nil).Want(200).Has("data", "[]")
	})
}

// The list has pages, the report has none; an import waits a day for its
// commit and can be cancelled after it.
func TestItems(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		content := "domain,slug\n"
		for n := range 5 {
			content += owner.Host + "," + strconv.Itoa(n) + "\n"
		}
		created := upload(owner, "csv", content, nil).Want(201)
		page := owner.Call("GET", path(created)+"/items?limit=3&format=json", nil).Want(200).
			Has("data.2.clientId", `"row-3"`).Has("pagination.hasMore", "true")
		owner.Call("GET", path(created)+"/items?limit=3&format=json&cursor="+page.Text("pagination.nextCursor"), nil).
			Want(200).Has("data.0.clientId", `"row-4"`).Has("pagination.hasMore", "false")
		for _, query := range []string{"?format=csv&limit=3", "?format=csv&cursor=x", "?format=xml", "?limit=101",
			"?state=valid"} {
			owner.Call("GET", path(created)+"/items"+query, nil).Refused(fault.InvalidRequest)
		}
		if got := string(owner.Call("GET", path(created)+"/items?format=csv", nil).
			Want(200).Body); !strings.HasPrefix(got, "\ufeffclientId,") ||
			!strings.Contains(got, "\r\nrow-5,5,pending,,,,\r\n") {
			t.Errorf("%q", got)
		}
		validated := validate(owner, created).Want(200)
		accepted := commit(owner, validated).Want(202)
		owner.Call("POST", accepted.Header.Get("Location")[3:]+"/cancel", M{}).Want(202).
			Has("data.status", `"cancelled"`)
		i.Settle(t)
		items(owner, created).Has("data.0.state", `"cancelled"`).Has("data.4.state", `"cancelled"`)
		owner.Call("GET", path(created), nil).Want(200).Has("data.state", `"cancelled"`)

		// The same intent is the same import.
		body := M{"appId": owner.AppID, "format": "csv", "content": content}
		key := apitest.Idempotent(apitest.NewKey())
		r := owner.Call("POST", "/imports", body, key).Want(201)
		owner.Call("POST", "/imports", body, key).Want(201).Has("data.id", `"`+r.Text("data.id")+`"`)
		expires, err := time.Parse(time.RFC3339, r.Text("data.expiresAt"))
		if created, _ := time.Parse(time.RFC3339, r.Text("data.createdAt")); err != nil ||
			expires.Sub(created) != 24*time.Hour {
			t.Errorf("expires %s", expires)
		}
	})
}
