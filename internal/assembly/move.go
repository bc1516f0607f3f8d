package assembly

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"github.com/waymarkhq/waymark/internal/clickcount"
	"github.com/waymarkhq/waymark/internal/clicklog"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/eventstore"
	"github.com/waymarkhq/waymark/internal/ids"
	"github.com/waymarkhq/waymark/internal/loaded"
	"github.com/waymarkhq/waymark/internal/store"
)

// copyName is the name of the value of the installation that says how far a copy of its
// events to another engine is.
const copyName = "events_copy"

// copying is that value.
type copying struct {
	// To is the kind of engine that the events are copied to.
	To string `json:"to"`
	eventstore.Copying
}

// CopyEvents copies all events of an installation to another engine and then makes that
// the engine of the installation. It calls progress after each batch with the number of
// events that were copied so far, by earlier runs too, and of all events. It goes on
// where one that was ended had come to. Nothing may serve the installation meanwhile.
func CopyEvents(ctx context.Context, from, to EngineOptions, progress func(copied, all int64)) (err error) {
	if err := from.Choose(ctx, from.DB); err != nil {
		return err
	}
	kind, err := to.Kind()
	if err != nil {
		return fmt.Errorf("--to %w", err)
	}
	old, _ := from.Kind()
	if kind == old {
		return fmt.Errorf("the events of this installation are in the engine %s already", kind)
	}
	if err := to.settleStore(ctx, kind); err != nil {
		return err
	}
	source, err := OpenEngine(ctx, from)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, CloseEngine(source)) }()
	to.Target = true
	target, err := OpenEngine(ctx, to)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, CloseEngine(target)) }()
	if err := LoadClicks(ctx, from, source); err != nil {
		return err
	}
	before, err := loaded.Events.All(ctx, from.DB)
	if err != nil {
		return err
	}
	all, err := eventstore.Totals(ctx, source, from.DB.Now())
	if err != nil {
		return err
	}
	c, err := beginCopy(ctx, to.DB, kind, target)
	if err != nil {
		return err
	}
	kept := func(ctx context.Context, now eventstore.Copying) error {
		progress(now.Events, sum(all))
		return c.keep(ctx, to.DB, now)
	}
	if err := running(ctx, target, func() error { return eventstore.Copy(ctx, source, target, c.Copying, kept) }); err != nil {
		return err
	}
	if err := compare(ctx, all, kind, target, to.DB.Now()); err != nil {
		return err
	}
	// A server beside the copy may have loaded events, or deleted some.
	if err := compare(ctx, all, old, source, from.DB.Now()); err != nil {
		return err
	}
	return c.finish(ctx, to.DB, before)
}

// finish makes the engine of the copy that of the installation, unless logs were loaded
// further than they were at its beginning. An Append reads the engine of the installation
// and moves a position, in a serializable transaction like this one: of the two, one
// comes first and the other one sees it.
func (c *copying) finish(ctx context.Context, db *store.DB, before map[string]loaded.Position) error {
	return db.InTx(ctx, func(tx *store.Tx) error {
		now, err := loaded.Events.All(ctx, tx)
		if err != nil {
			return err
		}
		for log, position := range now {
			if known, ok := before[log]; log != c.ID && (!ok || known != position) {
				return fmt.Errorf("events of the click log %s were loaded during the copy: %s", log, copyAgain)
			}
		}
		return errors.Join(store.SetInstallationValue(ctx, tx, engineName, c.To),
			store.SetInstallationValue(ctx, tx, copyName, ""))
	})
}

// copyAgain says what to do after a copy that is not the whole.
const copyAgain = "end all processes of waymark serve, delete the copy with waymark events clear, and copy again"

// guard refuses events that belong into another engine since a copy has ended, for an
// engine of a kind.
func (o *EngineOptions) guard(kind string) eventstore.Guard {
	if o.Target {
		return nil
	}
	return func(ctx context.Context, q store.Q) error {
		now, err := installed(ctx, q, engineName)
		if err == nil && now != "" && now != kind {
			err = fmt.Errorf("the events of this installation are in the engine %s now, and no longer in %s: restart this "+
				"process, which then loads them there", now, kind)
		}
		return err
	}
}

// running runs f while the engine does its work in the background.
func running(ctx context.Context, e eventstore.Engine, f func() error) error {
	ctx, cancel := context.WithCancel(ctx)
	var background sync.WaitGroup
	background.Go(func() { e.Run(ctx) })
	defer func() { cancel(); background.Wait() }()
	return f()
}

// beginCopy returns the state of the copy to an engine of a kind: that of one that was
// ended, or a new one, for which the engine must be empty.
func beginCopy(ctx context.Context, db *store.DB, kind string, target eventstore.Engine) (*copying, error) {
	c, err := keptCopy(ctx, db)
	if err != nil || c != nil && c.To == kind {
		return c, err
	}
	there, err := target.Read(ctx, "", nil, 1)
	if err != nil {
		return nil, err
	}
	if len(there) > 0 {
		return nil, fmt.Errorf("the engine %s has events, which no copy under way has brought there: delete them with "+
			"waymark events clear, then copy", kind)
	}
	c = &copying{To: kind, Copying: eventstore.Copying{ID: "copy-" + ids.New()}}
	return c, c.keep(ctx, db, c.Copying)
}

// keptCopy returns the state of the copy that was ended, nil for none.
func keptCopy(ctx context.Context, db *store.DB) (*copying, error) {
	text, err := installed(ctx, db, copyName)
	if err != nil || text == "" {
		return nil, err
	}
	c := &copying{}
	return c, json.Unmarshal([]byte(text), c)
}

func (c *copying) keep(ctx context.Context, db *store.DB, now eventstore.Copying) error {
	text, err := json.Marshal(copying{c.To, now})
	if err != nil {
		return err
	}
	return store.SetInstallationValue(ctx, db, copyName, string(text))
}

// compare requires that an engine has the number of events of each app that the other
// one had before the copy.
func compare(ctx context.Context, had map[string]int64, kind string, target eventstore.Engine,
	now clock.Instant) error {
	has, err := eventstore.Totals(ctx, target, now)
	if err != nil {
		return err
	}
	for app := range had {
		if has[app] != had[app] {
			return fmt.Errorf("app %s had %d events before the copy, and the engine %s has %d after it: were events loaded "+
				"or deleted meanwhile? If so, %s", app, had[app], kind, has[app], copyAgain)
		}
	}
	for app := range has {
		if _, known := had[app]; !known {
			return fmt.Errorf("app %s had no events before the copy, and the engine %s has %d after it: %s", app, kind,
				has[app], copyAgain)
		}
	}
	return nil
}

func sum(totals map[string]int64) (all int64) {
	for _, n := range totals {
		all += n
	}
	return all
}

// ClearEvents deletes all events of an engine that is not the one of the installation,
// such as those that a copy left there. It calls progress with the number of events
// that were deleted so far. Files of segments go when no reader can have them any more,
// for which it waits: nobody else deletes files of an engine that no process has. The
// segment store of the next copy may then be another one.
func ClearEvents(ctx context.Context, o EngineOptions, progress func(deleted int64)) (err error) {
	kind, err := o.Kind()
	if err != nil {
		return fmt.Errorf("--engine %w", err)
	}
	switch recorded, err := Recorded(ctx, o.DB); {
	case err != nil:
		return err
	case recorded == "" || recorded == kind:
		return fmt.Errorf("%s is the engine of this installation: its events are those that analytics shows", kind)
	}
	if kind == Segments {
		if err := o.checkStore(ctx, o.DB); err != nil {
			return err
		}
	}
	engine, err := OpenEngine(ctx, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, CloseEngine(engine)) }()
	const limit = 10_000
	for deleted := int64(0); ; {
		n, err := engine.Sweep(ctx, eventstore.LastInstant, limit)
		if err != nil {
			return err
		}
		deleted += n
		progress(deleted)
		if n < limit {
			break
		}
	}
	if c, err := keptCopy(ctx, o.DB); err != nil {
		return err
	} else if c != nil && c.To == kind {
		if err := store.SetInstallationValue(ctx, o.DB, copyName, ""); err != nil {
			return err
		}
	}
	if kind != Segments {
		return nil
	}
	if err := running(ctx, engine, func() error { return awaitNoGarbage(ctx, o.DB) }); err != nil {
		return err
	}
	return store.SetInstallationValue(ctx, o.DB, storeName, "")
}

// FilesToDelete reports whether there are files in the segment store that an executor is
// to delete.
func FilesToDelete(ctx context.Context, q store.Q) (bool, error) {
	return store.Exists(ctx, q, "SELECT 1 FROM event_garbage")
}

// awaitNoGarbage waits until no file of the segment store is to be deleted.
func awaitNoGarbage(ctx context.Context, db *store.DB) error {
	for {
		if left, err := FilesToDelete(ctx, db); err != nil || !left {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Second):
		}
	}
}

// LoadClicks moves to an engine what processes that have ended left in the click log.
func LoadClicks(ctx context.Context, o EngineOptions, e eventstore.Engine) (err error) {
	clicks, err := clicklog.Open(filepath.Join(o.DataDir, "clicks"), o.Log)
	if err != nil {
		return fmt.Errorf("open the click log: %w", err)
	}
	defer func() { err = errors.Join(err, clicks.Close()) }()
	counter := clickcount.New(o.DB, clicks.Inherited, o.Log)
	loader := eventstore.NewLoader(clicks, e.Append, counter.Count, o.loadSize(), o.Log)
	for {
		if moved, err := loader.Move(ctx); err != nil || moved == 0 {
			return err
		}
	}
}
