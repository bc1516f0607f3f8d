package main

// unseen is a mutant that changes nothing which anybody could see.
type unseen struct{ file, function, from, to, reason string }

// equivalents are the known ones. They are found by what they change, whatever line
// it stands on.
var equivalents = []unseen{}

func (m *mutant) is(u unseen) bool {
	return m.File == u.file && m.Function == u.function && m.From == u.from && m.To == u.to
}
