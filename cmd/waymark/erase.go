package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/waymarkhq/waymark/internal/assembly"
	"github.com/waymarkhq/waymark/internal/eventstore"
	"github.com/waymarkhq/waymark/internal/redirect"
)

type eventsEraseCommand struct {
	stored
	Link    string `xor:"what" required:"" help:"Id of the link, such as go.example.com:0b2f…; it may be deleted already." placeholder:"ID"`
	Install string `xor:"what" required:"" help:"Install id as the app sends it; needs --app." placeholder:"ID"`
	App     string `help:"Id of the app that sends the install id." placeholder:"ID"`
}

// Run erases events, those that ended processes left in the click log included.
func (c *eventsEraseCommand) Run(ctx context.Context) error {
	if (c.Install == "") != (c.App == "") {
		return errors.New("--install and --app need each other: an install id has another hash in each app")
	}
	return c.with(ctx, func(o assembly.EngineOptions) (err error) {
		e := eventstore.Erasure{LinkID: c.Link}
		what := "link " + c.Link
		if c.Install != "" {
			what = "the installation of app " + c.App
			if e.Install, err = redirect.InstallHash(ctx, o.DB, c.App, c.Install); err != nil {
				return err
			}
		}
		if err := c.loadClicks(ctx, o); err != nil {
			return err
		}
		return assembly.WithEngine(ctx, o, func(engine eventstore.Engine) error {
			n, gone, err := engine.Erase(ctx, e)
			if err != nil {
				return err
			}
			_, err = fmt.Printf("erased %d events of %s; from %s on nobody can read them, and the executor of waymark serve "+
				"deletes their files.\nClicks that a running waymark serve has not loaded yet and new ones are not covered: "+
				"run the command again when its metric waymark_click_log_bytes is 0.\n", n, what, gone)
			return err
		})
	})
}

// loadClicks loads what is left in the click log, unless a running waymark serve does.
func (c *eventsEraseCommand) loadClicks(ctx context.Context, o assembly.EngineOptions) error {
	if c.checkUnused() != nil {
		return nil
	}
	return c.alone(func() error {
		return assembly.WithEngine(ctx, o, func(engine eventstore.Engine) error {
			return assembly.LoadClicks(ctx, o.DB, o.DataDir, engine, o.Log)
		})
	})
}
