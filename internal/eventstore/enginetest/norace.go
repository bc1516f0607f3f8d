//go:build !race

package enginetest

// How much the suite asks for.
const (
	rounds = 25    // of random events and questions
	many   = 20000 // events of a large app
	hours  = 9000  // periods of a question, more than anybody may ask for
)
