package process_test

import (
	"bytes"
	"image"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/waymarkhq/waymark/internal/store/storetest"
)

// An installation goes on in PostgreSQL where it was in SQLite, with the same data folder, keys
// and sessions; and nothing goes on in SQLite.
func TestMove(t *testing.T) {
	t.Parallel()
	dir, to := t.TempDir(), storetest.Empty(t, "postgres")
	s := serve(t, dir, "sqlite")
	o := newOwner(t, s.client(s.token("owner@example.com")))
	o.keepEvents(t)
	o.create(t, "one")
	o.limited(t, s, "limited", 2)
	v := s.visitor(t)
	v.leadsTo(t, "one", "one-0")
	if status := v.follow(t, "limited"); status != 302 {
		t.Fatal(status)
	}
	var picture bytes.Buffer
	if err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, 9, 9))); err != nil {
		t.Fatal(err)
	}
	uploaded, err := o.upload(o.app, uuid.NewString(), picture.Bytes())
	if err != nil || uploaded.status != 201 {
		t.Fatal(uploaded, err)
	}
	refused := func(what, words string, args ...string) {
		t.Helper()
		if stderr, _ := second(t, exec.Command(binary, args...)); !strings.Contains(stderr, words) {
			t.Errorf("%s: %q, want %q", what, stderr, words)
		}
	}
	move := []string{"move", "--data-dir", dir, "--to", to}
	refused("while it is served", "in use by another waymark serve", move...)
	refused("from PostgreSQL", "only an installation on SQLite can be moved", append(move, "--database", to)...)
	// The click of the killed server is in its log, which goes on to be used.
	s.kill()
	refused("to SQLite", "--to is not a postgres:// address", "move", "--data-dir", dir, "--to", "x")
	out, stderr, code := execute(t, move...)
	if code != 0 || !strings.HasPrefix(out, "moved ") {
		t.Fatalf("move: exit code %d, %q, %q", code, out, stderr)
	}
	t.Log(strings.TrimSpace(out))
	refused("once more", "was moved to PostgreSQL", move...)
	refused("SQLite is served", "was moved to PostgreSQL", serveArgs(dir, "sqlite")...)
	refused("SQLite is migrated", "was moved to PostgreSQL", "migrate", "--data-dir", dir)
	// As after a crash when all had arrived: the SQLite file is as it was, and is not moved once more.
	file := filepath.Join(dir, "waymark.db")
	back := func() {
		t.Helper()
		if err := os.Rename(file+".moved", file); err != nil {
			t.Fatal(err)
		}
	}
	back()
	if out, stderr, code := execute(t, move...); code != 0 || !strings.HasPrefix(out, "moved ") {
		t.Fatalf("move after a crash: exit code %d, %q, %q", code, out, stderr)
	}

	again := serve(t, dir, to)
	o.client = again.client(o.token)
	o.create(t, "two")
	v = again.visitor(t)
	v.leadsTo(t, "one", "one-0")
	v.leadsTo(t, "two", "two-0")
	if second, third := v.follow(t, "limited"), v.follow(t, "limited"); second != 302 || third != 410 {
		t.Errorf("the second click of two: %d, the third: %d", second, third)
	}
	if status := again.image(t, dataOf[struct{ URL string }](t, uploaded).URL); status != 200 {
		t.Errorf("the image: %d", status)
	}
	again.loaded()
	if n := o.clicks(t); n != 2 {
		t.Errorf("%d clicks, want one from before and one from after", n)
	}
	again.terminate()
	back()
	refused("over what was served since", "has an installation already", move...)
}
