package domain

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/delivery"
	"github.com/waymarkhq/waymark/internal/opt"
	"github.com/waymarkhq/waymark/internal/publication"
	"github.com/waymarkhq/waymark/internal/store"
)

const (
	// recheckEvery is the pause between checks of a domain, give or take recheckJitter,
	// so that domains that were made together are not checked together.
	recheckEvery, recheckJitter = time.Hour, 5 * time.Minute
	// failingEvery is that pause while a domain that works fails its checks.
	failingEvery = 15 * time.Minute
	// firstCheck is the pause before the first check of a platform domain: by then the
	// redirectors know its hostname.
	firstCheck = 10 * time.Second
	// A domain that works counts as failed after so many failures over so long.
	minFailures, minFailing = 3, time.Hour
)

// record stores what a verification of a domain saw, as part of tx, and returns the
// first check that failed, or nil. Nothing is stored of a domain that is gone or
// detached meanwhile.
func (o Options) record(ctx context.Context, tx *store.Tx, id string, v *verification) (*finding, error) {
	d, err := find(ctx, tx, id)
	switch {
	case err != nil && !errors.Is(err, store.ErrNotFound):
		return nil, err
	case err == nil && d.Detached && d.LastError.Value.Code == displaced:
		f := lostClaim(&d)
		return &f, nil
	case err != nil || d.Detached:
		return &finding{Status: failed, Code: detached, Message: "The domain was detached meanwhile."}, nil
	}
	before := d
	o.conclude(&d, v, tx.Now)
	return v.failure(), d.saveObserved(ctx, tx, &before)
}

// conclude moves the states of a domain by what a verification saw. A domain that
// works keeps its states through short troubles.
func (o Options) conclude(d *Domain, v *verification, now clock.Instant) {
	d.verification, d.LastCheckedAt = opt.NullOf(*v), &now
	if d.HTTPS == HTTPSIssuing { // until this verification says otherwise
		d.HTTPS = HTTPSPending
	}
	defer func() { d.nextCheckAt = o.nextCheck(d, now) }()
	failure, worked := v.failure(), d.Links == LinksReady
	if failure == nil {
		d.LastError, d.failures, d.failingSince = opt.Null[publication.Error]{}, 0, nil
	} else {
		d.LastError = opt.NullOf(publication.Error{Code: failure.Code, Message: failure.Message, At: now})
		// That the DNS was not to be asked is no failure of the domain: its visitors may come
		// all the same.
		if worked && (failure.Code == dnsAway || !d.fails(now)) {
			return
		}
	}
	d.Ownership = moved(v.Ownership, d.Ownership, OwnershipVerified, OwnershipFailed)
	if v.DNS.Code != dnsAway {
		d.DNS = moved(v.DNS, d.DNS, DNSConfigured, DNSMisconfigured)
	}
	d.HTTPS = moved(v.HTTPS, d.HTTPS, HTTPSActive, HTTPSFailed)
	if o.Certify == nil {
		d.HTTPS = HTTPSDelegated
	}
	switch {
	case failure == nil && v.Links.Status == passed:
		d.Links = LinksReady
	case worked:
		d.Links = LinksBlocked
	}
}

// fails counts a failed check of a domain that works, and reports whether they are
// enough.
func (d *Domain) fails(now clock.Instant) bool {
	if d.failures++; d.failingSince == nil {
		d.failingSince = &now
	}
	return d.failures >= minFailures && now.Sub(*d.failingSince) >= minFailing
}

// moved returns the state after a check that passed or failed; one that was skipped
// leaves it.
func moved[S any](f finding, before, good, bad S) S {
	switch f.Status {
	case passed:
		return good
	case failed:
		return bad
	}
	return before
}

// nextCheck returns when a domain is checked again by itself; nil means never. A
// domain that never worked waits for its owner.
func (o Options) nextCheck(d *Domain, now clock.Instant) *clock.Instant {
	if d.Links == LinksPending || d.Mode == Platform && o.Certify == nil {
		return nil
	}
	pause, jitter := recheckEvery, recheckJitter
	if d.Links == LinksReady && d.failures > 0 {
		pause = failingEvery
	}
	next := now.Add(pause - jitter + rand.N(2*jitter))
	return &next
}

// saveObserved stores what is observed of a domain as part of tx, and emits the event
// of its states if they are others than before. None of it is part of the revision.
func (d *Domain) saveObserved(ctx context.Context, tx *store.Tx, before *Domain) error {
	failure, err := d.LastError.Column()
	if err != nil {
		return err
	}
	seen, err := d.verification.Column()
	if err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, `UPDATE domain SET ownership = ?, dns = ?, https = ?, links = ?, verified_at = ?,
		last_checked_at = ?, last_error = ?, verification = ?, failures = ?, failing_since = ?, next_check_at = ?
		WHERE id = ?`, d.Ownership, d.DNS, d.HTTPS, d.Links, d.verifiedAt, d.LastCheckedAt, failure, seen, d.failures,
		d.failingSince, d.nextCheckAt, d.ID); err != nil {
		return err
	}
	if d.verifiedAt != nil && d.DNS != before.DNS && d.DNS != DNSPending { // Host.Connected
		if err := enqueuePublish(ctx, tx, d); err != nil {
			return err
		}
	}
	if d.Ownership == before.Ownership && d.DNS == before.DNS && d.HTTPS == before.HTTPS && d.Links == before.Links {
		return nil
	}
	return delivery.Emit(ctx, tx, delivery.DomainStatusChanged, d.ref())
}
