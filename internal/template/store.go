package template

import (
	"context"

	"github.com/go-json-experiment/json"

	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/ids"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/page"
	"github.com/waymarkhq/waymark/internal/store"
)

const (
	// headColumns are those of a list, which does not read the drafts.
	headColumns = "id, app_id, name, base, archived, last_version, revision, created_at, updated_at"
	columns     = headColumns + ", draft, draft_revision, draft_base_version, draft_updated_at"
)

func scanHead(r store.Row) (t Template, err error) {
	err = r.Scan(t.head()...)
	return t, err
}

func (t *Template) head() []any {
	return []any{&t.ID, &t.AppID, &t.Name, &t.BaseTemplateID, &t.Archived, &t.lastVersion, &t.Revision, &t.CreatedAt,
		&t.UpdatedAt}
}

func scan(r store.Row) (t Template, err error) {
	var config string
	if err = r.Scan(append(t.head(), &config, &t.draft.Revision, &t.draft.BaseVersion,
		&t.draft.UpdatedAt)...); err != nil {
		return t, err
	}
	t.draft.TemplateID = t.ID
	return t, json.Unmarshal([]byte(config), &t.draft.Config)
}

// Load returns a template with its draft, or the refusal of a missing one.
func Load(ctx context.Context, q store.Q, id string) (_ Template, err error) {
	defer fault.Wrap(&err, "template.Load(%s)", id)
	return op.Found(store.One(ctx, q, scan, "SELECT "+columns+" FROM template WHERE id = ?", id))
}

// Current loads a template for a call that may know its revision.
func Current(ctx context.Context, c *op.Call, tx *store.Tx, id string) (Template, error) {
	t, err := Load(ctx, tx, id)
	if err == nil && c.Stale(t.Revision) {
		err = fault.Stale()
	}
	return t, err
}

// currentDraft loads a template for a call that may know the revision of its draft.
func currentDraft(ctx context.Context, c *op.Call, tx *store.Tx, id string) (Template, error) {
	t, err := Load(ctx, tx, id)
	if err == nil && c.Stale(t.draft.Revision) {
		err = fault.Stale()
	}
	return t, err
}

// AppOf implements op.AppFinder.
func AppOf(ctx context.Context, q store.Q, id string) (_ string, err error) {
	defer fault.Wrap(&err, "template.AppOf(%s)", id)
	return store.One(ctx, q, store.Value[string], "SELECT app_id FROM template WHERE id = ?", id)
}

type listInput struct {
	AppID    string `query:"appId" required:"true" maxLength:"500"`
	Archived string `query:"archived" enum:"all,true,false" default:"all"`
}

func list(ctx context.Context, c *op.Call, in *listInput, w op.Window) ([]Template, error) {
	var where store.Where
	where.And("app_id = ?", in.AppID)
	if in.Archived == "true" || in.Archived == "false" {
		where.And("archived = ?", in.Archived == "true")
	}
	order := w.Keyset(&where, "created_at", "id", true)
	return store.All(ctx, c.DB, scanHead, "SELECT "+headColumns+" FROM template"+where.String()+order,
		where.Args(w.Limit)...)
}

// makeRoom refuses a template that is not archived when the app has as many as it
// may have.
func makeRoom(ctx context.Context, tx *store.Tx, appID string) error {
	n, err := store.One(ctx, tx, store.Value[int], "SELECT COUNT(*) FROM template WHERE app_id = ? AND NOT archived",
		appID)
	if err == nil && n >= MaxPerApp {
		err = fault.New(fault.ResourceConflict, "The app has %d templates that are not archived, as many as it may "+
			"have. Archive one first.", n)
	}
	return err
}

// insert stores a template of which app, name, base and design are set.
func insert(ctx context.Context, tx *store.Tx, t *Template) error {
	if err := makeRoom(ctx, tx, t.AppID); err != nil {
		return err
	}
	n, err := store.One(ctx, tx, store.Value[int], "SELECT COUNT(*) FROM template WHERE app_id = ?", t.AppID)
	if err != nil {
		return err
	}
	if n >= MaxInAll {
		return fault.New(fault.ResourceConflict, "The app has %d templates, archived ones included, as many as it may "+
			"have. Set archived of one of them to false, and give it the new design.", n)
	}
	t.ID, t.Revision, t.CreatedAt, t.UpdatedAt = ids.New(), ids.Revision(), tx.Now, tx.Now
	t.draft.TemplateID, t.draft.Revision, t.draft.UpdatedAt = t.ID, ids.Revision(), tx.Now
	_, err = tx.Exec(ctx, "INSERT INTO template ("+columns+", draft_logo) VALUES ("+store.Marks(14)+")",
		t.ID, t.AppID, t.Name, t.BaseTemplateID, t.Archived, t.lastVersion, t.Revision, t.CreatedAt, t.UpdatedAt,
		string(t.draft.Config.Canonical()), t.draft.Revision, t.draft.BaseVersion, t.draft.UpdatedAt,
		logoOf(t.draft.Config))
	return err
}

func save(ctx context.Context, tx *store.Tx, t *Template) error {
	t.Revision, t.UpdatedAt = ids.Revision(), tx.Now
	_, err := tx.Exec(ctx, "UPDATE template SET name = ?, archived = ?, revision = ?, updated_at = ? WHERE id = ?",
		t.Name, t.Archived, t.Revision, t.UpdatedAt, t.ID)
	return err
}

// saveDraft stores a new design. The template gets a new revision too: it is read, and
// published, with its draft.
func saveDraft(ctx context.Context, tx *store.Tx, t *Template) error {
	t.Revision, t.UpdatedAt = ids.Revision(), tx.Now
	t.draft.Revision, t.draft.UpdatedAt = ids.Revision(), tx.Now
	_, err := tx.Exec(ctx, `UPDATE template SET draft = ?, draft_logo = ?, draft_revision = ?, draft_updated_at = ?,
		revision = ?, updated_at = ? WHERE id = ?`, string(t.draft.Config.Canonical()), logoOf(t.draft.Config),
		t.draft.Revision, t.draft.UpdatedAt, t.Revision, t.UpdatedAt, t.ID)
	return err
}

// logoOf returns the image that a configuration shows, nil for none of its own.
func logoOf(config page.Config) *string { return config.Appearance.Value.LogoAssetID.Ptr() }
