package blob

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// cache is an S3 store that keeps what was read of it in files, up to a number of
// bytes. Nobody relies on these files: who damages or removes one has it fetched again.
type cache struct {
	*bucket
	dir string

	mu sync.Mutex
	// kept are the files by name, nil until the folder was read; bytes is the sum of
	// their sizes. turn counts the uses.
	kept  map[string]*keptFile
	bytes int64
	turn  int64
	// fetching are closed when the object was fetched or could not be.
	fetching map[string]*fetching
}

type keptFile struct{ size, used int64 }

type fetching struct {
	done chan struct{}
	err  error
}

// Cached is a Store that keeps copies of what was read.
type Cached interface {
	Store
	// Size is the most bytes that the copies have.
	Size() int64
	// Forget removes the copy of an object, so that it is fetched again when it is opened
	// next: for a reader that found it damaged.
	Forget(name string)
	// Retain removes the copies of objects whose names are not wanted any more.
	Retain(wanted func(name string) bool)
}

func openCache(b *bucket, dir string) *cache {
	return &cache{bucket: b, dir: dir, fetching: map[string]*fetching{}}
}

// Open implements Store. An object that is not kept is fetched once for all who wait
// for it, also when they do not wait until it is there.
func (c *cache) Open(ctx context.Context, name string) (Object, error) {
	if err := c.kind.checkName(name); err != nil {
		return nil, err
	}
	const attempts = 3 // others may push it out before it is opened
	for range attempts {
		file, f, err := c.look(ctx, name)
		switch {
		case err != nil:
			return nil, away("read", name, err)
		case file != nil:
			return file, nil
		}
		select {
		case <-f.done:
			if f.err != nil {
				return nil, away("read", name, f.err)
			}
		case <-ctx.Done():
			return nil, away("read", name, ctx.Err())
		}
	}
	return c.bucket.Open(ctx, name)
}

// look opens a kept file, or returns the fetching of it, which it begins unless it has
// begun.
func (c *cache) look(ctx context.Context, name string) (Object, *fetching, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.load(); err != nil {
		return nil, nil, err
	}
	if k := c.kept[name]; k != nil {
		file, err := os.Open(filepath.Join(c.dir, name))
		if err == nil {
			c.turn++
			k.used = c.turn
			return file, nil, nil
		}
		c.drop(name)
	}
	f := c.fetching[name]
	if f == nil {
		f = &fetching{done: make(chan struct{})}
		c.fetching[name] = f
		go c.keep(context.WithoutCancel(ctx), name, f)
	}
	return nil, f, nil
}

// load finds out what is kept, and removes what a crash left half fetched.
func (c *cache) load() error {
	if c.kept != nil {
		return nil
	}
	err := os.MkdirAll(c.dir, 0o700)
	if err != nil {
		return err
	}
	entries, err := os.ReadDir(c.dir)
	if err != nil {
		return err
	}
	c.kept = map[string]*keptFile{}
	for _, entry := range entries {
		info, err := entry.Info()
		switch {
		case err != nil:
		case strings.HasPrefix(entry.Name(), unfinished):
			os.Remove(filepath.Join(c.dir, entry.Name()))
		case c.kind.Name.MatchString(entry.Name()):
			c.kept[entry.Name()] = &keptFile{size: info.Size()}
			c.bytes += info.Size()
		}
	}
	return nil
}

// keep fetches an object.
func (c *cache) keep(ctx context.Context, name string, f *fetching) {
	defer close(f.done)
	file, err := c.fetch(ctx, name, func() (*os.File, error) { return os.CreateTemp(c.dir, unfinished) })
	var info fs.FileInfo
	if err == nil {
		info, err = file.Stat()
	}
	if err == nil {
		err = os.Rename(file.Name(), filepath.Join(c.dir, name))
	}
	if file != nil {
		if err != nil {
			err = errors.Join(err, os.Remove(file.Name()))
		}
		file.Close()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.fetching, name)
	if f.err = err; err != nil {
		return
	}
	c.turn++
	c.kept[name] = &keptFile{size: info.Size(), used: c.turn}
	c.bytes += info.Size()
	for c.bytes > c.kind.Cache && len(c.kept) > 1 {
		c.drop(c.oldest())
	}
}

// oldest returns the name of the file that was used longest ago.
func (c *cache) oldest() (oldest string) {
	for name, k := range c.kept {
		if oldest == "" || k.used < c.kept[oldest].used {
			oldest = name
		}
	}
	return oldest
}

// drop removes a kept file. Those who have it open go on reading it.
func (c *cache) drop(name string) {
	if k := c.kept[name]; k != nil {
		c.bytes -= k.size
		delete(c.kept, name)
		os.Remove(filepath.Join(c.dir, name))
	}
}

// Size implements Cached.
func (c *cache) Size() int64 { return c.kind.Cache }

// Forget implements Cached.
func (c *cache) Forget(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.load() == nil {
		c.drop(name)
	}
}

// Retain implements Cached.
func (c *cache) Retain(wanted func(name string) bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.load() != nil {
		return
	}
	for name := range c.kept {
		if !wanted(name) {
			c.drop(name)
		}
	}
}

// Delete implements Store.
func (c *cache) Delete(ctx context.Context, name string) error {
	c.Forget(name)
	return c.bucket.Delete(ctx, name)
}
