package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// manualTest compares the constants of the program with the tables of docs/operating.md.
const manualTest = "TestBoundsOfTheCode"

// contradicts reports whether the manual says something else than a mutant of a constant. The
// test reads the sources, so it gets a copy of them with the mistake.
func (t *trials) contradicts(ctx context.Context, m *mutant) (bool, error) {
	tree, err := os.MkdirTemp(t.folder, "tree-")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(tree)
	for _, name := range []string{"internal", "cmd", "docs"} {
		if err := os.CopyFS(filepath.Join(tree, name), os.DirFS(name)); err != nil {
			return false, err
		}
	}
	for to, from := range map[string]string{"go.mod": "go.mod", "go.sum": "go.sum", "bounds_test.go": "bounds_test.go",
		m.File: filepath.Join(m.in.folder, "0.go")} {
		text, err := os.ReadFile(from)
		if err != nil {
			return false, err
		}
		if err := os.WriteFile(filepath.Join(tree, to), text, 0o644); err != nil {
			return false, err
		}
	}
	test := exec.CommandContext(ctx, "go", "test", "-trimpath", "-count=1", "-run=^"+manualTest+"$", ".")
	test.Dir = tree
	out, err := test.CombinedOutput()
	var exit *exec.ExitError
	switch {
	case err == nil || !errors.As(err, &exit):
		return false, err
	case strings.Contains(string(out), "in the code, the page says"):
		return true, nil
	}
	return false, fmt.Errorf("comparing the manual with %s: %w: %s", m.File, err, out)
}
