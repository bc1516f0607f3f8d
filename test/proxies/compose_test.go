package proxies_test

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/waymarkhq/waymark/internal/apitest"
	"github.com/waymarkhq/waymark/internal/eventstore/clickhouse/clickhousetest"
	"github.com/waymarkhq/waymark/internal/store/storetest"
)

// composeDir has the compose files.
const composeDir = "../../deploy/compose"

// service is one of a compose file, as docker-compose reads it.
type service struct {
	Image       string
	Command     any
	Environment map[string]string
	Healthcheck struct{ Test []string }
	ReadOnly    bool     `yaml:"read_only"`
	CapDrop     []string `yaml:"cap_drop"`
	SecurityOpt []string `yaml:"security_opt"`
	Volumes     []string
}

type composition struct {
	Services map[string]service
	Networks map[string]struct {
		Internal bool
		IPAM     struct{ Config []struct{ Subnet string } }
	}
}

// setting is a variable of a compose file; one of them says that it must be given, and what it is.
var setting = regexp.MustCompile(`\$\{(\w+)(:\?)?`)

// compose reads a compose file with docker-compose, given its .env, without which it is refused.
func compose(t *testing.T, name string, variables map[string]string) (c composition) {
	t.Helper()
	if _, err := exec.LookPath("docker-compose"); err != nil {
		t.Fatalf("this test needs docker-compose (scripts/tools installs it): %v", err)
	}
	file := filepath.Join(composeDir, name)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	required := map[string]bool{}
	for _, m := range setting.FindAllStringSubmatch(string(text), -1) {
		required[m[1]] = required[m[1]] || m[2] != ""
	}
	given := map[string]bool{}
	dotEnv := ""
	for variable, value := range variables {
		given[variable] = true
		dotEnv += variable + "=" + value + "\n"
	}
	if !maps.Equal(required, given) {
		t.Errorf("%s wants %v, given are %v", name, required, given)
	}
	config := func(dotEnv string) ([]byte, error) {
		path := filepath.Join(t.TempDir(), ".env")
		write(t, path, dotEnv)
		cmd := exec.Command("docker-compose", "--env-file", path, "--file", file, "config")
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}
		return cmd.CombinedOutput()
	}
	if out, err := config(""); err == nil || !strings.Contains(string(out), " such as ") && !strings.Contains(string(out), "a random word") {
		t.Errorf("%s without settings: %v\n%s", name, err, out)
	}
	out, err := config(dotEnv)
	if err == nil {
		err = yaml.Unmarshal(out, &c)
	}
	if err != nil {
		t.Fatalf("%s: %v\n%s", name, err, out)
	}
	for name, s := range c.Services {
		if s.Image == "waymark" && (!s.ReadOnly || !slices.Equal(s.CapDrop, []string{"ALL"}) ||
			!slices.Contains(s.SecurityOpt, "no-new-privileges:true")) {
			t.Errorf("%s may do more than it needs: %+v", name, s)
		}
	}
	return c
}

// environment returns that of a process with the settings of a service, some of them others.
func (s service) environment(t *testing.T, others map[string]string) []string {
	t.Helper()
	settings := maps.Clone(s.Environment)
	maps.Copy(settings, others)
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}
	for name, value := range settings {
		env = append(env, name+"="+value)
	}
	return env
}

// The settings of the single node are those of the program, and serve has nothing to say against them
// but that there is no installation yet, as this test lets it make none.
func TestComposeSingle(t *testing.T) {
	node := compose(t, "single.yaml", map[string]string{"WAYMARK_PLATFORM_ZONE": "localhost",
		"WAYMARK_CONNECT_CNAME": "connect.example.com", "WAYMARK_API_HOST": "api.example.com",
		"WAYMARK_ACME_EMAIL": "ann@example.com"}).Services["waymark"]
	if !slices.Equal(node.Healthcheck.Test, []string{"CMD", "waymark", "health"}) || !slices.Equal(node.Volumes, []string{"data:/data:rw"}) {
		t.Errorf("the node is %+v", node)
	}
	cmd := exec.Command(build(t), "serve")
	cmd.Env = node.environment(t, map[string]string{"WAYMARK_DATA_DIR": t.TempDir(), "WAYMARK_NO_MIGRATE": "true"})
	out, err := cmd.CombinedOutput()
	if err == nil || !regexp.MustCompile(`^waymark: there is no installation in \S+: .*\n$`).Match(out) {
		t.Errorf("serve: %v\n%s", err, out)
	}
}

// node is a running process of the cluster.
type node struct {
	*apitest.Journal
	cmd       *exec.Cmd
	listening map[string]string // the addresses of its listeners by their names
}

var anyListener = regexp.MustCompile(`msg=listening what=(\w+) address=(\S+)`)

// The cluster as its files describe it, as processes on this machine: the database is migrated, each
// process is healthy by its own check, Caddy gets certificates for what is served alone, and when a
// redirector is killed under load no visitor notices and no click is lost.
func TestComposeCluster(t *testing.T) {
	variables := map[string]string{"POSTGRES_PASSWORD": "p", "CLICKHOUSE_PASSWORD": "c", "S3_ACCESS_KEY": "id", "S3_SECRET_KEY": "key",
		"WAYMARK_PLATFORM_ZONE": "localhost", "WAYMARK_CONNECT_CNAME": "connect.example.com", "WAYMARK_API_HOST": "api.localhost",
		"ACME_EMAIL": "ann@example.com"}
	c := compose(t, "cluster.yaml", variables)
	objects := s3mem.New()
	if err := objects.CreateBucket("waymark"); err != nil {
		t.Fatal(err)
	}
	s3 := httptest.NewServer(gofakes3.New(objects).Server())
	t.Cleanup(s3.Close)
	// What other containers are, and what the image sets, is here on loopback.
	// Set up as in production, which doctor asks for.
	postgres, err := storetest.StartPostgres("fsync=on", "full_page_writes=on", "synchronous_commit=on")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { postgres.Stop() })
	here := map[string]string{"WAYMARK_DATABASE": postgres.Address, "WAYMARK_DATA_DIR": filepath.Join(t.TempDir(), "data")}
	for name, want := range map[string]string{"WAYMARK_DATABASE": "postgres://waymark:p@postgres/waymark",
		"WAYMARK_EVENTS":          "clickhouse://waymark:c@clickhouse:9000/waymark",
		"WAYMARK_ASSET_STORE":     "s3://waymark/images?endpoint=http://s3:7070&region=us-east-1",
		"WAYMARK_TRUSTED_PROXIES": c.Networks["front"].IPAM.Config[0].Subnet} {
		if got := c.Services["api"].Environment[name]; got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	binary := build(t)
	run := func(s service, others map[string]string, args ...string) ([]byte, error) {
		cmd := exec.Command(binary, args...)
		cmd.Env = s.environment(t, others)
		return cmd.CombinedOutput()
	}
	if out, err := run(c.Services["migrate"], here, fmt.Sprint(c.Services["migrate"].Command)); err != nil || !strings.HasPrefix(string(out), "schema version") {
		t.Fatalf("migrate: %v\n%s", err, out)
	}
	maps.Copy(here, map[string]string{"WAYMARK_EVENTS": clickhousetest.Address(t), "WAYMARK_TRUSTED_PROXIES": "127.0.0.1",
		"WAYMARK_ASSET_STORE": strings.ReplaceAll(c.Services["api"].Environment["WAYMARK_ASSET_STORE"], "http://s3:7070", s3.URL),
		"WAYMARK_LIMIT_SCALE": "1000",
		"WAYMARK_API_ADDR":    "127.0.0.1:0", "WAYMARK_PUBLIC_ADDR": "127.0.0.1:0", "WAYMARK_METRICS_ADDR": "127.0.0.1:0"})
	nodes := map[string]*node{}
	for name, s := range c.Services {
		if s.Image != "waymark" || name == "migrate" {
			continue
		}
		if got := strings.Join(s.Healthcheck.Test, " "); got != "CMD waymark health" {
			t.Errorf("the health check of %s is %q", name, got)
		}
		n := &node{cmd: exec.Command(binary, "serve"), listening: map[string]string{}}
		n.cmd.Env = s.environment(t, here)
		n.Journal = launch(t, n.cmd)
		nodes[name] = n
		eventually(t, name+" listens", func() error {
			for _, m := range anyListener.FindAllStringSubmatch(n.String(), -1) {
				n.listening[m[1]] = m[2]
			}
			if n.listening["metrics"] == "" { // the last one
				return fmt.Errorf("it wrote\n%s", n)
			}
			return nil
		})
		if strings.Contains(n.String(), "there is no setting") {
			t.Errorf("%s: %s", name, n)
		}
		eventually(t, name+" is healthy", func() error {
			out, err := run(s, map[string]string{"WAYMARK_METRICS_ADDR": n.listening["metrics"]}, "health")
			if err != nil {
				err = fmt.Errorf("%w: %s", err, out)
			}
			return err
		})
	}
	if got := slices.Sorted(maps.Keys(nodes)); !slices.Equal(got, []string{"api", "executor", "redirector-1", "redirector-2"}) {
		t.Fatalf("the processes are %q", got)
	}
	first, second := nodes["redirector-1"], nodes["redirector-2"]
	w := &waymark{api: nodes["api"].listening["api"], public: first.listening["public"]}
	token, err := run(c.Services["api"], here, "session", "issue", "--email", "ann@example.com")
	if err != nil {
		t.Fatalf("session issue: %v\n%s", err, token)
	}
	w.token = strings.TrimSpace(string(token))
	// The name of the example is one of the internet, which no test asks.
	doctor := maps.Clone(here)
	doctor["WAYMARK_CONNECT_CNAME"] = ""
	if out, err := run(c.Services["api"], doctor, "doctor"); err != nil {
		t.Errorf("doctor: %v\n%s", err, out)
	}
	app := w.site(t, "shop")

	secure := caddy(t, c.Services["caddy"], map[string]string{"redirector-1:8081": first.listening["public"],
		"redirector-2:8081": second.listening["public"], "api:8080": w.api})
	client := visitor(t, "127.0.0.1", secure)
	visit := func() error {
		r, err := http.NewRequest("GET", "https://shop.localhost/hello", nil)
		if err != nil {
			return err
		}
		r.Header.Set("User-Agent", browser)
		answer, err := client.Do(r)
		if err != nil {
			return err
		}
		defer answer.Body.Close()
		if to := answer.Header.Get("Location"); to != "https://example.com/shop" {
			return fmt.Errorf("status %d, to %q", answer.StatusCode, to)
		}
		_, err = io.Copy(io.Discard, answer.Body)
		return err
	}
	visits := atomic.Int64{}
	eventually(t, "Caddy has a certificate of the hostname", func() error {
		err := visit()
		if err == nil {
			visits.Add(1)
		}
		return err
	})
	for host, want := range map[string]int{"api.localhost/readyz": 200, "assets.localhost/none": 404} {
		eventually(t, host, func() error {
			answer, err := client.Get("https://" + host)
			if err != nil {
				return err
			}
			if answer.Body.Close(); answer.StatusCode != want {
				return fmt.Errorf("status %d", answer.StatusCode)
			}
			return nil
		})
	}
	if answer, err := client.Get("https://unknown.localhost/hello"); err == nil {
		answer.Body.Close()
		t.Errorf("Caddy has a certificate for a hostname that is not served: %d", answer.StatusCode)
	}

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var load sync.WaitGroup
	for range 6 {
		load.Go(func() {
			for ctx.Err() == nil {
				if err := visit(); err != nil {
					t.Errorf("a visit: %v", err)
					return
				}
				visits.Add(1)
			}
		})
	}
	more := func(n int64) {
		enough := visits.Load() + n
		eventually(t, "visits go on", func() error {
			if done := visits.Load(); done < enough {
				return fmt.Errorf("%d of %d", done, enough)
			}
			return nil
		})
	}
	more(200)
	if err := first.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	more(500)
	cancel()
	load.Wait()
	// A visit that the killed one had written down may have been made again.
	eventually(t, "each visit is counted", func() error {
		now := time.Now().UTC()
		totals := w.call(t, "GET", fmt.Sprintf("/analytics/summary?appId=%s&start=%s&end=%s", app,
			now.Add(-time.Hour).Format(time.RFC3339), now.Add(time.Hour).Format(time.RFC3339)), "", nil)["totals"].(map[string]any)
		if clicks := int64(totals["clicks"].(float64)); clicks < visits.Load() || clicks > visits.Load()+6 {
			return fmt.Errorf("%d clicks of %d visits", clicks, visits.Load())
		}
		return nil
	})
}

// caddy starts Caddy with the file of the cluster, which must be valid as it stands; certificates are its own
// instead of an authority's, and other containers are where at says. It returns where it ends TLS.
func caddy(t *testing.T, s service, at map[string]string) string {
	t.Helper()
	file := filepath.Join(composeDir, "Caddyfile")
	dir := t.TempDir()
	env := s.environment(t, map[string]string{"XDG_DATA_HOME": dir, "XDG_CONFIG_HOME": dir})
	validate := exec.Command("caddy", "validate", "--adapter", "caddyfile", "--config", file)
	validate.Env = env
	if out, err := validate.CombinedOutput(); err != nil || strings.Contains(string(out), `"warn"`) {
		t.Errorf("caddy validate: %v\n%s", err, out)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	plain, secure := freePort(t), freePort(t)
	port := func(address string) string { return address[strings.LastIndex(address, ":")+1:] }
	replaced := maps.Clone(at)
	replaced["email {$ACME_EMAIL}"] = fmt.Sprintf("admin off\n\tlocal_certs\n\tskip_install_trust\n\tdefault_bind 127.0.0.1\n"+
		"\thttp_port %s\n\thttps_port %s", port(plain), port(secure))
	replaced["127.0.0.1:9123"] = freePort(t)
	config := string(text)
	for old, new := range replaced {
		if !strings.Contains(config, old) {
			t.Fatalf("the Caddyfile does not name %q", old)
		}
		config = strings.ReplaceAll(config, old, new)
	}
	path := filepath.Join(dir, "Caddyfile")
	write(t, path, config)
	cmd := exec.Command("caddy", "run", "--adapter", "caddyfile", "--config", path)
	cmd.Env = env
	launch(t, cmd)
	return secure
}
