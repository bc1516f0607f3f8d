package helm

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// build builds the program.
func build(t *testing.T) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "waymark")
	// As make build does, so that nothing is compiled anew.
	command := exec.Command("go", "build", "-trimpath", "-o", binary, "./cmd/waymark")
	command.Dir, command.Env = root, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("build waymark: %v\n%s", err, out)
	}
	return binary
}

// pod is a container of a pod as a process: its arguments, variables and files, with folders and
// ports of its own.
type pod struct {
	*exec.Cmd
	// listeners are the addresses that the log names, by container port.
	listeners map[int32]string
}

var listening = regexp.MustCompile(`msg=listening what=(\w+) address=(\S+)`)

// prepare returns what a pod runs. secrets are the values of its variables from Secrets.
func prepare(t *testing.T, binary string, w workload, config *core.ConfigMap, secrets map[string]string) *pod {
	t.Helper()
	dir := t.TempDir()
	file := parse(t, []byte(config.Data["waymark.yaml"]))
	file["data-dir"] = dir
	for _, name := range []string{"api-addr", "public-addr", "metrics-addr"} {
		file[name] = "127.0.0.1:0"
	}
	text, err := yaml.Marshal(file)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "waymark.yaml"), text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	p := &pod{Cmd: exec.Command(binary, w.container().Args...), listeners: map[int32]string{}}
	for _, e := range w.container().Env {
		value := secrets[e.Name]
		switch e.Name {
		case "WAYMARK_CONFIG":
			value = filepath.Join(dir, "waymark.yaml")
		case "TMPDIR":
			value = dir
		}
		if value == "" {
			t.Fatalf("%s needs %s", w.name, e.Name)
		}
		p.Env = append(p.Env, e.Name+"="+value)
	}
	return p
}

// start starts a pod and waits until its metrics listener, the last one, answers, or until it ends. It
// returns what the pod logged, and whether it answers.
func (p *pod) start(t *testing.T, config *core.ConfigMap) (log string, answers bool) {
	t.Helper()
	stderr, err := p.StderrPipe()
	if err == nil {
		err = p.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	ports, lines := ports(t, config), bufio.NewReader(stderr)
	t.Cleanup(func() {
		p.Process.Signal(syscall.SIGTERM)
		rest, _ := io.ReadAll(lines)
		if err := p.Wait(); err != nil && answers {
			t.Errorf("%q: %v\n%s", p.Args, err, rest)
		}
	})
	for p.listeners[ports["metrics"]] == "" {
		line, err := lines.ReadString('\n')
		log += line
		if err != nil {
			return log, false
		}
		if m := listening.FindStringSubmatch(line); m != nil {
			p.listeners[ports[m[1]]] = m[2]
		}
	}
	return log, true
}

// ports are those at which the program listens in a pod, after its file.
func ports(t *testing.T, config *core.ConfigMap) map[string]int32 {
	t.Helper()
	file, found := parse(t, []byte(config.Data["waymark.yaml"])), map[string]int32{}
	for _, name := range []string{"api", "public", "metrics"} {
		host, port, err := net.SplitHostPort(file[name+"-addr"].(string))
		var number int32
		if _, scanErr := fmt.Sscan(port, &number); err != nil || scanErr != nil || host != "" {
			t.Fatalf("%s-addr: %v", name, file[name+"-addr"])
		}
		found[name] = number
	}
	return found
}

// status asks a pod.
func (p *pod) status(t *testing.T, port int32, path string) int {
	t.Helper()
	response, err := http.Get("http://" + p.listeners[port] + path)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	return response.StatusCode
}

// probed starts a pod and requires it to have a listener for each of its ports and no other, and all
// its probes to succeed.
func (p *pod) probed(t *testing.T, w workload, config *core.ConfigMap) {
	t.Helper()
	if log, answers := p.start(t, config); !answers {
		t.Fatalf("%s ended:\n%s", w.name, log)
	}
	c := w.container()
	numbers := map[string]int32{}
	for _, port := range c.Ports {
		numbers[port.Name] = port.ContainerPort
		if p.listeners[port.ContainerPort] == "" {
			t.Errorf("%s does not listen at its port %s", w.name, port.Name)
		}
	}
	if len(p.listeners) != len(c.Ports) {
		t.Errorf("%s listens at %v and has the ports %v", w.name, p.listeners, c.Ports)
	}
	for what, probe := range map[string]*core.Probe{
		"startup": c.StartupProbe, "liveness": c.LivenessProbe, "readiness": c.ReadinessProbe} {
		if status := p.status(t, numbers[probe.HTTPGet.Port.StrVal], probe.HTTPGet.Path); status != 200 {
			t.Errorf("the %s probe of %s gets %d", what, w.name, status)
		}
	}
}

func TestServes(t *testing.T) {
	binary := build(t)
	t.Run("single", func(t *testing.T) { testSingle(t, binary) })
	t.Run("cluster", func(t *testing.T) { testCluster(t, binary) })
}

// What the pod of mode single runs becomes ready, with the settings of the chart.
func testSingle(t *testing.T, binary string) {
	all := objects(t, parse(t, read(t, "testdata/default.yaml")))
	config := of[core.ConfigMap](all)[0]
	for _, w := range workloads(all) {
		prepare(t, binary, w, config, nil).probed(t, w, config)
	}
}

// What the pods of mode cluster run becomes ready on one database, once the job has migrated it and
// not before.
func testCluster(t *testing.T, binary string) {
	server := os.Getenv("WAYMARK_TEST_POSTGRES")
	if server == "" {
		t.Fatal("this test needs WAYMARK_TEST_POSTGRES, the address of a PostgreSQL: run make chart")
	}
	const name = "waymark_helm"
	for _, statement := range []string{"DROP DATABASE IF EXISTS " + name, "CREATE DATABASE " + name} {
		if out, err := exec.Command("psql", server, "-qc", statement).CombinedOutput(); err != nil {
			t.Fatalf("psql (scripts/tools installs it with postgresql): %v\n%s", err, out)
		}
	}
	at := strings.LastIndex(server, "/")
	_, query, _ := strings.Cut(server[at:], "?")
	secrets := map[string]string{"WAYMARK_DATABASE": server[:at] + "/" + name + "?" + query,
		"AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "key", "AWS_SESSION_TOKEN": "token"}
	all := objects(t, parse(t, read(t, "testdata/cluster-least.yaml")))
	config := of[core.ConfigMap](all)[0]
	var pods []workload
	var migrate workload
	for _, w := range workloads(all) {
		if w.selector == nil {
			migrate = w
			continue
		}
		pods = append(pods, w)
		log, answers := prepare(t, binary, w, config, secrets).start(t, config)
		if answers || !strings.Contains(log, "waymark migrate") {
			t.Errorf("%s, before the migration, answers: %t\n%s", w.name, answers, log)
		}
	}
	hook := of[batch.Job](all)[0].Annotations["helm.sh/hook"]
	if len(pods) != 3 || hook != "pre-install,pre-upgrade" {
		t.Errorf("%d pods serve, and the job runs at %q", len(pods), hook)
	}
	if out, err := prepare(t, binary, migrate, config, secrets).CombinedOutput(); err != nil {
		t.Fatalf("migrate: %v\n%s", err, out)
	}
	for _, w := range pods {
		prepare(t, binary, w, config, secrets).probed(t, w, config)
	}
}
