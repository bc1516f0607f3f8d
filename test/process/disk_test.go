package process_test

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// A disk that fills up while the server runs: writes are refused as
// unavailable, reads and redirects go on, and once there is space again so do
// writes, without a restart. Acknowledged writes and counted visits stay.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	// The children of a mount namespace cannot be joined from here: the
	// development mode prints a token.
	s := started(t, inNamespace(`mount -t tmpfs -o size=12m,mode=0700 none "$1"`, dir,
		serveArgs(dir, "sqlite", "--dev")...), dir, "sqlite")
	var token string
	s.eventually("the welcome", func() error {
		_, err := fmt.Sscanf(after(s.stdout.String(), "\nTOKEN="), "%s", &token)
		return err
	})
	o := newOwner(t, s.client(token))
	v := s.visitor(t)
	for i := range 3 {
		slug := fmt.Sprintf("fixed-%d", i)
		o.create(t, slug)
		v.leadsTo(t, slug, slug+"-0")
	}
	visits := 0
	visit := func() {
		t.Helper()
		if a, _, err := v.ask("GET", "fixed-0"); err != nil || a.status != 302 {
			t.Errorf("visit: %v, %v", a, err)
		}
		visits++
	}
	visit()

	// Filled from outside, through the server's own root.
	fill := filepath.Join("/proc", fmt.Sprint(s.cmd.Process.Pid), "root", dir, "fill")
	full := func() {
		t.Helper()
		f, err := os.OpenFile(fill, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if n, err := io.Copy(f, io.LimitReader(zero{}, 64<<20)); err == nil {
			t.Fatalf("%d bytes did not fill the disk", n)
		}
	}
	full()
	var refused []intent
	acknowledged := map[string]bool{}
	statuses := map[int]int{}
	for i := range 60 {
		full() // SQLite may have given space back
		slug := fmt.Sprintf("full-%d", i)
		creation := o.creation(slug, slug+"-0")
		a, err := o.call(creation)
		if err != nil {
			t.Fatal(err)
		}
		statuses[a.status]++
		switch {
		case a.status == 201:
			acknowledged[slug] = true
		case a.status == 503 && a.code() == "service_unavailable" && a.header.Get("Retry-After") != "":
			refused = append(refused, creation)
		default:
			t.Errorf("write on a full disk: %s", a)
		}
		o.must(t, 200, intent{method: "GET", path: "/links?appId=" + o.app})
	}
	t.Logf("writes on the full disk: %v", statuses)
	if len(refused) == 0 {
		t.Error("the disk was never full for the database")
	}
	for range 50 {
		visit()
	}
	var together sync.WaitGroup
	var mu sync.Mutex
	for i := range 8 {
		together.Go(func() {
			slug := fmt.Sprintf("together-%d", i)
			a, err := o.call(o.creation(slug, slug+"-0"))
			if err != nil || a.status != 503 && a.status != 201 {
				t.Errorf("one of several writes on a full disk: %v, %v", a, err)
			}
			mu.Lock()
			defer mu.Unlock()
			if a.status == 201 {
				acknowledged[slug] = true
			}
		})
	}
	together.Wait()
	lost := int(s.metric("waymark_redirect_clicks_lost_total"))
	t.Logf("of %d visits %d could not be recorded", visits, lost)

	if err := os.Remove(fill); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	s.eventually("writes work again", func() error {
		a, err := o.call(refused[0])
		if err != nil || a.status != 201 {
			return fmt.Errorf("%v, %v", a, err)
		}
		return nil
	})
	t.Logf("writes work again %s after there was space", time.Since(began).Round(time.Millisecond))
	for _, creation := range refused {
		slug := creation.body.(map[string]any)["slug"].(string)
		a := o.must(t, 201, creation)
		if a.replayed() != (slug == refused[0].body.(map[string]any)["slug"]) {
			t.Errorf("%s: replayed %v; a refused write must have had no effect", slug, a.replayed())
		}
		v.leadsTo(t, slug, slug+"-0")
	}
	for slug := range acknowledged {
		v.leadsTo(t, slug, slug+"-0")
	}
	visit()
	s.loaded()
	if n := o.clicks(t); n != visits-lost {
		t.Errorf("%d clicks are counted; %d visits were answered of which %d are told as lost", n, visits, lost)
	}
	s.terminate()
}

type zero struct{}

func (zero) Read(b []byte) (int, error) {
	clear(b)
	return len(b), nil
}

// after returns what follows mark in text.
func after(text, mark string) string {
	_, rest, _ := strings.Cut(text, mark)
	return rest
}
