package clicklog

import (
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// syncEvery is how long an event may be in the kernel only.
	syncEvery = 50 * time.Millisecond
	// segmentSize bounds what is read again after a crash.
	segmentSize = 4 << 20
	// maxBacklog bounds what waits for the event store: some 80 million events.
	maxBacklog = 16 << 30
	// alarmEvery is how often a backlog of more than half of that is told of, and
	// that files cannot be synced.
	alarmEvery = time.Minute
	// maxUnsynced bounds the files of sealed segments that are open until they
	// are synced. With a disk that stands still, a full segment takes more.
	maxUnsynced = 16
)

// ErrFull means that events wait for the event store up to the bound of 16 GiB.
var ErrFull = errors.New("too many events wait for the event store")

// Log is this process's click log, and the reader of those that dead
// processes left beside it. Append and Backlog may be called by anyone; Next
// and Done belong to one loader.
type Log struct {
	dir    string
	logger *slog.Logger
	// fsync is (*os.File).Sync, but in tests.
	fsync func(*os.File) error
	// lost counts the bytes of events that were written and cannot be read.
	lost atomic.Int64

	mu  sync.Mutex
	own *folder
	buf []byte
	// serial is the number of the newest segment, which is the spare one while
	// there is one: made and open ahead, since files may run out.
	serial int64
	spare  *segment
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
	return openWith(dir, logger, (*os.File).Sync)
}

func openWith(dir string, logger *slog.Logger, fsync func(*os.File) error) (*Log, error) {
	l := &Log{
		dir: dir, logger: logger, fsync: fsync,
		kick: make(chan struct{}, 1), wake: make(chan struct{}, 1),
		stop: make(chan struct{}), stopped: make(chan struct{}), limit: maxBacklog,
	}
	var err error
	if l.own, err = l.makeFolder(); err != nil {
		return nil, fmt.Errorf("open click log %s: %w", dir, err)
	}
	if err := l.provide(); err != nil {
		return nil, errors.Join(fmt.Errorf("open click log %s: %w", dir, err), l.own.release(true))
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
		// With no new file to be had, a full segment still takes more.
		if err := l.rotate(); err != nil && l.active == nil {
			return fmt.Errorf("append to click log: %w", err)
		}
	}
	if n, err := l.active.file.Write(record); err != nil {
		// What was written of it must not stand before the next record, or else
		// the reader has to pass over it.
		if cutErr := l.active.file.Truncate(l.active.end); cutErr != nil {
			l.active.end += int64(n)
			err = errors.Join(err, cutErr, l.rotate())
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

// rotate has the spare segment follow the active one.
func (l *Log) rotate() error {
	if l.active != nil && len(l.unsynced) >= maxUnsynced {
		return nil
	}
	if err := l.provide(); err != nil {
		return err
	}
	l.seal()
	l.active, l.spare = l.spare, nil
	l.active.born = time.Now()
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

// Lost returns the bytes of events that were written, or taken over, and could
// not be read again: they are damaged, or somebody has removed their file.
func (l *Log) Lost() (bytes int64) { return l.lost.Load() }

// Inherited reports whether there are events of ended processes that are not
// in the event store yet, among those that were taken over.
func (l *Log) Inherited() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.ContainsFunc(l.queue, func(s *segment) bool { return s.folder.inherited && s.done < s.end })
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
	err := errors.Join(l.sync(), l.dropSpare(), l.retire(), l.reader.close(), l.releaseAll())
	for _, file := range l.unsynced { // which failed
		err = errors.Join(err, file.Close())
	}
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
