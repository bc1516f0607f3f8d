package route

import (
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
)

// A link is open exactly when Decide lets its visitors in.
func TestOpenAgreesWithDecide(t *testing.T) {
	now := storetest.Start
	limit, before, after := int64(2), now.Add(-time.Microsecond), now.Add(time.Microsecond)
	at := now
	instants := []*clock.Instant{nil, &before, &at, &after}
	host := &Host{AppID: "app"}
	for _, appID := range []string{"app", "former"} {
		for _, archived := range []bool{false, true} {
			for _, from := range instants {
				for _, to := range instants {
					for _, most := range []*int64{nil, &limit} {
						for clicks := range int64(4) {
							link := &Link{AppID: appID, Archived: archived, StartsAt: from, ExpiresAt: to, MaxClicks: most,
								DesktopURL: "https://example.com/"}
							live := Decide(link, host, Visit{Platform: Desktop, Clicks: clicks}, now).Live
							if got := link.Open(host, clicks, now); got != live {
								t.Fatalf("%+v after %d clicks: open %v, live %v", link, clicks, got, live)
							}
						}
					}
				}
			}
		}
	}
	if (*Link)(nil).Open(host, 0, now) {
		t.Error("no link is open")
	}
}

func TestAllUTM(t *testing.T) {
	link := Link{UTM: UTM{Source: "a", Term: "b"}, CampaignUTM: UTM{Source: "c", Medium: "d", Campaign: "e", Content: "f"}}
	if got := link.AllUTM(); got != (UTM{"a", "d", "e", "b", "f"}) || link.UTM.Medium != "" {
		t.Errorf("%+v, and the link has %+v", got, link.UTM)
	}
	own := UTM{"a", "b", "c", "d", "e"}
	if got := (&Link{UTM: own, CampaignUTM: UTM{"f", "g", "h", "i", "j"}}).AllUTM(); got != own {
		t.Errorf("%+v", got)
	}
}

// Links are found by their ids on their hostname alone, and as they are now.
func TestLinksByID(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, _ *clock.Clock) {
		ctx := t.Context()
		c := NewCache(db, slog.New(slog.DiscardHandler))
		publish := func(f func(p *Publisher) error) {
			t.Helper()
			if err := db.InTxReadCommitted(ctx, func(tx *store.Tx) error {
				p, err := Lock(ctx, tx)
				if err != nil {
					return err
				}
				return f(p)
			}); err != nil {
				t.Fatal(err)
			}
		}
		put := func(hostname, path, id string) {
			publish(func(p *Publisher) error {
				return p.PutLinks(ctx, []LinkRoute{{Hostname: hostname, Path: path, Link: Link{LinkID: id, AppID: "app"}}})
			})
		}
		publish(func(p *Publisher) error { return p.PutHost(ctx, "a.example", "r", Host{DomainID: "a.example:host"}) })
		put("a.example", "one", "a.example:1")
		put("a.example", "two", "a.example:2")
		put("b.example", "one", "b.example:1")
		put("b.example", "odd", "a.example:3")
		find := func(want ...string) {
			t.Helper()
			ids := []string{"a.example:2", "a.example:none", "b.example:1", "a.example:1", "a.example:3", "a.example:host",
				"a.example:2", "", "a.example:"}
			links, err := c.Links(ctx, "a.example", ids)
			if err != nil {
				t.Fatal(err)
			}
			got := make([]string, len(links))
			for i, l := range links {
				if l != nil {
					got[i] = l.LinkID
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("found %q", got)
			}
		}
		find("a.example:2", "", "", "a.example:1", "", "", "a.example:2", "", "")
		// Another link at the address of a deleted one is not taken for it.
		publish(func(p *Publisher) error { return p.Remove(ctx, "a.example", "two", "a.example:2") })
		put("a.example", "two", "a.example:4")
		if err := c.refresh(ctx, change{key: key{"a.example", "two"}}); err != nil {
			t.Fatal(err)
		}
		find("", "", "", "a.example:1", "", "", "", "", "")
		publish(func(p *Publisher) error { return p.Remove(ctx, "a.example", "two", "a.example:4") })
		if err := c.refresh(ctx, change{key: key{"a.example", "two"}}); err != nil {
			t.Fatal(err)
		}
		find("", "", "", "a.example:1", "", "", "", "", "")
		if n := c.paths.EstimatedSize(); n != 2 {
			t.Errorf("%d paths are held", n)
		}
	})
}
