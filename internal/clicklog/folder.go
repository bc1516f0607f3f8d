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

	"github.com/waymarkhq/waymark/internal/platform"
)

// extension names the format of a segment file.
const extension = ".v1"

// folder is where one Log writes, or wrote before its process died.
type folder struct {
	path string
	// lock is the open folder, whose flock says that the owner lives.
	lock *os.File
	made os.FileInfo
	// inherited tells that an ended process made it.
	inherited bool
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
	made os.FileInfo
	// told is up to where the reader has told of damage.
	told int64
	// The rest is guarded by Log.mu. end is where the last whole record ends,
	// done where the last one that the event store has committed ends. A
	// sealed segment is not written to any more.
	end, done int64
	sealed    bool
}

// stands reports whether events that are appended to s, if there is one, will be found.
func (s *segment) stands() bool { return s == nil || stands(s.path, s.made, s.end) }

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
	made, err := lock.Stat()
	if err == nil {
		err = platform.Lock(lock)
	}
	// The last holder may have removed it before it let go of the lock.
	if err == nil && stands(path, made, 0) {
		return &folder{path: path, lock: lock, made: made}, nil
	}
	lock.Close()
	if err == nil || errors.Is(err, platform.ErrLocked) {
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
		if err = remove(f.path); errors.Is(err, syscall.ENOTEMPTY) {
			err = nil
		}
	}
	return errors.Join(err, f.lock.Close())
}

// adopt takes over the folders of dead processes. What it cannot take over is
// left for the next time, and must not stop the own events.
func (l *Log) adopt() {
	l.reader.adoptAt = time.Now().Add(adoptEvery)
	// The syncer sees to the own folder, also when there are no clicks.
	l.mu.Lock()
	l.markDirty()
	l.mu.Unlock()
	entries, err := os.ReadDir(l.dir)
	if err != nil {
		l.logger.Warn("click logs of ended processes not listed", "folder", l.dir, "error", err)
	}
	for _, entry := range entries {
		if !entry.IsDir() {
			continue
		}
		path := filepath.Join(l.dir, entry.Name())
		if err := l.adoptFolder(path); err != nil {
			l.logger.Warn("click log of an ended process not taken over", "folder", path, "error", err)
		}
	}
}

func (l *Log) adoptFolder(path string) error {
	f, err := lockFolder(path)
	if f == nil { // its process is alive, and perhaps this one
		return err
	}
	segments, err := f.leftovers()
	if err != nil || len(segments) == 0 {
		return errors.Join(err, f.release(err == nil))
	}
	f.segments, f.inherited = len(segments), true
	l.mu.Lock()
	// In front of the own ones, which Batch promises.
	l.queue = append(segments, l.queue...)
	l.mu.Unlock()
	l.logger.Info("click log of an ended process taken over", "folder", path, "files", len(segments))
	return nil
}
