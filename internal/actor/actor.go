package actor

import (
	"context"
	"slices"
	"strings"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/store"
)

// Type tells the two kinds of credential apart, as clients see them.
type Type string

// The actor types.
const (
	Human  Type = "human"
	APIKey Type = "api_key"
)

// Actor is an authenticated caller.
type Actor struct {
	Type Type
	// OwnerID is the account: the user, or the user whose key it is.
	OwnerID string
	// Credential names the session or key: receipts and cursors are bound to
	// it. It is no secret.
	Credential string
	// Windows names whose rate windows calls count against: the session's, or
	// those that a key shares with the keys it replaced by rotation.
	Windows string
	// ExpiresAt is when the credential expires by itself; 0 for the session of a
	// grant, whose expiry the grant does not tell.
	ExpiresAt clock.Instant
	// Permissions and AppIDs bound a key; a human session has all of its own.
	Permissions []string
	AppIDs      []string
}

// PrincipalID is what audit shows of the caller: the user or the key.
func (a *Actor) PrincipalID() string {
	if a.Type == APIKey {
		return strings.TrimPrefix(a.Credential, keyCredential)
	}
	return a.OwnerID
}

// May reports whether the caller holds a permission; human marks operations
// that need a human session.
func (a *Actor) May(permission string, human bool) bool {
	if a.Type == Human {
		return true
	}
	return !human && slices.Contains(a.Permissions, permission)
}

// Holds reports whether an app is within the credential's own bounds; that
// the app is the owner's is for Reaches to say.
func (a *Actor) Holds(appID string) bool {
	return a.Type == Human || slices.Contains(a.AppIDs, appID)
}

// Reaches reports whether the caller may see an app at all.
func (a *Actor) Reaches(ctx context.Context, q store.Q, appID string) (_ bool, err error) {
	defer fault.Wrap(&err, "actor.Reaches(%s)", appID)
	if !a.Holds(appID) {
		return false, nil
	}
	return store.Exists(ctx, q, "SELECT 1 FROM app WHERE id = ? AND owner_id = ?", appID, a.OwnerID)
}
