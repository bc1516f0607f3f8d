package actor

import (
	"context"
	"errors"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/store"
)

// Still returns the caller as it is in the transaction of what it is about to do, or a
// refusal when its credential is no longer accepted: much may have changed since the
// call was authenticated, while its body came in. reaches tells whether the caller
// reaches an app, which then stays until the transaction ends.
func (a *Actor) Still(ctx context.Context, tx *store.Tx, appID string) (now *Actor, reaches bool, err error) {
	defer fault.Wrap(&err, "actor.Still(%s)", appID)
	var app *string // NULL unless it is an app of the owner
	if a.Type == APIKey {
		now, err = oneKey(ctx, tx, func(r store.Row) (*Actor, error) { return scanKey(r, tx.Now, &app) },
			"SELECT "+keyColumns+", "+keptApp(tx, "k.owner_id")+keyTables+"k.id = ?", appID, a.PrincipalID())
	} else {
		now, err = a.stillSession(ctx, tx, appID, &app)
	}
	if err != nil {
		return nil, false, err
	}
	return now, app != nil && now.Holds(*app), nil
}

// stillSession is Still of a session. That of a token which expires meanwhile goes on to the
// end of the call, as what it has started does (Grant). That of a browser does not: signing out
// ends it.
func (a *Actor) stillSession(ctx context.Context, tx *store.Tx, appID string, app **string) (*Actor, error) {
	h, err := store.One(ctx, tx, func(r store.Row) (h holder, err error) {
		h.ownerID = a.OwnerID
		var ended *clock.Instant
		err = r.Scan(&h.active, &ended, &h.browser, &h.recordedUntil, app)
		if ended != nil {
			h.endedAt = *ended
		}
		return h, err
	}, "SELECT u.active, s.ended_at, s.digest IS NOT NULL, COALESCE(s.expires_at, 0), "+keptApp(tx, "u.id")+
		" FROM users u LEFT JOIN session s ON s.credential = ? WHERE u.id = ?", appID, a.Credential, a.OwnerID)
	if errors.Is(err, store.ErrNotFound) {
		return nil, lostGrant.refusal()
	}
	if err == nil {
		err = h.check(tx.Now)
	}
	return a, err
}

// keptApp is the column for the id of an app, an argument, where it is one of an owner.
// Nobody can delete that app before the transaction ends.
func keptApp(tx *store.Tx, owner string) string {
	return "(SELECT a.id FROM app a WHERE a.id = ? AND a.owner_id = " + owner + tx.Dialect().KeepRow + ")"
}
