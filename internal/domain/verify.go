package domain

import (
	"context"
	"errors"
	"time"

	"github.com/waymarkhq/waymark/internal/dnsrecord"
	"github.com/waymarkhq/waymark/internal/durable"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/publication"
	"github.com/waymarkhq/waymark/internal/store"
)

const (
	verifyType = "domain.verify"
	// verifyPerMinute is how often a domain may be verified.
	verifyPerMinute = 6
	// followTime is how long the redirectors may take to follow a publication; a
	// hostname that does not answer until then is asked again.
	followTime = 3 * time.Second
	// applyTime is how long an operation waits until the records of a managed domain are at
	// the DNS provider.
	applyTime = 30 * time.Second
	// verifyLimit is how long an operation waits for a certificate.
	verifyLimit = 10 * time.Minute
	// againAfter is the pause before a part of a verification is done again.
	againAfter = time.Second
)

func registerVerification(p *op.Pipeline, o Options) {
	app := op.AppOf("domainId", appOf)
	op.Write(p, op.Op{ID: "verifyDomainsDomainId", Method: "POST", Path: "/domains/{domainId}/verify",
		Perm: "domains:verify", App: app, IfMatch: op.IfMatchRequired, Status: 202, Summary: "Verify a domain",
		Doc: "Looks up the challenge and the hostname in the DNS, gets the certificate, and asks the hostname over " +
			"HTTPS who answers there. The operation succeeds when all of it is right, and links can be made. " +
			"Otherwise it fails with ownership_not_proved, resource_conflict (another domain proved the hostname " +
			"first), dns_misconfigured, dns_unavailable, certificate_failed, probe_failed or domain_detached; its message says what to " +
			"change, and so do lastError and the diagnostics of the domain. What was proved stays proved. A domain " +
			"that works keeps its states until its checks have failed for an hour."}, o.verify)
	op.Read(p, op.Op{ID: "getDomainsDomainIdDiagnostics", Method: "GET", Path: "/domains/{domainId}/diagnostics",
		Perm: "domains:read", App: app, Summary: "Get the diagnostics of a domain",
		Doc: "What the last verification saw, and what should have been seen. Nothing is looked up for this answer."},
		diagnose)
}

type verifyInput struct {
	DomainID string `path:"domainId"`
	Body     VerifyDomain
}

// VerifyDomain is the body of verifyDomainsDomainId: an empty object.
type VerifyDomain struct{}

// SchemaName implements schema.Named.
func (VerifyDomain) SchemaName() string { return "DomainVerifyRequest" }

// verify starts a verification.
func (o Options) verify(ctx context.Context, c *op.Call, tx *store.Tx,
	in *verifyInput) (op.Item[durable.Operation], error) {
	d, err := load(ctx, tx, in.DomainID)
	if err == nil {
		err = d.refuseVerification(ctx, c, tx)
	}
	if err != nil {
		return op.Item[durable.Operation]{}, err
	}
	before := d
	if d.verifiedAt == nil {
		d.Ownership = OwnershipPending
	}
	if err := d.saveObserved(ctx, tx, &before); err != nil {
		return op.Item[durable.Operation]{}, err
	}
	started, err := durable.Start(ctx, c, tx, verifyType, d.AppID, d.ID)
	return started.Accepted(d.ref()), err
}

// refuseVerification refuses a verification that cannot be, or that comes too soon
// after another: whoever may call it must not make this installation flood the DNS
// and other servers with questions.
func (d *Domain) refuseVerification(ctx context.Context, c *op.Call, tx *store.Tx) error {
	if c.Stale(d.Revision) {
		return fault.Stale()
	}
	if reason := d.gone(); reason != "" {
		return fault.New(fault.ResourceConflict, "%s", reason)
	}
	active, err := durable.IsActive(ctx, tx, verifyType, d.AppID, d.ID)
	if err != nil {
		return err
	}
	if active {
		refusal := fault.New(fault.OperationInProgress, "A verification of this domain is under way. Wait for its end.")
		refusal.RetryAfter = durable.PollSeconds
		return refusal
	}
	pause := time.Minute / time.Duration(c.Scaled(verifyPerMinute))
	if d.LastCheckedAt == nil || tx.Now.Sub(*d.LastCheckedAt) >= pause {
		return nil
	}
	refusal := fault.New(fault.RateLimited, "The domain was checked a moment ago. Verify it again %s after its last check.",
		pause)
	refusal.RetryAfter = int((pause - tx.Now.Sub(*d.LastCheckedAt) + time.Second - 1) / time.Second)
	return refusal
}

// verifying is the work of a verification. Its first turn proves the ownership and
// has the hostname published; the second checks the rest, of which the redirector
// has a part.
func (o Options) verifying() durable.Work {
	return durable.Work{Type: verifyType, Permission: "domains:verify", Outside: true, Next: o.verifyNext,
		Ended: abandonVerification}
}

func (o Options) verifyNext(ctx context.Context, r *durable.Run) error {
	if !o.places.Take(r.Grant.OwnerID) {
		return r.Later(ctx, r.DB.Now().Add(againAfter))
	}
	defer o.places.GiveBack(r.Grant.OwnerID)
	d, err := find(ctx, r.DB, r.Operation.ResourceID)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	if err != nil || d.Detached {
		return o.finish(ctx, r, &verification{})
	}
	if d.verifiedAt == nil {
		return o.verifyOwnership(ctx, r, &d)
	}
	return o.verifyService(ctx, r, &d)
}

// verifyOwnership asks for the challenge. The owner of a hostname that is not proved
// is told at once where it leads, too.
func (o Options) verifyOwnership(ctx context.Context, r *durable.Run, d *Domain) error {
	v := verification{Ownership: o.inspectOwnership(ctx, d)}
	o.inspectDNS(ctx, d, &v)
	v.skipService("The ownership of the hostname is not proved yet.")
	if v.Ownership.Status == failed {
		return o.finish(ctx, r, &v)
	}
	lost := false
	err := r.InTx(ctx, func(ctx context.Context, _ *op.Call, tx *store.Tx) error {
		claim, err := find(ctx, tx, d.ID)
		if err != nil || claim.Detached { // the next turn tells
			return err
		}
		before := claim
		if lost, err = claim.prove(ctx, tx); err != nil || lost {
			return err
		}
		o.conclude(&claim, &v, tx.Now)
		return claim.saveObserved(ctx, tx, &before)
	})
	if err == nil && lost {
		v.Ownership = lostClaim(d)
		return o.finish(ctx, r, &v)
	}
	return err
}

// verifyService checks all that comes after the ownership.
func (o Options) verifyService(ctx context.Context, r *durable.Run, d *Domain) error {
	// The job that publishes it may still wait for its turn.
	if d.Publication.Status != publication.Synced {
		if err := r.DB.InTxReadCommitted(ctx, func(tx *store.Tx) error { return publish(ctx, tx, d.ID) }); err != nil {
			return err
		}
	}
	if d.Mode == Managed {
		problem, err := o.hostZone(ctx, r.DB, d)
		if err != nil {
			return err
		}
		if problem != "" {
			return o.finish(ctx, r, withoutZone(d, problem))
		}
		sets, ended, err := dnsrecord.Remaining(ctx, r.DB, d.ID)
		if err != nil {
			return err
		}
		if now := r.DB.Now(); sets > ended && now.Sub(r.Operation.CreatedAt) < applyTime {
			return r.Later(ctx, now.Add(againAfter))
		}
	}
	v := o.inspectNames(ctx, d)
	if o.Certify != nil && d.HTTPS != HTTPSActive && d.HTTPS != HTTPSIssuing && v.DNS.Status != failed {
		if err := r.InTx(ctx, func(ctx context.Context, _ *op.Call, tx *store.Tx) error {
			return markIssuing(ctx, tx, d.ID)
		}); err != nil {
			return err
		}
	}
	o.inspectService(ctx, d, &v)
	now := r.DB.Now()
	fresh := v.DNS.Status != failed && now.Sub(d.Publication.UpdatedAt) < followTime
	late := ctx.Err() != nil && now.Sub(r.Operation.CreatedAt) < verifyLimit
	if v.failure() != nil && (fresh || late) {
		return r.Later(context.WithoutCancel(ctx), now.Add(againAfter))
	}
	return o.finish(context.WithoutCancel(ctx), r, &v)
}

// withoutZone is what a verification sees of a managed domain that has no zone at the
// DNS provider.
func withoutZone(d *Domain, problem string) *verification {
	v := &verification{Ownership: proved(d), Zone: finding{Status: failed, Code: misconfigured, Message: problem}}
	v.DNS = v.Zone
	v.skipService("The hostname has no zone yet.")
	return v
}

// markIssuing tells as part of tx that the certificate of a domain is being got.
func markIssuing(ctx context.Context, tx *store.Tx, id string) error {
	d, err := find(ctx, tx, id)
	if err != nil || d.Detached {
		return err
	}
	before := d
	d.HTTPS = HTTPSIssuing
	return d.saveObserved(ctx, tx, &before)
}

// finish records what a verification saw and ends its operation.
func (o Options) finish(ctx context.Context, r *durable.Run, v *verification) error {
	outcome := "ready"
	err := r.Finish(ctx, func(ctx context.Context, _ *op.Call, tx *store.Tx, running *durable.Operation) error {
		failure, err := o.record(ctx, tx, running.ResourceID, v)
		if err != nil {
			return err
		}
		if failure != nil {
			outcome = failure.Code
			return running.Fail(ctx, tx, failure.Code, failure.Message)
		}
		return running.Finish(ctx, tx, durable.Result{Resource: durable.Resource{Type: "domain", ID: running.ResourceID}})
	})
	if err == nil {
		o.Observe("request", outcome, r.DB.Now().Sub(r.Operation.CreatedAt))
	}
	return err
}

// abandonVerification takes back what a verification that ends otherwise said of
// itself.
func abandonVerification(ctx context.Context, tx *store.Tx, o *durable.Operation) error {
	d, err := find(ctx, tx, o.ResourceID)
	if errors.Is(err, store.ErrNotFound) || err == nil && d.Detached {
		return nil
	}
	if err != nil {
		return err
	}
	before := d
	if d.Ownership == OwnershipPending {
		d.Ownership = OwnershipUnverified
	}
	if d.HTTPS == HTTPSIssuing {
		d.HTTPS = HTTPSPending
	}
	return d.saveObserved(ctx, tx, &before)
}
