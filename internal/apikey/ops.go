package apikey

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/opt"
	"github.com/waymarkhq/waymark/internal/part"
	"github.com/waymarkhq/waymark/internal/schema"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/text"
)

// service holds what the operations need besides the call.
type service struct{ pipeline *op.Pipeline }

// Register declares the operations of this package and returns its part.
func Register(p *op.Pipeline) part.Part {
	k := &service{pipeline: p}
	op.Write(p, op.Op{ID: "createApiKeys", Method: "POST", Path: "/api-keys", Perm: "api_keys:create", Human: true,
		ETag: true, Summary: "Create an API key", Doc: "The secret is in this answer only; a digest of it is stored."},
		k.create)
	op.List(p, op.Op{ID: "getApiKeys", Method: "GET", Path: "/api-keys", Perm: "api_keys:read", Human: true,
		Summary: "List API keys"}, k.list)
	op.Read(p, op.Op{ID: "getApiKeysKeyId", Method: "GET", Path: "/api-keys/{keyId}", Perm: "api_keys:read",
		Human: true, Summary: "Get an API key"}, k.get)
	op.Write(p, op.Op{ID: "updateApiKeysKeyId", Method: "PATCH", Path: "/api-keys/{keyId}", Perm: "api_keys:update",
		Human: true, IfMatch: op.IfMatchRequired, Summary: "Rename an API key or reduce its permissions",
		Doc: "Widening the scope or extending the expiry needs a new key."}, k.update)
	op.Write(p, op.Op{ID: "deleteApiKeysKeyId", Method: "DELETE", Path: "/api-keys/{keyId}", Perm: "api_keys:delete",
		Human: true, IfMatch: op.IfMatchRequired, Summary: "Revoke an API key",
		Doc: "The next request with its secret gets 401. The key stays readable; one that expired or was revoked " +
			"before is answered alike."}, k.revoke)
	op.Write(p, op.Op{ID: "rotateApiKeysKeyId", Method: "POST", Path: "/api-keys/{keyId}/rotate",
		Perm: "api_keys:rotate", Human: true, IfMatch: op.IfMatchRequired, ETag: true, Summary: "Rotate an API key",
		Doc: "The successor has the same scope and expiry. The old key is accepted for overlapSeconds more, at most " +
			"until its expiry. Both count against the same rate windows."}, k.rotate)
	return part.Part{Name: "apikey", OfApp: part.OfApp{Remove: forgetApp}}
}

// CreateAPIKey is the body of createApiKeys.
type CreateAPIKey struct {
	Name        text.Line              `json:"name" maxLength:"100"`
	AppIDs      []string               `json:"appIds" minItems:"1" maxItems:"100" example:"[\"app_01k6fq4w8m3x7c9v2n5b1t0rzy\"]" doc:"Apps the key may reach, all of the owner."`
	Permissions []string               `json:"permissions" minItems:"1" maxItems:"200" example:"[\"links:read\",\"links:create\"]" doc:"Permissions of operations that do not need a human session."`
	ExpiresAt   opt.Opt[clock.Instant] `json:"expiresAt,omitzero" format:"date-time" doc:"Default 90 days from now, at most 365 days."`
}

// SchemaName implements schema.Named.
func (CreateAPIKey) SchemaName() string { return "ApiKeyCreate" }

func (s *service) create(ctx context.Context, c *op.Call, tx *store.Tx,
	in *struct{ Body CreateAPIKey }) (op.Item[Issued], error) {
	k := Key{Name: string(in.Body.Name), AppIDs: distinct(in.Body.AppIDs), Permissions: distinct(in.Body.Permissions)}
	var asked *clock.Instant
	if in.Body.ExpiresAt.Set {
		asked = &in.Body.ExpiresAt.Value
	}
	var err error
	if k.ExpiresAt, err = expiry(asked, tx.Now); err != nil {
		return op.Item[Issued]{}, err
	}
	known := s.pipeline.KeyPermissions()
	if err := refuseOthers("/permissions", in.Body.Permissions, known, fault.ReasonUnknownPermission,
		func(v string) string {
			return "API keys cannot hold a permission " + v + cmp.Or(schema.Hint(v, known),
				"; GET /v1/capabilities lists those that there are")
		}); err != nil {
		return op.Item[Issued]{}, err
	}
	owned, err := ownedApps(ctx, tx, c.Actor.OwnerID, k.AppIDs)
	if err == nil {
		err = refuseOthers("/appIds", in.Body.AppIDs, owned, fault.ReasonUnknownReference,
			func(string) string { return "you have no such app" })
	}
	if err != nil {
		return op.Item[Issued]{}, err
	}
	secret, err := insert(ctx, tx, c.Actor.OwnerID, s.pipeline.Auth.Environment(), &k, "")
	return issued(k, secret), err
}

func issued(k Key, secret string) op.Item[Issued] {
	return op.Item[Issued]{Data: Issued{Key: k, Secret: secret}, Ref: k.ref(), Location: k.location(), Secret: true}
}

type listInput struct {
	Status string `query:"status" enum:"active,expired,revoked"`
}

func (s *service) list(ctx context.Context, c *op.Call, in *listInput, w op.Window) ([]Key, error) {
	return list(ctx, c, in.Status, w)
}

type keyInput struct {
	KeyID string `path:"keyId"`
}

func (s *service) get(ctx context.Context, c *op.Call, in *keyInput) (op.Item[Key], error) {
	k, err := load(ctx, c.DB, c.Actor.OwnerID, in.KeyID)
	return op.Item[Key]{Data: k, Ref: k.ref()}, err
}

// UpdateAPIKey is the body of updateApiKeysKeyId.
type UpdateAPIKey struct {
	Name        opt.Opt[text.Line] `json:"name,omitzero" maxLength:"100" example:"Summer sale"`
	AppIDs      opt.Opt[[]string]  `json:"appIds,omitzero" minItems:"1" maxItems:"100" doc:"A part of the current apps."`
	Permissions opt.Opt[[]string]  `json:"permissions,omitzero" minItems:"1" maxItems:"200" doc:"A part of the current permissions."`
}

// SchemaName implements schema.Named.
func (UpdateAPIKey) SchemaName() string { return "ApiKeyPatch" }

type updateInput struct {
	KeyID string `path:"keyId"`
	Body  UpdateAPIKey
}

func wider(string) string { return "the key does not have it and cannot get it; issue a new key" }

func (s *service) update(ctx context.Context, c *op.Call, tx *store.Tx, in *updateInput) (op.Item[Key], error) {
	k, err := s.current(ctx, c, tx, in.KeyID)
	if err != nil {
		return op.Item[Key]{}, err
	}
	k.Name = string(in.Body.Name.Or(text.Line(k.Name)))
	if in.Body.AppIDs.Set {
		apps := distinct(in.Body.AppIDs.Value)
		if err := refuseOthers("/appIds", in.Body.AppIDs.Value, k.AppIDs, fault.ReasonWidening, wider); err != nil {
			return op.Item[Key]{}, err
		}
		k.AppIDs = apps
	}
	if in.Body.Permissions.Set {
		permissions := distinct(in.Body.Permissions.Value)
		if err := refuseOthers("/permissions", in.Body.Permissions.Value, k.Permissions, fault.ReasonWidening,
			wider); err != nil {
			return op.Item[Key]{}, err
		}
		k.Permissions = permissions
	}
	err = save(ctx, tx, &k)
	return op.Item[Key]{Data: k, Ref: k.ref()}, err
}

// current loads a key for a change: it must exist, be in force and have the
// revision that the client knows.
func (s *service) current(ctx context.Context, c *op.Call, tx *store.Tx, id string) (Key, error) {
	k, err := load(ctx, tx, c.Actor.OwnerID, id)
	if err != nil {
		return k, err
	}
	if c.Stale(k.Revision) {
		return k, fault.Stale()
	}
	if !k.inForce(tx.Now) {
		return k, fault.New(fault.ResourceConflict, "The key is revoked or expired.")
	}
	return k, nil
}

func (s *service) revoke(ctx context.Context, c *op.Call, tx *store.Tx, in *keyInput) (op.Item[op.Nothing], error) {
	k, err := load(ctx, tx, c.Actor.OwnerID, in.KeyID)
	if err != nil {
		return op.Item[op.Nothing]{}, err
	}
	if c.Stale(k.Revision) {
		return op.Item[op.Nothing]{}, fault.Stale()
	}
	if k.RevokedAt != nil && *k.RevokedAt <= tx.Now { // as it is to be
		return op.Item[op.Nothing]{Ref: k.ref()}, nil
	}
	k.RevokedAt = &tx.Now
	err = save(ctx, tx, &k)
	return op.Item[op.Nothing]{Ref: k.ref()}, err
}

// RotateAPIKey is the body of rotateApiKeysKeyId.
type RotateAPIKey struct {
	OverlapSeconds int64 `json:"overlapSeconds" minimum:"0" maximum:"86400"`
}

// SchemaName implements schema.Named.
func (RotateAPIKey) SchemaName() string { return "ApiKeyRotateRequest" }

type rotateInput struct {
	KeyID string `path:"keyId"`
	Body  RotateAPIKey
}

func (s *service) rotate(ctx context.Context, c *op.Call, tx *store.Tx, in *rotateInput) (op.Item[Issued], error) {
	k, err := s.current(ctx, c, tx, in.KeyID)
	if err != nil {
		return op.Item[Issued]{}, err
	}
	if k.RevokedAt != nil {
		return op.Item[Issued]{}, fault.New(fault.ResourceConflict,
			"The key was rotated already; rotate its successor.")
	}
	next := Key{Name: k.Name, AppIDs: slices.Clone(k.AppIDs), Permissions: slices.Clone(k.Permissions),
		ExpiresAt: k.ExpiresAt}
	ends := min(tx.Now.Add(time.Duration(in.Body.OverlapSeconds)*time.Second), k.ExpiresAt)
	k.RevokedAt = &ends
	if err := save(ctx, tx, &k); err != nil {
		return op.Item[Issued]{}, err
	}
	first, err := firstOf(ctx, tx, k.ID)
	if err != nil {
		return op.Item[Issued]{}, err
	}
	secret, err := insert(ctx, tx, c.Actor.OwnerID, s.pipeline.Auth.Environment(), &next, first)
	return issued(next, secret), err
}
