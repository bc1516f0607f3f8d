// Package upgrade holds databases as the program made them when earlier steps
// had landed (testdata/<number of operations>/<engine>), and tests that today's
// program upgrades them and reads what they hold. Command record makes them.
package upgrade

import (
	"encoding/json"
	"time"
)

// Names of the files of a fixture.
const (
	DatabaseFile = "database.gz"
	AnswersFile  = "answers.json"
)

// Recorded is what a program answered just before its database was kept.
type Recorded struct {
	At    time.Time `json:"at"`
	Owner string    `json:"owner"` // e-mail address
	// Secret is an API key that reads links.
	Secret string `json:"secret"`
	// Visits are links with the destinations to which they led.
	Visits map[string]string `json:"visits"`
	// Answers are the data that GET answered, by path.
	Answers map[string]json.RawMessage `json:"answers"`
}
