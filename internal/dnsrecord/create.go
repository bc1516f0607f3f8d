package dnsrecord

import (
	"context"
	"errors"

	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/opt"
	"github.com/waymarkhq/waymark/internal/store"
)

// CreateRecord is the body of createDomainsDomainIdDnsRecords.
type CreateRecord struct {
	Type     Type            `json:"type"`
	Name     string          `json:"name" minLength:"1" maxLength:"253" doc:"Relative to the domain's hostname; @ is the hostname itself."`
	Value    string          `json:"value" minLength:"1" maxLength:"2048" doc:"As zone files have it, MX and SRV without their priority; a text without quotes."`
	TTL      opt.Opt[int64]  `json:"ttl,omitzero" minimum:"60" maximum:"86400" doc:"Seconds, for all records of the name and type. Default: that of the others, else 300."`
	Priority opt.Null[int64] `json:"priority,omitzero" minimum:"0" maximum:"65535" doc:"For MX and SRV, which need one."`
}

// SchemaName implements schema.Named.
func (CreateRecord) SchemaName() string { return "DnsRecordCreate" }

type createInput struct {
	DomainID string `path:"domainId"`
	Body     CreateRecord
}

func (s service) create(ctx context.Context, _ *op.Call, tx *store.Tx, in *createInput) (op.Item[Record], error) {
	d, err := loadDomain(ctx, tx, in.DomainID)
	if err == nil {
		err = s.changeable(ctx, tx, &d)
	}
	if err != nil {
		return op.Item[Record]{}, err
	}
	r, err := d.add(ctx, tx, &in.Body)
	return op.Item[Record]{Data: r, Ref: r.ref(d.appID),
		Location: op.Location("domains", d.id, "dns-records", r.ID)}, err
}

// add adds a record of the owner to a domain.
func (d *managed) add(ctx context.Context, tx *store.Tx, body *CreateRecord) (Record, error) {
	r, err := d.parse(body)
	full, kind := fqdn(r.Name, d.hostname), r.Type
	if err == nil {
		err = d.checkPlace(ctx, tx, full, kind)
	}
	if err == nil {
		err = d.checkNeighbours(ctx, tx, full, kind)
	}
	if err == nil {
		err = d.checkRoom(ctx, tx)
	}
	if err == nil {
		r.set, err = d.ensureSet(ctx, tx, full, kind)
	}
	if err != nil {
		return r, err
	}
	others, err := r.checkSet(ctx, tx)
	if err == nil {
		err = r.insert(ctx, tx)
	}
	if others == 0 {
		r.set.ttl = defaultTTL // not that of records that are gone
	}
	if err == nil {
		err = r.set.setTTL(ctx, tx, body.TTL.Or(r.set.ttl), r.ID)
	}
	if err == nil {
		err = r.set.changed(ctx, tx, d.appID)
	}
	r.show(d)
	return r, err
}

// parse returns the record that a body describes.
func (d *managed) parse(body *CreateRecord) (r Record, err error) {
	r.Type, r.Priority = body.Type, body.Priority.Ptr()
	if r.Name, err = parseName(d.hostname, body.Name); err == nil {
		err = checkPriority(r.Type, r.Priority)
	}
	if err == nil {
		r.Value, err = parseValue(r.Type, fqdn(r.Name, d.hostname), body.Value)
	}
	return r, err
}

// ensureSet returns the set of a name and type, and makes it if it is not there.
func (d *managed) ensureSet(ctx context.Context, tx *store.Tx, fqdn string, kind Type) (set, error) {
	s, err := findSet(ctx, tx, d.id, fqdn, kind)
	if errors.Is(err, store.ErrNotFound) {
		s, err = addSet(ctx, tx, d.id, fqdn, kind)
	}
	return s, err
}
