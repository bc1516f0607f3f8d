package link

import (
	"context"
	"fmt"

	"github.com/go-json-experiment/json"

	"github.com/waymarkhq/waymark/internal/actor"
	"github.com/waymarkhq/waymark/internal/delivery"
	"github.com/waymarkhq/waymark/internal/jobs"
	"github.com/waymarkhq/waymark/internal/publication"
	"github.com/waymarkhq/waymark/internal/route"
	"github.com/waymarkhq/waymark/internal/store"
)

// jobPublish is the kind of the job that brings the newest state of a link, or
// its absence, to the redirector.
const jobPublish = "link.publish"

// projection is the payload of a publish job. The address is there because
// the link may be gone.
type projection struct {
	LinkID   string `json:"linkId"`
	Hostname string `json:"hostname"`
	Prefix   string `json:"prefix"`
	Slug     string `json:"slug"`
	Resync   bool   `json:"resync,omitzero"`
}

// enqueue needs no grant: the change that is published was authorized.
func enqueue(ctx context.Context, tx *store.Tx, p projection, appID string) error {
	payload, err := json.Marshal(p)
	if err != nil {
		return err
	}
	return jobs.Enqueue(ctx, tx, jobPublish, string(payload), appID, actor.Grant{})
}

func publish(ctx context.Context, tx *store.Tx, j jobs.Job) error {
	p, err := parse(j)
	if err != nil {
		return err
	}
	// Whoever publishes holds this lock, so what is read below is the newest.
	publisher, err := route.Lock(ctx, tx)
	if err != nil {
		return err
	}
	// Locked, so that the revision that is confirmed below is still its own.
	l, err := store.One(ctx, tx, scan, selection+" WHERE id = ?"+tx.Dialect().LockRow, p.LinkID)
	if err == store.ErrNotFound {
		return publisher.Remove(ctx, p.Hostname, route.Path(p.Prefix, p.Slug), p.LinkID)
	}
	if err != nil {
		return err
	}
	if err := put(ctx, tx, publisher, &l); err != nil {
		return err
	}
	if p.Resync {
		if err := delivery.Emit(ctx, tx, delivery.LinkUpdated, l.AppID, l.ID, l.Revision); err != nil {
			return err
		}
	}
	return publication.Links.Confirm(ctx, tx, l.ID, l.Revision)
}

func publishFailed(ctx context.Context, tx *store.Tx, j jobs.Job, final bool) error {
	p, err := parse(j)
	if err != nil {
		return err
	}
	return publication.Links.Fail(ctx, tx, p.LinkID, j.Attempts, final)
}

func parse(j jobs.Job) (p projection, err error) {
	if err := json.Unmarshal([]byte(j.Payload), &p); err != nil {
		return p, fmt.Errorf("payload of job %s: %w", j.ID, err)
	}
	return p, nil
}
