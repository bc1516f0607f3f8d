package segments

import (
	"context"
	"log/slog"

	"github.com/waymarkhq/waymark/internal/blob"
	"github.com/waymarkhq/waymark/internal/eventstore"
	"github.com/waymarkhq/waymark/internal/eventstore/segments/scan"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/turns"
)

// Options are what an Engine is made of.
type Options struct {
	// DB is the main database, which must be migrated.
	DB *store.DB
	// Files keeps the sealed segments: blob.Open with blob.Segments.
	Files blob.Store
	// Dir is where files are written before they are stored.
	Dir   string
	Turns *turns.Pool
	Log   *slog.Logger
	// Guard is asked by each Append.
	Guard eventstore.Guard
}

// maxComposers is how many composers wait to be used again: one for the loader, and one
// for merging.
const maxComposers = 2

// Engine is the eventstore.Engine of this package. Several processes may each have one
// on the same database and store.
type Engine struct {
	Options
	numbers *eventstore.Numbers
	links   *scan.Links
	open    *openFiles
	// composers are those that were used and wait to be used again.
	composers chan *composer
	avoided   avoided
	// storing waits after a job that could not make its files, collecting after a file
	// that could not be deleted.
	storing, collecting backoff
}

var _ eventstore.Engine = (*Engine)(nil)

// Open returns the Engine with some options, which is to be closed. It asks for nothing yet.
func Open(o Options) *Engine {
	return &Engine{
		Options: o, numbers: eventstore.NewNumbers(), links: scan.NewLinks(o.DB.Long()), open: newOpenFiles(o.DB.Long(), o.Files, retainEvery),
		composers: make(chan *composer, maxComposers),
	}
}

// Close closes the files that e has open. Nothing may use e any more.
func (e *Engine) Close() error {
	e.open.close()
	return nil
}

// Count implements eventstore.Engine.
func (e *Engine) Count(ctx context.Context, f eventstore.Filter, by ...eventstore.Grouping) (
	rows [][]eventstore.Row, err error) {
	defer fault.Wrap(&err, "segments.Count(app %s, %s to %s)", f.AppID, f.Start, f.End)
	err = e.ask(ctx, f, func(ctx context.Context, t *turns.Turn, v *view) error {
		rows, err = scan.Count(ctx, t, f, by, e.links, v.groups())
		return err
	})
	return rows, err
}

// List implements eventstore.Engine.
func (e *Engine) List(ctx context.Context, f eventstore.Filter, before *eventstore.Place, limit int) (
	events []eventstore.Listed, err error) {
	defer fault.Wrap(&err, "segments.List(app %s, %s to %s)", f.AppID, f.Start, f.End)
	err = e.ask(ctx, f, func(ctx context.Context, t *turns.Turn, v *view) error {
		events, err = scan.List(ctx, t, f, before, limit, e.links, v.groups())
		return err
	})
	return events, err
}

// ask answers a question from the segments with events of its period.
func (e *Engine) ask(ctx context.Context, f eventstore.Filter,
	answer func(context.Context, *turns.Turn, *view) error) error {
	return e.Turns.Do(ctx, f.Account, func(ctx context.Context, t *turns.Turn) error {
		v, err := e.view(ctx, f.Start, f.End)
		if err != nil {
			return err
		}
		defer v.close()
		return answer(ctx, t, v)
	})
}
