// Package apikey owns the administration of API keys: issue, scope, rotation
// with overlap, revocation (api-v1.md, API key; completions.md §2). Only human
// sessions administer keys. The form of a key's text and its verification are
// package actor's.
package apikey

import (
	"slices"
	"time"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/cursor"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/op"
)

const (
	defaultLifetime = 90 * 24 * time.Hour
	maxLifetime     = 365 * 24 * time.Hour
)

// Key is an API key as lists and reads show it, without its secret.
type Key struct {
	ID          string         `json:"id" format:"uuid"`
	Name        string         `json:"name"`
	Prefix      string         `json:"prefix" doc:"The non-secret leading part of the key."`
	AppIDs      []string       `json:"appIds" doc:"Empty once the last of its apps was deleted: the key then reaches nothing."`
	Permissions []string       `json:"permissions"`
	ExpiresAt   clock.Instant  `json:"expiresAt" format:"date-time"`
	CreatedAt   clock.Instant  `json:"createdAt" format:"date-time"`
	LastUsedAt  *clock.Instant `json:"lastUsedAt" format:"date-time" doc:"Not part of the revision."`
	RevokedAt   *clock.Instant `json:"revokedAt" format:"date-time" doc:"In the future while a rotated key overlaps with its successor."`
	Revision    string         `json:"revision" format:"uuid"`
}

// SchemaName implements schema.Named.
func (Key) SchemaName() string { return "ApiKey" }

// Issued is a new key with its secret, which is shown this once.
type Issued struct {
	Key    Key    `json:"key"`
	Secret string `json:"secret"`
}

// SchemaName implements schema.Named.
func (Issued) SchemaName() string { return "IssuedApiKey" }

// Position implements op.Positioned.
func (k Key) Position() cursor.Position { return cursor.Position{At: k.CreatedAt, ID: k.ID} }

func (k Key) ref() op.Ref { return op.Ref{Type: "api_key", ID: k.ID, Revision: k.Revision} }

func (k Key) location() string { return op.Location("api-keys", k.ID) }

// inForce reports whether the key is accepted at an instant.
func (k Key) inForce(now clock.Instant) bool {
	return k.ExpiresAt > now && (k.RevokedAt == nil || *k.RevokedAt > now)
}

// expiry returns when a new key expires.
func expiry(asked *clock.Instant, now clock.Instant) (clock.Instant, error) {
	if asked == nil {
		return now.Add(defaultLifetime), nil
	}
	if *asked <= now || *asked > now.Add(maxLifetime) {
		return 0, fault.Invalid("/expiresAt", fault.ReasonOutOfRange,
			"the expiry must be in the future and at most 365 days away")
	}
	return *asked, nil
}

// distinct returns values sorted and without repetitions, so that a scope has
// one form.
func distinct(values []string) []string {
	values = slices.Clone(values)
	slices.Sort(values)
	return slices.Compact(values)
}

// refuseOthers refuses each value of the array at a path that is not among the
// allowed ones, in the words of say.
func refuseOthers(path string, sent, allowed []string, reason fault.Reason, say func(value string) string) error {
	var p fault.Problems
	for n, v := range sent {
		if !slices.Contains(allowed, v) {
			p.Add(path+fault.Pointer(n), reason, "%s", say(v))
		}
	}
	return p.Refusal()
}
