package process_test

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
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
	if out, stderr, code := execute(t, "migrate", "--data-dir", dir); code != 0 ||
		!strings.HasPrefix(out, "schema version ") || stderr != "" {
		t.Errorf("migrate beside a running server: exit code %d, %q, %q", code, out, stderr)
	}
	s.eventually("doctor finds nothing wrong beside a running server", func() error {
		out, stderr, code := finish(t, doctor(dir, "sqlite"))
		if code != 0 || stderr != "" || sum(out, "disk") != "12 ok, 0 warnings, 0 failed\n" {
			return fmt.Errorf("exit code %d, %s%s", code, out, stderr)
		}
		return nil
	})
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
	if s.metric("waymark_database_log_bytes") == 0 {
		t.Error("the log of the database is told to be empty while it is written")
	}
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
	want := 1
	if strings.HasSuffix(stderr, " --help)\n") { // the command line itself
		want = 2
	}
	if code != want {
		t.Errorf("exit code %d, want %d", code, want)
	}
	if strings.Count(stderr, "\n") != 1 || !strings.HasPrefix(stderr, "waymark: ") ||
		len(strings.TrimSpace(stderr)) < 20 {
		t.Errorf("want one clear line on stderr, got:\n%s", stderr)
	}
	if stdout != "" {
		t.Errorf("output %q", stdout)
	}
	return stderr, code
}

// What cannot work ends with one clear line and exit code 1, a command line that cannot be understood
// with 2.
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
	data, made := filepath.Join(dir, "data"), filepath.Join(dir, "made")
	if _, stderr, code := execute(t, "migrate", "--data-dir", made); code != 0 {
		t.Fatal(stderr)
	}
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
		{name: "address of the API", args: []string{"serve", "--api-url=https://api.example.com/x"}, want: "--api-url"},
		{name: "rule", args: []string{"serve", "--oidc-issuer=https://id.example", "--oidc-audience=x", "--oidc-allow=domain=x"},
			want: "--oidc-allow"},
		{name: "rules and everybody", args: []string{"serve", "--oidc-issuer=https://id.example", "--oidc-audience=x",
			"--oidc-allow=group=x", "--auth-auto-provision"}, want: "--auth-auto-provision"},
		{name: "rule without an issuer", args: []string{"serve", "--oidc-allow=group=x"}, want: "--oidc-issuer"},
		{name: "secret that is not there", args: []string{"serve", "--oidc-issuer=https://id.example", "--oidc-audience=x",
			"--oidc-client-secret-file=" + filepath.Join(dir, "none")}, want: "--oidc-client-secret-file"},
		{name: "role", args: []string{"serve", "--roles=api,web"}, want: `"web"`},
		{name: "roles on SQLite", args: []string{"serve", "--roles=api"}, want: "PostgreSQL"},
		{name: "log level", args: []string{"serve", "--log-level=loud"}, want: "--log-level"},
		{name: "zone", args: []string{"serve", "--platform-zone=a b"}, want: "--platform-zone"},
		{name: "proxies", args: []string{"serve", "--trusted-proxies=everyone"}, want: "--trusted-proxies"},
		{name: "half of OIDC", args: []string{"serve", "--oidc-issuer=https://example.com"}, want: "--oidc-audience"},
		{name: "missing flag", args: []string{"session", "issue"}, want: "--email"},
		{name: "not an address", args: []string{"session", "issue", "--data-dir", made, "--email", "x"},
			want: "e-mail"},
		{name: "value missing", args: []string{"serve", "--data-dir"}, want: "--data-dir: a value is missing (see"},
		{name: "values missing", args: []string{"serve", "--roles"}, want: "--roles: a value is missing (see"},
		{name: "flag for a value", args: []string{"serve", "--data-dir", "--dev"},
			want: "a value is missing before --dev; if --dev is the value, write --data-dir=--dev"},
		{name: "negative number", args: []string{"serve", "--limit-scale", "-1"},
			want: "a value is missing before -1; if -1 is the value, write --limit-scale=-1"},
		{name: "not a duration", args: []string{"serve", "--job-lease", "5"},
			want: `--job-lease: "5" is not a duration such as 30s or 5m`},
		{name: "neither true nor false", args: []string{"serve", "--dev=maybe"},
			want: `"maybe" is neither true nor false`},
		{name: "nothing of a value", args: []string{"serve", ""}, want: `unexpected argument ""`},
		{name: "misspelt flag", args: []string{"serve", "--data-dri", data}, want: `did you mean "--data-dir"?`},
		{name: "help for no command", args: []string{"help", "nonsense"}, want: `"nonsense"`},
		{name: "environment variable", args: []string{"serve"}, env: "WAYMARK_LIMIT_SCALE=abc",
			want: `"abc" is not a number (set by WAYMARK_LIMIT_SCALE)`},
		{name: "misspelt variable", args: []string{"serve"}, env: "WAYMARK_PLATFROM_ZONE=x",
			want: "there is no setting WAYMARK_PLATFROM_ZONE; did you mean WAYMARK_PLATFORM_ZONE?"},
		{name: "misspelt variable of another command", args: []string{"version"}, env: "WAYMARK_EMIAL=x",
			want: "did you mean WAYMARK_EMAIL?"},
		{name: "no address of the API", args: serveArgs(data, "sqlite", "--api-addr", ""), want: "--api-addr is empty"},
		{name: "no address of the redirector", args: serveArgs(data, "sqlite", "--public-addr="),
			want: "--public-addr is empty"},
		{name: "empty variable", args: []string{"serve", "--data-dir", data}, env: "WAYMARK_API_ADDR=",
			want: "--api-addr is empty"},
		{name: "no roles", args: []string{"serve", "--roles="}, want: "--roles is empty"},
		{name: "country of strangers", args: serveArgs(data, "sqlite", "--country-header", "CF-IPCountry"),
			want: "--country-header needs --trusted-proxies"},
		{name: "no countries", args: serveArgs(data, "sqlite", "--geoip", filepath.Join(dir, "none.mmdb")),
			want: "--geoip"},
		{name: "no asset store", args: serveArgs(data, "sqlite", "--asset-store", "ftp://host"), want: "--asset-store"},
		{name: "no resolver", args: serveArgs(data, "sqlite", "--dns-resolver", "host"), want: "--dns-resolver"},
		{name: "no address of probes", args: serveArgs(data, "sqlite", "--probe-address", "host:443"),
			want: "--probe-address"},
		{name: "no authority of probes", args: serveArgs(data, "sqlite", "--probe-ca", filepath.Join(dir, "none.pem")),
			want: "--probe-ca"},
		{name: "database away", args: serveArgs(data, "postgres://127.0.0.1:1/waymark"), want: "open database"},
		{name: "doctor below a file", args: []string{"doctor", "--data-dir", filepath.Join(file, "data")},
			want: "not a directory"},
		{name: "unknown key", args: config("unknown", "limit-scael: 2\n"),
			want: `no setting "limit-scael"; did you mean limit-scale?`},
		{name: "nested key", args: config("nested", "limit-scale:\n  api: 2\n"), want: "limit-scale"},
		{name: "bad value in file", args: config("value", "limit-scale: abc\n"), want: "--limit-scale"},
		{name: "not YAML", args: config("broken", "roles: [api\ndev: true\n"), want: "broken.yaml"},
		{name: "not a mapping", args: config("list", "- dev\n"), want: "list.yaml"},
		{name: "no config file", args: []string{"serve", "--config", filepath.Join(dir, "none.yaml")},
			want: "none.yaml"},
		{name: "below a file", args: serveArgs(filepath.Join(file, "data"), "sqlite"), want: "data folder"},
		{name: "a file", args: serveArgs(file, "sqlite"), want: "data folder"},
		{name: "api port", args: serveArgs(data, "sqlite", "--api-addr", taken.Addr().String()),
			want: "--api-addr " + taken.Addr().String() + ": bind: address already in use"},
		{name: "public port", args: serveArgs(data, "sqlite", "--public-addr", taken.Addr().String()),
			want: "--public-addr " + taken.Addr().String() + ": bind: address already in use"},
		{name: "metrics port", args: serveArgs(data, "sqlite", "--metrics-addr", taken.Addr().String()),
			want: "--metrics-addr " + taken.Addr().String() + ": bind: address already in use"},
		{name: "no such port", args: serveArgs(data, "sqlite", "--api-addr", "127.0.0.1:99999"), want: "99999"},
		{name: "unknown TLS", args: serveArgs(data, "sqlite", "--tls", "on"),
			want: `--tls "on" is neither off nor acme`},
		{name: "HSTS without TLS", args: serveArgs(data, "sqlite", "--hsts", "1h"), want: "--hsts needs --tls=acme"},
		{name: "API host without TLS", args: serveArgs(data, "sqlite", "--api-host", "api.example.com"),
			want: "--api-host needs --tls=acme"},
		{name: "plain listener without TLS", args: serveArgs(data, "sqlite", "--http-addr", "127.0.0.1:0"),
			want: "--http-addr needs --tls=acme"},
		{name: "TLS in development", args: []string{"serve", "--data-dir", data, "--dev", "--tls", "acme"},
			want: "--tls=acme cannot be used with --dev"},
		{name: "no directory", args: serveArgs(data, "sqlite", "--tls", "acme", "--acme-directory",
			"http://ca.example"), want: "--acme-directory"},
		{name: "no e-mail", args: serveArgs(data, "sqlite", "--tls", "acme", "--acme-email", "Ann <a@example.com>"),
			want: "--acme-email"},
		{name: "no roots", args: serveArgs(data, "sqlite", "--tls", "acme", "--acme-ca", file), want: "--acme-ca"},
		{name: "API on the assets host", args: serveArgs(data, "sqlite", "--tls", "acme", "--api-host",
			"assets.localhost"), want: "--api-host"},
		{name: "http port", args: serveArgs(data, "sqlite", "--tls", "acme", "--http-addr", taken.Addr().String()),
			want: "--http-addr " + taken.Addr().String() + ": bind: address already in use"},
		{name: "no collector", args: serveArgs(data, "sqlite", "--trace-endpoint", "localhost:4318"), want: "--trace-endpoint"},
		{name: "more than all calls", args: serveArgs(data, "sqlite", "--trace-calls", "1.1"), want: "--trace-calls"},
		{name: "less than no visits", args: serveArgs(data, "sqlite", "--trace-visits=-0.1"), want: "--trace-visits"},
		{name: "no share", args: serveArgs(data, "sqlite", "--trace-visits", "NaN"), want: "--trace-visits"},
		{name: "slower than nothing", args: serveArgs(data, "sqlite", "--slow-statement=-1s"), want: "--slow-statement"},
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
	if _, err := os.Stat(data); !os.IsNotExist(err) {
		t.Errorf("a start that failed left the data folder: %v", err)
	}
}

// The program tells what it is, and explains itself.
func TestVersionAndHelp(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"version"}, {"--version"}, {"serve", "--version"}} {
		out, stderr, code := execute(t, args...)
		want := fmt.Sprintf(", schema %d\n", store.NewestSchema)
		if code != 0 || stderr != "" || !strings.HasPrefix(out, "waymark ") || !strings.Contains(out, ", commit ") ||
			!strings.HasSuffix(out, want) {
			t.Errorf("%v: exit code %d, %q, %q", args, code, out, stderr)
		}
	}
	for want, calls := range map[string][][]string{
		"Usage: waymark <command>": {{}, {"help"}, {"--help"}, {"-h"}},
		"Usage: waymark migrate":   {{"help", "migrate"}, {"migrate", "--help"}, {"migrate", "-h"}},
	} {
		for _, args := range calls {
			if out, stderr, code := execute(t, args...); code != 0 || stderr != "" || !strings.HasPrefix(out, want) {
				t.Errorf("%v: exit code %d, %q, %q", args, code, out, stderr)
			}
		}
	}
}

// Only migrate and serve change the schema; the other commands refuse one that
// is not theirs, and every command one that is newer.
func TestSchemas(t *testing.T) {
	each(t, func(t *testing.T, database string) {
		dir := t.TempDir()
		if database == "sqlite" {
			write(t, filepath.Join(dir, "waymark.db"), "")
		} else {
			database = storetest.Empty(t, "postgres")
		}
		refused := func(want string, commands ...[]string) {
			t.Helper()
			for _, args := range commands {
				cmd := exec.Command(binary, append(args, "--data-dir", dir, "--database", database)...)
				if stderr, _ := second(t, cmd); stderr != "waymark: "+want+"\n" {
					t.Errorf("%v: %q, want %q", args, stderr, want)
				}
			}
		}
		file := filepath.Join(t.TempDir(), "file")
		others := [][]string{{"session", "issue", "--email", "a@example.com"}, {"session", "list"},
			{"session", "revoke", "--session", "x"}, {"users", "add", "--email", "a@example.com"}, {"users", "list"},
			{"users", "disable", "x"}, {"users", "enable", "x"}, {"events", "status"}, {"events", "copy", "--to", "database"},
			{"events", "clear", "--engine", "database"}, {"events", "erase", "--link", "x"},
			{"events", "export", "--parquet", file, "--app", "x", "--start", "2026-11-01", "--end", "2026-11-02"},
			{"backup", file}, append(serveArgs(dir, database), "--no-migrate")}
		if database == "sqlite" {
			others = append(others, []string{"move", "--to", storetest.Empty(t, "postgres")})
		}
		refused("the database is empty: run waymark migrate", others...)
		if out, stderr, code := execute(t, "migrate", "--data-dir", dir, "--database", database); code != 0 {
			t.Fatal(out, stderr, code)
		}
		db := open(t, dir, database)
		execute := func(statement string, version int64) {
			t.Helper()
			if _, err := db.Exec(t.Context(), statement, version); err != nil {
				t.Fatal(err)
			}
		}
		execute("DELETE FROM goose_db_version WHERE version_id = ?", store.NewestSchema)
		refused(fmt.Sprintf("the database has schema %d, this program has %d: run waymark migrate",
			store.NewestSchema-1, store.NewestSchema), others...)
		execute("INSERT INTO goose_db_version (version_id, is_applied) VALUES (?, 1 = 1)", 99)
		refused(fmt.Sprintf("the database has schema 99, this program has only %d: use the newer waymark that "+
			"migrated it", store.NewestSchema),
			append(others, []string{"migrate"}, serveArgs(dir, database))...)
		if version, err := db.Schema(t.Context()); err != nil || version != 99 {
			t.Errorf("schema %d, %v", version, err)
		}
		if _, err := os.Stat(file); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("a command that was refused made a file: %v", err)
		}
	})
}

// With --no-migrate a server starts where the schema is its own, and makes no installation.
func TestNoMigrate(t *testing.T) {
	each(t, func(t *testing.T, database string) {
		dir := t.TempDir()
		if database == "sqlite" {
			none := filepath.Join(dir, "none")
			if stderr, _ := second(t, exec.Command(binary, serveArgs(none, database, "--no-migrate")...)); !strings.Contains(stderr,
				"there is no installation in "+none) {
				t.Errorf("without an installation: %q", stderr)
			}
			if _, err := os.Stat(none); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("a start that was refused made the folder: %v", err)
			}
		}
		if _, stderr, code := execute(t, "migrate", "--data-dir", dir, "--database", database); code != 0 {
			t.Fatal(stderr)
		}
		s := serve(t, dir, database, "--no-migrate")
		newOwner(t, s.client(s.token("owner@example.com"))).create(t, "one")
		s.terminate()
	})
}

// An empty --metrics-addr means no metrics, and a server that can make no
// domains says so.
func TestWithoutMetricsAndZone(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ env, args []string }{
		"flag":     {args: []string{"--metrics-addr", ""}},
		"variable": {env: []string{"WAYMARK_METRICS_ADDR="}},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := exec.Command(binary, append([]string{"serve", "--data-dir", t.TempDir(), "--api-addr", "127.0.0.1:0",
				"--public-addr", "127.0.0.1:0"}, test.args...)...)
			cmd.Env = environment(test.env...)
			c := launch(t, cmd)
			eventually(t, "the API listens", func() error {
				if !strings.Contains(c.stderr.String(), "msg=listening what=api") {
					return errors.New("no line in the log")
				}
				return nil
			})
			c.terminate()
			if log := c.stderr.String(); strings.Contains(log, "what=metrics") ||
				!strings.Contains(log, "level=WARN msg=\"without --platform-zone, --connect-cname or --connect-ips no domain can be created") {
				t.Errorf("log:\n%s", log)
			}
		})
	}
}

// A variable that no misspelt setting explains may be another program's.
func TestForeignVariable(t *testing.T) {
	t.Parallel()
	cmd := exec.Command(binary, "migrate", "--data-dir", t.TempDir())
	cmd.Env = environment("WAYMARK_SERVICE_HOST=10.0.0.1")
	if out, stderr, code := finish(t, cmd); code != 0 || !strings.HasPrefix(out, "schema version ") ||
		stderr != "waymark: there is no setting WAYMARK_SERVICE_HOST; it is ignored\n" {
		t.Errorf("exit code %d, %q, %q", code, out, stderr)
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
			for _, args := range [][]string{serveArgs(t.TempDir(), address),
				{"session", "issue", "--data-dir", t.TempDir(), "--database", address, "--email", "a@example.com"}} {
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
	if stderr, _ := second(t, exec.Command(binary, serveArgs(t.TempDir(), u.String())...)); strings.Contains(stderr,
		secret) || !strings.Contains(stderr, "nobody-of-this-name") {
		t.Errorf("refused by the server: %s", stderr)
	}
}

// inNamespace returns a command that runs the program in a mount namespace of
// its own, after a script that mounts what it needs at $1. Where that is not
// permitted the test fails.
func inNamespace(mount, folder string, args ...string) *exec.Cmd {
	cmd := exec.Command("sh", append([]string{"-euc", "mount --make-rprivate /\n" + mount + "\nshift\nexec \"$@\"",
		"sh", folder, binary}, args...)...)
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
			if stderr, _ := second(t, inNamespace(test.mount, dir,
				serveArgs(dir, "sqlite")...)); !strings.Contains(stderr, test.want) {
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

// An installation that lost its database is not taken for a new one. Folders that are
// there and empty are none.
func TestMissingDatabase(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"waymark.db-wal", "session-key.json", "assets/images", "clicks/1", "events/segments", ""} {
		dir := t.TempDir()
		for _, folder := range []string{"assets", "clicks", "events"} {
			if err := os.Mkdir(filepath.Join(dir, folder), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		if file == "" {
			if _, stderr, code := execute(t, "migrate", "--data-dir", dir); code != 0 {
				t.Error(stderr)
			}
			continue
		}
		write(t, filepath.Join(dir, file), "")
		for _, args := range [][]string{serveArgs(dir, "sqlite"), {"migrate", "--data-dir", dir}} {
			if stderr, _ := second(t, exec.Command(binary, args...)); !strings.Contains(stderr, "but no waymark.db. If a restore ") {
				t.Errorf("%s is there, %s: %s", file, args[0], stderr)
			}
		}
		if _, err := os.Stat(filepath.Join(dir, "waymark.db")); !os.IsNotExist(err) {
			t.Errorf("%s is there, and a database was made: %v", file, err)
		}
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
		{want: "from-env", args: []string{"--config", path},
			env: []string{"WAYMARK_DATA_DIR=" + filepath.Join(dir, "from-env")}},
		{want: "from-flag", args: []string{"--config", path, "--data-dir", filepath.Join(dir, "from-flag")}},
		{want: "from-flag", args: []string{"--config", path, "--data-dir", filepath.Join(dir, "from-flag")},
			env: []string{"WAYMARK_DATA_DIR=" + filepath.Join(dir, "from-env")}},
	} {
		cmd := exec.Command(binary, append([]string{"migrate"}, test.args...)...)
		cmd.Env = environment(test.env...)
		out, stderr, code := finish(t, cmd)
		made, err := filepath.Glob(filepath.Join(dir, "*", "waymark.db"))
		if want := filepath.Join(dir, test.want, "waymark.db"); err != nil || code != 0 || len(made) != 1 ||
			made[0] != want {
			t.Errorf("%v %v: exit code %d, %q, %q, made %q; want %s", test.env, test.args, code, out, stderr, made,
				want)
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
