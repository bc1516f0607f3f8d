package exports_test

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waymarkhq/waymark/internal/apitest"
	"github.com/waymarkhq/waymark/internal/clicklog"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/csvtable/csvtest"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/turns"
)

type M = apitest.M

// made asks for an export, has it made and returns its final state.
func made(t *testing.T, i *apitest.Installation, c *apitest.Client, dataset, format string,
	filters any) *apitest.Response {
	t.Helper()
	body := M{"appId": c.AppID, "dataset": dataset, "format": format}
	if filters != nil {
		body["filters"] = filters
	}
	accepted := c.Call("POST", "/exports", body).Want(202).Has("data.kind", `"export"`).Has("data.state", `"queued"`).
		Has("data.downloadUrl", "null")
	if accepted.Header.Get("Location") != "/v1/operations/"+accepted.Text("data.operationId") ||
		accepted.Header.Get("Retry-After") == "" {
		t.Errorf("headers %v", accepted.Header)
	}
	i.Settle(t)
	return c.Call("GET", "/exports/"+accepted.Text("data.id"), nil).Want(200)
}

func table(t *testing.T, r *apitest.Response) [][]string {
	t.Helper()
	csvtest.NoFormula(t, string(r.Want(200).Body))
	text, bom := strings.CutPrefix(string(r.Body), "\ufeff")
	if !bom {
		t.Errorf("no byte order mark: %q", text[:min(len(text), 20)])
	}
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func TestLinks(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		folder := owner.Call("POST", "/folders", M{"appId": owner.AppID, "name": "F"}).Want(201).Text("data.id")
		owner.Link("plain", M{"title": "A \"title\", quoted", "description": "two\nlines", "utm": M{"source": "mail"},
			"parameters": M{"big": 12345678901234567}}).Want(201)
		i.Clock.Move(time.Second)
		owner.Link("formula", M{"title": "=HYPERLINK(\"https://evil.example\")", "description": " \t+1",
			"folderId": folder}).Want(201)
		i.Settle(t)

		e := made(t, i, owner, "links", "csv", nil).Has("data.state", `"succeeded"`).Has("data.total", "2").
			Has("data.succeeded", "2")
		file := owner.Call("GET", strings.TrimPrefix(e.Text("data.downloadUrl"), "/v1"), nil)
		rows := table(t, file)
		header := strings.Join(rows[0], ",")
		if !strings.HasPrefix(header,
			"id,appId,domain,prefix,slug,url,folderId,campaignId,lifecycle,utm,title,description,") ||
			!strings.HasSuffix(header, "revision,createdAt,updatedAt,publication") {
			t.Errorf("header %s", header)
		}
		at := map[string]int{}
		for n, name := range rows[0] {
			at[name] = n
		}
		for _, cell := range []struct {
			row        int
			name, want string
		}{
			{1, "title", `'=HYPERLINK("https://evil.example")`}, {1, "description", "' \t'+1"}, {1, "folderId", folder},
			{1, "webOnly", "false"},
			{2, "title", "A \"title\", quoted"}, {2, "description", "two\nlines"},
			{2, "parameters", `{"big":12345678901234567}`}, {2, "folderId", ""},
			{2, "utm", `{"source":"mail","medium":null,"campaign":null,"term":null,"content":null}`},
		} {
			if got := rows[cell.row][at[cell.name]]; got != cell.want {
				t.Errorf("%s in row %d is %q, want %q", cell.name, cell.row, got, cell.want)
			}
		}
		for name, want := range map[string]string{
			"Content-Type": "text/csv; charset=utf-8", "X-Content-Type-Options": "nosniff",
			"Cache-Control":       "no-store, no-transform",
			"Content-Disposition": "attachment; filename=waymark-links-" + e.Text("data.id") + ".csv",
		} {
			if got := file.Header.Get(name); got != want {
				t.Errorf("%s: %s, want %s", name, got, want)
			}
		}

		e = made(t, i, owner, "links", "json", M{"folderId": folder, "order": "createdAt:asc"})
		file = owner.Call("GET", "/exports/"+e.Text("data.id")+"/download", nil).Want(200)
		if got := file.Value("0.slug"); got != `"formula"` || file.Value("1") != "" {
			t.Errorf("%s", file.Body)
		}
		e = made(t, i, owner, "links", "csv", M{"q": "nowhere"}).Has("data.total", "0")
		if rows := table(t, owner.Call("GET", "/exports/"+e.Text("data.id")+"/download", nil)); len(rows) != 1 {
			t.Errorf("an empty export has %d rows", len(rows))
		}
	})
}

func TestAnalytics(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner, eve := i.Prepared(t, "ann@example.com"), i.Prepared(t, "eve@example.com")
		link := owner.Link("a", M{"group": "main"}).Want(201)
		owner.Link("b", nil).Want(201)
		eve.Link("c", nil).Want(201)
		i.Settle(t)
		redirected := func(r *http.Response) bool { return r.StatusCode == http.StatusFound }
		for _, address := range []string{owner.Host + "/a", owner.Host + "/a?qr=1", owner.Host + "/b",
			eve.Host + "/c"} {
			i.Visit(t, "https://"+address, http.Header{"Referer": {"https://news.example/x"}}, redirected)
			i.Clock.Move(time.Second)
		}
		i.LoadClicks(t)
		now := i.Clock.Now()
		span := M{"start": now.Add(-time.Hour).String(), "end": now.Add(time.Hour).String(), "timezone": "UTC"}
		e := made(t, i, owner, "events", "json", span).Has("data.total", "3")
		file := owner.Call("GET", "/exports/"+e.Text("data.id")+"/download", nil).Want(200)
		for path, want := range map[string]string{
			"0.slug": `"b"`, "1.source": `"qr"`, "2.linkId": `"` + link.Text("data.id") + `"`, "2.type": `"click"`,
			"2.referrerHost": `"news.example"`,
			"2.identified":   "false", "2.device": `"desktop"`, "2.campaignId": "null", "2.country": `"ZZ"`,
			"2.destination": `"web"`,
		} {
			if got := file.Value(path); got != want {
				t.Errorf("%s is %s, want %s", path, got, want)
			}
		}
		for _, secret := range []string{"visitor", "install", "address", "203.0.113", "192.0.2", "Mozilla"} {
			if strings.Contains(string(file.Body), secret) {
				t.Errorf("the events tell %q", secret)
			}
		}
		span["group"] = "main"
		e = made(t, i, owner, "events", "csv", span)
		if rows := table(t, owner.Call("GET", "/exports/"+e.Text("data.id")+"/download", nil)); len(rows) != 3 ||
			strings.Join(rows[0][:4], ",") != "id,type,occurredAt,linkId" {
			t.Errorf("%v", rows)
		}
		e = made(t, i, owner, "summary", "json", span).Has("data.total", "1")
		file = owner.Call("GET", "/exports/"+e.Text("data.id")+"/download", nil).Want(200)
		if got := file.Value("0.totals.clicks"); got != "2" {
			t.Errorf("%s", file.Body)
		}
		e = made(t, i, owner, "summary", "csv", span)
		if rows := table(t, owner.Call("GET", "/exports/"+e.Text("data.id")+"/download", nil)); len(rows) != 2 ||
			!strings.Contains(rows[1][len(rows[1])-1], `"clicks":2`) {
			t.Errorf("%v", rows)
		}
	})
}

// tooLarge fails the test unless an export failed for its size.
func tooLarge(t *testing.T, c *apitest.Client, e *apitest.Response) {
	t.Helper()
	c.Call("GET", "/operations/"+e.Has("data.state", `"failed"`).Has("data.total", "0").Text("data.operationId"), nil).
		Want(200).Has("data.status", `"failed"`).Has("data.error.code", `"export_too_large"`)
}

// An export that exceeds its bounds fails and has no file; it is never cut.
func TestBounds(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		for n := range 1000 {
			owner.Link(fmt.Sprint(n), nil).Want(201)
		}
		made(t, i, owner, "links", "csv", nil).Has("data.state", `"succeeded"`).Has("data.total", "1000")
		one := owner.Link("one-more", M{"title": "x"}).Want(201)
		e := made(t, i, owner, "links", "csv", nil).Has("data.downloadUrl", "null")
		tooLarge(t, owner, e)
		owner.Call("GET", "/exports/"+e.Text("data.id")+"/download", nil).Refused(fault.ResourceConflict).
			Has("error.message", `"The export failed and has no file. The error of its operation says why."`)
		// Fewer records of more than 1 MiB.
		owner.Call("DELETE", "/links/"+apitest.Path(one.Text("data.id")), nil, apitest.IfMatch(one.Revision())).
			Want(204)
		big := strings.Repeat("x", 15<<10)
		for n := range 70 {
			owner.Link(fmt.Sprintf("big-%d", n), M{"parameters": M{"big": big}, "group": "main"}).Want(201)
		}
		tooLarge(t, owner, made(t, i, owner, "links", "json", M{"group": "main"}))
	})
}

// An export waits while too many heavy reads of its owner are open, however often.
func TestBusy(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		end := owner.Busy(t)
		export := owner.Call("POST", "/exports", M{"appId": owner.AppID, "dataset": "links", "format": "csv",
			"filters": M{}}).Want(202).Text("data.id")
		for range 20 {
			i.Settle(t)
			owner.Call("GET", "/exports/"+export, nil).Has("data.state", `"running"`)
			if due, err := store.One(t.Context(), i.DB, store.Value[clock.Instant], `SELECT run_after FROM job
				WHERE kind = 'export'`); due.Sub(i.Clock.Now()) != 2*time.Second || err != nil {
				t.Errorf("it is tried again in %s, %v", due.Sub(i.Clock.Now()), err)
			}
			i.Clock.Move(3 * time.Second)
		}
		end()
		i.Settle(t)
		owner.Call("GET", "/exports/"+export, nil).Has("data.state", `"succeeded"`)
	})
}

// Events have the same bound as links.
func TestBoundOfEvents(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		now := i.Clock.Now()
		click := clicklog.Event{At: now, Type: clicklog.Click, Link: clicklog.Link{ID: "a", AppID: owner.AppID,
			Hostname: owner.Host, Slug: "a", Group: "main"}}
		i.Record(t, slices.Repeat([]clicklog.Event{click}, 1000)...)
		i.LoadClicks(t)
		span := M{"start": now.String(), "end": now.Add(time.Hour).String(), "timezone": "UTC"}
		made(t, i, owner, "events", "csv", span).Has("data.state", `"succeeded"`).Has("data.total", "1000")
		i.Record(t, click)
		i.LoadClicks(t)
		tooLarge(t, owner, made(t, i, owner, "events", "csv", span))
	})
}

func TestDownloadRules(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner, eve := i.Prepared(t, "ann@example.com"), i.Prepared(t, "eve@example.com")
		pending := owner.Call("POST", "/exports", M{"appId": owner.AppID, "dataset": "links", "format": "csv"}).
			Want(202)
		path := "/exports/" + pending.Text("data.id")
		owner.Call("GET", path+"/download", nil).Refused(fault.ResourceConflict)
		i.Settle(t)
		owner.Call("GET", path+"/download", nil).Want(200)
		eve.Call("GET", path, nil).Refused(fault.NotFound)
		eve.Call("GET", path+"/download", nil).Refused(fault.NotFound)
		owner.Key("exports:read", "links:read").Call("GET", path+"/download", nil).Want(200)
		owner.Key("exports:read", "analytics:read").Call("GET", path+"/download", nil).
			Refused(fault.InsufficientPermission)
		owner.Key("links:read").Call("GET", path+"/download", nil).Refused(fault.InsufficientPermission)
		owner.Call("GET", path+"/download?format=json", nil).Refused(fault.InvalidRequest)
		owner.Call("GET", "/exports/nothing/download", nil).Refused(fault.NotFound)

		i.Clock.Move(24*time.Hour - time.Second)
		owner = i.Owner(t, "ann@example.com")
		owner.Call("GET", path+"/download", nil).Want(200)
		i.Clock.Move(time.Second)
		owner.Call("GET", path+"/download", nil).Refused(fault.ResourceConflict)
		owner.Call("GET", path, nil).Want(200).Has("data.state", `"expired"`).Has("data.downloadUrl", "null")
		files := func(when string, want int64) {
			t.Helper()
			i.Sweep(t)
			if n, err := store.One(t.Context(), i.DB, store.Value[int64], "SELECT COUNT(*) FROM automation_file"); err != nil || n != want {
				t.Errorf("%s it expires there are %d files, %v", when, n, err)
			}
		}
		files("when", 1)
		i.Clock.Move(time.Microsecond)
		files("after", 0)
		i.Clock.Move(29*24*time.Hour - time.Microsecond)
		i.Sweep(t)
		owner = i.Owner(t, "ann@example.com")
		owner.Call("GET", path, nil).Want(200)
		owner.Call("GET", pending.Header.Get("Location"), nil).Want(200)
		i.Clock.Move(time.Microsecond)
		i.Sweep(t)
		owner.Call("GET", path, nil).Refused(fault.NotFound)
		owner.Call("GET", path+"/download", nil).Refused(fault.NotFound)
		owner.Call("GET", pending.Header.Get("Location"), nil).Refused(fault.NotFound)
	})
}

// A file that went after its export was looked up has expired.
func TestFileThatIsGone(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		export := "/exports/" + made(t, i, owner, "links", "csv", nil).Has("data.state", `"succeeded"`).Text("data.id")
		owner.Call("GET", export+"/download", nil).Want(200)
		if n, err := i.DB.Exec(t.Context(), "DELETE FROM automation_file"); n != 1 || err != nil {
			t.Fatal(n, err)
		}
		owner.Call("GET", export+"/download", nil).Refused(fault.ResourceConflict).
			Has("error.message", `"The file of the export has expired. Request the export again."`)
	})
}

// An export whose request is damaged has no file, and is made once the request can be read.
func TestDamagedRequest(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		export := "/exports/" + owner.Call("POST", "/exports", M{"appId": owner.AppID, "dataset": "links", "format": "csv"}).
			Want(202).Text("data.id")
		exec := func(statement string) {
			t.Helper()
			if n, err := i.DB.Exec(t.Context(), statement); n != 1 || err != nil {
				t.Fatal(n, err)
			}
		}
		exec("UPDATE automation_job SET request = request || '!'")
		i.Settle(t)
		owner.Call("GET", export, nil).Has("data.state", `"running"`)
		owner.Call("GET", export+"/download", nil).Refused(fault.Internal)
		exec("UPDATE automation_job SET request = SUBSTR(request, 1, LENGTH(request) - 1)")
		owner.Call("GET", export+"/download", nil).Refused(fault.ResourceConflict)
		i.Clock.Move(time.Minute)
		i.Settle(t)
		owner.Call("GET", export, nil).Has("data.state", `"succeeded"`)
	})
}

func TestRefusals(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner, eve := i.Prepared(t, "ann@example.com"), i.Prepared(t, "eve@example.com")
		now := i.Clock.Now()
		ask := func(c *apitest.Client, dataset, format string, filters any) *apitest.Response {
			return c.Call("POST", "/exports", M{"appId": owner.AppID, "dataset": dataset, "format": format,
				"filters": filters})
		}
		ask(owner, "clicks", "csv", M{}).Refused(fault.ValidationFailed, "/dataset")
		ask(owner, "links", "xlsx", M{}).Refused(fault.ValidationFailed, "/format")
		ask(owner, "links", "csv", []M{}).Refused(fault.ValidationFailed, "/filters")
		ask(owner, "links", "csv", M{"limit": 5}).Refused(fault.ValidationFailed, "/filters/limit")
		ask(owner, "links", "csv", M{"group": "all"}).Refused(fault.ValidationFailed, "/filters/group")
		ask(owner, "links", "csv", M{"createdFrom": "yesterday"}).
			Refused(fault.ValidationFailed, "/filters/createdFrom")
		ask(owner, "events", "csv", M{}).Refused(fault.ValidationFailed, "/filters/start", "/filters/end")
		ask(owner, "events", "csv", M{"start": now.String(), "end": now.String()}).
			Refused(fault.ValidationFailed, "/filters/end")
		ask(owner, "events", "csv", M{"start": now.String(), "end": now.Add(367 * 24 * time.Hour).String()}).
			Refused(fault.ValidationFailed, "/filters/end")
		ask(owner, "summary", "csv", M{"start": now.String(), "end": now.Add(time.Hour).String(),
			"timezone": "Europe/Lisbon"}).Refused(fault.ValidationFailed, "/filters/timezone")
		ask(owner, "summary", "csv", M{"start": now.String(), "end": now.Add(time.Hour).String(), "linkId": "x"}).
			Refused(fault.ValidationFailed, "/filters/linkId")
		ask(eve, "links", "csv", M{}).Refused(fault.NotFound)
		ask(owner.Key("exports:create", "analytics:read"), "links", "csv", M{}).Refused(fault.InsufficientPermission)
		ask(owner.Key("exports:create", "links:read"), "events", "csv",
			M{"start": now.String(), "end": now.Add(time.Hour).String()}).Refused(fault.InsufficientPermission)
		ask(owner.Key("links:read"), "links", "csv", M{}).Refused(fault.InsufficientPermission)

		// A key that loses its permission before the work is done gets no file,
		// and no replay either.
		key := owner.Key("exports:create", "exports:read", "links:read")
		again := apitest.Idempotent(apitest.NewKey())
		repeat := func() *apitest.Response {
			return key.Call("POST", "/exports", M{"appId": owner.AppID, "dataset": "links", "format": "csv"}, again)
		}
		e := repeat().Want(202)
		if repeat().Want(202).Header.Get("Idempotency-Replayed") != "true" {
			t.Error("it is not replayed")
		}
		issued := owner.Call("GET", "/api-keys", nil).Want(200)
		owner.Call("PATCH", "/api-keys/"+issued.Text("data.0.id"),
			M{"permissions": []string{"exports:create", "exports:read"}},
			apitest.IfMatch(issued.Text("data.0.revision"))).Want(200)
		repeat().Refused(fault.InsufficientPermission)
		i.Settle(t)
		owner.Call("GET", e.Header.Get("Location"), nil).Want(200).Has("data.status", `"failed"`).
			Has("data.error.code", `"authorization_lost"`)
	})
}

// Of more than a hundred records the oldest that is done goes; where none is
// done, there is no room.
func TestRetainedRecords(t *testing.T) {
	apitest.EachWith(t, apitest.Options{LimitScale: 100}, func(t *testing.T, i *apitest.Installation) {
		owner, eve := i.Prepared(t, "ann@example.com"), i.Prepared(t, "eve@example.com")
		export := func() *apitest.Response {
			return owner.Call("POST", "/exports", M{"appId": owner.AppID, "dataset": "links", "format": "csv"})
		}
		// The records of another app neither count nor make room.
		others := eve.Call("POST", "/exports", M{"appId": eve.AppID, "dataset": "links", "format": "csv"}).Want(202)
		i.Settle(t)
		if _, err := i.DB.Exec(t.Context(), `INSERT INTO automation_job (id, app_id, kind, state, request, total,
			succeeded, failed, revision, created_at, updated_at, expires_at, remove_at)
			WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9999)
			SELECT 'old-' || CAST(i AS TEXT), ?, 'import', 'uploaded', '', 0, 0, 0, 'r', i, i, ?, ? FROM n`,
			owner.AppID, i.Clock.Now().Add(time.Hour), i.Clock.Now().Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
		first := export().Want(202)
		export().Refused(fault.ResourceConflict)
		i.Settle(t)
		second := export().Want(202)
		owner.Call("GET", "/exports/"+first.Text("data.id"), nil).Refused(fault.NotFound)
		owner.Call("GET", "/exports/"+second.Text("data.id"), nil).Want(200)
		eve.Call("GET", "/exports/"+others.Text("data.id"), nil).Want(200)
		// An import of which nothing can be committed makes room, too.
		exec := func(statement string) {
			t.Helper()
			if _, err := i.DB.Exec(t.Context(), statement); err != nil {
				t.Fatal(err)
			}
		}
		exec("UPDATE automation_job SET state = 'validated' WHERE id IN ('old-7', 'old-8')")
		exec(`INSERT INTO automation_item (job_id, ordinal, client_id, action, state) VALUES
			('old-7', 1, 'a', 'create', 'invalid'), ('old-7', 2, 'b', 'create', 'valid'),
			('old-8', 1, 'a', 'create', 'valid')`)
		export().Refused(fault.ResourceConflict)
		exec("UPDATE automation_item SET state = 'invalid' WHERE job_id = 'old-7'")
		export().Want(202)
		export().Refused(fault.ResourceConflict)
	})
}

// An export whose data cannot be read in time fails, and says so; its end is kept whole or not at all.
func TestTooSlow(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		for _, cause := range []error{context.DeadlineExceeded, turns.ErrSlow} {
			export := owner.Call("POST", "/exports", M{"appId": owner.AppID, "dataset": "links", "format": "csv"}).Want(202)
			reads, ends := 0, 0
			slow := store.WithFaults(t.Context(), func(query string) error {
				switch {
				case strings.Contains(query, "FROM link"):
					reads++
					return cause
				case strings.HasPrefix(query, "UPDATE operation") && reads > 0:
					if ends++; ends == 1 {
						return errors.New("the disk failed")
					}
				}
				return nil
			})
			for range 3 {
				if _, err := i.CycleIn(slow); err != nil {
					t.Fatal(err)
				}
				i.Clock.Move(time.Minute)
			}
			owner.Call("GET", "/exports/"+export.Text("data.id"), nil).Has("data.state", `"failed"`).
				Has("data.downloadUrl", "null")
			owner.Call("GET", "/operations/"+export.Text("data.operationId"), nil).Want(200).Has("data.status", `"failed"`).
				Has("data.error.code", `"export_too_slow"`).
				Has("data.error.message", `"The data could not be read within 10 seconds. Narrow the filters."`)
			if reads != 2 || ends != 2 {
				t.Errorf("it was read %d times and ended %d times, want twice", reads, ends)
			}
		}
	})
}

// What is under way is not swept, however old it is; what has ended is.
func TestSweepKeepsWhatIsUnderWay(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		path := "/exports/" + owner.Call("POST", "/exports", M{"appId": owner.AppID, "dataset": "links", "format": "csv"}).
			Want(202).Text("data.id")
		later := func(d time.Duration) {
			i.Clock.Move(d)
			i.Sweep(t)
			owner.Credential = i.Owner(t, "ann@example.com").Credential // sessions end sooner
		}
		later(90 * 24 * time.Hour)
		owner.Call("GET", path, nil).Want(200).Has("data.state", `"queued"`)
		i.Settle(t)
		owner.Call("GET", path, nil).Want(200)
		later(time.Millisecond)
		owner.Call("GET", path, nil).Refused(fault.NotFound)
	})
}
