//go:build soak

package segments

import (
	"testing"

	"github.com/waymarkhq/waymark/internal/store/storetest"
)

// TestManyKills is TestKill for long, with moments between all steps too.
func TestManyKills(t *testing.T) {
	for _, engine := range storetest.Engines {
		t.Run(engine, func(t *testing.T) { rounds(t, engine, 100) })
	}
}
