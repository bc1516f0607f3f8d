// Command mutants asks how much the tests notice. It draws small mistakes from a
// seed, makes one at a time in the packages that decide something, and runs the
// tests that should notice it: the package's own, then those of its judges (judges.go).
//
//	make mutants MUTANTS='-seed 7 -n 20 -packages jobs,op'
//	make mutants MUTANTS='-run 0f3a9c21,77b0d1e4'
//
// A mistake is a comparison with another bound or negated, a condition that is left
// out (in Go or in a query, of which the row lock may be left out, too), a constant that is off
// by one, a statement that is left out, an error that is not returned, or two arguments that are
// exchanged. The kinds take turns. Messages, logs, registrations of operations, generated code and what is returned
// beside an error have none, and what does not compile is drawn again.
//
// Compiling takes longer than testing. So most mistakes are compiled together, each
// behind a switch that is an environment variable, and a package's tests are built once.
// A mistake in a constant that docs/operating.md lists is noticed by the test that compares them.
// The tree stays as it is: the compiler reads the changed files as an overlay. Tests fail
// for other reasons, too; so each must pass with all switches off first. Tests that run
// out of time have noticed a mistake only if they still have enough of it with the
// switches off, which is looked at there and then, and is told apart.
//
// A run that was interrupted goes on when it is started again on the same commit.
//
// A mutant's id stays the same while its lines move, and so does the sample of a seed.
// Those that change nothing which anybody could see are no mistakes: they are listed in
// equivalent.go, with the reason, and others are drawn in their place.
package main
