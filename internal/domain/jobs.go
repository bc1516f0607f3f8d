package domain

import (
	"context"
	"fmt"
	"strings"

	"github.com/waymarkhq/waymark/internal/actor"
	"github.com/waymarkhq/waymark/internal/delivery"
	"github.com/waymarkhq/waymark/internal/durable"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/jobs"
	"github.com/waymarkhq/waymark/internal/publication"
	"github.com/waymarkhq/waymark/internal/route"
	"github.com/waymarkhq/waymark/internal/store"
)

// jobCreate is the kind of the job, and the type of the operation, that brings
// a new domain to the redirector. Its payload is "<operation id> <domain id>".
const jobCreate = "domain.create"

// Jobs returns the kinds of jobs of this package.
func Jobs() []jobs.Kind {
	return []jobs.Kind{{Name: jobCreate, Run: finishCreate, Failed: createFailed}}
}

// creation is what a create job works on.
func creation(ctx context.Context, tx *store.Tx, j jobs.Job) (durable.Operation, Domain, error) {
	operationID, domainID, ok := strings.Cut(j.Payload, " ")
	if !ok {
		return durable.Operation{}, Domain{}, fmt.Errorf("payload %q", j.Payload)
	}
	o, err := durable.Load(ctx, tx, operationID)
	if err != nil {
		return o, Domain{}, err
	}
	d, err := load(ctx, tx, domainID)
	return o, d, err
}

func finishCreate(ctx context.Context, tx *store.Tx, j jobs.Job) error {
	// Whoever publishes holds this lock, so what is read below is the newest.
	publisher, err := route.Lock(ctx, tx)
	if err != nil {
		return err
	}
	o, d, err := creation(ctx, tx, j)
	if err != nil || o.Terminal() && o.Status != durable.Cancelled {
		return err
	}
	allowed, err := stillAllowed(ctx, tx, j)
	if err != nil {
		return err
	}
	cancelled := o.Status == durable.Cancelled
	// Links that were made meanwhile are confirmed effects: the domain stays.
	inUse, err := d.inUse(ctx, tx)
	if err != nil {
		return err
	}
	if (cancelled || !allowed) && !inUse {
		if err := d.remove(ctx, tx); err != nil {
			return err
		}
		if err := delivery.Emit(ctx, tx, delivery.DomainStatusChanged, d.AppID, d.ID, d.Revision); err != nil {
			return err
		}
		if cancelled {
			return nil
		}
		return o.Fail(ctx, tx, "authorization_lost", "The credential that started this is no longer authorized.")
	}
	if err := publisher.PutHost(ctx, d.Hostname, d.Revision, route.Host{DomainID: d.ID, AppID: d.AppID, RedirectStatus: 302}); err != nil {
		return err
	}
	if err := publication.Domains.Confirm(ctx, tx, d.ID, d.Revision); err != nil {
		return err
	}
	if cancelled {
		return nil
	}
	return o.Finish(ctx, tx, durable.Result{Resource: durable.Resource{Type: "domain", ID: d.ID}})
}

// stillAllowed asks whether the one who started the job may still do it.
func stillAllowed(ctx context.Context, tx *store.Tx, j jobs.Job) (bool, error) {
	a, err := actor.Rebuild(ctx, tx, j.Grant, tx.Now)
	if refusal, ok := fault.From(err); ok && refusal.Code == fault.Unauthenticated {
		return false, nil
	}
	if err != nil || !a.May("domains:create", false) {
		return false, err
	}
	return a.Reaches(ctx, tx, j.AppID)
}

func createFailed(ctx context.Context, tx *store.Tx, j jobs.Job, final bool) error {
	o, d, err := creation(ctx, tx, j)
	if err != nil {
		return err
	}
	if err := publication.Domains.Fail(ctx, tx, d.ID, j.Attempts, final); err != nil || !final || o.Terminal() {
		return err
	}
	return o.Fail(ctx, tx, "projection_failed", "The domain could not be brought to the redirector.")
}
