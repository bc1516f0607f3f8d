package route

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
)

// destination is what a cache says of a path; "" when there is no link.
func destination(t testing.TB, c *Cache, path string) string {
	t.Helper()
	link, err := c.Link(context.Background(), "a.example", path)
	if err != nil {
		t.Fatal(err)
	}
	if link == nil {
		return ""
	}
	return link.DesktopURL
}

func open(t testing.TB, address string) *store.DB {
	c := &clock.Clock{}
	c.Set(storetest.Start)
	return storetest.Open(t, address, c)
}

func TestLookup(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, _ *clock.Clock) {
		ctx := t.Context()
		put(t, db, "p/x", web)
		publish(t, db, func(p *Publisher) error {
			return p.PutHost(ctx, "a.example", "r", Host{DomainID: "d", AppID: "app", NoIndex: true})
		})
		c := NewCache(db, slog.New(slog.DiscardHandler))
		for range 2 { // read, then remembered
			if host, err := c.Host(ctx, "a.example"); err != nil || host == nil ||
				*host != (Host{DomainID: "d", AppID: "app", NoIndex: true}) {
				t.Errorf("host %+v, %v", host, err)
			}
			if host, err := c.Host(ctx, "b.example"); err != nil || host != nil {
				t.Errorf("host %+v, %v", host, err)
			}
			if got := destination(t, c, "p/x"); got != web {
				t.Errorf("link to %q", got)
			}
			if got := destination(t, c, "x"); got != "" {
				t.Errorf("link to %q", got)
			}
			if host, err := c.Host(ctx, "p/x"); err != nil || host != nil {
				t.Errorf("a path as host: %+v, %v", host, err)
			}
		}
		// What is in memory needs no database; the rest is an error that
		// lasts no longer than its cause.
		if _, err := db.Exec(ctx, "ALTER TABLE route RENAME TO route_away"); err != nil {
			t.Fatal(err)
		}
		put := func() error { _, err := c.Link(ctx, "a.example", "new"); return err }
		if got := destination(t, c, "p/x"); got != web {
			t.Errorf("away: link to %q", got)
		}
		if put() == nil {
			t.Error("no error while the database is away")
		}
		if _, err := db.Exec(ctx, "ALTER TABLE route_away RENAME TO route"); err != nil {
			t.Fatal(err)
		}
		if err := put(); err != nil {
			t.Error(err)
		}
	})
}

func TestDamagedDocument(t *testing.T) {
	db := open(t, storetest.Address(t, "sqlite"))
	if _, err := db.Exec(t.Context(), `INSERT INTO route (hostname, path, owner, revision, document)
		VALUES ('a.example', 'x', 'o', 'r', '{')`); err != nil {
		t.Fatal(err)
	}
	if _, err := NewCache(db, slog.Default()).Link(t.Context(), "a.example", "x"); err == nil {
		t.Error("no error")
	}
}

// TestOvertakenLoad lets a change come between the begin of a load and its end.
func TestOvertakenLoad(t *testing.T) {
	db := open(t, storetest.Address(t, "sqlite"))
	k := key{"a.example", "x"}
	put(t, db, "x", "https://e.com/before")
	put(t, db, "x", web)
	newest := changes(t, db)[1]
	for read, kept := range map[int64]bool{newest.seq - 1: false, newest.seq: true, newest.seq + 1: true} {
		c := NewCache(db, slog.Default())
		l := &load{done: make(chan struct{}), entry: entry{link: &Link{DesktopURL: "https://e.com/before"}},
			newest: change{seq: read}}
		c.loads[k] = l
		if err := c.refresh(t.Context(), newest); err != nil {
			t.Fatal(err)
		}
		c.end(k, l)
		if _, held := c.present.GetIfPresent(k); held != kept {
			t.Errorf("change %d overtook a load that had read change %d: kept %v", newest.seq, read, held)
		}

		// Who asks after the change has a load of their own, also while that one is under way.
		c = NewCache(db, slog.Default())
		l = &load{done: make(chan struct{}), newest: change{seq: read}}
		c.loads[k] = l
		if err := c.refresh(t.Context(), newest); err != nil {
			t.Fatal(err)
		}
		if got := destination(t, c, "x"); got != web {
			t.Errorf("link to %q", got)
		}
		c.end(k, l)
		if got := destination(t, c, "x"); got != web {
			t.Errorf("link to %q after the end of the earlier load", got)
		}
	}
}

// TestWaiters has many ask for one address at once.
func TestWaiters(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, _ *clock.Clock) {
		put(t, db, "x", web)
		c := NewCache(db, slog.Default())
		// Keep every slot busy until all are waiting on one load.
		for range 4 {
			c.slots <- struct{}{}
		}
		var wg sync.WaitGroup
		for range 50 {
			wg.Go(func() {
				if link, err := c.Link(context.Background(), "a.example", "x"); err != nil || link == nil {
					t.Errorf("%v, %v", link, err)
				}
			})
		}
		for range 4 {
			<-c.slots
		}
		wg.Wait()
		if len(c.loads) != 0 {
			t.Errorf("%d loads are left", len(c.loads))
		}
		// A load that fails, fails for all who wait for it.
		l := &load{done: make(chan struct{}), err: errors.New("the database is away")}
		close(l.done)
		c.loads[key{"a.example", "z"}] = l
		if _, err := c.Link(t.Context(), "a.example", "z"); !errors.Is(err, l.err) {
			t.Errorf("got %v", err)
		}
		// Whoever waits for another's load may give up.
		l = &load{done: make(chan struct{})}
		c.loads[key{"a.example", "y"}] = l
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := c.Link(ctx, "a.example", "y"); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	})
}

// Who leaves, or whose time is over, before a connection is free gets an error, which is not the
// answer that there is nothing.
func TestNoConnectionFree(t *testing.T) {
	c := NewCache(open(t, storetest.Address(t, "sqlite")), slog.Default())
	for range 4 {
		c.slots <- struct{}{}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, read := c.read(ctx, key{"a.example", "x"})
	_, template := c.templateVersion(ctx, "template", 1)
	for _, err := range []error{read, template, c.readPaths(ctx, "a.example", []string{"x"}, map[string]string{})} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
	}
	if len(c.slots) != 4 {
		t.Errorf("%d connections are in use, want 4", len(c.slots))
	}
}

// The memory of what is kept is estimated by its texts.
func TestEstimates(t *testing.T) {
	c := NewCache(open(t, storetest.Address(t, "sqlite")), slog.Default())
	if present, absent, paths, templates := c.present.GetMaximum(), c.absent.GetMaximum(), c.paths.GetMaximum(),
		c.templates.held.GetMaximum(); present != 64<<20 || absent != 8<<20 || paths != 4<<20 || templates != 16<<20 {
		t.Errorf("room for %d bytes of routes, %d of unknown addresses, %d of paths, %d of templates", present, absent, paths, templates)
	}
	app := appAddress{path: "12", fragment: "3", pairs: []string{"1234", "12"}}
	if got := app.bytes(); got != 2+1+(4+16)+(2+16) {
		t.Errorf("the address of an app takes %d bytes", got)
	}
	p := plan{rules: make([]*target, 2), app: app, data: map[string]string{"ab": "cde"}}
	if got := p.bytes(); got != 2*400+41+(2+3+64) {
		t.Errorf("what is prepared of a link takes %d bytes", got)
	}
	if got := (key{"a.example", "x"}).weight(); got != 9+1+160 {
		t.Errorf("a key takes %d bytes", got)
	}
	put(t, c.db, "x", web)
	if err := c.db.InTx(t.Context(), func(tx *store.Tx) error {
		p, err := Lock(t.Context(), tx)
		if err != nil {
			return err
		}
		return p.PutHost(t.Context(), "a.example", "r", Host{AppID: "a"})
	}); err != nil {
		t.Fatal(err)
	}
	for path, estimate := range map[string]func(document int) int{
		"":  func(document int) int { return 160 + document },
		"x": func(document int) int { return 1200 + 2*document },
	} {
		document, err := store.One(t.Context(), c.db, store.Value[string], "SELECT document FROM route WHERE path = ?", path)
		if err != nil {
			t.Fatal(err)
		}
		e, _, err := c.read(t.Context(), key{"a.example", path})
		if err != nil || int(e.bytes) != estimate(len(document)) {
			t.Errorf("%q takes %d bytes, %v; its document has %d", path, e.bytes, err, len(document))
		}
	}
}

// TestFlood asks for far more unknown addresses than are remembered: the
// routes must stay.
func TestFlood(t *testing.T) {
	db := open(t, storetest.Address(t, "sqlite"))
	const links = 100
	publish(t, db, func(p *Publisher) error {
		for i := range links {
			if err := putLink(t.Context(), p, "a.example", fmt.Sprint("x", i), "r",
				Link{LinkID: "l", DesktopURL: web}); err != nil {
				return err
			}
		}
		return nil
	})
	c := newCache(db, slog.Default(), links*2000, 100*200)
	for i := range links {
		destination(t, c, fmt.Sprint("x", i))
	}
	for i := range 5000 {
		for range 3 { // also when asked for more than once
			if host, err := c.Host(t.Context(), fmt.Sprintf("flood%d.example", i)); host != nil || err != nil {
				t.Fatal(host, err)
			}
		}
	}
	c.present.CleanUp()
	c.absent.CleanUp()
	if n := c.absent.EstimatedSize(); n > 200 {
		t.Errorf("%d unknown addresses are remembered", n)
	}
	for i := range links {
		if _, ok := c.present.GetEntryQuietly(key{"a.example", fmt.Sprint("x", i)}); !ok {
			t.Errorf("link %d was pushed out", i)
		}
	}
}

func TestHitsDoNotAllocate(t *testing.T) {
	db := open(t, storetest.Address(t, "sqlite"))
	put(t, db, "x", web)
	c := NewCache(db, slog.Default())
	ctx := t.Context()
	for _, path := range []string{"x", "unknown"} {
		look := func() { c.Link(ctx, "a.example", path) }
		look()
		if n := testing.AllocsPerRun(1000, look); n >= 1 {
			t.Errorf("%q: %v allocations", path, n)
		}
	}
}

func BenchmarkLookup(b *testing.B) {
	db := open(b, storetest.Address(b, "sqlite"))
	put(b, db, "x", web)
	c := NewCache(db, slog.Default())
	for name, path := range map[string]string{"hit": "x", "absent": "unknown"} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c.Link(b.Context(), "a.example", path)
			}
		})
	}
	b.Run("miss", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			c.clear()
			c.Link(b.Context(), "a.example", "x")
		}
	})
}
