package main

import "testing"

// Half of few descriptors are kept for the rest of the program, of many a fixed number, and
// every listener has places.
func TestConnections(t *testing.T) {
	for descriptors, want := range map[uint64]int{200: 100, 2048: 1024, 2050: 1026, 4096: 3072} {
		if got := connections(descriptors); got != want {
			t.Errorf("%d descriptors are enough for %d connections, want %d", descriptors, got, want)
		}
	}
	for most, want := range map[int][4]int{20: {12, 4, 2, 2}, 10_000: {6984, 2000, 1000, 16}} {
		l := listeners{MaxConnections: most}
		if got := [4]int{l.share("public"), l.share("api"), l.share("http"), l.share("metrics")}; got != want {
			t.Errorf("%d connections are shared as %d, want %d", most, got, want)
		}
	}
}
