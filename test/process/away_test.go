package process_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"
)

func decode(t *testing.T, text []byte, into any) {
	t.Helper()
	if err := json.Unmarshal(text, into); err != nil {
		t.Errorf("%s: %v", text, err)
	}
}

// gate stands between the program and its database, and can be shut.
type gate struct {
	listener net.Listener
	target   string

	mu    sync.Mutex
	conns map[net.Conn]bool
	// cut: connections are closed and new ones refused at once; silent:
	// nothing passes and nobody is told.
	cut    bool
	silent chan struct{} // closed when bytes pass again; nil when they pass
}

// behindGate returns a database address that leads through a gate.
func behindGate(t *testing.T, database string) (*gate, string) {
	t.Helper()
	u, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g := &gate{listener: l, target: u.Host, conns: map[net.Conn]bool{}}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() { g.pass(conn) })
		}
	})
	t.Cleanup(func() {
		l.Close()
		g.shut()
		g.open()
		wg.Wait()
	})
	u.Host = l.Addr().String()
	return g, u.String()
}

func (g *gate) keep(c net.Conn) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.cut {
		c.Close()
		return false
	}
	g.conns[c] = true
	return true
}

func (g *gate) pass(near net.Conn) {
	if !g.keep(near) {
		return
	}
	far, err := net.Dial("tcp", g.target)
	if err != nil || !g.keep(far) {
		near.Close()
		return
	}
	var wg sync.WaitGroup
	wg.Go(func() { g.copy(far, near) })
	wg.Go(func() { g.copy(near, far) })
	wg.Wait()
}

func (g *gate) copy(to, from net.Conn) {
	defer to.Close()
	defer from.Close()
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		g.mu.Lock()
		silent := g.silent
		g.mu.Unlock()
		if silent != nil {
			<-silent
		}
		if _, writeErr := to.Write(buffer[:n]); err != nil || writeErr != nil {
			return
		}
	}
}

// shut cuts all connections and lets no new one pass.
func (g *gate) shut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.cut = true
	for c := range g.conns {
		c.Close()
	}
	clear(g.conns)
}

// hush lets nothing pass, while connections stay open.
func (g *gate) hush() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.silent = make(chan struct{})
}

func (g *gate) open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.cut = false
	if g.silent != nil {
		close(g.silent)
		g.silent = nil
	}
}

// The database goes away and comes back while the program runs: known links
// redirect, unknown ones and the API tell that a part is unavailable, and
// clicks of the outage are counted afterwards, all without a restart.
func TestDatabaseAway(t *testing.T) {
	t.Parallel()
	for name, shut := range map[string]func(*gate){"cut": (*gate).shut, "silent": (*gate).hush} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g, database := behindGate(t, addressOf(t, "postgres"))
			s := serve(t, t.TempDir(), database)
			o := newOwner(t, s.client(s.token("owner@example.com")))
			o.http.Timeout = patience // longer than the server takes to give up
			v := s.visitor(t)
			for i := range 3 {
				slug := fmt.Sprintf("known-%d", i)
				o.create(t, slug)
				v.leadsTo(t, slug, slug+"-0")
			}
			// In the database and in nobody's memory.
			unknown := o.create(t, "unknown")
			s.eventually("the link nobody visited is published", func() error {
				a := o.must(t, 200, intent{method: "GET", path: "/links/" + url.PathEscape(unknown.ID)})
				if status := dataOf[link](t, a).Publication.Status; status != "synced" {
					return errors.New(status)
				}
				return nil
			})
			visits := 0
			visit := func() {
				t.Helper()
				slug := fmt.Sprintf("known-%d", visits%3)
				if a, _, err := v.ask("GET", slug); err != nil || a.status != 302 ||
					a.header.Get("Location") != target(slug+"-0") {
					t.Errorf("visit of a known link: %v, %v", a, err)
				}
				visits++
			}
			for range 10 {
				visit()
			}

			shut(g)
			outage := time.Now()
			for range 50 {
				visit()
			}
			for range 3 {
				began := time.Now()
				a, _, err := v.ask("GET", "unknown")
				if err != nil || a.status != 503 || a.header.Get("Retry-After") == "" {
					t.Errorf("visit of a link that is not in memory: %v, %v, %v", a, a.header, err)
				}
				t.Logf("a visitor of a link that is not in memory was answered within %s", time.Since(began).
					Round(time.Millisecond))
			}
			creation := o.creation("outage", "outage-0")
			for _, i := range []intent{{method: "GET", path: "/links?appId=" + o.app}, creation,
				{method: "GET", path: "/links/" + url.PathEscape(unknown.ID)}} {
				began := time.Now()
				a, err := o.call(i)
				if err != nil || a.status != 503 || a.code() != "service_unavailable" ||
					a.header.Get("Retry-After") == "" {
					t.Errorf("%s %s while the database is away: %v, %v; want 503 service_unavailable", i.method, i.path,
						a, err)
				}
				t.Logf("%s %s was answered within %s", i.method, i.path, time.Since(began).Round(time.Millisecond))
			}
			for path, want := range map[string]int{"/healthz": 200, "/readyz": 503} {
				if status := s.probe(path); status != want {
					t.Errorf("%s: %d, want %d", path, status, want)
				}
			}
			if _, stderr, code := execute(t, "health", "--metrics-addr", s.metrics); code != 1 || !strings.Contains(stderr, "is not ready") {
				t.Errorf("waymark health: exit code %d, %s", code, stderr)
			}
			for range 20 {
				visit()
			}
			t.Logf("the database was away for %s", time.Since(outage).Round(time.Millisecond))

			g.open()
			back := time.Now()
			s.eventually("the API works again", func() error {
				a, err := o.call(creation)
				if err != nil || a.status != 201 {
					return fmt.Errorf("%v, %v", a, err)
				}
				return nil
			})
			t.Logf("the API works again after %s", time.Since(back).Round(time.Millisecond))
			v.leadsTo(t, "outage", "outage-0")
			v.leadsTo(t, "unknown", "unknown-0")
			t.Logf("new links redirect again after %s", time.Since(back).Round(time.Millisecond))
			s.eventually("ready", func() error {
				if status := s.probe("/readyz"); status != 200 {
					return fmt.Errorf("status %d", status)
				}
				return nil
			})
			if stdout, stderr, code := execute(t, "health", "--metrics-addr", s.metrics); code != 0 || stdout != "ready\n" {
				t.Errorf("waymark health: exit code %d, %s %s", code, stdout, stderr)
			}
			s.loaded()
			t.Logf("the clicks of the outage are loaded after %s", time.Since(back).Round(time.Millisecond))
			if n := o.clicks(t); n != visits {
				t.Errorf("%d clicks are counted, want %d", n, visits)
			}
			s.terminate()
			clicksGone(t, s.dir)
		})
	}
}

// probe asks a page of the API listener that needs no credential.
func (s *server) probe(path string) int {
	s.t.Helper()
	response, err := (&http.Client{Timeout: patience}).Get("http://" + s.api + path)
	if err != nil {
		s.t.Error(err)
		return 0
	}
	defer response.Body.Close()
	io.Copy(io.Discard, response.Body)
	return response.StatusCode
}

// A database that is away does not hold up the end of a process, whose click log keeps the
// clicks.
func TestEndWithoutDatabase(t *testing.T) {
	t.Parallel()
	for name, shut := range map[string]func(*gate){"cut": (*gate).shut, "silent": (*gate).hush} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g, database := behindGate(t, addressOf(t, "postgres"))
			dir := t.TempDir()
			s := serve(t, dir, database)
			o := newOwner(t, s.client(s.token("owner@example.com")))
			o.create(t, "hello")
			v := s.visitor(t)
			v.leadsTo(t, "hello", "hello-0")
			shut(g)
			for range 20 {
				if a, _, err := v.ask("GET", "hello"); err != nil || a.status != 302 {
					t.Fatalf("visit: %v, %v", a, err)
				}
			}
			s.child.terminate()
			if log := s.stderr.String(); name == "silent" && !strings.Contains(log, "ended without the database") {
				t.Error("nothing is said of the database")
			}
			g.open()
			s = serve(t, dir, database)
			o.client = s.client(o.token)
			s.eventually("the clicks are counted", func() error {
				if n := o.clicks(t); n != 20 {
					return fmt.Errorf("%d", n)
				}
				return nil
			})
			s.terminate()
		})
	}
}
