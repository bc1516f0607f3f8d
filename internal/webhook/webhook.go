// Package webhook owns the destinations that apps register for their events,
// the signatures, and the dispatcher that sends (api-v1.md, Webhook and
// delivery, Events; completions.md §9). It does not hold the deliveries:
// package delivery owns them, with their states and their queue. The
// capabilities decide which changes make events, and emit them through package
// delivery.
//
// The revision of a webhook is the revision of its configuration. Counters and
// suspension change with every attempt but leave the revision alone, so that a
// revision that a client read stays good for If-Match.
package webhook

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"slices"
	"time"

	"github.com/waymarkhq/waymark/internal/actor"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/cursor"
	"github.com/waymarkhq/waymark/internal/delivery"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/schema"
	"github.com/waymarkhq/waymark/internal/store"
)

const (
	// MaxPerApp bounds the destinations of an app (api-v1.md, Limits).
	MaxPerApp = 10
	// maxFailures in a row suspend a destination.
	maxFailures = 10
	// permission is needed to register a destination, and checked again at each
	// send.
	permission = "webhooks:create"
)

// Webhook is a destination as lists and reads show it, without its secret.
type Webhook struct {
	ID                  string         `json:"id" format:"uuid"`
	AppID               string         `json:"appId"`
	URL                 string         `json:"url"`
	Events              []EventType    `json:"events"`
	Description         *string        `json:"description"`
	Enabled             bool           `json:"enabled"`
	Status              string         `json:"status" enum:"active,disabled,suspended,authorization_required" doc:"Not part of the revision."`
	ConsecutiveFailures int64          `json:"consecutiveFailures" doc:"Not part of the revision."`
	LastSuccessAt       *clock.Instant `json:"lastSuccessAt" format:"date-time" doc:"Not part of the revision."`
	LastFailureAt       *clock.Instant `json:"lastFailureAt" format:"date-time" doc:"Not part of the revision."`
	AuthorizedBy        Authorizer     `json:"authorizedBy"`
	Revision            string         `json:"revision" format:"uuid" doc:"The revision of the configuration; status, consecutiveFailures, lastSuccessAt and lastFailureAt change without a new one."`
	CreatedAt           clock.Instant  `json:"createdAt" format:"date-time"`
	UpdatedAt           clock.Instant  `json:"updatedAt" format:"date-time"`

	// hold says why nothing is sent although the destination is enabled; ""
	// when it is sent to.
	hold string
	// grant and authorizedUntil say on whose behalf it is sent, and until when.
	grant           actor.Grant
	authorizedUntil clock.Instant
	// secret signs. It is stored as it is: a digest of it could not sign.
	// previousSecret signs too until previousUntil.
	secret         string
	previousSecret *string
	previousUntil  *clock.Instant
}

// Authorizer is the caller who registered a destination, or who last enabled it or
// changed its address or events.
type Authorizer struct {
	Type string `json:"type" enum:"human,api_key"`
	ID   string `json:"id"`
}

// SchemaName implements schema.Named.
func (Authorizer) SchemaName() string { return "WebhookAuthorizer" }

// EventType is an event type that a destination may select.
type EventType delivery.Type

// Schema implements schema.Provider: the list stands in package delivery.
func (EventType) Schema(*schema.Registry) *schema.Schema { return schema.Enum(delivery.Selectable...) }

// Issued is a webhook with its signing secret, which is shown this once.
type Issued struct {
	Webhook Webhook `json:"webhook"`
	Secret  string  `json:"secret" doc:"Signs every delivery; keep it at the receiver."`
}

// SchemaName implements schema.Named.
func (Issued) SchemaName() string { return "IssuedWebhook" }

// Rotated is a webhook with its new signing secret.
type Rotated struct {
	Issued
	PreviousSecretExpiresAt *clock.Instant `json:"previousSecretExpiresAt" format:"date-time" doc:"Until then each delivery is signed with both."`
}

// SchemaName implements schema.Named.
func (Rotated) SchemaName() string { return "RotatedWebhookSecret" }

// Position implements op.Positioned.
func (w Webhook) Position() cursor.Position { return cursor.Position{At: w.CreatedAt, ID: w.ID} }

func (w Webhook) ref() op.Ref {
	return op.Ref{Type: "webhook", ID: w.ID, AppID: w.AppID, Revision: w.Revision}
}

func (w Webhook) location() string { return op.Location("webhooks", w.ID) }

func (w Webhook) destination() delivery.Destination {
	return delivery.Destination{ID: w.ID, Revision: w.Revision, Hold: w.hold}
}

// setStatus derives the status. It shows an expired authorization before the
// next attempt notices it.
func (w *Webhook) setStatus(now clock.Instant) {
	switch {
	case !w.Enabled:
		w.Status = "disabled"
	case w.hold != "":
		w.Status = w.hold
	case w.authorizedUntil <= now:
		w.Status = delivery.HoldAuthorization
	default:
		w.Status = "active"
	}
}

// authorize makes the caller the one on whose behalf events are sent.
func (w *Webhook) authorize(a *actor.Actor) {
	w.grant, w.authorizedUntil = a.Grant(), a.ExpiresAt
	w.AuthorizedBy = Authorizer{Type: string(a.Type), ID: a.PrincipalID()}
	if w.hold == delivery.HoldAuthorization {
		w.hold = ""
	}
}

// resume ends a suspension and forgets the failures that led to it.
func (w *Webhook) resume() { w.hold, w.ConsecutiveFailures = "", 0 }

// redirects reports whether a change has other events sent, or the events to
// another address.
func (w *Webhook) redirects(change *UpdateWebhook) bool {
	return change.URL.Or(w.URL) != w.URL ||
		!slices.Equal(slices.Sorted(slices.Values(change.Events.Or(w.Events))), slices.Sorted(slices.Values(w.Events)))
}

// refresh shows in the status that the authorization is lost, before an attempt
// notices it.
func (w *Webhook) refresh(ctx context.Context, c *op.Call) error {
	if w.Status != "active" {
		return nil
	}
	holds, err := w.authorized(ctx, c.DB, c.Now)
	if !holds {
		w.Status = delivery.HoldAuthorization
	}
	return err
}

// authorized reports whether the credential that authorized the destination is
// still accepted, permitted and in reach of the app.
func (w *Webhook) authorized(ctx context.Context, q store.Q, now clock.Instant) (bool, error) {
	if w.authorizedUntil <= now {
		return false, nil
	}
	holder, err := w.grant.Holder(ctx, q, now, permission, w.AppID)
	return holder != nil, err
}

// rotate gives the webhook a new secret. The old secret also signs for the time
// overlap.
func (w *Webhook) rotate(now clock.Instant, overlap time.Duration) {
	w.previousSecret, w.previousUntil = nil, nil
	if overlap > 0 {
		old, until := w.secret, now.Add(overlap)
		w.previousSecret, w.previousUntil = &old, &until
	}
	w.secret = newSecret()
}

// newSecret returns the text of a signing secret. All of it, the prefix
// included, is the key of the signature.
func newSecret() string {
	random := make([]byte, 32)
	rand.Read(random)
	return "whsec_" + base64.RawURLEncoding.EncodeToString(random)
}

// conflict is the refusal to send to a destination in its present state.
func conflict(format string, args ...any) error {
	return fault.New(fault.ResourceConflict, format, args...)
}
