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
	"slices"
	"strings"

	"github.com/waymarkhq/waymark/internal/blob"
)

// folder is where files are copied to: readable by their owner only, and on the disk
// before the folder counts. It is a data folder or a backup.
type folder struct {
	ctx  context.Context
	root *os.Root
	// bucket has the files of a backup in S3, nil for all others; root is then a temporary
	// folder, in which each is made before it goes there.
	bucket blob.Store
	// files are those that are complete, by path.
	files map[string]File
	// before is the backup beside this one whose files are linked, nil for none; linked is how
	// many.
	before *folder
	linked int
}

func newFolder(ctx context.Context, dir string) (*folder, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &folder{ctx: ctx, root: root, files: map[string]File{}}, nil
}

// close lets go of the folder.
func (f *folder) close() error {
	err := f.root.Close()
	if f.before != nil {
		err = errors.Join(err, f.before.close())
	}
	if f.bucket != nil {
		err = errors.Join(err, os.RemoveAll(f.root.Name()))
	}
	return err
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
	return w.folder.complete(File{w.name, w.bytes, hex.EncodeToString(w.sum.Sum(nil))})
}

// complete takes note of a file that is on the disk, and sends it where it belongs.
func (f *folder) complete(file File) error {
	f.files[file.Path] = file
	return f.send(file.Path)
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
	err = errors.Join(err, w.Close())
	return f.files[name], err
}

// copyNamed copies a file whose name is given once, or links the one that the backup before
// has under it.
func (f *folder) copyNamed(from *os.Root, name string) error {
	info, err := from.Stat(name)
	if err == nil && !f.link(name, info.Size()) {
		_, err = f.copy(from, name)
	}
	return err
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
			copied, known := f.files[name]
			switch {
			case err != nil || known && copied.Bytes >= info.Size():
			case strings.HasPrefix(name, assets+"/"):
				err = f.copyNamed(from, name)
			default:
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
	if err != nil {
		return err
	}
	return f.complete(File{name, n, hex.EncodeToString(sum.Sum(nil))})
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
func (b below) Path(name string) string { return b.at(path.Join(b.dir, name)) }

// Create implements store.Copies.
func (b below) Create(name string) (io.WriteCloser, error) { return b.create(path.Join(b.dir, name)) }

// Open implements store.Copies.
func (b below) Open(name string) (io.ReadCloser, error) { return b.open(path.Join(b.dir, name)) }

// errDamaged is the error of a file that is not as the manifest says.
var errDamaged = errors.New("the backup is damaged")

// verify compares a file with the manifest.
func (f *folder) verify(want File) error {
	file, err := f.open(want.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: %s is missing", errDamaged, want.Path)
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
		return fmt.Errorf("%w: %s is not the file that was copied", errDamaged, want.Path)
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
