package automation

import (
	"context"
	"errors"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/durable"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/ids"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/part"
	"github.com/waymarkhq/waymark/internal/store"
)

const columns = "id, app_id, kind, state, operation_id, request, total, invalid, succeeded, failed, revision, " +
	"created_at, updated_at, expires_at"

// over is the condition of a job that may be removed to make room: its work is
// done, or it is an import without an item to commit.
const over = `(state IN ('succeeded', 'partially_succeeded', 'failed', 'cancelled')
	OR state = 'validated' AND NOT EXISTS (SELECT 1 FROM automation_item WHERE job_id = automation_job.id AND state = 'valid'))`

func scan(r store.Row) (j Record, err error) {
	err = r.Scan(&j.ID, &j.AppID, &j.Kind, &j.State, &j.OperationID, &j.Request, &j.Total, &j.Invalid, &j.Succeeded,
		&j.Failed, &j.Revision, &j.CreatedAt, &j.UpdatedAt, &j.ExpiresAt)
	return j, err
}

// finish sets what is not stored: whether the file of an export is there.
func (j *Record) finish(now clock.Instant) {
	if j.Kind != Export || j.State != durable.Succeeded {
		return
	}
	if now >= j.ExpiresAt {
		j.State = Expired
		return
	}
	path := op.Location("exports", j.ID, "download")
	j.DownloadURL = &path
}

// Create adds a job of the call's app as part of tx. When the app has as many
// jobs as are kept, its oldest finished job is removed; if none is finished,
// Create refuses (409).
func Create(ctx context.Context, c *op.Call, tx *store.Tx, kind, state, request string,
	total int) (_ Record, err error) {
	defer fault.Wrap(&err, "automation.Create(%s)", kind)
	j := Record{
		ID: ids.New(), AppID: c.AppID, Kind: kind, State: state, Total: int64(total), Revision: ids.Revision(),
		Request:   request,
		CreatedAt: tx.Now, UpdatedAt: tx.Now, ExpiresAt: tx.Now.Add(Retention),
	}
	if kind == Export || state == Uploaded {
		j.ExpiresAt = tx.Now.Add(Unfinished)
	}
	if err := makeRoom(ctx, c, tx); err != nil {
		return j, err
	}
	_, err = tx.Exec(ctx, "INSERT INTO automation_job ("+columns+", remove_at) VALUES ("+store.Marks(15)+")",
		j.ID, j.AppID, j.Kind, j.State, j.OperationID, j.Request, j.Total, j.Invalid, j.Succeeded, j.Failed, j.Revision,
		j.CreatedAt, j.UpdatedAt, j.ExpiresAt, j.removeAt())
	return j, err
}

// removeAt is when the record is removed: an import that is not committed when
// its time for that ends, everything else after the retention.
func (j *Record) removeAt() clock.Instant {
	if j.State == Uploaded || j.State == Validated {
		return j.ExpiresAt
	}
	return j.CreatedAt.Add(Retention)
}

// Count returns how many jobs of an app are kept.
func Count(ctx context.Context, q store.Q, appID string) (_ int64, err error) {
	defer fault.Wrap(&err, "automation.Count(%s)", appID)
	return store.One(ctx, q, store.Value[int64], "SELECT COUNT(*) FROM automation_job WHERE app_id = ?", appID)
}

func makeRoom(ctx context.Context, c *op.Call, tx *store.Tx) error {
	n, err := Count(ctx, tx, c.AppID)
	if err != nil || n < c.Scaled(MaxRecords) {
		return err
	}
	oldest, err := store.One(ctx, tx, store.Value[string], "SELECT id FROM automation_job WHERE app_id = ? AND "+over+
		" ORDER BY created_at, id LIMIT 1", c.AppID)
	if errors.Is(err, store.ErrNotFound) {
		return fault.New(fault.ResourceConflict, "The app has %d exports, batches and imports, as many as are kept, "+
			"and none of them is finished. Wait for one to finish, or cancel its operation.", n)
	}
	if err != nil {
		return err
	}
	return remove(ctx, tx, "= ?", oldest)
}

// remove deletes the jobs whose id fulfils a condition, with their items and
// files.
func remove(ctx context.Context, tx *store.Tx, condition string, args ...any) error {
	for _, statement := range []string{
		"DELETE FROM automation_item WHERE job_id ", "DELETE FROM automation_file WHERE job_id ", `DELETE
			FROM automation_job WHERE id `,
	} {
		if _, err := tx.Exec(ctx, statement+condition, args...); err != nil {
			return err
		}
	}
	return nil
}

// Load returns a job of a kind, or the refusal of a missing one.
func Load(ctx context.Context, q store.Q, kind, id string, now clock.Instant) (_ Record, err error) {
	defer fault.Wrap(&err, "automation.Load(%s, %s)", kind, id)
	j, err := op.Found(store.One(ctx, q, scan, "SELECT "+columns+" FROM automation_job WHERE id = ? AND kind = ?", id,
		kind))
	j.finish(now)
	return j, err
}

// find returns a job, or store.ErrNotFound.
func find(ctx context.Context, q store.Q, id string) (Record, error) {
	return store.One(ctx, q, scan, "SELECT "+columns+" FROM automation_job WHERE id = ?", id)
}

// Of returns the job that an operation works on, or store.ErrNotFound when it
// was removed.
func Of(ctx context.Context, q store.Q, o *durable.Operation) (_ Record, err error) {
	defer fault.Wrap(&err, "automation.Of(%s)", o.ID)
	return find(ctx, q, o.ResourceID)
}

// AppOf returns an op.AppFinder for jobs of a kind.
func AppOf(kind string) op.AppFinder {
	return func(ctx context.Context, q store.Q, id string) (string, error) {
		return store.One(ctx, q, store.Value[string], "SELECT app_id FROM automation_job WHERE id = ? AND kind = ?", id,
			kind)
	}
}

// Save stores a job under a new revision.
func (j *Record) Save(ctx context.Context, tx *store.Tx) (err error) {
	defer fault.Wrap(&err, "automation.Save(%s)", j.ID)
	j.Revision, j.UpdatedAt = ids.Revision(), tx.Now
	_, err = tx.Exec(ctx, `UPDATE automation_job SET state = ?, operation_id = ?, total = ?, invalid = ?, succeeded = ?,
		failed = ?, revision = ?, updated_at = ?, expires_at = ?, remove_at = ?
		WHERE id = ?`, j.State, j.OperationID, j.Total, j.Invalid, j.Succeeded, j.Failed, j.Revision, j.UpdatedAt,
		j.ExpiresAt, j.removeAt(), j.ID)
	return err
}

// Start queues the work on a job as part of tx.
func Start(ctx context.Context, c *op.Call, tx *store.Tx, j *Record) (durable.Operation, error) {
	o, err := durable.Start(ctx, c, tx, j.Kind, j.AppID, j.ID)
	if err != nil {
		return o, err
	}
	j.State, j.OperationID = durable.Queued, &o.ID
	if j.Kind != Export {
		j.ExpiresAt = j.CreatedAt.Add(Retention)
	}
	return o, j.Save(ctx, tx)
}

const itemColumns = "ordinal, client_id, action, link_id, revision, input, state, result, error"

func scanItem(r store.Row) (i Item, err error) {
	var input, result, failure *string
	if err := r.Scan(&i.Ordinal, &i.ClientID, &i.Action, &i.LinkID, &i.Revision, &input, &i.State, &result,
		&failure); err != nil {
		return i, err
	}
	if input != nil {
		i.Input = jsontext.Value(*input)
	}
	if err := i.Result.SetColumn(result); err != nil {
		return i, err
	}
	return i, i.Error.SetColumn(failure)
}

// AddItems stores the items of a new job; their ordinals count from 1.
func AddItems(ctx context.Context, tx *store.Tx, jobID string, items []Item) (err error) {
	defer fault.Wrap(&err, "automation.AddItems(%s)", jobID)
	for n := range items {
		i := &items[n]
		i.Ordinal = int64(n + 1)
		var input any
		if i.Input != nil {
			input = string(i.Input)
		}
		failure, err := i.Error.Column()
		if err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `INSERT INTO automation_item (job_id, ordinal, client_id, action, link_id, revision,
			input, state, error) VALUES (`+store.Marks(9)+")",
			jobID, i.Ordinal, i.ClientID, i.Action, i.LinkID, i.Revision, input, i.State, failure); err != nil {
			return err
		}
	}
	return nil
}

// SaveItem stores the state, result and error of an item.
func SaveItem(ctx context.Context, tx *store.Tx, jobID string, i *Item) (err error) {
	defer fault.Wrap(&err, "automation.SaveItem(%s, %d)", jobID, i.Ordinal)
	result, err := i.Result.Column()
	if err != nil {
		return err
	}
	failure, err := i.Error.Column()
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx,
		"UPDATE automation_item SET state = ?, result = ?, error = ? WHERE job_id = ? AND ordinal = ?", i.State, result,
		failure, jobID, i.Ordinal)
	return err
}

// Items returns a page of a job's items in their order.
func Items(ctx context.Context, q store.Q, jobID string, w op.Window) (_ []Item, err error) {
	defer fault.Wrap(&err, "automation.Items(%s)", jobID)
	var where store.Where
	where.And("job_id = ?", jobID)
	order := w.Keyset(&where, "ordinal", "client_id", false)
	return store.All(ctx, q, scanItem, "SELECT "+itemColumns+" FROM automation_item"+where.String()+order,
		where.Args(w.Limit)...)
}

// AllItems returns all items of a job, at most fifty, in their order.
func AllItems(ctx context.Context, q store.Q, jobID string) (_ []Item, err error) {
	defer fault.Wrap(&err, "automation.AllItems(%s)", jobID)
	return store.All(ctx, q, scanItem, "SELECT "+itemColumns+" FROM automation_item WHERE job_id = ? ORDER BY ordinal",
		jobID)
}

// nextItem returns the first item in a state, or store.ErrNotFound.
func nextItem(ctx context.Context, q store.Q, jobID, state string) (Item, error) {
	return store.One(ctx, q, scanItem, "SELECT "+itemColumns+" FROM automation_item WHERE job_id = ? AND state = ? "+
		"ORDER BY ordinal LIMIT 1", jobID, state)
}

// Part returns the part that exports, batches and imports share.
func Part() part.Part {
	return part.Part{
		Name: "automation", Sweeps: []part.Sweep{{Name: "automation", Run: Sweep}},
		// The next sweep removes the rows of a deleted app.
		OfApp: part.OfApp{Tables: []string{"automation_job"}, Remove: part.Executing(`UPDATE automation_job
			SET remove_at = 0 WHERE app_id = ?`)},
	}
}

// Sweep removes at most limit jobs after their retention, and files that can no
// longer be downloaded.
func Sweep(ctx context.Context, db *store.DB, limit int) (n int64, err error) {
	defer fault.Wrap(&err, "automation.Sweep")
	err = db.InTx(ctx, func(tx *store.Tx) error {
		gone, err := store.All(ctx, tx, store.Value[string], `SELECT id FROM automation_job WHERE remove_at < ?
			AND state NOT IN ('queued', 'running')
			ORDER BY remove_at LIMIT ?`, tx.Now, limit)
		for _, id := range gone {
			if err == nil {
				err = remove(ctx, tx, "= ?", id)
			}
		}
		if err != nil {
			return err
		}
		files, err := tx.Exec(ctx, `DELETE FROM automation_file WHERE job_id IN (SELECT job_id FROM automation_file
			WHERE expires_at < ? ORDER BY expires_at LIMIT ?)`, tx.Now, limit)
		n = max(int64(len(gone)), files)
		return err
	})
	return n, err
}

// SaveFile keeps the file of an export until it expires.
func SaveFile(ctx context.Context, tx *store.Tx, j *Record, content string) (err error) {
	defer fault.Wrap(&err, "automation.SaveFile(%s)", j.ID)
	_, err = tx.Exec(ctx, "INSERT INTO automation_file (job_id, content, expires_at) VALUES (?, ?, ?)", j.ID, content,
		j.ExpiresAt)
	return err
}

// File returns the file of an export, or store.ErrNotFound.
func File(ctx context.Context, q store.Q, jobID string) (_ string, err error) {
	defer fault.Wrap(&err, "automation.File(%s)", jobID)
	return store.One(ctx, q, store.Value[string], "SELECT content FROM automation_file WHERE job_id = ?", jobID)
}
