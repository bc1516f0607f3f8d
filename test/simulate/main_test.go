package main

import "testing"

// A small month comes to its end, with its special days: each visit is answered as it should be, and no
// click is missing.
func TestRun(t *testing.T) {
	*days, *visits, *links = tryingDay+1, 8000, 500
	if err := run(); err != nil {
		t.Fatal(err)
	}
}
