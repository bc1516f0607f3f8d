package process_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
)

// backup runs waymark backup, which must end.
func backup(t *testing.T, dir, database, into string) {
	t.Helper()
	began := time.Now()
	out, stderr, code := execute(t, "backup", "--data-dir", dir, "--database", database, into)
	if code != 0 || !strings.HasPrefix(out, "wrote a backup of ") {
		t.Fatalf("backup: exit code %d, %q, %q", code, out, stderr)
	}
	t.Logf("%s in %s", strings.TrimSpace(out), time.Since(began).Round(time.Millisecond))
}

// restore runs waymark restore and returns what it says when it refuses.
func restore(t *testing.T, dir, database, from string) (refusal string) {
	t.Helper()
	out, stderr, code := execute(t, "restore", "--data-dir", dir, "--database", database, from)
	if (code == 0) != strings.HasPrefix(out, "restored the backup of ") || (code == 0) != (stderr == "") {
		t.Errorf("restore: exit code %d, %q, %q", code, out, stderr)
	}
	return stderr
}

// verify runs waymark verify and returns what it says when it refuses.
func verify(t *testing.T, from string) (refusal string) {
	t.Helper()
	out, stderr, code := execute(t, "verify", from)
	if (code == 0) != strings.HasPrefix(out, "verified the backup of ") || (code == 0) != (stderr == "") {
		t.Errorf("verify: exit code %d, %q, %q", code, out, stderr)
	}
	return stderr
}

// The drill: a backup under full load ends, and has everything that was acknowledged before it
// began. The server is killed under that load, and its machine is lost; what is made of the
// backup elsewhere is the same installation, with another epoch.
func TestBackup(t *testing.T) {
	each(t, func(t *testing.T, database string) {
		dir, into := t.TempDir(), filepath.Join(t.TempDir(), "some", "backup")
		s := serve(t, dir, database)
		l := newLoad(t, s)
		l.owner.limited(t, s, "limited", 3)
		v := s.visitor(t)
		for range 2 {
			if status := v.follow(t, "limited"); status != 302 {
				t.Fatal(status)
			}
		}
		var picture bytes.Buffer
		if err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, 9, 9))); err != nil {
			t.Fatal(err)
		}
		uploaded, err := l.owner.upload(l.owner.app, uuid.NewString(), picture.Bytes())
		if err != nil || uploaded.status != 201 {
			t.Fatal(uploaded, err)
		}
		old := epochOf(t, open(t, dir, database))
		load := func(round int, until func() bool) {
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			var wg sync.WaitGroup
			l.writers(ctx, round, 4, &wg)
			l.visitors(ctx, s, 3, &wg)
			eventually(t, "there is load", func() error {
				if !until() {
					return errors.New("not enough")
				}
				return nil
			})
			cancel()
			wg.Wait()
		}
		load(0, func() bool { return l.writing.Load() > 20 && l.answered.Load() > 50 })
		before, visited := slices.Clone(l.links), int(l.answered.Load())
		load(1, func() bool {
			written := l.writing.Load()
			backup(t, dir, database, into)
			t.Logf("%d writes meanwhile", l.writing.Load()-written)
			l.ending.Store(true)
			s.kill()
			return true
		})
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		if refusal := verify(t, into); refusal != "" {
			t.Error(refusal)
		}

		elsewhere, other := filepath.Join(t.TempDir(), "elsewhere"), addressOf(t, s.engine())
		if refusal := restore(t, elsewhere, other, into); refusal != "" {
			t.Fatal(refusal)
		}
		again := serve(t, elsewhere, other)
		db := open(t, elsewhere, other)
		l.owner.client = again.client(l.owner.token)
		eventually(t, "all publications are synced", func() error {
			if n := number(t, db, `SELECT (SELECT COUNT(*) FROM link WHERE publication_status <> 'synced') +
				(SELECT COUNT(*) FROM job)`); n > 0 {
				return fmt.Errorf("%d links or jobs are left", n)
			}
			return nil
		})
		all := inventory(t, db)
		v = again.visitor(t)
		for _, k := range before {
			if all[k.slug].revision != k.link.Revision || all[k.slug].title != k.version {
				t.Errorf("%s of %s, acknowledged before the backup: %+v", k.version, k.slug, all[k.slug])
			}
		}
		for slug, s := range all {
			if s.title != s.description || s.audits != 1 || s.created != 1 || s.delivered != 1 || s.routed != s.revision {
				t.Errorf("%s is not whole: %+v", slug, s)
			}
			if slug != "limited" {
				v.leadsTo(t, slug, s.title)
			}
		}
		again.loaded()
		if n, least, most := l.owner.clicks(t), visited+2, int(l.sent.Load())+2; n < least || n > most {
			t.Errorf("%d clicks; %d visits were answered before the backup, %d sent in all", n, least, most)
		}
		if third, fourth := v.follow(t, "limited"), v.follow(t, "limited"); third != 302 || fourth != 410 {
			t.Errorf("the third click of three: %d, the fourth: %d", third, fourth)
		}
		// The image is served, and nothing but its owner may read the folder.
		if status := again.image(t, dataOf[struct{ URL string }](t, uploaded).URL); status != 200 {
			t.Errorf("the image: %d", status)
		}
		for _, root := range []string{into, elsewhere} {
			private(t, root)
		}
		if epoch := epochOf(t, db); epoch == old {
			t.Error("the epoch is the same")
		}
		if refusal := restore(t, elsewhere, other, into); !strings.Contains(refusal, "overwrites nothing") {
			t.Errorf("restore over an installation: %q", refusal)
		}
		if refusal := restore(t, t.TempDir(), other, into); other != "sqlite" &&
			!strings.Contains(refusal, "has an installation already") {
			t.Errorf("restore into the database of an installation: %q", refusal)
		}
		again.terminate()
	})
}

// image asks for an image and returns the status.
func (s *server) image(t *testing.T, address string) int {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(t.Context(), "GET", "http://"+s.public+u.Path, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Host = u.Host
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	return response.StatusCode
}

// private fails where others than the owner may read something.
func private(t *testing.T, root string) {
	t.Helper()
	if err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

// A backup that was changed, or did not end, is refused before anything is written.
func TestDamagedBackup(t *testing.T) {
	each(t, func(t *testing.T, database string) {
		dir, into := t.TempDir(), filepath.Join(t.TempDir(), "backup")
		s := serve(t, dir, database)
		o := newOwner(t, s.client(s.token("owner@example.com")))
		o.create(t, "one")
		s.visitor(t).leadsTo(t, "one", "one-0")
		s.loaded()
		backup(t, dir, database, into)
		if _, stderr, code := execute(t, "backup", "--data-dir", dir, "--database", database, into); code != 1 ||
			!strings.Contains(stderr, "is not empty") {
			t.Errorf("a second backup into the folder: exit code %d, %q", code, stderr)
		}
		s.terminate()
		var m struct{ Files []struct{ Path string } }
		manifest := filepath.Join(into, "manifest.json")
		text, err := os.ReadFile(manifest)
		if err != nil {
			t.Fatal(err)
		}
		decode(t, text, &m)
		target, other := filepath.Join(t.TempDir(), "restored"), addressOf(t, s.engine())
		refused := func(what, words string) {
			t.Helper()
			if refusal := restore(t, target, other, into); !strings.Contains(refusal, words) {
				t.Errorf("%s: %q, want %q", what, refusal, words)
			}
			if _, err := os.Stat(target); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s: the folder was made: %v", what, err)
			}
		}
		f := m.Files[rand.N(len(m.Files))]
		path := filepath.Join(into, f.Path)
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		put := func(content []byte) {
			t.Helper()
			if err := os.WriteFile(path, content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		put(append(bytes.Clone(content), 0))
		refused("changed "+f.Path, "damaged: "+f.Path)
		if refusal := verify(t, into); !strings.Contains(refusal, "damaged: "+f.Path) {
			t.Errorf("verify: %q", refusal)
		}
		put(content)
		if err := os.Rename(manifest, manifest+".unfinished"); err != nil {
			t.Fatal(err)
		}
		refused("a backup that did not end", "did not end")
		if err := os.Rename(manifest+".unfinished", manifest); err != nil {
			t.Fatal(err)
		}
		if refusal := restore(t, target, other, into); refusal != "" {
			t.Error(refusal)
		}
	})
}

// A backup goes to S3 and comes back from there.
func TestBackupInS3(t *testing.T) {
	for _, engine := range storetest.Engines {
		t.Run(engine, func(t *testing.T) {
			dir, database, s3 := t.TempDir(), addressOf(t, engine), newS3(t)
			s := serve(t, dir, database)
			o := newOwner(t, s.client(s.token("owner@example.com")))
			o.create(t, "one")
			s.visitor(t).leadsTo(t, "one", "one-0")
			backup(t, dir, database, s3.address())
			s.terminate()
			if refusal := verify(t, s3.address()); refusal != "" {
				t.Error(refusal)
			}
			if _, stderr, code := execute(t, "backup", "--data-dir", dir, "--database", database, s3.address()); code != 1 ||
				!strings.Contains(stderr, "a prefix under which nothing is") {
				t.Errorf("a second backup to the prefix: exit code %d, %q", code, stderr)
			}
			elsewhere, other := filepath.Join(t.TempDir(), "elsewhere"), addressOf(t, engine)
			if refusal := restore(t, elsewhere, other, s3.address()); refusal != "" {
				t.Fatal(refusal)
			}
			again := serve(t, elsewhere, other)
			again.visitor(t).leadsTo(t, "one", "one-0")
			again.terminate()
			if _, err := s3.backend.DeleteObject("images", "waymark/session-key.json"); err != nil {
				t.Fatal(err)
			}
			for _, refusal := range []string{verify(t, s3.address()), restore(t, filepath.Join(t.TempDir(), "x"), other, s3.address())} {
				if !strings.Contains(refusal, "damaged: session-key.json is missing") {
					t.Errorf("without an object: %q", refusal)
				}
			}
		})
	}
}

// A backup that is killed is none.
func TestKilledBackup(t *testing.T) {
	each(t, func(t *testing.T, database string) {
		dir := t.TempDir()
		s := serve(t, dir, database)
		newOwner(t, s.client(s.token("owner@example.com"))).create(t, "one")
		for n := 0; ; n++ {
			into := filepath.Join(t.TempDir(), "backup")
			c := launch(t, exec.Command(binary, "backup", "--data-dir", dir, "--database", database, into))
			eventually(t, "it has begun", func() error {
				_, err := os.Stat(into)
				return err
			})
			time.Sleep(rand.N(20 * time.Millisecond))
			c.kill()
			if _, err := os.Stat(filepath.Join(into, "manifest.json")); err == nil && n < 10 {
				continue // it was faster
			}
			if refusal := restore(t, filepath.Join(t.TempDir(), "restored"), addressOf(t, s.engine()), into); !strings.Contains(
				refusal, "did not end") {
				t.Errorf("restored from half a backup: %q", refusal)
			}
			return
		}
	})
}

// engine is what addressOf takes.
func (s *server) engine() string {
	if s.database == "sqlite" {
		return "sqlite"
	}
	return "postgres"
}

func epochOf(t *testing.T, db *store.DB) string {
	t.Helper()
	epoch, err := db.Epoch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return epoch
}
