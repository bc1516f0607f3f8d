package op

import (
	"errors"
	"slices"

	"github.com/waymarkhq/waymark/internal/audit"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/receipt"
	"github.com/waymarkhq/waymark/internal/store"
)

// mutate answers from a receipt or runs the handler in its transaction.
func (c *callContext) mutate() (*outcome, error) {
	c.fingerprint = c.makeFingerprint()
	release, err := c.pipeline.inFlight.acquire(c.Actor.Credential, c.Intent)
	if err != nil {
		return nil, err
	}
	defer release()
	if err := c.needs(); err != nil {
		return nil, err
	}
	if replayed, err := c.replay(); replayed || err != nil {
		return nil, err
	}
	if c.row.IfMatch == IfMatchRequired && c.IfMatch == "" {
		return nil, fault.New(fault.PreconditionRequired, "Send If-Match with the revision that was last read.")
	}
	out, err := c.perform()
	if err == nil {
		return out, nil
	}
	// Another process may have done the same intent a moment ago. Then it is the
	// effect of that intent which refuses this one.
	if refusal, refused := fault.From(err); errors.Is(err, receipt.ErrExists) ||
		refused && !slices.Contains(notByState, refusal.Code) {
		if replayed, err := c.replay(); replayed || err != nil {
			return nil, err
		}
	}
	return nil, err
}

// perform runs an admitted mutation: its stage, if it has one, then its
// transaction with audit and receipt.
func (c *callContext) perform() (*outcome, error) {
	if err := c.receiptRoom(); err != nil {
		return nil, err
	}
	if err := c.admit(); err != nil {
		return nil, err
	}
	if c.row.stage != nil {
		c.still = c.stillAdmitted
		if err := c.row.stage(c); err != nil {
			return nil, err
		}
	}
	var out outcome
	var kept int
	err := c.pipeline.DB.InTx(c.ctx, func(tx *store.Tx) error {
		c.tx, c.Now = tx, tx.Now
		c.lockKey(tx)
		if err := c.stillAdmitted(c.ctx, tx); err != nil {
			return err
		}
		var err error
		out, err = c.row.run(c)
		if err == nil {
			err = out.encode(c.row)
		}
		if err != nil {
			return err
		}
		if err := audit.Record(c.ctx, tx, audit.Event{
			Operation: c.row.ID, Actor: c.Actor, AppID: out.ref.AppID, ResourceType: out.ref.Type,
			ResourceID: out.ref.ID,
			Revision:   out.ref.Revision, CorrelationID: c.RequestID,
		}); err != nil {
			return err
		}
		kept, err = c.saveReceipt(tx, &out)
		return err
	})
	if err == nil {
		c.countReceipt(kept)
	}
	return &out, err
}

// notByState are the refusals that the effect of another process does not cause: what the
// caller may do, and how often.
var notByState = []fault.Code{fault.Unauthenticated, fault.InsufficientPermission, fault.RateLimited,
	fault.OperationInProgress}
