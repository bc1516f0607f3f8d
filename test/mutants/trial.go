package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
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
	mu      sync.Mutex
	judges  map[string]*judge
	// looked keeps what was found out about the tests of a judge.
	looked func(judge string, tests []*test) error
}

// judge is a package whose tests are run. mu is held while they are looked at, which
// happens once.
type judge struct {
	mu    sync.Mutex
	tests []*test
}

// test is a test of a package, and what it does without a mistake.
type test struct {
	Name    string        `json:"name"`
	Takes   time.Duration `json:"takes"`
	Reached string        `json:"reached"` // the ids of the mutants of the first batch that it reaches, a line each
}

// newTrials returns trials of a sample. known are the tests of judges that were looked at before.
func newTrials(from map[string]*source, sample []*mutant, known map[string][]*test,
	looked func(judge string, tests []*test) error) (*trials, error) {
	temporary, err := os.MkdirTemp("", "waymark-mutants-")
	if err != nil {
		return nil, err
	}
	t := &trials{folder: temporary, batches: batches(sample), judges: map[string]*judge{}, looked: looked}
	for name, tests := range known {
		t.judges[name] = &judge{tests: tests}
	}
	for i, b := range t.batches {
		if err := b.write(filepath.Join(temporary, strconv.Itoa(i)), from); err != nil {
			return nil, errors.Join(err, t.close())
		}
	}
	return t, nil
}

func (t *trials) close() error { return os.RemoveAll(t.folder) }

// try runs the tests that should notice a mutant, the quickest and closest first, until one
// does. Each process runs twice as many of them as the one before: it takes longer to start
// than most tests do.
func (t *trials) try(ctx context.Context, m *mutant) error {
	if m.Verdict == equivalent {
		return nil
	}
	if m.isConstant() {
		if differs, err := t.contradicts(ctx, m); err != nil || differs {
			m.Verdict, m.By = noticed, "the root's "+manualTest
			return err
		}
	}
	m.Verdict, m.By = notNoticed, "no test comes there"
	for _, judge := range append([]string{m.pkg()}, judges[m.pkg()]...) {
		tests, err := t.measured(ctx, judge)
		if err != nil {
			return err
		}
		if m.in == t.batches[0] {
			tests = slices.DeleteFunc(slices.Clone(tests), func(one *test) bool { return !strings.Contains(one.Reached, m.ID) })
		}
		for n := 1; len(tests) > 0; n *= 2 {
			some := tests[:min(n, len(tests))]
			tests = tests[len(some):]
			m.By = ""
			found, err := t.patiently(ctx, judge, some, m)
			switch {
			case err != nil:
				return err
			case found == timedOut:
				m.Verdict, m.By = outOfTime, judge+" "+names(some)
				return nil
			case found != "":
				m.Verdict, m.By = noticed, judge+" "+found
				return nil
			}
		}
	}
	return nil
}

// names returns the names of tests as a regular expression takes them.
func names(tests []*test) string {
	var all []string
	for _, one := range tests {
		all = append(all, one.Name)
	}
	return strings.Join(all, "|")
}

// patiently runs tests with a mutant as run does. Tests that do not end may be ones that
// the mistake keeps from ending, or the machine has become slower: then they do not end
// without the mistake either, and get more time.
func (t *trials) patiently(ctx context.Context, judge string, tests []*test, m *mutant) (found string, err error) {
	within := grace
	for _, one := range tests {
		within += slowdown * one.Takes
	}
	for range 3 {
		found, _, err = t.run(ctx, judge, tests, within, m.in, m.ID)
		if err != nil || found != timedOut {
			return found, err
		}
		switch again, _, err := t.run(ctx, judge, tests, within, t.batches[0], ""); {
		case err != nil || again == "":
			return found, err
		case again != timedOut:
			return "", fmt.Errorf("%s of %s fail without a mistake: %s", names(tests), judge, again)
		}
		within = slowdown*within + grace
	}
	return "", fmt.Errorf("%s of %s do not end without a mistake", names(tests), judge)
}

// measured returns the tests of a package, the quickest and closest first, all of which pass
// without a mistake.
func (t *trials) measured(ctx context.Context, name string) ([]*test, error) {
	t.mu.Lock()
	j := t.judges[name]
	if j == nil {
		j = &judge{}
		t.judges[name] = j
	}
	t.mu.Unlock()
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.tests != nil {
		return j.tests, nil
	}
	binary, err := t.batches[0].tests(ctx, name)
	if err != nil || binary == "" {
		return nil, err
	}
	listed, err := exec.CommandContext(ctx, binary, "-test.list=.").Output()
	if err != nil {
		return nil, err
	}
	for _, title := range strings.Fields(string(listed)) {
		one := &test{Name: title}
		if err := t.look(ctx, name, one); err != nil {
			return nil, err
		}
		j.tests = append(j.tests, one)
	}
	// A test that comes to few mutants is about them.
	slices.SortFunc(j.tests, func(a, b *test) int {
		return cmp.Compare(a.Takes*time.Duration(len(a.Reached)), b.Takes*time.Duration(len(b.Reached)))
	})
	return j.tests, t.looked(name, j.tests)
}

// look runs a test without a mistake. One that fails gets another chance: the machine may have
// had something else to do.
func (t *trials) look(ctx context.Context, judge string, one *test) (err error) {
	var found string
	for range 2 {
		began := time.Now()
		found, one.Reached, err = t.run(ctx, judge, []*test{one}, time.Hour, t.batches[0], "")
		if one.Takes = time.Since(began); err != nil || found == "" {
			return err
		}
	}
	return fmt.Errorf("%s fails without a mistake: %s", judge, found)
}

// timedOut is what is found when a test does not end.
const timedOut = "does not end"

var (
	failedTest = regexp.MustCompile(`(?m)^\s*--- FAIL: (\S+)`)
	lastWords  = regexp.MustCompile(`(?m)^(?:panic|fatal error): .*`)
)

// run runs tests with a mutant, and returns what of them failed first, "" for nothing, and
// the ids of the mutants that they reached.
func (t *trials) run(ctx context.Context, judge string, tests []*test, within time.Duration, in *batch,
	id string) (found, reached string, err error) {
	binary, err := in.tests(ctx, judge)
	if err != nil {
		return "", "", err
	}
	log, err := os.CreateTemp(t.folder, "reached-")
	if err != nil {
		return "", "", err
	}
	defer os.Remove(log.Name())
	defer log.Close()
	run := exec.CommandContext(ctx, binary, "-test.run=^("+names(tests)+")$", "-test.failfast", "-test.timeout="+within.String())
	run.Dir, run.Env = folder+judge, append(os.Environ(), envSwitch+"="+id, envReached+"="+log.Name())
	var out bytes.Buffer
	run.Stdout, run.Stderr, run.WaitDelay = &out, &out, time.Second
	err = run.Run()
	text, readErr := io.ReadAll(log)
	var exit *exec.ExitError
	told := out.String()
	failed := failedTest.FindAllStringSubmatch(told, -1)
	switch {
	case err == nil:
		return "", string(text), readErr
	case !errors.As(err, &exit) || exit.ExitCode() < 0:
		return "", "", err // it was not started, or was stopped
	case strings.Contains(told, "panic: test timed out"):
		return timedOut, "", nil
	case len(failed) > 0:
		return failed[len(failed)-1][1], "", nil
	default:
		return names(tests) + ", " + lastWords.FindString(told), "", nil
	}
}
