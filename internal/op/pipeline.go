package op

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/waymarkhq/waymark/internal/audit"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/ids"
	"github.com/waymarkhq/waymark/internal/ratelimit"
	"github.com/waymarkhq/waymark/internal/receipt"
	"github.com/waymarkhq/waymark/internal/requestlog"
	"github.com/waymarkhq/waymark/internal/store"
)

// callContext is one call on its way through the pipeline.
type callContext struct {
	Call
	ctx     context.Context
	service *Pipeline
	row     *row
	w       http.ResponseWriter
	r       *http.Request
	started time.Time

	path  map[string]string
	query map[string]any
	// sent are the query parameters that were sent; the others have defaults.
	sent map[string]bool
	body []byte // the JSON text
	// bodyApp is the appId member of the body.
	bodyApp string
	// fingerprint of a mutation.
	fingerprint string
	appReached  bool
	standings   []ratelimit.Standing
	windowFull  bool // a window refused the call
	tx          *store.Tx
	// upload is the body of an upload.
	upload Upload
	// staged is what the first stage of a staged operation left.
	staged any
}

// callTimeout bounds a call when the database does not answer at all.
const callTimeout = 20 * time.Second

// serve runs one call through the steps of completions.md §1, Order of
// refusals. Route and method were found before.
func (p *Pipeline) serve(w http.ResponseWriter, r *http.Request, row *row) {
	timeout := callTimeout
	if row.input.upload != nil {
		timeout += uploadTime
	}
	ctx, cancel := context.WithTimeout(r.Context(), timeout)
	defer cancel()
	c := &callContext{
		Call: *p.CallFor(nil, RequestID(r.Context()), "", p.DB.Now()),
		ctx:  ctx, service: p, row: row, w: w, r: r, started: time.Now(),
	}
	defer c.upload.discard()
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
	if !c.Actor.May(c.row.Perm, c.row.Human) {
		return nil, c.forbidden()
	}
	if !c.parsePath() {
		return nil, fault.Missing()
	}
	if err := c.parseHeaders(); err != nil {
		return nil, err
	}
	if err := c.parseQuery(); err != nil {
		return nil, err
	}
	if err := c.parseBody(); err != nil {
		return nil, err
	}
	if !c.row.mutates {
		if err := c.admit(); err != nil {
			return nil, err
		}
		out, err := c.row.run(c)
		if err == nil {
			err = out.encode(c.row)
		}
		return &out, err
	}
	return c.mutate()
}

var strongRevision = regexp.MustCompile(`^"([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})"$`)

func (c *callContext) parseHeaders() error {
	if !c.row.mutates {
		return nil
	}
	key, present, err := header(c.r, "Idempotency-Key")
	switch {
	case err != nil:
		return err
	case !present:
		return fault.InvalidHeader("Idempotency-Key", fault.ReasonRequired, "every call that is not a GET needs this header with a fresh UUID v4")
	case !ids.IsUUIDv4(key):
		return fault.InvalidHeader("Idempotency-Key", fault.ReasonInvalidFormat, "must be a UUID v4 such as 7d9f0a52-3c1e-4b8a-9f57-2e6c81d4a0b3")
	}
	c.Intent = strings.ToLower(key)
	match, present, err := header(c.r, "If-Match")
	if err != nil || !present {
		return err
	}
	revision := strongRevision.FindStringSubmatch(strings.ToLower(match))
	if revision == nil {
		return fault.InvalidHeader("If-Match", fault.ReasonInvalidFormat, "must be one strong revision in double quotes, as ETag has it; *, lists and weak revisions are not accepted")
	}
	if c.row.IfMatch != NoIfMatch {
		c.IfMatch = revision[1]
	}
	return nil
}

func (c *callContext) parseBody() error {
	if !c.row.mutates {
		return nil
	}
	if c.row.input.upload != nil {
		return c.parseUpload()
	}
	body, err := readBody(c.r)
	if err != nil {
		return err
	}
	rules := c.row.input.body
	if rules == nil {
		if len(body) > 0 {
			return fault.New(fault.InvalidRequest, "This operation takes no body.")
		}
		return nil
	}
	if len(body) == 0 && len(rules.Resolve().Properties) == 0 {
		body = []byte("{}") // nothing to say may be said by no body
	} else if err := requireJSON(c.r); err != nil {
		return err
	}
	if len(body) == 0 {
		return fault.New(fault.InvalidRequest, "The body is empty: send a JSON object.")
	}
	parsed, err := parseJSON(body)
	if err != nil {
		return err
	}
	if details := c.service.check(rules, parsed); len(details) > 0 {
		return fault.Of(fault.ValidationFailed, details...)
	}
	c.body = body
	if object, ok := parsed.(map[string]any); ok && c.row.App.body != "" {
		c.bodyApp, _ = object[c.row.App.body].(string)
	}
	return nil
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
		id, err := a.find(c.ctx, c.service.DB, name)
		if err == store.ErrNotFound {
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
	c.appReached, err = c.Actor.Reaches(c.ctx, c.service.DB, c.AppID)
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
	release, err := c.service.inFlight.acquire(c.Actor.Credential, c.Intent)
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
	// Another process may have done the same intent a moment ago: then what
	// stands against this one is its own effect.
	if refusal, refused := fault.From(err); errors.Is(err, receipt.ErrExists) || refused && refusal.Code != fault.OperationInProgress && refusal.Code != fault.RateLimited {
		if replayed, err := c.replay(); replayed || err != nil {
			return nil, err
		}
	}
	return nil, err
}

// perform runs an admitted mutation: its stage, if it has one, then its
// transaction with audit and receipt.
func (c *callContext) perform() (*outcome, error) {
	if err := c.admit(); err != nil {
		return nil, err
	}
	if c.row.stage != nil {
		if err := c.row.stage(c); err != nil {
			return nil, err
		}
	}
	var out outcome
	return &out, c.service.DB.InTx(c.ctx, func(tx *store.Tx) error {
		c.tx, c.Now = tx, tx.Now
		c.lockKey(tx)
		var err error
		out, err = c.row.run(c)
		if err == nil {
			err = out.encode(c.row)
		}
		if err != nil {
			return err
		}
		if err := audit.Record(c.ctx, tx, audit.Event{
			Operation: c.row.ID, Actor: c.Actor, AppID: out.ref.AppID, ResourceType: out.ref.Type, ResourceID: out.ref.ID,
			Revision: out.ref.Revision, CorrelationID: c.RequestID,
		}); err != nil {
			return err
		}
		return c.saveReceipt(tx, &out)
	})
}

// refuse answers an error: a fault as it is, anything else as an internal one
// whose cause goes to the log alone.
func (c *callContext) refuse(err error) {
	refusal, ok := fault.From(err)
	if !ok || refusal.Code == fault.Unavailable {
		if !ok && c.service.DB.IsAway(err) {
			refusal = fault.New(fault.Unavailable, "A part of the service is unavailable. The outcome may be uncertain; repeat the same request with the same key.")
		}
		c.service.Log.Error("call failed", "operation", c.row.ID, "request_id", c.RequestID, "error", err)
	}
	if refusal.Code == fault.Unavailable && refusal.RetryAfter == 0 {
		refusal.RetryAfter = 5
	}
	if refusal.Code == fault.RateLimited && !c.windowFull {
		c.standings = nil // a business limit refused
	}
	RateHeaders(c.w.Header(), c.standings)
	c.service.WriteError(c.w, c.RequestID, refusal)
	c.record(refusal.Status(), refusal.Code)
}

// answer writes a success.
func (c *callContext) answer(out *outcome) {
	RateHeaders(c.w.Header(), c.standings)
	for name, value := range out.headers() {
		c.w.Header().Set(name, value)
	}
	if c.row.Status == http.StatusOK {
		c.w.Header().Del("Location") // only for the receipt of a secret, which a replay refuses
	}
	if out.file != nil {
		out.file.write(c.w)
	} else if out.text == nil {
		c.w.WriteHeader(c.row.Status)
	} else {
		writeEnvelope(c.w, c.row.Status, c.RequestID, out.text, out.pagination)
	}
	c.record(c.row.Status, "")
}

// record leaves the diagnostics of the call.
func (c *callContext) record(status int, code fault.Code) {
	elapsed := time.Since(c.started)
	if c.service.Observe != nil {
		c.service.Observe(c.row.ID, status, elapsed.Seconds())
	}
	if c.Actor == nil {
		return
	}
	record := requestlog.Record{
		ID: c.RequestID, OwnerID: c.Actor.OwnerID, Operation: c.row.ID, Method: c.r.Method, Route: BasePath + c.row.Path,
		Status: status, DurationMS: elapsed.Milliseconds(), ErrorCode: string(code),
		ActorType: string(c.Actor.Type), ActorID: c.Actor.PrincipalID(), CreatedAt: c.Now,
	}
	if c.appReached {
		record.AppID = c.AppID
	}
	c.service.Requests.Add(record)
}

// canonicalQuery is the query in a form in which order does not matter.
func canonicalQuery(r *http.Request) string {
	values, _ := url.ParseQuery(r.URL.RawQuery)
	return values.Encode()
}
