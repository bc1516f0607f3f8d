package domain

import (
	"context"

	"github.com/waymarkhq/waymark/internal/dependents"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/ids"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/opt"
	"github.com/waymarkhq/waymark/internal/publication"
	"github.com/waymarkhq/waymark/internal/store"
)

// held is the condition of a row of table domain that holds its hostname. It is
// that of the index domain_hostname. A claim that was never proved holds nothing.
const held = "NOT detached AND verified_at IS NOT NULL"

// IsReady is the condition of a row of table domain on which links can be made.
const IsReady = held + " AND removal_state IS NULL AND links = '" + string(LinksReady) + "'"

// isRemoved is the condition of a row of table domain that is only a record any
// more. It is that of the index domain_removed.
const isRemoved = "removal_state = '" + string(Removed) + "'"

// Ready reports whether a hostname is a domain of an app on which links can be
// made.
func Ready(ctx context.Context, q store.Q, appID, hostname string) (_ bool, err error) {
	defer fault.Wrap(&err, "domain.Ready(%s, %q)", appID, hostname)
	return store.Exists(ctx, q, "SELECT 1 FROM domain WHERE hostname = ? AND app_id = ? AND "+IsReady, hostname, appID)
}

// AppOfHostname returns the app whose domain a hostname is, or store.ErrNotFound.
func AppOfHostname(ctx context.Context, q store.Q, hostname string) (appID string, err error) {
	defer fault.Wrap(&err, "domain.AppOfHostname(%q)", hostname)
	return store.One(ctx, q, store.Value[string], "SELECT app_id FROM domain WHERE hostname = ? AND "+held, hostname)
}

// Held returns those of some hostnames that are domains of the installation.
func Held(ctx context.Context, q store.Q, hostnames ...any) (_ []string, err error) {
	defer fault.Wrap(&err, "domain.Held(%q)", hostnames)
	return store.All(ctx, q, store.Value[string], "SELECT hostname FROM domain WHERE hostname IN ("+
		store.Marks(len(hostnames))+") AND "+held, hostnames...)
}

const selection = `SELECT id, app_id, hostname, mode, zone_name, ownership, dns, https, links, detached, removal_state,
	last_checked_at, last_error, verified_at, apex_profile_id, challenge, verification, failures, failing_since,
	next_check_at, ` + configColumns + `,
	revision, created_at, updated_at, ` + publication.StateColumns + " FROM domain"

func scan(r store.Row) (d Domain, err error) {
	var failure, apexProfile, challenge, verification *string
	var removal *Removal
	var configs configTexts
	if err := r.Scan(&d.ID, &d.AppID, &d.Hostname, &d.Mode, &d.ZoneName, &d.Ownership, &d.DNS, &d.HTTPS, &d.Links,
		&d.Detached, &removal, &d.LastCheckedAt, &failure, &d.verifiedAt, &apexProfile, &challenge,
		&verification, &d.failures, &d.failingSince, &d.nextCheckAt,
		&configs.native, &configs.web, &configs.recovery, &configs.templates, &configs.iosApp,
		&d.Revision, &d.CreatedAt, &d.UpdatedAt, &d.Publication.Status, &d.Publication.ConfirmedRevision,
		&d.Publication.UpdatedAt); err != nil {
		return d, err
	}
	d.Publication.DesiredRevision = d.Revision
	d.Nameservers, d.ConnectionRecords = []string{}, []Record{}
	if removal != nil {
		d.RemovalState = opt.NullOf(*removal)
	}
	if apexProfile != nil {
		d.apexProfile = *apexProfile
	}
	if challenge != nil {
		d.Challenge = opt.NullOf(newChallenge(d.Hostname, *challenge, d.verifiedAt != nil))
	}
	if err := d.LastError.SetColumn(failure); err != nil {
		return d, err
	}
	if err := d.verification.SetColumn(verification); err != nil {
		return d, err
	}
	return d, configs.into(&d)
}

// find returns a domain, or store.ErrNotFound.
func find(ctx context.Context, q store.Q, id string) (Domain, error) {
	return store.One(ctx, q, scan, selection+" WHERE id = ?", id)
}

// load is find with the refusal of a missing one.
func load(ctx context.Context, q store.Q, id string) (Domain, error) {
	return op.Found(find(ctx, q, id))
}

// appOf implements op.AppFinder.
func appOf(ctx context.Context, q store.Q, id string) (string, error) {
	return store.One(ctx, q, store.Value[string], "SELECT app_id FROM domain WHERE id = ?", id)
}

func (o Options) list(ctx context.Context, c *op.Call, in *listInput, w op.Window) ([]Domain, error) {
	var where store.Where
	where.And("app_id = ?", in.AppID)
	if in.Detached != nil {
		where.And("detached = ?", *in.Detached)
	}
	order := w.Keyset(&where, "created_at", "id", true)
	all, err := store.All(ctx, c.DB, scan, selection+where.String()+order, where.Args(w.Limit)...)
	for i := range all {
		o.complete(&all[i])
	}
	return all, err
}

// insert stores a new domain. A hostname that another domain holds is a conflict,
// whoever holds it, and so is a second claim of the same account.
func insert(ctx context.Context, tx *store.Tx, d *Domain) error {
	taken, err := store.Exists(ctx, tx, `SELECT 1 FROM domain WHERE hostname = ? AND `+held+`
		UNION ALL SELECT 1 FROM domain d JOIN app a ON a.id = d.app_id WHERE d.hostname = ? AND NOT d.detached
		AND a.owner_id = (SELECT owner_id FROM app WHERE id = ?)`, d.Hostname, d.Hostname, d.AppID)
	if err != nil {
		return err
	}
	if taken {
		return fault.New(fault.ResourceConflict, "The hostname %s belongs to a domain already. Choose another one.",
			d.Hostname)
	}
	d.ID, d.Revision, d.CreatedAt, d.UpdatedAt = ids.New(), ids.Revision(), tx.Now, tx.Now
	if d.Ownership == OwnershipVerified {
		d.verifiedAt = &tx.Now
	}
	var challenge, apexProfile *string
	if d.Challenge.Valid {
		challenge = &d.Challenge.Value.Value
	}
	if d.apexProfile != "" {
		apexProfile = &d.apexProfile
	}
	_, err = tx.Exec(ctx, `INSERT INTO domain (id, app_id, hostname, mode, zone_name, ownership, dns, https, links,
		detached, revision, created_at, updated_at, verified_at, challenge, apex_profile_id, next_check_at,
		publication_status, publication_attempts, publication_updated_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, FALSE, ?, ?, ?, ?, ?, ?, ?, 'pending', 0, ?)`,
		d.ID, d.AppID, d.Hostname, d.Mode, d.ZoneName, d.Ownership, d.DNS, d.HTTPS, d.Links, d.Revision, d.CreatedAt,
		d.UpdatedAt, d.verifiedAt, challenge, apexProfile, d.nextCheckAt, tx.Now)
	return err
}

// inUse reports whether a link has the hostname of a domain, its app gives it to new
// links, or it was configured.
func (d *Domain) inUse(ctx context.Context, q store.Q) (bool, error) {
	return store.Exists(ctx, q, `SELECT 1 FROM link WHERE hostname = ? AND app_id = ? UNION ALL SELECT 1 FROM app
		WHERE id = ? AND default_domain = ? UNION ALL SELECT 1 FROM domain WHERE id = ? AND (native_config IS NOT NULL
		OR web_config IS NOT NULL OR recovery_config IS NOT NULL OR template_defaults IS NOT NULL)`, d.Hostname, d.AppID, d.AppID, d.Hostname, d.ID)
}

// remove takes away a domain that never came into use, under a last revision.
func (d *Domain) remove(ctx context.Context, tx *store.Tx) error {
	d.Revision = ids.Revision()
	_, err := tx.Exec(ctx, "DELETE FROM domain WHERE id = ?", d.ID)
	return err
}

// Sweep purges the records of domains that were removed longer ago than
// dependents.Retention, up to limit of them, and returns how many.
func Sweep(ctx context.Context, db *store.DB, limit int) (n int64, err error) {
	defer fault.Wrap(&err, "domain.Sweep")
	return db.Exec(ctx, "DELETE FROM domain WHERE id IN (SELECT id FROM domain WHERE "+isRemoved+
		" AND updated_at <= ? ORDER BY updated_at LIMIT ?)",
		db.Now().Add(-dependents.Retention), limit)
}
