//go:build soak

package process_test

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/waymarkhq/waymark/internal/store/storetest"
	"github.com/waymarkhq/waymark/test/program"
)

// The program before this one and this one serve one database together for ten minutes, in both orders of an upgrade:
// no visit and no call fails, and nothing is lost or done twice.
func TestMixedVersions(t *testing.T) {
	const together = 10 * time.Minute
	before := buildBefore(t)
	for name, upgraded := range map[string]string{"redirector first": "redirect", "API and executor first": "api,executor"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			database := storetest.Empty(t, "postgres")
			serve := func(program, roles string) *server {
				dir := t.TempDir()
				return started(t, exec.Command(program, serveArgs(dir, database, "--roles", roles, "--events", "database")...), dir, database)
			}
			processes := map[string]*server{"api,executor": serve(before, "api,executor"), "redirect": serve(before, "redirect")}
			if _, stderr, code := execute(t, "migrate", "--database", database); code != 0 {
				t.Fatalf("migrate: %s", stderr)
			}
			processes[upgraded].terminate()
			processes[upgraded] = serve(binary, upgraded)
			api, redirector := processes["api,executor"], processes["redirect"]
			front := &server{child: api.child, dir: api.dir, database: database, api: api.api, public: redirector.public}
			l := newLoad(t, front)
			ctx, stop := context.WithTimeout(t.Context(), together)
			defer stop()
			var load sync.WaitGroup
			l.visitors(ctx, front, 2, &load)
			load.Go(func() {
				for round := 0; ctx.Err() == nil; round++ {
					var writing sync.WaitGroup
					some, ended := context.WithTimeout(ctx, 100*time.Millisecond)
					l.writers(some, round, 1, &writing)
					writing.Wait()
					ended()
					time.Sleep(900 * time.Millisecond) // all links are looked at in one query
				}
			})
			load.Wait()
			db := open(t, "", database).Long()
			l.verify(t, db)
			l.published(t, front, db)
			redirector.loaded()
			if n, answered := l.owner.clicks(t), int(l.answered.Load()); n != answered || l.away.Load() > 0 {
				t.Errorf("%d visits were redirected, %d are counted, %d were told to come again", answered, n, l.away.Load())
			}
			t.Logf("%d visits redirected, %d writes", l.answered.Load(), l.writing.Load())
			api.terminate()
			redirector.terminate()
			clicksGone(t, redirector.dir)
		})
	}
}

// buildBefore builds the program of the commit that BEFORE names, or of the newest tag before this commit.
func buildBefore(t *testing.T) string {
	t.Helper()
	git := func(args ...string) string {
		out, err := exec.Command("git", args...).Output()
		if err != nil {
			return ""
		}
		return strings.TrimSpace(string(out))
	}
	commit := os.Getenv("BEFORE")
	if commit == "" {
		commit = git("describe", "--tags", "--abbrev=0", "HEAD^")
	}
	source := t.TempDir()
	if commit == "" || exec.Command("git", "worktree", "add", "--detach", source, commit).Run() != nil {
		t.Fatalf("this test needs an earlier version: tag one, or name its commit with BEFORE (%q)", commit)
	}
	t.Cleanup(func() { git("worktree", "remove", "--force", source) })
	t.Logf("the program before is that of %s", git("describe", "--tags", "--always", commit))
	built, err := program.BuildFrom(source, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return built
}
