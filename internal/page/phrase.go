package page

import (
	"strings"
	"unicode/utf8"
)

// phrase is a text of the owner's with the variables that it shows.
type phrase []part

// part is the key of a variable of a phrase, or the text between two of them.
type part struct {
	text       string
	isVariable bool
}

// parse reads a text in which {{key}} stands for the value of a variable. What
// opens and is never closed is text.
func parse(s string) (p phrase) {
	for s != "" {
		before, rest, opened := strings.Cut(s, "{{")
		key, after, closed := strings.Cut(rest, "}}")
		if !opened || !closed {
			return append(p, part{text: s})
		}
		if before != "" {
			p = append(p, part{text: before})
		}
		p, s = append(p, part{text: strings.TrimSpace(key), isVariable: true}), after
	}
	return p
}

// values are what the variables of a template show on a page.
type values struct {
	variables map[string]variable
	data      map[string]string
	words     *words
}

// variable is what a template says of a variable.
type variable struct {
	boolean   bool
	byDefault string
}

// of returns what a variable shows; nothing if it has no value.
func (v *values) of(key string) string {
	declared, known := v.variables[key]
	if !known {
		return ""
	}
	value, given := v.data[key]
	if !given {
		value = declared.byDefault
	}
	switch {
	case declared.boolean && value == "true":
		return v.words.Yes
	case declared.boolean && value == "false":
		return v.words.No
	}
	return value
}

// How many characters of a text with variables are shown: values may be long, and a
// text may show the same value many times.
const (
	mostHeading = 300
	mostText    = 4000
	mostLabel   = 120
	mostDetail  = 1000
)

// say returns a phrase with the values of its variables, "" where there is nothing
// to see. What is longer than most characters is cut.
func (v *values) say(p phrase, most int) string {
	if len(p) == 1 && !p[0].isVariable {
		return p[0].text
	}
	var b strings.Builder
	for _, part := range p {
		text := part.text
		if part.isVariable {
			text = v.of(part.text)
		}
		if n := utf8.RuneCountInString(text); n > most {
			for range n - most {
				_, size := utf8.DecodeLastRuneInString(text)
				text = text[:len(text)-size]
			}
			b.WriteString(text)
			b.WriteString("…")
			break
		}
		b.WriteString(text)
		most -= utf8.RuneCountInString(text)
	}
	return strings.TrimSpace(b.String())
}
