// Package text holds the rules of the text that owners write, in one place for
// every name, title and description (completions.md §11, Text). A request field
// of type Line or Block follows them without further code: package schema
// checks what was sent by the same functions that decoding uses.
package text

import (
	"errors"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json"
)

// Line is a name, a title or a label: one line with something to see in it.
// Decoded from JSON it is already in its stored form, see CleanLine.
type Line string

// Block is a longer text. It keeps its line breaks and tabs.
type Block string

// UnmarshalJSON reads a text into its stored form.
func (l *Line) UnmarshalJSON(b []byte) error { return unmarshal(b, CleanLine, (*string)(l)) }

// UnmarshalJSON reads a text into its stored form.
func (t *Block) UnmarshalJSON(b []byte) error { return unmarshal(b, CleanBlock, (*string)(t)) }

func unmarshal(b []byte, clean func(string) (string, error), into *string) error {
	var s string
	err := json.Unmarshal(b, &s)
	if err == nil {
		*into, err = clean(s)
	}
	return err
}

// The reasons why a text is refused, in words for the client.
var (
	ErrEmpty    = errors.New("the text has no visible character")
	ErrControl  = errors.New("the text contains a control character")
	ErrOverride = errors.New("the text contains a character that overrides the direction of writing")
)

// CleanLine returns s with every run of white space, line breaks included, as
// one space, and none at the ends. It refuses what Check refuses and a text
// without a visible character.
func CleanLine(s string) (string, error) {
	if !isPlain(s) {
		s = strings.Join(strings.Fields(s), " ")
	}
	if !strings.ContainsFunc(s, visible) {
		return "", ErrEmpty
	}
	return s, Check(s)
}

// CleanBlock returns s as it is, or the reason why it is refused: line breaks
// and tabs are its only control characters.
func CleanBlock(s string) (string, error) {
	return s, check(s, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\r' && r != '\t' })
}

// Check refuses control characters and bidirectional overrides, which no text
// of one line needs: with them one text can look like another.
func Check(s string) error { return check(s, unicode.IsControl) }

func check(s string, control func(rune) bool) error {
	for _, r := range s {
		switch {
		case control(r):
			return ErrControl
		case r >= '\u202A' && r <= '\u202E', r >= '\u2066' && r <= '\u2069':
			return ErrOverride
		}
	}
	return nil
}

// isPlain reports whether s is ASCII without a run of spaces: most texts are,
// and need no copy.
func isPlain(s string) bool {
	last := byte(' ')
	for i := range len(s) {
		c := s[i]
		if c < ' ' || c > '~' || c == ' ' && last == ' ' {
			return false
		}
		last = c
	}
	return last != ' '
}

// visible reports whether a character can be seen by itself.
func visible(r rune) bool {
	if r <= '~' {
		return r > ' '
	}
	return unicode.In(r, unicode.L, unicode.N, unicode.P, unicode.S)
}
