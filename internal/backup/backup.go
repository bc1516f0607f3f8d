package backup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"sync"
	"time"

	"github.com/waymarkhq/waymark/internal/eventstore/segments"
	"github.com/waymarkhq/waymark/internal/store"
)

// The folders and the file that the data folder has besides the database.
const (
	assets     = "assets"
	clicks     = "clicks"
	events     = "events"
	sessionKey = "session-key.json"
	// database is the folder of the database's copy.
	database = "database"
)

const (
	// holdFor is for how long files of events are held; a backup that runs holds them again
	// every holdEvery.
	holdFor   = 10 * time.Minute
	holdEvery = time.Minute
)

// Source is the installation that is copied.
type Source struct {
	DB      *store.DB
	DataDir string
	// Version is the program's.
	Version string
	// Assets and Events tell that images and the files of events are in the data folder.
	Assets, Events bool
}

// Write copies an installation to an address, a folder or s3://…, at which nothing may be yet,
// and returns what it has copied. The processes of the installation may go on.
func Write(ctx context.Context, s Source, address string) (m Manifest, err error) {
	to, err := begin(ctx, address)
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, to.close()) }()
	from, err := os.OpenRoot(s.DataDir)
	if errors.Is(err, fs.ErrNotExist) { // with PostgreSQL there may be none here
		from, err = to.root, nil
	}
	if err != nil {
		return m, err
	}
	defer from.Close()
	release, err := s.hold(ctx)
	if err != nil {
		return m, err
	}
	defer release()
	growing := []string{clicks}
	if s.Assets {
		growing = append(growing, assets)
	}
	m = Manifest{Format: format, Version: s.Version, TakenAt: time.Now().UTC().Truncate(time.Second),
		Engine: s.DB.Dialect().Name}
	if err := to.copyNew(from, growing...); err != nil {
		return m, err
	}
	names, err := s.copyDatabase(ctx, to, &m)
	if err != nil {
		return m, err
	}
	if err := to.copyNew(from, growing...); err != nil {
		return m, err
	}
	if s.Assets && m.images > 0 && !to.hasBelow(assets) {
		return m, fmt.Errorf("the database names images, but %s has none: name the --asset-store of the installation",
			filepath.Join(s.DataDir, assets))
	}
	for _, name := range names {
		if err := to.copyNamed(from, name); err != nil {
			return m, fmt.Errorf("%s, which the database names: %w", name, err)
		}
	}
	if _, err := to.copy(from, sessionKey); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return m, err
	}
	m.Files, m.Linked = to.list(), to.linked
	if err := to.sync(); err != nil {
		return m, err
	}
	return m, m.write(to)
}

// makeEmpty makes a folder, durably with the folders that it is in, and refuses one that has
// something.
func makeEmpty(dir string) error {
	dir = filepath.Clean(dir)
	if _, err := os.Stat(filepath.Dir(dir)); errors.Is(err, fs.ErrNotExist) {
		if err := makeEmpty(filepath.Dir(dir)); err != nil {
			return err
		}
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	if len(entries) > 0 {
		return fmt.Errorf("the folder %s is not empty: name a new one", dir)
	}
	parent, err := os.OpenRoot(filepath.Dir(dir))
	if err != nil {
		return err
	}
	return errors.Join(syncFolder(parent, "."), parent.Close())
}

// copyDatabase copies the database, notes what it is in the manifest, and returns the
// paths of the files of events that it names.
func (s *Source) copyDatabase(ctx context.Context, to *folder, m *Manifest) (names []string, err error) {
	if err := to.root.Mkdir(database, 0o700); err != nil {
		return nil, err
	}
	m.Tables, err = s.DB.Backup(ctx, below{to, database}, func(q store.Q) (err error) {
		for name, into := range map[string]*string{"installation_id": &m.Installation, store.EpochName: &m.Epoch} {
			if *into, err = store.One(ctx, q, store.Value[string], "SELECT value FROM installation WHERE name = ?",
				name); err != nil && !errors.Is(err, store.ErrNotFound) {
				return err
			}
		}
		if m.Schema, err = store.One(ctx, q, store.Value[int64],
			"SELECT MAX(version_id) FROM goose_db_version WHERE is_applied"); err != nil {
			return err
		}
		if m.images, err = store.One(ctx, q, store.Value[int64],
			"SELECT COUNT(*) FROM (SELECT 1 FROM asset WHERE state = 'active' LIMIT 1) a"); err != nil {
			return err
		}
		if !s.Events {
			return nil
		}
		files, err := segments.Files(ctx, q)
		for _, name := range files {
			names = append(names, path.Join(events, name))
		}
		return err
	})
	if err == nil && m.Engine == "sqlite" {
		err = to.add(path.Join(database, store.CopyName))
	}
	return names, err
}

// hold keeps files of events from being deleted until release is called.
func (s *Source) hold(ctx context.Context) (release func(), err error) {
	hold := func(ctx context.Context) error { return segments.Hold(ctx, s.DB, s.DB.Now().Add(holdFor)) }
	if err := hold(ctx); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	var holding sync.WaitGroup
	holding.Go(func() {
		ticker := time.NewTicker(holdEvery)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
			hold(ctx) // what fails is made up by the next ones
		}
	})
	return func() { // another backup may need the files, so they stay until their time is over
		cancel()
		holding.Wait()
	}, nil
}
