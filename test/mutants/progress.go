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
	"strings"
)

// progress is what a run has found out so far. A later run of the same sample on the same
// commit goes on with it, because to look at all tests without a mistake takes half an hour.
type progress struct {
	// Of tells the run apart from others, "" for one that cannot go on later.
	Of      string             `json:"of"`
	Mutants []*mutant          `json:"mutants"`
	Tests   map[string][]*test `json:"tests"` // by judge
}

// runID names what the flags ask for on the commit of the tree; "" when the tree differs from
// its commit.
func runID(ctx context.Context) string {
	changed, err := exec.CommandContext(ctx, "git", "status", "--porcelain").Output()
	commit, headErr := exec.CommandContext(ctx, "git", "rev-parse", "HEAD").Output()
	if err != nil || headErr != nil || len(changed) > 0 {
		return ""
	}
	return fmt.Sprint(strings.TrimSpace(string(commit)), " seed ", *seed, " n ", *number, " packages ", *packages, " run ", *only)
}

// earlier returns what an earlier run with the same name found out.
func earlier(file, of string) (*progress, error) {
	begun := &progress{Of: of, Tests: map[string][]*test{}}
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) || of == "" {
		return begun, nil
	}
	if err != nil {
		return nil, err
	}
	var found progress
	if err := json.Unmarshal(text, &found); err != nil || found.Of != of {
		return begun, nil // the file is of another run
	}
	return &found, nil
}

// verdict returns what became of a mutant, nil while it was not tried.
func (p *progress) verdict(id string) *mutant {
	for _, m := range p.Mutants {
		if m.ID == id {
			return m
		}
	}
	return nil
}

func (p *progress) save(file string) error {
	text, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, append(text, '\n'), 0o644)
}
