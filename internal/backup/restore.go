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

// Backup is a backup that Open has found to be complete.
type Backup struct {
	Manifest
	from *folder
}

// Open reads the backup at an address, and all its files: one that is damaged is refused. The
// caller closes it.
func Open(ctx context.Context, address string) (*Backup, error) {
	from, err := open(ctx, address)
	if err != nil {
		return nil, err
	}
	b := &Backup{from: from}
	if b.Manifest, err = read(from); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	for _, f := range b.Files {
		if err := from.verify(f); err != nil {
			return nil, errors.Join(err, b.Close())
		}
	}
	return b, nil
}

// Close lets go of the backup.
func (b *Backup) Close() error { return b.from.close() }

// unfinished is the SQLite file while it is restored. It comes first and gets its name
// last: with it, and without that, the folder has a part of an installation.
const unfinished = ".restoring-" + store.CopyName

// Traces are patterns of the files of an installation. Each shows that a data folder has
// one, or a part of one.
var Traces = []string{unfinished + "*", store.CopyName + "*", sessionKey, assets + "/*", clicks + "/*", events + "/*"}

// CheckVacant refuses a data folder that has something of an installation.
func CheckVacant(dataDir string) error {
	for _, pattern := range Traces {
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
// that is vacant where the backup has one; db is nil for SQLite. The database is there for use
// when all is done.
func (b *Backup) Restore(ctx context.Context, dataDir string, db *store.DB) error {
	if err := CheckVacant(dataDir); err != nil {
		return err
	}
	to, err := newFolder(ctx, dataDir)
	if err != nil {
		return err
	}
	defer to.close()
	// What is interrupted from here on is no installation.
	if db != nil {
		err = db.BeginRestore(ctx, b.Schema)
	} else {
		err = b.beginSQLite(to)
	}
	if err != nil {
		return err
	}
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
		return db.Restore(ctx, b.Tables, below{b.from, database})
	}
	return b.endSQLite(ctx, to)
}

// beginSQLite copies the file under another name.
func (b *Backup) beginSQLite(to *folder) error {
	for _, f := range b.Files {
		if f.Path == path.Join(database, store.CopyName) {
			return b.copy(to, f, unfinished)
		}
	}
	return fmt.Errorf("%s is damaged: it names no database", manifestName)
}

// endSQLite gives the file its name when all is done.
func (b *Backup) endSQLite(ctx context.Context, to *folder) error {
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
	source, err := b.from.open(f.Path)
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
		return fmt.Errorf("%w: %s has just changed", errDamaged, f.Path)
	}
	return nil
}
