package dnsrecord

import (
	"context"
	"errors"
	"strings"

	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/store"
)

// checkPlace refuses a record of an owner at a name where it must not stand.
func (d *managed) checkPlace(ctx context.Context, tx *store.Tx, fqdn string, kind Type) error {
	if fqdn == d.hostname {
		switch kind {
		case NS:
			return fault.Invalid("/name", fault.ReasonReserved, "%s itself is delegated to this installation; NS "+
				"records are for names below it", fqdn)
		case A, AAAA, CNAME:
			return conflict("The installation connects %s itself: its A and AAAA records are made for you. Choose a "+
				"name below it, such as www.", fqdn)
		}
	}
	// A name of another domain, or below one, belongs to that domain's records.
	var names []any
	for name := fqdn; name != d.hostname; _, name, _ = strings.Cut(name, ".") {
		names = append(names, name)
	}
	if len(names) == 0 {
		return nil
	}
	taken, err := store.One(ctx, tx, store.Value[string], "SELECT hostname FROM domain WHERE hostname IN ("+
		store.Marks(len(names))+") AND NOT detached AND verified_at IS NOT NULL LIMIT 1", names...)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err == nil {
		err = conflict("%s is a domain of its own: its records are not those of %s.", taken, d.hostname)
	}
	return err
}

// checkNeighbours refuses a record at a name whose records of other types leave no
// room for it.
func (d *managed) checkNeighbours(ctx context.Context, tx *store.Tx, fqdn string, kind Type) error {
	types, err := store.All(ctx, tx, store.Value[Type], `SELECT DISTINCT s.type FROM dns_record_set s
		JOIN dns_record r ON r.set_id = s.id WHERE s.fqdn = ? AND s.domain_id = ? ORDER BY s.type`, fqdn, d.id)
	if err != nil {
		return err
	}
	for _, other := range types {
		switch {
		case kind == CNAME && other == CNAME:
			return conflict("%s has a CNAME record already, and a name has at most one. Change that record.", fqdn)
		case kind == CNAME:
			return conflict("%s has a record of the type %s, and a CNAME record must be the only record of its name. "+
				"Delete the others first.", fqdn, other)
		case other == CNAME:
			return conflict("%s has a CNAME record, which must be the only record of its name. Delete it first.", fqdn)
		}
	}
	return nil
}

// checkSet refuses a record whose value its set has already, or has no room for, and
// returns how many other records the set has.
func (r *Record) checkSet(ctx context.Context, tx *store.Tx) (int, error) {
	others, err := store.All(ctx, tx, store.Value[string],
		"SELECT value FROM dns_record WHERE set_id = ? AND id <> ?", r.set.id, r.ID)
	if err != nil {
		return 0, err
	}
	size := len(r.Value)
	for _, value := range others {
		if size += len(value); value == r.Value {
			return 0, conflict("%s has a record of the type %s with this value already.", r.set.fqdn, r.set.kind)
		}
	}
	switch {
	case len(others) >= maxPerSet:
		return 0, conflict("%s has %d %s records, and at most %d are allowed. Delete one first.", r.set.fqdn,
			len(others), r.set.kind, maxPerSet)
	case size > maxSetBytes:
		return 0, conflict("The %s records of %s would have %d bytes together, and at most %d are allowed. Shorten or "+
			"delete one first.", r.set.kind, r.set.fqdn, size, maxSetBytes)
	}
	return len(others), nil
}

// checkRoom refuses a record more than an owner may add to a domain.
func (d *managed) checkRoom(ctx context.Context, tx *store.Tx) error {
	n, err := store.One(ctx, tx, store.Value[int64],
		"SELECT COUNT(*) FROM dns_record WHERE domain_id = ? AND NOT system", d.id)
	if err == nil && n >= maxPerDomain {
		err = conflict("The domain %s has %d DNS records of yours, and at most %d are allowed. Delete one first.",
			d.hostname, n, maxPerDomain)
	}
	return err
}
