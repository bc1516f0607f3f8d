package op

import (
	"github.com/waymarkhq/waymark/internal/fault"
)

// Require refuses a caller who does not hold a permission.
func (c *Call) Require(permission string) error {
	if !c.Actor.May(permission, false) {
		return fault.New(fault.InsufficientPermission, "The credential does not hold the permission %s.", permission)
	}
	return nil
}

// permitted refuses a caller who may not use the operation.
func (c *callContext) permitted() error {
	if c.row.Human && !c.Actor.May(c.row.Perm, true) {
		return fault.New(fault.InsufficientPermission, "This operation needs a human session.")
	}
	return c.Require(c.row.Perm)
}

// needs checks the permissions that depend on the input, also of a replay.
func (c *callContext) needs() error {
	if c.row.Needs == nil {
		return nil
	}
	input, err := c.row.decode(c)
	if err != nil {
		return err
	}
	for _, permission := range c.row.Needs(input) {
		if err := c.Require(permission); err != nil {
			return err
		}
	}
	return nil
}
