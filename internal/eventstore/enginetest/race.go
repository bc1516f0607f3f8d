//go:build race

package enginetest

// How much the suite asks for. The race detector makes some engines take ten times as
// long; make unit runs them without it, too.
const (
	rounds = 4
	many   = 2000
	hours  = 1000
)
