package organize

import (
	"context"
	"strings"

	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/ids"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/text"
)

// table is the SQL of one kind. Its rows begin with the columns of Common.
type table[T any] struct {
	name string
	// columns are the columns beyond Common: values returns what they store,
	// and scan reads them.
	columns []string
	// computed, if any, is an expression that is read after the columns.
	computed string
	common   func(*T) *Common
	values   func(*T) ([]any, error)
	// scan reads a row; common are the destinations of its first columns.
	scan func(r store.Row, v *T, common []any) error
}

const commonColumns = "id, app_id, name, description, archived, revision, created_at, updated_at"

func (t *table[T]) selection() string {
	parts := append([]string{commonColumns}, t.columns...)
	if t.computed != "" {
		parts = append(parts, t.computed)
	}
	return "SELECT " + strings.Join(parts, ", ") + " FROM " + t.name
}

func (t *table[T]) row(r store.Row) (v T, err error) {
	c := t.common(&v)
	err = t.scan(r, &v, []any{&c.ID, &c.AppID, &c.Name, &c.Description, &c.Archived, &c.Revision, &c.CreatedAt,
		&c.UpdatedAt})
	return v, err
}

// listInput are the filters that every kind has.
type listInput struct {
	AppID    string `query:"appId" required:"true" maxLength:"500"`
	Q        string `query:"q" heavy:"true" maxLength:"200" doc:"Text that name or description contain, ignoring case but not accents."`
	Archived string `query:"archived" enum:"all,true,false" default:"false"`
}

func (t *table[T]) list(ctx context.Context, c *op.Call, in *listInput, w op.Window) ([]T, error) {
	var where store.Where
	where.And("app_id = ?", in.AppID)
	if in.Archived != "all" {
		where.And("archived = ?", in.Archived == "true")
	}
	if in.Q != "" {
		where.And(c.DB.Dialect().Contains("search"), text.Fold(in.Q))
	}
	chosen := w.Choose(t.name, &where, "created_at", "id", true)
	return store.All(ctx, c.DB, t.row, t.selection()+chosen, where.Args(w.Limit)...)
}

// load returns one, or the refusal of a missing one.
func (t *table[T]) load(ctx context.Context, q store.Q, id string) (T, error) {
	return op.Found(store.One(ctx, q, t.row, t.selection()+" WHERE id = ?", id))
}

// current loads one for a change under the revision that the client knows.
func (t *table[T]) current(ctx context.Context, c *op.Call, tx *store.Tx, id string) (T, error) {
	v, err := t.load(ctx, tx, id)
	if err == nil && c.Stale(t.common(&v).Revision) {
		err = fault.Stale()
	}
	return v, err
}

// refuseTaken refuses a name that another one of the app has. The transaction
// is serializable, so nobody takes it in between.
func (t *table[T]) refuseTaken(ctx context.Context, tx *store.Tx, c *Common) error {
	taken, err := store.Exists(ctx, tx, "SELECT 1 FROM "+t.name+" WHERE app_id = ? AND name_key = ? AND id <> ?",
		c.AppID, text.Fold(c.Name), c.ID)
	if err == nil && taken {
		err = fault.New(fault.ResourceConflict, "The app has a %s with this name already. Choose a name that differs "+
			"in more than its case.", t.name)
	}
	return err
}

// stored are the columns that insert and save write after id, app_id and
// created_at, in the order of write.
func (t *table[T]) stored() []string {
	return append([]string{"name", "name_key", "search", "description", "archived", "revision", "updated_at"},
		t.columns...)
}

func (t *table[T]) write(v *T) ([]any, error) {
	c := t.common(v)
	description := ""
	if c.Description != nil {
		description = *c.Description
	}
	own, err := t.values(v)
	return append([]any{c.Name, text.Fold(c.Name), text.Fold(c.Name, description), c.Description, c.Archived,
		c.Revision, c.UpdatedAt}, own...), err
}

func (t *table[T]) insert(ctx context.Context, tx *store.Tx, v *T) error {
	c := t.common(v)
	c.ID, c.Revision, c.CreatedAt, c.UpdatedAt = ids.New(), ids.Revision(), tx.Now, tx.Now
	if err := t.refuseTaken(ctx, tx, c); err != nil {
		return err
	}
	values, err := t.write(v)
	if err != nil {
		return err
	}
	columns := t.stored()
	_, err = tx.Exec(ctx, "INSERT INTO "+t.name+" (id, app_id, created_at, "+strings.Join(columns, ", ")+") VALUES ("+
		store.Marks(3+len(columns))+")",
		append([]any{c.ID, c.AppID, c.CreatedAt}, values...)...)
	return err
}

func (t *table[T]) save(ctx context.Context, tx *store.Tx, v *T) error {
	c := t.common(v)
	c.Revision, c.UpdatedAt = ids.Revision(), tx.Now
	if err := t.refuseTaken(ctx, tx, c); err != nil {
		return err
	}
	values, err := t.write(v)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, "UPDATE "+t.name+" SET "+strings.Join(t.stored(), " = ?, ")+" = ? WHERE id = ?",
		append(values, c.ID)...)
	return err
}

func (t *table[T]) remove(ctx context.Context, tx *store.Tx, id string) error {
	_, err := tx.Exec(ctx, "DELETE FROM "+t.name+" WHERE id = ?", id)
	return err
}

// appOf implements op.AppFinder.
func (t *table[T]) appOf(ctx context.Context, q store.Q, id string) (string, error) {
	return store.One(ctx, q, store.Value[string], "SELECT app_id FROM "+t.name+" WHERE id = ?", id)
}
