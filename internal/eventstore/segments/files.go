package segments

import (
	"context"
	"errors"
	"io"
	"maps"
	"math"
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

// retainEvery is how often a process looks which of its segments were replaced. Those that
// take steps do it more often.
const retainEvery = time.Minute

// openFiles are open segments. It is safe for concurrent use.
type openFiles struct {
	db    *store.DB
	files blob.Store
	// most is how many bytes the files of byID may have that nobody uses: as many as those
	// in the cache of files, which may have removed their names.
	most  int64
	timer *time.Timer

	mu   sync.Mutex
	byID map[string]*openFile
	// bytes are those of the sealed ones of byID.
	bytes int64
	// intact are the files whose content this process has compared with its checksum.
	intact map[string]bool
	uses   int64
}

// openFile is a segment that is open, or about to be.
type openFile struct {
	*segment.File
	id     string
	bytes  int64 // 0 for a young one
	closer io.Closer
	// ready is closed once the segment is open, or err says why it is not.
	ready chan struct{}
	err   error
	// users and used are guarded by openFiles.mu; used is when it was used last.
	users int
	used  int64
}

// newOpenFiles returns openFiles that look now and then what they may forget.
func newOpenFiles(db *store.DB, files blob.Store, every time.Duration) *openFiles {
	o := &openFiles{db: db, files: files, most: math.MaxInt64, byID: map[string]*openFile{}, intact: map[string]bool{}}
	if cached, ok := files.(blob.Cached); ok {
		o.most = cached.Size()
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.timer = time.AfterFunc(every, func() {
		o.look()
		o.mu.Lock()
		defer o.mu.Unlock()
		if o.timer != nil {
			o.timer.Reset(every)
		}
	})
	return o
}

// look forgets what is not in the manifest any more, unless the database is away.
func (o *openFiles) look() {
	ctx, cancel := context.WithTimeout(context.Background(), youngWithin)
	defer cancel()
	if manifest, err := entries(ctx, o.db, ""); err == nil {
		o.retain(manifest)
	}
}

// get opens a segment, or returns it as somebody else has opened it. Each success takes
// one release.
func (o *openFiles) get(ctx context.Context, s *entry) (*openFile, error) {
	o.mu.Lock()
	f := o.byID[s.id]
	if f == nil {
		f = &openFile{id: s.id, ready: make(chan struct{}), users: 1} // who fills it
		if !s.young {
			f.bytes = s.bytes
		}
		o.byID[s.id] = f
		o.bytes += f.bytes
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
		o.forget(f) // the next one tries again
		o.mu.Unlock()
	}
	close(f.ready)
	o.release(f)
}

// release ends a use of a segment.
func (o *openFiles) release(f *openFile) {
	o.mu.Lock()
	var unused []*openFile
	f.users--
	if o.byID[f.id] != f && f.users == 0 {
		unused = append(unused, f)
	}
	for len(o.byID) > maxOpen || o.bytes > o.most {
		var oldest *openFile
		for _, f := range o.byID {
			if f.users == 0 && (oldest == nil || f.used < oldest.used) {
				oldest = f
			}
		}
		if oldest == nil {
			break // all are in use
		}
		o.forget(oldest)
		unused = append(unused, oldest)
	}
	o.mu.Unlock()
	closeAll(unused)
}

// retain forgets the segments that are not in the manifest any more.
func (o *openFiles) retain(manifest []entry) {
	ids := make(map[string]bool, len(manifest))
	for i := range manifest {
		ids[manifest[i].id] = true
	}
	o.mu.Lock()
	maps.DeleteFunc(o.intact, func(id string, _ bool) bool { return !ids[id] })
	unused := o.forgetAll(func(id string) bool { return !ids[id] })
	o.mu.Unlock()
	closeAll(unused)
	if cached, ok := o.files.(blob.Cached); ok {
		cached.Retain(func(name string) bool { return ids[strings.TrimSuffix(name, extension)] })
	}
}

// forget takes a segment out, which is closed when nobody uses it any more.
func (o *openFiles) forget(f *openFile) {
	if o.byID[f.id] == f {
		delete(o.byID, f.id)
		o.bytes -= f.bytes
	}
}

// forgetAll forgets some segments and returns those that nobody uses.
func (o *openFiles) forgetAll(which func(id string) bool) (unused []*openFile) {
	for id, f := range o.byID {
		if which(id) {
			o.forget(f)
			if f.users == 0 {
				unused = append(unused, f)
			}
		}
	}
	return unused
}

// close closes the segments, and looks no more.
func (o *openFiles) close() {
	o.mu.Lock()
	if o.timer != nil {
		o.timer.Stop()
		o.timer = nil
	}
	unused := o.forgetAll(func(string) bool { return true })
	o.mu.Unlock()
	closeAll(unused)
}

// closeAll closes segments that nobody can find any more.
func closeAll(files []*openFile) {
	for _, f := range files {
		if f.closer != nil {
			f.closer.Close()
		}
	}
}
