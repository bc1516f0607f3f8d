package process_test

import (
	"fmt"
	"net/url"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
)

// both runs n calls at once, alternating between two API processes, and
// returns the answers.
func both(t *testing.T, a, b *client, n int, next func(i int) intent) []answer {
	t.Helper()
	answers := make([]answer, n)
	var wg sync.WaitGroup
	start := make(chan struct{})
	for i := range n {
		wg.Go(func() {
			<-start
			var err error
			if answers[i], err = []*client{a, b}[i%2].call(next(i)); err != nil {
				t.Errorf("call %d: %v", i, err)
			}
		})
	}
	close(start)
	wg.Wait()
	return answers
}

// kindsOf counts answers by status and what tells them apart.
func kindsOf(answers []answer) map[string]int {
	n := map[string]int{}
	for _, a := range answers {
		kind := fmt.Sprint(a.status)
		if code := a.code(); code != "" {
			kind += " " + code
		}
		if a.replayed() {
			kind += " replayed"
		}
		n[kind]++
	}
	return n
}

// Two APIs, a redirector and two executors on one PostgreSQL are one
// installation.
func TestSeveralProcesses(t *testing.T) {
	t.Parallel()
	database := addressOf(t, "postgres")
	first := serve(t, t.TempDir(), database, "--roles", "api")
	second := serve(t, t.TempDir(), database, "--roles", "api")
	redirector := serve(t, t.TempDir(), database, "--roles", "redirect")
	serve(t, t.TempDir(), database, "--roles", "executor")
	serve(t, t.TempDir(), database, "--roles", "executor")
	db := open(t, "", database)

	o := newOwner(t, first.client(first.token("owner@example.com")))
	other := *o
	other.client = second.client(o.token)
	o.keepEvents(t)
	v := redirector.visitor(t)

	t.Run("one key", func(t *testing.T) {
		rounds := 12
		if soak {
			rounds = 100
		}
		for round := range rounds {
			slug := fmt.Sprintf("one-key-%d", round)
			creation := o.creation(slug, slug+"-0")
			answers := both(t, o.client, other.client, 50, func(int) intent { return creation })
			kinds := kindsOf(answers)
			if round < 3 {
				t.Logf("50 clients with one key: %v", kinds)
			}
			if kinds["201"] != 1 || kinds["201"]+kinds["201 replayed"]+kinds["409 operation_in_progress"] != 50 {
				t.Errorf("answers %v; want one 201, else replays and 409 operation_in_progress", kinds)
			}
			for _, a := range answers {
				if a.status == 409 && a.header.Get("Retry-After") != "1" {
					t.Errorf("operation_in_progress without Retry-After: 1: %v", a.header)
				}
			}
			if t.Failed() {
				return
			}
			// Afterwards it replays on both.
			for _, c := range []*client{o.client, other.client} {
				if a := c.must(t, 201, creation); !a.replayed() {
					t.Errorf("a later repeat is not a replay: %s", a)
				}
			}
			l := inventory(t, db)[slug]
			if l.audits != 1 || l.created != 1 || l.delivered != 1 {
				t.Errorf("%d audit events, %d in the history, %d events; want one each", l.audits, l.created,
					l.delivered)
			}
		}
	})

	// The same for a change: who comes second must not be told that the
	// revision is stale, which the same intent made it.
	t.Run("one key of a change", func(t *testing.T) {
		l := o.create(t, "one-change")
		for round := range 12 {
			patch := change(l, fmt.Sprintf("one-change-%d", round+1))
			kinds := kindsOf(both(t, o.client, other.client, 50, func(int) intent { return patch }))
			if kinds["200"] != 1 || kinds["200"]+kinds["200 replayed"]+kinds["409 operation_in_progress"] != 50 {
				t.Fatalf("answers %v; want one 200, else replays and 409 operation_in_progress", kinds)
			}
			l = dataOf[link](t, o.must(t, 200, patch))
			if s := inventory(t, db)["one-change"]; s.updated != round+1 || s.audited != round+1 {
				t.Errorf("%d changes in the history, %d audit events; want %d", s.updated, s.audited, round+1)
			}
		}
	})

	t.Run("one revision", func(t *testing.T) {
		l := o.create(t, "one-revision")
		answers := both(t, o.client, other.client, 50, func(i int) intent {
			return change(l,
				fmt.Sprintf("version-%d", i))
		})
		kinds := kindsOf(answers)
		t.Logf("50 writers with one revision: %v", kinds)
		if kinds["200"] != 1 || kinds["412 revision_conflict"] != 49 {
			t.Errorf("answers %v; want one 200 and 49 of 412", kinds)
		}
		for _, a := range answers {
			if a.status == 200 {
				if s := inventory(t, db)["one-revision"]; s.title != dataOf[link](t, a).Title || s.updated != 1 ||
					s.audited != 1 {
					t.Errorf("stored is %+v, answered %s", s, a)
				}
			}
		}
	})

	t.Run("publication", func(t *testing.T) { publicationLatency(t, o, &other, redirector) })

	t.Run("cursor", func(t *testing.T) {
		var seen []string
		cursor := ""
		for page := range 100 {
			path := "/links?limit=10&appId=" + o.app
			if cursor != "" {
				path += "&cursor=" + url.QueryEscape(cursor)
			}
			a := []*client{o.client, other.client}[page%2].must(t, 200, intent{method: "GET", path: path})
			for _, l := range dataOf[[]link](t, a) {
				seen = append(seen, l.ID)
			}
			if cursor = nextCursor(t, a); cursor == "" {
				break
			}
		}
		all := len(inventory(t, db))
		slices.Sort(seen)
		if distinct := len(slices.Compact(slices.Clone(seen))); distinct != all || len(seen) != all {
			t.Errorf("paging through both processes shows %d links, %d of them distinct; there are %d", len(seen),
				distinct, all)
		}
	})

	t.Run("clicks", func(t *testing.T) {
		v.leadsTo(t, "one-key-0", "one-key-0-0")
		before := o.clicks(t)
		for range 40 {
			if a, _, err := v.ask("GET", "one-key-0"); err != nil || a.status != 302 {
				t.Fatalf("visit: %v, %v", a, err)
			}
		}
		redirector.loaded()
		if n := other.clicks(t); n != before+40 {
			t.Errorf("%d clicks are counted, want %d", n, before+40)
		}
	})

	t.Run("limit", func(t *testing.T) {
		third := serve(t, t.TempDir(), database, "--roles", "api", "--limit-scale", "1")
		fourth := serve(t, t.TempDir(), database, "--roles", "api", "--limit-scale", "1")
		a := third.client(third.token("limited@example.com"))
		b := fourth.client(a.token)
		if left := 60 - time.Now().Second(); left < 45 {
			t.Logf("waiting %d s for the next window", left)
			time.Sleep(time.Duration(left)*time.Second + 200*time.Millisecond)
		}
		began := time.Now()
		answers := both(t, a, b, 500, func(i int) intent {
			return intent{method: "POST", path: "/apps", body: map[string]any{"name": fmt.Sprintf("App %d", i)},
				key: uuid.NewString()}
		})
		kinds := kindsOf(answers)
		t.Logf("500 writes under a limit of 120 a minute: %v in %s", kinds, time.Since(began).Round(time.Millisecond))
		if began.Truncate(time.Minute) != time.Now().Truncate(time.Minute) {
			t.Fatal("the calls took longer than their window: this machine is too slow for the test")
		}
		if kinds["201"] != 120 || kinds["429 rate_limited"] != 380 {
			t.Errorf("answers %v; want 120 of 201 and 380 of 429", kinds)
		}
		if n := number(t, db, "SELECT COUNT(*) FROM app WHERE name LIKE 'App %'"); n != 120 {
			t.Errorf("%d apps are stored, want 120", n)
		}
		for _, a := range answers {
			if a.status == 429 && a.header.Get("Retry-After") == "" {
				t.Errorf("429 without Retry-After: %v", a.header)
				break
			}
		}
	})
}

func nextCursor(t *testing.T, a answer) string {
	t.Helper()
	var envelope struct {
		Pagination struct{ NextCursor *string }
	}
	decode(t, a.body, &envelope)
	if envelope.Pagination.NextCursor == nil {
		return ""
	}
	return *envelope.Pagination.NextCursor
}

// publicationLatency measures how long after its creation was answered by one
// process a link redirects at another, created while others are.
func publicationLatency(t *testing.T, a, b *owner, redirector *server) {
	t.Helper()
	const workers, each = 8, 30
	var mu sync.Mutex
	var took []time.Duration
	var wg sync.WaitGroup
	for w := range workers {
		v := redirector.visitor(t)
		o := []*owner{a, b}[w%2]
		wg.Go(func() {
			for i := range each {
				slug := fmt.Sprintf("latency-%d-%d", w, i)
				answered, err := o.call(o.creation(slug, slug+"-0"))
				if err != nil || answered.status != 201 {
					t.Errorf("create: %v, %v", answered, err)
					return
				}
				began := time.Now()
				for {
					// The first look, mostly too early, leaves "unknown" in the
					// redirector's memory: the harder case.
					seen, _, err := v.ask("HEAD", slug)
					if err != nil || time.Since(began) > patience {
						t.Errorf("%s: %v, %v after %s", slug, seen, err, time.Since(began))
						return
					}
					if seen.status == 302 {
						break
					}
					time.Sleep(5 * time.Millisecond)
				}
				mu.Lock()
				took = append(took, time.Since(began))
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if len(took) == 0 {
		return
	}
	slices.Sort(took)
	at := func(share float64) time.Duration {
		return took[int(share*float64(len(took)-1))].Round(time.Millisecond)
	}
	t.Logf("from a create's answer to its redirect elsewhere, %d links by %d writers: p50 %s, p90 %s, p99 %s, most %s",
		len(took), workers, at(.5), at(.9), at(.99), at(1))
}
