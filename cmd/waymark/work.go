package main

import (
	"fmt"
	"time"
)

// work are the flags of the executor.
type work struct {
	JobLease     time.Duration `default:"30s" help:"How long a job waits before another executor takes it over from one that died; default: ${default}." placeholder:"DURATION"`
	ConfirmClock bool          `help:"The clock is right: sweep although it moved more than a day since the last sweep. For one start, after no executor ran for days."`
}

func (w *work) check() error {
	if w.JobLease < time.Second || w.JobLease > time.Hour {
		return fmt.Errorf("--job-lease %s is not between 1s and 1h", w.JobLease)
	}
	return nil
}
