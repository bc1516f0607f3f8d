package api

import (
	"fmt"
	"strings"
	"sync"
)

// Operation is one operation of the contract, as a client needs it.
type Operation struct {
	ID      string
	Method  string
	Path    string // relative to /v1
	Summary string
	// Description says more, and which permission the operation needs.
	Description string
	// Group is the heading under which the reference has the operation.
	Group      string
	Parameters []Parameter
	// Body is what is sent, nil for nothing. Upload tells that it is a multipart form.
	Body   *Schema
	Upload bool
	// Data is what is answered, nil for nothing. Files are the media types in which the
	// operation answers a file instead.
	Data  *Schema
	Files []string
	// Paged tells that the answer is a page, followed with a cursor.
	Paged bool
	// Tagged tells that the answer carries the revision of its resource as ETag.
	Tagged bool
	// TakesRevision tells that If-Match is sent, and NeedsRevision that it must be.
	TakesRevision, NeedsRevision bool
}

// Parameter is a parameter of the path or of the query.
type Parameter struct {
	Name        string
	InPath      bool
	Required    bool
	Description string
	Schema      *Schema
}

// Mutates reports whether calls need an Idempotency-Key.
func (o *Operation) Mutates() bool { return o.Method != "GET" }

// Operations returns the operations of the contract in its order. It reads the contract, which
// takes a tenth of a second, at the first call.
var Operations = sync.OnceValue(func() []Operation {
	d, err := read(Contract())
	if err != nil {
		panic(fmt.Sprintf("api: the contract, which is part of this program: %v", err))
	}
	return d.operations()
})

// jsonType is the media type of everything but files and uploads.
const jsonType = "application/json"

// operations returns the operations of the document in its order.
func (d *document) operations() (all []Operation) {
	for _, path := range d.object("paths") {
		for _, method := range object(path.Value) {
			all = append(all, d.operation(name(method.Key), name(path.Key), method.Value))
		}
	}
	return all
}

func (d *document) operation(method, path string, from any) Operation {
	o := Operation{
		ID: text(from, "operationId"), Method: strings.ToUpper(method), Path: path, Summary: text(from, "summary"),
		Description: text(from, "description"), Group: group(items(from, "tags")),
	}
	for _, p := range items(from, "parameters") {
		p = d.follow(p)
		switch text(p, "in") {
		case "header":
			if text(p, "name") == "If-Match" {
				o.TakesRevision, o.NeedsRevision = true, flag(p, "required")
			}
		default:
			o.Parameters = append(o.Parameters, Parameter{Name: text(p, "name"), InPath: text(p, "in") == "path",
				Required: flag(p, "required"), Description: text(p, "description"), Schema: d.schema(at(p, "schema"), 0)})
		}
	}
	for _, content := range object(at(from, "requestBody", "content")) {
		o.Body, o.Upload = d.schema(at(content.Value, "schema"), 0), name(content.Key) != jsonType
	}
	for _, response := range object(at(from, "responses")) {
		if status := name(response.Key); status[0] == '2' {
			d.answers(&o, response.Value)
		}
	}
	return o
}

// answers tells what an operation answers when it succeeds.
func (d *document) answers(o *Operation, response any) {
	o.Tagged = at(response, "headers", "ETag") != nil
	for _, content := range object(at(response, "content")) {
		envelope := d.schema(at(content.Value, "schema"), 0)
		switch data := envelope.Member("data"); {
		case name(content.Key) == jsonType && data != nil:
			o.Data, o.Paged = data, envelope.Member("pagination") != nil
		default:
			o.Files = append(o.Files, name(content.Key))
		}
	}
}

// group is the first of the tags.
func group(tags []any) string {
	if len(tags) == 0 {
		return ""
	}
	return name(tags[0])
}
