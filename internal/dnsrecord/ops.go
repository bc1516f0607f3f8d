package dnsrecord

import (
	"context"

	"github.com/waymarkhq/waymark/internal/dnsprovider"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/jobs"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/opt"
	"github.com/waymarkhq/waymark/internal/part"
	"github.com/waymarkhq/waymark/internal/store"
)

// service holds what the operations and jobs need besides the call.
type service struct{ provider dnsprovider.Provider }

// Register declares the operations of this package and returns its part. A nil
// provider is that of an installation that manages no zones.
func Register(p *op.Pipeline, provider dnsprovider.Provider) part.Part {
	s := service{provider}
	const all, one = "/domains/{domainId}/dns-records", "/domains/{domainId}/dns-records/{recordId}"
	const later = " It reaches the DNS within moments: follow its `status`."
	app := op.AppOf("domainId", appOf)
	op.List(p, op.Op{ID: "getDomainsDomainIdDnsRecords", Method: "GET", Path: all, Perm: "dns:read", App: app,
		Conflict: true, Summary: "List the DNS records of a managed domain", Doc: "The newest first, with those that " +
			"the installation made. A record that was changed at the DNS provider stays as it is there, has the " +
			"status `wrong` and shows what was `observed`; any change of a record of the same name and type replaces " +
			"that."}, list)
	op.Write(p, op.Op{ID: "createDomainsDomainIdDnsRecords", Method: "POST", Path: all, Perm: "dns:create", App: app,
		Summary: "Add a DNS record to a managed domain", Doc: "The ownership of the domain must be proved." + later},
		s.create)
	op.Write(p, op.Op{ID: "updateDomainsDomainIdDnsRecordsRecordId", Method: "PATCH", Path: one, Perm: "dns:update",
		App: app, IfMatch: op.IfMatchRequired, Summary: "Update a DNS record", Doc: "Only the fields sent change. A " +
			"TTL is that of all records of the same name and type, which get a new revision with it." + later},
		s.update)
	op.Write(p, op.Op{ID: "deleteDomainsDomainIdDnsRecordsRecordId", Method: "DELETE", Path: one, Perm: "dns:delete",
		App: app, IfMatch: op.IfMatchRequired, Summary: "Delete a DNS record",
		Doc: "It leaves the list at once and the DNS within moments."}, s.remove)
	return part.Part{Name: "dnsrecord",
		Kinds:  []jobs.Kind{{Name: applyKind, Turn: s.apply, Outside: true, Failed: gaveUp}},
		Sweeps: []part.Sweep{{Name: "DNS records to look at again", Run: s.look}},
	}
}

type domainInput struct {
	DomainID string `path:"domainId"`
}

func list(ctx context.Context, c *op.Call, in *domainInput, w op.Window) ([]Record, error) {
	d, err := loadDomain(ctx, c.DB, in.DomainID)
	if err != nil {
		return nil, err
	}
	return d.list(ctx, c.DB, w)
}

type recordInput struct {
	DomainID string `path:"domainId"`
	RecordID string `path:"recordId"`
}

// current loads a record for a change under the revision that the client knows.
func (s service) current(ctx context.Context, c *op.Call, tx *store.Tx, in *recordInput) (r Record, d managed,
	err error) {
	if d, err = loadDomain(ctx, tx, in.DomainID); err != nil {
		return r, d, err
	}
	if r, err = d.load(ctx, tx, in.RecordID); err != nil {
		return r, d, err
	}
	if c.Stale(r.Revision) {
		return r, d, fault.Stale()
	}
	if r.System {
		return r, d, conflict("The installation needs this record and keeps it itself. It goes when the domain is " +
			"detached.")
	}
	return r, d, s.changeable(ctx, tx, &d)
}

// UpdateRecord is the body of updateDomainsDomainIdDnsRecordsRecordId.
type UpdateRecord struct {
	Value    opt.Opt[string] `json:"value,omitzero" minLength:"1" maxLength:"2048"`
	TTL      opt.Opt[int64]  `json:"ttl,omitzero" minimum:"60" maximum:"86400" doc:"Seconds, for all records of the name and type."`
	Priority opt.Null[int64] `json:"priority,omitzero" minimum:"0" maximum:"65535" doc:"Of MX and SRV."`
}

// SchemaName implements schema.Named.
func (UpdateRecord) SchemaName() string { return "DnsRecordPatch" }

type updateInput struct {
	recordInput
	Body UpdateRecord
}

func (s service) update(ctx context.Context, c *op.Call, tx *store.Tx, in *updateInput) (op.Item[Record], error) {
	r, d, err := s.current(ctx, c, tx, &in.recordInput)
	if err != nil {
		return op.Item[Record]{}, err
	}
	in.Body.Priority.Apply(&r.Priority)
	if err = checkPriority(r.Type, r.Priority); err != nil {
		return op.Item[Record]{}, err
	}
	if r.Value, err = parseValue(r.Type, r.set.fqdn, in.Body.Value.Or(r.Value)); err != nil {
		return op.Item[Record]{}, err
	}
	if _, err = r.checkSet(ctx, tx); err == nil {
		err = r.save(ctx, tx, in.Body.TTL.Or(r.set.ttl))
	}
	if err == nil {
		err = r.set.changed(ctx, tx, d.appID)
	}
	r.show(&d)
	return op.Item[Record]{Data: r, Ref: r.ref(d.appID)}, err
}

func (s service) remove(ctx context.Context, c *op.Call, tx *store.Tx, in *recordInput) (op.Item[op.Nothing], error) {
	r, d, err := s.current(ctx, c, tx, in)
	if err == nil {
		_, err = tx.Exec(ctx, "DELETE FROM dns_record WHERE id = ?", r.ID)
	}
	if err == nil {
		err = r.set.changed(ctx, tx, d.appID)
	}
	return op.Removed(r.ref(d.appID)), err
}
