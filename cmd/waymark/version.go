package main

import (
	"cmp"
	"fmt"
	"io/fs"
	"runtime"
	"runtime/debug"
	"strings"
	_ "time/tzdata" // time zones of analytics, also where the system has none

	"github.com/alecthomas/kong"

	"github.com/waymarkhq/waymark/api"
	"github.com/waymarkhq/waymark/docs"
	"github.com/waymarkhq/waymark/internal/assembly"
	"github.com/waymarkhq/waymark/internal/store"
)

// version and commit are set by make build. Without it, what the go command
// wrote into the program stands for them.
var version, commit string

// versionText is the line that tells one program from another.
func versionText() string {
	version, commit := version, commit
	if info, ok := debug.ReadBuildInfo(); ok {
		if info.Main.Version != "(devel)" {
			version = cmp.Or(version, info.Main.Version)
		}
		for _, setting := range info.Settings {
			if setting.Key == "vcs.revision" {
				commit = cmp.Or(commit, setting.Value)
			}
		}
	}
	return fmt.Sprintf("waymark %s, commit %s, schema %d", cmp.Or(version, "dev"), cmp.Or(commit, "unknown"),
		store.NewestSchema)
}

// builtIn is the paragraph about what this program brings along.
func builtIn() string {
	pages, err := fs.Glob(docs.Files, "*.md")
	if err != nil {
		panic(err) // the pattern is right
	}
	return fmt.Sprintf(`Built in: schema %d; databases %s; engines of events
%s; %d operations of the API; the dashboard;
%d pages of documentation; time zones. Compiled by %s for %s/%s.`,
		store.NewestSchema, strings.Join(store.Engines(), " and "), strings.Join(assembly.EventEngines, ", "),
		len(api.Operations()), len(pages), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// printHelp explains a command, and of the program as a whole what is built in.
func printHelp(options kong.HelpOptions, ctx *kong.Context) error {
	if err := kong.DefaultHelpPrinter(options, ctx); err != nil || ctx.Selected() != nil {
		return err
	}
	_, err := fmt.Fprintf(ctx.Stdout, "\n%s\n", builtIn())
	return err
}

type versionCommand struct{}

// Run prints the version.
func (versionCommand) Run() error {
	_, err := fmt.Println(versionText())
	return err
}

type helpCommand struct {
	Command []string `arg:"" optional:"" help:"Command to explain."`
}

// Run shows what --help of the command shows.
func (c *helpCommand) Run(parser *kong.Kong) error {
	_, err := parse(parser, append(c.Command, "--help"))
	return err
}
