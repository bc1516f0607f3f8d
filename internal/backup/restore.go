package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/store"
)

// Backup is a folder that Open has found to be complete.
type Backup struct {
	Manifest
	from *folder
}

// Open reads a backup, and all its files: one that is damaged is refused. The caller
// closes it.
func Open(ctx context.Context, dir string) (*Backup, error) {
	from, err := newFolder(ctx, dir)
	if err != nil {
		return nil, err
	}
	b := &Backup{from: from}
	if b.Manifest, err = read(from.root); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	for _, f := range b.Files {
		if err := from.verify(f); err != nil {
			return nil, errors.Join(err, b.Close())
		}
	}
	return b, nil
}

// Close lets go of the folder.
func (b *Backup) Close() error { return b.from.root.Close() }

// CheckVacant refuses a data folder that has something of an installation.
func CheckVacant(dataDir string) error {
	for _, pattern := range []string{"waymark.db*", sessionKey, assets + "/*", clicks + "/*", events + "/*"} {
		left, err := fs.Glob(os.DirFS(dataDir), pattern)
		if err != nil {
			return err
		}
		if len(left) > 0 {
			return fmt.Errorf("data folder %s has %s: a restore overwrites nothing, so name a --data-dir that is empty "+
				"or not there", dataDir, left[0])
		}
	}
	return nil
}

// Restore makes an installation of a backup: in a data folder, and in a PostgreSQL database
// that is vacant where the backup has one; db is nil for SQLite. The database comes last:
// without it the folder is no installation.
func (b *Backup) Restore(ctx context.Context, dataDir string, db *store.DB) error {
	if err := CheckVacant(dataDir); err != nil {
		return err
	}
	if db != nil {
		if err := db.CheckVacant(ctx, b.Schema); err != nil {
			return err
		}
	}
	to, err := newFolder(ctx, dataDir)
	if err != nil {
		return err
	}
	defer to.root.Close()
	for _, f := range b.Files {
		if path.Dir(f.Path) == database {
			continue
		}
		if err := b.copy(to, f, f.Path); err != nil {
			return err
		}
	}
	if err := to.sync(); err != nil {
		return err
	}
	if db != nil {
		return db.Restore(ctx, b.Schema, b.Tables, below{b.from, database})
	}
	return b.restoreSQLite(ctx, to)
}

// restoreSQLite gives the file its name when all is done.
func (b *Backup) restoreSQLite(ctx context.Context, to *folder) error {
	const unfinished = ".restoring-" + store.CopyName
	for _, f := range b.Files {
		if f.Path == path.Join(database, store.CopyName) {
			if err := b.copy(to, f, unfinished); err != nil {
				return err
			}
		}
	}
	db, err := store.Open(ctx, "sqlite:"+filepath.Join(to.root.Name(), unfinished), &clock.Clock{})
	if err != nil {
		return err
	}
	if err := errors.Join(store.Restored(ctx, db), db.Close()); err != nil {
		return err
	}
	if err := to.add(unfinished); err != nil { // bring it to the disk
		return err
	}
	if err := to.root.Rename(unfinished, store.CopyName); err != nil {
		return err
	}
	return syncFolder(to.root, ".")
}

// copy copies a file of the backup, which must still be the one that was verified.
func (b *Backup) copy(to *folder, f File, name string) error {
	source, err := b.from.root.Open(f.Path)
	if err != nil {
		return err
	}
	defer source.Close()
	w, err := to.create(name)
	if err != nil {
		return err
	}
	_, err = io.Copy(w, source)
	if err = errors.Join(err, w.Close()); err != nil {
		return err
	}
	if got := to.files[name]; got.Bytes != f.Bytes || got.SHA256 != f.SHA256 {
		return fmt.Errorf("the backup is damaged: %s has just changed", f.Path)
	}
	return nil
}
