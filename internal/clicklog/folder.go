package clicklog

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// extension names the format of a segment file.
const extension = ".v1"

// folder is where one Log writes, or wrote before its process died.
type folder struct {
	path string
	// lock is the open folder, whose flock says that the owner lives.
	lock *os.File
	// segments counts the files not yet consumed; guarded by Log.mu.
	segments int
}

// segment is one file of records.
type segment struct {
	folder *folder
	path   string
	number int64
	born   time.Time
	// file is for appending; nil once sealed and in adopted segments.
	file *os.File
	// The rest is guarded by Log.mu. end is where the last whole record ends,
	// done where the last one that the event store has committed ends. A
	// sealed segment is not written to any more.
	end, done int64
	sealed    bool
}

// newFolder makes a locked folder below dir.
func newFolder(dir string) (*folder, error) {
	for {
		path := filepath.Join(dir, fmt.Sprintf("%016x", rand.Uint64()))
		if err := os.Mkdir(path, 0o700); err != nil {
			if errors.Is(err, fs.ErrExist) {
				continue
			}
			return nil, err
		}
		// Until it is locked, a new folder looks like that of a dead process
		// and another one may have taken it.
		if f, err := lockFolder(path); f != nil || err != nil {
			return f, err
		}
	}
}

// lockFolder takes the lock of a folder; it returns nil if someone holds it
// or the folder is gone.
func lockFolder(path string) (*folder, error) {
	lock, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil {
		// The last holder may have removed it before it let go of the lock.
		if _, err = os.Stat(path); err == nil {
			return &folder{path: path, lock: lock}, nil
		}
	}
	lock.Close()
	if errors.Is(err, syscall.EWOULDBLOCK) || errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return nil, fmt.Errorf("lock %s: %w", path, err)
}

// leftovers lists the segments of a folder that a dead process left, in the
// order they were written.
func (f *folder) leftovers() ([]*segment, error) {
	entries, err := os.ReadDir(f.path)
	if err != nil {
		return nil, err
	}
	var segments []*segment
	for _, entry := range entries {
		name, ours := strings.CutSuffix(entry.Name(), extension)
		number, err := strconv.ParseInt(name, 10, 64)
		if !ours || err != nil {
			continue
		}
		info, err := entry.Info()
		if err != nil {
			return nil, err
		}
		segments = append(segments, &segment{
			folder: f, path: filepath.Join(f.path, entry.Name()), number: number, end: info.Size(), sealed: true,
		})
	}
	slices.SortFunc(segments, func(a, b *segment) int { return cmp.Compare(a.number, b.number) })
	return segments, nil
}

// release lets go of the folder, and removes it when it is empty. One that
// holds files of another version stays for that version.
func (f *folder) release(empty bool) error {
	var err error
	if empty {
		if err = os.Remove(f.path); errors.Is(err, syscall.ENOTEMPTY) {
			err = nil
		}
	}
	return errors.Join(err, f.lock.Close())
}
