package assembly_test

import (
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

	"github.com/waymarkhq/waymark/internal/apitest"
	"github.com/waymarkhq/waymark/internal/dnsprovider"
	"github.com/waymarkhq/waymark/internal/domain"
	"github.com/waymarkhq/waymark/internal/store"
)

// failing fails the nth statement of a call, and the one that stores what a repeated call
// would be answered: so no change is ever committed.
type failing struct {
	mu     sync.Mutex
	n, nth int
	failed []string
}

func (f *failing) fails(query string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.n++; f.n != f.nth && !strings.HasPrefix(query, "INSERT INTO receipt ") {
		return nil
	}
	f.failed = append(f.failed, strings.Join(strings.Fields(query), " "))
	return errors.New("the statement was made to fail")
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

// A call ends at its first statement that fails: it writes nothing more, is an internal
// error, and its transaction is undone.
func TestFailedStatementEndsTheCall(t *testing.T) {
	document := contractDocument(t)
	i := apitest.New(t, "sqlite", apitest.Options{
		Domains: domain.Options{Provider: struct{ dnsprovider.Provider }{}}, // it is never asked
	})
	owner := i.Prepared(t, "ann@example.com")
	n := &nastyCaller{t: t, api: i.API, credential: owner.Credential, ids: resources(t, i, owner), document: document}
	// What is deleted must not be in use.
	used, unused := n.ids, maps.Clone(n.ids)
	unused["linkId"] = owner.Link("unused", apitest.M{}).Want(201).Text("data.id")
	operation := owner.Call("POST", "/domains", apitest.M{"appId": owner.AppID, "mode": "platform",
		"prefix": "unused"}).Want(202).Text("data.id")
	i.Settle(t)
	unused["domainId"] = owner.Call("GET", "/operations/"+operation, nil).Want(200).Text("data.result.resource.id")
	var refused []string
	tried := 0
	paths := document["paths"].(map[string]any)
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		for method, operation := range paths[path].(map[string]any) {
			method, operation := strings.ToUpper(method), at(document, operation)
			if n.ids = used; method == http.MethodDelete {
				n.ids = unused
			}
			target, body := n.valid(path, operation)
			if method == http.MethodGet {
				query, _ := n.query(operation)
				target += "?" + query.Encode()
			}
			for nth := 1; ; nth++ {
				w, f := httptest.NewRecorder(), &failing{nth: nth}
				r := n.request(method, target, body)
				i.API.ServeHTTP(w, r.WithContext(store.WithFaults(r.Context(), f.fails)))
				if len(f.failed) == 0 {
					if w.Code/100 != 2 {
						refused = append(refused, fmt.Sprint(method, " ", path, " ", w.Code))
					}
					break
				}
				tried++
				if len(f.failed) > 1 || w.Code != http.StatusInternalServerError {
					t.Errorf("%s %s answers %d %s after a failed %q", method, path, w.Code, w.Body, f.failed)
				}
				if f.n < nth { // all statements were tried: the one that always fails is left
					break
				}
			}
		}
	}
	if tried < 200 {
		t.Error("too few statements were tried")
	}
	t.Logf("%d statements failed; refused before they write: %v", tried, refused)
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
