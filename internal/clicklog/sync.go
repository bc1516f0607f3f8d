package clicklog

import (
	"errors"
	"fmt"
	"os"
	"time"
)

// syncer syncs syncEvery after the first write that is not synced, and again
// until it succeeds.
func (l *Log) syncer() {
	defer close(l.stopped)
	var told time.Time
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
		if err := l.sync(); err != nil && time.Since(told) >= alarmEvery {
			told = time.Now()
			l.logger.Error("click log not synced, which is tried again: events may be lost if the machine fails",
				"error", err)
		}
	}
}

// sync brings everything written so far to the disk, and has a spare segment at
// hand. What fails stays to be done. One goroutine at a time calls it, and
// nobody else closes a segment's file.
func (l *Log) sync() error {
	l.mu.Lock()
	var err error
	if !l.closed {
		err = l.provide()
	}
	sealed, own, created := l.unsynced, l.own, l.created
	l.created, l.dirty = false, false
	var current *os.File
	if l.active != nil {
		current = l.active.file
	}
	l.mu.Unlock()
	var failed []*os.File
	for _, file := range sealed {
		if syncErr := l.fsync(file); syncErr != nil {
			failed, err = append(failed, file), errors.Join(err, syncErr)
			continue
		}
		err = errors.Join(err, file.Close())
	}
	if current != nil {
		err = errors.Join(err, l.fsync(current))
	}
	if created {
		if syncErr := l.fsync(own.lock); syncErr != nil {
			err = errors.Join(err, syncErr)
		} else {
			created = false
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.unsynced = append(failed, l.unsynced[len(sealed):]...)
	l.created = l.created || created
	if err != nil {
		l.markDirty()
	}
	return err
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

// syncFolder makes the names in a folder durable.
func (l *Log) syncFolder(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	if err := errors.Join(l.fsync(f), f.Close()); err != nil {
		return fmt.Errorf("sync %s: %w", path, err)
	}
	return nil
}
