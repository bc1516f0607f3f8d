package domain

import (
	"context"
	"errors"

	"github.com/waymarkhq/waymark/internal/actor"
	"github.com/waymarkhq/waymark/internal/jobs"
	"github.com/waymarkhq/waymark/internal/publication"
	"github.com/waymarkhq/waymark/internal/route"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/weburl"
)

// publishing is the kind of the jobs that bring the newest state of a domain to
// the redirector. Their payload is its id.
var publishing = jobs.Kind{
	Name: "domain.publish",
	Run:  func(ctx context.Context, tx *store.Tx, j jobs.Job) error { return publish(ctx, tx, j.Payload) },
	Failed: func(ctx context.Context, tx *store.Tx, j jobs.Job, final bool) error {
		return publication.Domains.Fail(ctx, tx, j.Payload, j.Attempts, final)
	},
}

// enqueuePublish has a domain published after tx. It needs no grant: the change
// that is published was authorized.
func enqueuePublish(ctx context.Context, tx *store.Tx, d *Domain) error {
	return jobs.Enqueue(ctx, tx, publishing.Name, d.ID, d.AppID, actor.Grant{})
}

// publish brings a domain to the redirector, or takes it away from there once it is
// detached. Nothing is served on a hostname whose ownership was never proved. A
// domain that is gone is left alone. Its transaction is one of
// store.InTxReadCommitted.
func publish(ctx context.Context, tx *store.Tx, id string) error {
	// Whoever publishes holds this lock, so what is read below is the newest.
	publisher, err := route.Lock(ctx, tx)
	if err != nil {
		return err
	}
	// Locked, so that the revision that is confirmed below is still its own, and then
	// read, so that what its app says is the newest too.
	if _, err := store.Exists(ctx, tx, "SELECT 1 FROM domain WHERE id = ?"+tx.Dialect().LockRow, id); err != nil {
		return err
	}
	d, err := find(ctx, tx, id)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if d.verifiedAt != nil && !d.Detached {
		err = publisher.PutHost(ctx, d.Hostname, d.Revision, d.host())
	} else {
		err = publisher.Remove(ctx, d.Hostname, "", d.ID)
	}
	if err != nil {
		return err
	}
	return publication.Domains.Confirm(ctx, tx, d.ID, d.Revision)
}

// host is what visitors of a domain need to know of it.
func (d *Domain) host() route.Host {
	address := func(value *string) string {
		if value == nil {
			return ""
		}
		return weburl.ASCIIHost(*value)
	}
	host := route.Host{DomainID: d.ID, AppID: d.AppID, Connected: d.DNS == DNSConfigured, NoIndex: d.web.Robots == "noindex",
		RedirectStatus: int(d.web.RedirectStatus), RootURL: address(d.web.RootURL),
		NotFoundURL: address(d.web.NotFoundURL), Recovery: d.recovery.route()}
	if ios := d.NativeConfig.IOS; ios.Valid {
		host.AppleAppSiteAssociation = ios.Value.file()
	}
	if android := d.NativeConfig.Android; android.Valid {
		host.AssetLinks = android.Value.file()
	}
	return host
}
