package apitest

import (
	"context"
	"sync"
	"testing"

	"github.com/waymarkhq/waymark/internal/store/storetest"
	"github.com/waymarkhq/waymark/internal/turns"
)

// Busy fills the turns that the owner has for heavy reads, until the function that it
// returns is called: one more such read is turned away.
func (c *Client) Busy(t testing.TB) (end func()) {
	t.Helper()
	pool, owner := c.i.Turns, c.Call("GET", "/me", nil).Want(200).Text("data.userId")
	ctx, cancel := context.WithCancel(t.Context())
	var reads sync.WaitGroup
	for range 20 {
		reads.Go(func() {
			pool.Do(ctx, owner, func(ctx context.Context, _ *turns.Turn) error {
				<-ctx.Done()
				return ctx.Err()
			})
		})
	}
	storetest.Eventually(t, "all turns are taken", func() bool { return pool.Load().Running+pool.Load().Waiting == 20 })
	return func() {
		cancel()
		reads.Wait()
	}
}
