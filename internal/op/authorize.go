package op

import (
	"context"

	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/store"
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
	c.needed = c.row.Needs(input)
	return c.requireNeeded()
}

func (c *callContext) requireNeeded() error {
	for _, permission := range c.needed {
		if err := c.Require(permission); err != nil {
			return err
		}
	}
	return nil
}

// stillAdmitted refuses, at the beginning of the transaction of a call, a caller who may no
// longer do this: it was authenticated before the body had come in.
func (c *callContext) stillAdmitted(ctx context.Context, tx *store.Tx) error {
	now, reaches, err := c.Actor.Still(ctx, tx, c.AppID)
	if err != nil {
		return err
	}
	c.Actor = now
	if err := c.permitted(); err != nil {
		return err
	}
	if err := c.requireNeeded(); err != nil {
		return err
	}
	if c.AppID != "" && !reaches {
		return fault.Missing()
	}
	return nil
}
