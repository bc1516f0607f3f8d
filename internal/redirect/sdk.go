package redirect

import (
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/route"
	"github.com/waymarkhq/waymark/internal/visitor"
)

// servicePath begins the paths that no link can have.
const servicePath = "_service/"

// callOutcome is how the call of an app ended, for the counters.
type callOutcome string

// The outcomes.
const (
	matched      callOutcome = "matched"
	unmatched    callOutcome = "unmatched"
	accepted     callOutcome = "accepted"      // events
	tokenMade    callOutcome = "token"         // on the way to a store
	withoutToken callOutcome = "without_token" // to wherever the link leads
	refused      callOutcome = "refused"
	limited      callOutcome = "rate_limited"
	away         callOutcome = "unavailable"
)

// appCall is a call of an app (completions.md §10, SDK endpoint).
type appCall struct {
	*http.Request
	w        http.ResponseWriter
	hostname string
	host     *route.Host
	from     visitor.Visitor
	now      clock.Instant
}

// appAnswer is the answer to it.
type appAnswer struct {
	status  int
	outcome callOutcome
	body    any
}

// bodies read what apps send.
type bodies struct {
	resolve func(http.ResponseWriter, *http.Request) (resolveInput, error)
	recover func(http.ResponseWriter, *http.Request) (recoverInput, error)
	events  func(http.ResponseWriter, *http.Request) (eventsInput, error)
}

func newBodies(log *slog.Logger) bodies {
	return bodies{op.Body[resolveInput](log), op.Body[recoverInput](log), op.Body[eventsInput](log)}
}

// service answers what stands below servicePath. It is reserved, so that no link
// stands there.
func (h *Handler) service(w http.ResponseWriter, r *http.Request, hostname string, host *route.Host,
	path string) outcome {
	reads := r.Method == http.MethodGet || r.Method == http.MethodHead
	c := &appCall{Request: r, w: w, hostname: hostname, host: host, from: h.Visitors.Of(r), now: h.Clock.Now()}
	switch name := endpoint(strings.TrimPrefix(path, servicePath)); {
	case name == resolveEndpoint:
		return h.call(w, c, name, h.resolve)
	case name == recoverEndpoint:
		return h.call(w, c, name, h.recover)
	case name == eventsEndpoint:
		return h.call(w, c, name, h.events)
	case !reads:
		w.Header()["Allow"] = allowed
		return h.notify(w, r, host, methodNotice)
	case strings.HasPrefix(path, route.InstallPath):
		return h.install(w, c, strings.TrimPrefix(path, route.InstallPath))
	}
	return h.notify(w, r, host, notFoundNotice)
}

// call answers the call of an app.
func (h *Handler) call(w http.ResponseWriter, c *appCall, e endpoint,
	handle func(*appCall) (appAnswer, error)) outcome {
	var err error
	var answer appAnswer
	if c.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		err = fault.New(fault.MethodNotAllowed, "Send a POST request with a JSON object.")
	} else if after := h.quotas.take(c.Context(), c.now, e, c.from.Address()); after > 0 {
		limit := fault.New(fault.RateLimited, "Too many calls from this address. Try again in %d seconds.", after)
		limit.RetryAfter = after
		err = limit
	} else {
		answer, err = handle(c)
	}
	if err != nil {
		answer = h.refuse(w, c, err)
	}
	h.metrics.calls.WithLabelValues(string(e), string(answer.outcome)).Inc()
	body, err := json.Marshal(answer.body)
	if err != nil { // texts of ours are valid
		h.Log.Error("an answer to an app cannot be written", "error", err)
	}
	header := w.Header()
	header["Content-Type"] = jsonType
	header["Content-Length"] = []string{strconv.Itoa(len(body))}
	header["Cache-Control"] = noStore
	header["X-Content-Type-Options"] = noSniff
	w.WriteHeader(answer.status)
	if c.Method != http.MethodHead {
		w.Write(body) // to an app that may be gone
	}
	return service
}

// errorEnvelope is the body of a refusal.
type errorEnvelope struct {
	Error errorBody `json:"error"`
}

type errorBody struct {
	Code    fault.Code     `json:"code"`
	Message string         `json:"message"`
	Details []fault.Detail `json:"details,omitempty"`
}

// refuse returns the answer to a call that failed. Any error that is no refusal is one
// of the database or of the click log.
func (h *Handler) refuse(w http.ResponseWriter, c *appCall, err error) appAnswer {
	refusal, ok := fault.From(err)
	if !ok {
		if c.Context().Err() == nil && h.awayLog.allows(time.Now()) {
			h.Log.Warn("apps cannot be answered", "error", err)
		}
		refusal = fault.New(fault.Unavailable, "The service cannot answer right now. Try again in a few seconds.")
		refusal.RetryAfter = 5
	}
	if refusal.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(refusal.RetryAfter))
	}
	answer := appAnswer{status: refusal.Status(), outcome: refused,
		body: errorEnvelope{errorBody{refusal.Code, refusal.Message, refusal.Details}}}
	switch refusal.Code {
	case fault.RateLimited:
		answer.outcome = limited
	case fault.Unavailable:
		answer.outcome = away
	}
	return answer
}
