package webhook

import (
	"testing"
	"time"

	"github.com/waymarkhq/waymark/internal/clock"
)

// The status says from the instant at which an authorization ends that another one is required, unless the destination is
// disabled or on hold.
func TestStatus(t *testing.T) {
	now := clock.At(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC))
	for _, c := range []struct {
		enabled bool
		hold    string
		until   clock.Instant
		want    string
	}{
		{true, "", now + 1, "active"}, {true, "", now, "authorization_required"}, {true, "", now - 1, "authorization_required"},
		{true, "failing", now - 1, "failing"}, {false, "failing", now - 1, "disabled"}, {false, "", now + 1, "disabled"},
	} {
		w := Webhook{Enabled: c.enabled, hold: c.hold, authorizedUntil: c.until}
		if w.setStatus(now); string(w.Status) != c.want {
			t.Errorf("%+v: %s", c, w.Status)
		}
	}
}
