package domain

import (
	"context"

	"github.com/waymarkhq/waymark/internal/delivery"
	"github.com/waymarkhq/waymark/internal/dependents"
	"github.com/waymarkhq/waymark/internal/durable"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/opt"
	"github.com/waymarkhq/waymark/internal/part"
	"github.com/waymarkhq/waymark/internal/store"
)

// Options are what domains of an installation depend on.
type Options struct {
	// PlatformZone is the zone whose prefixes are platform domains; "" for
	// none.
	PlatformZone string
	// AssetsHost serves images and is nobody's domain; "" for none.
	AssetsHost string
}

// Register declares the operations of this package and returns its part.
func Register(p *op.Pipeline, o Options) part.Part {
	op.List(p, op.Op{ID: "getDomains", Method: "GET", Path: "/domains", Perm: "domains:read", App: op.AppInQuery, Summary: "List domains"}, func(ctx context.Context, c *op.Call, in *listInput, w op.Window) ([]Domain, error) {
		return list(ctx, c, in, w)
	})
	op.Write(p, op.Op{ID: "createDomains", Method: "POST", Path: "/domains", Perm: "domains:create", App: op.AppInBody, Status: 202,
		Summary: "Add a domain", Doc: "A platform domain is ready for links at once; follow the operation until the redirector answers on it."}, o.create)
	op.Read(p, op.Op{ID: "getDomainsDomainId", Method: "GET", Path: "/domains/{domainId}", Perm: "domains:read", App: op.AppOf("domainId", appOf), Summary: "Get a domain"}, get)
	return part.Part{
		Name: "domain", Kinds: Jobs(), Sweeps: []part.Sweep{{Name: "removed domains", Run: Sweep}},
		OfApp: part.OfApp{
			Tables: []string{"domain"},
			// The record of a removed domain stands in the way for as long as it is kept.
			Dependents: []dependents.Query{
				{Type: "domain", SQL: "SELECT id FROM domain WHERE app_id = ? AND (removal_state IS NULL OR removal_state <> 'removed')"},
				{Type: "removed_domain", Kept: true, SQL: "SELECT id, updated_at AS at FROM domain WHERE app_id = ? AND removal_state = 'removed'"},
			},
			Remove: part.Executing("DELETE FROM domain WHERE app_id = ?"),
		},
	}
}

type listInput struct {
	AppID    string `query:"appId" required:"true" maxLength:"500"`
	Detached *bool  `query:"detached"`
}

// CreateDomain is the body of createDomains.
type CreateDomain struct {
	AppID         string           `json:"appId" minLength:"1" maxLength:"500"`
	Mode          string           `json:"mode" enum:"platform,managed,external"`
	Prefix        opt.Null[string] `json:"prefix,omitzero" minLength:"1" maxLength:"32" example:"sale" doc:"For platform: the label below the platform zone."`
	Hostname      opt.Null[string] `json:"hostname,omitzero" minLength:"1" maxLength:"253" doc:"For managed and external."`
	ApexProfileID opt.Null[string] `json:"apexProfileId,omitzero" maxLength:"100"`
}

// SchemaName implements schema.Named.
func (CreateDomain) SchemaName() string { return "DomainCreate" }

func (o Options) create(ctx context.Context, c *op.Call, tx *store.Tx, in *struct{ Body CreateDomain }) (op.Item[durable.Operation], error) {
	d, err := o.fromBody(&in.Body)
	if err == nil {
		err = insert(ctx, tx, &d)
	}
	if err != nil {
		return op.Item[durable.Operation]{}, err
	}
	started, err := durable.Start(ctx, c, tx, jobCreate, d.AppID, " "+d.ID)
	if err != nil {
		return op.Item[durable.Operation]{}, err
	}
	err = delivery.Emit(ctx, tx, delivery.DomainStatusChanged, d.AppID, d.ID, d.Revision)
	return started.Accepted(d.ref()), err
}

// fromBody checks a body and returns the domain that it describes.
func (o Options) fromBody(body *CreateDomain) (d Domain, err error) {
	d = Domain{AppID: body.AppID, Mode: body.Mode, ZoneName: o.PlatformZone}
	switch {
	case body.Mode != "platform":
		return d, fault.Invalid("/mode", fault.ReasonNotAllowed, "the mode must be platform, the only one that this installation offers")
	case o.PlatformZone == "":
		return d, fault.New(fault.InsufficientPermission, "This installation has no zone for platform domains (--platform-zone).")
	case !body.Prefix.Valid:
		return d, fault.Invalid("/prefix", fault.ReasonRequired, "the mode platform needs a prefix")
	case body.Hostname.Valid:
		return d, fault.Invalid("/hostname", fault.ReasonNotAllowed, "the mode platform takes a prefix, not a hostname")
	case body.ApexProfileID.Valid:
		return d, fault.Invalid("/apexProfileId", fault.ReasonNotAllowed, "the mode platform takes no apexProfileId: its hostnames are never an apex")
	}
	// The zone is the installation's own: nothing is left to verify.
	d.Ownership, d.DNS, d.HTTPS, d.Links = "verified", "configured", "delegated", "ready"
	d.Hostname, err = platformHostname(body.Prefix.Value, o.PlatformZone)
	if err == nil && d.Hostname == o.AssetsHost {
		err = fault.Invalid("/prefix", fault.ReasonReserved, "the prefix is reserved: its hostname serves the installation's images")
	}
	return d, err
}

type domainInput struct {
	DomainID string `path:"domainId"`
}

func get(ctx context.Context, c *op.Call, in *domainInput) (op.Item[Domain], error) {
	d, err := load(ctx, c.DB, in.DomainID)
	return op.Item[Domain]{Data: d, Ref: d.ref()}, err
}
