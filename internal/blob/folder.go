package blob

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"
)

// folder is a Store of files.
type folder struct {
	path string
	kind Kind
	// fsync is (*os.File).Sync, but in tests.
	fsync func(*os.File) error
	// tidied is when the folder was last looked through for what a crash left, in
	// nanoseconds since 1970.
	tidied atomic.Int64
}

const (
	unfinished = ".storing-"
	// unfinishedFor is how old an unfinished file must be to have been left by
	// a crash.
	unfinishedFor = time.Hour
)

func openFolder(path string, kind Kind, fsync func(*os.File) error) (Store, error) {
	f := &folder{path: path, kind: kind, fsync: fsync}
	err := os.MkdirAll(path, 0o700)
	if err == nil {
		err = f.syncFolder(filepath.Dir(path)) // the folder is durable as well
	}
	if err != nil {
		return nil, away("make", path, err)
	}
	return f, f.tidyUp(context.Background())
}

// tidyUp removes what a crash left, now and then: Names does that.
func (f *folder) tidyUp(ctx context.Context) error {
	last, now := f.tidied.Load(), time.Now().UnixNano()
	if now-last < unfinishedFor.Nanoseconds() || !f.tidied.CompareAndSwap(last, now) {
		return nil
	}
	return f.Names(ctx, func(string) error { return nil })
}

// Put implements Store. The file gets its name when all of it is on the disk.
func (f *folder) Put(ctx context.Context, name, _ string, r io.Reader, size int64) error {
	if err := f.kind.checkNew(name, size); err != nil {
		return err
	}
	if err := f.tidyUp(ctx); err != nil {
		return err
	}
	file, err := os.CreateTemp(f.path, unfinished)
	if err != nil {
		return away("store", name, err)
	}
	_, err = io.CopyN(file, r, size)
	if err = errors.Join(err, f.fsync(file), file.Close()); err == nil {
		err = os.Rename(file.Name(), filepath.Join(f.path, name))
	}
	if err != nil {
		return away("store", name, errors.Join(err, os.Remove(file.Name())))
	}
	return away("store", name, f.syncFolder(f.path))
}

// Open implements Store.
func (f *folder) Open(_ context.Context, name string) (Object, error) {
	if err := f.kind.checkName(name); err != nil {
		return nil, err
	}
	file, err := os.Open(filepath.Join(f.path, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNotFound
	}
	if err != nil {
		return nil, away("read", name, err)
	}
	return file, nil
}

// Delete implements Store.
func (f *folder) Delete(_ context.Context, name string) error {
	if err := f.kind.checkName(name); err != nil {
		return err
	}
	err := os.Remove(filepath.Join(f.path, name))
	if errors.Is(err, fs.ErrNotExist) {
		err = nil // but perhaps not durably
	}
	return away("remove", name, errors.Join(err, f.syncFolder(f.path)))
}

// Names implements Store. It also removes what a crash left half written.
func (f *folder) Names(ctx context.Context, each func(string) error) error {
	entries, err := os.ReadDir(f.path)
	if err != nil {
		return away("list", f.path, err)
	}
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), unfinished) {
			err = f.tidy(entry)
		} else if f.kind.Name.MatchString(entry.Name()) {
			err = each(entry.Name())
		}
		if err = errors.Join(err, ctx.Err()); err != nil {
			return err
		}
	}
	return nil
}

// tidy removes an unfinished file that nobody writes any more.
func (f *folder) tidy(entry fs.DirEntry) error {
	info, err := entry.Info()
	if err == nil && time.Since(info.ModTime()) > unfinishedFor {
		err = os.Remove(filepath.Join(f.path, entry.Name()))
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = nil // it was finished or removed meanwhile
	}
	return away("remove", entry.Name(), err)
}

// Check implements Store.
func (f *folder) Check(ctx context.Context) error { return try(ctx, f, &f.kind) }

// syncFolder makes a folder's own entries durable.
func (f *folder) syncFolder(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.fsync(dir), dir.Close())
}
