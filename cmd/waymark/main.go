// Command waymark is the whole of Waymark in one program: the administrative
// API, the public redirector and the executor of durable work.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"
	_ "golang.org/x/crypto/x509roots/fallback" // certificate authorities of the web, also where the system has none

	"github.com/waymarkhq/waymark/internal/cli"
	"github.com/waymarkhq/waymark/internal/platform"
)

type command struct {
	Config      string           `help:"YAML file with the same names as the flags." placeholder:"FILE"`
	ShowVersion kong.VersionFlag `name:"version" env:"-" help:"Print the version."`

	Serve   serveCommand   `cmd:"" help:"Run the API, the redirector and the executor."`
	Session sessionCommand `cmd:"" help:"Sessions: issue, list and end them."`
	Users   usersCommand   `cmd:"" help:"Owners: add, list, disable and enable them."`
	Events  eventsCommand  `cmd:"" help:"Visits kept for analytics: status, copy, clear, erase, export."`
	Backup  backupCommand  `cmd:"" help:"Copy an installation into a folder or to S3, also while it is served."`
	Restore restoreCommand `cmd:"" help:"Make an installation of a backup."`
	Verify  verifyCommand  `cmd:"" help:"Read a backup and tell whether it is damaged."`
	Move    moveCommand    `cmd:"" help:"Move an installation from SQLite to PostgreSQL."`
	Migrate migrateCommand `cmd:"" help:"Bring the database to the newest schema."`
	Doctor  doctorCommand  `cmd:"" help:"Check an installation."`
	Health  healthCommand  `cmd:"" help:"Ask the serve of this machine whether it can do its work, and exit 0 or 1: for health checks of containers."`
	Version versionCommand `cmd:"" help:"Print the version, the commit and the schema."`
	Help    helpCommand    `cmd:"" help:"Explain a command."`

	cli.Commands
}

func main() {
	// What is made belongs to its owner alone, the database included.
	platform.OwnerOnly()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	// The first signal asks for an orderly end; the next one is not caught.
	context.AfterFunc(ctx, stop)
	if err := run(ctx, os.Args[1:]); err != nil {
		cli.Tell(err)
		os.Exit(cli.ExitCode(err))
	}
}

// run parses and runs one command line.
func run(ctx context.Context, args []string) error {
	file := &configFile{}
	parser, err := newParser(ctx, file)
	if err != nil {
		return err
	}
	if len(args) == 0 {
		args = []string{"--help"}
	}
	if err := file.load(args); err != nil {
		return err
	}
	parsed, err := parse(parser, args)
	if err != nil {
		return err
	}
	known := settings(parser)
	if err := file.checkNames(known); err != nil {
		return err
	}
	if err := checkEnvironment(known); err != nil {
		return err
	}
	if !platform.Installations && hasInstallation(parsed.Selected()) {
		return fmt.Errorf("waymark %s needs an installation, and Windows cannot lock its folders and bring them to the disk: "+
			"run it on Linux or macOS, in a container or in WSL", parsed.Command())
	}
	return parsed.Run()
}

// hasInstallation tells whether a command works on an installation, rather than with a server.
func hasInstallation(command *kong.Node) bool {
	return slices.ContainsFunc(command.Flags, func(f *kong.Flag) bool { return f.Name == "data-dir" })
}

// newParser returns the parser of the command line, which takes from file what is not given there.
func newParser(ctx context.Context, file *configFile) (*kong.Kong, error) {
	return kong.New(&command{},
		kong.Name("waymark"),
		kong.Description("Self-hosted link routing: short and deep links, resolved, counted and administered.\n\n"+
			"Each flag can also be given as an environment variable (WAYMARK_API_ADDR for --api-addr) or in the file "+
			"named by --config."),
		kong.ExplicitGroups([]kong.Group{{Key: cli.Group, Title: "Use a server:"}}),
		settingsAlone(),
		kong.DefaultEnvars("WAYMARK"),
		kong.Resolvers(file),
		kong.Vars{"version": versionText()},
		kong.BindTo(ctx, (*context.Context)(nil)),
		kong.Bind(file),
		kong.Help(printHelp),
		kong.UsageOnError(),
	)
}

// commandOf returns the command whose line could not be parsed, as far as it is known.
func commandOf(err error) string {
	var wrong *kong.ParseError
	if !errors.As(err, &wrong) || wrong.Context == nil {
		return "waymark"
	}
	var names []string
	for _, part := range wrong.Context.Path {
		switch {
		case part.App != nil:
			names = append(names, part.App.Name)
		case part.Command != nil:
			names = append(names, part.Command.Name)
		}
	}
	return strings.Join(names, " ")
}

// parse parses a command line; its errors are in plain words.
func parse(parser *kong.Kong, args []string) (*kong.Context, error) {
	parsed, err := parser.Parse(args)
	if err != nil {
		return nil, cli.Usage(plain(err) + " (see " + commandOf(err) + " --help)")
	}
	return parsed, nil
}
