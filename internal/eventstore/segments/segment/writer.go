package segment

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/parquet-go/parquet-go"

	"github.com/waymarkhq/waymark/internal/clock"
)

const (
	// ownRows is how many rows of a day, or of an app, get row groups of their own.
	ownRows = 16 << 10
	// maxRows is the most rows of a row group.
	maxRows = 128 << 10
	// chunkRows is how many rows of a group are handed on at a time.
	chunkRows = 1 << 10

	day = 24 * 60 * 60 * 1_000_000

	formatKey = "waymark.segment"
	format    = "1"
)

// Writer writes a segment. Reset of one that was closed costs far less than a new one.
// It is not safe for concurrent use.
type Writer struct {
	out *parquet.GenericWriter[Event]
	// ahead are rows of the last app that are not written yet, as what follows
	// decides about their row group.
	ahead []Event
	// dayStart is where the last day begins in ahead.
	dayStart int
	// group counts the rows of the row group that is being written.
	group int
	// large tells that the last app has row groups of its own, and whole that its last
	// day has.
	large, whole bool
	last         Event
	events       int64
	closed       bool
}

// NewWriter returns a Writer of a segment to out.
func NewWriter(out io.Writer) *Writer { return &Writer{out: newParquet(out)} }

func newParquet(out io.Writer) *parquet.GenericWriter[Event] {
	return parquet.NewGenericWriter[Event](out,
		parquet.KeyValueMetadata(formatKey, format),
		parquet.CreatedBy("waymark", format, ""),
		parquet.DataPageStatistics(false), // those of the row groups and of the page index are enough
		parquet.MaxRowsPerRowGroup(2*maxRows),
		parquet.SortingWriterConfig(parquet.SortingColumns(
			parquet.Ascending("app"), parquet.Ascending("occurred_at"), parquet.Ascending("id"))),
	)
}

// Reset makes w begin a new segment to out.
func (w *Writer) Reset(out io.Writer) {
	if w.closed {
		// Reset of parquet-go empties the names of columns that all row groups share,
		// unless it finds no row groups.
		clear(w.out.File().Metadata().RowGroups)
		w.out.Reset(out)
	} else {
		w.out = newParquet(out)
	}
	*w = Writer{out: w.out, ahead: w.ahead[:0]}
}

// compare orders events as a file does.
func compare(a, b *Event) int {
	return cmp.Or(cmp.Compare(a.App, b.App), cmp.Compare(a.At, b.At), slices.Compare(a.ID[:], b.ID[:]))
}

// Add writes an event, which must come after the last one, by app, instant and id.
func (w *Writer) Add(e *Event) error {
	if w.events > 0 && compare(&w.last, e) >= 0 {
		return fmt.Errorf("event %d of app %d at %s is out of order", e.ID.Int(), e.App, e.At)
	}
	var err error
	switch {
	case w.events == 0:
	case w.last.App != e.App:
		err = w.endApp()
	case dayOf(w.last.At) != dayOf(e.At):
		err = w.endDay()
	}
	w.last = *e
	w.events++
	w.ahead = append(w.ahead, *e)
	if err != nil || len(w.ahead) < ownRows && (!w.whole || len(w.ahead) < chunkRows) {
		return err
	}
	return w.spill()
}

// spill writes ahead as far as its row groups are known.
func (w *Writer) spill() error {
	if !w.large { // the app has enough rows for groups of its own
		if err := w.cut(); err != nil {
			return err
		}
		w.large = true
		if err := w.writeAhead(w.dayStart); err != nil {
			return err
		}
	}
	if len(w.ahead) >= ownRows && !w.whole { // so has its last day
		if err := w.cut(); err != nil {
			return err
		}
		w.whole = true
	}
	if w.whole {
		return w.writeAhead(len(w.ahead))
	}
	return nil
}

// endDay is called between the events of two days of an app.
func (w *Writer) endDay() error {
	if w.large {
		if err := w.writeAhead(len(w.ahead)); err != nil {
			return err
		}
	}
	w.dayStart = len(w.ahead)
	if w.whole {
		w.whole = false
		return w.cut()
	}
	return nil
}

// endApp is called after the events of an app.
func (w *Writer) endApp() error {
	if err := w.writeAhead(len(w.ahead)); err != nil {
		return err
	}
	w.dayStart = 0
	if w.large {
		w.large, w.whole = false, false
		return w.cut()
	}
	return nil
}

// writeAhead writes the first n rows ahead, in one row group unless it takes more.
func (w *Writer) writeAhead(n int) error {
	if !w.whole && w.group+n > maxRows {
		if err := w.cut(); err != nil {
			return err
		}
	}
	for rows := w.ahead[:n]; len(rows) > 0; {
		if w.group == maxRows {
			if err := w.cut(); err != nil {
				return err
			}
		}
		chunk := rows[:min(len(rows), maxRows-w.group)]
		if _, err := w.out.Write(chunk); err != nil {
			return err
		}
		w.group += len(chunk)
		rows = rows[len(chunk):]
	}
	w.ahead = w.ahead[:copy(w.ahead, w.ahead[n:])]
	w.dayStart -= min(n, w.dayStart)
	return nil
}

// cut ends the row group.
func (w *Writer) cut() error {
	if w.group == 0 {
		return nil
	}
	w.group = 0
	return w.out.Flush()
}

// Close ends the segment. It does not close what the segment was written to.
func (w *Writer) Close() error {
	if err := w.endApp(); err != nil {
		return err
	}
	if err := w.out.Close(); err != nil {
		return err
	}
	w.closed = true
	return nil
}

// dayOf returns the UTC day of an instant, counted from 1970.
func dayOf(at clock.Instant) int64 {
	d := int64(at) / day
	if int64(at)%day < 0 {
		d--
	}
	return d
}
