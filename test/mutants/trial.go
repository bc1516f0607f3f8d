package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// slowdown and grace bound the time of a test, from what it takes without a mistake.
const (
	slowdown = 3
	grace    = 20 * time.Second
)

// trials runs tests, with its files in a folder of its own.
type trials struct {
	folder  string
	batches []*batch
	tests   map[string][]*test // of the packages that were judges so far
}

// test is a test of a package, and what it does without a mistake.
type test struct {
	name    string
	takes   time.Duration
	reached string // the ids of the mutants of the first batch that it reaches, a line each
}

func newTrials(from map[string]*source, sample []*mutant) (*trials, error) {
	temporary, err := os.MkdirTemp("", "waymark-mutants-")
	if err != nil {
		return nil, err
	}
	t := &trials{folder: temporary, batches: batches(sample), tests: map[string][]*test{}}
	for i, b := range t.batches {
		if err := b.write(filepath.Join(temporary, strconv.Itoa(i)), from); err != nil {
			return nil, errors.Join(err, t.close())
		}
	}
	return t, nil
}

func (t *trials) close() error { return os.RemoveAll(t.folder) }

// try runs the tests that should notice a mutant, the quickest first, until one does.
func (t *trials) try(ctx context.Context, m *mutant) error {
	if m.Verdict == equivalent {
		return nil
	}
	m.Verdict, m.By = notNoticed, "no test comes there"
	for _, judge := range append([]string{m.pkg()}, judges[m.pkg()]...) {
		tests, err := t.measured(ctx, judge)
		if err != nil {
			return err
		}
		for _, one := range tests {
			if m.in == t.batches[0] && !strings.Contains(one.reached, m.ID) {
				continue
			}
			m.By = ""
			found, err := t.run(ctx, judge, one, m.in, m.ID)
			if err != nil {
				return err
			}
			if found == timedOut {
				// Is the machine slow, or does the mistake keep the test from ending?
				if again, err := t.run(ctx, judge, one, t.batches[0], ""); err != nil || again != "" {
					return errors.Join(err, fmt.Errorf("%s of %s without a mistake: %s", one.name, judge, again))
				}
				m.Verdict, m.By = outOfTime, judge+" "+one.name
				return nil
			}
			if found != "" {
				m.Verdict, m.By = noticed, judge+" "+found
				return nil
			}
		}
	}
	return nil
}

// measured returns the tests of a package, the quickest first, all of which pass without
// a mistake.
func (t *trials) measured(ctx context.Context, judge string) ([]*test, error) {
	if tests, known := t.tests[judge]; known {
		return tests, nil
	}
	binary, err := t.batches[0].tests(ctx, judge)
	if err != nil || binary == "" {
		return nil, err
	}
	names, err := exec.CommandContext(ctx, binary, "-test.list=.").Output()
	if err != nil {
		return nil, err
	}
	var tests []*test
	for _, name := range strings.Fields(string(names)) {
		one := &test{name: name, takes: time.Hour}
		began := time.Now()
		found, err := t.run(ctx, judge, one, t.batches[0], "")
		if err != nil || found != "" {
			return nil, errors.Join(err, fmt.Errorf("%s fails without a mistake: %s", judge, found))
		}
		one.takes = time.Since(began)
		reached, err := os.ReadFile(t.reached())
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
		one.reached = string(reached)
		tests = append(tests, one)
	}
	slices.SortFunc(tests, func(a, b *test) int { return cmp.Compare(a.takes, b.takes) })
	t.tests[judge] = tests
	return tests, nil
}

// reached is the file in which a test tells the mutants that it reaches.
func (t *trials) reached() string { return filepath.Join(t.folder, "reached") }

// timedOut is what is found when a test does not end.
const timedOut = "does not end"

var (
	failedTest = regexp.MustCompile(`(?m)^\s*--- FAIL: (\S+)`)
	lastWords  = regexp.MustCompile(`(?m)^(?:panic|fatal error): .*`)
)

// run runs a test with a mutant, and returns what of it failed, "" for nothing.
func (t *trials) run(ctx context.Context, judge string, one *test, in *batch, id string) (found string, err error) {
	binary, err := in.tests(ctx, judge)
	if err != nil {
		return "", err
	}
	if err := os.RemoveAll(t.reached()); err != nil {
		return "", err
	}
	within := slowdown*one.takes + grace
	run := exec.CommandContext(ctx, binary, "-test.run=^"+one.name+"$", "-test.failfast",
		"-test.timeout="+within.String())
	run.Dir, run.Env = folder+judge, append(os.Environ(), envSwitch+"="+id, envReached+"="+t.reached())
	var out bytes.Buffer
	run.Stdout, run.Stderr, run.WaitDelay = &out, &out, time.Second
	err = run.Run()
	var exit *exec.ExitError
	told := out.String()
	failed := failedTest.FindAllStringSubmatch(told, -1)
	switch {
	case err == nil:
		return "", nil
	case !errors.As(err, &exit) || exit.ExitCode() < 0:
		return "", err // it was not started, or was stopped
	case strings.Contains(told, "panic: test timed out"):
		return timedOut, nil
	case len(failed) > 0:
		return failed[len(failed)-1][1], nil
	default:
		return one.name + ", " + lastWords.FindString(told), nil
	}
}
