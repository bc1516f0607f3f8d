package process_test

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/waymarkhq/waymark/internal/store"
)

// limited creates a link with so many clicks and waits until it is there.
func (o *owner) limited(t *testing.T, s *server, slug string, clicks int) link {
	t.Helper()
	i := o.creation(slug, slug)
	i.body.(map[string]any)["lifecycle"] = map[string]any{"maxClicks": clicks}
	l := dataOf[link](t, o.must(t, 201, i))
	s.visitor(t).leadsTo(t, slug, slug)
	return l
}

// follow visits a link until it is answered otherwise than to come again, which
// a starting process does.
func (v *visitor) follow(t *testing.T, slug string) (status int) {
	t.Helper()
	eventually(t, "an answer for "+slug, func() error {
		a, _, err := v.ask("GET", slug)
		if err != nil {
			t.Fatal(err)
		}
		if status = a.status; status == 503 {
			return fmt.Errorf("%v", a)
		}
		return nil
	})
	return status
}

// A process is killed after three of five clicks: the next one lets through
// exactly two.
func TestLimitAfterCrash(t *testing.T) {
	each(t, func(t *testing.T, database string) {
		dir := t.TempDir()
		s := serve(t, dir, database)
		o := newOwner(t, s.client(s.token("ann@example.com")))
		l := o.limited(t, s, "five", 5)
		v := s.visitor(t)
		for i := range 3 {
			if status := v.follow(t, "five"); status != 302 {
				t.Fatalf("click %d: %d", i+1, status)
			}
		}
		s.kill()
		s = serve(t, dir, database)
		o.client = s.client(o.token)
		v = s.visitor(t)
		for i, want := range []int{302, 302, 410, 410} {
			if status := v.follow(t, "five"); status != want {
				t.Errorf("click %d: %d, want %d", 4+i, status, want)
			}
		}
		s.loaded()
		read := intent{method: "GET", path: "/links/" + url.PathEscape(l.ID)}
		if state := dataOf[struct{ State string }](t, o.must(t, 200, read)).State; state != "expired" {
			t.Errorf("the link is %s", state)
		}
		s.terminate()
		s = serve(t, dir, database)
		if status := s.visitor(t).follow(t, "five"); status != 410 {
			t.Errorf("after an orderly restart: %d", status)
		}
		s.terminate()
	})
}

// Processes are killed again and again while visitors crowd a link: all in all
// it lets through as many as it may, but for answers that a crash cut off.
func TestLimitUnderCrashes(t *testing.T) {
	const limit, crashes, visitors = 400, 3, 8
	each(t, func(t *testing.T, database string) {
		dir := t.TempDir()
		s := serve(t, dir, database)
		o := newOwner(t, s.client(s.token("ann@example.com")))
		l := o.limited(t, s, "crowded", limit)
		var through, cut atomic.Int64
		for round := range crashes + 1 {
			if round > 0 {
				s = serve(t, dir, database)
			}
			enough := make(chan struct{})
			var once sync.Once
			var crowd sync.WaitGroup
			for range visitors {
				v := s.visitor(t)
				crowd.Go(func() {
					for {
						a, sent, err := v.ask("GET", "crowded")
						switch {
						case err != nil && sent:
							cut.Add(1)
							return
						case err != nil || a.status == 410:
							return
						case a.status == 302:
							if through.Add(1) >= int64(limit*(round+1)/(crashes+2)) {
								once.Do(func() { close(enough) })
							}
						case a.status != 503:
							t.Errorf("%v", a)
							return
						}
					}
				})
			}
			if round < crashes {
				<-enough
				s.kill()
			}
			crowd.Wait()
		}
		if n := through.Load(); n > limit || n+cut.Load() < limit {
			t.Errorf("%d came through and %d have no answer; the limit is %d", n, cut.Load(), limit)
		}
		s.loaded()
		clicks, err := store.One(t.Context(), open(t, dir, database), store.Value[int64], `SELECT clicks
			FROM click_count WHERE link_id = ?`, l.ID)
		if err != nil || clicks != limit {
			t.Errorf("%d clicks are counted, %v", clicks, err)
		}
		t.Logf("%d came through, %d have no answer", through.Load(), cut.Load())
		s.terminate()
	})
}

// What one process lets through, another learns of.
func TestLimitOfSeveral(t *testing.T) {
	t.Parallel()
	database := addressOf(t, "postgres")
	a := serve(t, t.TempDir(), database)
	b := serve(t, t.TempDir(), database, "--roles", "redirect")
	o := newOwner(t, a.client(a.token("ann@example.com")))
	o.limited(t, a, "five", 5)
	b.visitor(t).leadsTo(t, "five", "five") // which remembers that there were no clicks
	v := a.visitor(t)
	for range 5 {
		if status := v.follow(t, "five"); status != 302 {
			t.Fatalf("status %d", status)
		}
	}
	other := b.visitor(t)
	b.eventually("the other process learns of it", func() error {
		if status, _ := other.look(t, "five"); status != 410 {
			return fmt.Errorf("status %d", status)
		}
		return nil
	})
	a.terminate()
	b.terminate()
}

// A file of countries that cannot be used is told at once.
func TestBadCountries(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "countries.mmdb")
	for _, prepare := range []func() error{
		func() error { return nil },
		func() error { return os.WriteFile(path, []byte("no database"), 0o600) },
	} {
		if err := prepare(); err != nil {
			t.Fatal(err)
		}
		_, stderr, code := execute(t, serveArgs(dir, "sqlite", "--geoip", path)...)
		if code != 1 || !strings.Contains(stderr, "--geoip: ") || !strings.Contains(stderr, path) {
			t.Errorf("exit code %d, %q", code, stderr)
		}
	}
}
