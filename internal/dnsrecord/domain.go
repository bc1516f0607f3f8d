package dnsrecord

import (
	"context"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/store"
)

// managed is a domain whose records are the installation's to change.
type managed struct {
	id, appID, hostname, zone, mode string
	detached                        bool
	removal                         *string
	verifiedAt                      *clock.Instant
}

// findDomain returns a domain of any mode, or store.ErrNotFound.
func findDomain(ctx context.Context, q store.Q, id string) (managed, error) {
	return store.One(ctx, q, func(r store.Row) (d managed, err error) {
		err = r.Scan(&d.id, &d.appID, &d.hostname, &d.zone, &d.mode, &d.detached, &d.removal, &d.verifiedAt)
		return d, err
	}, `SELECT id, app_id, hostname, zone_name, mode, detached, removal_state, verified_at FROM domain
		WHERE id = ?`, id)
}

// appOf implements op.AppFinder.
func appOf(ctx context.Context, q store.Q, id string) (string, error) {
	d, err := findDomain(ctx, q, id)
	return d.appID, err
}

// loadDomain returns a domain that has records here, or a refusal.
func loadDomain(ctx context.Context, q store.Q, id string) (managed, error) {
	d, err := op.Found(findDomain(ctx, q, id))
	if err == nil && d.mode != "managed" {
		err = conflict("Only domains of the mode managed have DNS records here. %s has the mode %s: change its "+
			"records at its DNS provider.", d.hostname, d.mode)
	}
	return d, err
}

// changeable refuses a change of the records of a domain as it is now.
func (s service) changeable(ctx context.Context, tx *store.Tx, d *managed) error {
	switch {
	case s.provider == nil:
		return fault.New(fault.InsufficientPermission, "This installation manages no DNS zones (--dns-provider).")
	case d.detached || d.removal != nil:
		return conflict("The domain %s is being removed, with its records.", d.hostname)
	case d.verifiedAt == nil:
		return conflict("The ownership of %s is not proved yet. Add the record of the domain's challenge to the DNS, "+
			"verify the domain, then change its records.", d.hostname)
	}
	// The first records of a domain are the installation's own, once it has a zone.
	hosted, err := store.Exists(ctx, tx, "SELECT 1 FROM dns_record WHERE domain_id = ? AND system", d.id)
	if err == nil && !hosted {
		err = conflict("The zone of %s is not set up yet. Verify the domain, then change its records.", d.hostname)
	}
	return err
}

// conflict is the refusal of a change that the state of other records or of the
// domain does not allow.
func conflict(format string, args ...any) error {
	return fault.New(fault.ResourceConflict, format, args...)
}
