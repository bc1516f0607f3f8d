package op

import (
	"net/http"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/waymarkhq/waymark/internal/fault"
)

func init() {
	// Members match exactly; lists are never null (completions.md §1).
	huma.ValidateStrictCasing = true
	huma.DefaultArrayNullable = false
}

// newRegistry names schemas by their Go types, with a capital letter. Where two
// packages use one name, the later one's has its package before it.
func newRegistry() huma.Registry {
	taken := map[string]reflect.Type{}
	return huma.NewMapRegistry("#/components/schemas/", func(t reflect.Type, hint string) string {
		for t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		name := capital(huma.DefaultSchemaNamer(t, hint))
		if owner, ok := taken[name]; ok && owner != t {
			name = capital(path.Base(t.PkgPath())) + name
		}
		taken[name] = t
		return name
	})
}

func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// OpenAPI returns the contract of the declared operations as an OpenAPI 3.1
// document in YAML.
func (s *Service) OpenAPI() ([]byte, error) {
	doc := &huma.OpenAPI{
		OpenAPI: "3.1.0",
		Info: &huma.Info{
			Title: "Waymark Administrative Link-Management API", Version: "1.0.0",
			Description: "Through this API an owner manages apps, links, domains and what belongs to them. " +
				"Every mutation needs an Idempotency-Key; updates need If-Match with the revision last read.",
			License: &huma.License{Name: "Apache-2.0", Identifier: "Apache-2.0"},
		},
		Servers:    []*huma.Server{{URL: BasePath, Description: "The API listener of this installation"}},
		Components: &huma.Components{Schemas: s.registry, SecuritySchemes: map[string]*huma.SecurityScheme{"bearer": {Type: "http", Scheme: "bearer", Description: "A human session or an API key."}}},
		Security:   []map[string][]string{{"bearer": {}}},
		Paths:      map[string]*huma.PathItem{},
	}
	tags := map[string]bool{}
	for _, r := range s.rows {
		doc.AddOperation(s.describe(r))
		if tag := r.tag(); !tags[tag] {
			tags[tag] = true
			doc.Tags = append(doc.Tags, &huma.Tag{Name: tag})
		}
	}
	doc.Webhooks = s.webhooks()
	return doc.YAML()
}

func (s *Service) describe(r *row) *huma.Operation {
	scope := "account"
	if r.App.concerns() {
		scope = "app"
	}
	o := &huma.Operation{
		OperationID: r.ID, Method: r.Method, Path: r.Path, Summary: r.Summary, Description: r.Doc, Tags: []string{r.tag()},
		Responses: map[string]*huma.Response{},
		Extensions: map[string]any{
			"x-service-state": "available_production", "x-service-permission": r.Perm, "x-service-scope": scope,
			"x-service-milestone": "1.0", "x-service-human-only": r.Human,
		},
	}
	for _, p := range r.input.parameters {
		o.Parameters = append(o.Parameters, &huma.Param{Name: p.name, In: p.in, Description: p.doc, Required: p.required, Schema: p.schema})
	}
	if r.mutates {
		o.Parameters = append(o.Parameters, &huma.Param{
			Name: "Idempotency-Key", In: "header", Required: true, Description: "A UUID v4 that names this intent for 24 hours.",
			Schema: &huma.Schema{Type: huma.TypeString, Format: "uuid"},
		})
	}
	if r.IfMatch != NoIfMatch {
		// Required for the operation, but declared optional: without it the
		// documented answer is 428.
		o.Parameters = append(o.Parameters, &huma.Param{
			Name: "If-Match", In: "header", Description: "The quoted strong revision that was last read.",
			Schema: &huma.Schema{Type: huma.TypeString},
		})
	}
	if r.input.body != nil {
		o.RequestBody = &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{"application/json": {Schema: r.input.body}}}
	}
	if r.input.upload != nil {
		o.RequestBody = uploadBody()
	}
	o.Responses[strconv.Itoa(r.Status)] = s.success(r)
	for _, status := range r.errorStatuses() {
		o.Responses[strconv.Itoa(status)] = s.refusal(status)
	}
	return o
}

func (s *Service) success(r *row) *huma.Response {
	headers := commonHeaders()
	text := func(doc string) *huma.Param {
		return &huma.Param{Description: doc, Schema: &huma.Schema{Type: huma.TypeString}}
	}
	if !r.list && r.Status != http.StatusNoContent {
		headers["ETag"] = text("The strong revision, in double quotes; of bytes, a digest of them.")
	}
	if r.Status == http.StatusCreated || r.Status == http.StatusAccepted {
		headers["Location"] = text("The created resource, or what to follow.")
	}
	if r.Status == http.StatusAccepted {
		headers["Retry-After"] = text("Seconds until the next poll.")
	}
	if r.mutates {
		headers["Idempotency-Replayed"] = text("`true` when the answer comes from a receipt.")
	}
	response := &huma.Response{Description: http.StatusText(r.Status), Headers: headers}
	if r.Status == http.StatusNoContent {
		return response
	}
	if r.types != nil {
		headers["Content-Disposition"] = text("`inline` or `attachment`, with a file name.")
		response.Content = map[string]*huma.MediaType{}
		for _, t := range r.types {
			response.Content[t] = &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}
			if t == "application/json" { // whatever the file holds
				response.Content[t].Schema = &huma.Schema{}
			}
		}
	}
	if r.data == nil {
		return response
	}
	envelope := &huma.Schema{
		Type: huma.TypeObject, AdditionalProperties: false, Required: []string{"data", "meta"},
		Properties: map[string]*huma.Schema{
			"data": s.registry.Schema(r.data, true, r.ID+"Data"),
			"meta": s.registry.Schema(reflect.TypeFor[Meta](), true, "Meta"),
		},
	}
	if r.list {
		envelope.Properties["data"] = &huma.Schema{Type: huma.TypeArray, Items: envelope.Properties["data"]}
		envelope.Properties["pagination"] = s.registry.Schema(reflect.TypeFor[pagination](), true, "Pagination")
		envelope.Required = append(envelope.Required, "pagination")
	}
	if response.Content == nil {
		response.Content = map[string]*huma.MediaType{}
	}
	response.Content["application/json"] = &huma.MediaType{Schema: envelope}
	return response
}

// Meta is the part of the envelope that belongs to the request.
type Meta struct {
	RequestID string `json:"requestId" pattern:"^req_[0-9a-f]{32}$"`
}

func (s *Service) refusal(status int) *huma.Response {
	var codes []string
	for _, c := range fault.Codes {
		if c.Status == status {
			codes = append(codes, "`"+string(c.Code)+"`")
		}
	}
	return &huma.Response{
		Description: http.StatusText(status) + ": " + strings.Join(codes, ", "), Headers: commonHeaders(),
		Content: map[string]*huma.MediaType{"application/json": {Schema: s.registry.Schema(reflect.TypeFor[ErrorEnvelope](), true, "ErrorEnvelope")}},
	}
}

func commonHeaders() map[string]*huma.Param {
	return map[string]*huma.Param{"X-Request-Id": {Description: "The request id, as in the body.", Schema: &huma.Schema{Type: huma.TypeString}}}
}

// errorStatuses returns the refusals that an operation can answer.
func (r *row) errorStatuses() []int {
	all := []int{400, 401, 403, 404, 429, 500, 503}
	if r.mutates {
		all = append(all, 409, 413, 422)
		if r.input.body != nil || r.input.upload != nil {
			all = append(all, 415)
		}
	}
	if r.types != nil {
		all = append(all, 409, 422)
	}
	if r.IfMatch != NoIfMatch {
		all = append(all, 412)
	}
	if r.IfMatch == IfMatchRequired {
		all = append(all, 428)
	}
	slices.Sort(all)
	return all
}
