package domain

import (
	"cmp"
	"context"
	"errors"

	"github.com/waymarkhq/waymark/internal/actor"
	"github.com/waymarkhq/waymark/internal/binding"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/ids"
	"github.com/waymarkhq/waymark/internal/jobs"
	"github.com/waymarkhq/waymark/internal/opt"
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

// republishing is the kind of the jobs that migration 14 left, which do the same. They
// have a kind of their own because programs from before it would do them without
// what is new.
var republishing = jobs.Kind{Name: "domain.republish", Run: publishing.Run, Failed: publishing.Failed}

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
		var host route.Host
		if host, err = d.host(ctx, tx); err == nil {
			err = publisher.PutHost(ctx, d.Hostname, d.Revision, host)
		}
	} else {
		err = publisher.Remove(ctx, d.Hostname, "", d.ID)
	}
	if err != nil {
		return err
	}
	return publication.Domains.Confirm(ctx, tx, d.ID, d.Revision)
}

// Host returns what the redirector would know of a hostname if its domain were
// published now, or store.ErrNotFound.
func Host(ctx context.Context, q store.Q, hostname string) (_ route.Host, err error) {
	defer fault.Wrap(&err, "domain.Host(%q)", hostname)
	d, err := store.One(ctx, q, scan, selection+" WHERE hostname = ? AND "+held, hostname)
	if err != nil {
		return route.Host{}, err
	}
	return d.host(ctx, q)
}

// host is what visitors of a domain need to know of it and of its app.
func (d *Domain) host(ctx context.Context, q store.Q) (route.Host, error) {
	app, err := store.One(ctx, q, scanShown, selectShown, d.AppID)
	if err != nil {
		return route.Host{}, err
	}
	address := func(value *string) string { return weburl.ASCIIHost(opt.Text(value)) }
	host := route.Host{DomainID: d.ID, AppID: d.AppID, Connected: d.DNS == DNSConfigured,
		NoIndex:        d.web.Robots == "noindex",
		RedirectStatus: int(d.web.RedirectStatus), RootURL: address(d.web.RootURL),
		NotFoundURL: address(d.web.NotFoundURL), Recovery: d.recovery.route(),
		AppName: app.name, AppLogo: app.logo, HomeURL: cmp.Or(address(d.web.RootURL), address(app.desktopURL)),
		Scheme: app.scheme, AndroidPackage: app.androidPackage,
		Templates: route.TemplatesOf(func(base binding.Base) binding.Selection {
			return binding.Resolve(base, &d.templates.Selections, &app.templates.Selections)
		})}
	if ios := d.NativeConfig.IOS; ios.Valid {
		host.AppleAppSiteAssociation = ios.Value.file()
	}
	if android := d.NativeConfig.Android; android.Valid {
		host.AssetLinks = android.Value.file()
	}
	return host, nil
}

// shown is what pages of a domain show of its app, and what the app chose for them.
type shown struct {
	name, logo, scheme, androidPackage string
	desktopURL                         *string
	templates                          binding.Bindings
}

// A logo is active: no other image can become one, and none that is shown is removed.
const selectShown = `SELECT app.name, COALESCE((SELECT icon FROM asset WHERE asset.id = app.logo_asset_id), ''),
	COALESCE(app.scheme, ''), COALESCE(app.android_package, ''), app.desktop_url, template_defaults
	FROM app WHERE id = ?`

func scanShown(r store.Row) (s shown, err error) {
	var templates *string
	if err := r.Scan(&s.name, &s.logo, &s.scheme, &s.androidPackage, &s.desktopURL, &templates); err != nil {
		return s, err
	}
	return s, s.templates.SetColumn(templates)
}

// AppChanged has the domains of an app published again after a change of what their
// pages show and how their links open the app: its name, logo, desktopUrl, scheme,
// androidPackage or templates. Where native tells that iosTeamId or iosBundleId
// changed, domains whose native apps are the app's also get a new revision.
func AppChanged(ctx context.Context, tx *store.Tx, appID string, native bool) (err error) {
	defer fault.Wrap(&err, "domain.AppChanged(%s)", appID)
	if native {
		if _, err := tx.Exec(ctx, `UPDATE domain SET revision = ?, updated_at = ? WHERE app_id = ? AND NOT detached
			AND native_config IS NULL`, ids.Revision(), tx.Now, appID); err != nil {
			return err
		}
	}
	// A publication reads the app while it has its domain locked. So one under way ends
	// before this, which then sees that it ended; one that comes later reads the change.
	if _, err := store.All(ctx, tx, store.Value[string], "SELECT id FROM domain WHERE app_id = ? AND NOT detached "+
		"ORDER BY id"+tx.Dialect().LockRow, appID); err != nil {
		return err
	}
	// What was not published yet, or waits for its first attempt, will be with what is
	// current then. One that failed before gets all its attempts again.
	all, err := store.All(ctx, tx, store.Value[string], `UPDATE domain SET publication_status = 'pending',
		publication_attempts = 0, publication_error = NULL, publication_updated_at = ? WHERE app_id = ? AND NOT detached
		AND publication_confirmed IS NOT NULL AND (publication_status <> 'pending' OR publication_attempts > 0)
		RETURNING id`, tx.Now, appID)
	for _, id := range all {
		if err := enqueuePublish(ctx, tx, &Domain{ID: id, AppID: appID}); err != nil {
			return err
		}
	}
	return err
}
