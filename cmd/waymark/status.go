package main

import (
	"context"
	"fmt"
	"strconv"

	"github.com/waymarkhq/waymark/internal/assembly"
	"github.com/waymarkhq/waymark/internal/eventstore"
)

type eventsStatusCommand struct{ stored }

// Run prints the engine with what it tells of itself, and how many events it has.
func (c *eventsStatusCommand) Run(ctx context.Context) error {
	return c.with(ctx, func(o assembly.EngineOptions) error {
		return assembly.WithEngine(ctx, o, func(engine eventstore.Engine) error {
			found, err := assembly.CheckEngine(ctx, o)
			if err != nil {
				return err
			}
			totals, err := eventstore.Totals(ctx, engine, o.DB.Now())
			if err != nil {
				return err
			}
			all := int64(0)
			for _, n := range totals {
				all += n
			}
			_, err = fmt.Printf("engine   %s\nevents   %s of %s\n", found, number(all, "event"), number(int64(len(totals)), "app"))
			return err
		})
	})
}

// number returns a number of things in words.
func number(n int64, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return strconv.FormatInt(n, 10) + " " + thing
}
