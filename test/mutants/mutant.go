package main

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"slices"
	"strings"
)

// mutant is one small mistake, and what became of it.
type mutant struct {
	ID       string `json:"id"`
	Kind     string `json:"kind"`
	File     string `json:"file"`
	Line     int    `json:"line"`
	Function string `json:"function"`
	On       string `json:"on"` // the text of its line
	From     string `json:"from"`
	To       string `json:"to"`
	Verdict  string `json:"verdict"`
	// By is the test that noticed it, or why it is equivalent.
	By string `json:"by,omitempty"`

	// made makes the mistake; switched does when the program's environment says so.
	made, switched edit
	canSwitch      bool
	in             *batch
}

// edit is other text for a part of a file.
type edit struct {
	start, end int
	text       string
}

// The verdicts.
const (
	noticed    = "noticed"
	outOfTime  = "out of time" // noticed, because the tests did not end
	equivalent = "equivalent"
	notNoticed = "NOT noticed"
)

// pkg returns the name of its package.
func (m *mutant) pkg() string { return strings.TrimPrefix(path.Dir(m.File), folder) }

// isConstant reports whether it is in the declaration of a constant.
func (m *mutant) isConstant() bool { return m.Function == "const" }

// identify gives each mutant an id that stays the same while its lines move.
func identify(all []mutant) {
	seen := map[string]int{}
	for i := range all {
		m := &all[i]
		what := strings.Join([]string{path.Dir(m.File), m.Function, m.Kind, m.From, m.To}, "\x00")
		seen[what]++
		sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%d", what, seen[what]))
		m.ID = hex.EncodeToString(sum[:4])
		m.switched.text = strings.ReplaceAll(m.switched.text, itsID, `"`+m.ID+`"`)
	}
}

// draw returns all mutants in the order that a seed gives them. The kinds take
// turns. A mutant's place depends on its id alone, so that a sample stays nearly
// the same when other code changes.
func draw(all []mutant, seed string) []mutant {
	rank := func(m mutant) string {
		sum := sha256.Sum256([]byte(seed + " " + m.ID))
		return string(sum[:])
	}
	drawn := slices.Clone(all)
	slices.SortFunc(drawn, func(a, b mutant) int { return strings.Compare(rank(a), rank(b)) })
	turn, turns := map[string]int{}, map[string]int{}
	for _, m := range drawn {
		turns[m.Kind]++
		turn[m.ID] = turns[m.Kind]
	}
	slices.SortStableFunc(drawn, func(a, b mutant) int {
		return cmp.Or(turn[a.ID]-turn[b.ID], strings.Compare(a.Kind, b.Kind))
	})
	return drawn
}

func (m *mutant) String() string {
	told := fmt.Sprintf("%s  %-11s  %s:%d %s: %s => %s", m.ID, m.Verdict, m.File, m.Line, m.Function, m.From, m.To)
	if m.By != "" {
		told += "  [" + m.By + "]"
	}
	return told
}
