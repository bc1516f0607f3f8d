package upgrade

import (
	"bytes"
	"compress/gzip"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // restores dumps

	"github.com/waymarkhq/waymark/internal/apitest"
	"github.com/waymarkhq/waymark/internal/assembly"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/ids"
	"github.com/waymarkhq/waymark/internal/jobs"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
	"github.com/waymarkhq/waymark/internal/turns"
)

// A database of each earlier step is refused before its upgrade, and afterwards
// answers what it answered then and goes on working.
func TestUpgrade(t *testing.T) {
	folders, err := filepath.Glob("testdata/*")
	if err != nil || len(folders) < 3 {
		t.Fatalf("fixtures %v, %v", folders, err)
	}
	for _, folder := range folders {
		for _, engine := range storetest.Engines {
			t.Run(filepath.Base(folder)+"/"+engine, func(t *testing.T) {
				t.Parallel()
				upgrade(t, engine, filepath.Join(folder, engine))
			})
		}
	}
}

func upgrade(t *testing.T, engine, folder string) {
	var was Recorded
	text, err := os.ReadFile(filepath.Join(folder, AnswersFile))
	if err == nil {
		err = json.Unmarshal(text, &was)
	}
	if err != nil {
		t.Fatal(err)
	}
	address := restore(t, engine, filepath.Join(folder, DatabaseFile))
	old := recordedSchema(t, address)
	i := apitest.New(t, engine, apitest.Options{Database: address, Start: clock.At(was.At)})
	migratedTwice(t, i.DB, old)

	owner := i.Owner(t, was.Owner)
	for _, path := range slices.Sorted(maps.Keys(was.Answers)) {
		var now struct{ Data any }
		decode(t, owner.Call("GET", path, nil).Want(200).Body, &now)
		var then any
		decode(t, was.Answers[path], &then)
		for _, difference := range missing("", then, now.Data) {
			t.Errorf("GET %s: %s", path, difference)
		}
	}
	var apps []struct{ ID string }
	decode(t, was.Answers["/apps"], &apps)
	appID := apps[0].ID
	i.Client(t, was.Secret).Call("GET", "/links?appId="+appID, nil).Want(200)

	for address, destination := range was.Visits {
		if r := i.Visit(t, address, nil, nil); r.StatusCode != http.StatusFound ||
			r.Header.Get("Location") != destination {
			t.Errorf("%s: %d to %q, want %q", address, r.StatusCode, r.Header.Get("Location"), destination)
		}
	}
	republished(t, i)
	goOn(t, i, owner, appID, &was)
	moveEvents(t, i, engine, address, old, &was)
}

// withEngines is the schema of the first program that had more than one engine.
const withEngines = 15

// moveEvents requires that the events of an earlier program are in the engine that it
// had, and that the API shows the same numbers when they are in another one.
func moveEvents(t *testing.T, i *apitest.Installation, engine, address string, old int64, was *Recorded) {
	t.Helper()
	had, other := assembly.Database, assembly.Segments
	if old >= withEngines {
		had, other = other, had
	}
	if recorded, err := assembly.Recorded(t.Context(), i.DB); recorded != had || err != nil {
		t.Errorf("the engine of the events is %q, %v; want %s", recorded, err, had)
	}
	i.LoadClicks(t)
	summaries := func(i *apitest.Installation) (all []string) {
		for _, path := range slices.Sorted(maps.Keys(was.Answers)) {
			if strings.HasPrefix(path, "/analytics/") {
				all = append(all, i.Owner(t, was.Owner).Call("GET", path, nil).Want(200).Value("data"))
			}
		}
		return all
	}
	before := summaries(i)
	if len(before) == 0 || !strings.Contains(before[0], `"clicks":`) || strings.Contains(before[0], `"clicks":0,`) {
		t.Fatalf("there are no clicks in %s", before)
	}
	from := assembly.EngineOptions{DB: i.DB, DataDir: i.DataDir, Log: slog.New(slog.DiscardHandler),
		Turns: turns.New(1)}
	to := from
	to.Address = other
	if err := assembly.CopyEvents(t.Context(), from, to, func(_, _ int64) {}); err != nil {
		t.Fatal(err)
	}
	moved := apitest.New(t, engine, apitest.Options{Database: address, DataDir: i.DataDir, Start: clock.At(was.At)})
	if recorded, err := assembly.Recorded(t.Context(), i.DB); recorded != other || err != nil {
		t.Errorf("after the copy the engine is %q, %v", recorded, err)
	}
	if after := summaries(moved); !slices.Equal(after, before) {
		t.Errorf("in another engine\n%s, were\n%s", after, before)
	}
}

// republished requires that hostnames and links are published again with what opens
// their app, which programs before the templates did not publish.
func republished(t *testing.T, i *apitest.Installation) {
	t.Helper()
	i.Settle(t)
	opens, err := store.Exists(t.Context(), i.DB, `SELECT 1 FROM route WHERE path = ''
		AND document LIKE '%"scheme":"example"%'`)
	stale, linkErr := store.Exists(t.Context(), i.DB, `SELECT 1 FROM route JOIN link ON link.id = route.owner
		WHERE app_path IS NOT NULL AND document NOT LIKE '%"path":"open/1"%'`)
	if err := errors.Join(err, linkErr); err != nil || !opens || stale {
		t.Errorf("the hostname opens the app: %v, a link does not know its path: %v, %v", opens, stale, err)
	}
}

// Jobs that create domains, as they wait in a database of the program with 94
// operations, are done after the upgrade: one creates its domain, one removes the
// domain of a creation that was cancelled.
func TestWaitingDomains(t *testing.T) {
	for _, engine := range storetest.Engines {
		t.Run(engine, func(t *testing.T) {
			address := restore(t, engine, filepath.Join("testdata/94", engine, DatabaseFile))
			start := clock.At(time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC))
			for _, status := range []string{"queued", "cancelled"} {
				makeWaiting(t, address, start, status)
			}
			i := apitest.New(t, engine, apitest.Options{Database: address, Start: start})
			i.Settle(t)
			for status, ends := range map[string]string{"queued": "succeeded", "cancelled": "cancelled"} {
				published, err := store.Exists(t.Context(), i.DB, `SELECT 1 FROM route JOIN domain
					ON domain.id = route.owner AND domain.publication_status = 'synced'
					WHERE route.hostname = ?`, status+".example")
				left, leftErr := store.Exists(t.Context(), i.DB, "SELECT 1 FROM domain WHERE hostname = ?",
					status+".example")
				if err := errors.Join(err, leftErr); err != nil || published != (status == "queued") ||
					left != published {
					t.Errorf("%s: published %v, left %v, %v", status, published, left, err)
				}
				if now, err := store.One(t.Context(), i.DB, store.Value[string], `SELECT status FROM operation
					WHERE resource_id = ?`, domainIDs[status]); now != ends || err != nil {
					t.Errorf("%s: now %s, %v", status, now, err)
				}
			}
			if n, _, err := jobs.Depth(t.Context(), i.DB); n != 0 || err != nil {
				t.Errorf("%d jobs are left, %v", n, err)
			}
		})
	}
}

// domainIDs are those of TestWaitingDomains, by the status of their operation.
var domainIDs = map[string]string{"queued": "01a1f000-0000-7000-8000-0000000000d1",
	"cancelled": "01a1f000-0000-7000-8000-0000000000d2"}

// makeWaiting adds a domain with its operation and its job, as an earlier program
// left them.
func makeWaiting(t *testing.T, address string, at clock.Instant, status string) {
	t.Helper()
	c := &clock.Clock{}
	c.Set(at)
	db, err := store.Open(t.Context(), address, c)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	domainID, operationID := domainIDs[status], ids.New()
	for _, insert := range []struct {
		sql  string
		args []any
	}{
		{`INSERT INTO domain (id, app_id, hostname, mode, zone_name, ownership, dns, https, links, detached, revision,
			created_at, updated_at,
			publication_status, publication_attempts, publication_updated_at)
			SELECT CAST(? AS TEXT), id, CAST(? AS TEXT), 'platform', 'example', 'verified', 'configured', 'delegated',
			'ready', FALSE,
			revision, created_at, updated_at, 'pending', 0, created_at FROM app ORDER BY id
			LIMIT 1`, []any{domainID, status + ".example"}},
		{`INSERT INTO operation (id, app_id, owner_id, type, status, revision, created_at, updated_at)
			SELECT CAST(? AS TEXT), id, owner_id, 'domain.create', CAST(? AS TEXT), revision, created_at, updated_at
			FROM app ORDER BY id LIMIT 1`, []any{operationID, status}},
		{`INSERT INTO job (id, kind, payload, app_id, owner_id, credential, lease_no, attempts, run_after, created_at)
			SELECT CAST(? AS TEXT), 'domain.create', CAST(? AS TEXT), id, owner_id, 'session:of the owner', 0, 0,
			created_at, created_at FROM app ORDER BY id LIMIT 1`,
			[]any{ids.New(), operationID + " " + domainID}},
	} {
		if _, err := db.Exec(t.Context(), insert.sql, insert.args...); err != nil {
			t.Fatal(err)
		}
	}
}

// goOn changes what the earlier program made, under the revisions that it told.
func goOn(t *testing.T, i *apitest.Installation, owner *apitest.Client, appID string, was *Recorded) {
	var links []struct{ ID, Revision, Slug, Domain string }
	decode(t, was.Answers["/links?appId="+appID], &links)
	for _, l := range links {
		changed := owner.Call("PATCH", "/links/"+apitest.Path(l.ID),
			apitest.M{"desktopUrl": "https://example.com/changed"}, apitest.IfMatch(l.Revision)).Want(200)
		if l.Slug == "hello" {
			i.Settle(t)
			i.Visit(t, changed.Text("data.url"), nil, func(r *http.Response) bool {
				return strings.HasPrefix(r.Header.Get("Location"), "https://example.com/changed")
			})
		}
	}
	owner.Call("POST", "/links", apitest.M{"appId": appID, "domain": links[0].Domain, "slug": "after",
		"desktopUrl": "https://example.com/"}).Want(201)
	for path, answer := range was.Answers {
		if !strings.HasPrefix(path, "/imports/") || strings.HasSuffix(path, "/items") {
			continue
		}
		var job struct{ State, Revision string }
		if decode(t, answer, &job); job.State == "validated" {
			owner.Call("POST", path+"/commit", apitest.M{}, apitest.IfMatch(job.Revision)).Want(202)
			i.Settle(t)
			owner.Call("GET", path, nil).Want(200).Has("data.state", `"succeeded"`)
		}
	}
}

// recordedSchema returns the schema of a database, and requires that an older
// one is refused.
func recordedSchema(t *testing.T, address string) int64 {
	t.Helper()
	db, err := store.Open(t.Context(), address, &clock.Clock{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	version, err := db.Schema(t.Context())
	if err != nil || version < 1 {
		t.Fatalf("schema %d, %v", version, err)
	}
	want := ""
	if version < store.NewestSchema {
		want = fmt.Sprintf("the database has schema %d, this program has %d: run waymark migrate", version,
			store.NewestSchema)
	}
	if err := db.CheckSchema(t.Context()); fmt.Sprint(err) != want && (err != nil || want != "") {
		t.Errorf("before the upgrade: %v, want %q", err, want)
	}
	return version
}

// migratedTwice requires that the upgrade applied each migration that was
// missing once, and that another one applies none.
func migratedTwice(t *testing.T, db *store.DB, old int64) {
	t.Helper()
	applied := func() []string {
		rows, err := store.All(t.Context(), db, store.Value[string], `SELECT version_id || ' at ' || CAST(tstamp AS
			TEXT) FROM goose_db_version ORDER BY id`)
		if err != nil {
			t.Fatal(err)
		}
		return rows
	}
	once := applied()
	if version, err := db.Migrate(t.Context()); err != nil || version != store.NewestSchema || version < old {
		t.Errorf("the second upgrade: %d, %v", version, err)
	}
	if twice := applied(); !slices.Equal(once, twice) || len(once) != int(store.NewestSchema)+1 {
		t.Errorf("applied %q, then %q", once, twice)
	}
}

// restore returns the address of a database with the content of a fixture.
func restore(t *testing.T, engine, fixture string) string {
	t.Helper()
	content, err := decompress(fixture)
	if err != nil {
		t.Fatal(err)
	}
	address := storetest.Empty(t, engine)
	if file, ok := strings.CutPrefix(address, "sqlite:"); ok {
		if err := os.WriteFile(file, content, 0o600); err != nil {
			t.Fatal(err)
		}
		return address
	}
	db, err := sql.Open("pgx", address)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(context.Background(), string(content)); err != nil {
		t.Fatal(err)
	}
	return address
}

func decompress(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}

func decode(t *testing.T, text []byte, v any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(v); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
}

// uncompared are members that may differ: messages may have been reworded, and
// owners without a name got their e-mail address for one.
var uncompared = []string{"message", "generatedAt", "displayName"}

// missing names what an earlier answer had and today's has not, or has
// otherwise. Members may have been added.
func missing(at string, then, now any) (differences []string) {
	switch then := then.(type) {
	case map[string]any:
		now, _ := now.(map[string]any)
		for name, value := range then {
			if slices.Contains(uncompared, name) {
				continue
			}
			if empty, ok := value.([]any); name == "details" && ok && len(empty) == 0 {
				continue // an error without details has no such member
			}
			if _, ok := now[name]; !ok {
				differences = append(differences, at+"/"+name+" is gone")
				continue
			}
			differences = append(differences, missing(at+"/"+name, value, now[name])...)
		}
		return differences
	case []any:
		now, _ := now.([]any)
		if len(now) != len(then) {
			return []string{fmt.Sprintf("%s has %d items, had %d", at, len(now), len(then))}
		}
		for n := range then {
			differences = append(differences, missing(fmt.Sprintf("%s/%d", at, n), then[n], now[n])...)
		}
		return differences
	}
	if then != now {
		return []string{fmt.Sprintf("%s is %v, was %v", at, now, then)}
	}
	return nil
}
