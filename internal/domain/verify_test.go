package domain_test

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/waymarkhq/waymark/internal/apitest"
	"github.com/waymarkhq/waymark/internal/domain"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
)

// An owner is led step by step: each verification tells what to do next, until links
// can be made and visitors follow them.
func TestVerify(t *testing.T) {
	eachWorld(t, apitest.Options{}, func(t *testing.T, w *world) {
		owner := w.Prepared(t, "ann@example.com")
		hook := owner.Call("POST", "/webhooks", M{"appId": owner.AppID, "url": "https://hooks.example.com/",
			"events": []string{"domain.status_changed"}}).Want(201).Text("data.webhook.id")
		events := func() int { return owner.Call("GET", "/webhooks/"+hook+"/deliveries", nil).Want(200).Len("data") }
		path, proof := w.claim(t, owner, "go.example.com")
		claimed := owner.Call("GET", path, nil).Want(200)
		value := claimed.Text("data.challenge.value")
		claimed.Has("data.connectionRecords.0.type", `"CNAME"`).Has("data.connectionRecords.0.name", `"go.example.com"`).
			Has("data.connectionRecords.0.value", `"connect.`+apitest.Zone+`"`).Has("data.connectionRecords.0.ttl", "300").
			Has("data.connectionRecords.0.status", `"pending"`).Has("data.connectionRecords.1", "")
		owner.Call("GET", path+"/diagnostics", nil).Want(200).Has("data.checks.0.name", `"ownership"`).
			Has("data.checks.0.status", `"skipped"`)
		before := events()

		// Nothing is in the DNS.
		w.Clock.Move(time.Minute)
		started := w.startVerification(t, owner, path)
		owner.Call("GET", path, nil).Want(200).Has("data.ownership", `"pending"`)
		w.Settle(t)
		missing := "The TXT record _waymark-challenge.go.example.com was not found. Add it with the value " + value +
			", then verify again."
		w.end(t, owner, started).Has("data.status", `"failed"`).Has("data.error.code", `"ownership_not_proved"`).
			Has("data.error.message", `"`+missing+`"`)
		d := owner.Call("GET", path, nil).Want(200).Has("data.ownership", `"failed"`).Has("data.dns", `"misconfigured"`).
			Has("data.links", `"pending"`).Has("data.lastError.code", `"ownership_not_proved"`).
			Has("data.lastError.message", `"`+missing+`"`).Has("data.connectionRecords.0.status", `"wrong"`)
		if d.Text("data.lastCheckedAt") == "" || d.Revision() != claimed.Revision() {
			t.Errorf("what was observed changed the revision, or no time: %s", d.Body)
		}
		checks := owner.Call("GET", path+"/diagnostics", nil).Want(200).Has("data.checks.0.status", `"failed"`).
			Has("data.checks.0.message", `"`+missing+`"`).Has("data.checks.0.expected.0", `"`+value+`"`).
			Has("data.checks.0.observed", "[]").Has("data.checks.1.name", `"dns"`).Has("data.checks.1.status", `"failed"`).
			Has("data.checks.2.status", `"skipped"`).Has("data.checks.3.status", `"skipped"`)
		if m := checks.Text("data.checks.1.message"); m != "The name go.example.com does not exist in the DNS. Set the "+
			"CNAME record go.example.com with the value connect."+apitest.Zone+", then verify again." {
			t.Errorf("the check of the DNS says %q", m)
		}
		if n := events() - before; n != 2 { // pending, failed
			t.Errorf("%d events of a failed verification", n)
		}

		// Another value.
		w.add(t, `_waymark-challenge.go TXT "waymark-verification=other"`)
		w.verify(t, owner, path).Has("data.error.code", `"ownership_not_proved"`)
		owner.Call("GET", path+"/diagnostics", nil).Want(200).
			Has("data.checks.0.observed", `["waymark-verification=other"]`)

		// The ownership is proved: it is published at once.
		w.add(t, proof)
		w.verify(t, owner, path).Has("data.status", `"failed"`).Has("data.error.code", `"dns_misconfigured"`)
		owner.Call("GET", path, nil).Want(200).Has("data.ownership", `"verified"`).
			Has("data.challenge.status", `"verified"`).Has("data.publication.status", `"synced"`).
			Has("data.links", `"pending"`)
		owner.Link("a", M{"domain": "go.example.com"}).Refused(fault.ValidationFailed)

		// It leads elsewhere.
		w.replace(t, "go A 203.0.113.9", "go A 203.0.113.8")
		w.verify(t, owner, path).Has("data.error.code", `"dns_misconfigured"`)
		observed := owner.Call("GET", path, nil).Want(200).Has("data.dns", `"misconfigured"`)
		if n := observed.Len("data.connectionRecords.0.observed"); n != 2 {
			t.Errorf("observed: %s", observed.Value("data.connectionRecords"))
		}
		if m := observed.Text("data.lastError.message"); !strings.Contains(m, "203.0.113.9") ||
			!strings.Contains(m, "Set the CNAME record go.example.com") {
			t.Errorf("the owner is told %q", m)
		}

		// All is right; that the proof is gone does not matter any more.
		before = events()
		w.replace(t, "go CNAME connect."+apitest.Zone+".")
		w.verify(t, owner, path).Has("data.status", `"succeeded"`).Has("data.result.resource.type", `"domain"`)
		owner.Call("GET", path, nil).Want(200).Has("data.ownership", `"verified"`).Has("data.dns", `"configured"`).
			Has("data.https", `"delegated"`).Has("data.links", `"ready"`).Has("data.lastError", "null").
			Has("data.connectionRecords.0.status", `"ok"`).
			Has("data.connectionRecords.0.observed", `["connect.`+apitest.Zone+`"]`)
		owner.Call("GET", path+"/diagnostics", nil).Want(200).Has("data.checks.0.status", `"ok"`).
			Has("data.checks.1.status", `"ok"`).Has("data.checks.2.status", `"skipped"`).Has("data.checks.3.status", `"ok"`).
			Has("data.checks.3.expected.0", `"https://go.example.com/_service/health"`)
		if n := events() - before; n != 1 {
			t.Errorf("%d events of a successful verification", n)
		}
		owner.Link("a", M{"domain": "go.example.com"}).Want(201)
		w.Settle(t)
		w.Visit(t, "https://go.example.com/a", nil, func(r *http.Response) bool { return r.StatusCode == 302 })

		// Nothing changes, so that there is nothing to tell.
		before = events()
		w.verify(t, owner, path).Has("data.status", `"succeeded"`)
		if n := events() - before; n != 0 {
			t.Errorf("%d events although nothing changed", n)
		}
	})
}

func TestVerifyRefusals(t *testing.T) {
	eachWorld(t, apitest.Options{LimitScale: 1}, func(t *testing.T, w *world) {
		owner, eve := w.Prepared(t, "ann@example.com"), w.Prepared(t, "eve@example.com")
		path, _ := w.claim(t, owner, "go.example.com")
		revision := owner.Call("GET", path, nil).Want(200).Revision()
		with := apitest.IfMatch(revision)
		owner.Call("POST", path+"/verify", M{}).Refused(fault.PreconditionRequired)
		owner.Call("POST", path+"/verify", M{}, apitest.IfMatch("00000000-0000-4000-8000-000000000000")).
			Refused(fault.RevisionConflict)
		owner.Call("POST", path+"/verify", M{"now": true}, with).Refused(fault.ValidationFailed)
		eve.Call("POST", path+"/verify", M{}, with).Refused(fault.NotFound)
		eve.Call("GET", path+"/diagnostics", nil).Refused(fault.NotFound)
		owner.Key("domains:read").Call("POST", path+"/verify", M{}, with).Refused(fault.InsufficientPermission)
		owner.Call("POST", path+"/verify", M{}, with).Want(202)
		// One at a time, and not again and again.
		owner.Call("POST", path+"/verify", M{}, with).Refused(fault.OperationInProgress)
		w.Settle(t)
		for _, c := range []struct {
			left time.Duration
			want string
		}{{2 * time.Second, "2"}, {time.Second + time.Millisecond, "2"}, {time.Second, "1"}, {time.Millisecond, "1"}} {
			w.Clock.Set(storetest.Start.Add(10*time.Second - c.left))
			r := owner.Call("POST", path+"/verify", M{}, with).Refused(fault.RateLimited)
			if got := r.Header.Get("Retry-After"); got != c.want {
				t.Errorf("%s before the next verification, Retry-After is %q", c.left, got)
			}
		}
		w.Clock.Set(storetest.Start.Add(10 * time.Second))
		owner.Call("POST", path+"/verify", M{}, with).Want(202)
		w.Settle(t)
	})
}

// A verification that is cancelled leaves no trace of itself.
func TestCancelVerification(t *testing.T) {
	eachWorld(t, apitest.Options{}, func(t *testing.T, w *world) {
		owner := w.Prepared(t, "ann@example.com")
		path, _ := w.claim(t, owner, "go.example.com")
		r := w.startVerification(t, owner, path)
		if _, err := w.DB.Exec(t.Context(), "UPDATE domain SET https = 'issuing' WHERE hostname = 'go.example.com'"); err != nil {
			t.Fatal(err)
		}
		owner.Call("POST", "/operations/"+r.Text("data.id")+"/cancel", M{}).Want(202).Has("data.status", `"cancelled"`)
		owner.Call("GET", path, nil).Want(200).Has("data.ownership", `"unverified"`).Has("data.lastCheckedAt", "null").
			Has("data.https", `"pending"`)
		w.Settle(t)
		owner.Call("GET", path, nil).Want(200).Has("data.ownership", `"unverified"`).Has("data.lastCheckedAt", "null")
	})
}

// While the DNS gives no answers, an owner is told to verify later, and nothing is said to be wrong with the records.
func TestVerifyWhileDNSIsAway(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) { // it has no DNS server
		w, owner := &world{Installation: i}, i.Prepared(t, "ann@example.com")
		path, _ := w.claim(t, owner, "go.example.com")
		verify := func(ownership, message string) {
			t.Helper()
			w.verify(t, owner, path).Has("data.status", `"failed"`).Has("data.error.code", `"dns_unavailable"`).
				Has("data.error.message", `"`+message+`"`)
			owner.Call("GET", path, nil).Want(200).Has("data.lastError.code", `"dns_unavailable"`).
				Has("data.ownership", `"`+ownership+`"`).Has("data.dns", `"pending"`)
			owner.Call("GET", path+"/diagnostics", nil).Want(200).Has("data.checks.1.status", `"failed"`).
				Has("data.checks.1.message", `"No DNS server gave a usable answer for go.example.com. Verify again later."`)
		}
		verify("failed", "The TXT record _waymark-challenge.go.example.com could not be looked up. No DNS server gave a "+
			"usable answer for _waymark-challenge.go.example.com. Verify again later.")
		if _, err := i.DB.Exec(t.Context(), `UPDATE domain SET verified_at = created_at, ownership = 'verified'
			WHERE hostname = 'go.example.com'`); err != nil {
			t.Fatal(err)
		}
		verify("verified", "No DNS server gave a usable answer for go.example.com. Verify again later.")
	})
}

// Of the verifications of one owner four go on at once; one more waits a second for its place.
func TestVerificationsAtOnce(t *testing.T) {
	eachWorld(t, apitest.Options{}, func(t *testing.T, w *world) {
		owner := w.Prepared(t, "ann@example.com")
		w.add(t, "* CNAME connect."+apitest.Zone+".")
		w.due(t, owner, names("a", 5)...)
		var begun []*apitest.Response
		all := owner.Call("GET", "/domains?appId="+owner.AppID, nil).Want(200)
		for n := range 5 { // the newest stand first
			begun = append(begun, w.startVerification(t, owner, "/domains/"+all.Text(fmt.Sprintf("data.%d.id", n))))
		}
		var now atomic.Int64
		var waits atomic.Bool
		w.proxy.leadTo(func(h http.ResponseWriter, r *http.Request) {
			if n := now.Add(1); n > 4 {
				t.Errorf("%d verifications of one owner go on at once", n)
			}
			storetest.Eventually(t, "the fifth waits a second", func() bool {
				n, err := store.One(t.Context(), w.DB, store.Value[int], `SELECT COUNT(*) FROM job
					WHERE kind = 'domain.verify' AND run_after = ?`, w.DB.Now().Add(time.Second))
				if err == nil && n == 1 && now.Load() == 4 {
					waits.Store(true)
				}
				return waits.Load()
			})
			now.Add(-1)
			w.Public.ServeHTTP(h, r)
		})
		w.Settle(t)
		waiting := 0
		for _, r := range begun {
			if owner.Call("GET", "/operations/"+r.Text("data.id"), nil).Want(200).Text("data.status") == "queued" {
				waiting++
			}
		}
		if waiting != 1 {
			t.Errorf("%d verifications wait for a place", waiting)
		}
		for _, r := range begun {
			w.end(t, owner, r).Has("data.status", `"succeeded"`)
		}
	})
}

// That its certificate is being got is not said of a domain that was detached meanwhile.
func TestIssuingOfDetached(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		path := domainOf(owner)
		mark := func(id string) error {
			return i.DB.InTx(t.Context(), func(tx *store.Tx) error { return domain.MarkIssuing(t.Context(), tx, id) })
		}
		for _, c := range []struct{ detached, want string }{{"TRUE", "pending"}, {"FALSE", "issuing"}} {
			if _, err := i.DB.Exec(t.Context(), "UPDATE domain SET https = 'pending', detached = "+c.detached); err != nil {
				t.Fatal(err)
			}
			if err := mark(path[len("/domains/"):]); err != nil {
				t.Error(err)
			}
			owner.Call("GET", path, nil).Want(200).Has("data.https", `"`+c.want+`"`)
		}
		if err := mark("none"); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("a domain that is gone: %v", err)
		}
	})
}

// What leads to the installation is right in each of the ways that providers have.
func TestConnections(t *testing.T) {
	eachWorld(t, apitest.Options{}, func(t *testing.T, w *world) {
		owner := w.Prepared(t, "ann@example.com")
		path, proof := w.claim(t, owner, "go.example.com")
		connect := "connect." + apitest.Zone + "."
		for _, c := range []struct {
			records string
			right   bool
		}{
			{"go A 192.0.2.80", true},
			{"go CNAME a;a CNAME b;b CNAME " + connect, true},
			{"go CNAME any." + apitest.Zone + ".", true}, // its address is the installation's
			// 192.0.2.81 is an address of connect alone.
			{"go A 192.0.2.81", true},
			{"go A 192.0.2.80;go A 192.0.2.81", true},
			{"go A 192.0.2.80;go A 192.0.2.82", false},
			{"go A 192.0.2.80;go AAAA 2001:db8::1", false},
			{"go A 192.0.2.82", false},
			{"go AAAA 2001:db8::1", false},
			{"go TXT x", false},
			{"go CNAME nowhere", false},
			{"go CNAME go", false},
			{"go CNAME x." + connect, false},
		} {
			w.replace(t, append(strings.Split(c.records, ";"), proof)...)
			status, dns := `"succeeded"`, `"configured"`
			if !c.right {
				status, dns = `"failed"`, `"misconfigured"`
			}
			// Each is a domain of its own, as one that worked does not fail at once.
			if _, err := w.DB.Exec(t.Context(), "UPDATE domain SET links = 'pending' WHERE hostname = 'go.example.com'"); err != nil {
				t.Fatal(err)
			}
			w.verify(t, owner, path).Has("data.status", status)
			owner.Call("GET", path, nil).Want(200).Has("data.dns", dns)
		}
	})
}

// The hostname must be answered by this installation.
func TestProbeOfHostname(t *testing.T) {
	eachWorld(t, apitest.Options{}, func(t *testing.T, w *world) {
		owner := w.Prepared(t, "ann@example.com")
		path, proof := w.claim(t, owner, "go.example.com")
		w.add(t, proof, "go CNAME connect."+apitest.Zone+".")
		for message, handle := range map[string]http.HandlerFunc{
			"Another server answered at https://go.example.com/_service/health.": func(h http.ResponseWriter, _ *http.Request) {
				h.Header().Set("X-Waymark-Installation", "another")
			},
			"No connection to port 443": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		} {
			w.proxy.leadTo(handle)
			r := w.verify(t, owner, path).Has("data.status", `"failed"`).Has("data.error.code", `"probe_failed"`)
			if !strings.HasPrefix(r.Text("data.error.message"), message) {
				t.Errorf("the owner is told %q", r.Text("data.error.message"))
			}
			owner.Call("GET", path, nil).Want(200).Has("data.dns", `"configured"`).Has("data.links", `"pending"`)
			owner.Call("GET", path+"/diagnostics", nil).Want(200).Has("data.checks.3.status", `"failed"`)
		}
		w.proxy.leadTo(w.Public.ServeHTTP)
		w.verify(t, owner, path).Has("data.status", `"succeeded"`)
	})
}

// A hostname of the platform zone needs no proof and no records.
func TestVerifyPlatform(t *testing.T) {
	eachWorld(t, apitest.Options{}, func(t *testing.T, w *world) {
		owner := w.Prepared(t, "ann@example.com")
		path := "/domains/" + owner.Call("GET", "/domains?appId="+owner.AppID, nil).Want(200).Text("data.0.id")
		owner.Call("GET", path, nil).Want(200).Has("data.connectionRecords", "[]")
		owner.Call("GET", path+"/diagnostics", nil).Want(200).Has("data.checks.0.status", `"ok"`)
		// The certificate of the proxy is for other names.
		w.verify(t, owner, path).Has("data.status", `"failed"`).Has("data.error.code", `"probe_failed"`)
		owner.Call("GET", path, nil).Want(200).Has("data.links", `"ready"`).Has("data.lastError.code", `"probe_failed"`)
	})
}

// What the redirectors may not serve yet is asked for again, a moment after it was
// published. That a hostname leads elsewhere is told at once.
func TestVerifyWhileRedirectorsFollow(t *testing.T) {
	eachWorld(t, apitest.Options{}, func(t *testing.T, w *world) {
		owner := w.Prepared(t, "ann@example.com")
		for name, leads := range map[string]bool{"here.example.com": true, "elsewhere.example.com": false} {
			path, proof := w.claim(t, owner, name)
			if w.add(t, proof); leads {
				w.add(t, "here CNAME connect."+apitest.Zone+".")
			}
			w.proxy.leadTo(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
			r := w.startVerification(t, owner, path)
			operation := "/operations/" + r.Text("data.id")
			w.Settle(t)
			if !leads {
				owner.Call("GET", operation, nil).Want(200).Has("data.status", `"failed"`)
				continue
			}
			owner.Call("GET", operation, nil).Want(200).Has("data.status", `"running"`)
			w.proxy.leadTo(w.Public.ServeHTTP)
			w.end(t, owner, r).Has("data.status", `"succeeded"`)
		}
	})
}

// Each verification is counted with what started it and what came of it.
func TestVerificationsAreCounted(t *testing.T) {
	eachWorld(t, apitest.Options{}, func(t *testing.T, w *world) {
		owner := w.Prepared(t, "ann@example.com")
		path, _ := w.claim(t, owner, "missing.example.com")
		w.verify(t, owner, path).Has("data.status", `"failed"`)
		w.ready(t, owner, "go.example.com")
		w.Clock.Move(24 * time.Hour)
		w.CheckDomains(t)
		w.replace(t, "go A 203.0.113.9")
		w.Clock.Move(24 * time.Hour)
		w.CheckDomains(t)
		families, err := w.Metrics.Gather()
		if err != nil {
			t.Fatal(err)
		}
		counted := map[string]float64{}
		for _, f := range families {
			for _, m := range f.GetMetric() {
				if labels := m.GetLabel(); f.GetName() == "waymark_domain_verifications_total" { // outcome, trigger
					counted[labels[1].GetValue()+" "+labels[0].GetValue()] = m.GetCounter().GetValue()
				}
			}
		}
		want := map[string]float64{"request ownership_not_proved": 1, "request ready": 1, "schedule ready": 1,
			"schedule dns_misconfigured": 1}
		if !maps.Equal(counted, want) {
			t.Errorf("counted %v, want %v", counted, want)
		}
	})
}
