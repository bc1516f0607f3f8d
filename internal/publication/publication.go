// Package publication is what owners see of the way from a change to the
// redirector: a write makes the publication of its link or domain pending, the
// projection makes it synced, or failed when it could not be done
// (api-v1.md, Publication state; completions.md §3).
package publication

import (
	"context"

	"github.com/go-json-experiment/json"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/opt"
	"github.com/waymarkhq/waymark/internal/store"
)

// The statuses of a publication.
const (
	Pending = "pending"
	Synced  = "synced"
	Failed  = "failed"
)

// State is the publication as it appears inside a link or domain.
type State struct {
	Status            string        `json:"status" enum:"pending,synced,failed"`
	DesiredRevision   string        `json:"desiredRevision" format:"uuid"`
	ConfirmedRevision *string       `json:"confirmedRevision" doc:"The revision the redirector resolves; null until the first is confirmed."`
	UpdatedAt         clock.Instant `json:"updatedAt" format:"date-time"`
}

// SchemaName implements schema.Named.
func (State) SchemaName() string { return "PublicationState" }

// Error is a sanitized failure.
type Error struct {
	Code    string        `json:"code" maxLength:"100"`
	Message string        `json:"message"`
	At      clock.Instant `json:"at" format:"date-time"`
}

// SchemaName implements schema.Named.
func (Error) SchemaName() string { return "PublicationError" }

// Detail is the publication as its own operation reads it.
type Detail struct {
	Status            string          `json:"status" enum:"pending,synced,failed"`
	DesiredRevision   string          `json:"desiredRevision" format:"uuid"`
	ConfirmedRevision *string         `json:"confirmedRevision"`
	UpdatedAt         clock.Instant   `json:"updatedAt" format:"date-time"`
	Attempts          int64           `json:"attempts" doc:"Failed attempts since the last change."`
	LastError         opt.Null[Error] `json:"lastError"`
}

// SchemaName implements schema.Named.
func (Detail) SchemaName() string { return "PublicationDetail" }

// StateColumns are the columns of a State besides the resource's revision.
const StateColumns = "publication_status, publication_confirmed, publication_updated_at"

// Table is a table with the publication columns.
type Table string

// The published resources.
const (
	Links   Table = "link"
	Domains Table = "domain"
)

// Load returns the publication of one resource, or store.ErrNotFound.
func (t Table) Load(ctx context.Context, q store.Q, id string) (_ Detail, err error) {
	defer fault.Wrap(&err, "publication.Load(%s, %s)", t, id)
	return store.One(ctx, q, func(r store.Row) (d Detail, err error) {
		var failure *string
		if err := r.Scan(&d.DesiredRevision, &d.Status, &d.ConfirmedRevision, &d.UpdatedAt, &d.Attempts,
			&failure); err != nil || failure == nil {
			return d, err
		}
		var e Error
		err = json.Unmarshal([]byte(*failure), &e)
		d.LastError = opt.NullOf(e)
		return d, err
	}, "SELECT revision, "+StateColumns+", publication_attempts, publication_error FROM "+string(t)+" WHERE id = ?", id)
}

// Request makes the publication of a resource pending.
func (t Table) Request(ctx context.Context, tx *store.Tx, id string) (err error) {
	defer fault.Wrap(&err, "publication.Request(%s, %s)", t, id)
	_, err = tx.Exec(ctx, "UPDATE "+string(t)+" SET publication_status = 'pending', publication_attempts = 0, "+
		"publication_error = NULL, publication_updated_at = ? WHERE id = ?", tx.Now, id)
	return err
}

// Confirm records that the redirector's projection holds a revision. When the
// resource has a newer one by now it stays pending: its own projection follows.
func (t Table) Confirm(ctx context.Context, tx *store.Tx, id, revision string) (err error) {
	defer fault.Wrap(&err, "publication.Confirm(%s, %s, %s)", t, id, revision)
	_, err = tx.Exec(ctx,
		"UPDATE "+string(t)+` SET publication_status = CASE WHEN revision = ? THEN 'synced' ELSE publication_status END,
		publication_confirmed = ?, publication_attempts = 0, publication_error = NULL, publication_updated_at = ? WHERE id = ?`,
		revision, revision, tx.Now, id)
	return err
}

// ConfirmAll is Confirm for resources at the revisions that they have: the
// transaction locked them when it read what it published.
func (t Table) ConfirmAll(ctx context.Context, tx *store.Tx, ids []any) (err error) {
	defer fault.Wrap(&err, "publication.ConfirmAll(%s)", t)
	for some := range store.Chunks(ids) {
		if err := tx.Send(ctx,
			"UPDATE "+string(t)+` SET publication_status = 'synced', publication_confirmed = revision,
			publication_attempts = 0, publication_error = NULL, publication_updated_at = ? WHERE id IN (`+store.Marks(len(some))+")",
			append([]any{tx.Now}, some...)...); err != nil {
			return err
		}
	}
	return nil
}

// Renew gives the resources that a condition selects a revision under which
// visitors get what they got before. What was confirmed is confirmed under it at
// once; a publication under way confirms it when it ends, provided that it locks
// the resource when it reads it.
func (t Table) Renew(ctx context.Context, tx *store.Tx, revision, condition string, args ...any) (err error) {
	defer fault.Wrap(&err, "publication.Renew(%s)", t)
	_, err = tx.Exec(ctx,
		"UPDATE "+string(t)+
			` SET publication_confirmed = CASE WHEN publication_confirmed = revision THEN ? ELSE publication_confirmed END,
		publication_updated_at = CASE WHEN publication_confirmed = revision THEN ? ELSE publication_updated_at END,
		revision = ?, updated_at = ? WHERE `+condition, append([]any{revision, tx.Now, revision, tx.Now}, args...)...)
	return err
}

// Fail records a failed attempt; final gives up until the next change or
// resync. What another attempt published meanwhile stays synced.
func (t Table) Fail(ctx context.Context, tx *store.Tx, id string, attempts int64, final bool) (err error) {
	defer fault.Wrap(&err, "publication.Fail(%s, %s)", t, id)
	text, err := json.Marshal(Error{Code: "projection_failed", Message: "The redirector's routes could not be updated.",
		At: tx.Now})
	if err != nil {
		return err
	}
	status := Pending
	if final {
		status = Failed
	}
	_, err = tx.Exec(ctx, "UPDATE "+string(t)+" SET publication_status = ?, publication_attempts = ?, "+
		"publication_error = ?, publication_updated_at = ? WHERE id = ? AND publication_status <> 'synced'",
		status, attempts, string(text), tx.Now, id)
	return err
}
