// Package enginetest holds every engine of the event store to the same promises.
//
// Run is the conformance suite. It asks an engine and Reference, an engine of plain
// loops over a slice, the same questions and compares the answers. What it does with
// random events prints the seed when it fails.
//
// Log makes the batches that a click log would hand out, so that engines recognise
// what comes again by its position as well as by its id.
package enginetest
