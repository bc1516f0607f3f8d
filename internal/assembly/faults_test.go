package assembly_test

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"
	"modernc.org/sqlite"

	"github.com/waymarkhq/waymark/internal/apitest"
	"github.com/waymarkhq/waymark/internal/dnsprovider"
	"github.com/waymarkhq/waymark/internal/domain"
	"github.com/waymarkhq/waymark/internal/store"
)

// writes fails the nth row that is written, and the last of all: what a repeated call
// would be answered. So nothing is ever committed.
type writes struct {
	mu      sync.Mutex
	n, nth  int
	failed  []string // the tables of the rows that failed
	watched bool
}

var watched writes

func init() {
	sqlite.MustRegisterScalarFunction("written", 1,
		func(_ *sqlite.FunctionContext, args []driver.Value) (driver.Value, error) {
			return nil, watched.written(args[0].(string))
		})
}

func (w *writes) written(table string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.n++; !w.watched || w.n != w.nth && table != "receipt" {
		return nil
	}
	w.failed = append(w.failed, table)
	return errors.New("no place for a row of " + table)
}

// during returns the tables of the rows that failed during a call.
func (w *writes) during(nth int, call func()) []string {
	w.mu.Lock()
	w.watched, w.n, w.nth, w.failed = true, 0, nth, nil
	w.mu.Unlock()
	call()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.watched = false
	return w.failed
}

// watch has each row that is written counted, but for those which no call waits for.
func watch(t *testing.T, db *store.DB) {
	t.Helper()
	for _, table := range tables(t, db) {
		if table == "request_record" {
			continue
		}
		for _, verb := range []string{"INSERT", "UPDATE", "DELETE"} {
			exec(t, db, "CREATE TRIGGER watch_"+table+"_"+verb+" BEFORE "+verb+" ON "+table+
				" BEGIN SELECT written('"+table+"'); END")
		}
	}
}

// tables returns the names of the tables.
func tables(t *testing.T, db *store.DB) []string {
	t.Helper()
	names, err := store.All(t.Context(), db, store.Value[string],
		"SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func exec(t *testing.T, db *store.DB, statement string) {
	t.Helper()
	if _, err := db.Exec(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}

// A call ends at its first write that fails: it writes nothing more, is an internal
// error, and its transaction is undone. (PostgreSQL refuses further statements itself.)
func TestFailedWriteEndsTheCall(t *testing.T) {
	document := contractDocument(t)
	i := apitest.New(t, "sqlite", apitest.Options{
		Domains: domain.Options{Provider: struct{ dnsprovider.Provider }{}}, // it is never asked
	})
	owner := i.Prepared(t, "ann@example.com")
	n := &nastyCaller{t: t, api: i.API, credential: owner.Credential, ids: resources(t, i, owner), document: document}
	// What is deleted must not be in use.
	used, unused := n.ids, maps.Clone(n.ids)
	unused["linkId"] = owner.Link("unused", apitest.M{}).Want(201).Text("data.id")
	unused["domainId"] = owner.Call("POST", "/domains", apitest.M{"appId": owner.AppID, "mode": "platform",
		"prefix": "unused"}).Want(202).Text("data.resourceId")
	watch(t, i.DB)
	var refused []string
	tried := 0
	paths := document["paths"].(map[string]any)
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		for method, operation := range paths[path].(map[string]any) {
			method, operation := strings.ToUpper(method), at(document, operation)
			switch n.ids = used; method {
			case http.MethodGet:
				continue
			case http.MethodDelete:
				n.ids = unused
			}
			target, body := n.valid(path, operation)
			for nth := 1; ; nth++ {
				w := httptest.NewRecorder()
				r := n.request(method, target, body)
				failed := watched.during(nth, func() { i.API.ServeHTTP(w, r) })
				if len(failed) == 0 {
					refused = append(refused, method+" "+path)
					break
				}
				tried++
				if len(failed) > 1 || w.Code != http.StatusInternalServerError {
					t.Errorf("%s %s answers %d %s after failed writes of %v", method, path, w.Code, w.Body, failed)
				}
				if failed[0] == "receipt" {
					break
				}
			}
		}
	}
	if tried < 200 {
		t.Error("too few writes were tried")
	}
	t.Logf("%d writes failed; refused before they write: %v", tried, refused)
}

var requestID = regexp.MustCompile(`"requestId":"\w+"`)

// An answer that is not complete because something could not be read is none: without
// one of the tables, a call is answered as with it or is an internal error.
func TestFailedReadIsNoAnswer(t *testing.T) {
	document := contractDocument(t)
	i := apitest.New(t, "sqlite", apitest.Options{
		Domains: domain.Options{Provider: struct{ dnsprovider.Provider }{}}, // it is never asked
	})
	owner := i.Prepared(t, "ann@example.com")
	n := &nastyCaller{t: t, api: i.API, credential: owner.Credential, ids: resources(t, i, owner), document: document}
	link := "/links/" + n.ids["linkId"]
	owner.Call("PUT", link+"/tags", apitest.M{"tagIds": []string{n.ids["tagId"]}},
		apitest.IfMatch(owner.Call("GET", link, nil).Revision())).Want(200)
	var targets []string
	paths := document["paths"].(map[string]any)
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		// What tells of calls changes with each.
		if operation := at(document, paths[path], "get"); operation != nil && path != "/requests" &&
			path != "/apps/{appId}/usage" {
			query, _ := n.query(operation)
			targets = append(targets, n.target(path)+"?"+query.Encode())
		}
	}
	answers := func() (all []string) {
		for _, target := range targets {
			w := httptest.NewRecorder()
			i.API.ServeHTTP(w, n.request(http.MethodGet, target, ""))
			all = append(all, fmt.Sprint(w.Code, " ", requestID.ReplaceAllString(w.Body.String(), "")))
		}
		return all
	}
	whole, needed := answers(), 0
	for _, table := range tables(t, i.DB) {
		exec(t, i.DB, "ALTER TABLE "+table+" RENAME TO away")
		for at, answer := range answers() {
			switch {
			case answer[0] == '5':
				needed++
			case answer != whole[at]:
				t.Errorf("without %s, GET %s answers %.500s, and with it %.500s", table, targets[at], answer, whole[at])
			}
		}
		exec(t, i.DB, "ALTER TABLE away RENAME TO "+table)
	}
	if t.Logf("%d calls fail without a table", needed); needed < 300 {
		t.Error("too few calls fail")
	}
}

// valid returns the address and the body of a call that the contract gives as example,
// with the ids of the test's own resources.
func (n *nastyCaller) valid(path string, operation map[string]any) (target, body string) {
	n.query(operation)
	target = n.target(path)
	content := at(n.document, operation, "requestBody", "content", "application/json")
	if content == nil {
		return target, ""
	}
	text, err := json.Marshal(content["example"])
	var example map[string]any
	if err == nil {
		err = json.Unmarshal(text, &example)
	}
	if err == nil {
		delete(example, "apexProfileId") // not for the mode of the example
		text, err = json.Marshal(n.own(example), json.Deterministic(true))
	}
	if err != nil {
		n.t.Fatal(err)
	}
	return target, string(text)
}

// request returns a call, with the current revision where the resource has one.
func (n *nastyCaller) request(method, target, body string) *http.Request {
	r := httptest.NewRequest(method, "https://api.example"+target, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+n.credential)
	r.Header.Set("Idempotency-Key", apitest.NewKey())
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if n.ifMatch {
		r.Header.Set("If-Match", n.revision(target))
	}
	return r
}
