// Command withpostgres runs a command with a private PostgreSQL that its test
// binaries share, and stops the server afterwards:
//
//	go run ./internal/store/storetest/withpostgres go test ./...
package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"

	"github.com/waymarkhq/waymark/internal/store/storetest"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: withpostgres command [argument ...]")
		os.Exit(2)
	}
	server, err := storetest.StartPostgres()
	if err != nil {
		fmt.Fprintln(os.Stderr, "withpostgres:", err)
		os.Exit(1)
	}
	command := exec.Command(os.Args[1], os.Args[2:]...)
	command.Stdin, command.Stdout, command.Stderr = os.Stdin, os.Stdout, os.Stderr
	command.Env = append(os.Environ(), storetest.EnvPostgres+"="+server.Address)
	err = command.Run()
	server.Stop()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		os.Exit(exit.ExitCode())
	case err != nil:
		fmt.Fprintln(os.Stderr, "withpostgres:", err)
		os.Exit(1)
	}
}
