package assembly_test

import (
	"context"
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

// awayDNS is a DNS provider that does not answer.
type awayDNS struct{}

var errAway = errors.New("the DNS provider is away")

func (awayDNS) Zone(context.Context, string) (string, error) { return "", errAway }

func (awayDNS) Get(context.Context, string, string, string) (dnsprovider.Set, error) {
	return dnsprovider.Set{}, errAway
}

func (awayDNS) Replace(context.Context, string, dnsprovider.Set, dnsprovider.Set) error {
	return errAway
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
		Domains: domain.Options{Provider: awayDNS{}},
	})
	owner := i.Prepared(t, "ann@example.com")
	n := &nastyCaller{t: t, api: i.API, credential: owner.Credential, ids: resources(t, i, owner), document: document}
	used, unused := n.ids, unused(t, i, owner, n.ids)
	var refused []string
	tried := 0
	// attempt has each statement of a call fail in turn. It keeps the name of a call that is refused although no
	// statement fails.
	attempt := func(name string, call func(context.Context) (status int, body []byte)) {
		for nth := 1; ; nth++ {
			f := &failing{nth: nth}
			status, body := call(store.WithFaults(t.Context(), f.fails))
			if len(f.failed) == 0 {
				if status/100 != 2 {
					refused = append(refused, name)
				}
				return
			}
			tried++
			if len(f.failed) > 1 || status != http.StatusInternalServerError {
				t.Errorf("%s answers %d %s after a failed %q", name, status, body, f.failed)
			}
			if f.n < nth { // all statements were tried: the one that always fails is left
				return
			}
		}
	}
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
			attempt(method+" "+path, func(ctx context.Context) (int, []byte) {
				w := n.answer(n.request(method, target, body).WithContext(ctx))
				return w.Code, w.Body.Bytes()
			})
		}
	}
	others := otherCalls(t, i, owner, used)
	for _, name := range refused {
		if others[name] == nil {
			t.Errorf("%s is refused: give it a call of its own in otherCalls", name)
		}
	}
	refused = nil
	for name, call := range others {
		attempt(name, func(ctx context.Context) (int, []byte) {
			answer := call(func(r *http.Request) { *r = *r.WithContext(ctx) })
			return answer.Status, answer.Body
		})
	}
	if len(refused) > 0 {
		t.Errorf("these calls of otherCalls are refused: %v", refused)
	}
	if tried < 1000 {
		t.Errorf("only %d statements were tried", tried)
	}
}

// unused returns the ids, with new resources in place of those that can only be deleted while nothing uses them.
func unused(t *testing.T, i *apitest.Installation, owner *apitest.Client, ids map[string]string) map[string]string {
	ids = maps.Clone(ids)
	for _, kind := range []string{"folder", "campaign"} {
		ids[kind+"Id"] = owner.Call("POST", "/"+kind+"s", apitest.M{"appId": owner.AppID, "name": "unused"}).Want(201).
			Text("data.id")
	}
	ids["linkId"] = owner.Link("unused", apitest.M{}).Want(201).Text("data.id")
	operation := owner.Call("POST", "/domains", apitest.M{"appId": owner.AppID, "mode": "platform",
		"prefix": "unused"}).Want(202).Text("data.id")
	i.Settle(t)
	ids["domainId"] = owner.Call("GET", "/operations/"+operation, nil).Want(200).Text("data.result.resource.id")
	return ids
}

var requestID = regexp.MustCompile(`"requestId":"\w+"`)

// reads are all GETs of the contract that an owner can make, but those that tell of calls,
// which change with each.
type reads struct {
	*nastyCaller
	i       *apitest.Installation
	targets []string
	whole   []string // what each answers while nothing is wrong
}

func allReads(t *testing.T) *reads {
	t.Helper()
	document := contractDocument(t)
	i := apitest.New(t, "sqlite", apitest.Options{
		Domains: domain.Options{Provider: awayDNS{}},
	})
	owner := i.Prepared(t, "ann@example.com")
	n := &nastyCaller{t: t, api: i.API, credential: owner.Credential, ids: resources(t, i, owner), document: document}
	link := "/links/" + n.ids["linkId"]
	owner.Call("PUT", link+"/tags", apitest.M{"tagIds": []string{n.ids["tagId"]}},
		apitest.IfMatch(owner.Call("GET", link, nil).Revision())).Want(200)
	all := &reads{nastyCaller: n, i: i}
	paths := document["paths"].(map[string]any)
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		if operation := at(document, paths[path], "get"); operation != nil && path != "/requests" &&
			path != "/apps/{appId}/usage" {
			query, _ := n.query(operation)
			all.targets = append(all.targets, n.target(path)+"?"+query.Encode())
		}
	}
	all.whole = all.answers()
	return all
}

func (r *reads) answers() (all []string) {
	for _, target := range r.targets {
		w := r.answer(r.request(http.MethodGet, target, ""))
		all = append(all, fmt.Sprint(w.Code, " ", requestID.ReplaceAllString(w.Body.String(), "")))
	}
	return all
}

// agree expects that each call is answered as while nothing is wrong, or is an internal error;
// it returns how many are errors.
func (r *reads) agree(without string) (failed int) {
	r.t.Helper()
	for at, answer := range r.answers() {
		switch {
		case answer[0] == '5':
			failed++
		case answer != r.whole[at] && !strings.Contains(answer, damaged):
			r.t.Errorf("without %s, GET %s answers %.500s, and with it %.500s", without, r.targets[at], answer, r.whole[at])
		}
	}
	return failed
}

// An answer that is not complete because something could not be read is none: without
// one of the tables, a call is answered as with it or is an internal error.
func TestFailedReadIsNoAnswer(t *testing.T) {
	r, failed := allReads(t), 0
	for _, table := range tables(t, r.i.DB) {
		exec(t, r.i.DB, "ALTER TABLE "+table+" RENAME TO away")
		failed += r.agree(table)
		exec(t, r.i.DB, "ALTER TABLE away RENAME TO "+table)
	}
	if t.Logf("%d calls fail without a table", failed); failed < 300 {
		t.Error("too few calls fail")
	}
}

// damaged stands where JSON should.
const damaged = "!{"

// The same holds for what is damaged in the database: each column with JSON, and each
// empty one, as it could have some.
func TestDamagedDocumentIsNoAnswer(t *testing.T) {
	r, failed, tried := allReads(t), 0, 0
	for _, table := range tables(t, r.i.DB) {
		columns, err := store.All(t.Context(), r.i.DB, store.Value[string],
			"SELECT name FROM pragma_table_info(?) WHERE type = 'TEXT' AND name NOT LIKE '%id'", table)
		if err != nil {
			t.Fatal(err)
		}
		for _, column := range columns {
			for _, damage := range []struct{ where, to, back string }{
				{"%[2]s LIKE '{%%' OR %[2]s LIKE '[%%'", "'" + damaged + "' || %[2]s", "SUBSTR(%[2]s, 3)"},
				{"%[2]s IS NULL", "'" + damaged + "'", "NULL"},
			} {
				n, err := r.i.DB.Exec(t.Context(),
					fmt.Sprintf("UPDATE %[1]s SET %[2]s = "+damage.to+" WHERE "+damage.where, table, column))
				if err != nil {
					t.Fatal(err)
				}
				if n > 0 {
					tried++
					failed += r.agree(table + "." + column)
					exec(t, r.i.DB, fmt.Sprintf("UPDATE %[1]s SET %[2]s = "+damage.back+" WHERE %[2]s LIKE '"+damaged+"%%'",
						table, column))
				}
			}
		}
	}
	if t.Logf("%d calls fail with one of %d columns damaged", failed, tried); failed < 60 {
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
