package dnsprovider

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/platform"
)

const (
	// scriptTimeout bounds a run of the script.
	scriptTimeout = 30 * time.Second
	// outputTimeout is how long the output may stay open after the script has ended:
	// what it left behind may hold it.
	outputTimeout = time.Second
	// maxScripts is how many runs there are at a time.
	maxScripts = 4
	// stdoutLimit bounds an answer, stderrLimit what an error repeats, in bytes.
	stdoutLimit = 256 << 10
	stderrLimit = 2 << 10
)

// Script is a Provider that runs a program for each call, which gets one JSON object
// on its standard input and answers with one. docs/dns-provider.md has the members. The
// program itself must compare before it changes.
type Script struct {
	path        string
	nameservers []string
	timeout     time.Duration
	// running holds what each run puts in.
	running chan struct{}
}

// NewScript returns the provider that an executable file is.
func NewScript(path string, nameservers []string) (*Script, error) {
	if !filepath.IsAbs(path) {
		return nil, fmt.Errorf("the path of the script %q does not begin with /", path)
	}
	if info, err := os.Stat(path); err != nil {
		return nil, fmt.Errorf("the script: %w", err)
	} else if info.IsDir() || info.Mode()&0o111 == 0 {
		return nil, fmt.Errorf("the script %s is not executable: chmod +x %s", path, path)
	}
	return &Script{path, nameservers, scriptTimeout, make(chan struct{}, maxScripts)}, nil
}

// request is what the script gets. Members that an action does not need are absent.
type request struct {
	Action      string   `json:"action"`
	Hostname    string   `json:"hostname,omitempty"`
	Nameservers []string `json:"nameservers,omitempty"`
	Zone        string   `json:"zone,omitempty"`
	Name        string   `json:"name,omitempty"`
	Type        string   `json:"type,omitempty"`
	Old         *values  `json:"old,omitempty"`
	New         *values  `json:"new,omitempty"`
}

// values are the content of a set.
type values struct {
	TTL    int64    `json:"ttl"`
	Values []string `json:"values"`
}

// answer is what the script answers. Error is "no_zone", "changed" or what went wrong.
type answer struct {
	Error  string   `json:"error"`
	Zone   string   `json:"zone"`
	TTL    int64    `json:"ttl"`
	Values []string `json:"values"`
}

// Check has the script look at its own settings.
func (s *Script) Check(ctx context.Context, _ string) (found string, err error) {
	if _, err := s.run(ctx, request{Action: "check"}); err != nil {
		return "", err
	}
	return s.path + " answers", nil
}

// Zone implements Provider.
func (s *Script) Zone(ctx context.Context, hostname string) (zone string, err error) {
	defer fault.Wrap(&err, "script: zone of %s", hostname)
	a, err := s.run(ctx, request{Action: "zone", Hostname: hostname, Nameservers: s.nameservers})
	if err != nil {
		return "", err
	}
	zone = undotted(a.Zone)
	if registry(zone) || !within(zone, hostname) {
		return "", fmt.Errorf("the script answered %.100q, which is not a zone of the hostname", a.Zone)
	}
	return zone, nil
}

// Get implements Provider.
func (s *Script) Get(ctx context.Context, zone, name, kind string) (_ Set, err error) {
	defer fault.Wrap(&err, "script: get %s %s", name, kind)
	a, err := s.run(ctx, request{Action: "get", Zone: zone, Name: name, Type: kind})
	if err != nil {
		return Set{}, err
	}
	if a.Values == nil {
		return Set{}, errors.New(`the script's answer lacks the member "values"`)
	}
	records, err := Set{Name: name, Type: kind, TTL: a.TTL, Values: a.Values}.records()
	return setOf(name, kind, records), err
}

// Replace implements Provider.
func (s *Script) Replace(ctx context.Context, zone string, old, new Set) (err error) {
	defer fault.Wrap(&err, "script: replace %s %s", new.Name, new.Type)
	if err := checkReplace(zone, old, new); err != nil {
		return err
	}
	_, err = s.run(ctx, request{Action: "replace", Zone: zone, Name: new.Name, Type: new.Type,
		Old: &values{old.TTL, old.meaning()}, New: &values{new.TTL, new.meaning()}})
	return err
}

// run runs the script once, and ends what it leaves behind.
func (s *Script) run(ctx context.Context, r request) (answer, error) {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	select {
	case s.running <- struct{}{}:
		defer func() { <-s.running }()
	case <-ctx.Done():
		return answer{}, context.Cause(ctx)
	}
	input, err := json.Marshal(r)
	if err != nil {
		return answer{}, err
	}
	stdout, stderr := &bounded{limit: stdoutLimit}, &bounded{limit: stderrLimit}
	c := exec.CommandContext(ctx, s.path)
	c.Stdin, c.Stdout, c.Stderr = bytes.NewReader(append(input, '\n')), stdout, stderr
	// Nothing of this process's environment: secrets of others may stand there.
	c.Env = []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8"}
	c.Dir, c.WaitDelay = filepath.Dir(s.path), outputTimeout
	// The script's processes are a group of their own, which ends with the run.
	platform.Group(c)
	if err := c.Start(); err != nil {
		return answer{}, cause(ctx, err)
	}
	err = c.Wait()
	platform.EndGroup(c)
	if err != nil && ctx.Err() != nil {
		return answer{}, fmt.Errorf("the script did not end in time: %w%s", context.Cause(ctx), stderr.said())
	}
	if errors.Is(err, exec.ErrWaitDelay) {
		err = errors.New("processes that it left behind held its output open")
	}
	if err != nil {
		return answer{}, fmt.Errorf("the script failed: %w%s", err, stderr.said())
	}
	if stdout.cut {
		return answer{}, fmt.Errorf("the script answered more than %d bytes%s", stdout.limit, stderr.said())
	}
	a, err := parseAnswer(stdout.kept)
	if err != nil {
		err = fmt.Errorf("%w%s", err, stderr.said())
	}
	return a, err
}

// parseAnswer reads what the script wrote. Unknown members are refused: a misspelt one
// would be an absent one.
func parseAnswer(stdout []byte) (a answer, err error) {
	d := json.NewDecoder(bytes.NewReader(stdout))
	d.DisallowUnknownFields()
	if err = d.Decode(&a); err == nil {
		_, err = d.Token()
	}
	if !errors.Is(err, io.EOF) || !bytes.HasPrefix(bytes.TrimSpace(stdout), []byte("{")) {
		return answer{}, fmt.Errorf("the script's answer %.*q is not one JSON object with the members of its action",
			shownLimit, stdout)
	}
	if a.TTL < 0 || a.TTL > maxTTL {
		return answer{}, fmt.Errorf("the script's answer has the TTL %d", a.TTL)
	}
	switch a.Error {
	case "":
		return a, nil
	case "no_zone":
		return answer{}, ErrNoZone
	case "changed":
		return answer{}, ErrChanged
	}
	return answer{}, fmt.Errorf("the script answered the error %.*q", shownLimit, a.Error)
}

// bounded keeps the beginning of what is written.
type bounded struct {
	kept  []byte
	limit int
	cut   bool
}

// Write implements io.Writer. It takes everything, so that the script goes on.
func (b *bounded) Write(p []byte) (int, error) {
	room := min(len(p), b.limit-len(b.kept))
	b.kept, b.cut = append(b.kept, p[:room]...), b.cut || room < len(p)
	return len(p), nil
}

// said is what an error adds of the standard error.
func (b *bounded) said() string {
	text := strings.ToValidUTF8(strings.TrimSpace(string(b.kept)), "\uFFFD")
	if text == "" {
		return ""
	}
	return fmt.Sprintf("; it wrote %q", text)
}
