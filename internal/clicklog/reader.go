package clicklog

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/waymarkhq/waymark/internal/fault"
)

const (
	// adoptEvery is how often the folders of the dead are looked for.
	adoptEvery = 30 * time.Second
	// sealAfter is how old a segment gets before it ends because all of it is
	// consumed; it bounds what a crash has loaded again when clicks are few.
	sealAfter = 5 * time.Second
	// chunkSize is how much is read at a time, many times a record.
	chunkSize = 1 << 20
)

// reader is the state that only Next and Done touch.
type reader struct {
	adoptAt time.Time
	chunk   []byte
	events  []Event
	// file is that of the segment read last.
	file *os.File
	of   *segment
}

// Batch is a run of events for one commit of the event store.
type Batch struct {
	// Events are valid until the next call of Next.
	Events []Event
	// Inherited is how many of them, the first ones, ended processes wrote; the
	// rest are this Log's own.
	Inherited int
	// Runs are where the events come from, in their order.
	Runs []Run
}

// Run is a part of a batch: events that follow one another in a file of a log. Logs
// are read from their beginning to their end, so an event store that remembers the
// file and the position of the last event that it took from a log knows which ones it
// has.
type Run struct {
	// Log names the log and is never used for another one. File is the number of the
	// file, which rises.
	Log  string
	File int64
	// Ends holds the position in the file at which each event ends.
	Ends    []int64
	segment *segment
	end     int64
}

// Stored returns the batch without the events that are Unstored.
func (b *Batch) Stored() *Batch {
	if !slices.ContainsFunc(b.Events, func(e Event) bool { return e.Unstored }) {
		return b
	}
	stored := &Batch{}
	i := 0
	for _, r := range b.Runs {
		kept := r
		kept.Ends = nil
		for _, end := range r.Ends {
			if e := &b.Events[i]; !e.Unstored {
				stored.Events, kept.Ends = append(stored.Events, *e), append(kept.Ends, end)
				if i < b.Inherited {
					stored.Inherited++
				}
			}
			i++
		}
		if len(kept.Ends) > 0 {
			stored.Runs = append(stored.Runs, kept)
		}
	}
	return stored
}

// Wake receives when there are events again after Next found none.
func (l *Log) Wake() <-chan struct{} { return l.wake }

// Next returns up to limit events that follow those given up with Done, with
// no promise about their order, and fewer only when there are no more. It does
// not move on by itself: without Done it returns the same events again.
func (l *Log) Next(limit int) (_ *Batch, err error) {
	defer fault.Wrap(&err, "clicklog.Next")
	if !time.Now().Before(l.reader.adoptAt) {
		l.adopt()
	}
	b := &Batch{Events: l.reader.events[:0]}
	for len(b.Events) == 0 {
		parts := l.unread(limit)
		if len(parts) == 0 {
			return b, l.retire()
		}
		for _, p := range parts {
			if len(b.Events) == limit {
				break
			}
			if err := l.read(b, p, limit); err != nil {
				return nil, fmt.Errorf("read click log %s: %w", p.segment.path, err)
			}
			if p.segment.folder.inherited {
				b.Inherited = len(b.Events)
			}
		}
	}
	l.reader.events = b.Events
	return b, nil
}

// part is what a segment has for the loader.
type part struct {
	segment    *segment
	start, end int64
}

// unread lists where there are up to limit events, and marks the loader idle
// when there are none.
func (l *Log) unread(limit int) []part {
	l.mu.Lock()
	defer l.mu.Unlock()
	var parts []part
	for _, s := range l.queue {
		if len(parts) == limit { // each has an event, unless it is damaged
			break
		}
		if s.done < s.end {
			parts = append(parts, part{s, s.done, s.end})
		}
	}
	l.idle = len(parts) == 0
	return parts
}

// read adds events of one segment to b, and passes over what is damaged.
func (l *Log) read(b *Batch, p part, limit int) error {
	r := &l.reader
	if err := r.open(p.segment); missing(err) {
		l.tell(p.segment, p.start, p.end, "somebody has removed their file")
		l.giveUp(p.segment, p.end)
		return nil
	} else if err != nil {
		return err
	}
	if r.chunk == nil {
		r.chunk = make([]byte, chunkSize)
	}
	at := p.start
	run := Run{Log: filepath.Base(p.segment.folder.path), File: p.segment.number, segment: p.segment}
	for at < p.end && len(b.Events) < limit {
		chunk := r.chunk[:min(int64(len(r.chunk)), p.end-at)]
		n, err := r.file.ReadAt(chunk, at)
		if err != nil && !errors.Is(err, io.EOF) { // EOF: someone has shortened the file
			return err
		}
		last := n < len(chunk) || at+int64(n) == p.end
		chunk = chunk[:n]
		used := 0
		for len(b.Events) < limit {
			b.Events = append(b.Events, Event{})
			size, err := decodeRecord(chunk[used:], &b.Events[len(b.Events)-1])
			if err != nil {
				b.Events = b.Events[:len(b.Events)-1]
				break
			}
			used += size
			run.Ends = append(run.Ends, at+int64(used))
		}
		at += int64(used)
		if used == 0 {
			passed := p.end - at
			if skip, found := seekRecord(chunk); found || !last {
				passed = int64(skip)
			}
			l.tell(p.segment, at, at+passed, "they are damaged")
			at += passed
		}
	}
	if len(run.Ends) == 0 {
		l.giveUp(p.segment, at)
		return nil
	}
	run.end = at
	b.Runs = append(b.Runs, run)
	return nil
}

// tell counts and logs bytes of a segment that hold no events any more, once.
func (l *Log) tell(s *segment, from, to int64, reason string) {
	if from = max(from, s.told); from >= to {
		return
	}
	s.told = to
	l.lost.Add(to - from)
	l.logger.Error("events in the click log are lost: "+reason, "file", s.path, "at", from, "bytes", to-from)
}

// giveUp has a segment go on behind bytes that hold no events.
func (l *Log) giveUp(s *segment, to int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s.done = to
}

func (r *reader) open(s *segment) error {
	if r.of == s {
		return nil
	}
	if err := r.close(); err != nil {
		return err
	}
	file, err := os.Open(s.path)
	if err != nil {
		return err
	}
	r.file, r.of = file, s
	return nil
}

func (r *reader) close() error {
	file := r.file
	r.file, r.of = nil, nil
	if file == nil {
		return nil
	}
	return file.Close()
}

// Done gives up the events of a batch: the event store has committed them.
// Files that hold nothing else are removed. An error means just that some file
// could not be removed; its events may come again after a restart.
func (l *Log) Done(b *Batch) (err error) {
	defer fault.Wrap(&err, "clicklog.Done")
	l.mu.Lock()
	for _, r := range b.Runs {
		if r.segment != nil {
			r.segment.done = r.end
		}
	}
	// With no spare one at hand, no file might be had for the next click.
	if s := l.active; s != nil && s.done == s.end && time.Since(s.born) >= sealAfter && l.spare != nil &&
		len(l.unsynced) < maxUnsynced {
		l.seal()
	}
	l.mu.Unlock()
	if err := l.retire(); err != nil {
		return fmt.Errorf("tidy click log: %w", err)
	}
	return nil
}

// retire removes the segments that are sealed and consumed, and the adopted
// folders that held nothing else.
func (l *Log) retire() error {
	var gone []*segment
	var emptied []*folder
	l.mu.Lock()
	kept := l.queue[:0]
	for _, s := range l.queue {
		if !s.sealed || s.done < s.end {
			kept = append(kept, s)
			continue
		}
		gone = append(gone, s)
		if s.folder.segments--; s.folder.segments == 0 && s.folder != l.own {
			emptied = append(emptied, s.folder)
		}
	}
	clear(l.queue[len(kept):])
	l.queue = kept
	l.mu.Unlock()
	var err error
	for _, s := range gone {
		if l.reader.of == s {
			err = errors.Join(err, l.reader.close())
		}
		err = errors.Join(err, remove(s.path))
	}
	for _, f := range emptied {
		err = errors.Join(err, f.release(true))
	}
	return err
}
