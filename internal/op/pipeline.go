package op

import (
	"log/slog"
	"net/http"
	"net/netip"
	"sync/atomic"

	"github.com/waymarkhq/waymark/internal/actor"
	"github.com/waymarkhq/waymark/internal/browser"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/cursor"
	"github.com/waymarkhq/waymark/internal/ratelimit"
	"github.com/waymarkhq/waymark/internal/requestlog"
	"github.com/waymarkhq/waymark/internal/schema"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/tracing"
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
	// Site is where browsers sign in; the cookies of others do not count.
	Site browser.Site
	// SpoolDir is where uploads wait for their end; "" is the system's folder
	// for temporary files.
	SpoolDir string
	// Tracer traces calls; nil traces none.
	Tracer *tracing.Tracer
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
