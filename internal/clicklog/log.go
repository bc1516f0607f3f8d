package clicklog

import (
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"
)

const (
	// syncEvery is how long an event may be in the kernel only.
	syncEvery = 50 * time.Millisecond
	// segmentSize bounds what is read again after a crash, and what a damaged
	// record costs.
	segmentSize = 4 << 20
	// maxBacklog bounds what waits for the event store: some 80 million events.
	maxBacklog = 16 << 30
	// alarmEvery is how often a backlog of more than half of that is told of.
	alarmEvery = time.Minute
)

// ErrFull means that events wait for the event store up to the bound of 16 GiB.
var ErrFull = errors.New("too many events wait for the event store")

// Log is this process's click log, and the reader of those that dead
// processes left beside it. Append and Backlog may be called by anyone; Next
// and Done belong to one loader.
type Log struct {
	dir    string
	logger *slog.Logger
	own    *folder

	mu     sync.Mutex
	buf    []byte
	serial int64
	// active is appended to; nil until there is something to append.
	active *segment
	// queue holds the segments with events that are not committed yet, and
	// the active one.
	queue []*segment
	// unsynced are files of sealed segments, to be synced and closed.
	unsynced []*os.File
	// created tells that the own folder has a new file to sync.
	created bool
	// dirty tells that the syncer knows of something to sync.
	dirty bool
	// idle tells that the loader found nothing and waits for wake.
	idle   bool
	closed bool
	// limit bounds the backlog in bytes; alarmed is when its half was last told of.
	limit   int64
	alarmed time.Time

	kick    chan struct{} // to the syncer: dirty was set
	wake    chan struct{} // to the loader: idle was unset
	stop    chan struct{}
	stopped chan struct{}

	reader reader
}

// Open makes a Log that writes to a new folder of its own below dir, and takes
// over what dead processes left there.
func Open(dir string, logger *slog.Logger) (*Log, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("open click log: %w", err)
	}
	own, err := newFolder(dir)
	if err != nil {
		return nil, fmt.Errorf("open click log %s: %w", dir, err)
	}
	l := &Log{
		dir: dir, logger: logger, own: own,
		kick: make(chan struct{}, 1), wake: make(chan struct{}, 1),
		stop: make(chan struct{}), stopped: make(chan struct{}), limit: maxBacklog,
	}
	if err := syncFolder(dir); err != nil {
		return nil, errors.Join(fmt.Errorf("open click log %s: %w", dir, err), own.release(true))
	}
	l.adopt()
	go l.syncer()
	return l, nil
}

// Append gives e its ID and writes it. When it returns nil the event is in
// the kernel and survives the death of the process. After an error the event
// is not in the log, and the log is whole.
func (l *Log) Append(e *Event) error {
	e.ID = 1 + rand.Int64N(1<<47-1)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return fmt.Errorf("append to click log: %w", os.ErrClosed)
	}
	record, err := appendRecord(l.buf[:0], e)
	if err != nil {
		return fmt.Errorf("append to click log: %w", err)
	}
	l.buf = record
	if l.active == nil || l.active.end+int64(len(record)) > segmentSize {
		if err := l.watch(); err != nil {
			return fmt.Errorf("append to click log: %w", err)
		}
		// With no new file to be had (open files may have run out), a full
		// segment still takes more.
		if err := l.rotate(); err != nil && l.active == nil {
			return fmt.Errorf("append to click log: %w", err)
		}
	}
	if _, err := l.active.file.Write(record); err != nil {
		// What was written of it must not stand before the next record.
		if cutErr := l.active.file.Truncate(l.active.end); cutErr != nil {
			l.seal()
		}
		return fmt.Errorf("append to click log: %w", err)
	}
	l.active.end += int64(len(record))
	l.markDirty()
	if l.idle {
		l.idle = false
		notify(l.wake)
	}
	return nil
}

// watch fails when another segment could bring the backlog beyond its limit, and tells of
// one that has come half way: the event store is away or too slow.
func (l *Log) watch() error {
	backlog := l.backlog()
	if backlog+segmentSize > l.limit {
		return ErrFull
	}
	if backlog+segmentSize > l.limit/2 && time.Since(l.alarmed) >= alarmEvery {
		l.alarmed = time.Now()
		l.logger.Error("the click log fills up: clicks are not moved to the event store; those beyond the limit will be lost",
			"backlog_bytes", backlog, "limit_bytes", l.limit)
	}
	return nil
}

// rotate starts a new segment.
func (l *Log) rotate() error {
	path := filepath.Join(l.own.path, strconv.FormatInt(l.serial+1, 10)+extension)
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	l.seal()
	l.serial++
	l.created = true
	l.active = &segment{folder: l.own, path: path, number: l.serial, born: time.Now(), file: file}
	l.own.segments++
	l.queue = append(l.queue, l.active)
	return nil
}

// seal ends the active segment, if there is one.
func (l *Log) seal() {
	if l.active == nil {
		return
	}
	l.unsynced = append(l.unsynced, l.active.file)
	l.active.file, l.active.sealed = nil, true
	l.active = nil
	l.markDirty()
}

func (l *Log) markDirty() {
	if !l.dirty {
		l.dirty = true
		notify(l.kick)
	}
}

func notify(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// syncer syncs syncEvery after the first write that is not synced.
func (l *Log) syncer() {
	defer close(l.stopped)
	for {
		select {
		case <-l.stop:
			return
		case <-l.kick:
		}
		select {
		case <-l.stop:
			return
		case <-time.After(syncEvery):
		}
		if err := l.sync(); err != nil {
			l.logger.Error("click log not synced: events may be lost if the machine fails", "folder", l.own.path,
				"error", err)
		}
	}
}

// sync brings everything written so far to the disk. One goroutine at a time
// calls it, and nobody else closes a segment's file.
func (l *Log) sync() error {
	l.mu.Lock()
	sealed, created := l.unsynced, l.created
	l.unsynced, l.created, l.dirty = nil, false, false
	var current *os.File
	if l.active != nil {
		current = l.active.file
	}
	l.mu.Unlock()
	var err error
	for _, file := range sealed {
		err = errors.Join(err, file.Sync(), file.Close())
	}
	if current != nil {
		err = errors.Join(err, current.Sync())
	}
	if created {
		err = errors.Join(err, l.own.lock.Sync())
	}
	return err
}

// syncFolder makes the names in a folder durable.
func syncFolder(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// Backlog returns the bytes of events that are not in the event store yet, as
// far as the loader has reported with Done.
func (l *Log) Backlog() (bytes int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.backlog()
}

func (l *Log) backlog() (bytes int64) {
	for _, s := range l.queue {
		bytes += s.end - s.done
	}
	return bytes
}

// Inherited reports whether there are events of ended processes that are not
// in the event store yet, among those that were taken over.
func (l *Log) Inherited() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.ContainsFunc(l.queue, func(s *segment) bool { return s.folder != l.own && s.done < s.end })
}

// Close syncs and ends the log; the loader must have stopped. Events that were
// not consumed stay for the next process, of the rest no file stays.
func (l *Log) Close() error {
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return nil
	}
	l.closed = true
	l.seal()
	l.mu.Unlock()
	close(l.stop)
	<-l.stopped
	err := errors.Join(l.sync(), l.retire(), l.reader.close(), l.releaseAll())
	if err != nil {
		return fmt.Errorf("close click log %s: %w", l.own.path, err)
	}
	return nil
}

// releaseAll lets go of the own and the adopted folders.
func (l *Log) releaseAll() error {
	err := l.own.release(l.own.segments == 0)
	released := map[*folder]bool{l.own: true}
	for _, s := range l.queue {
		if !released[s.folder] {
			released[s.folder] = true
			err = errors.Join(err, s.folder.release(false))
		}
	}
	return err
}
