package assembly_test

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/goccy/go-yaml"

	"github.com/waymarkhq/waymark/api"
	"github.com/waymarkhq/waymark/internal/apitest"
	"github.com/waymarkhq/waymark/internal/dnsrecord"
	"github.com/waymarkhq/waymark/internal/domain"
	"github.com/waymarkhq/waymark/internal/store"
)

// nasty are values that some code may not expect.
var nasty = []string{
	`null`, `true`, `-1`, `0`, `0.5`, `1e308`, `9007199254740993`, `""`, `" "`, `"\u0000"`, `"\u202e"`, `"\u0007\n"`,
	`"💥"`, `"../.."`, `"%00"`, `"null"`,
	`"` + strings.Repeat("é", 5000) + `"`, `"9999-12-31T23:59:60.999999999-23:59"`, `"https://x:y@[::1%25z]:99999/"`,
	`[]`, `[null]`, `[[]]`, `[{}]`, `[[],[]]`, `[{"a":[]},{"a":[]}]`, `[1,"1",1.0]`, `{}`, `{"":{}}`,
	`{"a":[{}],"b":null}`,
	strings.Repeat("[", 29) + strings.Repeat("]", 29),
}

// contractDocument is the contract as parsed JSON.
func contractDocument(t *testing.T) map[string]any {
	t.Helper()
	text, err := yaml.YAMLToJSON(api.Contract())
	if err != nil {
		t.Fatal(err)
	}
	var document map[string]any
	if err := json.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	return document
}

// at follows names through parsed JSON and references.
func at(document map[string]any, v any, names ...string) map[string]any {
	object, _ := v.(map[string]any)
	for _, name := range names {
		object, _ = object[name].(map[string]any)
	}
	if ref, ok := object["$ref"].(string); ok {
		return at(document, document, strings.Split(strings.TrimPrefix(ref, "#/"), "/")...)
	}
	return object
}

// No value of any member, parameter or header of any operation makes a 5xx, nor does one
// that an app sends.
func TestNoValueIsAnInternalError(t *testing.T) {
	document := contractDocument(t)
	options := apitest.Options{Domains: domain.Options{Provider: awayDNS{}}}
	apitest.EachWith(t, options, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		n := &nastyCaller{t: t, api: i.API, public: i.Public, credential: owner.Credential, ids: resources(t, i, owner),
			document: document}
		paths := document["paths"].(map[string]any)
		for _, path := range slices.Sorted(maps.Keys(paths)) {
			for method, operation := range paths[path].(map[string]any) {
				n.operation(strings.ToUpper(method), path, at(document, operation))
			}
		}
		n.apps(owner.Host)
		t.Logf("%d calls", n.calls)
		if n.calls < 10000 {
			t.Errorf("only %d calls were made", n.calls)
		}
	})
}

// resources makes one of each kind and returns their ids by path parameter.
func resources(t *testing.T, i *apitest.Installation, owner *apitest.Client) map[string]string {
	made := func(path string, body apitest.M) string {
		body["appId"] = owner.AppID
		return owner.Call("POST", path, body).Want(201).Text("data.id")
	}
	ids := map[string]string{"appId": owner.AppID, "domain": owner.Host}
	ids["linkId"] = owner.Link("a", apitest.M{}).Want(201).Text("data.id")
	ids["domainId"] = owner.Call("GET", "/domains?appId="+owner.AppID, nil).Want(200).Text("data.0.id")
	ids["recordId"] = dnsRecord(t, i, owner, ids["domainId"])
	ids["tagId"] = made("/tags", apitest.M{"name": "a"})
	ids["folderId"] = made("/folders", apitest.M{"name": "a"})
	ids["campaignId"] = made("/campaigns", apitest.M{"name": "a"})
	ids["qrId"] = made("/qr-codes", apitest.M{"name": "a", "linkId": ids["linkId"]})
	ids["importId"] = made("/imports", apitest.M{"format": "csv", "content": "slug\na"})
	ids["keyId"] = owner.Call("POST", "/api-keys", apitest.M{"name": "a", "appIds": []string{owner.AppID},
		"permissions": []string{"links:read"}}).Want(201).Text("data.key.id")
	hook := owner.Call("POST", "/webhooks", apitest.M{"appId": owner.AppID, "url": "https://example.com/",
		"events": []string{"link.created"}}).Want(201)
	ids["webhookId"] = hook.Text("data.webhook.id")
	ids["deliveryId"] = owner.Call("POST", "/webhooks/"+ids["webhookId"]+"/test", "{}").Want(202).Text("data.id")
	export := owner.Call("POST", "/exports", apitest.M{"appId": owner.AppID, "dataset": "links", "format": "csv",
		"filters": apitest.M{}}).Want(202)
	ids["exportId"], ids["operationId"] = export.Text("data.id"), export.Text("data.operationId")
	ids["batchId"] = owner.Call("POST", "/link-batches", apitest.M{"appId": owner.AppID,
		"items": []apitest.M{{"clientId": "a", "action": "create",
			"input": apitest.M{"appId": owner.AppID, "domain": owner.Host, "slug": "b"}}}}).Want(202).Text("data.id")
	ids["templateId"] = owner.Call("POST", "/templates", apitest.M{"appId": owner.AppID, "name": "a",
		"baseTemplateId": "android"}).Want(201).Text("data.template.id")
	ids["baseId"], ids["version"] = "android", "1"
	owner.Call("POST", "/templates/"+ids["templateId"]+"/versions", "{}").Want(201)
	ids["publicationId"] = owner.Call("POST", "/templates/"+ids["templateId"]+"/publish", apitest.M{
		"targets": []apitest.M{{"scope": "app", "expectedRevision": nil}}}).Want(202).Text("data.id")
	ids["assetId"] = ids["tagId"] // uploads have tests of their own
	return ids
}

// dnsRecord makes a domain one that has records, and adds one.
func dnsRecord(t *testing.T, i *apitest.Installation, owner *apitest.Client, domainID string) string {
	if err := i.DB.InTx(t.Context(), func(tx *store.Tx) error {
		if _, err := tx.Exec(t.Context(), "UPDATE domain SET mode = 'managed' WHERE id = ?", domainID); err != nil {
			return err
		}
		return dnsrecord.Ensure(t.Context(), tx, domainID, []dnsrecord.System{{Type: dnsrecord.A, Name: "@",
			Value: "192.0.2.80"}})
	}); err != nil {
		t.Fatal(err)
	}
	return owner.Call("POST", "/domains/"+domainID+"/dns-records", apitest.M{"type": "TXT", "name": "a", "value": "a"}).
		Want(201).Text("data.id")
}

type nastyCaller struct {
	t          *testing.T
	api        http.Handler
	public     http.Handler
	credential string
	ids        map[string]string
	document   map[string]any
	calls      int
	// ifMatch has the calls carry the current revision.
	ifMatch bool
	// header is the name and value of one that replaces the usual one.
	header [2]string
}

var pathParameter = regexp.MustCompile(`\{(\w+)\}`)

func (n *nastyCaller) operation(method, path string, operation map[string]any) {
	query, optional := n.query(operation)
	target := n.target(path)
	for _, name := range optional {
		for _, value := range nasty {
			text := strings.Trim(value, `"`)
			with := maps.Clone(query)
			with.Set(name, text[:min(len(text), 3000)])
			n.call(method, target+"?"+with.Encode(), "")
		}
	}
	for _, p := range pathParameter.FindAllString(path, -1) {
		for _, value := range []string{"💥", "a", "%00", strings.Repeat("a", 600), "..", "'"} {
			n.call(method, strings.Replace(target, url.PathEscape(n.ids[p[1:len(p)-1]]), url.PathEscape(value), 1), "")
		}
	}
	if method != http.MethodGet {
		n.headers(method, target)
	}
	content := at(n.document, operation, "requestBody", "content", "application/json")
	if content == nil {
		return
	}
	body, err := json.Marshal(content["example"])
	if err != nil {
		n.t.Fatal(err)
	}
	var valid any
	if err := json.Unmarshal(body, &valid); err != nil {
		n.t.Fatal(err)
	}
	valid = n.own(valid)
	n.members(at(n.document, content, "schema"), valid, func(changed any) {
		body, err := json.Marshal(changed, json.Deterministic(true))
		if err != nil {
			n.t.Fatal(err)
		}
		n.call(method, target, string(body))
	}, 4)
}

// headers sends a value in each header that a mutation reads, another one for each
// operation: all operations together send all of them.
func (n *nastyCaller) headers(method, target string) {
	value := strings.Trim(nasty[n.calls%len(nasty)], `"`)
	for _, name := range []string{"Idempotency-Key", "If-Match", "Content-Type", "Content-Encoding", "Authorization"} {
		n.header = [2]string{name, value[:min(len(value), 3000)]}
		n.call(method, target, "{}")
	}
	n.header = [2]string{}
}

// apps sends each value in each member of what apps send.
func (n *nastyCaller) apps(host string) {
	for path, valid := range map[string]map[string]any{
		"resolve": {"url": "https://" + host + "/a", "installId": "a"},
		"recover": {"token": "a"},
		"events": {"events": []any{map[string]any{"type": "app_open", "linkId": n.ids["linkId"], "installId": "a",
			"occurredAt": "2026-11-20T12:00:00Z"}}},
	} {
		send := func(v any) {
			body, err := json.Marshal(v, json.Deterministic(true))
			if err != nil {
				n.t.Fatal(err)
			}
			r := httptest.NewRequest(http.MethodPost, "https://"+host+"/_service/"+path, strings.NewReader(string(body)))
			r.Header.Set("Content-Type", "application/json")
			n.serve(n.public, r, string(body))
		}
		for _, v := range nasty {
			send(raw(v))
			for name := range valid {
				changed := maps.Clone(valid)
				changed[name] = raw(v)
				send(changed)
			}
			event, _ := first(valid["events"]).(map[string]any)
			for name := range event {
				changed := maps.Clone(event)
				changed[name] = raw(v)
				send(map[string]any{"events": []any{changed}})
			}
		}
	}
}

// query returns the parameters that a call must have, and the names of all.
func (n *nastyCaller) query(operation map[string]any) (required url.Values, names []string) {
	parameters, _ := operation["parameters"].([]any)
	required, n.ifMatch = url.Values{}, false
	for _, p := range parameters {
		p := at(n.document, p)
		n.ifMatch = n.ifMatch || p["name"] == "If-Match"
		if p["in"] != "query" {
			continue
		}
		name := p["name"].(string)
		names = append(names, name)
		if must, _ := p["required"].(bool); must {
			value := n.ids[name]
			if name == "start" || name == "end" {
				value = map[string]string{"start": "2026-11-01T00:00:00Z", "end": "2026-11-20T00:00:00Z"}[name]
			}
			required.Set(name, value)
		}
	}
	return required, names
}

// target returns an address with the ids of the test's own resources.
func (n *nastyCaller) target(path string) string {
	return "/v1" + pathParameter.ReplaceAllStringFunc(path,
		func(p string) string { return url.PathEscape(n.ids[p[1:len(p)-1]]) })
}

// own puts the ids of the test's own resources into an example.
func (n *nastyCaller) own(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = n.own(v[i])
		}
	case map[string]any:
		for name, inner := range v {
			_, text := inner.(string)
			switch id, one := n.ids[name], n.ids[strings.TrimSuffix(name, "s")]; {
			case text && id != "":
				v[name] = id
			case one != "" && strings.HasSuffix(name, "Ids"):
				v[name] = []any{one}
			default:
				v[name] = n.own(inner)
			}
		}
	}
	return v
}

// raw is a value that is already JSON.
type raw string

func (r raw) MarshalJSON() ([]byte, error) { return []byte(r), nil }

// members calls send with the value changed at each place that the schema has,
// once for each nasty value.
func (n *nastyCaller) members(s map[string]any, value any, send func(any), depth int) {
	for _, v := range nasty {
		send(raw(v))
	}
	if depth == 0 {
		return
	}
	for _, alternative := range append(alternatives(s), s) {
		alternative := at(n.document, alternative)
		if items := at(n.document, alternative, "items"); items != nil {
			n.members(items, first(value), func(v any) { send([]any{v}) }, depth-1)
		}
		properties, _ := alternative["properties"].(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(properties)) {
			object, _ := value.(map[string]any)
			n.members(at(n.document, properties[name]), object[name], func(v any) {
				changed := map[string]any{}
				maps.Copy(changed, object)
				changed[name] = v
				send(changed)
			}, depth-1)
		}
	}
}

func alternatives(s map[string]any) []any {
	all, _ := s["anyOf"].([]any)
	return all
}

func first(v any) any {
	if items, ok := v.([]any); ok && len(items) > 0 {
		return items[0]
	}
	return nil
}

// call sends a call, with the current revision where the resource has one. It
// does without the validator of the contract, which takes most of the time.
func (n *nastyCaller) call(method, target, body string) {
	r := httptest.NewRequest(method, "https://api.example"+target, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+n.credential)
	if method != http.MethodGet {
		r.Header.Set("Idempotency-Key", apitest.NewKey())
		r.Header.Set("Content-Type", "application/json")
		if n.ifMatch && body != "" {
			r.Header.Set("If-Match", n.revision(target))
		}
	}
	if n.header[0] != "" {
		r.Header.Set(n.header[0], n.header[1])
	}
	n.serve(n.api, r, body)
}

// answer returns what the API answers to a request.
func (n *nastyCaller) answer(r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	n.api.ServeHTTP(w, r)
	return w
}

func (n *nastyCaller) serve(h http.Handler, r *http.Request, body string) {
	n.calls++
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if w.Code >= 500 {
		n.t.Errorf("%s %.200s %v %.300s answers %d %s", r.Method, r.URL, n.header, body, w.Code, w.Body)
	}
}

// revision reads the current one, of an action that of its resource.
func (n *nastyCaller) revision(target string) string {
	for _, path := range []string{target, target[:strings.LastIndexByte(target, '/')]} {
		r := httptest.NewRequest(http.MethodGet, "https://api.example"+path, nil)
		r.Header.Set("Authorization", "Bearer "+n.credential)
		if tag := n.answer(r).Header().Get("ETag"); tag != "" {
			return tag
		}
	}
	return `"f3b1c6de-8a5e-4f0b-9c8d-6a2e1b7f4c90"`
}
