package template

import (
	"context"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/ids"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/page"
	"github.com/waymarkhq/waymark/internal/store"
)

const columns = "id, app_id, name, base, archived, last_version, revision, created_at, updated_at, draft, " +
	"draft_revision, draft_base_version, draft_updated_at"

func scan(r store.Row) (t Template, err error) {
	var config string
	if err = r.Scan(&t.ID, &t.AppID, &t.Name, &t.BaseTemplateID, &t.Archived, &t.lastVersion, &t.Revision,
		&t.CreatedAt, &t.UpdatedAt, &config, &t.draft.Revision, &t.draft.BaseVersion, &t.draft.UpdatedAt); err != nil {
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

// AppOf implements op.AppFinder.
func AppOf(ctx context.Context, q store.Q, id string) (_ string, err error) {
	defer fault.Wrap(&err, "template.AppOf(%s)", id)
	return store.One(ctx, q, store.Value[string], "SELECT app_id FROM template WHERE id = ?", id)
}

// canonical returns a configuration as it is stored, counted and compared: without
// white space and needless escapes, the members in the order of their names.
func canonical(config page.Config) (string, error) {
	text, err := json.Marshal(config)
	if err != nil {
		return "", err
	}
	v := jsontext.Value(text)
	err = v.Format(jsontext.ReorderRawObjects(true))
	return string(v), err
}

func insert(ctx context.Context, tx *store.Tx, t *Template) error {
	t.ID, t.Revision, t.CreatedAt, t.UpdatedAt = ids.New(), ids.Revision(), tx.Now, tx.Now
	t.draft.TemplateID, t.draft.Revision, t.draft.UpdatedAt = t.ID, ids.Revision(), tx.Now
	config, err := canonical(t.draft.Config)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, "INSERT INTO template ("+columns+", draft_logo) VALUES ("+store.Marks(14)+")",
		t.ID, t.AppID, t.Name, t.BaseTemplateID, t.Archived, t.lastVersion, t.Revision, t.CreatedAt, t.UpdatedAt, config,
		t.draft.Revision, t.draft.BaseVersion, t.draft.UpdatedAt, logoOf(t.draft.Config))
	return err
}

func save(ctx context.Context, tx *store.Tx, t *Template) error {
	t.Revision, t.UpdatedAt = ids.Revision(), tx.Now
	_, err := tx.Exec(ctx, "UPDATE template SET name = ?, archived = ?, revision = ?, updated_at = ? WHERE id = ?",
		t.Name, t.Archived, t.Revision, t.UpdatedAt, t.ID)
	return err
}

func saveDraft(ctx context.Context, tx *store.Tx, t *Template) error {
	t.draft.Revision, t.draft.UpdatedAt = ids.Revision(), tx.Now
	config, err := canonical(t.draft.Config)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `UPDATE template SET draft = ?, draft_logo = ?, draft_revision = ?, draft_updated_at = ?
		WHERE id = ?`, config, logoOf(t.draft.Config), t.draft.Revision, t.draft.UpdatedAt, t.ID)
	return err
}

// logoOf returns the image that a configuration shows, nil for none of its own.
func logoOf(config page.Config) *string { return config.Appearance.Value.LogoAssetID.Ptr() }
