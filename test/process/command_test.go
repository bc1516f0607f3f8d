package process_test

import (
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A second serve on a SQLite data folder is refused and harms nothing; the
// other commands work beside the first.
func TestSecondServe(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := serve(t, dir, "sqlite")
	l := newLoad(t, s)
	stderr, code := second(t, exec.Command(binary, serveArgs(dir, "sqlite")...))
	if code != 1 || !strings.Contains(stderr, "in use by another waymark serve") {
		t.Errorf("a second serve: exit code %d, %q", code, stderr)
	}
	if out, stderr, code := execute(t, "migrate", "--data-dir", dir); code != 0 || !strings.HasPrefix(out, "schema version ") || stderr != "" {
		t.Errorf("migrate beside a running server: exit code %d, %q, %q", code, out, stderr)
	}
	if out, stderr, code := execute(t, "doctor", "--data-dir", dir); code != 0 || strings.Count(out, " ok, ") != 5 || stderr != "" {
		t.Errorf("doctor beside a running server: exit code %d, %q, %q", code, out, stderr)
	}
	other := s.client(s.token("second@example.com"))
	other.must(t, 201, intent{method: "POST", path: "/apps", body: map[string]any{"name": "Another"}})
	// The first one is unharmed.
	l.owner.create(t, "after")
	v := s.visitor(t)
	v.leadsTo(t, "after", "after-0")
	if a, _, err := v.ask("GET", "fixed-0"); err != nil || a.status != 302 {
		t.Errorf("visit after the refused start: %v, %v", a, err)
	}
	l.answered.Add(1)
	l.sent.Add(1)
	l.counted(t, s)
	s.terminate()
	// Its lock is gone with it.
	serve(t, dir, "sqlite").terminate()
}

// Development mode needs no particular set of roles.
func TestDevelopmentRoles(t *testing.T) {
	t.Parallel()
	database := addressOf(t, "postgres")
	for _, roles := range []string{"api", "executor", "redirect,executor"} {
		s := serve(t, t.TempDir(), database, "--dev", "--roles", roles)
		if strings.Contains(roles, "api") {
			s.eventually("the welcome names the API's address", func() error {
				if !strings.Contains(s.stdout.String(), "API=http://"+s.api+"/v1\n") {
					return fmt.Errorf("output %q", s.stdout.String())
				}
				return nil
			})
		}
		s.terminate()
		if out := s.stdout.String(); !strings.Contains(roles, "api") && out != "" {
			t.Errorf("%s: without an API the welcome is %q", roles, out)
		}
	}
}

// second runs a command that must end by itself and requires its one line.
func second(t *testing.T, cmd *exec.Cmd) (stderr string, code int) {
	t.Helper()
	stdout, stderr, code := finish(t, cmd)
	if code != 1 {
		t.Errorf("exit code %d, want 1", code)
	}
	if strings.Count(stderr, "\n") != 1 || !strings.HasPrefix(stderr, "waymark: ") || len(strings.TrimSpace(stderr)) < 20 {
		t.Errorf("want one clear line on stderr, got:\n%s", stderr)
	}
	if stdout != "" {
		t.Errorf("output %q", stdout)
	}
	return stderr, code
}

// What cannot work ends with one clear line and exit code 1.
func TestOneLine(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	write(t, file, "")
	config := func(name, text string) []string {
		path := filepath.Join(dir, name+".yaml")
		write(t, path, text)
		return []string{"serve", "--config", path}
	}
	data := filepath.Join(dir, "data")
	for _, test := range []struct {
		name string
		args []string
		env  string
		want string // part of the line
	}{
		{name: "unknown flag", args: []string{"serve", "--nonsense"}, want: "--nonsense"},
		{name: "unknown command", args: []string{"server"}, want: "server"},
		{name: "argument too many", args: []string{"serve", "now"}, want: "now"},
		{name: "not a number", args: []string{"serve", "--limit-scale=abc"}, want: "--limit-scale"},
		{name: "not above zero", args: []string{"serve", "--limit-scale=0"}, want: "--limit-scale"},
		{name: "environment", args: []string{"serve", "--environment=test"}, want: "--environment"},
		{name: "role", args: []string{"serve", "--roles=api,web"}, want: `"web"`},
		{name: "roles on SQLite", args: []string{"serve", "--roles=api"}, want: "PostgreSQL"},
		{name: "log level", args: []string{"serve", "--log-level=loud"}, want: "--log-level"},
		{name: "zone", args: []string{"serve", "--platform-zone=a b"}, want: "--platform-zone"},
		{name: "proxies", args: []string{"serve", "--trusted-proxies=everyone"}, want: "--trusted-proxies"},
		{name: "half of OIDC", args: []string{"serve", "--oidc-issuer=https://example.com"}, want: "--oidc-audience"},
		{name: "missing flag", args: []string{"session", "issue"}, want: "--email"},
		{name: "not an address", args: []string{"session", "issue", "--data-dir", data, "--email", "x"}, want: "e-mail"},
		{name: "environment variable", args: []string{"serve"}, env: "WAYMARK_LIMIT_SCALE=abc", want: "WAYMARK_LIMIT_SCALE"},
		{name: "unknown key", args: config("unknown", "limit-scael: 2\n"), want: `"limit-scael"`},
		{name: "nested key", args: config("nested", "limit-scale:\n  api: 2\n"), want: "limit-scale"},
		{name: "bad value in file", args: config("value", "limit-scale: abc\n"), want: "--limit-scale"},
		{name: "not YAML", args: config("broken", "roles: [api\ndev: true\n"), want: "broken.yaml"},
		{name: "not a mapping", args: config("list", "- dev\n"), want: "list.yaml"},
		{name: "no config file", args: []string{"serve", "--config", filepath.Join(dir, "none.yaml")}, want: "none.yaml"},
		{name: "below a file", args: []string{"serve", "--data-dir", filepath.Join(file, "data")}, want: "data folder"},
		{name: "a file", args: []string{"serve", "--data-dir", file}, want: "data folder"},
		{name: "api port", args: serveArgs(data, "sqlite", "--api-addr", taken.Addr().String()), want: "address already in use"},
		{name: "public port", args: serveArgs(data, "sqlite", "--public-addr", taken.Addr().String()), want: "address already in use"},
		{name: "metrics port", args: serveArgs(data, "sqlite", "--metrics-addr", taken.Addr().String()), want: "address already in use"},
		{name: "no such port", args: serveArgs(data, "sqlite", "--api-addr", "127.0.0.1:99999"), want: "99999"},
		{name: "engine of events", args: serveArgs(data, "sqlite", "--events", "files"), want: "--events"},
	} {
		t.Run(test.name, func(t *testing.T) {
			cmd := exec.Command(binary, test.args...)
			cmd.Dir = dir
			cmd.Env = environment(test.env)
			if stderr, _ := second(t, cmd); !strings.Contains(stderr, test.want) {
				t.Errorf("the line does not name %s: %s", test.want, stderr)
			}
		})
	}
}

// A database that does not answer is told without its password.
func TestDatabaseUnreachable(t *testing.T) {
	t.Parallel()
	const secret = "s3cr3t-Pa55"
	for name, address := range map[string]string{
		"refused":            "postgres://waymark:" + secret + "@127.0.0.1:1/waymark",
		"unknown host":       "postgres://waymark:" + secret + "@no-such-host.invalid/waymark",
		"bad port":           "postgres://waymark:" + secret + "@127.0.0.1:port/waymark",
		"bad escape":         "postgres://waymark:" + secret + "%zz@127.0.0.1/waymark",
		"other engine":       "mysql://waymark:" + secret + "@127.0.0.1/waymark",
		"password parameter": "postgres://127.0.0.1:1/waymark?user=waymark&sslmode=disable&password=" + secret,
		"keywords":           "host=127.0.0.1 port=1 password=" + secret,
	} {
		t.Run(name, func(t *testing.T) {
			for _, args := range [][]string{serveArgs(t.TempDir(), address), {"session", "issue", "--data-dir", t.TempDir(), "--database", address, "--email", "a@example.com"}} {
				if stderr, _ := second(t, exec.Command(binary, args...)); strings.Contains(stderr, secret) {
					t.Errorf("the password is printed: %s", stderr)
				}
			}
		})
	}
	// A password that the server refuses is not told either.
	u, err := url.Parse(addressOf(t, "postgres"))
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.UserPassword("nobody-of-this-name", secret)
	if stderr, _ := second(t, exec.Command(binary, serveArgs(t.TempDir(), u.String())...)); strings.Contains(stderr, secret) || !strings.Contains(stderr, "nobody-of-this-name") {
		t.Errorf("refused by the server: %s", stderr)
	}
}

// inNamespace returns a command that runs the program in a mount namespace of
// its own, after a script that mounts what it needs at $1. Where that is not
// permitted the test fails.
func inNamespace(mount, folder string, args ...string) *exec.Cmd {
	cmd := exec.Command("sh", append([]string{"-euc", "mount --make-rprivate /\n" + mount + "\nshift\nexec \"$@\"", "sh", folder, binary}, args...)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
	return cmd
}

// A data folder that cannot be written is told at the start.
func TestDataFolder(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ mount, want string }{
		"read-only":        {`mount -t tmpfs -o size=1m,mode=0700 none "$1"; mount -o remount,ro "$1"`, "read-only"},
		"full":             {`mount -t tmpfs -o size=1m,mode=0700 none "$1"; dd if=/dev/zero of="$1/fill" bs=64k 2>/dev/null || :`, "no space"},
		"too little space": {`mount -t tmpfs -o size=1m,mode=0700 none "$1"; dd if=/dev/zero of="$1/fill" bs=64k count=12 2>/dev/null`, "full"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if stderr, _ := second(t, inNamespace(test.mount, dir, serveArgs(dir, "sqlite")...)); !strings.Contains(stderr, test.want) {
				t.Errorf("the line does not say %q: %s", test.want, stderr)
			}
		})
	}
}

// A command that looks at an installation makes none where the folder's name
// is misspelt.
func TestMisspeltFolder(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "misspelt")
	for _, args := range [][]string{{"doctor"}, {"session", "revoke", "--session", "x"}} {
		stderr, _ := second(t, exec.Command(binary, append(args, "--data-dir", dir)...))
		if !strings.Contains(stderr, "there is no installation in "+dir) {
			t.Errorf("%v: %s", args, stderr)
		}
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("the folder was made: %v", err)
	}
}

// A flag comes before the environment, and that before the file.
func TestPrecedence(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "config.yaml")
	write(t, path, "data-dir: "+filepath.Join(dir, "from-file")+"\n")
	for _, test := range []struct {
		want      string
		env, args []string
	}{
		{want: "from-file", args: []string{"--config", path}},
		{want: "from-file", env: []string{"WAYMARK_CONFIG=" + path}},
		{want: "from-env", args: []string{"--config", path}, env: []string{"WAYMARK_DATA_DIR=" + filepath.Join(dir, "from-env")}},
		{want: "from-flag", args: []string{"--config", path, "--data-dir", filepath.Join(dir, "from-flag")}},
		{want: "from-flag", args: []string{"--config", path, "--data-dir", filepath.Join(dir, "from-flag")}, env: []string{"WAYMARK_DATA_DIR=" + filepath.Join(dir, "from-env")}},
	} {
		cmd := exec.Command(binary, append([]string{"migrate"}, test.args...)...)
		cmd.Env = environment(test.env...)
		out, stderr, code := finish(t, cmd)
		made, err := filepath.Glob(filepath.Join(dir, "*", "waymark.db"))
		if want := filepath.Join(dir, test.want, "waymark.db"); err != nil || code != 0 || len(made) != 1 || made[0] != want {
			t.Errorf("%v %v: exit code %d, %q, %q, made %q; want %s", test.env, test.args, code, out, stderr, made, want)
		}
		for _, file := range made {
			if err := os.RemoveAll(filepath.Dir(file)); err != nil {
				t.Fatal(err)
			}
		}
	}
	// The same for a flag of serve, a boolean and a list.
	write(t, path, "environment: elsewhere\nroles: [api, nothing]\n")
	for _, test := range []struct{ env, args []string }{
		{env: []string{"WAYMARK_ENVIRONMENT=staging"}},
		{args: []string{"--environment", "staging"}, env: []string{"WAYMARK_ENVIRONMENT=elsewhere"}},
	} {
		cmd := exec.Command(binary, append([]string{"serve", "--config", path}, test.args...)...)
		cmd.Env = environment(test.env...)
		if stderr, _ := second(t, cmd); !strings.Contains(stderr, `"nothing" is none of`) {
			t.Errorf("%v %v: %s", test.env, test.args, stderr)
		}
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
