package dnsprovider

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/waymarkhq/waymark/internal/store/storetest"
)

// script returns the provider that the lines of a shell are.
func script(t *testing.T, lines string) *Script {
	t.Helper()
	path := filepath.Join(t.TempDir(), "provider")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+lines), 0o700); err != nil {
		t.Fatal(err)
	}
	s, err := NewScript(path, []string{"ns1.example.net"})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestScriptRequests(t *testing.T) {
	s := script(t, `cat >request; echo '{"zone":"zone.example","ttl":60,"values":["192.0.2.1"]}'`)
	sent := func() string {
		content, err := os.ReadFile(filepath.Join(filepath.Dir(s.path), "request"))
		if err != nil {
			t.Fatal(err)
		}
		return string(content)
	}
	if got, err := s.Zone(t.Context(), "a."+zone); got != zone || err != nil {
		t.Errorf("the zone is %q, %v", got, err)
	}
	want := `{"action":"zone","hostname":"a.zone.example","nameservers":["ns1.example.net"]}` + "\n"
	if sent() != want {
		t.Errorf("sent %s", sent())
	}
	a := set("a."+zone, "A", 60, "192.0.2.1")
	if got, err := s.Get(t.Context(), zone, a.Name, "A"); err != nil || !got.Same(a) || got.TTL != 60 {
		t.Errorf("got %v, %v", got, err)
	}
	if want := `{"action":"get","zone":"zone.example","name":"a.zone.example","type":"A"}` + "\n"; sent() != want {
		t.Errorf("sent %s", sent())
	}
	if err := s.Replace(t.Context(), zone, none(a), a); err != nil {
		t.Error(err)
	}
	if want := `{"action":"replace","zone":"zone.example","name":"a.zone.example","type":"A",` +
		`"old":{"ttl":0,"values":[]},"new":{"ttl":60,"values":["192.0.2.1"]}}` + "\n"; sent() != want {
		t.Errorf("sent %s", sent())
	}
	found, err := s.Check(t.Context(), "")
	if found != s.path+" answers" || err != nil || sent() != `{"action":"check"}`+"\n" {
		t.Errorf("%q, %v; sent %s", found, err, sent())
	}
}

func TestScriptAnswers(t *testing.T) {
	for lines, want := range map[string]error{
		`echo '{"error":"changed"}'`:         ErrChanged,
		`echo '{"error":"no_zone"}'`:         ErrNoZone,
		`echo '{"error":"changed"}'; exit 1`: errors.New("exit status 1"),
		`echo '{"error":"quota used up"}'`:   errors.New(`the error "quota used up"`),
		`echo token rejected >&2; exit 3`:    errors.New(`exit status 3; it wrote "token rejected"`),
		`echo warning >&2; echo '{'`:         errors.New(`it wrote "warning"`),
		`kill -9 $$`:                         errors.New("signal: killed"),
		`true`:                               errors.New("one JSON object"),
		`echo null`:                          errors.New("one JSON object"),
		`echo '{}{}'`:                        errors.New("one JSON object"),
		`echo '{} x'`:                        errors.New("one JSON object"),
		`echo '{"Zones":"zone.example"}'`:    errors.New("one JSON object"),
		`echo '{"zone":"zone.example","values":[],"ttl":-1}'`:              errors.New("the TTL -1"),
		`echo '{"zone":"zone.example","values":[],"ttl":2147483648}'`:      errors.New("the TTL 2147483648"),
		`head -c 262145 /dev/zero | tr '\0' ' '`:                           errors.New("more than 262144 bytes"),
		`head -c 99999 /dev/zero | tr '\0' x >&2; exit 1`:                  errors.New(strings.Repeat("x", stderrLimit) + `"`),
		`sleep 60 & echo '{"zone":"zone.example","values":[]}'`:            errors.New("left behind"),
		`printf '{"zone":"zone.example","values":[]}%262104s' ' '; exit 4`: errors.New("exit status 4"),
	} {
		for _, err := range calls(t.Context(), script(t, lines)) {
			if err == nil || !errors.Is(err, want) && !strings.Contains(err.Error(), want.Error()) {
				t.Errorf("%s: %v", lines, err)
			}
			if (errors.Is(err, ErrChanged) || errors.Is(err, ErrNoZone)) && !errors.Is(err, want) {
				t.Errorf("%s: %v", lines, err)
			}
		}
	}
	// As long as allowed.
	for _, err := range calls(t.Context(), script(t, `printf '{"zone":"zone.example","values":[]}%262109s' ' '`)) {
		if err != nil {
			t.Error(err)
		}
	}
}

func TestScriptWrongAnswers(t *testing.T) {
	for _, wrong := range []string{"", "example", "otherzone.example", "other.example", "below.a.zone.example"} {
		if got, err := script(t, `echo '{"zone":"`+wrong+`"}'`).Zone(t.Context(), "a."+zone); err == nil {
			t.Errorf("the zone is %q", got)
		}
	}
	for _, wrong := range []string{`{}`, `{"values":["nonsense"]}`, `{"values":["2001:db8::1"]}`,
		`{"values":"192.0.2.1"}`} {
		if got, err := script(t, "echo '"+wrong+"'").Get(t.Context(), zone, zone, "A"); err == nil {
			t.Errorf("got %v of %s", got, wrong)
		}
	}
}

// A script sees nothing of the environment of this process.
func TestScriptEnvironment(t *testing.T) {
	t.Setenv("WAYMARK_SECRET", "secret")
	s := script(t, `env >environment; pwd >folder; echo '{}'`)
	if _, err := s.run(t.Context(), request{Action: "check"}); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(filepath.Join(filepath.Dir(s.path), "environment"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(content)) {
		name, _, _ := strings.Cut(line, "=")
		if name != "PATH" && name != "LANG" && name != "PWD" { // PWD is the shell's own
			t.Errorf("the script sees %s", line)
		}
	}
}

// alive reports whether the process is there whose id a file has.
func alive(t *testing.T, file string) bool {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(content)))
	if err != nil {
		t.Fatal(err)
	}
	// A killed child of a killed script is nobody's until init has collected it.
	state, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return syscall.Kill(pid, 0) == nil && err == nil && !strings.Contains(string(state), ") Z ")
}

// A run ends with its time or its context, and with all processes that it started.
func TestScriptEnds(t *testing.T) {
	const lines = `sleep 600 >/dev/null 2>&1 & echo $! >child; `
	ended := func(s *Script) {
		t.Helper()
		child := filepath.Join(filepath.Dir(s.path), "child")
		storetest.Eventually(t, "the script's child ends", func() bool { return !alive(t, child) })
	}
	s := script(t, lines+`echo '{}'`)
	if _, err := s.run(t.Context(), request{Action: "check"}); err != nil {
		t.Error(err)
	}
	ended(s)
	s = script(t, lines+`echo >started; wait`)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		defer cancel()
		storetest.Eventually(t, "the script starts", func() bool {
			_, err := os.Stat(filepath.Join(filepath.Dir(s.path), "started"))
			return err == nil
		})
	}()
	if _, err := s.run(ctx, request{Action: "check"}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	ended(s)
	s = script(t, `yes; echo '{}'`)
	s.timeout = 10 * time.Millisecond
	if _, err := s.run(t.Context(), request{Action: "check"}); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

// At most maxScripts run; whoever waits for a place waits no longer than its context.
func TestScriptPlaces(t *testing.T) {
	s := script(t, `echo '{}'`)
	for range maxScripts {
		s.running <- struct{}{}
	}
	s.timeout = time.Millisecond
	if _, err := s.run(t.Context(), request{Action: "check"}); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	<-s.running
	s.timeout = scriptTimeout
	if _, err := s.run(t.Context(), request{Action: "check"}); err != nil {
		t.Error(err)
	}
}

func TestNoScript(t *testing.T) {
	dir := t.TempDir()
	plain := filepath.Join(dir, "plain")
	if err := os.WriteFile(plain, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, says := range map[string]string{"provider": "does not begin with /", dir: "not executable",
		plain: "chmod +x", dir + "/absent": "no such file"} {
		if _, err := NewScript(path, nil); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v does not say %q", path, err, says)
		}
	}
}

// Whatever a script answers is read or refused.
func FuzzAnswer(f *testing.F) {
	for _, seed := range []string{`{"zone":"a.example"}`, `{"ttl":60,"values":["a"]}`, `{"error":"changed"}`, `{}`,
		`{"ttl":1e3}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, stdout []byte) {
		a, err := parseAnswer(stdout)
		if err == nil && (a.Error != "" || a.TTL < 0 || a.TTL > maxTTL) {
			t.Errorf("%q is read as %v", stdout, a)
		}
		if err != nil && len(err.Error()) > 10*shownLimit {
			t.Errorf("an error of %d bytes", len(err.Error()))
		}
	})
}
