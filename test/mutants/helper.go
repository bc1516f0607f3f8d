package main

const (
	// envSwitch names the environment variable that has the id of the mutant that is on,
	// envReached the one with a file for the ids of those that a program comes to.
	envSwitch, envReached = "WAYMARK_MUTANT", "WAYMARK_MUTANTS_REACHED"
	// helperFile is a file of each package with mutants: it has their switches.
	helperFile = "mutants_helper.go"
	// itsID stands for the mutant's id in the text of its switch.
	itsID = "\x00"
)

func (s *source) helper() string {
	return "package " + s.title + `

import (
	"os"
	"sync"
)

var (
	mutantOn       = os.Getenv("` + envSwitch + `")
	mutantsReached = map[string]bool{}
	mutantsMu      sync.RWMutex
)

// mutantIsOn allocates only at the first time: some tests count allocations.
func mutantIsOn(id string) bool {
	mutantsMu.RLock()
	known := mutantsReached[id]
	mutantsMu.RUnlock()
	if !known {
		mutantsMu.Lock()
		defer mutantsMu.Unlock()
		mutantsReached[id] = true
		name := os.Getenv("` + envReached + `")
		if file, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644); err == nil {
			file.WriteString(id + "\n")
			file.Close()
		}
	}
	return mutantOn == id
}

func mutantOr[T any](id string, to, from T) T {
	if mutantIsOn(id) {
		return to
	}
	return from
}
`
}
