package actor

import (
	"context"
	"strings"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/store"
)

// Grant is what is kept of a caller for whom something is done later: enough to
// ask, before each effect, whether the caller may still do this.
type Grant struct {
	OwnerID    string
	Credential string
}

// Grant returns the caller's grant.
func (a *Actor) Grant() Grant { return Grant{OwnerID: a.OwnerID, Credential: a.Credential} }

// Holder returns the caller that the grant stands for, as it is now, or nil when
// it may no longer act: its credential is not accepted any more, lacks the
// permission, or does not reach the app.
func (g Grant) Holder(ctx context.Context, q store.Q, now clock.Instant, permission,
	appID string) (_ *Actor, err error) {
	defer fault.Wrap(&err, "actor.Holder(%q, %s)", permission, appID)
	a, err := g.rebuild(ctx, q, now)
	if refusal, ok := fault.From(err); ok && refusal.Code == fault.Unauthenticated {
		return nil, nil
	}
	if err != nil || !a.May(permission, false) {
		return nil, err
	}
	if reached, err := a.Reaches(ctx, q, appID); err != nil || !reached {
		return nil, err
	}
	return a, nil
}

// rebuild returns the caller, or a refusal when its credential is no longer
// accepted. What a session started goes on after the session expired, but not
// after it was ended.
func (g Grant) rebuild(ctx context.Context, q store.Q, now clock.Instant) (*Actor, error) {
	if id, ok := strings.CutPrefix(g.Credential, keyCredential); ok {
		return keyWhere(ctx, q, "k.id = ?", id, now)
	}
	if !strings.HasPrefix(g.Credential, sessionPrefix) {
		return nil, lostGrant.refusal()
	}
	holds, err := store.Exists(ctx, q, `SELECT 1 FROM users WHERE id = ? AND active
		AND NOT EXISTS (SELECT 1 FROM session WHERE credential = ? AND ended_at IS NOT NULL)`, g.OwnerID, g.Credential)
	if err != nil {
		return nil, err
	}
	if !holds {
		return nil, lostGrant.refusal()
	}
	return &Actor{Type: Human, OwnerID: g.OwnerID, Credential: g.Credential, Windows: g.Credential}, nil
}
