package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/waymarkhq/waymark/internal/assembly"
	"github.com/waymarkhq/waymark/internal/store"
)

// warnings returns the log of a command that ends by itself.
func warnings() *slog.Logger {
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
}

type eventsCopyCommand struct {
	storage
	segments
	From string `help:"The engine that has the events, as --events of waymark serve; needed for the address of a ClickHouse server." placeholder:"ENGINE"`
	To   string `required:"" help:"The engine that gets them, as --events of waymark serve." placeholder:"ENGINE"`
}

// Run copies all events and makes the other engine the one of the installation. What
// was copied before it was ended is not copied again.
func (c *eventsCopyCommand) Run(ctx context.Context, config *configFile) error {
	if err := c.check(); err != nil {
		return err
	}
	return c.alone(func() error {
		return c.with(ctx, func(db *store.DB) error {
			from, to := c.options(db, c.engine(c.From)), c.options(db, c.engine(c.To))
			if err := from.Choose(ctx, db); err != nil {
				return err
			}
			p := &progress{doing: "copied"}
			if err := assembly.CopyEvents(ctx, from, to, p.show); err != nil {
				if ctx.Err() != nil {
					return fmt.Errorf("stopped after %d events: the same command goes on from there", p.done)
				}
				return err
			}
			source, _ := from.Kind()
			target, _ := to.Kind()
			_, err := fmt.Printf("%d events are in the engine %s, which waymark serve uses from now on. If it is started with "+
				"--events, name the new engine there: %s\nThe engine %s still has them, too, where neither retention nor "+
				"erasure reaches them. When all is well, delete them:\nwaymark events clear %s%s\n", p.done, target,
				c.named("--events", target), source, c.named("--engine", source), c.opened(config))
			return err
		})
	})
}

// named returns the flags that name an engine of a kind, without a password.
func (s *segments) named(flag, kind string) string {
	switch {
	case kind == assembly.ClickHouse:
		return flag + " 'clickhouse://…'"
	case kind == assembly.Segments && s.SegmentStore != "file":
		return flag + " " + kind + " --segment-store " + quoted(s.SegmentStore)
	}
	return flag + " " + kind
}

// opened returns the flags that open the same installation, without a password.
func (s *storage) opened(config *configFile) string {
	flags := " --data-dir " + quoted(s.DataDir)
	if config.path != "" {
		flags += " --config " + quoted(config.path)
	}
	if s.embedded() {
		return flags + " --database sqlite"
	}
	return flags + " --database 'postgres://…'"
}

// plainText is what a shell takes as it stands.
var plainText = regexp.MustCompile(`^[A-Za-z0-9._/:-]+$`)

// quoted returns a value as it stands in a shell.
func quoted(value string) string {
	if plainText.MatchString(value) {
		return value
	}
	return "'" + strings.ReplaceAll(value, "'", `'\''`) + "'"
}

// progress tells on stderr how far a command is, at most once a second.
type progress struct {
	doing       string
	began, told time.Time
	first, done int64
}

// show tells that done of all events were dealt with; all is 0 where it is not known,
// and then a command that takes less than a second tells nothing here.
func (p *progress) show(done, all int64) {
	now := time.Now()
	if p.began.IsZero() {
		p.began, p.first = now, done
		if all == 0 {
			p.told = now
		}
	}
	p.done = done
	if now.Sub(p.told) < time.Second && (done != all || all == 0) {
		return
	}
	p.told = now
	line := fmt.Sprintf("%s %d events", p.doing, done)
	if all > 0 {
		line = fmt.Sprintf("%s %d of %d events", p.doing, done, all)
	}
	if took := now.Sub(p.began).Seconds(); took > 0 && done > p.first {
		rate := float64(done-p.first) / took
		line += fmt.Sprintf(", %.0f a second", rate)
		if left := time.Duration(float64(all-done) / rate * float64(time.Second)); left > 0 {
			line += ", about " + left.Round(time.Second).String() + " left"
		}
	}
	fmt.Fprintln(os.Stderr, line)
}

type eventsClearCommand struct {
	storage
	segments
	Engine string `required:"" help:"The engine that is no longer used, as --events of waymark serve." placeholder:"ENGINE"`
}

// Run deletes the events of an engine that is not the one of the installation.
func (c *eventsClearCommand) Run(ctx context.Context) error {
	if err := c.check(); err != nil {
		return err
	}
	return c.with(ctx, func(db *store.DB) error {
		p, o := &progress{doing: "deleted"}, c.options(db, c.engine(c.Engine))
		if err := assembly.ClearEvents(ctx, o, func(n int64) { p.show(n, 0) }); err != nil {
			return err
		}
		kind, err := o.Kind()
		if err != nil {
			return err
		}
		_, err = fmt.Printf("deleted %d events of the engine %s\n", p.done, kind)
		return err
	})
}
