package app

import (
	"context"
	"fmt"

	"github.com/waymarkhq/waymark/internal/dependents"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/opt"
	"github.com/waymarkhq/waymark/internal/part"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/text"
)

// service holds what the operations need besides the call.
type service struct{ parts func() []part.Part }

// Register declares the operations of this package and returns its part. parts
// returns those of all capabilities: what they keep of an app is asked, and
// removed, when it is deleted.
func Register(p *op.Pipeline, parts func() []part.Part) part.Part {
	s := &service{parts}
	op.List(p, op.Op{ID: "getApps", Method: "GET", Path: "/apps", Perm: "apps:read", Summary: "List apps",
		Doc: "A key sees the apps it is authorized for."}, listApps)
	op.Write(p, op.Op{ID: "createApps", Method: "POST", Path: "/apps", Perm: "apps:create", Human: true,
		Summary: "Create an app"}, create)
	op.Read(p, op.Op{ID: "getAppsAppId", Method: "GET", Path: "/apps/{appId}", Perm: "apps:read", App: op.AppInPath,
		Summary: "Get an app"}, get)
	op.Write(p, op.Op{ID: "updateAppsAppId", Method: "PATCH", Path: "/apps/{appId}", Perm: "apps:update",
		App: op.AppInPath, IfMatch: op.IfMatchRequired, Summary: "Update an app",
		Doc: "Only the fields sent change; null clears one."}, update)
	op.Write(p, op.Op{ID: "deleteAppsAppId", Method: "DELETE", Path: "/apps/{appId}", Perm: "apps:delete",
		App: op.AppInPath, IfMatch: op.IfMatchRequired, Summary: "Delete an app",
		Doc: "An app with links, domains, running operations or images that are being stored or deleted stays: 409 " +
			"with its dependencies. " +
			"The history of a deleted link and the record of a removed domain are kept for 30 days; until then they " +
			"are among the dependencies, with availableAt."}, s.remove)
	op.Read(p, op.Op{ID: "getAppsAppIdDefaults", Method: "GET", Path: "/apps/{appId}/defaults", Perm: "apps:read",
		App: op.AppInPath, Summary: "Get the default destinations of new links"}, getDefaults)
	op.Write(p, op.Op{ID: "setAppsAppIdDefaults", Method: "PUT", Path: "/apps/{appId}/defaults", Perm: "apps:update",
		App: op.AppInPath, IfMatch: op.IfMatchRequired, Summary: "Set the default destinations of new links",
		Doc: "Omitted fields are cleared. Stored links keep their destinations."}, setDefaults)
	return part.Part{Name: "app"}
}

type appInput struct {
	AppID string `path:"appId" maxLength:"500"`
}

type listInput struct {
	Q string `query:"q" heavy:"true" maxLength:"200" doc:"Text that the name contains, ignoring case."`
}

func listApps(ctx context.Context, c *op.Call, in *listInput, w op.Window) ([]App, error) {
	return list(ctx, c, in.Q, w)
}

// CreateApp is the body of createApps.
type CreateApp struct {
	Name text.Line `json:"name" maxLength:"100"`
	Fields
}

// SchemaName implements schema.Named.
func (CreateApp) SchemaName() string { return "AppCreate" }

func create(ctx context.Context, c *op.Call, tx *store.Tx, in *struct{ Body CreateApp }) (op.Item[App], error) {
	a := App{Name: string(in.Body.Name)}
	if in.Body.DefaultDomain.Valid {
		return a.item(), fault.Invalid("/defaultDomain", fault.ReasonUnknownReference,
			"a new app has no domains yet; leave the field out and set it once the app has one")
	}
	if err := in.Body.Fields.apply(&a); err != nil {
		return a.item(), err
	}
	err := insert(ctx, tx, c.Actor.OwnerID, &a)
	item := a.item()
	item.Location = op.Location("apps", a.ID)
	return item, err
}

func get(ctx context.Context, c *op.Call, in *appInput) (op.Item[App], error) {
	a, err := Load(ctx, c.DB, in.AppID)
	return a.item(), err
}

// UpdateApp is the body of updateAppsAppId.
type UpdateApp struct {
	Name opt.Opt[text.Line] `json:"name,omitzero" maxLength:"100" example:"Summer sale"`
	Fields
}

// SchemaName implements schema.Named.
func (UpdateApp) SchemaName() string { return "AppPatch" }

type updateInput struct {
	AppID string `path:"appId" maxLength:"500"`
	Body  UpdateApp
}

func update(ctx context.Context, c *op.Call, tx *store.Tx, in *updateInput) (op.Item[App], error) {
	a, err := Current(ctx, c, tx, in.AppID)
	if err != nil {
		return a.item(), err
	}
	before := a
	a.Name = string(in.Body.Name.Or(text.Line(a.Name)))
	if err := in.Body.Fields.apply(&a); err != nil {
		return a.item(), err
	}
	if in.Body.DefaultDomain.Set {
		if err := checkDefaultDomain(ctx, tx, &a); err != nil {
			return a.item(), err
		}
	}
	err = save(ctx, tx, &before, &a)
	return a.item(), err
}

// Current loads an app for a change under the revision that the client knows.
func Current(ctx context.Context, c *op.Call, tx *store.Tx, id string) (App, error) {
	a, err := Load(ctx, tx, id)
	if err == nil && c.Stale(a.Revision) {
		err = fault.Stale()
	}
	return a, err
}

func (s *service) remove(ctx context.Context, c *op.Call, tx *store.Tx, in *appInput) (op.Item[op.Nothing], error) {
	a, err := Current(ctx, c, tx, in.AppID)
	if err != nil {
		return op.Item[op.Nothing]{}, err
	}
	var dependencies []dependents.Query
	for _, p := range s.parts() {
		dependencies = append(dependencies, p.OfApp.Dependents...)
	}
	if err := dependents.Refuse(ctx, tx, a.ID, dependencies...); err != nil {
		return op.Item[op.Nothing]{}, err
	}
	for _, p := range s.parts() {
		if p.OfApp.Remove == nil {
			continue
		}
		if err := p.OfApp.Remove(ctx, tx, c.Actor.OwnerID, a.ID); err != nil {
			return op.Item[op.Nothing]{}, fmt.Errorf("remove what %s has of app %s: %w", p.Name, a.ID, err)
		}
	}
	_, err = tx.Exec(ctx, "DELETE FROM app WHERE id = ?", a.ID)
	return op.Item[op.Nothing]{Ref: op.Ref{Type: "app", ID: a.ID, AppID: a.ID}}, err
}

func getDefaults(ctx context.Context, c *op.Call, in *appInput) (op.Item[Defaults], error) {
	a, err := Load(ctx, c.DB, in.AppID)
	return a.defaults(), err
}

// SetDefaults is the body of setAppsAppIdDefaults.
type SetDefaults struct {
	DefaultDomain opt.Null[string] `json:"defaultDomain,omitzero" maxLength:"253" doc:"A domain of this app that is ready for links."`
	DesktopURL    opt.Null[string] `json:"desktopUrl,omitzero" maxLength:"4096" example:"https://shop.example.com/" doc:"HTTPS, without user or password."`
	PlayStoreURL  opt.Null[string] `json:"playStoreUrl,omitzero" maxLength:"4096" doc:"HTTPS, without user or password."`
	AppStoreURL   opt.Null[string] `json:"appStoreUrl,omitzero" maxLength:"4096" doc:"HTTPS, without user or password."`
}

// SchemaName implements schema.Named.
func (SetDefaults) SchemaName() string { return "AppDefaultsInput" }

type setDefaultsInput struct {
	AppID string `path:"appId" maxLength:"500"`
	Body  SetDefaults
}

func setDefaults(ctx context.Context, c *op.Call, tx *store.Tx, in *setDefaultsInput) (op.Item[Defaults], error) {
	a, err := Current(ctx, c, tx, in.AppID)
	if err != nil {
		return a.defaults(), err
	}
	before := a
	a.DefaultDomain, a.DesktopURL, a.PlayStoreURL, a.AppStoreURL = nil, nil, nil, nil
	fields := Fields{DefaultDomain: in.Body.DefaultDomain, DesktopURL: in.Body.DesktopURL,
		PlayStoreURL: in.Body.PlayStoreURL, AppStoreURL: in.Body.AppStoreURL}
	if err := fields.apply(&a); err != nil {
		return a.defaults(), err
	}
	if err := checkDefaultDomain(ctx, tx, &a); err != nil {
		return a.defaults(), err
	}
	err = save(ctx, tx, &before, &a)
	return a.defaults(), err
}
