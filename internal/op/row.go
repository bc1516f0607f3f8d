package op

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"reflect"
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/waymarkhq/waymark/internal/actor"
	"github.com/waymarkhq/waymark/internal/cursor"
	"github.com/waymarkhq/waymark/internal/ratelimit"
	"github.com/waymarkhq/waymark/internal/requestlog"
	"github.com/waymarkhq/waymark/internal/schema"
	"github.com/waymarkhq/waymark/internal/store"
)

// BasePath is where operations live on the API listener.
const BasePath = "/v1"

// Options are what a Pipeline works with.
type Options struct {
	DB       *store.DB
	Auth     *actor.Authenticator
	Limiter  ratelimit.Limiter
	Cursors  *cursor.Signer
	Requests *requestlog.Log
	Log      *slog.Logger
	// LimitScale multiplies every rate window and business limit.
	LimitScale float64
	// DocsURL is where the API's documentation is, without a slash at its end.
	DocsURL string
	// ClientAddr returns the address of the client of a request.
	ClientAddr func(*http.Request) netip.Addr
	// SpoolDir is where uploads wait for their end; "" is the system's folder
	// for temporary files.
	SpoolDir string
	// Observe is told of each finished call, for metrics.
	Observe func(operation string, status int, seconds float64)
}

// Pipeline holds the declared operations and runs calls through the pipeline.
type Pipeline struct {
	Options
	rows     []*row
	outgoing []Outgoing
	// requests and answers have the schemas of the contract; inner has those of
	// bodies inside bodies, which the contract has as open objects.
	requests, answers, inner *schema.Registry

	inFlight inFlight
	// uploads has a place for each upload that is being read.
	uploads chan struct{}
	// addresses bounds calls that no credential's windows bound; approximate
	// by design, so always in memory.
	addresses *ratelimit.Memory
}

// New returns a pipeline without operations.
func New(o Options) *Pipeline {
	return &Pipeline{Options: o, requests: describing(schema.ForRequests()), answers: describing(schema.ForAnswers()), inner: describing(schema.ForRequests()),
		inFlight: inFlight{keys: map[string]struct{}{}}, uploads: make(chan struct{}, maxUploads), addresses: ratelimit.NewMemory()}
}

// row is a declared operation, ready to run.
type row struct {
	Op
	mutates bool
	list    bool
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

// encode makes the text of the answer, which is also its receipt's, and leaves
// the headers that the contract describes.
func (o *outcome) encode(r *row) (err error) {
	if !r.tagged {
		o.etag = ""
	}
	if o.data != nil {
		o.text, err = json.Marshal(o.data)
	}
	return err
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

// Handlers calls mount for each operation with its method, its pattern for
// http.ServeMux and its handler.
func (p *Pipeline) Handlers(mount func(method, pattern string, h http.Handler)) {
	for _, r := range p.rows {
		mount(r.Method, BasePath+r.Path, http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) { p.serve(w, req, r) }))
	}
}
