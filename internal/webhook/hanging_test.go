package webhook_test

import (
	"net"
	"net/netip"
	"sync/atomic"
	"testing"

	"github.com/waymarkhq/waymark/internal/apitest"
	"github.com/waymarkhq/waymark/internal/outbound"
	"github.com/waymarkhq/waymark/internal/store/storetest"
)

// hanging accepts connections and never says a word. It counts those open at once.
func hanging(t *testing.T) (at netip.AddrPort, most *atomic.Int64) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	var open atomic.Int64
	most = new(atomic.Int64)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			most.Store(max(most.Load(), open.Add(1)))
			go func() {
				defer open.Add(-1)
				for buffer := make([]byte, 4096); err == nil; {
					_, err = c.Read(buffer)
				}
				c.Close()
			}()
		}
	}()
	return netip.MustParseAddrPort(l.Addr().String()), most
}

// A hundred receivers that hang are tried all at once, one delivery each, and a good
// one of the same owner has its events beside them.
func TestHangingReceivers(t *testing.T) {
	const hang = 100
	for _, engine := range storetest.Engines {
		t.Run(engine, func(t *testing.T) {
			r := newReceiver(t)
			options := r.options()
			at, most := hanging(t)
			options.Allow["b.example.com"] = at
			i := apitest.New(t, engine, apitest.Options{Outbound: options})
			owner := i.Prepared(t, "ann@example.com")
			key := owner.Key(permissions...)
			for range hang {
				registerAs(t, key, M{"url": "https://b.example.com/"})
			}
			good := registerAs(t, key, nil) // the last of them, whose turn is last
			emit(t, i, owner.AppID, 5)
			run(t, dispatcherWith(i, outbound.New(options), nil))
			storetest.Eventually(t, "delivery to the good one", func() bool {
				return count(t, i.DB, `SELECT COUNT(*) FROM webhook_delivery WHERE webhook_id = ?
					AND state = 'succeeded'`, good.id) == 5
			})
			storetest.Eventually(t, "a connection to each that hangs", func() bool { return most.Load() >= hang })
			if n := most.Load(); n != hang {
				t.Errorf("%d connections at once to %d receivers that hang", n, hang)
			}
		})
	}
}

// A receiver that fails gets one delivery at a time.
func TestFailingReceiver(t *testing.T) {
	each(t, func(t *testing.T, i *apitest.Installation, r *receiver) {
		owner := i.Prepared(t, "ann@example.com")
		register(t, owner, nil)
		r.answers(func(string, received) int {
			if n := count(t, i.DB, "SELECT COUNT(*) FROM webhook_delivery WHERE state = 'delivering'"); n != 1 {
				t.Errorf("%d deliveries at once to a receiver that fails", n)
			}
			return 500
		})
		emit(t, i, owner.AppID, 9)
		i.Deliver(t)
	})
}
