package process_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/waymarkhq/waymark/internal/store"
)

// tracked is what a writer knows of a link: the last acknowledged state, and
// the intent whose answer did not come.
type tracked struct {
	slug    string
	version string // last acknowledged, "" when even the creation was not
	link    link
	// changes counts the acknowledged changes after the creation.
	changes int
	// last is the last acknowledged intent and its answer's revision.
	last intent
	// pending is the intent without an answer, pendingVersion what it wants.
	pending        *intent
	pendingVersion string
}

// load is traffic on one server, and a book of what was answered.
type load struct {
	t     *testing.T
	owner *owner
	fixed []string // slugs to visit

	mu       sync.Mutex
	links    []*tracked
	answered atomic.Int64 // visits
	sent     atomic.Int64 // visits, also those whose answer did not come
	away     atomic.Int64 // visits answered 503: they must not count
	ending   atomic.Bool  // from here on the server may go away
	writing  atomic.Int64 // acknowledged writes
}

// writers create and change links until the server is gone or ctx is done.
func (l *load) writers(ctx context.Context, round, n int, wg *sync.WaitGroup) {
	for w := range n {
		wg.Go(func() {
			for i := range 5000 {
				k := &tracked{slug: fmt.Sprintf("r%d-w%d-%d", round, w, i)}
				l.mu.Lock()
				l.links = append(l.links, k)
				l.mu.Unlock()
				if !l.write(k, l.owner.creation(k.slug, k.slug+"-0"), k.slug+"-0", 201) {
					return
				}
				for change_ := range 2 {
					version := fmt.Sprintf("%s-%d", k.slug, change_+1)
					if !l.write(k, change(k.link, version), version, 200) {
						return
					}
				}
				if ctx.Err() != nil {
					return
				}
			}
		})
	}
}

// write sends one intent and notes how it ended; false when no answer came.
func (l *load) write(k *tracked, i intent, version string, want int) bool {
	k.pending, k.pendingVersion = &i, version
	a, err := l.owner.call(i)
	if err != nil {
		if !l.ending.Load() {
			l.t.Errorf("%s %s while the server should answer: %v", i.method, k.slug, err)
		}
		return false
	}
	if a.status != want {
		l.t.Errorf("%s %s: %s, want %d", i.method, k.slug, a, want)
		return false
	}
	l.acknowledge(k, a)
	l.writing.Add(1)
	return true
}

// acknowledge moves the pending intent to what is known.
func (l *load) acknowledge(k *tracked, a answer) {
	k.link = dataOf[link](l.t, a)
	if k.pending.method == "PATCH" {
		k.changes++
	}
	k.version, k.last, k.pending = k.pendingVersion, *k.pending, nil
}

// visitors click on the fixed links until the server is gone or ctx is done.
func (l *load) visitors(ctx context.Context, s *server, n int, wg *sync.WaitGroup) {
	for range n {
		v := s.visitor(l.t)
		wg.Go(func() {
			for range 1_000_000 {
				if ctx.Err() != nil {
					return
				}
				slug := l.fixed[rand.N(len(l.fixed))]
				a, sent, err := v.ask("GET", slug)
				if sent {
					l.sent.Add(1)
				}
				if err != nil {
					if !l.ending.Load() {
						l.t.Errorf("visit of %s while the server should answer: %v", slug, err)
					}
					return
				}
				// After a restart nothing is in memory, and on a busy machine
				// a visitor may be told to come again: that is no click.
				if a.status == 503 && a.header.Get("Retry-After") != "" {
					l.sent.Add(-1)
					l.away.Add(1)
					continue
				}
				if a.status != 302 {
					l.t.Errorf("visit of %s: %s", slug, a)
					return
				}
				l.answered.Add(1)
			}
		})
	}
}

// stored is a link as the database has it.
type stored struct {
	id, slug, title, description, revision, status, routed       string
	audits, audited, created, updated, latest, delivered, events int
}

// inventory reads all links with what their changes left behind.
func inventory(t *testing.T, db *store.DB) map[string]stored {
	t.Helper()
	all, err := store.All(t.Context(), db, func(r store.Row) (s stored, err error) {
		err = r.Scan(&s.id, &s.slug, &s.title, &s.description, &s.revision, &s.status, &s.routed,
			&s.audits, &s.audited, &s.created, &s.updated, &s.latest, &s.delivered, &s.events)
		return s, err
	}, `SELECT l.id, l.slug, COALESCE(l.title, ''), COALESCE(l.description, ''), l.revision, l.publication_status,
		COALESCE((SELECT r.revision FROM route r WHERE r.owner = l.id), ''),
		(SELECT COUNT(*) FROM audit_event a WHERE a.resource_id = l.id AND a.operation = 'createLinks'),
		(SELECT COUNT(*) FROM audit_event a WHERE a.resource_id = l.id AND a.operation = 'updateLinksLinkId'),
		(SELECT COUNT(*) FROM link_history h WHERE h.link_id = l.id AND h.action = 'created'),
		(SELECT COUNT(*) FROM link_history h WHERE h.link_id = l.id AND h.action = 'updated'),
		(SELECT COUNT(*) FROM link_history h WHERE h.link_id = l.id AND h.revision = l.revision),
		COALESCE(e.created, 0), COALESCE(e.events, 0)
		FROM link l LEFT JOIN (SELECT resource_id, COUNT(*) AS events, COUNT(CASE WHEN event_type = 'link.created' THEN
		1 END) AS created
			FROM webhook_delivery GROUP BY resource_id) e ON e.resource_id = l.id`)
	if err != nil {
		t.Fatal(err)
	}
	bySlug := make(map[string]stored, len(all))
	for _, s := range all {
		if _, twice := bySlug[s.slug]; twice {
			t.Errorf("two links have the slug %s", s.slug)
		}
		bySlug[s.slug] = s
	}
	return bySlug
}

func number(t *testing.T, db *store.DB, query string, args ...any) int {
	t.Helper()
	n, err := store.One(t.Context(), db, store.Value[int64], query, args...)
	if err != nil {
		t.Fatal(err)
	}
	return int(n)
}

// verify compares what is stored with what was answered, then repeats the
// intents without an answer and some of the acknowledged ones.
func (l *load) verify(t *testing.T, db *store.DB) {
	t.Helper()
	before := inventory(t, db)
	absent, present := 0, 0
	for _, k := range l.links {
		s, exists := before[k.slug]
		switch {
		case exists && s.title != s.description:
			t.Errorf("%s is half changed: title %q, description %q", k.slug, s.title, s.description)
		case k.pending == nil:
			if s.title != k.version || s.revision != k.link.Revision {
				t.Errorf("acknowledged %s of %s is lost: stored are %q, revision %s", k.version, k.slug, s.title,
					s.revision)
			}
			continue
		case s.title != k.version && s.title != k.pendingVersion:
			t.Errorf("%s: stored is %q; acknowledged was %q, sent %q", k.slug, s.title, k.version, k.pendingVersion)
		}
		// The intent without an answer, once more with its key.
		done := s.title == k.pendingVersion
		if done {
			present++
		} else {
			absent++
		}
		want := map[string]int{"POST": 201, "PATCH": 200}[k.pending.method]
		a, err := l.owner.call(*k.pending)
		if err != nil || a.status != want || a.replayed() != done {
			t.Errorf("repeat of %s (stored before: %v): %v, %v, replayed %v", k.pendingVersion, done, a, err,
				a.replayed())
			continue
		}
		l.acknowledge(k, a)
	}
	for _, k := range l.links[max(0, len(l.links)-60):] {
		if k.last.method == "" {
			continue
		}
		a, err := l.owner.call(k.last)
		if err != nil || a.status/100 != 2 || !a.replayed() || dataOf[link](t, a).Revision != k.link.Revision {
			t.Errorf("repeat of acknowledged %s: %v, %v, replayed %v", k.version, a, err, a.replayed())
		}
	}
	t.Logf("%d links; of the intents without an answer %d were done and %d were not", len(l.links), present, absent)
	// Each effect is there once, with all that belongs to it.
	after := inventory(t, db)
	if len(after) != len(l.links)+len(l.fixed) {
		t.Errorf("%d links are stored, want %d", len(after), len(l.links)+len(l.fixed))
	}
	for _, k := range l.links {
		s := after[k.slug]
		if s.title != k.version || s.revision != k.link.Revision {
			t.Errorf("%s: stored is %q, revision %s, want %q, %s", k.slug, s.title, s.revision, k.version,
				k.link.Revision)
		}
		if s.audits != 1 || s.created != 1 || s.delivered != 1 || s.latest != 1 {
			t.Errorf("%s: %d createLinks audit events, %d created in the history, %d link.created, %d history "+
				"entries of the revision; want one each",
				k.slug, s.audits, s.created, s.delivered, s.latest)
		}
		if s.audited != k.changes || s.updated != k.changes || s.events != 1+k.changes {
			t.Errorf("%s: %d audit events of changes, %d in the history, %d events; %d changes were answered", k.slug,
				s.audited, s.updated, s.events, k.changes)
		}
	}
	for what, query := range map[string]string{
		"audit events without a link": `SELECT COUNT(*) FROM audit_event a WHERE a.operation = 'createLinks'
			AND NOT EXISTS (SELECT 1 FROM link l WHERE l.id = a.resource_id)`,
		"history without a link": `SELECT COUNT(*) FROM link_history h WHERE NOT EXISTS (SELECT 1 FROM link l
			WHERE l.id = h.link_id)`,
		"receipts without an effect": `SELECT COUNT(*) FROM receipt r WHERE NOT EXISTS (SELECT 1
			FROM audit_event a WHERE a.resource_id = r.resource_id)`,
		"audit events beyond the receipts": "SELECT (SELECT COUNT(*) FROM audit_event) - (SELECT COUNT(*) FROM receipt)",
	} {
		if n := number(t, db, query); n != 0 {
			t.Errorf("%d %s", n, what)
		}
	}
	if db.Dialect().Name == "sqlite" {
		if result, err := store.One(t.Context(), db, store.Value[string], "PRAGMA integrity_check"); err != nil ||
			result != "ok" {
			t.Errorf("integrity_check: %s, %v", result, err)
		}
	}
}

// published waits until everything is published and looks at every link.
func (l *load) published(t *testing.T, s *server, db *store.DB) {
	t.Helper()
	eventually(t, "all publications are synced", func() error {
		if n := number(t, db, `SELECT (SELECT COUNT(*) FROM link
			WHERE publication_status <> 'synced') + (SELECT COUNT(*) FROM job)`); n > 0 {
			return fmt.Errorf("%d links or jobs are left", n)
		}
		return nil
	})
	for slug, link := range inventory(t, db) {
		if link.routed != link.revision {
			t.Errorf("%s: the route has revision %s, the link %s", slug, link.routed, link.revision)
		}
	}
	v := s.visitor(t)
	for _, k := range l.links {
		v.leadsTo(t, k.slug, k.version)
	}
}

// counted checks that every answered visit is counted once.
func (l *load) counted(t *testing.T, s *server) {
	t.Helper()
	s.loaded()
	n, answered, sent := l.owner.clicks(t), int(l.answered.Load()), int(l.sent.Load())
	t.Logf("%d visits sent, %d redirected, %d counted; %d more were told to come again", sent, answered, n,
		l.away.Load())
	if n < answered || n > sent {
		t.Errorf("%d clicks counted; %d visits were answered and %d sent", n, answered, sent)
	}
}

// newLoad prepares links to visit.
func newLoad(t *testing.T, s *server) *load {
	t.Helper()
	l := &load{t: t, owner: newOwner(t, s.client(s.token("owner@example.com")))}
	l.owner.keepEvents(t)
	v := s.visitor(t)
	for i := range 5 {
		slug := fmt.Sprintf("fixed-%d", i)
		l.owner.create(t, slug)
		l.fixed = append(l.fixed, slug)
		v.leadsTo(t, slug, slug+"-0")
	}
	return l
}

// A process that is killed at any moment loses nothing that it acknowledged,
// leaves nothing half done, and does nothing twice.
func TestKill(t *testing.T) {
	each(t, func(t *testing.T, database string) {
		rounds := 3
		if soak {
			rounds = 25
		}
		dir := t.TempDir()
		s := serve(t, dir, database)
		l := newLoad(t, s)
		for round := range rounds {
			var wg sync.WaitGroup
			ctx, cancel := context.WithTimeout(context.Background(), patience)
			l.ending.Store(false)
			l.writers(ctx, round, 4, &wg)
			l.visitors(ctx, s, 3, &wg)
			time.Sleep(200*time.Millisecond + rand.N(time.Second))
			l.ending.Store(true)
			s.kill()
			wg.Wait()
			cancel()
			began := time.Now()
			s = serve(t, dir, database)
			t.Logf("round %d: %d writes acknowledged so far, listening again after %s", round, l.writing.Load(),
				time.Since(began).Round(time.Millisecond))
			l.owner.client = s.client(l.owner.token)
			db := open(t, dir, database)
			l.verify(t, db)
			l.counted(t, s)
			if round == rounds-1 {
				began = time.Now()
				l.published(t, s, db)
				t.Logf("all published %s after the restart", time.Since(began).Round(time.Millisecond))
			}
			db.Close()
			if t.Failed() {
				return
			}
		}
		s.terminate()
		clicksGone(t, dir)
	})
}
