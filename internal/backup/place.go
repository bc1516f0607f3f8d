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
	"strings"
	"time"

	"github.com/waymarkhq/waymark/internal/blob"
)

// inBucket reports whether a backup is, or shall be, in S3.
func inBucket(address string) bool { return strings.HasPrefix(address, "s3://") }

// CheckAddress refuses what is no address of a backup, before anything is done.
func CheckAddress(address string) error {
	if !inBucket(address) {
		return nil
	}
	_, err := blob.Open(address, "", blob.Backups)
	return err
}

// open opens the backup at an address, a folder or s3://…. The caller closes it.
func open(ctx context.Context, address string) (*folder, error) {
	if !inBucket(address) {
		return newFolder(ctx, address)
	}
	if err := removeLeft(os.TempDir(), time.Now()); err != nil {
		return nil, err
	}
	temporary, err := os.MkdirTemp("", temporaryName)
	if err != nil {
		return nil, err
	}
	f, err := newFolder(ctx, temporary)
	if err != nil {
		return nil, errors.Join(err, os.Remove(temporary))
	}
	if f.bucket, err = blob.Open(address, temporary, blob.Backups); err != nil {
		return nil, errors.Join(err, f.close(), os.RemoveAll(temporary))
	}
	return f, nil
}

const (
	// temporaryName begins the name of a folder with what goes to a bucket or comes from it.
	temporaryName = "waymark-backup-"
	// leftFor is how long such a folder may be in use. One that is older was left by a process that was killed.
	leftFor = 2 * 24 * time.Hour
)

// removeLeft removes folders that were left: each has a copy of a database.
func removeLeft(in string, now time.Time) error {
	entries, err := os.ReadDir(in)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if !entry.IsDir() || !strings.HasPrefix(entry.Name(), temporaryName) {
			continue
		}
		info, err := entry.Info()
		if errors.Is(err, fs.ErrNotExist) || err == nil && now.Sub(info.ModTime()) < leftFor {
			continue
		}
		if err == nil {
			err = os.RemoveAll(filepath.Join(in, entry.Name()))
		}
		if err != nil && !errors.Is(err, fs.ErrPermission) { // the folder may be somebody else's
			return fmt.Errorf("remove what an earlier backup left: %w", err)
		}
	}
	return nil
}

// begin opens the place of a new backup, which must be empty or not there.
func begin(ctx context.Context, address string) (*folder, error) {
	if !inBucket(address) {
		if err := makeEmpty(address); err != nil {
			return nil, err
		}
	}
	f, err := open(ctx, address)
	if err != nil {
		return nil, err
	}
	if f.bucket == nil {
		f.before = newestBeside(ctx, address)
		return f, nil
	}
	if err := f.bucket.Names(ctx, func(name string) error {
		return fmt.Errorf("%s has %s: name a prefix under which nothing is", address, name)
	}); err != nil {
		return nil, errors.Join(err, f.close())
	}
	return f, nil
}

// newestBeside returns the newest backup in the folder that a new one is made in, with its
// files; nil where there is none that can be read.
func newestBeside(ctx context.Context, dir string) *folder {
	beside := filepath.Dir(filepath.Clean(dir))
	entries, err := os.ReadDir(beside)
	if err != nil {
		return nil
	}
	var newest string
	var written time.Time
	for _, entry := range entries {
		name := filepath.Join(beside, entry.Name())
		if info, err := os.Stat(filepath.Join(name, manifestName)); err == nil && info.ModTime().After(written) {
			newest, written = name, info.ModTime()
		}
	}
	if newest == "" {
		return nil
	}
	f, err := newFolder(ctx, newest)
	if err != nil {
		return nil
	}
	m, err := read(f)
	if err != nil {
		f.close()
		return nil
	}
	for _, file := range m.Files {
		f.files[file.Path] = file
	}
	return f
}

// link makes a file that the backup before has as well, and unchanged, a name of the same
// bytes. It reports whether it did.
func (f *folder) link(name string, size int64) bool {
	if f.before == nil {
		return false
	}
	known, ok := f.before.files[name]
	if !ok || known.Bytes != size || f.before.verify(known) != nil || f.root.MkdirAll(path.Dir(name), 0o700) != nil ||
		os.Link(f.before.at(name), f.at(name)) != nil { // on some file systems there are no links
		return false
	}
	f.files[name] = known
	f.linked++
	return true
}

// at returns where a file of a folder is.
func (f *folder) at(name string) string { return filepath.Join(f.root.Name(), name) }

// send brings a file to the bucket, if there is one, and away from the disk.
func (f *folder) send(name string) error {
	if f.bucket == nil {
		return nil
	}
	file, err := f.root.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if err := f.bucket.Put(f.ctx, name, blob.Backups.ContentType, file, info.Size()); err != nil {
		return err
	}
	return f.root.Remove(name)
}

// open opens a file to be read; the caller closes it.
func (f *folder) open(name string) (io.ReadCloser, error) {
	if f.bucket == nil {
		return f.root.Open(name)
	}
	object, err := f.bucket.Open(f.ctx, name)
	if errors.Is(err, blob.ErrNotFound) {
		err = fmt.Errorf("%s: %w", name, fs.ErrNotExist)
	}
	if err != nil {
		return nil, err
	}
	return object, nil
}

// fetch brings a file from the bucket, if there is one, to where at says.
func (f *folder) fetch(name string) error {
	if f.bucket == nil {
		return nil
	}
	from, err := f.open(name)
	if err != nil {
		return err
	}
	defer from.Close()
	if err := f.root.MkdirAll(path.Dir(name), 0o700); err != nil {
		return err
	}
	to, err := f.root.OpenFile(name, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	return errors.Join(err, to.Close())
}
