package op

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/netip"
	"slices"
	"sync/atomic"
	"time"

	"github.com/waymarkhq/waymark/internal/actor"
	"github.com/waymarkhq/waymark/internal/audit"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/cursor"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/ratelimit"
	"github.com/waymarkhq/waymark/internal/receipt"
	"github.com/waymarkhq/waymark/internal/requestlog"
	"github.com/waymarkhq/waymark/internal/schema"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/turns"
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
	// Turns are those of reads that may take seconds, over connections of DB.Long.
	Turns *turns.Pool
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
	// requests and answers have the schemas of the contract. inner has the
	// schemas of bodies inside bodies, which the contract shows as open
	// objects.
	requests, answers, inner *schema.Registry

	inFlight inFlight
	// calls and uploads have a place for each that is under way.
	calls, uploads *shares
	// sending is what answers take that are made or written, in bytes; unread counts those that
	// their clients did not read to the end.
	sending *shares
	unread  atomic.Int64
	// receipts knows whose receipts take too much.
	receipts receiptBound
	// addresses counts calls without a valid credential, by address. The count
	// is approximate by design, so it is always in memory.
	addresses *ratelimit.Memory
}

// New returns a pipeline without operations.
func New(o Options) *Pipeline {
	return &Pipeline{
		Options: o, addresses: ratelimit.NewMemory(),
		requests: describing(schema.ForRequests()), answers: describing(schema.ForAnswers()),
		inner:    describing(schema.ForRequests()),
		inFlight: inFlight{keys: map[string]struct{}{}},
		receipts: receiptBound{until: map[string]clock.Instant{}},
		calls:    newShares(maxCalls, accountCalls),
		uploads:  newShares(maxUploads, accountUploads),
		sending:  newShares(sendingBytes, accountSendingBytes),
	}
}

// Handlers calls mount for each operation with its method, its pattern for
// http.ServeMux and its handler.
func (p *Pipeline) Handlers(mount func(method, pattern string, h http.Handler)) {
	for _, r := range p.rows {
		mount(r.Method, BasePath+r.Path, http.HandlerFunc(func(w http.ResponseWriter,
			req *http.Request) {
			p.serve(w, req, r)
		}))
	}
}

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

// read runs the handler of a read, in its turn when its filters make it a heavy one. While
// it waits for its turn, it takes no room.
func (c *callContext) read() (out outcome, err error) {
	if !slices.ContainsFunc(c.row.input.parameters, func(p parameter) bool { return p.heavy && c.sent[p.name] }) {
		if err := c.awaitRoom(); err != nil {
			return outcome{}, err
		}
		return c.row.run(c)
	}
	err = c.Heavy(c.ctx, func(ctx context.Context, call *Call) (err error) {
		if err := c.awaitRoom(); err != nil {
			return err
		}
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

// mutate answers from a receipt or runs the handler in its transaction.
func (c *callContext) mutate() (*outcome, error) {
	c.fingerprint = c.makeFingerprint()
	release, err := c.pipeline.inFlight.acquire(c.Actor.Credential, c.Intent)
	if err != nil {
		return nil, err
	}
	defer release()
	if err := c.needs(); err != nil {
		return nil, err
	}
	if replayed, err := c.replay(); replayed || err != nil {
		return nil, err
	}
	if c.row.IfMatch == IfMatchRequired && c.IfMatch == "" {
		return nil, fault.New(fault.PreconditionRequired, "Send If-Match with the revision that was last read.")
	}
	out, err := c.perform()
	if err == nil {
		return out, nil
	}
	// Another process may have done the same intent a moment ago. Then it is the
	// effect of that intent which refuses this one.
	if refusal, refused := fault.From(err); errors.Is(err, receipt.ErrExists) ||
		refused && refusal.Code != fault.OperationInProgress && refusal.Code != fault.RateLimited {
		if replayed, err := c.replay(); replayed || err != nil {
			return nil, err
		}
	}
	return nil, err
}

// perform runs an admitted mutation: its stage, if it has one, then its
// transaction with audit and receipt.
func (c *callContext) perform() (*outcome, error) {
	if err := c.receiptRoom(); err != nil {
		return nil, err
	}
	if err := c.admit(); err != nil {
		return nil, err
	}
	if c.row.stage != nil {
		c.still = c.stillAdmitted
		if err := c.row.stage(c); err != nil {
			return nil, err
		}
	}
	var out outcome
	var kept int
	err := c.pipeline.DB.InTx(c.ctx, func(tx *store.Tx) error {
		c.tx, c.Now = tx, tx.Now
		c.lockKey(tx)
		if err := c.stillAdmitted(c.ctx, tx); err != nil {
			return err
		}
		var err error
		out, err = c.row.run(c)
		if err == nil {
			err = out.encode(c.row)
		}
		if err != nil {
			return err
		}
		if err := audit.Record(c.ctx, tx, audit.Event{
			Operation: c.row.ID, Actor: c.Actor, AppID: out.ref.AppID, ResourceType: out.ref.Type,
			ResourceID: out.ref.ID,
			Revision:   out.ref.Revision, CorrelationID: c.RequestID,
		}); err != nil {
			return err
		}
		kept, err = c.saveReceipt(tx, &out)
		return err
	})
	if err == nil {
		c.countReceipt(kept)
	}
	return &out, err
}

// record leaves the diagnostics of the call.
func (c *callContext) record(status int, code fault.Code) {
	elapsed := time.Since(c.started)
	if c.pipeline.Observe != nil {
		c.pipeline.Observe(c.row.ID, status, elapsed.Seconds())
	}
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
