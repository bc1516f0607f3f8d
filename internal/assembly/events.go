package assembly

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"

	"github.com/waymarkhq/waymark/internal/blob"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/eventstore"
	"github.com/waymarkhq/waymark/internal/eventstore/clickhouse"
	"github.com/waymarkhq/waymark/internal/eventstore/database"
	"github.com/waymarkhq/waymark/internal/eventstore/segments"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/turns"
)

// The kinds of engines that keep events.
const (
	Segments   = "segments"
	Database   = "database"
	ClickHouse = "clickhouse"
)

// EventEngines are all kinds.
var EventEngines = []string{Segments, Database, ClickHouse}

// newInstallation is the engine of a new installation.
const newInstallation = Segments

// engineName is the name of the value of the installation that says which kind of
// engine keeps its events. The address of a ClickHouse server is not part of it: it
// may hold a password.
const engineName = "events_engine"

// EngineSettings say where an installation keeps its events.
type EngineSettings struct {
	// Address is segments, database or a clickhouse:// address; "" is the engine that the
	// installation has, and segments for a new one.
	Address string
	// SegmentStore is where the engine segments keeps its files: "file" for a folder below
	// the data folder, or an s3:// address, as blob.Open has it.
	SegmentStore string
	// SegmentCache is the most bytes of files from S3 that a process keeps in the data
	// folder.
	SegmentCache int64
}

// Kind returns the kind of engine that e asks for, "" for none.
func (e *EngineSettings) Kind() (string, error) {
	switch {
	case e.Address == "" || e.Address == Segments || e.Address == Database:
		return e.Address, nil
	case strings.HasPrefix(e.Address, ClickHouse+"://"):
		return ClickHouse, nil
	}
	return "", errors.New("is none of segments, database and a clickhouse:// address")
}

// Recorded returns the kind of engine that keeps the events of the installation in db,
// "" for an installation that has none yet. What was loaded before engines could be
// chosen is in the main database.
func Recorded(ctx context.Context, db *store.DB) (string, error) {
	kind, err := installed(ctx, db, engineName)
	if err != nil || kind != "" {
		return kind, err
	}
	if found, err := store.Exists(ctx, db, "SELECT 1 FROM event"); err != nil || !found {
		return "", err
	}
	return Database, nil
}

// Choose completes e with the engine of the installation in db, and refuses another
// one, and another segment store. It records nothing.
func (e *EngineSettings) Choose(ctx context.Context, db *store.DB) error {
	asked, err := e.Kind()
	if err != nil {
		return fmt.Errorf("--events %w", err)
	}
	recorded, err := Recorded(ctx, db)
	switch {
	case err != nil:
		return fmt.Errorf("engine of events: %w", err)
	case recorded == "":
		e.Address = cmp.Or(e.Address, newInstallation)
	case asked == recorded:
	case asked != "":
		return fmt.Errorf("the events of this installation are in the engine %s, not in %s: name %[1]s or none, or move "+
			"the events with waymark events copy", recorded, asked)
	case recorded == ClickHouse:
		return errors.New("the events of this installation are in ClickHouse: name its address with --events " +
			"clickhouse://…")
	default:
		e.Address = recorded
	}
	if e.Address == Segments {
		return e.checkStore(ctx, db)
	}
	return nil
}

// settle completes o as Choose does, and records the engine of a new installation once
// it has done its work: a misspelt address would be refused to be corrected.
func (o *EngineOptions) settle(ctx context.Context) error {
	asked := o.EngineSettings
	if err := o.Choose(ctx, o.DB); err != nil {
		return err
	}
	kind, err := o.Kind()
	if err != nil {
		return err
	}
	if err := o.settleStore(ctx, kind); err != nil {
		return err
	}
	recorded, err := installed(ctx, o.DB, engineName)
	if err == nil && recorded == "" {
		if kind == ClickHouse {
			_, err = checkClickHouse(ctx, *o)
		}
		if err == nil {
			recorded, err = o.DB.InstallationValue(ctx, engineName, kind)
		}
	}
	if err == nil && recorded != kind { // another process has just recorded another one
		o.EngineSettings = asked
		err = o.Choose(ctx, o.DB)
	}
	return err
}

// EngineOptions are what an engine is opened with.
type EngineOptions struct {
	EngineSettings
	// DB is the main database, DataDir the data folder.
	DB      *store.DB
	DataDir string
	Log     *slog.Logger
	// Clock is the clock of DB; nil means the clock of the machine.
	Clock *clock.Clock
	// Turns are what reads take; nil means turns of the engine's own.
	Turns *turns.Pool
	// Target tells that the engine is the one that a copy goes to. Any other engine takes
	// events only while it is that of the installation.
	Target bool
}

// OpenEngine opens the engine that o names, whether or not the installation has it. The
// caller ends it with CloseEngine.
func OpenEngine(ctx context.Context, o EngineOptions) (eventstore.Engine, error) {
	kind, err := o.Kind()
	if err != nil {
		return nil, fmt.Errorf("engine of events: %w", err)
	}
	o.Turns = cmp.Or(o.Turns, turnsFor(kind, o.DB))
	guard := o.guard(kind)
	switch kind {
	case Database:
		e := database.Open(o.DB)
		e.Share(o.Turns)
		e.Guard(guard)
		return e, nil
	case Segments:
		files, err := o.openFiles(o.SegmentCache)
		if err != nil {
			return nil, err
		}
		return segments.Open(segments.Options{DB: o.DB, Files: files, Dir: o.DataDir, Turns: o.Turns, Log: o.Log,
			Guard: guard}), nil
	case ClickHouse:
		e, err := clickhouse.Open(o.Address, cmp.Or(o.Clock, &clock.Clock{}))
		if err != nil {
			return nil, err
		}
		e.Share(o.Turns)
		e.Record(o.DB, guard)
		return e, nil
	}
	return nil, fmt.Errorf("this version has no engine %q", kind)
}

// clickHouseReads is how many reads ClickHouse is asked at once: it has processors of
// its own.
const clickHouseReads = 8

// turnsFor returns the turns for the reads of a kind of engine.
func turnsFor(kind string, db *store.DB) *turns.Pool {
	switch kind {
	case Database:
		return turns.New(db.LongReads())
	case ClickHouse:
		return turns.New(clickHouseReads)
	}
	return turns.New(turns.Workers())
}

// loadSize is how many events are loaded at once. It bounds their memory and a transaction,
// for which other writers of SQLite wait: some 8 ms.
func (e *EngineSettings) loadSize() int {
	if kind, _ := e.Kind(); kind == Database { // of which each event is several rows
		return 2048
	}
	return 4096
}

// openFiles opens the segment store.
func (o *EngineOptions) openFiles(cache int64) (blob.Store, error) {
	files, err := blob.Open(cmp.Or(o.SegmentStore, "file"), o.DataDir, blob.Segments(cache))
	if err != nil {
		return nil, fmt.Errorf("--segment-store: %w", err)
	}
	return files, nil
}

// CloseEngine ends what an engine holds besides the main database.
func CloseEngine(e eventstore.Engine) error {
	if c, ok := e.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// WithEngine runs f with the engine of the installation, which o.DB holds.
func WithEngine(ctx context.Context, o EngineOptions, f func(eventstore.Engine) error) error {
	if err := o.Choose(ctx, o.DB); err != nil {
		return err
	}
	e, err := OpenEngine(ctx, o)
	if err != nil {
		return err
	}
	return errors.Join(f(e), CloseEngine(e))
}

// openEvents opens the engine of the installation.
func (i *Installation) openEvents(ctx context.Context) (err error) {
	s := &i.settings
	o := EngineOptions{EngineSettings: s.Engine, DB: s.DB, DataDir: s.DataDir, Log: s.Log, Clock: s.Clock}
	if err := o.settle(ctx); err != nil {
		return err
	}
	kind, err := o.Kind()
	if err != nil {
		return err
	}
	pool := i.Pipeline.Turns
	if kind != Database { // the reads of that engine use the connections of the API's heavy reads
		pool = turnsFor(kind, s.DB)
	}
	s.Engine, o.Turns = o.EngineSettings, pool
	if i.engine, err = OpenEngine(ctx, o); err != nil {
		return fmt.Errorf("open the engine of events: %w", err)
	}
	s.Log.Info("events are kept", "engine", kind)
	s.Events = observe(i.engine, s.Metrics)
	i.turns("waymark_event_reads_", "Reads of events", pool)
	if kind == Segments && s.Metrics != nil {
		s.Metrics.MustRegister(newSegmentMetrics(s.DB))
	}
	return nil
}

// CheckEngine finds out whether the engine of the installation does its work, and tells
// what it has.
func CheckEngine(ctx context.Context, o EngineOptions) (found string, err error) {
	if err := o.Choose(ctx, o.DB); err != nil {
		return "", err
	}
	kind, _ := o.Kind()
	switch kind {
	case Segments:
		found, err = checkSegments(ctx, o)
	case ClickHouse:
		found, err = checkClickHouse(ctx, o)
	default:
		found = kind
	}
	if err != nil {
		return "", err
	}
	left, err := leftBehind(ctx, o.DB, kind)
	return found + left, err
}

// leftBehind tells which other engine has events in the main database: a copy leaves
// them, and what is erased or past its retention stays there. Those of a copy that has
// not ended are for it to go on with.
func leftBehind(ctx context.Context, db *store.DB, kind string) (what string, err error) {
	c, err := keptCopy(ctx, db)
	if err != nil {
		return "", err
	}
	for _, other := range []struct{ kind, table string }{{Database, "event"}, {Segments, "event_segment"}} {
		if other.kind == kind || c != nil && c.To == other.kind {
			continue
		}
		found, err := store.Exists(ctx, db, "SELECT 1 FROM "+other.table)
		if err != nil {
			return "", err
		}
		if found {
			what += fmt.Sprintf("; events that a copy left in the engine %s are still there: delete them with waymark events "+
				"clear --engine %[1]s", other.kind)
		}
	}
	return what, nil
}

// checkClickHouse asks the server.
func checkClickHouse(ctx context.Context, o EngineOptions) (found string, err error) {
	e, err := clickhouse.Open(o.Address, cmp.Or(o.Clock, &clock.Clock{}))
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	began := time.Now()
	version, err := e.Version(ctx)
	if err == nil {
		err = e.Check(ctx)
	}
	return fmt.Sprintf("clickhouse %s, answers in %s", version, time.Since(began).Round(time.Microsecond)), err
}

// checkSegments looks at the segment store and at the manifest.
func checkSegments(ctx context.Context, o EngineOptions) (string, error) {
	if err := o.tryStore(ctx); err != nil {
		return "", err
	}
	s, err := segments.ReadStatus(ctx, o.DB)
	if err != nil {
		return "", err
	}
	found := fmt.Sprintf("segments, %d sealed with %d events in %d MiB, %d young with %d events", s.Sealed.Segments,
		s.Sealed.Events, s.Sealed.Bytes>>20, s.Young.Segments, s.Young.Events)
	if s.Oldest == 0 {
		return found, nil
	}
	age := o.DB.Now().Sub(s.Oldest)
	if found += ", the oldest of them " + age.Round(time.Second).String() + " old"; age > youngFor {
		return "", errors.New(found + ": is an executor running?")
	}
	return found, nil
}

// youngFor is how old a young segment gets where an executor runs: its UTC day, and
// time to seal it.
const youngFor = 26 * time.Hour
