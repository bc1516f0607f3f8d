package segment

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/waymarkhq/waymark/internal/clock"
)

const (
	magic = "PAR1"
	// maxFooter bounds the footer: that of a file of some 20,000 row groups.
	maxFooter = 64 << 20
)

// ErrDamaged is what every error is that the content of a segment causes.
var ErrDamaged = errors.New("segment is damaged")

// File is an open segment. It is safe for concurrent use.
type File struct {
	r      io.ReaderAt
	groups []rowGroup
	rows   int64
}

// Group tells what a row group has.
type Group struct {
	Rows int
	// FirstApp and LastApp are the lowest and the highest number of an app, FirstAt and
	// LastAt the first and the last instant of its events.
	FirstApp, LastApp int64
	FirstAt, LastAt   clock.Instant
}

// Open opens a segment of size bytes, of which it reads only the footer. r is read for
// as long as the File is used, by several goroutines at a time.
func Open(r io.ReaderAt, size int64) (f *File, err error) {
	defer recovered(&err)
	b, err := readFooter(r, size)
	if err != nil {
		return nil, err
	}
	parsed, err := parseFooter(b, size-int64(len(b))-8)
	if err != nil {
		return nil, err
	}
	if parsed.format != format || len(parsed.names) != int(columns)+1 || !slices.Equal(parsed.names[1:], names[:]) {
		return nil, fmt.Errorf("%w: it is a Parquet file of another format (%s %q, want %q)", ErrDamaged, formatKey,
			parsed.format, format)
	}
	f = &File{r: r, groups: slices.Clip(parsed.groups)}
	for i := range f.groups {
		f.rows += int64(f.groups[i].Rows)
	}
	return f, nil
}

// readFooter returns the footer, without its length and the magic bytes after it.
func readFooter(r io.ReaderAt, size int64) ([]byte, error) {
	var tail [8]byte
	if size < int64(len(magic)+len(tail)) {
		return nil, fmt.Errorf("%w: it has only %d bytes", ErrDamaged, size)
	}
	if err := readAt(r, tail[:], size-8); err != nil {
		return nil, err
	}
	length := int64(binary.LittleEndian.Uint32(tail[:4]))
	if string(tail[4:]) != magic || length > min(maxFooter, size-12) {
		return nil, fmt.Errorf("%w: it does not end as a Parquet file", ErrDamaged)
	}
	b := make([]byte, length)
	return b, readAt(r, b, size-8-length)
}

// readAt fills b. A file that is shorter than it should be is damaged.
func readAt(r io.ReaderAt, b []byte, offset int64) error {
	n, err := r.ReadAt(b, offset)
	switch {
	case n == len(b):
		return nil
	case err == nil || errors.Is(err, io.EOF):
		return fmt.Errorf("%w: it ends before byte %d", ErrDamaged, offset+int64(len(b)))
	}
	return fmt.Errorf("read segment: %w", err)
}

// Groups returns the number of row groups.
func (f *File) Groups() int { return len(f.groups) }

// Group tells what row group i has.
func (f *File) Group(i int) Group { return f.groups[i].Group }

// Rows returns the number of events.
func (f *File) Rows() int64 { return f.rows }

// recovered makes a panic an error.
func recovered(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("%w: %v", ErrDamaged, p)
	}
}
