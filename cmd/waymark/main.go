// Command waymark is the whole of Waymark in one program: the administrative
// API, the public redirector and the executor of durable work.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	_ "time/tzdata" // time zones of analytics, also where the system has none

	"github.com/alecthomas/kong"
)

type command struct {
	Config      string           `help:"YAML file with the same names as the flags." placeholder:"FILE"`
	ShowVersion kong.VersionFlag `name:"version" env:"-" help:"Print the version."`

	Serve   serveCommand   `cmd:"" help:"Run the API, the redirector and the executor."`
	Session sessionCommand `cmd:"" help:"Sessions: issue, list and end them."`
	Users   usersCommand   `cmd:"" help:"Owners: add, list, disable and enable them."`
	Events  eventsCommand  `cmd:"" help:"Visits kept for analytics: status, copy, clear, erase, export."`
	Backup  backupCommand  `cmd:"" help:"Copy an installation into a folder, also while it is served."`
	Restore restoreCommand `cmd:"" help:"Make an installation of a backup."`
	Migrate migrateCommand `cmd:"" help:"Bring the database to the newest schema."`
	Doctor  doctorCommand  `cmd:"" help:"Check an installation."`
	Version versionCommand `cmd:"" help:"Print the version, the commit and the schema."`
	Help    helpCommand    `cmd:"" help:"Explain a command."`
}

func main() {
	// What is made belongs to its owner alone, the database included.
	syscall.Umask(0o077)
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	// The first signal asks for an orderly end; the next one is not caught.
	context.AfterFunc(ctx, stop)
	if err := run(ctx, os.Args[1:]); err != nil {
		// One line, also where a driver wrote several.
		fmt.Fprintln(os.Stderr, "waymark:", strings.Join(strings.Fields(err.Error()), " "))
		os.Exit(1)
	}
}

// run parses and runs one command line.
func run(ctx context.Context, args []string) error {
	var c command
	file := &configFile{}
	parser, err := kong.New(&c,
		kong.Name("waymark"),
		kong.Description("Self-hosted link routing: short and deep links, resolved, counted and administered.\n\n"+
			"Each flag can also be given as an environment variable (WAYMARK_API_ADDR for --api-addr) or in the file "+
			"named by --config."),
		kong.DefaultEnvars("WAYMARK"),
		kong.Resolvers(file),
		kong.Vars{"version": versionText()},
		kong.BindTo(ctx, (*context.Context)(nil)),
		kong.Bind(file),
		kong.UsageOnError(),
	)
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
	return parsed.Run()
}

// parse parses a command line; its errors are in plain words.
func parse(parser *kong.Kong, args []string) (*kong.Context, error) {
	parsed, err := parser.Parse(args)
	if err != nil {
		return nil, fmt.Errorf("%s (see waymark --help)", plain(err))
	}
	return parsed, nil
}
