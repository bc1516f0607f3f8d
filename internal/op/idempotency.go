package op

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"net/http"
	"net/url"
	"sync"

	"github.com/go-json-experiment/json"

	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/receipt"
	"github.com/waymarkhq/waymark/internal/store"
)

// inFlight knows the intents that this process works on.
type inFlight struct {
	mu   sync.Mutex
	keys map[string]struct{}
}

func inProgress() error {
	refusal := fault.New(fault.OperationInProgress, "A request with this Idempotency-Key is being processed.")
	refusal.RetryAfter = 1
	return refusal
}

func (f *inFlight) acquire(credential, key string) (release func(), err error) {
	id := credential + "|" + key
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, busy := f.keys[id]; busy {
		return nil, inProgress()
	}
	f.keys[id] = struct{}{}
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.keys, id)
	}, nil
}

// lockKey refuses an intent that another process works on.
func (c *callContext) lockKey(tx *store.Tx) {
	sum := sha256.Sum256([]byte(c.Actor.Credential + "|" + c.Intent))
	tx.TryLock(int64(binary.BigEndian.Uint64(sum[:])), inProgress())
}

// makeFingerprint identifies the intent of a request. The same key with another
// fingerprint is a conflict.
func (c *callContext) makeFingerprint() string {
	h := sha256.New()
	for _, part := range [][]byte{
		[]byte(c.r.Method), []byte(c.target()), []byte(canonicalQuery(c.r)), []byte(c.IfMatch), canonical(c.body),
	} {
		var length [8]byte
		binary.BigEndian.PutUint64(length[:], uint64(len(part)))
		h.Write(length[:])
		h.Write(part)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// replay answers from the receipt of the same intent, after checking that the
// caller may still reach the resource.
func (c *callContext) replay() (replayed bool, err error) {
	r, err := receipt.Find(c.ctx, c.pipeline.DB, c.Actor.Credential, c.Intent, c.Now)
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if r.Fingerprint != c.fingerprint {
		refusal := fault.New(fault.IdempotencyConflict, "This Idempotency-Key was used for another request.")
		refusal.ResourceID = r.ResourceID
		return false, refusal
	}
	if r.AppID != "" && !c.Actor.Holds(r.AppID) {
		// A key no longer reaches an app that was deleted, but the deletion may
		// still be replayed.
		exists, err := store.Exists(c.ctx, c.pipeline.DB, "SELECT 1 FROM app WHERE id = ?", r.AppID)
		if err != nil {
			return false, err
		}
		if exists {
			return false, fault.Missing()
		}
	}
	var headers map[string]string
	if err := json.Unmarshal([]byte(r.Header), &headers); err != nil {
		return false, err
	}
	if r.HasSecret {
		refusal := fault.New(fault.SecretNotReplayable, "The secret was issued once and is not kept. Rotate or "+
			"replace it when it was lost.")
		refusal.ResourceID, refusal.Location = r.ResourceID, headers["Location"]
		return false, refusal
	}
	if err := c.keepRoom(len(r.Body)); err != nil {
		return false, err
	}
	RateHeaders(c.w.Header(), c.standings)
	for name, value := range headers {
		c.w.Header().Set(name, value)
	}
	c.w.Header().Set("Idempotency-Replayed", "true")
	unread := false
	if r.Status == http.StatusNoContent {
		c.w.WriteHeader(r.Status)
	} else {
		unread = writeEnvelope(c.w, r.Status, c.RequestID, r.Body, nil)
	}
	c.ended(r.Status, unread)
	return true, nil
}

// saveReceipt keeps the answer as part of the transaction of its effect, and returns how
// many bytes that takes.
func (c *callContext) saveReceipt(tx *store.Tx, out *outcome) (kept int, err error) {
	r := receipt.Receipt{
		Credential: c.Actor.Credential, Key: c.Intent, Fingerprint: c.fingerprint,
		AppID: out.ref.AppID, ResourceID: out.ref.ID, Status: c.row.Status, HasSecret: out.secret,
	}
	headers, err := json.Marshal(out.headers())
	if err != nil {
		return 0, err
	}
	r.Header = string(headers)
	if !out.secret {
		r.Body = out.text
	}
	return receipt.Save(c.ctx, tx, r)
}

// target is the operation and the resource that a call addresses, however its
// id is escaped in the path.
func (c *callContext) target() string {
	target := c.row.ID
	for _, p := range c.row.input.parameters {
		if p.in == "path" {
			target += "|" + c.path[p.name]
		}
	}
	return target
}

// canonicalQuery is the query in a form in which order does not matter.
func canonicalQuery(r *http.Request) string {
	values, _ := url.ParseQuery(r.URL.RawQuery)
	return values.Encode()
}
