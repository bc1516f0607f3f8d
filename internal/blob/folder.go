package blob

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// folder is a Store of files.
type folder struct{ path string }

const (
	unfinished = ".storing-"
	// unfinishedFor is how old an unfinished file must be to have been left by
	// a crash.
	unfinishedFor = time.Hour
)

func openFolder(path string) (*folder, error) {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, fmt.Errorf("asset store: %w", err)
	}
	f := &folder{path}
	return f, f.tidy()
}

// tidy removes what a crash left half written.
func (f *folder) tidy() error {
	entries, err := os.ReadDir(f.path)
	if err != nil {
		return fmt.Errorf("asset store: %w", err)
	}
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil || !strings.HasPrefix(entry.Name(), unfinished) || time.Since(info.ModTime()) < unfinishedFor {
			continue
		}
		if err := os.Remove(filepath.Join(f.path, entry.Name())); err != nil {
			return fmt.Errorf("asset store: %w", err)
		}
	}
	return nil
}

// Put implements Store. The file gets its name when all of it is on the disk.
func (f *folder) Put(_ context.Context, name, _ string, r io.Reader, size int64) (err error) {
	if err := checkName(name); err != nil {
		return err
	}
	file, err := os.CreateTemp(f.path, unfinished)
	if err != nil {
		return fmt.Errorf("store %s: %w", name, err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("store %s: %w", name, err), os.Remove(file.Name()))
		}
	}()
	n, err := io.Copy(file, r)
	if err == nil && n != size {
		err = io.ErrUnexpectedEOF
	}
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	if err = os.Rename(file.Name(), filepath.Join(f.path, name)); err != nil {
		return err
	}
	return f.sync()
}

// sync makes the folder's own entries durable.
func (f *folder) sync() error {
	dir, err := os.Open(f.path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// Open implements Store.
func (f *folder) Open(_ context.Context, name string) (io.ReadSeekCloser, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	file, err := os.Open(filepath.Join(f.path, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNotFound
	}
	if err != nil {
		return nil, err
	}
	return file, nil
}

// Delete implements Store.
func (f *folder) Delete(_ context.Context, name string) error {
	if err := checkName(name); err != nil {
		return err
	}
	err := os.Remove(filepath.Join(f.path, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return errors.Join(err, f.sync())
}

// Names implements Store.
func (f *folder) Names(_ context.Context, each func(string) error) error {
	entries, err := os.ReadDir(f.path)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if nameText.MatchString(entry.Name()) {
			if err := each(entry.Name()); err != nil {
				return err
			}
		}
	}
	return nil
}

// Check implements Store.
func (f *folder) Check(context.Context) error {
	file, err := os.CreateTemp(f.path, unfinished)
	if err != nil {
		return err
	}
	return errors.Join(file.Close(), os.Remove(file.Name()))
}
