package domain

import (
	"context"

	"github.com/go-json-experiment/json"

	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/ids"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/publication"
	"github.com/waymarkhq/waymark/internal/schema"
	"github.com/waymarkhq/waymark/internal/store"
)

// ConfigState is a configuration of a domain, and how far it is published
// (completions.md §4). A T is what is set.
type ConfigState[T schema.Named] struct {
	DomainID    string            `json:"domainId"`
	AppID       string            `json:"appId"`
	Revision    string            `json:"revision" format:"uuid" doc:"The domain's."`
	Config      T                 `json:"config"`
	Publication publication.State `json:"publication" doc:"The domain's; not part of the revision."`
}

// SchemaName implements schema.Named.
func (s ConfigState[T]) SchemaName() string { return s.Config.SchemaName() + "State" }

func stateOf[T schema.Named](d *Domain, config T) op.Item[ConfigState[T]] {
	return op.Item[ConfigState[T]]{Ref: d.ref(), Data: ConfigState[T]{DomainID: d.ID, AppID: d.AppID,
		Revision: d.Revision, Config: config, Publication: d.Publication}}
}

// registerConfigs declares the operations of the three configurations.
func registerConfigs(p *op.Pipeline) {
	app := op.AppOf("domainId", appOf)
	read := func(id, path, perm, summary, doc string) op.Op {
		return op.Op{ID: id, Method: "GET", Path: "/domains/{domainId}/" + path, Perm: perm + ":read", App: app,
			Summary: summary, Doc: doc}
	}
	write := func(id, path, perm, summary, doc string) op.Op {
		return op.Op{ID: id, Method: "PUT", Path: "/domains/{domainId}/" + path, Perm: perm + ":update", App: app,
			IfMatch: op.IfMatchRequired, Summary: summary, Doc: doc + " The domain gets a new revision."}
	}
	op.Read(p, read("getDomainsDomainIdNativeConfig", "native-config", "native_config",
		"Get the native apps of a domain", "Until they are set, they are the iOS app of the domain's app, when that "+
			"has iosTeamId and iosBundleId. An Android app is never there by itself, as its certificates are not known."),
		func(ctx context.Context, c *op.Call, in *domainInput) (op.Item[ConfigState[NativeConfig]], error) {
			d, err := load(ctx, c.DB, in.DomainID)
			return stateOf(&d, d.NativeConfig), err
		})
	op.Write(p, write("setDomainsDomainIdNativeConfig", "native-config", "native_config",
		"Set the native apps of a domain", "The hostname serves them as /.well-known/apple-app-site-association and "+
			"/.well-known/assetlinks.json. What is omitted of an app is taken from the domain's app."), setNative)
	op.Read(p, read("getDomainsDomainIdWebConfig", "web-config", "web_config",
		"Get what a domain shows besides links", ""),
		func(ctx context.Context, c *op.Call, in *domainInput) (op.Item[ConfigState[WebConfig]], error) {
			d, err := load(ctx, c.DB, in.DomainID)
			return stateOf(&d, d.web), err
		})
	op.Write(p, write("setDomainsDomainIdWebConfig", "web-config", "web_config",
		"Set what a domain shows besides links", "What is omitted gets its default."), setWeb)
	op.Read(p, read("getDomainsDomainIdRecoveryConfig", "recovery-config", "recovery_config",
		"Get the recovery of links after an installation", ""),
		func(ctx context.Context, c *op.Call, in *domainInput) (op.Item[ConfigState[RecoveryConfig]], error) {
			d, err := load(ctx, c.DB, in.DomainID)
			return stateOf(&d, d.recovery), err
		})
	op.Write(p, write("setDomainsDomainIdRecoveryConfig", "recovery-config", "recovery_config",
		"Set the recovery of links after an installation", "What is omitted gets its default."), setRecovery)
}

type configInput[T any] struct {
	DomainID string `path:"domainId"`
	Body     T
}

func setNative(ctx context.Context, c *op.Call, tx *store.Tx,
	in *configInput[SetNativeConfig]) (_ op.Item[ConfigState[NativeConfig]], err error) {
	d, err := configurable(ctx, c, tx, in.DomainID)
	if err != nil {
		return stateOf(&d, d.NativeConfig), err
	}
	own, err := identityOf(ctx, tx, d.AppID)
	if err == nil {
		d.NativeConfig, err = in.Body.config(own)
	}
	if err == nil {
		err = d.configure(ctx, tx, "native_config", d.NativeConfig)
	}
	return stateOf(&d, d.NativeConfig), err
}

func setWeb(ctx context.Context, c *op.Call, tx *store.Tx,
	in *configInput[SetWebConfig]) (_ op.Item[ConfigState[WebConfig]], err error) {
	d, err := configurable(ctx, c, tx, in.DomainID)
	if err == nil {
		d.web, err = in.Body.config(ctx, tx, &d)
	}
	if err == nil {
		err = d.configure(ctx, tx, "web_config", d.web)
	}
	return stateOf(&d, d.web), err
}

func setRecovery(ctx context.Context, c *op.Call, tx *store.Tx,
	in *configInput[SetRecoveryConfig]) (op.Item[ConfigState[RecoveryConfig]], error) {
	d, err := configurable(ctx, c, tx, in.DomainID)
	if err == nil {
		d.recovery = in.Body.config()
		err = d.configure(ctx, tx, "recovery_config", d.recovery)
	}
	return stateOf(&d, d.recovery), err
}

// configurable loads a domain for a change under the revision that the client
// knows.
func configurable(ctx context.Context, c *op.Call, tx *store.Tx, id string) (Domain, error) {
	d, err := load(ctx, tx, id)
	switch {
	case err != nil:
	case c.Stale(d.Revision):
		err = fault.Stale()
	case d.gone() != "":
		err = fault.New(fault.ResourceConflict, "%s", d.gone())
	}
	return d, err
}

// configure stores a configuration in a column of the domain, and has it published
// under a new revision.
func (d *Domain) configure(ctx context.Context, tx *store.Tx, column string, config any) (err error) {
	defer fault.Wrap(&err, "domain.configure(%s, %s)", d.ID, column)
	text, err := json.Marshal(config)
	if err != nil {
		return err
	}
	d.Revision, d.UpdatedAt = ids.Revision(), tx.Now
	if _, err := tx.Exec(ctx, "UPDATE domain SET "+column+" = ?, revision = ?, updated_at = ? WHERE id = ?",
		string(text), d.Revision, d.UpdatedAt, d.ID); err != nil {
		return err
	}
	if err := publication.Domains.Request(ctx, tx, d.ID); err != nil {
		return err
	}
	d.Publication.Status, d.Publication.DesiredRevision = publication.Pending, d.Revision
	d.Publication.UpdatedAt = tx.Now
	return enqueuePublish(ctx, tx, d)
}

// iosApp is the column of a domain with TEAMID.bundle of its app, NULL when the app
// does not have both.
const iosApp = "(SELECT ios_team_id || '.' || ios_bundle_id FROM app WHERE app.id = domain.app_id)"

// configColumns are the columns of a domain that scanConfigs takes.
const configColumns = "native_config, web_config, recovery_config, template_defaults, " + iosApp

// configTexts are the values of configColumns.
type configTexts struct{ native, web, recovery, templates, iosApp *string }

// into sets the configurations of a domain, whose other columns are set already.
// Those that were never set are the defaults. A detached domain has no native apps
// by default, as nothing is served on it.
func (t *configTexts) into(d *Domain) error {
	d.web, d.recovery = defaultWeb, defaultRecovery
	if t.iosApp != nil && !d.Detached {
		d.NativeConfig = identity{iosApp: *t.iosApp}.native()
	}
	for _, c := range []struct {
		text *string
		into any
	}{{t.native, &d.NativeConfig}, {t.web, &d.web}, {t.recovery, &d.recovery}, {t.templates, &d.templates}} {
		if c.text == nil {
			continue
		}
		if err := json.Unmarshal([]byte(*c.text), c.into); err != nil {
			return err
		}
	}
	return nil
}

// identityOf returns what an app says of its native apps.
func identityOf(ctx context.Context, q store.Q, appID string) (identity, error) {
	return store.One(ctx, q, func(r store.Row) (i identity, err error) {
		err = r.Scan(&i.iosApp, &i.androidPackage)
		return i, err
	}, `SELECT COALESCE(ios_team_id || '.' || ios_bundle_id, ''), COALESCE(android_package, '') FROM app
		WHERE id = ?`, appID)
}
