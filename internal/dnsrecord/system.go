package dnsrecord

import (
	"context"
	"slices"

	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/store"
)

// System is a record that the installation needs at a managed domain. Name is
// relative to the hostname, "@" for the hostname itself; Value is canonical.
type System struct {
	Type  Type
	Name  string
	Value string
}

// Ensure makes the records that the installation needs at a managed domain exactly
// those given, as part of tx, and has what changed applied after it. Those that were
// found changed at the provider are applied again: nobody else can do that, as they
// are read only. The owner's records stay as they are. Afterwards the owner can add
// records.
func Ensure(ctx context.Context, tx *store.Tx, domainID string, want []System) (err error) {
	defer fault.Wrap(&err, "dnsrecord.Ensure(%s)", domainID)
	d, err := findDomain(ctx, tx, domainID)
	if err != nil {
		return err
	}
	has, err := store.All(ctx, tx, d.scan, selection+" WHERE r.domain_id = ? AND r.system", d.id)
	if err != nil {
		return err
	}
	changed := map[string]*set{}
	of := func(s set) *set {
		if changed[s.id] == nil {
			changed[s.id] = &s
		}
		return changed[s.id]
	}
	for _, r := range has {
		at := System{r.Type, r.Name, r.Value}
		if i := slices.Index(want, at); i >= 0 {
			want = slices.Delete(slices.Clone(want), i, i+1)
			if r.LastError.Value.Code == codeChanged {
				of(r.set)
			}
			continue
		}
		if _, err := tx.Exec(ctx, "DELETE FROM dns_record WHERE id = ?", r.ID); err != nil {
			return err
		}
		of(r.set)
	}
	for _, w := range want {
		s, err := d.ensureSet(ctx, tx, fqdn(w.Name, d.hostname), w.Type)
		if err != nil {
			return err
		}
		r := Record{Value: w.Value, System: true, set: *of(s)}
		if err := r.insert(ctx, tx); err != nil {
			return err
		}
	}
	for _, s := range changed {
		if err := s.changed(ctx, tx, d.appID); err != nil {
			return err
		}
	}
	return nil
}

// RemoveAll removes all records of a domain, as part of tx, and has them removed at
// the provider after it. Remaining tells how far that is. What somebody else put
// beside them at the provider stays there.
func RemoveAll(ctx context.Context, tx *store.Tx, domainID string) (err error) {
	defer fault.Wrap(&err, "dnsrecord.RemoveAll(%s)", domainID)
	d, err := findDomain(ctx, tx, domainID)
	if err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, "DELETE FROM dns_record WHERE domain_id = ?", d.id); err != nil {
		return err
	}
	sets, err := store.All(ctx, tx, scanSet, "SELECT "+setColumns+" FROM dns_record_set s WHERE s.domain_id = ?", d.id)
	if err != nil {
		return err
	}
	for _, s := range sets {
		s.status = Pending
		if err := s.enqueue(ctx, tx, d.appID); err != nil {
			return err
		}
	}
	return nil
}

// Remaining returns how many sets of records of a domain are kept here, and on how many
// of them no job is at work. After RemoveAll the first are still to be removed at the
// provider, and the second are those that it did not take, however often it was tried;
// those are tried again every hour, and by RemoveAll.
func Remaining(ctx context.Context, q store.Q, domainID string) (sets, ended int64, err error) {
	defer fault.Wrap(&err, "dnsrecord.Remaining(%s)", domainID)
	_, err = store.One(ctx, q, func(r store.Row) (struct{}, error) {
		return struct{}{}, r.Scan(&sets, &ended)
	}, "SELECT COUNT(*), COUNT(CASE WHEN job_id IS NULL THEN 1 END) FROM dns_record_set WHERE domain_id = ?", domainID)
	return sets, ended, err
}
