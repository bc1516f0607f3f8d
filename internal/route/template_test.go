package route

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"

	"github.com/waymarkhq/waymark/internal/binding"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/opt"
	"github.com/waymarkhq/waymark/internal/page"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
	"github.com/waymarkhq/waymark/internal/text"
)

// putTemplate publishes a version of a template for iOS whose pages have a heading.
func putTemplate(t testing.TB, db *store.DB, id string, version int64, heading string) {
	t.Helper()
	config := page.Config{Content: opt.OptOf(page.Content{Heading: opt.OptOf(text.Line(heading))})}
	if err := db.InTxReadCommitted(t.Context(), func(tx *store.Tx) error {
		return PutTemplate(t.Context(), tx, id, version, TemplateVersion{AppID: "app", Base: binding.IOS,
			Config: config,
			Logo:   "data:image/png;base64,AA=="})
	}); err != nil {
		t.Fatal(err)
	}
}

// documentOf returns what was published of a version.
func documentOf(t testing.TB, db *store.DB, id string, version int64) string {
	t.Helper()
	document, err := store.One(t.Context(), db, store.Value[string], `SELECT document FROM route_template
		WHERE template_id = ? AND version = ?`, id, version)
	if err != nil {
		t.Fatal(err)
	}
	return document
}

func TestTemplate(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, _ *clock.Clock) {
		ctx, official := t.Context(), page.Official(binding.IOS)
		c := NewCache(db, slog.New(slog.DiscardHandler))
		of := func(base binding.Base, name, appID string) *page.Template {
			t.Helper()
			template, err := c.Template(ctx, base, name, appID)
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			return template
		}
		for _, name := range []string{"official", "a@1", "a@2", "a", "a@", "a@x", "@1", "", "a@99999999999999999999"} {
			if of(binding.IOS, name, "app") != official {
				t.Errorf("%q is not the official template", name)
			}
		}
		putTemplate(t, db, "a", 1, "one")
		putTemplate(t, db, "a", 2, "two")
		// What was unknown is remembered for a moment only.
		storetest.Eventually(t, "the version is known", func() bool {
			return of(binding.IOS, "a@1",
				"app") != official
		})
		one, two := of(binding.IOS, "a@1", "app"), of(binding.IOS, "a@2", "app")
		if one == two || of(binding.IOS, "a@1", "app") != one {
			t.Error("versions are not told apart, or not remembered")
		}
		if of(binding.IOS, "a@1", "another") != official {
			t.Error("the version of another app is shown")
		}
		if of(binding.Android, "a@1", "app") != page.Official(binding.Android) {
			t.Error("a template for iOS is shown on Android")
		}
		// A version never changes, whatever is published under its number.
		before := documentOf(t, db, "a", 1)
		putTemplate(t, db, "a", 1, "changed")
		if after := documentOf(t, db, "a", 1); after != before {
			t.Errorf("the version changed to %s", after)
		}
		want := `{"app":"app","base":"ios","config":{"content":{"heading":"one"}},"logo":"data:image/png;base64,AA=="}`
		if before != want {
			t.Errorf("document %s", before)
		}
	})
}

func TestTemplateAway(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, _ *clock.Clock) {
		ctx, official := t.Context(), page.Official(binding.IOS)
		putTemplate(t, db, "a", 1, "one")
		putTemplate(t, db, "a", 2, "two")
		c := NewCache(db, slog.New(slog.DiscardHandler))
		held, err := c.Template(ctx, binding.IOS, "a@1", "app")
		if err != nil || held == official {
			t.Fatal(err)
		}
		if _, err := db.Exec(ctx, "ALTER TABLE route_template RENAME TO route_template_away"); err != nil {
			t.Fatal(err)
		}
		for range 2 { // once read, once remembered
			if got, err := c.Template(ctx, binding.IOS, "a@1", "app"); got != held || err != nil {
				t.Errorf("what is held: %v", err)
			}
			if got, err := c.Template(ctx, binding.IOS, "a@2", "app"); got != official || err == nil {
				t.Errorf("what is not held: %v", err)
			}
		}
		if _, err := db.Exec(ctx, "ALTER TABLE route_template_away RENAME TO route_template"); err != nil {
			t.Fatal(err)
		}
		storetest.Eventually(t, "the version is shown", func() bool {
			got, err := c.Template(ctx, binding.IOS, "a@2", "app")
			return err == nil && got != official
		})
		// A visitor who left is no reason to show nothing to others.
		gone, cancel := context.WithCancel(ctx)
		cancel()
		if got, err := c.Template(gone, binding.IOS, "a@3", "app"); got != official || err == nil {
			t.Errorf("for a visitor who left: %v", err)
		}
	})
}

// TestTemplateDamaged has a document that is none.
func TestTemplateDamaged(t *testing.T) {
	db := open(t, storetest.Address(t, "sqlite"))
	if _, err := db.Exec(t.Context(),
		"INSERT INTO route_template (template_id, version, document) VALUES ('a', 1, '{')"); err != nil {
		t.Fatal(err)
	}
	got, err := NewCache(db, slog.Default()).Template(t.Context(), binding.IOS, "a@1", "app")
	if got != page.Official(binding.IOS) || err == nil {
		t.Errorf("got %v, %v", got, err)
	}
}

// TestTemplateWaiters has many ask for one version at once: it is read and made
// ready once.
func TestTemplateWaiters(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, _ *clock.Clock) {
		putTemplate(t, db, "a", 1, "one")
		c := NewCache(db, slog.New(slog.DiscardHandler))
		for range 4 {
			c.slots <- struct{}{}
		}
		var started, done sync.WaitGroup
		got := make([]*page.Template, 50)
		for i := range got {
			started.Add(1)
			done.Go(func() {
				started.Done()
				got[i], _ = c.Template(context.Background(), binding.IOS, "a@1", "app")
			})
		}
		started.Wait()
		for range 4 {
			<-c.slots
		}
		done.Wait()
		for i := range got {
			if got[i] != got[0] || got[i] == page.Official(binding.IOS) {
				t.Fatalf("visitor %d has another template", i)
			}
		}
	})
}

// TestTemplateBounds asks for more versions than there is memory for, and for many
// that are not there.
func TestTemplateBounds(t *testing.T) {
	db := open(t, storetest.Address(t, "sqlite"))
	const versions, room = 60, 10
	for i := range versions {
		putTemplate(t, db, "a", int64(i), "h")
	}
	c := NewCache(db, slog.Default())
	template, err := c.Template(t.Context(), binding.IOS, "a@0", "app")
	if err != nil {
		t.Fatal(err)
	}
	c.templates = newTemplates(uint64(room * (template.Bytes() + 200)))
	for i := range versions {
		if got, err := c.Template(t.Context(), binding.IOS, fmt.Sprintf("a@%d", i), "app"); err != nil ||
			got == page.Official(binding.IOS) {
			t.Fatalf("version %d: %v", i, err)
		}
	}
	c.templates.held.CleanUp()
	if n := c.templates.held.EstimatedSize(); n < room/2 || n > room+1 {
		t.Errorf("%d versions are held", n)
	}
	for i := range 5000 {
		if _, err := c.Template(t.Context(), binding.IOS, fmt.Sprintf("b@%d", i), "app"); err != nil {
			t.Fatal(err)
		}
	}
	c.templates.held.CleanUp()
	if n, most := c.templates.held.EstimatedSize(), room*(template.Bytes()+200)/160; n > most {
		t.Errorf("%d unknown versions are held, at most %d fit", n, most)
	}
}

func TestTemplateHitsDoNotAllocate(t *testing.T) {
	db := open(t, storetest.Address(t, "sqlite"))
	putTemplate(t, db, "a", 1, "one")
	c, ctx := NewCache(db, slog.Default()), t.Context()
	look := func() { c.Template(ctx, binding.IOS, "a@1", "app") }
	look()
	if n := testing.AllocsPerRun(1000, look); n >= 1 {
		t.Errorf("%v allocations", n)
	}
}
