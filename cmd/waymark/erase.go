package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/waymarkhq/waymark/internal/assembly"
	"github.com/waymarkhq/waymark/internal/eventstore"
	"github.com/waymarkhq/waymark/internal/redirect"
	"github.com/waymarkhq/waymark/internal/store"
)

type eventsEraseCommand struct {
	stored
	Link    string `xor:"what" help:"Id of the link, such as go.example.com:0b2f…; it may be deleted already. Either this or --install is needed." placeholder:"ID"`
	Install string `xor:"what" help:"Install id as the app sends it; needs --app." placeholder:"ID"`
	App     string `help:"Id of the app that sends the install id." placeholder:"ID"`
}

// Run erases events, those that ended processes left in the click log included.
func (c *eventsEraseCommand) Run(ctx context.Context) error {
	switch {
	case c.Link == "" && c.Install == "":
		return errors.New("name what is to be erased with --link ID, or with --install ID --app ID")
	case (c.Install == "") != (c.App == ""):
		return errors.New("--install and --app need each other: an install id has another hash in each app")
	}
	return c.with(ctx, func(o assembly.EngineOptions) error {
		running, err := c.loadClicks(ctx, o)
		if err != nil {
			return err
		}
		return assembly.WithEngine(ctx, o, func(engine eventstore.Engine) error {
			e, what, err := c.erasure(ctx, o.DB, engine)
			if err != nil {
				return err
			}
			n, gone, err := engine.Erase(ctx, e)
			if err != nil {
				return err
			}
			later := ""
			if running {
				later = "Clicks that a running waymark serve has not loaded yet and new ones are not covered: run the command " +
					"again when its metric waymark_click_log_bytes is 0.\n"
			}
			if n == 0 {
				fmt.Print(later)
				return fmt.Errorf("found no events of %s; nothing was deleted", what)
			}
			files := ""
			if left, err := assembly.FilesToDelete(ctx, o.DB); err != nil {
				return err
			} else if left {
				files = ", and the executor of waymark serve deletes the files that had them"
			}
			_, err = fmt.Printf("erased %s of %s; from %s on nobody can read them%s.\n%s", number(n, "event"), what, gone, files,
				later)
			return err
		})
	})
}

// erasure returns what is to be erased, and its name.
func (c *eventsEraseCommand) erasure(ctx context.Context, db *store.DB, engine eventstore.Engine) (e eventstore.Erasure,
	what string, err error) {
	if c.Install == "" {
		return eventstore.Erasure{LinkID: c.Link}, "link " + c.Link, nil
	}
	if err := knownApp(ctx, db, engine, c.App); err != nil {
		return e, "", err
	}
	e.Install, err = redirect.InstallHash(ctx, db, c.App, c.Install)
	return e, "the installation of app " + c.App, err
}

// knownApp refuses the id of an app that neither exists nor has events.
func knownApp(ctx context.Context, db *store.DB, engine eventstore.Engine, id string) error {
	if found, err := store.Exists(ctx, db, "SELECT 1 FROM app WHERE id = ?", id); err != nil || found {
		return err
	}
	events, err := engine.Read(ctx, id, &eventstore.Place{}, 1) // the first of id, or else of the next app
	if err == nil && (len(events) == 0 || events[0].Link.AppID != id) {
		err = fmt.Errorf("there is no app %s", id)
	}
	return err
}

// loadClicks loads what is left in the click log, unless a running waymark serve does.
// It reports whether one may be running: on PostgreSQL nobody can see that.
func (c *eventsEraseCommand) loadClicks(ctx context.Context, o assembly.EngineOptions) (running bool, err error) {
	if c.checkUnused() != nil {
		return true, nil
	}
	return !c.embedded(), c.alone(func() error {
		return assembly.WithEngine(ctx, o, func(engine eventstore.Engine) error {
			return assembly.LoadClicks(ctx, o, engine)
		})
	})
}
