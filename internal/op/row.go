package op

import (
	"fmt"
	"net/http"
	"reflect"
	"slices"

	"github.com/go-json-experiment/json"
)

// row is a declared operation, ready to run.
type row struct {
	Op
	mutates bool
	// list answers are arrays, of which each is a page; paged answers have a
	// pagination, lists and others.
	list, paged bool
	// tagged answers carry an ETag.
	tagged bool
	input  inputSpec
	// data is the type of the answer's data (a list's item).
	data reflect.Type
	// types are the media types of an answer in bytes; nil for JSON.
	types []string
	// decode returns the input, which was already validated, for Needs.
	decode func(*callContext) (any, error)
	// stage, if any, runs before the transaction of a mutation.
	stage func(*callContext) error
	// run decodes the input, which was already validated, and calls the
	// handler.
	run func(*callContext) (outcome, error)
}

// outcome is what a handler answered, without its type.
type outcome struct {
	data       any
	ref        Ref
	etag       string
	location   string
	retryAfter int
	secret     bool
	pagination *pagination
	// file is an answer in bytes instead.
	file *File
	// text is data as JSON; nil for an answer without body.
	text []byte
}

// encode makes the text of the answer, which the receipt keeps too, and keeps
// only the headers that the contract describes.
func (o *outcome) encode(r *row) (err error) {
	if !r.tagged {
		o.etag = ""
	}
	if o.data != nil {
		o.text, err = marshal(o.data)
		o.data = nil // which the memory need not hold until the client has read the text
	}
	return err
}

// marshal returns data as JSON. One revision has one text: the members of maps stand in one
// order.
func marshal(data any) ([]byte, error) { return json.Marshal(data, json.Deterministic(true)) }

func (i Item[T]) outcome() outcome {
	o := outcome{data: i.Data, ref: i.Ref, etag: i.ETag, location: i.Location, retryAfter: i.RetryAfter,
		secret: i.Secret}
	if o.etag == "" {
		o.etag = i.Ref.Revision
	}
	if _, nothing := any(i.Data).(Nothing); nothing {
		o.data, o.etag = nil, i.ETag // of what the removal changed
	}
	return o
}

func (p *Pipeline) add(r *row) {
	r.mutates = r.Method != http.MethodGet
	if r.Status == 0 {
		r.Status = http.StatusOK
		switch {
		case r.data == reflect.TypeFor[Nothing]():
			r.Status = http.StatusNoContent
		case r.Method == http.MethodPost: // creations; others say so
			r.Status = http.StatusCreated
		}
	}
	r.tagged = r.ETag || !r.list && r.data != nil && hasRevision(r.data)
	if i := slices.IndexFunc(p.rows, func(o *row) bool { return o.ID == r.ID }); i >= 0 {
		panic(fmt.Sprintf("operation %s is declared twice", r.ID))
	}
	p.rows = append(p.rows, r)
}

// Ops returns the declared operations in the order of their declaration.
func (p *Pipeline) Ops() []Op {
	ops := make([]Op, len(p.rows))
	for i, r := range p.rows {
		ops[i] = r.Op
	}
	return ops
}

// KeyPermissions returns the permissions that an API key may hold: those of
// operations that do not need a human session.
func (p *Pipeline) KeyPermissions() []string {
	var all []string
	for _, r := range p.rows {
		if !r.Human {
			all = append(all, r.Perm)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
