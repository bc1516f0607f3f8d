package op

import (
	"github.com/waymarkhq/waymark/internal/fault"
)

func (c *callContext) authenticate() error {
	authorization, _, err := header(c.r, "Authorization")
	if err == nil {
		// The costly check is not made for an address that had too many refusals.
		if !c.service.Auth.Cheap(authorization) {
			if err := c.service.addressFull(c); err != nil {
				return err
			}
		}
		c.Actor, err = c.service.Auth.Authenticate(c.ctx, authorization)
	}
	if refusal, ok := fault.From(err); ok && refusal.Code != fault.Unavailable {
		standings, limited := c.service.CountAddress(c.r)
		c.standings = standings
		if limited != nil {
			c.windowFull = true
			return limited
		}
		// At most as many lines as the address has calls.
		c.service.Log.Info("call refused", "operation", c.row.ID, "request_id", c.RequestID, "cause", err)
	}
	return err
}
