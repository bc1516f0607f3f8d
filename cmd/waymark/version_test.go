package main

import (
	"fmt"
	"testing"

	"github.com/waymarkhq/waymark/internal/store"
)

// What make build set stands in the line; nothing in it is ever empty.
func TestVersionText(t *testing.T) {
	t.Cleanup(func() { version, commit = "", "" })
	if got, want := versionText(), fmt.Sprintf("waymark dev, commit unknown, schema %d",
		store.NewestSchema); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	version, commit = "v1.2.3", "0123456789ab"
	if got, want := versionText(), fmt.Sprintf("waymark v1.2.3, commit 0123456789ab, schema %d",
		store.NewestSchema); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
