package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/waymarkhq/waymark/internal/backup"
	"github.com/waymarkhq/waymark/internal/blob"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/platform"
	"github.com/waymarkhq/waymark/internal/store"
)

// storage are the flags of every command that opens an installation.
type storage struct {
	DataDir  string `default:"./data" help:"Folder of the SQLite file, the click log and keys; default: ${default}." placeholder:"DIR"`
	Database string `default:"sqlite" help:"sqlite (in the data folder) or a postgres:// address; default: ${default}." placeholder:"ADDRESS"`
}

// prepare makes the data folder, readable by its owner only, and finds out
// whether it can be written.
func (s *storage) prepare() error {
	if err := s.checkWhole(); err != nil {
		return err
	}
	if err := os.MkdirAll(s.DataDir, 0o700); err != nil {
		return fmt.Errorf("data folder %s cannot be written: %w", s.DataDir, cause(err))
	}
	probe, err := os.CreateTemp(s.DataDir, ".writable-")
	if err != nil {
		return fmt.Errorf("data folder %s cannot be written: %w", s.DataDir, cause(err))
	}
	defer os.Remove(probe.Name())
	// A full disk shows when something is written, not when a file is made.
	_, err = probe.Write(make([]byte, 64<<10))
	if err := errors.Join(err, probe.Sync(), probe.Close()); err != nil {
		return fmt.Errorf("data folder %s cannot be written: %w", s.DataDir, cause(err))
	}
	return nil
}

// checkWhole refuses a folder of an installation whose SQLite file is missing: an empty
// installation in its place would hide the loss.
func (s *storage) checkWhole() error {
	if _, err := os.Stat(s.file()); !s.embedded() || !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := s.checkMoved(); err != nil {
		return err
	}
	// Folders may have been made beforehand, so that they must have something in them.
	for _, pattern := range backup.Traces {
		left, err := fs.Glob(os.DirFS(s.DataDir), pattern)
		if err != nil {
			return fmt.Errorf("data folder %s: %w", s.DataDir, err)
		}
		if len(left) > 0 {
			return fmt.Errorf("data folder %s has %s, but no waymark.db. If a restore was interrupted, delete the folder and "+
				"run waymark restore again. Otherwise name the --database of the installation, or another --data-dir for "+
				"a new one",
				s.DataDir, left[0])
		}
	}
	return nil
}

// leftoverAfter is how old a temporary file must be to have been left by a crash.
const leftoverAfter = time.Hour

// tidy removes what a crash left half written in the data folder.
func (s *storage) tidy() error {
	for _, pattern := range []string{".upload-*", ".storing-*", ".writable-*"} {
		names, err := filepath.Glob(filepath.Join(s.DataDir, pattern))
		if err != nil {
			return fmt.Errorf("data folder %s: %w", s.DataDir, err)
		}
		for _, name := range names {
			if info, err := os.Stat(name); err != nil || time.Since(info.ModTime()) < leftoverAfter {
				continue
			}
			if err := os.Remove(name); err != nil {
				return fmt.Errorf("data folder: %w", err)
			}
		}
	}
	return nil
}

// cause takes the file name out of an error that already has one.
func cause(err error) error {
	var path *os.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}

// embedded reports whether the database is the SQLite file in the data folder.
func (s *storage) embedded() bool { return s.Database == "sqlite" }

func (s *storage) file() string { return filepath.Join(s.DataDir, "waymark.db") }

// open opens the database.
func (s *storage) open(ctx context.Context) (*store.DB, error) {
	address := s.Database
	if s.embedded() {
		address = "sqlite:" + s.file()
	}
	return store.Open(ctx, address, &clock.Clock{})
}

// existing refuses a data folder without a database, or one that cannot be
// written: a command that looks at an installation must not make one where the
// folder's name is misspelt. With PostgreSQL there may be no folder yet.
func (s *storage) existing() error {
	if err := s.find(); err != nil || !s.embedded() {
		return err
	}
	return s.prepare()
}

// find refuses a data folder without a database.
func (s *storage) find() error {
	if !s.embedded() {
		return nil
	}
	_, err := os.Stat(s.file())
	if errors.Is(err, fs.ErrNotExist) {
		if err := s.checkMoved(); err != nil {
			return err
		}
		return fmt.Errorf("there is no installation in %s: waymark serve or waymark migrate makes one", s.DataDir)
	}
	if err != nil {
		return fmt.Errorf("data folder %s: %w", s.DataDir, cause(err))
	}
	return nil
}

// with opens an installation that has this program's schema, for a command that
// ends by itself.
func (s *storage) with(ctx context.Context, f func(*store.DB) error) error {
	if err := s.existing(); err != nil {
		return err
	}
	db, err := s.open(ctx)
	if err != nil {
		return err
	}
	if err = usable(ctx, db); err == nil {
		err = f(db)
	}
	return errors.Join(err, db.Close())
}

// usable refuses a database that has not this program's schema, or not all of its rows.
func usable(ctx context.Context, db *store.DB) error {
	if err := db.CheckSchema(ctx); err != nil {
		return err
	}
	return db.CheckRestored(ctx)
}

// lockFile is what lock holds.
func (s *storage) lockFile() string { return filepath.Join(s.DataDir, "waymark.lock") }

// checkUnused refuses a SQLite data folder that another process serves. It
// makes nothing.
func (s *storage) checkUnused() error {
	if _, err := os.Stat(s.lockFile()); !s.embedded() || err != nil {
		return nil
	}
	release, err := s.lock()
	if err == nil {
		release()
	}
	return err
}

// lock makes this process the only one that serves a SQLite data folder:
// rate windows and receipts in flight are in its memory.
func (s *storage) lock() (release func(), err error) {
	f, err := os.OpenFile(s.lockFile(), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock data folder: %w", err)
	}
	if err := platform.Lock(f); err != nil {
		f.Close()
		if errors.Is(err, platform.ErrLocked) {
			return nil, fmt.Errorf("data folder %s is in use by another waymark serve; stop it, choose another "+
				"--data-dir, or use PostgreSQL for several processes", s.DataDir)
		}
		return nil, fmt.Errorf("lock data folder %s: %w", s.DataDir, err)
	}
	return func() { f.Close() }, nil
}

// images is the flag of the commands that open the asset store.
type images struct {
	AssetStore string `default:"file" help:"Where uploaded images are kept: file (in the data folder) or s3://bucket/prefix?endpoint=URL&region=NAME; default: ${default}." placeholder:"ADDRESS"`
}

// check refuses an address that is none, before the data folder is made.
func (i *images) check() error {
	if i.AssetStore == "file" {
		return nil
	}
	_, err := i.openBlobs("")
	return err
}

func (i *images) openBlobs(dataDir string) (blob.Store, error) {
	blobs, err := blob.Open(i.AssetStore, dataDir, blob.Images)
	if err != nil {
		return nil, fmt.Errorf("--asset-store: %w", err)
	}
	return blobs, nil
}
