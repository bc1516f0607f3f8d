package webhook

import (
	"context"
	"errors"
	"log/slog"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/delivery"
	"github.com/waymarkhq/waymark/internal/outbound"
	"github.com/waymarkhq/waymark/internal/store/storetest"
)

// An owner has half of what is served at once, and a destination is served by one at
// a time.
func TestServed(t *testing.T) {
	db := storetest.Open(t, storetest.Address(t, "sqlite"), new(clock.Clock))
	d := New(db, outbound.New(outbound.Options{}), slog.New(slog.DiscardHandler), nil)
	taken := func(owner string) (n int) {
		for id := range 200 {
			if d.take(delivery.Due{WebhookID: owner + strconv.Itoa(id), OwnerID: owner}) {
				n++
			}
		}
		return n
	}
	if a, b, c := taken("ann"), taken("bob"), taken("eve"); a != 160 || b != 160 || c != 0 {
		t.Errorf("of 320 places the owners have %d, %d and %d", a, b, c)
	}
	// Without a place nothing is looked for, so the database is not asked.
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if n, err := d.begin(gone); n != 0 || err != nil {
		t.Errorf("without a place %d are served, %v", n, err)
	}
	d.served.GiveBack("ann")
	if _, err := d.begin(gone); err == nil {
		t.Error("with a place that is free nothing is looked for")
	}
	if d.take(delivery.Due{WebhookID: "ann0", OwnerID: "ann"}) {
		t.Error("a destination is served twice at once")
	}
	if !d.take(delivery.Due{WebhookID: "ann199", OwnerID: "ann"}) {
		t.Error("a place that was given back cannot be taken")
	}
}

// Eight destinations write to the database at once. Another one waits for its turn, for four seconds in all.
func TestWrites(t *testing.T) {
	db := storetest.Open(t, storetest.Address(t, "sqlite"), new(clock.Clock))
	for wait, turns := range map[time.Duration]bool{4*time.Second - 1: true, 4*time.Second + 1: false} {
		synctest.Test(t, func(t *testing.T) {
			d, began := New(db, nil, slog.New(slog.DiscardHandler), nil), time.Now()
			free := make(chan struct{})
			var writing sync.WaitGroup
			for range 8 {
				writing.Go(func() {
					if err := d.write(t.Context(), func(context.Context) error {
						<-free
						return nil
					}); err != nil {
						t.Error(err)
					}
				})
			}
			synctest.Wait()
			var wrote bool
			var err error
			failed := errors.New("failed")
			writing.Go(func() {
				err = d.write(t.Context(), func(ctx context.Context) error {
					until, _ := ctx.Deadline()
					wrote = until.Equal(began.Add(4 * time.Second))
					return failed
				})
			})
			if synctest.Wait(); wrote {
				t.Error("nine write at once")
			}
			time.Sleep(wait)
			if synctest.Wait(); !turns && (wrote || !errors.Is(err, context.DeadlineExceeded)) {
				t.Errorf("after %s: written %t, %v", wait, wrote, err)
			}
			close(free)
			if writing.Wait(); wrote != turns || turns && err != failed {
				t.Errorf("others wrote for %s: written %t, %v", wait, wrote, err)
			}
		})
	}
}
