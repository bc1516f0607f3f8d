package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/store"
)

type moveCommand struct {
	storage
	To string `required:"" help:"The postgres:// address of an empty database; best as WAYMARK_TO, where it has a password." placeholder:"ADDRESS"`
}

// Run moves the database. What else is in the data folder stays and goes on to be used.
func (c *moveCommand) Run(ctx context.Context) error {
	if !c.embedded() {
		return errors.New("only an installation on SQLite can be moved: leave --database out, and name PostgreSQL with --to")
	}
	if !strings.HasPrefix(c.To, "postgres://") && !strings.HasPrefix(c.To, "postgresql://") {
		return errors.New("--to is not a postgres:// address: an installation is moved from SQLite to PostgreSQL alone")
	}
	if err := c.existing(); err != nil {
		return err
	}
	return c.alone(func() error {
		var moved store.Moved
		if err := c.with(ctx, func(db *store.DB) (err error) {
			to, err := store.Open(ctx, c.To, &clock.Clock{})
			if err != nil {
				return fmt.Errorf("--to: %w", err)
			}
			defer func() { err = errors.Join(err, to.Close()) }()
			if moved, err = to.Move(ctx, db); err != nil {
				err = fmt.Errorf("the move did not end; run the same command again, and use SQLite until it has ended: %w", err)
			}
			return err
		}); err != nil {
			return err
		}
		if err := c.setAside(); err != nil {
			return fmt.Errorf("the installation is in PostgreSQL now, but its SQLite file still has its name: %w", err)
		}
		_, err := fmt.Printf("moved %s with %s to PostgreSQL and compared them: start waymark serve with its address as "+
			"--database and the same --data-dir from now on. The SQLite file is kept as %s; delete it when all is well.\n",
			number(moved.Tables, "table"), number(moved.Rows, "row"), c.movedFile())
		return err
	})
}

// movedFile is what the SQLite file is called once the installation is in PostgreSQL.
func (s *storage) movedFile() string { return s.file() + ".moved" }

// setAside takes the name from the SQLite file, so that nothing goes on with it.
func (s *storage) setAside() error {
	for _, suffix := range []string{"-wal", "-shm", ""} { // where another program has it open, its log goes along
		if err := os.Rename(s.file()+suffix, s.movedFile()+suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	dir, err := os.Open(filepath.Dir(s.file()))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// checkMoved refuses a data folder whose installation is in PostgreSQL now.
func (s *storage) checkMoved() error {
	if _, err := os.Stat(s.movedFile()); err != nil {
		return nil
	}
	return fmt.Errorf("the installation of data folder %s was moved to PostgreSQL: name that with --database", s.DataDir)
}
