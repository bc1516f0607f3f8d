package link

import (
	"context"
	"fmt"
	"maps"
	"slices"

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

// jobRepublish is the kind of the jobs that migration 14 left, which do the same. They
// have a kind of their own because programs from before it would do them without
// what is new.
const jobRepublish = "link.republish"

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

// publish publishes the links of jobs, each once.
func publish(ctx context.Context, tx *store.Tx, all []jobs.Job) error {
	changes := map[string]projection{} // by link
	resynced := map[string]bool{}
	for _, j := range all {
		p, err := parse(j)
		if err != nil {
			return err
		}
		changes[p.LinkID] = p
		resynced[p.LinkID] = resynced[p.LinkID] || p.Resync
	}
	// Whoever publishes holds this lock, so what is read below is the newest.
	publisher, err := route.Lock(ctx, tx)
	if err != nil {
		return err
	}
	var ids []any
	for _, id := range slices.Sorted(maps.Keys(changes)) {
		ids = append(ids, id)
	}
	var links []Link
	for some := range store.Chunks(ids) {
		// Locked, so that the revision that is confirmed below is still its own.
		found, err := store.All(ctx, tx, scan, selection+" WHERE id IN ("+store.Marks(len(some))+") ORDER BY id"+
			tx.Dialect().LockRow, some...)
		if err != nil {
			return err
		}
		links = append(links, found...)
	}
	ids = ids[:0]
	for i := range links {
		l := &links[i]
		ids = append(ids, l.ID)
		delete(changes, l.ID)
		if resynced[l.ID] {
			if err := delivery.Emit(ctx, tx, delivery.LinkUpdated, l.ref()); err != nil {
				return err
			}
		}
	}
	// Remove deleted links first: a new link may have the address.
	for id, p := range changes {
		if err := publisher.Remove(ctx, p.Hostname, route.Path(p.Prefix, p.Slug), id); err != nil {
			return err
		}
	}
	if err := put(ctx, tx, publisher, links); err != nil {
		return err
	}
	return publication.Links.ConfirmAll(ctx, tx, ids)
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
