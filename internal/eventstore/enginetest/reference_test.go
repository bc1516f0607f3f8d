package enginetest_test

import (
	"testing"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/eventstore"
	"github.com/waymarkhq/waymark/internal/eventstore/enginetest"
)

// The suite holds for the reference itself: what it says by hand is what the loops say.
func TestReference(t *testing.T) {
	e := enginetest.NewReference(&clock.Clock{})
	enginetest.Run(t, func(*testing.T) eventstore.Engine { return e })
}
