package segment

import (
	"fmt"

	"github.com/waymarkhq/waymark/internal/clock"
)

// Event is a row. Its order in a file is by App, At and ID.
type Event struct {
	// App is the number of the app in event_app.
	App int64 `parquet:"app,dict"`
	// At is in microseconds.
	At clock.Instant `parquet:"occurred_at,delta,timestamp(microsecond)"`
	ID ID            `parquet:"id"`
	// Type is a clicklog.EventType.
	Type string `parquet:"type,dict"`
	// Link is the number of the link's state in event_link.
	Link int64 `parquet:"link,dict"`
	// Visitor and Install are keyed hashes, as in clicklog.Event.
	Visitor     int64  `parquet:"visitor,dict"`
	Install     int64  `parquet:"install,dict"`
	Device      string `parquet:"device,dict"`
	OS          string `parquet:"os,dict"`
	Browser     string `parquet:"browser,dict"`
	Source      string `parquet:"source,dict"`
	Country     string `parquet:"country,dict"`
	Referrer    string `parquet:"referrer,dict"`
	Rule        string `parquet:"rule,dict"`
	Destination string `parquet:"destination,dict"`
}

// ID is the id of an event in six bytes, the highest first, so that ids are ordered
// as their bytes are.
type ID [6]byte

// MakeID returns id as an ID; it must be at least 0 and below 1<<48, as those of
// clicklog are.
func MakeID(id int64) ID {
	return ID{byte(id >> 40), byte(id >> 32), byte(id >> 24), byte(id >> 16), byte(id >> 8), byte(id)}
}

// Int returns the id as a number.
func (id ID) Int() int64 {
	return int64(id[0])<<40 | int64(id[1])<<32 | int64(id[2])<<24 | int64(id[3])<<16 | int64(id[4])<<8 | int64(id[5])
}

// Column is a column of the file, counted as they stand in it.
type Column int

// The columns. Those but At and ID are dictionary encoded.
const (
	App Column = iota
	At
	IDs
	Type
	Link
	Visitor
	Install
	Device
	OS
	Browser
	Source
	Country
	Referrer
	Rule
	Destination
	columns
)

var names = [columns]string{
	"app", "occurred_at", "id", "type", "link", "visitor", "install", "device", "os", "browser", "source", "country", "referrer",
	"rule", "destination",
}

// String returns the name of the column.
func (c Column) String() string {
	if c < 0 || c >= columns {
		return fmt.Sprintf("column %d", int(c))
	}
	return names[c]
}

// text reports whether the column holds text.
func (c Column) text() bool { return c == Type || c >= Device }

// Columns is a set of columns.
type Columns uint32

// Of returns the set of some columns.
func Of(list ...Column) (s Columns) {
	for _, c := range list {
		s |= 1 << c
	}
	return s
}

// All is the set of all columns.
const All Columns = 1<<columns - 1

// Has reports whether the set has a column.
func (s Columns) Has(c Column) bool { return s>>c&1 != 0 }
