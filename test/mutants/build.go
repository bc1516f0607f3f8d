package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// batch is mutants that are compiled together: those that have switches and do not
// overlap, or one that has none.
type batch struct {
	mutants []*mutant
	// switched tells that the mutants have switches.
	switched bool
	// folder has the overlay and the binaries of tests.
	folder string
	// mu is held while a binary is built.
	mu sync.Mutex
}

// batches divides mutants. The first batch has switches alone.
func batches(all []*mutant) []*batch {
	found := []*batch{{switched: true}}
	for _, m := range all {
		i := -1
		if m.canSwitch {
			i = slices.IndexFunc(found, func(b *batch) bool { return b.switched && !b.overlaps(m) })
		}
		if i < 0 {
			found, i = append(found, &batch{switched: m.canSwitch}), len(found)
		}
		found[i].mutants = append(found[i].mutants, m)
		m.in = found[i]
	}
	return found
}

func (b *batch) overlaps(m *mutant) bool {
	return slices.ContainsFunc(b.mutants, func(other *mutant) bool {
		return m.File == other.File && m.switched.start < other.switched.end && other.switched.start < m.switched.end
	})
}

// write writes the overlay that the compiler reads.
func (b *batch) write(into string, from map[string]*source) error {
	b.folder = into
	edits, texts := map[string][]edit{}, map[string]string{}
	for _, m := range b.mutants {
		s := from[m.pkg()]
		if b.switched {
			edits[m.File] = append(edits[m.File], m.switched)
			texts[filepath.Join(folder, s.name, helperFile)] = s.helper()
		} else {
			edits[m.File] = append(edits[m.File], m.made)
		}
		texts[m.File] = applied(s.texts[m.File], edits[m.File])
	}
	if err := os.MkdirAll(into, 0o755); err != nil {
		return err
	}
	replace := map[string]string{}
	for i, name := range sorted(texts) {
		original, err := filepath.Abs(name)
		if err != nil {
			return err
		}
		replace[original] = filepath.Join(into, strconv.Itoa(i)+".go")
		if err := os.WriteFile(replace[original], []byte(texts[name]), 0o644); err != nil {
			return err
		}
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(into, "overlay.json"), text, 0o644)
}

// tests builds the tests of a package once, and returns their binary, "" for none.
func (b *batch) tests(ctx context.Context, name string) (binary string, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	binary = filepath.Join(b.folder, strings.ReplaceAll(name, "/", "-")+".test")
	if _, err := os.Stat(binary); !errors.Is(err, fs.ErrNotExist) {
		return binary, err
	}
	build := exec.CommandContext(ctx, "go", "test", "-c", "-trimpath", "-vet=off", "-ldflags=-s -w",
		"-overlay="+filepath.Join(b.folder, "overlay.json"), "-o", binary, "./"+folder+name)
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building the tests of %s: %w: %s", name, err, out)
	}
	if _, err := os.Stat(binary); errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return binary, nil
}
