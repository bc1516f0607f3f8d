package qr

import (
	"context"
	"errors"
	"strconv"
	"testing"
)

// An owner has a quarter of the drawings that may be open, and whoever finds no room
// is told at once. What was drawn needs no room.
func TestRoom(t *testing.T) {
	d := newDrawer(nil)
	known := picture{Look: standard, address: "https://go.example.com/known"}
	if _, err := d.draw(t.Context(), "ann", "/", known); err != nil {
		t.Fatal(err)
	}
	for range cap(d.drawing) { // every processor draws
		d.drawing <- struct{}{}
	}
	ctx, leave := context.WithCancel(t.Context())
	for n, owner := range []string{"ann", "bob", "eve", "dan"} {
		for range ownerDrawings {
			if !d.open.Take(owner) {
				t.Fatalf("owner %d has less than a quarter", n)
			}
		}
		if _, err := d.draw(ctx, owner, "/", picture{Look: standard, address: strconv.Itoa(n)}); !errors.Is(err, errBusy) {
			t.Errorf("one more of owner %d: %v", n, err)
		}
	}
	if _, err := d.draw(ctx, "kim", "/", picture{Look: standard, address: "k"}); !errors.Is(err, errBusy) {
		t.Errorf("one more in all: %v", err)
	}
	if _, err := d.draw(ctx, "ann", "/", known); err != nil {
		t.Errorf("what was drawn: %v", err)
	}
	d.open.GiveBack("bob")
	leave()
	if _, err := d.draw(ctx, "bob", "/", picture{Look: standard, address: "b"}); !errors.Is(err, context.Canceled) {
		t.Errorf("one who leaves while waiting: %v", err)
	}
	<-d.drawing
	if _, err := d.draw(t.Context(), "bob", "/", picture{Look: standard, address: "b"}); err != nil {
		t.Errorf("after both: %v", err)
	}
}
