package domain_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/waymarkhq/waymark/internal/apitest"
	"github.com/waymarkhq/waymark/internal/dnsprovider"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
)

// A verification of which a statement fails is done all the same when it is tried again: it ends as it would have, and
// its change is told once.
func TestVerificationSurvivesFailedStatements(t *testing.T) {
	for name, c := range map[string]struct {
		mode     string
		provider dnsprovider.Provider
		early    bool // while the redirectors do not serve the domain yet
	}{"external": {mode: "external"}, "early": {mode: "external", early: true},
		"managed": {mode: "managed", provider: &zoned{zone: "example.com"}}} {
		t.Run(name, func(t *testing.T) {
			o, log := managedBy(c.provider), &apitest.Journal{}
			o.Nameservers = nil
			w := newWorld(t, "sqlite", apitest.Options{Domains: o, Log: log})
			owner := w.Prepared(t, "ann@example.com")
			owner.Call("POST", "/webhooks", M{"appId": owner.AppID, "url": "https://hooks.example.com/",
				"events": []string{"domain.status_changed"}}).Want(201)
			told := func() int64 {
				n, err := store.One(t.Context(), w.DB, store.Value[int64],
					"SELECT COUNT(*) FROM webhook_delivery WHERE event_type = 'domain.status_changed'")
				if err != nil {
					t.Fatal(err)
				}
				return n
			}
			var changes []int64
			var failures []string
			for nth := 1; nth == 1 || failures[nth-2] != ""; nth++ {
				hostname := fmt.Sprintf("go%d.example.com", nth)
				d := create(t, w.Installation, owner, M{"mode": c.mode, "hostname": hostname})
				w.replace(t, d.Text("data.challenge.name")+". TXT "+d.Text("data.challenge.value"), hostname+". A 192.0.2.80")
				before := told()
				w.Clock.Move(time.Minute)
				begun := w.startVerification(t, owner, "/domains/"+d.Text("data.id"))
				ctx, outcome := storetest.FailNth(t.Context(), nth)
				if c.early {
					w.proxy.leadTo(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
				}
				logged, err := len(log.String()), w.SettleIn(ctx)
				failed, _ := outcome()
				if failed != "" && err == nil && !strings.Contains(log.String()[logged:], "made to fail") {
					t.Errorf("nobody is told of a failed %q", failed)
				}
				w.proxy.leadTo(w.Public.ServeHTTP)
				w.Clock.Move(time.Minute)
				w.Settle(t)
				if status := w.end(t, owner, begun).Text("data.status"); status != "succeeded" {
					t.Errorf("the verification is %s after a failed %q", status, failed)
				}
				owner.Call("GET", "/domains/"+d.Text("data.id"), nil).Want(200).Has("data.links", `"ready"`)
				failures, changes = append(failures, failed), append(changes, told()-before)
			}
			if len(failures) < 20 {
				t.Errorf("a verification has %d statements", len(failures)-1)
			}
			for n, told := range changes {
				if want := changes[len(changes)-1]; told != want || told == 0 {
					t.Errorf("%d changes are told after a failed %q, want %d", told, failures[n], want)
				}
			}
		})
	}
}
