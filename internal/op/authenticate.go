package op

import (
	"github.com/waymarkhq/waymark/internal/fault"
)

func (c *callContext) authenticate() error {
	authorization, _, err := header(c.r, "Authorization")
	if err == nil {
		// Skip the costly check for an address that has been refused too often.
		if !c.pipeline.Auth.Cheap(authorization) {
			if err := c.pipeline.addressFull(c); err != nil {
				return err
			}
		}
		c.Actor, err = c.pipeline.Auth.Authenticate(c.ctx, authorization)
	}
	if refusal, ok := fault.From(err); ok && refusal.Code != fault.Unavailable {
		standings, limited := c.pipeline.CountAddress(c.r)
		c.standings = standings
		if limited != nil {
			c.windowFull = true
			return limited
		}
		// An address cannot cause more log lines than it has calls.
		c.pipeline.Log.Info("call refused", "operation", c.row.ID, "request_id", c.RequestID, "cause", err)
	}
	return err
}
