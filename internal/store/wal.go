package store

import (
	"context"
	"errors"
)

// busyTimeout is how many milliseconds a statement on SQLite waits for another process.
const busyTimeout = "busy_timeout(10000)"

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
