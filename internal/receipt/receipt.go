// Package receipt keeps, for 24 hours, what a mutation answered, so that the
// same intent sent again is answered and not done again (api-v1.md, Common
// rules 3; completions.md §1, Receipts). A receipt is written in the
// transaction of the effect: there is one exactly when there was an effect.
package receipt

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/store"
)

// Lifetime of a receipt.
const Lifetime = 24 * time.Hour

// ErrExists is returned by Save when another process stored the receipt of
// the same key first.
var ErrExists = errors.New("a receipt of this key exists")

// Receipt is the answer to one intent. It never holds a secret: where the
// answer carried one, Body is empty and HasSecret set.
type Receipt struct {
	Credential  string
	Key         string
	Fingerprint string
	AppID       string // "" when the intent concerned no app
	ResourceID  string
	Status      int
	Header      string // JSON object of the headers that belong to the answer
	Body        []byte // JSON of the answer's data
	HasSecret   bool
}

// Find returns the receipt of a credential's key that has not expired, or
// store.ErrNotFound.
func Find(ctx context.Context, q store.Q, credential, key string, now clock.Instant) (Receipt, error) {
	r, err := store.One(ctx, q, func(row store.Row) (r Receipt, err error) {
		r.Credential, r.Key = credential, key
		var packed []byte
		err = row.Scan(&r.Fingerprint, &r.AppID, &r.ResourceID, &r.Status, &r.Header, &r.Body, &packed, &r.HasSecret)
		if err == nil && len(packed) > 0 {
			r.Body, err = unpack(packed)
		}
		return r, err
	}, `SELECT fingerprint, COALESCE(app_id, ''), COALESCE(resource_id, ''), status, header, body, packed, has_secret
		FROM receipt WHERE credential = ? AND key = ? AND expires_at > ?`, credential, key, now)
	if err != nil && !errors.Is(err, store.ErrNotFound) { // which is the usual answer
		err = fmt.Errorf("receipt.Find: %w", err)
	}
	return r, err
}

// Save writes r as part of tx, and returns how many bytes its body takes. An expired
// receipt of the same key gives way.
func Save(ctx context.Context, tx *store.Tx, r Receipt) (bytes int, err error) {
	defer fault.Wrap(&err, "receipt.Save(%s)", r.ResourceID)
	body, packed := pack(r.Body)
	n, err := tx.Exec(ctx, `INSERT INTO receipt (credential, key, fingerprint, app_id, resource_id, status, header,
		body, packed, has_secret, expires_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (credential, key) DO UPDATE SET fingerprint = excluded.fingerprint, app_id = excluded.app_id,
			resource_id = excluded.resource_id, status = excluded.status, header = excluded.header, body =
			excluded.body, packed = excluded.packed, has_secret = excluded.has_secret, expires_at = excluded.expires_at
		WHERE receipt.expires_at <= ?`,
		r.Credential, r.Key, r.Fingerprint, store.NullString(r.AppID), store.NullString(r.ResourceID), r.Status,
		r.Header, body, packed, r.HasSecret, tx.Now.Add(Lifetime), tx.Now)
	if err == nil && n == 0 {
		err = ErrExists
	}
	return len(body) + len(packed), err
}

// Sweep removes at most limit expired receipts.
func Sweep(ctx context.Context, db *store.DB, limit int) (_ int64, err error) {
	defer fault.Wrap(&err, "receipt.Sweep")
	return db.Exec(ctx, `DELETE FROM receipt WHERE (credential, key) IN
		(SELECT credential, key FROM receipt WHERE expires_at <= ? ORDER BY expires_at LIMIT ?)`, db.Now(), limit)
}
