package cli

import (
	"context"
	"errors"

	"github.com/waymarkhq/waymark/client"
)

// The exit codes of the program.
const (
	exitFailed      = 1 // the work was done and has a bad end, or another failure
	exitUsage       = 2 // the command line
	exitRefused     = 3 // the credential: 401, 403
	exitMissing     = 4 // there is no such resource: 404
	exitConflict    = 5 // the state of the resource: 409, 412, 428
	exitInvalid     = 6 // the request: 400, 413, 415, 422
	exitLimited     = 7 // too many requests: 429
	exitUnavailable = 8 // the server failed or cannot be reached: 5xx, no answer
	exitInterrupted = 130
)

// usageError is a mistake of the command line.
type usageError string

func (e usageError) Error() string { return string(e) }

func usage(message string) error { return usageError(message) }

// Usage returns the error of a command line that cannot be understood.
func Usage(message string) error { return usage(message) }

// interrupted is the error of a command that a person stopped, in words of the command.
type interrupted string

func (e interrupted) Error() string { return string(e) }

// Is makes it one of the errors of a context that was cancelled.
func (e interrupted) Is(target error) bool { return target == context.Canceled }

// ExitCode returns the exit code of the program for an error, 0 for nil.
func ExitCode(err error) int {
	var (
		wrong   usageError
		refused *client.Error
		lost    *client.LostError
	)
	switch {
	case err == nil:
		return 0
	case errors.Is(err, context.Canceled):
		return exitInterrupted
	case errors.As(err, &wrong):
		return exitUsage
	case errors.As(err, &refused):
		return exitOf(refused.Status)
	case errors.As(err, &lost):
		return exitUnavailable
	}
	return exitFailed
}

func exitOf(status int) int {
	switch status {
	case 401, 403:
		return exitRefused
	case 404:
		return exitMissing
	case 409, 412, 428:
		return exitConflict
	case 400, 405, 413, 415, 422:
		return exitInvalid
	case 429:
		return exitLimited
	}
	return exitUnavailable
}
