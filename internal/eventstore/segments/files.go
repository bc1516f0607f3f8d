package segments

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/waymarkhq/waymark/internal/blob"
	"github.com/waymarkhq/waymark/internal/eventstore/segments/segment"
	"github.com/waymarkhq/waymark/internal/store"
)

// maxOpen is how many segments stay open that nobody uses: so many descriptors and
// footers a process holds.
const maxOpen = 128

// youngWithin is how long a young segment may take to be read.
const youngWithin = 10 * time.Second

// errGone is the error of a segment that is not in the manifest any more.
var errGone = errors.New("the segment was replaced")

// errMissing is the error of a sealed segment without its file.
var errMissing = errors.New("the file is missing from the segment store: bring it back from a backup")

// fileError is the error of a segment that cannot be read.
type fileError struct {
	id  string
	err error
}

func (e *fileError) Error() string { return "segment " + fileName(e.id) + ": " + e.err.Error() }
func (e *fileError) Unwrap() error { return e.err }

// openFiles are open segments. It is safe for concurrent use.
type openFiles struct {
	db    *store.DB
	files blob.Store

	mu   sync.Mutex
	byID map[string]*openFile
	// intact are the files whose content this process has compared with its checksum.
	intact map[string]bool
	uses   int64
}

// openFile is a segment that is open, or about to be.
type openFile struct {
	*segment.File
	id     string
	closer io.Closer
	// ready is closed once the segment is open, or err says why it is not.
	ready chan struct{}
	err   error
	// users and used are guarded by openFiles.mu; used is when it was used last.
	users int
	used  int64
}

func newOpenFiles(db *store.DB, files blob.Store) *openFiles {
	return &openFiles{db: db, files: files, byID: map[string]*openFile{}, intact: map[string]bool{}}
}

// get opens a segment, or returns it as somebody else has opened it. Each success takes
// one release.
func (o *openFiles) get(ctx context.Context, s *entry) (*openFile, error) {
	o.mu.Lock()
	f := o.byID[s.id]
	if f == nil {
		f = &openFile{id: s.id, ready: make(chan struct{}), users: 1} // who fills it
		o.byID[s.id] = f
		go o.fill(context.WithoutCancel(ctx), f, *s)
	}
	f.users++
	o.uses++
	f.used = o.uses
	o.mu.Unlock()
	select {
	case <-f.ready:
	case <-ctx.Done():
		o.release(f)
		return nil, ctx.Err()
	}
	if f.err != nil {
		o.release(f)
		return nil, f.err
	}
	return f, nil
}

// fill opens a segment for all who wait for it.
func (o *openFiles) fill(ctx context.Context, f *openFile, s entry) {
	if s.young {
		f.err = o.openYoung(ctx, f, &s)
	} else {
		f.err = o.openSealed(ctx, f, &s)
	}
	if f.err != nil {
		if !errors.Is(f.err, errGone) {
			f.err = &fileError{s.id, f.err}
		}
		o.mu.Lock()
		delete(o.byID, s.id) // the next one tries again
		o.mu.Unlock()
	}
	close(f.ready)
	o.release(f)
}

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

// release ends a use of a segment.
func (o *openFiles) release(f *openFile) {
	o.mu.Lock()
	defer o.mu.Unlock()
	f.users--
	if o.byID[f.id] != f && f.users == 0 {
		f.close()
	}
	for len(o.byID) > maxOpen {
		var oldest *openFile
		for _, f := range o.byID {
			if f.users == 0 && (oldest == nil || f.used < oldest.used) {
				oldest = f
			}
		}
		if oldest == nil {
			return // all are in use
		}
		o.drop(oldest)
	}
}

// retain forgets the segments that are not in the manifest any more.
func (o *openFiles) retain(manifest []entry) {
	ids := make(map[string]bool, len(manifest))
	for i := range manifest {
		ids[manifest[i].id] = true
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for id := range o.intact {
		if !ids[id] {
			delete(o.intact, id)
		}
	}
	for id, f := range o.byID {
		if !ids[id] {
			o.drop(f)
		}
	}
	if cached, ok := o.files.(blob.Cached); ok {
		cached.Retain(func(name string) bool { return ids[strings.TrimSuffix(name, extension)] })
	}
}

// drop forgets a segment, which is closed when nobody uses it any more.
func (o *openFiles) drop(f *openFile) {
	delete(o.byID, f.id)
	if f.users == 0 {
		f.close()
	}
}

// close closes the segments.
func (o *openFiles) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, f := range o.byID {
		o.drop(f)
	}
}

func (f *openFile) close() {
	if f.closer != nil {
		f.closer.Close()
	}
}
