package domain_test

import (
	"fmt"
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
	for mode, provider := range map[string]dnsprovider.Provider{"external": nil, "managed": &zoned{zone: "example.com"}} {
		t.Run(mode, func(t *testing.T) {
			o := managedBy(provider)
			o.Nameservers = nil
			w := newWorld(t, "sqlite", apitest.Options{Domains: o})
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
				d := create(t, w.Installation, owner, M{"mode": mode, "hostname": hostname})
				w.replace(t, d.Text("data.challenge.name")+". TXT "+d.Text("data.challenge.value"), hostname+". A 192.0.2.80")
				before := told()
				w.Clock.Move(time.Minute)
				begun := w.startVerification(t, owner, "/domains/"+d.Text("data.id"))
				ctx, outcome := storetest.FailNth(t.Context(), nth)
				for again := true; again; {
					took, err := w.CycleIn(ctx)
					again = err == nil && took > 0
				}
				w.Clock.Move(time.Minute)
				w.Settle(t)
				failed, _ := outcome()
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
