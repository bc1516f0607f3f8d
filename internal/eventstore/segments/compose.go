package segments

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"os"
	"slices"

	"github.com/waymarkhq/waymark/internal/blob"
	"github.com/waymarkhq/waymark/internal/eventstore/segments/segment"
)

// composer writes segments, one after the other.
type composer struct {
	w    *segment.Writer
	sum  hash.Hash
	made entry
	// rows are those of a young segment that is appended, order their order and buf its
	// content.
	rows  []segment.Event
	order []int32
	buf   bytes.Buffer
}

func newComposer() *composer {
	return &composer{w: segment.NewWriter(io.Discard), sum: sha256.New()}
}

// begin begins a segment that is written to out.
func (c *composer) begin(out io.Writer) {
	c.sum.Reset()
	c.made = entry{}
	c.w.Reset(io.MultiWriter(out, c.sum, (*counted)(&c.made)))
}

// add adds the next event.
func (c *composer) add(e *segment.Event) error {
	if c.made.events == 0 {
		c.made.first, c.made.last = e.At, e.At
	}
	c.made.first, c.made.last = min(c.made.first, e.At), max(c.made.last, e.At)
	c.made.events++
	return c.w.Add(e)
}

// end ends the segment.
func (c *composer) end() (entry, error) {
	err := c.w.Close()
	random := make([]byte, 16)
	rand.Read(random)
	c.made.id, c.made.sha256 = hex.EncodeToString(random), hex.EncodeToString(c.sum.Sum(nil))
	return c.made, err
}

// counted counts the bytes of a segment.
type counted entry

func (c *counted) Write(p []byte) (int, error) {
	c.bytes += int64(len(p))
	return len(p), nil
}

// young makes the rows a young segment, in their order; what one could not tell apart
// becomes one. Its data are valid until c is used again.
func (c *composer) young() (draft, error) {
	c.order = c.order[:0]
	for i := range c.rows {
		c.order = append(c.order, int32(i))
	}
	slices.SortFunc(c.order, func(i, j int32) int { return compare(&c.rows[i], &c.rows[j]) })
	c.buf.Reset()
	c.begin(&c.buf)
	for n, i := range c.order {
		if n > 0 && compare(&c.rows[c.order[n-1]], &c.rows[i]) == 0 {
			continue
		}
		if err := c.add(&c.rows[i]); err != nil {
			return draft{}, err
		}
	}
	made, err := c.end()
	made.young = true
	return draft{entry: made, data: c.buf.Bytes()}, err
}

// sealed is the file of a segment that is being written. It has no name yet.
type sealed struct {
	*composer
	file *os.File
	out  *bufio.Writer
}

// seal begins a file. A crash leaves it nameless, or under a name that serve removes.
func (e *Engine) seal() (*sealed, error) {
	file, err := os.CreateTemp(e.Dir, ".storing-")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(file.Name()); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	s := &sealed{e.composer(), file, bufio.NewWriterSize(file, 1<<18)}
	s.begin(s.out)
	return s, nil
}

// store ends the segment, which takes the place of old ones, and stores it under its name.
// It is errLost when an old one is gone already: Erase, which may have done that, counts on
// the file being announced before it looks, or not stored.
func (s *sealed) store(ctx context.Context, e *Engine, old []entry) (d draft, err error) {
	if d.entry, err = s.end(); err == nil {
		err = s.out.Flush()
	}
	if err == nil {
		_, err = s.file.Seek(0, io.SeekStart)
	}
	if err == nil {
		d.due, err = e.announce(ctx, d.id)
	}
	if err != nil {
		return d, err
	}
	if err := e.stillThere(ctx, old); err != nil {
		return d, errors.Join(err, e.abandon(ctx, []draft{d}))
	}
	return d, e.Files.Put(ctx, fileName(d.id), blob.Segments(0).ContentType, s.file, d.bytes)
}
