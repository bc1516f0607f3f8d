package main

import "fmt"

// events are the flags that say where visits are kept for analytics.
type events struct {
	Events string `default:"database" help:"Where visits are kept for analytics; default: ${default}, the only engine so far." placeholder:"ENGINE"`
}

func (e *events) check() error {
	if e.Events != "database" {
		return fmt.Errorf("--events %q: this version has the engine database", e.Events)
	}
	return nil
}
