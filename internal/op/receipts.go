package op

import (
	"context"
	"sync"
	"time"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/ratelimit"
)

// A receipt keeps an answer for 24 hours. The windows of writes bound how many receipts an
// account has; this bounds the bytes of those that are large. An account that used up its
// hour is refused further mutations (429), as the contract promises each one that took
// effect its replay; replays go on.
const (
	// smallReceipt is what each receipt may take without being counted.
	smallReceipt = 1 << 10
	// receiptBytes is what the receipts of an account may take beyond that in an hour.
	receiptBytes  = 16 << 20
	receiptWindow = time.Hour
)

// receiptBound knows the accounts that used up their hour.
type receiptBound struct {
	mu      sync.Mutex
	until   map[string]clock.Instant
	refused int64
}

// receiptRoom refuses a mutation of an account that used up its hour. It asks what this
// process knows: asking the database would cost each mutation more than the bound is worth.
func (c *callContext) receiptRoom() error {
	b := &c.pipeline.receipts
	b.mu.Lock()
	defer b.mu.Unlock()
	until, full := b.until[c.Actor.OwnerID]
	if !full || c.Now >= until {
		return nil
	}
	b.refused++
	refusal := fault.New(fault.RateLimited, "The answers of this account that are kept for 24 hours, so that a request "+
		"can be repeated, have used up the %d MiB of this hour. Send smaller resources, or wait.",
		c.Scaled(receiptBytes)>>20)
	refusal.RetryAfter = ratelimit.Standing{Reset: until}.RetryAfter(c.Now)
	return refusal
}

// countReceipt counts a receipt that took so many bytes. The effect has happened, so
// nothing here fails the call.
func (c *callContext) countReceipt(bytes int) {
	if bytes <= smallReceipt {
		return
	}
	// Its client may have left.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.ctx), roomTime)
	defer cancel()
	s, err := c.pipeline.Limiter.Add(ctx, c.Now, ratelimit.Bucket{Name: "receipt", By: "account", Key: c.Actor.OwnerID,
		Limit: c.Scaled(receiptBytes), Window: receiptWindow}, int64(bytes-smallReceipt))
	if err != nil {
		c.pipeline.Log.Warn("a receipt was not counted", "request_id", c.RequestID, "error", err)
		return
	}
	if s.Remaining() > 0 {
		return
	}
	b := &c.pipeline.receipts
	b.mu.Lock()
	defer b.mu.Unlock()
	for account, until := range b.until { // few: those that were full in this hour or the one before
		if c.Now >= until {
			delete(b.until, account)
		}
	}
	b.until[c.Actor.OwnerID] = s.Reset
}
