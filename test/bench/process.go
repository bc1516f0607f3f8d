package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

const patience = 60 * time.Second

// child is a server that this process started.
type child struct {
	cmd     *exec.Cmd
	address string // of what is measured
	// helpers returns the processor time of other processes that work for it.
	helpers func() time.Duration
	once    sync.Once
	err     error
}

func (c *child) stop() error {
	c.once.Do(func() {
		c.cmd.Process.Signal(syscall.SIGTERM)
		timer := time.AfterFunc(patience, func() { c.cmd.Process.Kill() })
		defer timer.Stop()
		c.err = c.cmd.Wait()
	})
	return c.err
}

// start runs a program that ends with this process.
func (b *bench) start(cmd *exec.Cmd) (*child, error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	c := &child{cmd: cmd}
	b.children = append(b.children, c)
	return c, nil
}

// cpu returns the processor time of the child so far, with that of its helpers.
func (c *child) cpu() time.Duration {
	sum := processTime(c.cmd.Process.Pid)
	if c.helpers != nil {
		sum += c.helpers()
	}
	return sum
}

// memory returns a line of /proc/<pid>/status in MiB.
func (c *child) memory(name string) float64 {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", c.cmd.Process.Pid))
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, name+":"); ok {
			kib, _ := strconv.ParseFloat(strings.Fields(value)[0], 64)
			return kib / 1024
		}
	}
	return 0
}

// server is a running `waymark serve`.
type server struct {
	*child
	api, public, metrics string
	ready                time.Duration
}

const zone = "bench.example"

// serve starts Waymark on ports of its own choice and waits until it is ready.
func (b *bench) serve(more ...string) (*server, error) {
	cmd := exec.Command(b.binary, append([]string{"serve", "--data-dir", b.data, "--database", b.database, "--api-addr",
		"127.0.0.1:0", "--public-addr", "127.0.0.1:0",
		"--metrics-addr", "127.0.0.1:0", "--platform-zone", zone, "--limit-scale", "100000"}, more...)...)
	log, err := cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	started := time.Now()
	c, err := b.start(cmd)
	if err != nil {
		return nil, err
	}
	at := map[string]string{}
	lines := bufio.NewScanner(log)
	for at["metrics"] == "" && lines.Scan() { // the last one; roles have different ones before it
		if _, listener, ok := strings.Cut(lines.Text(), "listening what="); ok {
			what, address, _ := strings.Cut(listener, " address=")
			at[what] = address
		}
	}
	if at["metrics"] == "" {
		return nil, fmt.Errorf("waymark did not start: %s", lines.Text())
	}
	go io.Copy(io.Discard, log)
	s := &server{child: c, api: "http://" + at["api"], public: at["public"],
		metrics: "http://" + at["metrics"] + "/metrics"}
	s.address = s.public
	for ; ; time.Sleep(time.Millisecond) {
		response, err := http.Get("http://" + at["metrics"] + "/readyz")
		if err == nil {
			response.Body.Close()
			if response.StatusCode == http.StatusOK {
				s.ready = time.Since(started)
				return s, nil
			}
		}
		if time.Since(started) > patience {
			return nil, errors.Join(errors.New("waymark is not ready"), err)
		}
	}
}

// gauge reads a metric of the server.
func (s *server) gauge(name string) (float64, error) {
	response, err := http.Get(s.metrics)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	for lines := bufio.NewScanner(response.Body); lines.Scan(); {
		if value, ok := strings.CutPrefix(lines.Text(), name+" "); ok {
			return strconv.ParseFloat(value, 64)
		}
	}
	return 0, fmt.Errorf("there is no metric %s", name)
}

// drained waits until a gauge is 0.
func (s *server) drained(name string) error {
	for deadline := time.Now().Add(10 * patience); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if value, err := s.gauge(name); err != nil || value == 0 {
			return err
		}
	}
	return fmt.Errorf("%s does not become 0", name)
}

// starts measures the start, on the installation that it makes.
func (b *bench) starts() error {
	var times, costs []float64
	for i := range 6 {
		s, err := b.serve()
		if err != nil {
			return err
		}
		cpu := s.cpu().Seconds()
		if err := s.stop(); err != nil {
			return fmt.Errorf("waymark ended badly: %w", err)
		}
		if i == 0 {
			b.add("first start with migrations, s", "%.3f", s.ready.Seconds(), 0, "until /readyz answers")
		} else {
			times, costs = append(times, s.ready.Seconds()), append(costs, cpu)
		}
	}
	b.add("start, s", "%.3f", median(times), 0.3, "median of 5")
	b.add("start, CPU s", "%.2f", median(costs), 0, "median of 5, in steps of 0.01")
	return nil
}
