package main

import "errors"

// limits are the flags that bound what callers may do.
type limits struct {
	LimitScale float64 `default:"1" help:"Multiplies every rate limit and quota; default: ${default}." placeholder:"FACTOR"`
}

func (l *limits) check() error {
	if !(l.LimitScale > 0 && l.LimitScale <= 1e9) { // also NaN
		return errors.New("--limit-scale must be above 0 and at most 1000000000")
	}
	return nil
}
