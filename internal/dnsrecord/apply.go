package dnsrecord

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/dnsprovider"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/jobs"
	"github.com/waymarkhq/waymark/internal/opt"
	"github.com/waymarkhq/waymark/internal/publication"
	"github.com/waymarkhq/waymark/internal/store"
)

// applyKind is the kind of the jobs that bring a set to the provider. Their payload is
// its id.
const applyKind = "dnsrecord.apply"

// callLimit bounds what a turn asks of the provider.
const callLimit = 10 * time.Second

// The codes of lastError.
const (
	codeChanged     = "dns_records_changed"
	codeNoZone      = "dns_zone_missing"
	codeUnavailable = "dns_provider_failed"
)

// errOvertaken means that the records changed while their set was applied.
var errOvertaken = errors.New("the records changed meanwhile")

// apply brings a set to the provider, in turns: one notes what is about to be tried,
// the next one tries it. So whatever arrived when an executor died is known, and a
// retry neither doubles a record nor takes its own work for somebody else's.
func (s service) apply(ctx context.Context, h *jobs.Held) (err error) {
	defer fault.Wrap(&err, "dnsrecord.apply(%s)", h.Payload)
	v, want, err := loadSet(ctx, h.DB, h.Payload)
	if errors.Is(err, store.ErrNotFound) {
		return h.Finish(ctx, func(*store.Tx) error { return nil })
	}
	if err != nil {
		return err
	}
	if !v.knows(want) {
		return h.InTx(ctx, func(tx *store.Tx) error {
			v, want, err := loadSet(ctx, tx, h.Payload)
			if errors.Is(err, store.ErrNotFound) {
				return nil
			}
			if err != nil {
				return err
			}
			v.learn(want)
			return v.save(ctx, tx)
		})
	}
	d, err := findDomain(ctx, h.DB, v.domainID)
	if err != nil {
		return err
	}
	found, problem, err := s.bring(ctx, d.zone, &v, want)
	if err != nil {
		return err
	}
	err = h.Finish(ctx, func(tx *store.Tx) error {
		now, wantNow, err := loadSet(ctx, tx, h.Payload)
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		if wantNow.TTL != want.TTL || !now.same(wantNow, want) {
			return errOvertaken
		}
		return now.record(ctx, tx, want, found, problem)
	})
	if errors.Is(err, errOvertaken) {
		return nil // the next turn applies the change
	}
	return err
}

// loadSet returns a set and what it is to hold, or store.ErrNotFound.
func loadSet(ctx context.Context, q store.Q, id string) (v set, want content, err error) {
	v, err = store.One(ctx, q, scanSet, "SELECT "+setColumns+" FROM dns_record_set s WHERE s.id = ?", id)
	if err == nil {
		want, err = v.wanted(ctx, q)
	}
	return v, want, err
}

// bring makes the provider have what a set is to hold, unless somebody else changed
// it there. It returns what the provider has then, and the code of the problem that
// is to be told.
func (s service) bring(ctx context.Context, zone string, v *set, want content) (found content, problem string,
	err error) {
	if s.provider == nil && len(want.Values) == 0 {
		return found, "", nil // the operator gave up the provider, and what is there with it
	}
	if s.provider == nil {
		return found, "", errors.New("no DNS provider is configured (--dns-provider)")
	}
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	got, err := s.provider.Get(ctx, zone, v.fqdn, string(v.kind))
	switch {
	case errors.Is(err, dnsprovider.ErrNoZone) && len(want.Values) == 0:
		return found, "", nil // everything went with the zone
	case errors.Is(err, dnsprovider.ErrNoZone):
		return found, codeNoZone, nil
	case err != nil:
		return found, "", err
	}
	found = content{TTL: got.TTL, Values: got.Values}
	if v.same(found, want) && (found.TTL == want.TTL || len(want.Values) == 0) {
		return found, "", nil
	}
	if !v.knows(found) {
		if len(want.Values) > 0 {
			return found, codeChanged, nil
		}
		// What is removed here goes; what somebody else put beside it stays.
		want = v.without(found)
	}
	if err = s.provider.Replace(ctx, zone, v.at(found), v.at(want)); err != nil {
		return found, "", err
	}
	return want, "", nil
}

// record stores how the application of a set ended, which ends its job. A set that
// nobody needs is gone then.
func (s *set) record(ctx context.Context, tx *store.Tx, want, found content, problem string) error {
	s.jobID, s.checkedAt, s.observed = "", tx.Now, found
	switch {
	case problem != "":
		s.fail(tx.Now, problem)
	case len(want.Values) == 0:
		_, err := tx.Exec(ctx, "DELETE FROM dns_record_set WHERE id = ?", s.id)
		return err
	default:
		s.status, s.lastError, s.known = OK, opt.Null[publication.Error]{}, []content{want}
	}
	return s.save(ctx, tx)
}

// fail makes the status of a set wrong, and says why.
func (s *set) fail(now clock.Instant, code string) {
	message := map[string]string{
		codeChanged: fmt.Sprintf("The %s records of %s were changed at the DNS provider, outside this service: "+
			"see observed. To replace them, update or delete a record of this name and type here; those of the "+
			"installation are replaced when the domain is verified.", s.kind, s.fqdn),
		codeNoZone: fmt.Sprintf("The DNS provider has no zone for %s any more. Ask the operator to add it, then "+
			"verify the domain.", s.fqdn),
		codeUnavailable: fmt.Sprintf("The DNS provider did not take the %s records of %s. This is tried again every "+
			"hour; update a record to try at once.", s.kind, s.fqdn),
	}[code]
	s.status, s.lastError = Wrong, opt.NullOf(publication.Error{Code: code, Message: message, At: now})
}

// gaveUp records that a set was not applied, however often it was tried.
func gaveUp(ctx context.Context, tx *store.Tx, j jobs.Job, final bool) error {
	if !final {
		return nil
	}
	v, _, err := loadSet(ctx, tx, j.Payload)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	v.jobID, v.checkedAt = "", tx.Now
	v.fail(tx.Now, codeUnavailable)
	return v.save(ctx, tx)
}
