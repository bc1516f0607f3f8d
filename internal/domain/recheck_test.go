package domain_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/waymarkhq/waymark/internal/apitest"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/dnslookup"
	"github.com/waymarkhq/waymark/internal/domain"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
)

// nextCheck returns in how long a hostname is checked again; 0 means never.
func (w *world) nextCheck(t *testing.T, hostname string) time.Duration {
	t.Helper()
	at, err := store.One(t.Context(), w.DB, store.Value[*clock.Instant], `SELECT next_check_at FROM domain
		WHERE hostname = ? AND NOT detached`, hostname)
	if err != nil {
		t.Fatal(err)
	}
	if at == nil {
		return 0
	}
	return at.Sub(w.DB.Now())
}

// A domain that works is checked about hourly. It counts as failed after at least
// three failures over at least an hour, and works again with the next good check.
// Visitors are served all the time.
func TestRecheck(t *testing.T) {
	eachWorld(t, apitest.Options{}, func(t *testing.T, w *world) {
		owner := w.Prepared(t, "ann@example.com")
		path := w.ready(t, owner, "go.example.com")
		owner.Link("a", M{"domain": "go.example.com"}).Want(201)
		w.Settle(t)
		within := func(from, to time.Duration) {
			t.Helper()
			if in := w.nextCheck(t, "go.example.com"); in < from || in > to {
				t.Errorf("the next check is in %s", in)
			}
		}
		served := func() {
			t.Helper()
			w.Visit(t, "https://go.example.com/a", nil, func(r *http.Response) bool { return r.StatusCode == 302 })
		}
		// certified compares whether redirectors may order a certificate.
		certified := func(want bool) {
			t.Helper()
			w.Settle(t)
			document, err := store.One(t.Context(), w.DB, store.Value[string], `SELECT document FROM route
				WHERE hostname = ? AND path = ''`, "go.example.com")
			if err != nil || strings.Contains(document, `"conn":true`) != want {
				t.Errorf("%s, %v: redirectors may order a certificate, want %t", document, err, want)
			}
		}
		check := func(after time.Duration, state string) {
			t.Helper()
			w.Clock.Move(after)
			// It is due now, whatever its jitter was.
			if _, err := w.DB.Exec(t.Context(), "UPDATE domain SET next_check_at = ? WHERE next_check_at IS NOT NULL",
				w.DB.Now()); err != nil {
				t.Fatal(err)
			}
			w.CheckDomains(t)
			owner = w.Owner(t, "ann@example.com")
			owner.Call("GET", path, nil).Want(200).Has("data.links", `"`+state+`"`)
			served()
		}
		certified(true)
		within(55*time.Minute, 65*time.Minute)
		answers := w.proxy.answers.Load()
		w.Clock.Move(54 * time.Minute)
		w.CheckDomains(t)
		if n := w.proxy.answers.Load() - answers; n != 0 {
			t.Errorf("%d probes before the check is due", n)
		}
		w.Clock.Move(12 * time.Minute)
		w.CheckDomains(t)
		if n := w.proxy.answers.Load() - answers; n != 1 {
			t.Errorf("%d probes by a check", n)
		}

		right := w.records
		w.replace(t, "go A 203.0.113.9")
		check(0, "ready")
		within(10*time.Minute, 20*time.Minute)
		check(20*time.Minute, "ready")
		check(20*time.Minute, "ready")
		check(20*time.Minute-time.Millisecond, "ready")
		owner.Call("GET", path, nil).Want(200).Has("data.dns", `"configured"`).Has("data.lastError.code", `"dns_misconfigured"`)
		check(time.Millisecond, "blocked")
		certified(false)
		owner.Call("GET", path, nil).Want(200).Has("data.dns", `"misconfigured"`).Has("data.ownership", `"verified"`)
		owner.Call("POST", "/links", M{"appId": w.appOf(t, path), "domain": "go.example.com", "slug": "b",
			"desktopUrl": "https://example.com/"}).Refused(fault.ValidationFailed)
		within(55*time.Minute, 65*time.Minute)
		w.replace(t, right...)
		check(time.Hour, "ready")
		certified(true)
		owner.Call("GET", path, nil).Want(200).Has("data.dns", `"configured"`).Has("data.lastError", "null")

		// Two failures are too few, however long they last; a good check between
		// failures begins anew.
		w.replace(t, "go A 203.0.113.9")
		check(time.Hour, "ready")
		check(2*time.Hour, "ready")
		w.replace(t, right...)
		check(time.Minute, "ready")
		w.replace(t, "go A 203.0.113.9")
		check(time.Hour, "ready")
		check(time.Minute, "ready")
		check(time.Minute, "ready")
		check(58*time.Minute-time.Millisecond, "ready")
		check(time.Millisecond, "blocked")

		// Its owner need not wait for the next check.
		w.replace(t, right...)
		r := owner.Call("POST", path+"/verify", M{}, apitest.IfMatch(owner.Call("GET", path, nil).Want(200).Revision()))
		if r.Status != 202 {
			w.Clock.Move(time.Minute)
			r = w.startVerification(t, owner, path)
		}
		w.Settle(t)
		w.end(t, owner, r).Has("data.status", `"succeeded"`)
		owner.Call("GET", path, nil).Want(200).Has("data.links", `"ready"`)
	})
}

func (w *world) appOf(t *testing.T, path string) string {
	t.Helper()
	app, err := store.One(t.Context(), w.DB, store.Value[string], "SELECT app_id FROM domain WHERE id = ?",
		path[len("/domains/"):])
	if err != nil {
		t.Fatal(err)
	}
	return app
}

// Claims, domains that were never right and those of the platform are not checked by
// themselves.
func TestNotRechecked(t *testing.T) {
	eachWorld(t, apitest.Options{}, func(t *testing.T, w *world) {
		owner := w.Prepared(t, "ann@example.com")
		path, proof := w.claim(t, owner, "go.example.com")
		w.verify(t, owner, path)
		never := func(hostname string) {
			t.Helper()
			if in := w.nextCheck(t, hostname); in != 0 {
				t.Errorf("%s is checked in %s", hostname, in)
			}
		}
		never("go.example.com")
		w.add(t, proof)
		w.verify(t, owner, path)
		never("go.example.com")
		never(owner.Host)
		w.verify(t, owner, "/domains/"+owner.Call("GET", "/domains?appId="+owner.AppID, nil).Want(200).Text("data.1.id"))
		never(owner.Host)
	})
}

// due makes some hostnames of a client domains that work and whose check is due.
func (w *world) due(t testing.TB, c *apitest.Client, hostnames ...string) {
	t.Helper()
	for _, hostname := range hostnames {
		c.Call("POST", "/domains", M{"appId": c.AppID, "mode": "external", "hostname": hostname}).Want(202)
		w.Settle(t)
		if _, err := w.DB.Exec(t.Context(), `UPDATE domain SET ownership = 'verified', verified_at = created_at,
			dns = 'configured', links = 'ready', next_check_at = ? WHERE hostname = ?`, w.DB.Now(), hostname); err != nil {
			t.Fatal(err)
		}
	}
}

// Several processes check each domain once.
func TestCheckersShare(t *testing.T) {
	for _, engine := range storetest.Engines {
		t.Run(engine, func(t *testing.T) {
			w := newWorld(t, engine, apitest.Options{Database: storetest.Address(t, engine)})
			other := apitest.New(t, engine, w.options)
			other.Clock.Set(w.Clock.Now())
			w.add(t, "* CNAME connect."+apitest.Zone+".")
			w.due(t, w.Prepared(t, "ann@example.com"), names("a", 30)...)
			var both sync.WaitGroup
			both.Go(func() { w.CheckDomains(t) })
			both.Go(func() { other.CheckDomains(t) })
			both.Wait()
			if n := w.proxy.answers.Load(); n != 30 {
				t.Errorf("%d probes of 30 domains", n)
			}
		})
	}
}

// A check that another process took meanwhile keeps no place of its owner.
func TestChecksTakenMeanwhile(t *testing.T) {
	eachWorld(t, apitest.Options{}, func(t *testing.T, w *world) {
		w.due(t, w.Prepared(t, "ann@example.com"), names("a", 6)...)
		tried := 0
		ctx := store.WithFaults(t.Context(), func(query string) error {
			if !strings.HasPrefix(query, "UPDATE domain SET next_check_at") {
				return nil
			}
			tried++
			_, err := w.DB.Exec(t.Context(), "UPDATE domain SET next_check_at = next_check_at + 1")
			return err
		})
		checker := domain.NewChecker(w.DB, domain.Options{}, slog.New(slog.DiscardHandler))
		if err := checker.Drain(ctx); err != nil || tried != 6 {
			t.Errorf("%d of 6 checks were tried, %v", tried, err)
		}
	})
}

// A check that cannot be taken ends the look for more, keeps no place of its owner, and is an error.
func TestCheckCannotBeTaken(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		(&world{Installation: i}).due(t, i.Prepared(t, "ann@example.com"), names("a", 3)...)
		tried, cause := 0, errors.New("the database is full")
		ctx := store.WithFaults(t.Context(), func(query string) error {
			if !strings.HasPrefix(query, "UPDATE domain SET next_check_at") {
				return nil
			}
			tried++
			return cause
		})
		checker := domain.NewChecker(i.DB, domain.Options{}, slog.New(slog.DiscardHandler))
		for n := 1; n < 6; n++ { // an owner has four places
			if err := checker.Drain(ctx); !errors.Is(err, cause) || tried != n {
				t.Errorf("in round %d %d checks were tried: %v", n, tried, err)
			}
		}
	})
}

// The operator is told of a check that could not be made; it counts as none, and is made again in five minutes.
func TestCheckFails(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		w, owner := &world{Installation: i}, i.Prepared(t, "ann@example.com")
		for _, statement := range []string{"SELECT id, app_id, hostname", "UPDATE domain SET ownership"} {
			if _, err := i.DB.Exec(t.Context(), "UPDATE domain SET next_check_at = ?", i.DB.Now()); err != nil {
				t.Fatal(err)
			}
			ctx := store.WithFaults(t.Context(), func(query string) error {
				if strings.HasPrefix(query, statement) {
					return errors.New("the disk is broken")
				}
				return nil
			})
			var log apitest.Journal
			checker := domain.NewChecker(i.DB, domain.Options{
				Resolver: dnslookup.New("127.0.0.1:1"), // it is not there, and a platform domain needs none
				Certify:  func(context.Context, string) error { return errors.New("no certificate today") },
				Observe:  func(_, outcome string, _ time.Duration) { t.Errorf("the check counts as %s", outcome) },
			}, slog.New(slog.NewTextHandler(&log, nil)))
			if err := checker.Drain(ctx); err != nil {
				t.Fatal(err)
			}
			if told := log.String(); strings.Count(told, "\n") != 1 || !strings.Contains(told, "the disk is broken") ||
				!strings.Contains(told, "domain="+strings.TrimPrefix(domainOf(owner), "/domains/")) {
				t.Errorf("after a failed %s the log tells %q", statement, told)
			}
			if in := w.nextCheck(t, owner.Host); in != 5*time.Minute {
				t.Errorf("the next check is in %s", in)
			}
		}
	})
}

// A check that its process ends with leaves nothing but its lease, and is no failure.
func TestCheckEndsWithItsProcess(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		w, owner := &world{Installation: i}, i.Prepared(t, "ann@example.com")
		if _, err := i.DB.Exec(t.Context(), "UPDATE domain SET next_check_at = ?", i.DB.Now()); err != nil {
			t.Fatal(err)
		}
		before := owner.Call("GET", domainOf(owner), nil).Want(200)
		ctx, end := context.WithCancel(t.Context())
		var log apitest.Journal
		checker := domain.NewChecker(i.DB, domain.Options{
			Resolver: dnslookup.New("127.0.0.1:1"), // it is not there, and a platform domain needs none
			Certify: func(context.Context, string) error {
				end()
				return errors.New("no certificate for a process that ends")
			},
			Observe: func(_, outcome string, _ time.Duration) { t.Errorf("the check counts as %s", outcome) },
		}, slog.New(slog.NewTextHandler(&log, nil)))
		if err := checker.Drain(ctx); ctx.Err() == nil || err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("the check ends with %v", err)
		}
		owner.Call("GET", domainOf(owner), nil).Want(200).Has("data", before.Value("data"))
		if in := w.nextCheck(t, owner.Host); in != 5*time.Minute || log.String() != "" {
			t.Errorf("the next check is in %s; the log tells %q", in, log.String())
		}
		// A search for due checks that fails because the process ends is no failure either.
		ctx, end = context.WithCancel(t.Context())
		checker.Run(store.WithFaults(ctx, func(string) error {
			end()
			return ctx.Err()
		}))
		if log.String() != "" {
			t.Errorf("the log tells %q", log.String())
		}
	})
}

func names(prefix string, n int) (hostnames []string) {
	for i := range n {
		hostnames = append(hostnames, fmt.Sprintf("%s%d.example.com", prefix, i))
	}
	return hostnames
}

// The slow domains of one owner leave places for those of others.
func TestSlowDomains(t *testing.T) {
	eachWorld(t, apitest.Options{}, func(t *testing.T, w *world) {
		w.add(t, "* CNAME connect."+apitest.Zone+".")
		w.due(t, w.Prepared(t, "ann@example.com"), names("slow", 30)...)
		w.Clock.Move(time.Second)
		w.due(t, w.Prepared(t, "eve@example.com"), "quick.example.com")
		var slow, now atomic.Int64
		came := make(chan struct{})
		w.proxy.leadTo(func(h http.ResponseWriter, r *http.Request) {
			if r.Host == "quick.example.com" {
				storetest.Eventually(t, "the owner of slow domains has all their places",
					func() bool { return slow.Load() >= 4 })
				close(came)
			} else {
				slow.Add(1)
				if n := now.Add(1); n > 4 {
					t.Errorf("%d slow domains of one owner are checked at once", n)
				}
				<-came
				now.Add(-1)
			}
			w.Public.ServeHTTP(h, r)
		})
		w.CheckDomains(t)
		if n := slow.Load(); n != 30 {
			t.Errorf("%d of 30 slow domains were checked", n)
		}
	})
}

// With certificates of its own, the installation gets one before it probes.
func TestCertificates(t *testing.T) {
	var refuse atomic.Bool
	var asked atomic.Int64
	o := apitest.Options{}
	o.Domains.Certify = func(_ context.Context, hostname string) error {
		asked.Add(1)
		if refuse.Load() {
			return errors.New("no certificate today")
		}
		return nil
	}
	eachWorld(t, o, func(t *testing.T, w *world) {
		owner := w.Prepared(t, "ann@example.com")
		path, proof := w.claim(t, owner, "go.example.com")
		owner.Call("GET", path, nil).Want(200).Has("data.https", `"pending"`)
		w.add(t, proof)
		asked.Store(0)
		w.verify(t, owner, path).Has("data.error.code", `"dns_misconfigured"`)
		if asked.Load() != 0 {
			t.Error("a certificate was ordered for a hostname that leads elsewhere")
		}
		owner.Call("GET", path, nil).Want(200).Has("data.https", `"pending"`)
		w.add(t, "go CNAME connect."+apitest.Zone+".")
		refuse.Store(true)
		probes := w.proxy.answers.Load()
		w.verify(t, owner, path).Has("data.error.code", `"certificate_failed"`)
		owner.Call("GET", path, nil).Want(200).Has("data.https", `"failed"`).Has("data.links", `"pending"`)
		if w.proxy.answers.Load() != probes {
			t.Error("a hostname without certificate was probed")
		}
		refuse.Store(false)
		w.verify(t, owner, path).Has("data.status", `"succeeded"`)
		owner.Call("GET", path, nil).Want(200).Has("data.https", `"active"`).Has("data.links", `"ready"`)
	})
}
