package main

import (
	"cmp"
	"fmt"
	"runtime/debug"

	"github.com/alecthomas/kong"

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
