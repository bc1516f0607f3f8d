//go:build soak

package process_test

import (
	"fmt"
	"net/url"
	"testing"

	"github.com/waymarkhq/waymark/internal/store/storetest"
)

// moves lets new connections lead elsewhere from now on.
func (g *gate) moves(t *testing.T, database string) {
	t.Helper()
	u, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.target = u.Host
}

// A standby that does not get the newest changes is promoted, and the address that the
// processes know leads to it from then on. What a standby has received it applies before it
// is promoted, whatever its recovery_min_apply_delay: so its stream stands still.
func TestStandbyPromoted(t *testing.T) {
	t.Parallel()
	primary, err := storetest.StartPostgres()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { primary.Stop() })
	administer(t, primary.Address, "CREATE DATABASE installation")
	database := func(s *storetest.Server) string {
		u, err := url.Parse(s.Address)
		if err != nil {
			t.Fatal(err)
		}
		u.Path = "/installation"
		return u.String()
	}
	stream, from := behindGate(t, primary.Address)
	standby, err := storetest.StartStandby(from)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { standby.Stop() })
	g, address := behindGate(t, database(primary))
	h := newHistories(t, address)
	last := number(t, open(t, "", database(primary)), "SELECT MAX(seq) FROM route_change")
	behind := open(t, "", database(standby))
	eventually(t, "the standby has what is to stay", func() error {
		if n := number(t, behind, "SELECT MAX(seq) FROM route_change"); n < last {
			return fmt.Errorf("%d of %d", n, last)
		}
		if n := number(t, behind, "SELECT COALESCE(MAX(clicks), 0) FROM click_count"); n < 2 {
			return fmt.Errorf("%d clicks", n)
		}
		return nil
	})
	behind.Close()
	stream.hush()
	h.lose()
	g.shut()
	if err := primary.Stop(); err != nil {
		t.Log(err)
	}
	administer(t, standby.Address, "SELECT pg_promote()")
	g.moves(t, standby.Address)
	g.open()
	h.check()
}
