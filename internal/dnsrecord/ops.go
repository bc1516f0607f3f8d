package dnsrecord

import (
	"context"
	"errors"

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
		Conflict: true, Summary: "List the DNS records of a managed domain", Doc: "The newest first, with those that the installation " +
			"made. A record that was changed at the DNS provider stays as it is there, has the status `wrong` and shows " +
			"what was `observed`; any change of a record of the same name and type replaces that."}, list)
	op.Write(p, op.Op{ID: "createDomainsDomainIdDnsRecords", Method: "POST", Path: all, Perm: "dns:create", App: app,
		Summary: "Add a DNS record to a managed domain", Doc: "The ownership of the domain must be proved." + later},
		s.create)
	op.Write(p, op.Op{ID: "updateDomainsDomainIdDnsRecordsRecordId", Method: "PATCH", Path: one, Perm: "dns:update",
		App: app, IfMatch: op.IfMatchRequired, Summary: "Update a DNS record", Doc: "Only the fields sent change. A TTL " +
			"is that of all records of the same name and type, which get a new revision with it." + later}, s.update)
	op.Write(p, op.Op{ID: "deleteDomainsDomainIdDnsRecordsRecordId", Method: "DELETE", Path: one, Perm: "dns:delete",
		App: app, IfMatch: op.IfMatchRequired, Summary: "Delete a DNS record",
		Doc: "It leaves the list at once and the DNS within moments."}, s.remove)
	return part.Part{Name: "dnsrecord",
		Kinds:  []jobs.Kind{{Name: applyKind, Turn: s.apply, Failed: gaveUp}},
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

// CreateRecord is the body of createDomainsDomainIdDnsRecords.
type CreateRecord struct {
	Type     Type            `json:"type"`
	Name     string          `json:"name" minLength:"1" maxLength:"253" doc:"Relative to the domain's hostname; @ is the hostname itself."`
	Value    string          `json:"value" minLength:"1" maxLength:"2048" doc:"As zone files have it, MX and SRV without their priority; a text without quotes."`
	TTL      opt.Opt[int64]  `json:"ttl,omitzero" minimum:"60" maximum:"86400" doc:"Seconds, for all records of the name and type. Default: theirs, else 300."`
	Priority opt.Null[int64] `json:"priority,omitzero" minimum:"0" maximum:"65535" doc:"For MX and SRV, which need one."`
}

// SchemaName implements schema.Named.
func (CreateRecord) SchemaName() string { return "DnsRecordCreate" }

type createInput struct {
	DomainID string `path:"domainId"`
	Body     CreateRecord
}

func (s service) create(ctx context.Context, _ *op.Call, tx *store.Tx, in *createInput) (op.Item[Record], error) {
	r, d, err := s.add(ctx, tx, in)
	return op.Item[Record]{Data: r, Ref: r.ref(d.appID), Location: op.Location("domains", d.id, "dns-records", r.ID)}, err
}

func (s service) add(ctx context.Context, tx *store.Tx, in *createInput) (r Record, d managed, err error) {
	if d, err = loadDomain(ctx, tx, in.DomainID); err != nil {
		return r, d, err
	}
	if err = s.changeable(ctx, tx, &d); err != nil {
		return r, d, err
	}
	name, err := parseName(d.hostname, in.Body.Name)
	if err != nil {
		return r, d, err
	}
	full, kind := fqdn(name, d.hostname), in.Body.Type
	r.Priority = in.Body.Priority.Ptr()
	if err = d.checkPlace(ctx, tx, full, kind); err == nil {
		err = checkPriority(kind, r.Priority)
	}
	if err != nil {
		return r, d, err
	}
	if r.Value, err = parseValue(kind, full, in.Body.Value); err != nil {
		return r, d, err
	}
	if err = d.checkNeighbours(ctx, tx, full, kind); err == nil {
		err = d.checkRoom(ctx, tx)
	}
	if err != nil {
		return r, d, err
	}
	if r.set, err = d.ensureSet(ctx, tx, full, kind); err != nil {
		return r, d, err
	}
	others, err := r.checkSet(ctx, tx)
	if err == nil {
		err = r.insert(ctx, tx)
	}
	if others == 0 {
		r.set.ttl = defaultTTL // not that of records that are gone
	}
	if err == nil {
		err = r.set.setTTL(ctx, tx, in.Body.TTL.Or(r.set.ttl), r.ID)
	}
	if err == nil {
		err = r.set.changed(ctx, tx, d.appID)
	}
	r.show(&d)
	return r, d, err
}

// ensureSet returns the set of a name and type, and makes it if it is not there.
func (d *managed) ensureSet(ctx context.Context, tx *store.Tx, fqdn string, kind Type) (set, error) {
	s, err := findSet(ctx, tx, d.id, fqdn, kind)
	if errors.Is(err, store.ErrNotFound) {
		s, err = addSet(ctx, tx, d.id, fqdn, kind)
	}
	return s, err
}

type recordInput struct {
	DomainID string `path:"domainId"`
	RecordID string `path:"recordId"`
}

// current loads a record for a change under the revision that the client knows.
func (s service) current(ctx context.Context, c *op.Call, tx *store.Tx, in *recordInput) (r Record, d managed, err error) {
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
		return r, d, conflict("The installation needs this record and keeps it itself. It goes when the domain is detached.")
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
