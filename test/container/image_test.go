package container_test

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/waymarkhq/waymark/client"
	"github.com/waymarkhq/waymark/internal/store/storetest"
	"github.com/waymarkhq/waymark/test/program"
)

// config is what an image says of the containers made of it.
type config struct {
	Config struct {
		User, WorkingDir, StopSignal string
		Env, Entrypoint, Cmd         []string
		ExposedPorts, Volumes        map[string]struct{}
		Labels                       map[string]string
	}
	Healthcheck struct {
		Test                           []string
		Interval, Timeout, StartPeriod time.Duration
	}
}

// The image is built as its file says, with the program compiled in a container or before, and is as
// small as it can be; it serves, keeps everything on its volume, and ends in order.
func TestImage(t *testing.T) {
	p := newPodman(t)
	p.build(repository, append(p.golang(), "--tag", "waymark")...)

	var built config
	p.inspect("waymark", &built)
	c := built.Config
	if c.User != "65532:65532" || c.WorkingDir != "/data" || c.StopSignal != "SIGTERM" ||
		!slices.Equal(c.Entrypoint, []string{"waymark"}) || !slices.Equal(c.Cmd, []string{"serve"}) {
		t.Errorf("the image has the configuration %+v", c)
	}
	if want := []string{"PATH=/bin", "TMPDIR=/data", "WAYMARK_DATA_DIR=/data", "WAYMARK_API_ADDR=:8080",
		"WAYMARK_PUBLIC_ADDR=:8081", "WAYMARK_METRICS_ADDR=:8082"}; !slices.Equal(c.Env, want) {
		t.Errorf("the environment is %q", c.Env)
	}
	if got := slices.Sorted(maps.Keys(c.ExposedPorts)); !slices.Equal(got, []string{"8080/tcp", "8081/tcp", "8082/tcp"}) {
		t.Errorf("the ports are %q", got)
	}
	if got := slices.Sorted(maps.Keys(c.Volumes)); !slices.Equal(got, []string{"/data"}) {
		t.Errorf("the volumes are %q", got)
	}
	if c.Labels["org.opencontainers.image.licenses"] != "Apache-2.0" || c.Labels["org.opencontainers.image.title"] != "Waymark" {
		t.Errorf("the labels are %v", c.Labels)
	}
	if h := built.Healthcheck; !slices.Equal(h.Test, []string{"CMD", "waymark", "health"}) || h.Interval != 10*time.Second ||
		h.Timeout != 5*time.Second || h.StartPeriod != 30*time.Second {
		t.Errorf("the health check is %+v", h)
	}
	t.Run("files", func(t *testing.T) { p.files(t) })
	t.Run("prebuilt", func(t *testing.T) { prebuilt(t, p, &built) })
	t.Run("serves", func(t *testing.T) { serves(t, p) })
}

// files checks that the image has the program and its folder, and nothing else.
func (p *podman) files(t *testing.T) {
	root := p.run("image", "mount", "waymark")
	defer p.run("image", "unmount", "waymark")
	got := map[string]int{} // the owners of files by their names
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil || name == root {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		owner := int(info.Sys().(*syscall.Stat_t).Uid)
		got[strings.TrimPrefix(name, root)] = owner
		if info.Mode()&0o022 != 0 {
			t.Errorf("%s can be written by others than its owner: %v", name, info.Mode())
		}
		if size := info.Size(); info.Mode().IsRegular() && (size < 20<<20 || size > 65<<20) {
			t.Errorf("%s has %d MiB", name, size>>20)
		}
		return nil
	})
	want := map[string]int{"/bin": 0, "/bin/waymark": 0, "/data": 65532}
	if err != nil || !maps.Equal(got, want) {
		t.Errorf("the image has %v, %v, want %v", got, err, want)
	}
}

// prebuilt checks that the program of make build gives the same image. No other image is needed for it.
func prebuilt(t *testing.T, p *podman, built *config) {
	context := t.TempDir()
	for _, name := range []string{".dockerignore", "deploy/Containerfile", "deploy/data/.keep"} {
		text, err := os.ReadFile(filepath.Join(repository, name))
		if err == nil {
			err = os.MkdirAll(filepath.Dir(filepath.Join(context, name)), 0o755)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(context, name), text, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(context, "bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := program.Build(filepath.Join(context, "bin")); err != nil {
		t.Fatal(err)
	}
	p.run("rmi", "golang:1.26")
	p.build(context, "--target", "prebuilt", "--tag", "prebuilt")
	var got config
	if p.inspect("prebuilt", &got); !reflect.DeepEqual(&got, built) {
		t.Errorf("the image has the configuration %+v, want %+v", got, built)
	}
}

func serves(t *testing.T, p *podman) {
	if out, err := p.command("run", "--rm", "--network", "none", "--no-healthcheck", "--ulimit", "nofile=4096:4096", "--ulimit",
		"nproc=4096:4096", "waymark", "health").CombinedOutput(); err == nil || !strings.Contains(string(out), "no answer from") {
		t.Errorf("where nothing serves, the health check says %v: %s", err, out)
	}
	start := func() *http.Client {
		p.start("--env", "WAYMARK_PLATFORM_ZONE=localhost", "waymark")
		storetest.Eventually(t, "the container is healthy", func() bool {
			return p.command("healthcheck", "run", "node").Run() == nil
		})
		return p.client()
	}
	browser := start()
	leads := func() string {
		r, err := http.NewRequest("GET", "http://127.0.0.1:8081/hello", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Host = "shop.localhost"
		answer, err := browser.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		return answer.Header.Get("Location")
	}
	unprivileged(t, p)

	api := &client.Client{Server: "http://127.0.0.1:8080", HTTP: browser,
		Token: p.run("exec", "node", "waymark", "session", "issue", "--email", "ann@example.com")}
	create := func(path string, body any, file *client.File) string {
		t.Helper()
		var made struct{ ID string }
		answer, err := api.Do(t.Context(), client.Request{Method: "POST", Path: path, Body: body, File: file})
		if err == nil {
			err = answer.Data(&made)
		}
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		return made.ID
	}
	type m map[string]any
	app := create("/apps", m{"name": "Shop"}, nil)
	create("/domains", m{"appId": app, "mode": "platform", "prefix": "shop"}, nil)
	create("/links", m{"appId": app, "domain": "shop.localhost", "slug": "hello", "desktopUrl": "https://example.com/hello"}, nil)
	var picture bytes.Buffer
	if err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, 400, 400))); err != nil {
		t.Fatal(err)
	}
	create("/assets", nil, &client.File{Name: "x.png", Type: "image/png", Bytes: picture.Bytes(), Fields: map[string]string{"appId": app}})
	storetest.Eventually(t, "the link leads on", func() bool { return leads() == "https://example.com/hello" })
	p.run("exec", "node", "waymark", "doctor")
	p.run("exec", "node", "waymark", "backup", "/data/backup")
	p.run("exec", "node", "waymark", "verify", "/data/backup")

	p.run("stop", "--time", "30", "node")
	var ended struct{ State struct{ ExitCode int } }
	p.inspect("node", &ended)
	if log := string(p.command("logs", "node").all()); ended.State.ExitCode != 0 || !strings.Contains(log, "msg=stopping") ||
		strings.Contains(log, "level=ERROR") {
		t.Errorf("exit code %d, log\n%s", ended.State.ExitCode, log)
	}
	// Another container, as after an upgrade, has everything from the volume.
	p.run("rm", "node")
	browser = start()
	if to := leads(); to != "https://example.com/hello" {
		t.Errorf("in another container the link leads to %q", to)
	}
}

// unprivileged checks that the running process is the image's user without any capability, and that only
// its volume can be written.
func unprivileged(t *testing.T, p *podman) {
	t.Helper()
	var container struct{ State struct{ Pid int } }
	p.inspect("node", &container)
	read := func(name string) string {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", container.State.Pid, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	status := read("status")
	for _, line := range []string{"Uid:\t65532\t65532\t65532\t65532", "Gid:\t65532\t65532\t65532\t65532", "NoNewPrivs:\t1",
		"CapEff:\t0000000000000000", "CapBnd:\t0000000000000000"} {
		if !strings.Contains(status, line+"\n") {
			t.Errorf("the process has not %q:\n%s", line, status)
		}
	}
	writable := []string{}
	for line := range strings.Lines(read("mountinfo")) {
		fields := strings.Fields(line) // 4 is where it is, 5 how
		system := slices.ContainsFunc([]string{"/dev", "/proc", "/sys"}, func(dir string) bool {
			return fields[4] == dir || strings.HasPrefix(fields[4], dir+"/")
		})
		if !system && strings.HasPrefix(fields[5], "rw") {
			writable = append(writable, fields[4])
		}
	}
	if !slices.Equal(writable, []string{"/data"}) {
		t.Errorf("these can be written: %q", writable)
	}
}
