package op

import (
	"crypto/sha256"
	"log/slog"
	"mime"
	"net/http"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/google/uuid"

	"github.com/waymarkhq/waymark/internal/fault"
)

// refuse answers an error: a fault as it is, anything else as an internal one
// whose cause goes to the log alone.
func (c *callContext) refuse(err error) {
	refusal, ok := fault.From(err)
	// A bound that refuses says when to ask again. Nothing failed then, and who asks for too
	// much is not to fill the log: metrics count it.
	if !ok || refusal.Code == fault.Unavailable && refusal.RetryAfter == 0 {
		if !ok && c.pipeline.DB.IsAway(err) {
			refusal = fault.New(fault.Unavailable, "A part of the service is unavailable. The outcome may be "+
				"uncertain; repeat the same request with the same key.")
		}
		fault.Wrap(&err, "%s", c.operation())
		level := slog.LevelError
		if c.r.Context().Err() != nil { // its client left
			level = slog.LevelDebug
		}
		c.pipeline.Log.Log(c.ctx, level, "call failed", "operation", c.row.ID, "request_id", c.RequestID, "error", err)
	}
	if refusal.Code == fault.Unavailable && refusal.RetryAfter == 0 {
		refusal.RetryAfter = 5
	}
	if refusal.Code == fault.RateLimited && !c.windowFull {
		c.standings = nil // a business limit refused
	}
	RateHeaders(c.w.Header(), c.standings)
	c.pipeline.WriteError(c.w, c.RequestID, refusal)
	c.record(refusal.Status(), refusal.Code)
}

// operation is what the log names of a call: its operation and the ids in its
// path. Queries and bodies may hold what no log should.
func (c *callContext) operation() string {
	var ids []string
	for _, p := range c.row.input.parameters {
		if p.in == "path" {
			ids = append(ids, c.path[p.name])
		}
	}
	return c.row.ID + "(" + strings.Join(ids, ", ") + ")"
}

// answer writes a success.
func (c *callContext) answer(out *outcome) {
	if err := c.keepRoom(out.size()); err != nil {
		c.refuse(err)
		return
	}
	RateHeaders(c.w.Header(), c.standings)
	for name, value := range out.headers() {
		c.w.Header().Set(name, value)
	}
	if c.row.Status == http.StatusOK {
		c.w.Header().Del("Location") // only for the receipt of a secret, which a replay refuses
	}
	unread := false
	if out.file != nil {
		unread = out.file.write(c.w, c.r.Header)
	} else if out.text == nil {
		c.w.WriteHeader(c.row.Status)
	} else {
		unread = writeEnvelope(c.w, c.row.Status, c.RequestID, out.text, out.pagination)
	}
	c.ended(c.row.Status, unread)
}

// ended notes that a success was written, as far as the client read it.
func (c *callContext) ended(status int, unread bool) {
	if unread {
		c.pipeline.unread.Add(1)
	}
	c.record(status, "")
}

// size is how many bytes of an answer the memory holds.
func (o *outcome) size() int {
	if o.file != nil {
		return len(o.file.Content)
	}
	return len(o.text)
}

// pagination is the list part of the envelope.
type pagination struct {
	HasMore    bool    `json:"hasMore"`
	NextCursor *string `json:"nextCursor" maxLength:"1024" doc:"The cursor of the next page, kept for 15 minutes; null on the last."`
}

// writeEnvelope writes the success envelope around JSON data, of which it makes no copy.
func writeEnvelope(w http.ResponseWriter, status int, requestID string, data []byte, page *pagination) (unread bool) {
	b := append(append([]byte(`,"meta":{"requestId":"`), requestID...), `"}`...)
	if page != nil {
		b = append(append(b, `,"pagination":{"hasMore":`...), strconv.FormatBool(page.HasMore)...)
		b = append(b, `,"nextCursor":`...)
		if page.NextCursor == nil {
			b = append(b, "null"...)
		} else {
			b = append(append(append(b, '"'), *page.NextCursor...), '"') // base64url needs no escape
		}
		b = append(b, '}')
	}
	return writeJSON(w, status, []byte(`{"data":`), data, append(b, '}'))
}

// writeJSON writes a JSON text that consists of parts.
func writeJSON(w http.ResponseWriter, status int, parts ...[]byte) (unread bool) {
	size := 0
	for _, part := range parts {
		size += len(part)
	}
	h := w.Header()
	h.Set("Content-Type", "application/json; charset=utf-8")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Length", strconv.Itoa(size))
	w.WriteHeader(status)
	return send(w, parts...)
}

// write writes a file. A browser that shows it must not run anything in it. Its
// ETag is a digest of its bytes: the data behind them may change without a
// revision. Who has those bytes does not get them again.
func (f *File) write(w http.ResponseWriter, asked http.Header) (unread bool) {
	sum := sha256.Sum256(f.Content)
	disposition := "inline"
	if f.Attachment {
		disposition = "attachment"
	}
	h, etag := w.Header(), `"`+revisionOf(sum)+`"`
	h.Set("Content-Disposition", mime.FormatMediaType(disposition, map[string]string{"filename": f.Name}))
	h.Set("Content-Security-Policy", "default-src 'none'; img-src data:; sandbox")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("ETag", etag)
	if Holds(asked, etag) {
		w.WriteHeader(http.StatusNotModified)
		return false
	}
	h.Set("Content-Type", f.ContentType)
	h.Set("Content-Length", strconv.Itoa(len(f.Content)))
	w.WriteHeader(http.StatusOK)
	return send(w, f.Content)
}

// Holds reports whether a client that sent this header already has what etag names.
func Holds(asked http.Header, etag string) bool {
	for known := range strings.SplitSeq(strings.Join(asked.Values("If-None-Match"), ","), ",") {
		if known = strings.TrimSpace(known); known == "*" || strings.TrimPrefix(known, "W/") == etag {
			return true
		}
	}
	return false
}

// ErrorEnvelope is the body of every refusal.
type ErrorEnvelope struct {
	Error ErrorBody `json:"error"`
}

// SchemaName implements schema.Named.
func (ErrorEnvelope) SchemaName() string { return "ErrorResponse" }

// ErrorBody is what the envelope of a refusal holds.
type ErrorBody struct {
	Code             fault.Code         `json:"code"`
	Message          string             `json:"message" maxLength:"65536" doc:"What was wrong and what to do, for a person."`
	RequestID        string             `json:"requestId"`
	DocumentationURL string             `json:"documentationUrl" format:"uri" doc:"Where the code is explained."`
	Details          []fault.Detail     `json:"details,omitempty" maxItems:"50" doc:"What exactly was refused; absent when there is nothing to point at."`
	Resource         *ErrorResource     `json:"resource,omitempty" doc:"The resource of the earlier intent, on idempotency_conflict and secret_not_replayable."`
	Dependencies     []fault.Dependency `json:"dependencies,omitempty" maxItems:"50" doc:"What stands in the way, on resource_conflict."`
}

// SchemaName implements schema.Named.
func (ErrorBody) SchemaName() string { return "Error" }

// ErrorResource names a resource in an error.
type ErrorResource struct {
	ID string `json:"id" maxLength:"500"`
}

// WriteError writes a refusal in its envelope, with the headers that belong to
// its code.
func (p *Pipeline) WriteError(w http.ResponseWriter, requestID string, e *fault.Error) {
	body := ErrorBody{
		Code: e.Code, Message: e.Message, RequestID: requestID, Details: e.Details, Dependencies: e.Dependencies,
		DocumentationURL: documentation(p.DocsURL, e.Code),
	}
	if e.ResourceID != "" {
		body.Resource = &ErrorResource{ID: e.ResourceID}
	}
	h := w.Header()
	if e.Code == fault.Unauthenticated {
		h.Set("WWW-Authenticate", "Bearer")
	}
	if e.RetryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(e.RetryAfter))
	}
	if e.Location != "" {
		h.Set("Location", e.Location)
	}
	b, err := json.Marshal(ErrorEnvelope{body})
	if err != nil { // only a refusal of our own making that is not valid UTF-8
		p.Log.Error("marshal error envelope", "request_id", requestID, "error", err)
		b = []byte(`{"error":{"code":"internal_error","message":"The refusal could not be written.","requestId":"` +
			requestID + `","documentationUrl":""}}`)
	}
	writeJSON(w, e.Status(), b)
}

// documentation is where a code is explained.
func documentation(docs string, code fault.Code) string {
	return docs + "/api/errors/#" + strings.ReplaceAll(string(code), "_", "-")
}

// revisionOf makes a UUID (version 8) of a digest.
func revisionOf(sum [sha256.Size]byte) string {
	sum[6] = sum[6]&0x0f | 0x80
	sum[8] = sum[8]&0x3f | 0x80
	return uuid.UUID(sum[:16]).String()
}

// headers returns the headers that belong to an answer and to its replays.
func (o *outcome) headers() map[string]string {
	h := map[string]string{}
	if o.etag != "" {
		h["ETag"] = `"` + o.etag + `"`
	}
	if o.location != "" {
		h["Location"] = o.location
	}
	if o.retryAfter > 0 {
		h["Retry-After"] = strconv.Itoa(o.retryAfter)
	}
	return h
}
