package segments

import (
	"testing"
	"time"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
)

// A backup names the files of the manifest, and none of them is deleted while it lasts.
func TestHold(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, c *clock.Clock) {
		dir := t.TempDir()
		e, traffic := open(t, db, dir), newTraffic()
		load(t, e, traffic.batch(10))
		if named, err := Files(t.Context(), db); err != nil || len(named) != 0 {
			t.Errorf("young segments have files %v, %v", named, err)
		}
		seal(t, e)
		named, err := Files(t.Context(), db)
		if all := files(t, dir); err != nil || len(named) != 1 || len(all) != 1 || all[0] != named[0] {
			t.Fatalf("named are %v, there are %v, %v", named, all, err)
		}
		if err := e.replace(t.Context(), manifest(t, e), nil); err != nil {
			t.Fatal(err)
		}
		hold := func(until clock.Instant) {
			t.Helper()
			if err := Hold(t.Context(), db, until); err != nil {
				t.Fatal(err)
			}
		}
		hold(c.Now().Add(grace))
		hold(c.Now().Add(2 * grace))
		for _, step := range []struct {
			wait time.Duration
			left int
		}{{2*grace - time.Microsecond, 1}, {time.Microsecond, 0}} {
			c.Move(step.wait)
			rest(t, e)
			if n := len(files(t, dir)); n != step.left {
				t.Errorf("%d files %+v", n, step)
			}
		}
		// A backup that ended lets them go at once.
		load(t, e, traffic.batch(10))
		seal(t, e)
		hold(c.Now().Add(time.Hour))
		if err := e.replace(t.Context(), manifest(t, e), nil); err != nil {
			t.Fatal(err)
		}
		c.Move(grace)
		rest(t, e)
		if n := len(files(t, dir)); n != 1 {
			t.Errorf("%d files while they are held", n)
		}
		hold(0)
		rest(t, e)
		if n := len(files(t, dir)); n != 0 {
			t.Errorf("%d files afterwards", n)
		}
	})
}
