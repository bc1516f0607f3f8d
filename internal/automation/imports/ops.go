package imports

import (
	"context"
	"strconv"
	"strings"

	"github.com/waymarkhq/waymark/internal/automation"
	"github.com/waymarkhq/waymark/internal/csvtable"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/opt"
	"github.com/waymarkhq/waymark/internal/store"
)

type importInput struct {
	ImportID string `path:"importId"`
}

func get(ctx context.Context, c *op.Call, in *importInput) (op.Item[automation.Record], error) {
	j, err := automation.Load(ctx, c.DB, automation.Import, in.ImportID, c.Now)
	return op.Item[automation.Record]{Data: j, Ref: j.Ref()}, err
}

type itemsInput struct {
	ImportID string `path:"importId"`
	Format   string `query:"format" enum:"json,csv" default:"json"`
}

func items(ctx context.Context, c *op.Call, in *itemsInput, w op.Window) ([]ImportItem, error) {
	stored, err := automation.Items(ctx, c.DB, in.ImportID, w)
	shown := make([]ImportItem, len(stored))
	for n, i := range stored {
		shown[n] = ImportItem{ClientID: i.ClientID, Ordinal: i.Ordinal, State: i.State,
			Input: opt.NullOf(opt.Object{Value: i.Input}), Result: i.Result, Error: i.Error}
	}
	return shown, err
}

// report returns all items as CSV when that is asked for.
func report(ctx context.Context, c *op.Call, in *itemsInput) (*op.File, error) {
	if in.Format != "csv" {
		return nil, nil
	}
	all, err := automation.AllItems(ctx, c.DB, in.ImportID)
	if err != nil {
		return nil, err
	}
	rows := make([][]string, len(all))
	for n, i := range all {
		rows[n] = []string{i.ClientID, strconv.FormatInt(i.Ordinal, 10), i.State, i.Result.Value.LinkID,
			i.Result.Value.Revision, string(i.Error.Value.Code), explain(i.Error.Value)}
	}
	text := csvtable.Write([]string{"clientId", "ordinal", "state", "linkId", "revision", "errorCode", "errorMessage"},
		rows)
	return &op.File{Name: "waymark-import-" + in.ImportID + ".csv", ContentType: "text/csv; charset=utf-8",
		Attachment: true, Content: []byte(text)}, nil
}

// explain returns an error in one text: a report has no column for details.
func explain(e automation.ItemError) string {
	parts := make([]string, len(e.Details))
	for n, d := range e.Details {
		parts[n] = strings.ReplaceAll(strings.TrimPrefix(d.Path, "/"), "/", ".") + ": " + d.Message
	}
	if len(parts) == 0 {
		return e.Message
	}
	return strings.Join(parts, "; ")
}

// current loads an import for a step under the revision that the client knows.
func current(ctx context.Context, c *op.Call, tx *store.Tx, id string) (automation.Record, error) {
	j, err := automation.Load(ctx, tx, automation.Import, id, c.Now)
	if err == nil && c.Stale(j.Revision) {
		err = fault.Stale()
	}
	return j, err
}

// CommitImport is the body of commitImportsImportId: it has no members.
type CommitImport struct{}

// SchemaName implements schema.Named.
func (CommitImport) SchemaName() string { return "ImportCommitRequest" }

type commitInput struct {
	ImportID string `path:"importId"`
	Body     CommitImport
}

func (s *service) commit(ctx context.Context, c *op.Call, tx *store.Tx,
	in *commitInput) (op.Item[automation.Record], error) {
	j, err := current(ctx, c, tx, in.ImportID)
	if err != nil {
		return op.Item[automation.Record]{}, err
	}
	if j.State != automation.Validated {
		return op.Item[automation.Record]{}, fault.New(fault.ResourceConflict,
			"The import is %s: only a validated import can be committed.", spoken(j.State))
	}
	valid, err := store.Exists(ctx, tx, "SELECT 1 FROM automation_item WHERE job_id = ? AND state = 'valid'", j.ID)
	if err == nil && !valid {
		err = fault.New(fault.ResourceConflict, "The import has no valid item: there is nothing to create. Correct "+
			"the file and upload it again.")
	}
	if err != nil {
		return op.Item[automation.Record]{}, err
	}
	o, err := automation.Start(ctx, c, tx, &j)
	return j.Accepted(o), err
}

func spoken(state string) string { return strings.ReplaceAll(state, "_", " ") }
