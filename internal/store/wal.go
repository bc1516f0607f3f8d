package store

import (
	"context"
	"errors"
	"os"
	"time"
)

// busyTimeout is how many milliseconds a statement on SQLite waits for another process.
const busyTimeout = "busy_timeout(10000)"

const (
	// maxLog is how large the file of SQLite's write-ahead log may stay when nothing in it
	// is needed any more. Whoever reads, other programs too, makes it grow meanwhile.
	maxLog = 16 << 20
	// idleFor is how long nothing has been written when a larger file is emptied.
	idleFor = time.Second
)

// LogBytes returns the size of SQLite's write-ahead log, 0 on PostgreSQL.
func (db *DB) LogBytes() int64 {
	if db.writer == nil {
		return 0
	}
	return db.writer.logBytes()
}

func (w *writer) logBytes() int64 {
	info, err := os.Stat(w.file + "-wal")
	if err != nil {
		return 0 // there is none when nothing was written
	}
	return info.Size()
}

// shrinkLog empties a log that became large. With the next write SQLite does so itself
// (journal_size_limit), but there may be none for long.
func (w *writer) shrinkLog() {
	if w.logBytes() > maxLog {
		w.alone(context.Background(), w.emptyLog) // tried again when it is idle again
	}
}

// emptyLog brings what is in the write-ahead log into the database's file and makes the
// log empty. It does not wait for readers: what one of them still needs stays in the log.
func (w *writer) emptyLog() error {
	pragma := func(text string) error {
		_, err := w.exec(context.Background(), "PRAGMA "+text, nil)
		return err
	}
	err := pragma("busy_timeout(0)")
	if err == nil {
		err = pragma("wal_checkpoint(TRUNCATE)")
	}
	return errors.Join(err, pragma(busyTimeout))
}
