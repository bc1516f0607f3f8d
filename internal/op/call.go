package op

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/ratelimit"
	"github.com/waymarkhq/waymark/internal/requestlog"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/tracing"
)

// callContext is one call on its way through the pipeline.
type callContext struct {
	Call
	ctx      context.Context
	pipeline *Pipeline
	row      *row
	w        http.ResponseWriter
	r        *http.Request
	started  time.Time

	path  map[string]string
	query map[string]any
	// sent are the query parameters that were sent; the others have defaults.
	sent map[string]bool
	body []byte // the JSON text
	// bodyApp is the appId member of the body.
	bodyApp string
	// fingerprint of a mutation.
	fingerprint string
	// needed are the permissions that the input asks for beside that of the row.
	needed     []string
	appReached bool
	standings  []ratelimit.Standing
	windowFull bool // a window refused the call
	tx         *store.Tx
	// place is that of the call among those of its account, room that of its answer.
	place, room *share
	// upload is the body of an upload.
	upload Upload
	// staged is what the first stage of a staged operation left.
	staged any
}

const (
	// callTimeout bounds a call when the database does not answer at all.
	callTimeout = 20 * time.Second
	// maxCalls is how many authenticated calls are under way at once, accountCalls how many
	// of one account.
	maxCalls, accountCalls = 2048, 256
)

// serve runs one call through the steps of completions.md §1, Order of
// refusals. Route and method were found before.
func (p *Pipeline) serve(w http.ResponseWriter, r *http.Request, row *row) {
	timeout := callTimeout
	if row.input.upload != nil {
		timeout += bodyTime
	}
	ctx, cancel := context.WithTimeout(r.Context(), timeout)
	defer cancel()
	c := &callContext{
		Call: *p.CallFor(nil, RequestID(r.Context()), "", p.DB.Now()),
		ctx:  ctx, pipeline: p, row: row, w: w, r: r, started: time.Now(),
	}
	defer c.upload.discard()
	defer func() {
		c.room.giveBack()
		c.place.giveBack()
		tracing.Of(c.ctx).End()
	}()
	out, err := c.run()
	if err != nil {
		c.refuse(err)
		return
	}
	if out != nil {
		c.answer(out)
	}
}

// run returns the answer, or nil when a replay was already written.
func (c *callContext) run() (*outcome, error) {
	if err := c.authenticate(); err != nil {
		return nil, err
	}
	if err := c.takeEntry(); err != nil {
		return nil, err
	}
	// Not before: what a stranger sends would be traced, and would decide what is.
	c.ctx, _ = c.pipeline.Tracer.Call(c.ctx, c.r.Header, c.row.Method+" "+BasePath+c.row.Path, c.started)
	var ok bool
	if c.place, ok = c.pipeline.calls.take(c.Actor.OwnerID, 1); !ok {
		return nil, busy("Too many calls are under way, of this account or of all. An account has %d at once.",
			accountCalls)
	}
	if err := c.permitted(); err != nil {
		return nil, err
	}
	if err := guarded(c.pipeline.Log, c.parse); err != nil {
		return nil, err
	}
	if !c.row.mutates {
		if err := c.admit(); err != nil {
			return nil, err
		}
		out, err := c.read()
		if err == nil {
			err = out.encode(c.row)
		}
		return &out, err
	}
	return c.mutate()
}

// read runs the handler of a read, in its turn when its filters make it a heavy one. Such a
// read waits for the room of its answer before it takes a worker, and not while it has one.
func (c *callContext) read() (out outcome, err error) {
	if !slices.ContainsFunc(c.row.input.parameters, func(p parameter) bool { return p.heavy && c.sent[p.name] }) {
		if err := c.awaitRoom(c.ctx); err != nil {
			return outcome{}, err
		}
		return c.row.run(c)
	}
	err = c.heavy(c.ctx, c.awaitRoom, func(ctx context.Context, call *Call) (err error) {
		heavy := *c
		heavy.ctx, heavy.Call = ctx, *call
		out, err = c.row.run(&heavy)
		return err
	})
	return out, err
}

// findApp sets the app that the call names or whose resource it addresses.
func (c *callContext) findApp() error {
	a := c.row.App
	switch {
	case !a.concerns():
		return nil
	case a.find != nil:
		name := c.path[a.path]
		if a.query != "" {
			name, _ = c.query[a.query].(string)
		}
		id, err := a.find(c.ctx, c.pipeline.DB, name)
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		c.AppID = id
	case a.path != "":
		c.AppID = c.path[a.path]
	case a.query != "":
		c.AppID, _ = c.query[a.query].(string)
	case a.body != "":
		c.AppID = c.bodyApp
	}
	if c.AppID == "" {
		return nil
	}
	var err error
	c.appReached, err = c.Actor.Reaches(c.ctx, c.pipeline.DB, c.AppID)
	return err
}

// admit counts an accepted call and checks that its app is in reach.
func (c *callContext) admit() error {
	if err := c.findApp(); err != nil {
		return err
	}
	if err := c.takeQuota(); err != nil {
		return err
	}
	named := c.AppID != "" || c.row.App.path != "" || c.row.App.find != nil
	if named && !c.appReached {
		c.AppID = ""
		return fault.Missing()
	}
	return nil
}

// record leaves the diagnostics of the call.
func (c *callContext) record(status int, code fault.Code) {
	elapsed := time.Since(c.started)
	if c.pipeline.Observe != nil {
		c.pipeline.Observe(c.row.ID, status, elapsed.Seconds())
	}
	c.trace(status, code)
	if c.Actor == nil {
		return
	}
	record := requestlog.Record{
		ID: c.RequestID, OwnerID: c.Actor.OwnerID, Operation: c.row.ID, Method: c.r.Method,
		Route:  BasePath + c.row.Path,
		Status: status, DurationMS: elapsed.Milliseconds(), ErrorCode: string(code),
		ActorType: string(c.Actor.Type), ActorID: c.Actor.PrincipalID(), CreatedAt: c.Now,
	}
	if c.appReached {
		record.AppID = c.AppID
	}
	c.pipeline.Requests.Add(record)
}

// trace tells the trace of the call how it ended.
func (c *callContext) trace(status int, code fault.Code) {
	if !tracing.Traced(c.ctx) {
		return
	}
	span := tracing.Of(c.ctx)
	span.SetAttributes(tracing.Text("http.request.method", c.row.Method), tracing.Text("http.route", BasePath+c.row.Path),
		tracing.Number("http.response.status_code", status), tracing.Text("waymark.operation", c.row.ID),
		tracing.Text("waymark.request_id", c.RequestID))
	if code != "" {
		span.SetAttributes(tracing.Text("error.type", string(code)))
	}
	if status >= http.StatusInternalServerError {
		tracing.Fail(span, string(code))
	}
}
