package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
)

// grade is how a check ended.
type grade string

const (
	fine     grade = "ok"
	doubtful grade = "warning"
	failed   grade = "FAILED"
)

// finding is what a check found, and what to do about it unless it is fine.
type finding struct {
	grade         grade
	found, advice string
}

func ok(found string) finding { return finding{fine, found, ""} }

func warn(found, advice string) finding { return finding{doubtful, found, advice} }

func fail(found, advice string) finding { return finding{failed, found, advice} }

// report prints findings and counts them.
type report struct {
	out    io.Writer
	counts map[grade]int
}

// add prints a finding, with its advice on a line of its own.
func (r *report) add(check string, f finding) {
	if r.counts == nil {
		r.counts = map[grade]int{}
	}
	r.counts[f.grade]++
	fmt.Fprintf(r.out, "%-12s  %-7s  %s\n", check, f.grade, strings.Join(strings.Fields(f.found), " "))
	if f.advice != "" {
		fmt.Fprintf(r.out, "%23s%s\n", "", f.advice)
	}
}

// end prints how many findings there are, and returns that as an error when a check failed.
func (r *report) end() error {
	sum := fmt.Sprintf("%d ok, %s, %d failed", r.counts[fine], number(int64(r.counts[doubtful]), "warning"), r.counts[failed])
	if r.counts[failed] > 0 {
		return errors.New(sum)
	}
	_, err := fmt.Fprintln(r.out, sum)
	return err
}
