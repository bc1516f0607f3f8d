// Package container_test builds the image of deploy/Containerfile and runs it with podman, which
// needs no service, as those who run it would: as its own user, with a root that cannot be written.
package container_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

const repository = "../.."

// podman is one with a store of its own.
type podman struct {
	*testing.T
	dir string
}

func newPodman(t *testing.T) *podman {
	t.Helper()
	if _, err := exec.LookPath("podman"); err != nil {
		t.Fatalf("this test needs podman and runc (scripts/tools installs them): %v", err)
	}
	p := &podman{t, t.TempDir()}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the containers wrote:\n%s", p.command("logs", "node").all())
		}
		p.run("rm", "--all", "--force", "--volumes")
	})
	return p
}

// command is podman with arguments. Of the drivers of its store, vfs works on every file system; of
// the runtimes, runc on every kind of control groups.
func (p *podman) command(args ...string) *command {
	return &command{exec.Command("podman", append([]string{"--root", filepath.Join(p.dir, "root"),
		"--runroot", filepath.Join(p.dir, "run"), "--storage-driver", "vfs", "--cgroup-manager", "cgroupfs", "--runtime", "runc"},
		args...)...)}
}

type command struct{ *exec.Cmd }

// all returns what a command prints, its errors as well.
func (c *command) all() []byte {
	out, _ := c.CombinedOutput()
	return out
}

// run runs podman, which must succeed, and returns what it prints.
func (p *podman) run(args ...string) string {
	p.Helper()
	cmd := p.command(args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		p.Fatalf("podman %s: %v\n%s%s", strings.Join(args, " "), err, out, stderr.Bytes())
	}
	return strings.TrimSpace(string(out))
}

// inspect reads what podman knows of an image or a container.
func (p *podman) inspect(name string, into any) {
	p.Helper()
	var found []json.RawMessage
	err := json.Unmarshal([]byte(p.run("inspect", name)), &found)
	if err == nil {
		err = json.Unmarshal(found[0], into)
	}
	if err != nil {
		p.Fatalf("podman inspect %s: %v", name, err)
	}
}

// build builds the image from a folder. Only Docker's format of images has health checks.
func (p *podman) build(context string, args ...string) {
	p.Helper()
	p.run(append(append([]string{"build", "--format", "docker", "--layers=false", "--pull-never", "--isolation", "chroot",
		"--file", filepath.Join(context, "deploy/Containerfile")}, args...), context)...)
}

// golang makes an image that stands for the one of Go: this machine's programs, and its caches of
// the go command. It returns the flags of a build that uses it.
func (p *podman) golang() (flags []string) {
	p.Helper()
	env := func(name string) string {
		out, err := exec.Command("go", "env", name).Output()
		if err != nil {
			p.Fatalf("go env %s: %v", name, err)
		}
		return strings.TrimSpace(string(out))
	}
	file := filepath.Join(p.TempDir(), "Containerfile")
	if err := os.WriteFile(file, fmt.Appendf(nil, "FROM scratch\nENV PATH=%s/bin:/usr/bin:/bin HOME=/ GOTOOLCHAIN=local "+
		"GOPROXY=off GOMODCACHE=/cache/modules GOCACHE=/cache/build\n", env("GOROOT")), 0o600); err != nil {
		p.Fatal(err)
	}
	p.run("build", "--tag", "golang:1.26", "--file", file, filepath.Dir(file))
	for from, to := range map[string]string{env("GOROOT"): env("GOROOT") + ":ro", env("GOMODCACHE"): "/cache/modules:ro",
		env("GOCACHE"): "/cache/build", p.TempDir(): "/tmp", "/usr": "/usr:ro", "/bin": "/bin:ro", "/lib": "/lib:ro",
		"/lib64": "/lib64:ro"} {
		if _, err := os.Stat(from); err == nil { // not every machine has /lib64
			flags = append(flags, "--volume", from+":"+to)
		}
	}
	return flags
}

// start starts a container that has no way out of it, and may write to the volume data alone.
func (p *podman) start(args ...string) {
	p.Helper()
	p.run(append([]string{"run", "--detach", "--name", "node", "--network", "none", "--read-only", "--read-only-tmpfs=false",
		"--cap-drop", "all", "--security-opt", "no-new-privileges", "--volume", "data:/data",
		// podman has systemd repeat the check; the test does it itself.
		"--health-interval", "disable",
		// podman would set higher limits than this machine may allow.
		"--ulimit", "nofile=4096:4096", "--ulimit", "nproc=4096:4096"}, args...)...)
}

// client returns one that is in the network of the container.
func (p *podman) client() *http.Client {
	p.Helper()
	var container struct{ State struct{ Pid int } }
	p.inspect("node", &container)
	transport := &http.Transport{DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		namespace, err := os.Open(fmt.Sprintf("/proc/%d/ns/net", container.State.Pid))
		if err != nil {
			return nil, err
		}
		defer namespace.Close()
		type dialed struct {
			conn net.Conn
			err  error
		}
		done := make(chan dialed)
		go func() {
			// The thread enters the network and ends with this function, as it stays locked.
			runtime.LockOSThread()
			err := unix.Setns(int(namespace.Fd()), unix.CLONE_NEWNET)
			var conn net.Conn
			if err == nil {
				conn, err = new(net.Dialer).DialContext(ctx, network, address)
			}
			done <- dialed{conn, err}
		}()
		d := <-done
		return d.conn, d.err
	}}
	p.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}
