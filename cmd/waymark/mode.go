package main

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"

	"github.com/waymarkhq/waymark/internal/assembly"
)

// mode are the flags that say what a process of serve is.
type mode struct {
	Dev         bool     `help:"Development mode: environment staging, platform zone localhost, links as http with the public port; prints an owner token and the first requests to try."`
	Environment string   `help:"production or staging: API keys of the other environment are refused; default: production." placeholder:"NAME"`
	Roles       []string `default:"api,redirect,executor" help:"What this process does; default: ${default}." placeholder:"ROLE"`
	NoMigrate   bool     `help:"Refuse a database with an older schema instead of bringing it to this program's; waymark migrate does that then."`
	LogLevel    string   `enum:"debug,info,warn,error" default:"info" help:"The least important messages to log: debug, info, warn or error; default: ${default}." placeholder:"LEVEL"`
}

// check completes the flags; embedded tells that the database is SQLite.
func (m *mode) check(embedded bool) error {
	if m.Dev {
		m.Environment = cmp.Or(m.Environment, "staging")
	}
	m.Environment = cmp.Or(m.Environment, "production")
	if m.Environment != "production" && m.Environment != "staging" {
		return fmt.Errorf("--environment %q is neither production nor staging", m.Environment)
	}
	if len(m.Roles) == 0 {
		return errors.New("--roles is empty; it needs some of api, redirect, executor")
	}
	for _, role := range m.Roles {
		if !slices.Contains([]string{"api", "redirect", "executor"}, role) {
			return fmt.Errorf("--roles: %q is none of api, redirect, executor", role)
		}
	}
	if all := (assembly.Roles{API: true, Redirect: true, Executor: true}); embedded && m.roles() != all {
		return errors.New("--roles: on SQLite one process has all roles; several processes need PostgreSQL")
	}
	return nil
}

func (m *mode) roles() assembly.Roles {
	has := func(role string) bool { return slices.Contains(m.Roles, role) }
	return assembly.Roles{API: has("api"), Redirect: has("redirect"), Executor: has("executor")}
}

// logger returns the log that the flags describe.
func (m *mode) logger() (*slog.Logger, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(m.LogLevel)); err != nil {
		return nil, err
	}
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: level})), nil
}
