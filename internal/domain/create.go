package domain

import (
	"context"
	"errors"

	"github.com/waymarkhq/waymark/internal/delivery"
	"github.com/waymarkhq/waymark/internal/durable"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/opt"
	"github.com/waymarkhq/waymark/internal/store"
)

// maxPrefix is the longest prefix in characters, as the tag of Prefix has it.
const maxPrefix = 32

// CreateDomain is the body of createDomains.
type CreateDomain struct {
	AppID         string           `json:"appId" minLength:"1" maxLength:"500"`
	Mode          Mode             `json:"mode"`
	Prefix        opt.Null[string] `json:"prefix,omitzero" minLength:"1" maxLength:"32" example:"go" doc:"For platform: the label below the platform zone."`
	Hostname      opt.Null[string] `json:"hostname,omitzero" minLength:"1" maxLength:"253" doc:"For managed and external. International names may be written in their own script."`
	ApexProfileID opt.Null[string] `json:"apexProfileId,omitzero" maxLength:"100" doc:"For external: which of the apexProfiles of getDomainOptions connects the hostname. Without one it connects by CNAME."`
}

// SchemaName implements schema.Named.
func (CreateDomain) SchemaName() string { return "DomainCreate" }

func (o Options) create(ctx context.Context, c *op.Call, tx *store.Tx,
	in *struct{ Body CreateDomain }) (op.Item[durable.Operation], error) {
	d, err := o.fromBody(&in.Body)
	if err == nil {
		err = o.checkRoom(ctx, c, tx, d.AppID)
	}
	if err == nil {
		if d.Mode == Platform && o.Certify != nil { // its certificate is got before visitors come
			at := tx.Now.Add(firstCheck)
			d.nextCheckAt = &at
		}
		err = insert(ctx, tx, &d)
	}
	if err != nil {
		return op.Item[durable.Operation]{}, err
	}
	started, err := durable.Start(ctx, c, tx, creation.Type, d.AppID, d.ID)
	if err != nil {
		return op.Item[durable.Operation]{}, err
	}
	err = delivery.Emit(ctx, tx, delivery.DomainStatusChanged, d.ref())
	return started.Accepted(d.ref()), err
}

// fromBody checks a body and returns the domain that it describes.
func (o Options) fromBody(body *CreateDomain) (Domain, error) {
	if err := o.unavailable(body.Mode); err != nil {
		return Domain{}, err
	}
	if body.Mode == Platform {
		return o.platform(body)
	}
	return o.ofOwner(body)
}

// checkRoom refuses a domain more than an app may have.
func (o Options) checkRoom(ctx context.Context, c *op.Call, tx *store.Tx, appID string) error {
	n, err := store.One(ctx, tx, store.Value[int64], "SELECT COUNT(*) FROM domain WHERE app_id = ? AND NOT detached",
		appID)
	if err != nil {
		return err
	}
	if limit := c.Scaled(o.PerApp); n >= limit {
		return fault.New(fault.ResourceConflict, "The app has %d domains, and at most %d are allowed. Detach one first.", n,
			limit)
	}
	return nil
}

// unavailable refuses a mode that the installation is not set up for.
func (o Options) unavailable(mode Mode) error {
	switch {
	case mode == Platform && o.PlatformZone == "":
		return fault.New(fault.InsufficientPermission, "This installation has no zone for platform domains "+
			"(--platform-zone).")
	case mode == Managed && o.Provider == nil:
		return fault.New(fault.InsufficientPermission, "This installation manages no DNS zones (--dns-provider).")
	case mode == Managed && len(o.Connection.Addresses) == 0:
		return fault.New(fault.InsufficientPermission, "This installation does not say which addresses managed "+
			"hostnames lead to (--connect-ips).")
	case mode == External && !o.Connection.isSet():
		return fault.New(fault.InsufficientPermission, "This installation does not say where hostnames of owners "+
			"lead (--connect-cname, --connect-ips).")
	}
	return nil
}

// platform describes a hostname below the installation's own zone: nothing is left to
// verify.
func (o Options) platform(body *CreateDomain) (d Domain, err error) {
	switch {
	case !body.Prefix.Valid:
		return d, fault.Invalid("/prefix", fault.ReasonRequired, "the mode platform needs a prefix")
	case body.Hostname.Valid:
		return d, fault.Invalid("/hostname", fault.ReasonNotAllowed, "the mode platform takes a prefix, not a hostname")
	case body.ApexProfileID.Valid:
		return d, fault.Invalid("/apexProfileId", fault.ReasonNotAllowed,
			"the mode platform takes no apexProfileId: its hostnames are never an apex")
	}
	d = Domain{AppID: body.AppID, Mode: Platform, ZoneName: o.PlatformZone, Ownership: OwnershipVerified,
		DNS: DNSConfigured, HTTPS: o.firstHTTPS(), Links: LinksReady}
	d.Hostname, err = o.platformHostname(body.Prefix.Value)
	return d, err
}

// ofOwner describes a hostname that its owner brings. It holds nothing until the
// owner proves that it is theirs.
func (o Options) ofOwner(body *CreateDomain) (d Domain, err error) {
	switch {
	case body.Prefix.Valid:
		return d, fault.Invalid("/prefix", fault.ReasonNotAllowed, "the mode %s takes a hostname, not a prefix", body.Mode)
	case !body.Hostname.Valid:
		return d, fault.Invalid("/hostname", fault.ReasonRequired, "the mode %s needs a hostname", body.Mode)
	case body.ApexProfileID.Valid && body.Mode == Managed:
		return d, fault.Invalid("/apexProfileId", fault.ReasonNotAllowed,
			"the mode managed takes no apexProfileId: the installation makes the records")
	case body.ApexProfileID.Valid && body.ApexProfileID.Value != apexByAddress:
		return d, fault.Invalid("/apexProfileId", fault.ReasonUnknownReference,
			"the apexProfileId must be one of the apexProfiles of GET /domain-options")
	case body.ApexProfileID.Valid && len(o.Connection.Addresses) == 0:
		return d, fault.New(fault.InsufficientPermission, "This installation does not say which addresses apex "+
			"hostnames lead to (--connect-ips).")
	}
	d = Domain{AppID: body.AppID, Mode: body.Mode, Ownership: OwnershipUnverified, DNS: DNSPending,
		HTTPS: o.firstHTTPS(), Links: LinksPending, apexProfile: body.ApexProfileID.Value}
	if d.Hostname, err = o.ownHostname(body.Hostname.Value); err != nil {
		return d, err
	}
	d.ZoneName = d.Hostname
	d.Challenge = opt.NullOf(newChallenge(d.Hostname, newChallengeValue(), false))
	return d, nil
}

// firstHTTPS is the state of a new domain's certificate.
func (o Options) firstHTTPS() HTTPS {
	if o.Certify == nil {
		return HTTPSDelegated
	}
	return HTTPSPending
}

// creation brings a new domain to the redirector.
var creation = durable.Work{Type: "domain.create", Permission: "domains:create", Next: finishCreation,
	Ended: abandonCreation}

func finishCreation(ctx context.Context, r *durable.Run) error {
	return r.FinishReadCommitted(ctx, func(ctx context.Context, _ *op.Call, tx *store.Tx, o *durable.Operation) error {
		if err := publish(ctx, tx, o.ResourceID); err != nil {
			return err
		}
		return o.Finish(ctx, tx, durable.Result{Resource: durable.Resource{Type: "domain", ID: o.ResourceID}})
	})
}

// abandonCreation removes the domain of a creation that ends otherwise. What came to
// be meanwhile is a confirmed effect: a domain that links or its app use, that was
// configured, proved by its owner or published stays, and is published. One that is
// being detached is the detachment's.
func abandonCreation(ctx context.Context, tx *store.Tx, o *durable.Operation) error {
	d, err := find(ctx, tx, o.ResourceID)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	inUse, err := d.inUse(ctx, tx)
	if err != nil {
		return err
	}
	if inUse || d.RemovalState.Valid || d.verifiedAt != nil && d.Mode != Platform ||
		d.Publication.ConfirmedRevision != nil {
		return enqueuePublish(ctx, tx, &d)
	}
	if err := d.remove(ctx, tx); err != nil {
		return err
	}
	return delivery.Emit(ctx, tx, delivery.DomainStatusChanged, d.ref())
}
