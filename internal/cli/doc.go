// Package cli holds the commands of the program that are clients of a server: signing in, any
// operation of the contract, links, imports, exports and operations.
//
// They use the public API alone, through package client, so they work on any installation that
// the caller has a credential for. Which server and which credential is a context (contexts.go),
// which an environment or a flag may replace for one call (target.go).
//
// What a program reads goes to the standard output; what a person is told goes to the standard
// error. The exit code tells the class of a failure (exit.go).
package cli
