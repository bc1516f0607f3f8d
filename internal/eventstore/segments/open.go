package segments

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/waymarkhq/waymark/internal/blob"
	"github.com/waymarkhq/waymark/internal/eventstore/segments/segment"
	"github.com/waymarkhq/waymark/internal/store"
)

// youngWithin is how long a young segment may take to be read.
const youngWithin = 10 * time.Second

// errGone is the error of a segment that is not in the manifest any more.
var errGone = errors.New("the segment was replaced")

// errMissing is the error of a sealed segment without its file.
var errMissing = errors.New("the file is missing from the segment store: is --segment-store the right one? If it is, " +
	"bring the file back from a backup")

// fileError is the error of a segment that cannot be read.
type fileError struct {
	id  string
	err error
}

func (e *fileError) Error() string { return "segment " + fileName(e.id) + ": " + e.err.Error() }
func (e *fileError) Unwrap() error { return e.err }

// openYoung opens a segment that lies in the manifest.
func (o *openFiles) openYoung(ctx context.Context, f *openFile, s *entry) error {
	ctx, cancel := context.WithTimeout(ctx, youngWithin)
	defer cancel()
	data, err := store.One(ctx, o.db, store.Value[[]byte], "SELECT data FROM event_segment WHERE id = ?", s.id)
	if errors.Is(err, store.ErrNotFound) {
		return errGone
	}
	if err == nil {
		f.File, err = segment.Open(bytes.NewReader(data), int64(len(data)))
	}
	return err
}

// openSealed opens a file. A damaged one of a store with a cache is fetched once more.
func (o *openFiles) openSealed(ctx context.Context, f *openFile, s *entry) error {
	err := o.openFile(ctx, f, s)
	if cached, ok := o.files.(blob.Cached); ok && errors.Is(err, segment.ErrDamaged) {
		cached.Forget(fileName(s.id))
		err = o.openFile(ctx, f, s)
	}
	return err
}

func (o *openFiles) openFile(ctx context.Context, f *openFile, s *entry) error {
	object, err := o.files.Open(ctx, fileName(s.id))
	if errors.Is(err, blob.ErrNotFound) {
		return o.whyMissing(ctx, s)
	}
	if err != nil {
		return err
	}
	err = o.check(object, s)
	if err == nil {
		f.File, err = segment.Open(object, s.bytes)
	}
	if err != nil {
		return errors.Join(err, object.Close())
	}
	f.closer = object
	return nil
}

// whyMissing returns the error of a sealed segment without its file: it was replaced long
// ago, or the file has been lost.
func (o *openFiles) whyMissing(ctx context.Context, s *entry) error {
	there, err := store.Exists(ctx, o.db, "SELECT 1 FROM event_segment WHERE id = ?", s.id)
	switch {
	case err != nil:
		return err
	case there:
		return errMissing
	}
	return errGone
}

// check compares the content of a file with the checksum in the manifest, once.
func (o *openFiles) check(r io.Reader, s *entry) error {
	o.mu.Lock()
	intact := o.intact[s.id]
	o.mu.Unlock()
	if intact {
		return nil
	}
	sum := sha256.New()
	n, err := io.Copy(sum, r)
	if err != nil {
		return err
	}
	if n != s.bytes || hex.EncodeToString(sum.Sum(nil)) != s.sha256 {
		return fmt.Errorf("%w: the file is not what was stored: bring it back from a backup", segment.ErrDamaged)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.intact[s.id] = true
	return nil
}
