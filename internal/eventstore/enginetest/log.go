package enginetest

import (
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/waymarkhq/waymark/internal/clicklog"
)

// logs numbers the logs of a process.
var logs atomic.Int64

// Log is a click log that remembers all it ever had: Batch hands any part of it out,
// any number of times.
type Log struct {
	name    string
	records []record
	end     int64
}

// record is where an event lies in the log.
type record struct {
	event     clicklog.Event
	file, end int64
}

// NewLog returns an empty Log with a name of its own.
func NewLog() *Log { return &Log{name: fmt.Sprintf("%016x", logs.Add(1))} }

// perFile is how many events a file of a Log has: few, so that batches go over the
// ends of files.
const perFile = 150

// Write adds events to the end of the log.
func (l *Log) Write(events ...clicklog.Event) {
	for _, e := range events {
		e.Link.TagIDs = slices.Clone(e.Link.TagIDs)
		if len(l.records)%perFile == 0 {
			l.end = 0
		}
		l.end += 100 + int64(len(l.records)%7)
		l.records = append(l.records, record{event: e, file: int64(1 + len(l.records)/perFile), end: l.end})
	}
}

// Len returns the number of events in the log.
func (l *Log) Len() int { return len(l.records) }

// Batch returns the events from one place in the log to before another one.
func (l *Log) Batch(from, to int) *clicklog.Batch {
	b := &clicklog.Batch{}
	for _, r := range l.records[from:to] {
		if n := len(b.Runs); n == 0 || b.Runs[n-1].File != r.file {
			b.Runs = append(b.Runs, clicklog.Run{Log: l.name, File: r.file})
		}
		run := &b.Runs[len(b.Runs)-1]
		run.Ends = append(run.Ends, r.end)
		b.Events = append(b.Events, r.event)
	}
	return b
}

// Batch returns events as a batch that is the whole of a log.
func Batch(events ...clicklog.Event) *clicklog.Batch {
	l := NewLog()
	l.Write(events...)
	return l.Batch(0, l.Len())
}

// Join returns the events of several batches as one, as when the logs of ended
// processes are read together.
func Join(batches ...*clicklog.Batch) *clicklog.Batch {
	all := &clicklog.Batch{}
	for _, b := range batches {
		all.Events = append(all.Events, b.Events...)
		all.Runs = append(all.Runs, b.Runs...)
	}
	return all
}
