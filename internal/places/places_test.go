package places_test

import (
	"slices"
	"testing"

	"github.com/waymarkhq/waymark/internal/places"
)

func TestPlaces(t *testing.T) {
	p := places.New(5, 2)
	take := func(owner string, want bool) {
		t.Helper()
		if got := p.Take(owner); got != want {
			t.Errorf("%s takes a place: %t", owner, got)
		}
	}
	left := func(free int, full ...string) {
		t.Helper()
		n, owners := p.Left()
		slices.Sort(owners)
		if n != free || !slices.Equal(owners, full) {
			t.Errorf("%d places are free, %v have all of theirs", n, owners)
		}
	}
	take("ann", true)
	left(4)
	take("ann", true)
	take("ann", false)
	left(3, "ann")
	take("bob", true)
	take("bob", true)
	take("eve", true)
	take("eve", false) // no place is left
	left(0, "ann", "bob")
	select {
	case <-p.Freed():
		t.Error("no place was given back yet")
	default:
	}
	p.GiveBack("ann")
	p.GiveBack("ann")
	<-p.Freed()
	left(2, "bob")
	take("eve", true)
	take("ann", true)
	take("ann", false)
	left(0, "bob", "eve")
}

func TestAnOwnerHasNoMoreThanAll(t *testing.T) {
	places.New(2, 2)
	defer func() {
		if recover() == nil {
			t.Error("an owner has more places than there are")
		}
	}()
	places.New(1, 2)
}
