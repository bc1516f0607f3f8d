package storetest

import (
	"context"
	"testing"
	"time"
)

// Patience is how long something may take on a slow machine.
const Patience = 20 * time.Second

const lookEvery = 2 * time.Millisecond

// Eventually waits until something holds, and ends the test when that takes too
// long. It is for what a database or a connection has a part in: their time is
// real, so that no bubble of testing/synctest can wait for them.
func Eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), Patience)
	defer cancel()
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	for !holds() {
		select {
		case <-look.C:
		case <-ctx.Done():
			t.Fatal("in vain: " + what)
		}
	}
}
