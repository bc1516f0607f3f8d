package op

import (
	"context"
	"errors"
	"net/url"
	"strings"

	"github.com/waymarkhq/waymark/internal/actor"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/turns"
)

// Op is one row of the contract's operation table with all that varies
// between operations.
type Op struct {
	ID     string // the operation name
	Method string
	Path   string // relative to /v1, as in the table
	Perm   string
	Human  bool // needs a human session (H)
	// Needs returns the permissions that a mutation needs besides Perm; input is
	// a pointer to the decoded one.
	Needs func(input any) []string
	// IfMatch says what the operation does with that header.
	IfMatch IfMatch
	// App says how a call tells which app it concerns; the zero AppRef is for
	// operations that concern none.
	App AppRef
	// Budget is the business limit that calls draw on besides the windows.
	Budget Budget
	// ETag makes answers carry the revision of their resource although their
	// data has no revision at its top.
	ETag bool
	// Turns is set where the handler takes turns for its reads by itself.
	Turns bool
	// Conflict is for reads that the state of a resource may refuse with 409.
	Conflict bool
	// Status of success; 0 means the method's usual one.
	Status int
	// PageLimit is the most rows that a page of the list has; 0 means 100.
	PageLimit int
	Summary   string
	Doc       string
}

// IfMatch says what an operation does with the If-Match header.
type IfMatch int

// What operations do with If-Match.
const (
	NoIfMatch       IfMatch = iota // ignored, as on creations
	IfMatchRequired                // 428 without it
	IfMatchOptional                // checked when sent
)

// AppRef says how a call tells which app it concerns. The pipeline counts the
// call against that app's windows and answers 404 when the caller does not
// reach it, so handlers run only for apps in reach.
type AppRef struct {
	path, query, body string
	find              AppFinder
}

// AppFinder returns the app to which the resource with an id belongs, or
// store.ErrNotFound.
type AppFinder func(ctx context.Context, q store.Q, id string) (appID string, err error)

// AppInPath is for operations with {appId} in their path.
var AppInPath = AppRef{path: "appId"}

// AppInQuery is for operations with an appId query parameter.
var AppInQuery = AppRef{query: "appId"}

// AppInBody is for operations whose body has an appId member.
var AppInBody = AppRef{body: "appId"}

// AppOf is for operations on one resource: find looks up the app of the
// resource that the path parameter names.
func AppOf(parameter string, find AppFinder) AppRef { return AppRef{path: parameter, find: find} }

// AppOfQuery is for operations on a resource that a query parameter names: find
// looks up its app.
func AppOfQuery(parameter string, find AppFinder) AppRef {
	return AppRef{query: parameter, find: find}
}

// concerns reports whether calls concern an app at all.
func (a AppRef) concerns() bool { return a.path+a.query+a.body != "" }

// Call is what a handler knows of its caller.
type Call struct {
	Actor     *actor.Actor
	RequestID string
	// AppID is the app that the call concerns, in the caller's reach; "" for
	// none.
	AppID string
	Now   clock.Instant
	// IfMatch is the revision the client last read, "" when not sent.
	IfMatch string
	// Intent is the Idempotency-Key of a mutation.
	Intent string
	// DB is for reads outside a transaction.
	DB *store.DB

	limitScale float64
	turns      *turns.Pool
	// still asks whether the caller may still do this; nil where each step of the work
	// asks by itself.
	still func(context.Context, *store.Tx) error
}

// InTx runs a transaction of a stage (Staged). Before anything else it refuses a caller
// who may no longer do this.
func (c *Call) InTx(ctx context.Context, f func(*store.Tx) error) error {
	return c.DB.InTx(ctx, func(tx *store.Tx) error {
		if c.still != nil {
			if err := c.still(ctx, tx); err != nil {
				return err
			}
		}
		return f(tx)
	})
}

// Heavy runs a read that may take seconds when it is the turn of the caller's account,
// with a call whose DB is for such reads (store.DB.Long). It is refused at once when too
// many of the account wait, and ends after 10 seconds.
func (c *Call) Heavy(ctx context.Context, read func(context.Context, *Call) error) error {
	return c.heavy(ctx, func(context.Context) error { return nil }, read)
}

// heavy is Heavy for a read that waits for something else before it takes a worker.
func (c *Call) heavy(ctx context.Context, ready func(context.Context) error, read func(context.Context, *Call) error) error {
	heavy := *c
	heavy.DB = c.DB.Long()
	return c.turns.Do(ctx, c.Actor.OwnerID, func(ctx context.Context, turn *turns.Turn) error {
		if err := ready(ctx); err != nil {
			return err
		}
		return turn.Each(ctx, 1, func(int, int) error { return read(ctx, &heavy) })
	})
}

// CallFor returns a call for a request, or for the durable work that a request
// started, on behalf of a caller; a is nil while the caller is not known yet.
func (p *Pipeline) CallFor(a *actor.Actor, requestID, appID string, now clock.Instant) *Call {
	return &Call{Actor: a, RequestID: requestID, AppID: appID, Now: now, DB: p.DB, limitScale: p.LimitScale,
		turns: p.Turns}
}

// Stale reports whether the client holds another revision than the current one.
func (c *Call) Stale(current string) bool { return c.IfMatch != "" && c.IfMatch != current }

// Scaled returns a limit of the contract as this installation has it:
// multiplied by --limit-scale, at least 1.
func (c *Call) Scaled(limit int64) int64 { return scaled(limit, c.limitScale) }

func scaled(limit int64, by float64) int64 { return max(1, int64(float64(limit)*by)) }

// Ref names the resource that an operation read or changed.
type Ref struct {
	Type     string // as audit names it: link, domain, api_key, …
	ID       string
	AppID    string // "" when it belongs to no app
	Revision string // "" when it is gone
}

// Item is the answer of an operation on one resource.
type Item[T any] struct {
	Data T
	// Ref is what audit records; its revision is the ETag unless ETag is set,
	// where the data has a revision or the operation's row asks for it.
	Ref        Ref
	ETag       string
	Location   string // of what was created or is to be followed, under /v1
	RetryAfter int    // seconds, on acceptance
	// Secret marks an answer that must not be kept: its receipt records only
	// that it was given.
	Secret bool
}

// File is the answer of an operation that returns bytes.
type File struct {
	Name        string
	ContentType string
	// Attachment makes browsers save the file rather than show it.
	Attachment bool
	Content    []byte
	Ref        Ref
}

// Location returns the path of a resource under /v1 by its segments, each of
// which is percent-encoded as one (completions.md §11, Location).
func Location(segments ...string) string {
	path := BasePath
	for _, s := range segments {
		path += "/" + strings.ReplaceAll(url.QueryEscape(s), "+", "%20")
	}
	return path
}

// Found returns what was loaded for a call, and turns store.ErrNotFound into
// the refusal of a missing resource.
func Found[T any](v T, err error) (T, error) {
	if errors.Is(err, store.ErrNotFound) {
		err = fault.Missing()
	}
	return v, err
}

// Removed is the answer of an operation that removed a resource.
func Removed(r Ref) Item[Nothing] {
	r.Revision = ""
	return Item[Nothing]{Ref: r}
}

// Nothing is the data of an answer without body (204).
type Nothing struct{}
