package domain

import (
	"strings"
	"unicode"
)

// The rules for the letters of hostnames are those of IDNA2008 (RFC 5892, without
// the characters that it admits in a context only) and the highly restrictive
// profile of UTS 39, with the recommended scripts of UAX 31.

// scripts are the recommended ones.
var scripts = map[string]*unicode.RangeTable{
	"Arabic": unicode.Arabic, "Armenian": unicode.Armenian, "Bengali": unicode.Bengali, "Bopomofo": unicode.Bopomofo,
	"Cyrillic": unicode.Cyrillic, "Devanagari": unicode.Devanagari, "Ethiopic": unicode.Ethiopic,
	"Georgian": unicode.Georgian, "Greek": unicode.Greek, "Gujarati": unicode.Gujarati, "Gurmukhi": unicode.Gurmukhi,
	"Han": unicode.Han, "Hangul": unicode.Hangul, "Hebrew": unicode.Hebrew, "Hiragana": unicode.Hiragana,
	"Kannada": unicode.Kannada, "Katakana": unicode.Katakana, "Khmer": unicode.Khmer, "Lao": unicode.Lao,
	"Latin": unicode.Latin, "Malayalam": unicode.Malayalam, "Myanmar": unicode.Myanmar, "Oriya": unicode.Oriya,
	"Sinhala": unicode.Sinhala, "Tamil": unicode.Tamil, "Telugu": unicode.Telugu, "Thaana": unicode.Thaana,
	"Thai": unicode.Thai, "Tibetan": unicode.Tibetan,
}

// together are the scripts that may stand in one label.
var together = [][]string{
	{"Latin", "Han", "Hiragana", "Katakana"},
	{"Latin", "Han", "Bopomofo"},
	{"Latin", "Han", "Hangul"},
}

// disallowed are letters and marks that IDNA2008 disallows one by one (RFC 5892,
// section 2.6).
const disallowed = "\u0640\u07fa\u302e\u302f\u3031\u3032\u3033\u3034\u3035\u303b"

// labelProblem tells why a label, as people read it, is refused, or "". top is the
// last label of the hostname.
func labelProblem(label, top string) string {
	used, known := scriptsOf(label)
	switch {
	case strings.ContainsFunc(label, func(r rune) bool {
		return r != '-' && !unicode.In(r, unicode.L, unicode.Mn, unicode.Mc, unicode.Nd) ||
			strings.ContainsRune(disallowed, r)
	}):
		return "must have letters, digits and hyphens alone, no symbols"
	case !known:
		return "has letters of a script that hostnames cannot have here"
	case !oneReading(used):
		return "mixes scripts, which can deceive readers; write it in one script"
	case mixesDigits(label):
		return "mixes digits of several scripts, which can deceive readers; use digits of one"
	case !used["Latin"] && len(used) == 1 && looksLatin(label):
		// Below a top-level domain of the same script nobody expects Latin letters.
		if below, _ := scriptsOf(top); len(below) == 1 && below[one(used)] {
			return ""
		}
		return "is written in " + one(used) + " letters that look like Latin ones; use Latin letters or another name"
	}
	return ""
}

// scriptsOf returns the scripts of a label. Digits and marks of many scripts have
// none. It is not known when a script is not recommended.
func scriptsOf(label string) (used map[string]bool, known bool) {
	used = map[string]bool{}
next:
	for _, r := range label {
		if unicode.In(r, unicode.Common, unicode.Inherited) {
			continue
		}
		for name, table := range scripts {
			if unicode.Is(table, r) {
				used[name] = true
				continue next
			}
		}
		return used, false
	}
	return used, true
}

// one returns the script of a label of one script.
func one(used map[string]bool) (name string) {
	for name = range used {
	}
	return name
}

// oneReading reports whether the scripts are one, or those of one language.
func oneReading(used map[string]bool) bool {
	if len(used) <= 1 {
		return true
	}
	for _, set := range together {
		n := 0
		for _, name := range set {
			if used[name] {
				n++
			}
		}
		if n == len(used) {
			return true
		}
	}
	return false
}

// mixesDigits reports whether a label has decimal digits with different zeros.
func mixesDigits(label string) bool {
	var first rune
	for _, r := range label {
		zero := zeroOf(r)
		if first == 0 {
			first = zero
		}
		if zero != 0 && zero != first {
			return true
		}
	}
	return false
}

// zeroOf returns the digit zero of the ten digits to which r belongs, and U+0000 when r is no digit.
// Unicode has digits in groups of ten, one after the other.
func zeroOf(r rune) rune {
	for _, group := range unicode.Nd.R16 {
		if low := rune(group.Lo); r >= low && r <= rune(group.Hi) {
			return r - (r-low)%10
		}
	}
	for _, group := range unicode.Nd.R32 {
		if low := rune(group.Lo); r >= low && r <= rune(group.Hi) {
			return r - (r-low)%10
		}
	}
	return 0
}
