package op

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/goccy/go-yaml"

	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/schema"
)

// members is a JSON object with its members in their order.
type members []member

type member struct {
	name  string
	value any
}

// MarshalJSONTo writes the members as one object.
func (m members) MarshalJSONTo(e *jsontext.Encoder) error {
	if err := e.WriteToken(jsontext.BeginObject); err != nil {
		return err
	}
	for _, each := range m {
		if err := e.WriteToken(jsontext.String(each.name)); err != nil {
			return err
		}
		if err := json.MarshalEncode(e, each.value); err != nil {
			return err
		}
	}
	return e.WriteToken(jsontext.EndObject)
}

// sorted returns the entries of a map as members in the order of their names.
func sorted[T any](all map[string]T) (m members) {
	for _, name := range slices.Sorted(maps.Keys(all)) {
		m = append(m, member{name, all[name]})
	}
	return m
}

func refTo(kind, name string) members { return members{{"$ref", "#/components/" + kind + "/" + name}} }

// OpenAPI returns the contract of the declared operations as an OpenAPI 3.1
// document in YAML.
func (p *Pipeline) OpenAPI() ([]byte, error) {
	paths := members{}
	for _, r := range p.rows {
		i := slices.IndexFunc(paths, func(m member) bool { return m.name == r.Path })
		if i < 0 {
			i, paths = len(paths), append(paths, member{r.Path, members{}})
		}
		paths[i].value = append(paths[i].value.(members), member{strings.ToLower(r.Method), p.describe(r)})
	}
	webhooks := p.webhooks()
	described := members{}
	for _, h := range headers {
		described = append(described, member{h.name, h.describe(h.name != replayed)})
	}
	refusals := map[string]members{}
	for _, r := range p.rows {
		for _, status := range r.errorStatuses() {
			refusals[refusalName(status)] = p.refusal(status)
		}
	}
	document := members{
		{"openapi", "3.1.0"},
		{"info", members{
			{"title", "Waymark Administrative Link-Management API"},
			{"version", "1.0.0"},
			{"description", "Through this API an owner manages apps, links, domains and what belongs to them. " +
				"Every mutation needs an Idempotency-Key; updates need If-Match with the revision last read."},
			{"contact", members{{"name", "Waymark"}, {"url", "https://github.com/waymarkhq/waymark"}}},
			{"license", members{{"name", "Apache-2.0"}, {"identifier", "Apache-2.0"}}},
		}},
		{"servers", []members{{{"url", BasePath}, {"description", "The API listener of this installation"}}}},
		{"security", []members{{{"bearer", []string{}}}}},
		{"tags", tags()},
		{"paths", paths},
		{"webhooks", webhooks},
		{"components", members{
			{"securitySchemes", members{{"bearer", members{{"type", "http"}, {"scheme", "bearer"},
				{"description", "A human session or an API key."}}}}},
			{"parameters", commonParameters},
			{"headers", described},
			{"responses", sorted(refusals)},
			{"schemas", sorted(schema.Merge(p.requests, p.answers))},
		}},
	}
	text, err := json.Marshal(document, json.Deterministic(true))
	if err != nil {
		return nil, fmt.Errorf("marshal the OpenAPI document: %w", err)
	}
	return yaml.JSONToYAML(text)
}

// commonParameters are the headers that operations share.
var commonParameters = members{
	{"IdempotencyKey", members{
		{"name", "Idempotency-Key"}, {"in", "header"}, {"required", true},
		{"description", "A UUID v4 that names this intent for 24 hours: the same request with the same key has one " +
			"effect."},
		{"schema", &schema.Schema{Type: schema.String, Format: "uuid", MaxLength: schema.Of(36),
			Example: "7d9f0a52-3c1e-4b8a-9f57-2e6c81d4a0b3"}},
	}},
	{"IfMatch", ifMatch(true, "The quoted strong revision that was last read, as ETag has it. An old one is refused "+
		"with 412.")},
	{"IfMatchOptional", ifMatch(false, "The quoted strong revision that was last read, as ETag has it; when sent, an "+
		"old one is refused with 412.")},
}

func ifMatch(required bool, doc string) members {
	return members{
		{"name", "If-Match"}, {"in", "header"}, {"required", required}, {"description", doc},
		{"schema", &schema.Schema{Type: schema.String, Pattern: revisionPattern, MaxLength: schema.Of(38),
			Example: `"f3b1c6de-8a5e-4f0b-9c8d-6a2e1b7f4c90"`}},
	}
}

// revisionPattern is a strong revision in double quotes.
const revisionPattern = `^"[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}"$`

func (p *Pipeline) describe(r *row) members {
	parameters := []any{}
	for _, q := range r.input.parameters {
		m := members{{"name", q.name}, {"in", q.in}, {"required", q.required}}
		if q.doc != "" {
			m = append(m, member{"description", q.doc})
		}
		described := *q.schema
		described.Description = ""
		parameters = append(parameters, append(m, member{"schema", &described}))
	}
	if r.mutates {
		parameters = append(parameters, refTo("parameters", "IdempotencyKey"))
	}
	switch r.IfMatch {
	case IfMatchRequired:
		parameters = append(parameters, refTo("parameters", "IfMatch"))
	case IfMatchOptional:
		parameters = append(parameters, refTo("parameters", "IfMatchOptional"))
	}
	o := members{
		{"operationId", r.ID}, {"summary", r.Summary}, {"description", r.description()}, {"tags", []string{r.tag()}},
		{"x-service-state", "available_production"}, {"x-service-permission", r.Perm}, {"x-service-scope", r.scope()},
		{"x-service-milestone", "1.0"}, {"x-service-human-only", r.Human},
		{"parameters", parameters},
	}
	if content := p.requestContent(r); content != nil {
		o = append(o, member{"requestBody", members{{"required", r.input.upload != nil ||
			len(r.input.body.Resolve().Properties) > 0}, {"content", content}}})
	}
	responses := members{{strconv.Itoa(r.Status), p.success(r)}}
	if r.types != nil {
		responses = append(responses, member{"304", members{
			{"description", "If-None-Match named the ETag of these bytes."}, {"headers", r.successHeaders()}}})
	}
	for _, status := range r.errorStatuses() {
		responses = append(responses, member{strconv.Itoa(status), refTo("responses", refusalName(status))})
	}
	return append(o, member{"responses", responses})
}

// description returns the text of an operation: its Doc, and what its row
// implies.
func (r *row) description() string {
	var b strings.Builder
	if r.Doc != "" {
		b.WriteString(r.Doc + "\n\n")
	}
	b.WriteString("Needs the permission `" + r.Perm + "`")
	if r.Human {
		b.WriteString(" and a human session; API keys are refused")
	}
	return b.String() + "."
}

// scope says whether every call concerns an app.
func (r *row) scope() string {
	if a := r.App; a.path+a.body != "" || a.query != "" && slices.ContainsFunc(r.input.parameters,
		func(p parameter) bool {
			return p.name == a.query && p.required
		}) {
		return "app"
	}
	return "account"
}

func (p *Pipeline) requestContent(r *row) members {
	switch {
	case r.input.upload != nil:
		body := p.requests.Name("AssetUpload", uploadSchema())
		return members{{"multipart/form-data", members{{"schema", body}, {"example", body.Sample(true)}}}}
	case r.input.body != nil:
		return members{{"application/json", members{{"schema", r.input.body}, {"example", r.input.body.Sample(false)}}}}
	}
	return nil
}

func (p *Pipeline) success(r *row) members {
	response := members{{"description", http.StatusText(r.Status)}}
	content := members{}
	for _, t := range r.types {
		bytes := &schema.Schema{Type: schema.String, ContentMediaType: t, MaxLength: schema.Of(maxBytes)}
		if t == "application/json" { // whatever the file holds
			bytes = &schema.Schema{}
		}
		content = append(content, member{t, members{{"schema", bytes}}})
	}
	if r.data != nil && r.Status != http.StatusNoContent {
		envelope := p.envelope(r)
		content = append(content, member{"application/json",
			members{{"schema", envelope}, {"example", exampleAnswer(r, envelope.Sample(true))}}})
	}
	response = append(response, member{"headers", r.successHeaders()})
	if len(content) > 0 {
		response = append(response, member{"content", content})
	}
	return response
}

// maxBytes bounds an answer in bytes: an export.
const maxBytes = 1 << 20

// envelope is the schema of a success in JSON. It is named after its data.
func (p *Pipeline) envelope(r *row) *schema.Schema {
	data := p.answers.For(r.data)
	name := data.Resolve().Name + "Response"
	if r.list {
		name = data.Resolve().Name + "ListResponse"
		data = &schema.Schema{Type: schema.Array, Items: data, MaxItems: schema.Of(cmp.Or(r.PageLimit, maxLimit))}
	}
	envelope := &schema.Schema{Type: schema.Object, Properties: []schema.Property{
		{Name: "data", Required: true, Schema: data},
		{Name: "meta", Required: true, Schema: p.answers.For(reflect.TypeFor[Meta]())},
	}}
	if r.paged {
		envelope.Properties = append(envelope.Properties, schema.Property{Name: "pagination", Required: true,
			Schema: p.answers.For(reflect.TypeFor[pagination]())})
	}
	return p.answers.Name(name, envelope.Ready())
}

// Meta is the part of the envelope that belongs to the request.
type Meta struct {
	RequestID string `json:"requestId"`
}

// SchemaName implements schema.Named.
func (Meta) SchemaName() string { return "ResponseMeta" }

// tags returns the groups of operations in their order.
func tags() (all []members) {
	for _, t := range tagTexts {
		if t.Doc != "" {
			all = append(all, members{{"name", t.Name}, {"description", t.Doc}})
		}
	}
	return all
}

// tag is the group of an operation in the reference, by the first segment of
// its path.
func (o Op) tag() string {
	first, _, _ := strings.Cut(strings.TrimPrefix(o.Path, "/"), "/")
	i := slices.IndexFunc(tagTexts, func(t tagText) bool { return t.slug == first })
	if i < 0 {
		panic("op: no tag for paths that begin with /" + first)
	}
	return tagTexts[i].Name
}

func refusalName(status int) string {
	return strings.ReplaceAll(http.StatusText(status), " ", "")
}

func (p *Pipeline) refusal(status int) members {
	var codes []string
	for _, c := range fault.Codes {
		if c.Status == status {
			codes = append(codes, "`"+string(c.Code)+"`")
		}
	}
	envelope := p.answers.For(reflect.TypeFor[ErrorEnvelope]())
	return members{
		{"description", http.StatusText(status) + ": " + strings.Join(codes, ", ")},
		{"headers", refusalHeaders(status)},
		{"content", members{{"application/json", members{{"schema", envelope}, {"example", exampleRefusal(status)}}}}},
	}
}

// errorStatuses returns the refusals that an operation can answer.
func (r *row) errorStatuses() []int {
	all := []int{400, 401, 403, 404, 429, 500, 503}
	if r.mutates {
		all = append(all, 409, 413, 415)
	}
	if r.Conflict {
		all = append(all, 409)
	}
	if r.input.body != nil || r.input.upload != nil {
		all = append(all, 422)
	}
	if r.types != nil && !r.list { // a file may not be ready, or break a rule by its query
		all = append(all, 409, 422)
	}
	if r.IfMatch != NoIfMatch {
		all = append(all, 412)
	}
	if r.IfMatch == IfMatchRequired {
		all = append(all, 428)
	}
	slices.Sort(all)
	return slices.Compact(all)
}
