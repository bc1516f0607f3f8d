package qr

import (
	"context"
	"errors"
	"testing"
)

// Whoever leaves while waiting for a drawing does not wait any more. What was drawn needs no
// place.
func TestDrawingIsWaitedFor(t *testing.T) {
	d := newDrawer(nil)
	known := picture{Look: standard, address: "https://go.example.com/known"}
	if _, err := d.draw(t.Context(), "/", known); err != nil {
		t.Fatal(err)
	}
	for range cap(d.drawing) { // all places are taken
		d.drawing <- struct{}{}
	}
	if _, err := d.draw(t.Context(), "/", known); err != nil {
		t.Errorf("what was drawn: %v", err)
	}
	ctx, leave := context.WithCancel(t.Context())
	leave()
	other := picture{Look: standard, address: "other"}
	if _, err := d.draw(ctx, "/", other); !errors.Is(err, context.Canceled) {
		t.Errorf("one who leaves while waiting: %v", err)
	}
	<-d.drawing
	if _, err := d.draw(t.Context(), "/", other); err != nil {
		t.Errorf("with a place: %v", err)
	}
}
