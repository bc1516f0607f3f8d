package backup

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// folder is where files are copied to: readable by their owner only, and on the disk
// before the folder counts.
type folder struct {
	ctx  context.Context
	root *os.Root
	// files are those that are complete, by path.
	files map[string]File
}

func newFolder(ctx context.Context, dir string) (*folder, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &folder{ctx: ctx, root: root, files: map[string]File{}}, nil
}

// writing is a file that is being written.
type writing struct {
	folder *folder
	file   *os.File
	name   string
	sum    hash.Hash
	bytes  int64
}

// create makes a file, or makes it anew.
func (f *folder) create(name string) (*writing, error) {
	delete(f.files, name)
	if err := f.root.MkdirAll(path.Dir(name), 0o700); err != nil {
		return nil, err
	}
	file, err := f.root.OpenFile(name, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	return &writing{folder: f, file: file, name: name, sum: sha256.New()}, nil
}

// Write implements io.Writer.
func (w *writing) Write(b []byte) (int, error) {
	if err := w.folder.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := w.file.Write(b)
	w.sum.Write(b[:n])
	w.bytes += int64(n)
	return n, err
}

// Close brings the file to the disk.
func (w *writing) Close() error {
	if err := errors.Join(w.file.Sync(), w.file.Close()); err != nil {
		return err
	}
	w.folder.files[w.name] = File{w.name, w.bytes, hex.EncodeToString(w.sum.Sum(nil))}
	return nil
}

// copy copies a file to the same path, as far as it goes now.
func (f *folder) copy(from *os.Root, name string) (File, error) {
	source, err := from.Open(name)
	if err != nil {
		return File{}, err
	}
	defer source.Close()
	info, err := source.Stat()
	if err != nil {
		return File{}, err
	}
	w, err := f.create(name)
	if err != nil {
		return File{}, err
	}
	_, err = io.Copy(w, io.LimitReader(source, info.Size()))
	return f.files[name], errors.Join(err, w.Close())
}

// copyNew copies the files below folders that are not copied yet, or that have
// grown since. Files may go meanwhile; what was copied of them stays.
func (f *folder) copyNew(from *os.Root, folders ...string) error {
	for _, name := range folders {
		err := fs.WalkDir(from.FS(), name, func(name string, entry fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			if err != nil || !entry.Type().IsRegular() || path.Base(name)[0] == '.' {
				return err
			}
			info, err := entry.Info()
			if copied, ok := f.files[name]; err == nil && (!ok || copied.Bytes < info.Size()) {
				_, err = f.copy(from, name)
			}
			if errors.Is(err, fs.ErrNotExist) {
				err = nil
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// hasBelow reports whether a file below a folder is complete.
func (f *folder) hasBelow(dir string) bool {
	for name := range f.files {
		if strings.HasPrefix(name, dir+"/") {
			return true
		}
	}
	return false
}

// add takes over a file that somebody else has written.
func (f *folder) add(name string) error {
	file, err := f.root.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer file.Close()
	sum := sha256.New()
	n, err := io.Copy(sum, file)
	if err == nil {
		err = file.Sync()
	}
	f.files[name] = File{name, n, hex.EncodeToString(sum.Sum(nil))}
	return err
}

// sync brings the names of all files to the disk.
func (f *folder) sync() error {
	folders := map[string]bool{".": true}
	for name := range f.files {
		for dir := path.Dir(name); !folders[dir]; dir = path.Dir(dir) {
			folders[dir] = true
		}
	}
	for dir := range folders {
		if err := syncFolder(f.root, dir); err != nil {
			return err
		}
	}
	return nil
}

func syncFolder(root *os.Root, name string) error {
	dir, err := root.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// list returns the files by path.
func (f *folder) list() []File {
	all := make([]File, 0, len(f.files))
	for _, file := range f.files {
		all = append(all, file)
	}
	slices.SortFunc(all, func(a, b File) int { return cmp.Compare(a.Path, b.Path) })
	return all
}

// below is the folder of the database's copy.
type below struct {
	*folder
	dir string
}

// Path implements store.Copies.
func (b below) Path(name string) string { return filepath.Join(b.root.Name(), b.dir, name) }

// Create implements store.Copies.
func (b below) Create(name string) (io.WriteCloser, error) { return b.create(path.Join(b.dir, name)) }

// Open implements store.Copies.
func (b below) Open(name string) (io.ReadCloser, error) { return b.root.Open(path.Join(b.dir, name)) }

// verify compares a file with the manifest.
func (f *folder) verify(want File) error {
	file, err := f.root.Open(want.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the backup is damaged: %s is missing", want.Path)
	}
	if err != nil {
		return err
	}
	defer file.Close()
	sum := sha256.New()
	n, err := io.Copy(sum, contextReader{f.ctx, file})
	if err != nil {
		return fmt.Errorf("read %s: %w", want.Path, err)
	}
	if n != want.Bytes || hex.EncodeToString(sum.Sum(nil)) != want.SHA256 {
		return fmt.Errorf("the backup is damaged: %s is not the file that was copied", want.Path)
	}
	return nil
}

// contextReader ends with a context.
type contextReader struct {
	ctx context.Context
	io.Reader
}

// Read implements io.Reader.
func (r contextReader) Read(b []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(b)
}
