package apikey

import (
	"context"
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/waymarkhq/waymark/internal/actor"
	"github.com/waymarkhq/waymark/internal/ids"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/store"
)

const columns = "id, name, prefix, app_ids, permissions, expires_at, created_at, last_used_at, revoked_at, revision"

func scan(r store.Row) (k Key, err error) {
	var apps, permissions string
	if err := r.Scan(&k.ID, &k.Name, &k.Prefix, &apps, &permissions, &k.ExpiresAt, &k.CreatedAt, &k.LastUsedAt,
		&k.RevokedAt, &k.Revision); err != nil {
		return k, err
	}
	if err := json.Unmarshal([]byte(apps), &k.AppIDs); err != nil {
		return k, err
	}
	return k, json.Unmarshal([]byte(permissions), &k.Permissions)
}

// load returns a key of an owner, or the refusal of a missing one.
func load(ctx context.Context, q store.Q, ownerID, id string) (Key, error) {
	return op.Found(store.One(ctx, q, scan, "SELECT "+columns+" FROM api_key WHERE id = ? AND owner_id = ?", id,
		ownerID))
}

func list(ctx context.Context, c *op.Call, status string, w op.Window) ([]Key, error) {
	var where store.Where
	where.And("owner_id = ?", c.Actor.OwnerID)
	switch status {
	case "active":
		where.And("expires_at > ? AND (revoked_at IS NULL OR revoked_at > ?)", c.Now, c.Now)
	case "expired":
		where.And("expires_at <= ? AND (revoked_at IS NULL OR revoked_at > ?)", c.Now, c.Now)
	case "revoked":
		where.And("revoked_at <= ?", c.Now)
	}
	order := w.Keyset(&where, "created_at", "id", true)
	return store.All(ctx, c.DB, scan, "SELECT "+columns+" FROM api_key"+where.String()+order, where.Args(w.Limit)...)
}

// insert makes the key's secret and stores its digest. firstID is that of the
// first key of the chain of rotations that the key continues, "" for none.
func insert(ctx context.Context, tx *store.Tx, ownerID string, environment actor.Environment, k *Key,
	firstID string) (secret string, err error) {
	secret, prefix, digest := actor.NewKey(environment)
	k.ID, k.Prefix, k.Revision, k.CreatedAt = ids.New(), prefix, ids.Revision(), tx.Now
	apps, permissions, err := encodeScope(k)
	if err != nil {
		return "", err
	}
	_, err = tx.Exec(ctx, `INSERT INTO api_key (id, owner_id, name, prefix, digest, first_id, app_ids, permissions,
		expires_at, revision, created_at, updated_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		k.ID, ownerID, k.Name, k.Prefix, digest, store.NullString(firstID), apps, permissions, k.ExpiresAt, k.Revision,
		tx.Now, tx.Now)
	return secret, err
}

// save stores what can change of a key under a new revision.
func save(ctx context.Context, tx *store.Tx, k *Key) error {
	k.Revision = ids.Revision()
	apps, permissions, err := encodeScope(k)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `UPDATE api_key SET name = ?, app_ids = ?, permissions = ?, revoked_at = ?, revision = ?,
		updated_at = ? WHERE id = ?`,
		k.Name, apps, permissions, k.RevokedAt, k.Revision, tx.Now, k.ID)
	return err
}

func encodeScope(k *Key) (apps, permissions string, err error) {
	a, err := json.Marshal(k.AppIDs)
	if err != nil {
		return "", "", err
	}
	p, err := json.Marshal(k.Permissions)
	return string(a), string(p), err
}

// firstOf returns the id of the first key of the chain of rotations in which a
// key stands.
func firstOf(ctx context.Context, q store.Q, id string) (string, error) {
	return store.One(ctx, q, store.Value[string], "SELECT COALESCE(first_id, id) FROM api_key WHERE id = ?", id)
}

// forgetApp takes a deleted app out of its owner's keys, those that are not in
// force any more included. A key that had no other app is left without any, and
// reaches nothing.
func forgetApp(ctx context.Context, tx *store.Tx, ownerID, appID string) error {
	keys, err := store.All(ctx, tx, scan, "SELECT "+columns+" FROM api_key WHERE owner_id = ? AND "+tx.Dialect().
		Contains("app_ids"), ownerID, appID)
	if err != nil {
		return err
	}
	for _, k := range keys {
		if i := slices.Index(k.AppIDs, appID); i >= 0 {
			k.AppIDs = slices.Delete(k.AppIDs, i, i+1)
			if err := save(ctx, tx, &k); err != nil {
				return err
			}
		}
	}
	return nil
}

// ownedApps returns those of some apps that an owner has.
func ownedApps(ctx context.Context, q store.Q, ownerID string, appIDs []string) ([]string, error) {
	args := []any{ownerID}
	for _, id := range appIDs {
		args = append(args, id)
	}
	return store.All(ctx, q, store.Value[string], "SELECT id FROM app WHERE owner_id = ? AND id IN ("+
		store.Marks(len(appIDs))+")", args...)
}
