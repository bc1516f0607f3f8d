package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/waymarkhq/waymark/internal/store/storetest"
)

// durableSettings are those of a PostgreSQL that loses nothing, which the tests'
// own does without.
var durableSettings = []string{
	"ALTER SYSTEM SET fsync = on", "ALTER SYSTEM SET synchronous_commit = on", "ALTER SYSTEM SET full_page_writes = on",
	"ALTER SYSTEM SET shared_buffers = '128MB'", "SELECT pg_reload_conf()",
}

// postgres measures creations with a private PostgreSQL on the same disk, whose
// processor time counts too.
func (b *bench) postgres() error {
	return b.onPostgres("beside-postgres", b.postgresCreations)
}

// onPostgres runs f with installations in a folder and on a private PostgreSQL that loses
// nothing.
func (b *bench) onPostgres(folder string, f func(postmaster int) error) error {
	ctx := context.Background()
	private, err := storetest.StartPostgres()
	if err != nil {
		return err
	}
	defer private.Stop()
	conn, err := pgx.Connect(ctx, private.Address)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	for _, statement := range durableSettings {
		if _, err := conn.Exec(ctx, statement); err != nil {
			return err
		}
	}
	sqlite := b.data
	b.data, b.database = filepath.Join(b.dir, folder), private.Address
	defer func() { b.data, b.database = sqlite, "sqlite" }()
	return f(parent(int(conn.PgConn().PID())))
}

func (b *bench) postgresCreations(postmaster int) error {
	s, c, err := b.prepared("pg")
	if err != nil {
		return err
	}
	defer s.stop()
	s.helpers = func() time.Duration { return family(postmaster) }
	if _, err := c.createLink(slug); err != nil {
		return err
	}
	if err := b.creations("PostgreSQL: create link", s, c, nil, postgresAims); err != nil {
		return err
	}
	again, err := s.gauge("waymark_database_retries_total")
	if err != nil {
		return err
	}
	b.add("  transactions run again", "%.0f", again, 0, "of all these")
	return s.stop()
}

// parent returns the process that started one.
func parent(pid int) int {
	fields := stat(pid)
	if len(fields) < 2 {
		return 0
	}
	ppid, _ := strconv.Atoi(fields[1])
	return ppid
}

// family returns the processor time of a process and those that it started.
func family(pid int) (sum time.Duration) {
	processes, _ := filepath.Glob("/proc/[0-9]*")
	for _, path := range processes {
		if one, _ := strconv.Atoi(filepath.Base(path)); one == pid || parent(one) == pid {
			sum += processTime(one)
		}
	}
	return sum
}

// stat returns what /proc/<pid>/stat has after the name of the program, which is
// in parentheses and may contain spaces.
func stat(pid int) []string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil
	}
	return strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
}

// ticks a second are what /proc counts processor time in (USER_HZ).
const ticks = 100

func processTime(pid int) time.Duration {
	fields := stat(pid)
	if len(fields) < 13 {
		return 0
	}
	user, _ := strconv.ParseInt(fields[11], 10, 64)
	system, _ := strconv.ParseInt(fields[12], 10, 64)
	return time.Duration(user+system) * time.Second / ticks
}
