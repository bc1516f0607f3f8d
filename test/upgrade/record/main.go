// Command record makes the fixtures of test/upgrade: it runs a program of
// Waymark on both engines, fills it through its API with some of everything
// that it can do, and keeps the database and what each GET answered.
//
//	make build && go run ./test/upgrade/record -program bin/waymark -name 94
//
// The name is how many operations the program has. Run it when a step has
// landed, and never again for that step.
package main

import (
	"compress/gzip"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	_ "modernc.org/sqlite" // copies the database

	"github.com/waymarkhq/waymark/internal/store/storetest"
	"github.com/waymarkhq/waymark/test/upgrade"
)

func main() {
	program := flag.String("program", "bin/waymark", "the program to run")
	name := flag.String("name", "", "folder of the fixtures below test/upgrade/testdata")
	flag.Parse()
	if *name == "" {
		flag.Usage()
		os.Exit(2)
	}
	if err := record(*program, filepath.Join("test/upgrade/testdata", *name)); err != nil {
		fmt.Fprintln(os.Stderr, "record:", err)
		os.Exit(1)
	}
}

func record(program, folder string) error {
	private, err := storetest.Postgres()
	if err != nil {
		return err
	}
	defer private.Stop()
	for engine, address := range map[string]string{"sqlite": "sqlite", "postgres": private.Address} {
		dir, err := os.MkdirTemp("", "waymark-record-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		s, err := start(program, dir, address)
		if err != nil {
			return err
		}
		recorded, err := fill(s)
		if err = errors.Join(err, s.stop()); err != nil {
			return fmt.Errorf("%s: %w", engine, err)
		}
		out := filepath.Join(folder, engine)
		if err := os.MkdirAll(out, 0o755); err != nil {
			return err
		}
		text, err := json.MarshalIndent(recorded, "", "\t")
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(out, upgrade.AnswersFile), append(text, '\n'), 0o644); err != nil {
			return err
		}
		database, err := dump(engine, dir, address)
		if err != nil {
			return err
		}
		if err := compress(filepath.Join(out, upgrade.DatabaseFile), database); err != nil {
			return err
		}
	}
	return nil
}

// dump returns a SQLite file, or SQL text that any PostgreSQL takes.
func dump(engine, dir, address string) ([]byte, error) {
	if engine == "sqlite" {
		db, err := sql.Open("sqlite", filepath.Join(dir, "waymark.db"))
		if err != nil {
			return nil, err
		}
		defer db.Close()
		whole := filepath.Join(dir, "whole.db")
		if _, err := db.ExecContext(context.Background(), "VACUUM INTO ?", whole); err != nil {
			return nil, err
		}
		return os.ReadFile(whole)
	}
	text, err := exec.Command("pg_dump", "--inserts", "--no-owner", "--no-privileges", address).Output()
	if err != nil {
		return nil, fmt.Errorf("pg_dump: %w", err)
	}
	var kept strings.Builder
	for line := range strings.Lines(string(text)) {
		// Settings and commands of one version of psql.
		if !strings.HasPrefix(line, "SET ") && !strings.HasPrefix(line, `\`) && !strings.HasPrefix(line, "--") &&
			line != "\n" {
			kept.WriteString(line)
		}
	}
	return []byte(kept.String()), nil
}

func compress(name string, content []byte) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer f.Close()
	z, err := gzip.NewWriterLevel(f, gzip.BestCompression)
	if err != nil {
		return err
	}
	_, err = z.Write(content)
	return errors.Join(err, z.Close())
}

// within tries f for a while.
func within(what string, f func() (bool, error)) error {
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if ok, err := f(); ok || err != nil {
			return err
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%s did not happen", what)
		}
	}
}
