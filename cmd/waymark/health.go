package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"
)

// monitored is the flag of the listener that those who watch a process ask.
type monitored struct {
	MetricsAddr string `default:"127.0.0.1:8082" help:"Where /metrics and /readyz are served to those who watch the process; empty turns it off; default: ${default}." placeholder:"HOST:PORT"`
}

const (
	// readyPath is where that listener says whether the process is ready.
	readyPath = "/readyz"
	// readyWithin bounds how long finding that out may take.
	readyWithin = 2 * time.Second
	// answerWithin bounds how long waymark health waits for the answer.
	answerWithin = 4 * time.Second
	// maxReason is the most bytes of a reason that waymark health repeats.
	maxReason = 1 << 10
)

// readiness answers 200 when the process can do the work of its roles, else 503 with the reason.
func readiness(ready func(context.Context) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), readyWithin)
		defer cancel()
		if err := ready(ctx); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		io.WriteString(w, "ready\n")
	})
}

type healthCommand struct{ monitored }

// Run asks the process that serves on this machine, by the settings of that process, and prints
// its answer.
func (c *healthCommand) Run(ctx context.Context) error {
	if c.MetricsAddr == "" {
		return errors.New("--metrics-addr is empty, so that waymark serve does not say whether it is ready; " +
			"give both the same address")
	}
	address, err := onThisMachine(c.MetricsAddr)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+readyPath, nil)
	if err != nil {
		return err
	}
	// No proxy of the environment is between.
	response, err := (&http.Client{Transport: &http.Transport{}}).Do(request)
	if err != nil {
		var op *net.OpError
		if errors.As(err, &op) {
			err = op.Err
		}
		return fmt.Errorf("no answer from %s: %w; is waymark serve running, with this --metrics-addr?", address, err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxReason))
	if err != nil {
		return fmt.Errorf("the answer from %s: %w", address, err)
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("the process at %s is not ready: %s", address, strings.TrimSpace(string(text)))
	}
	_, err = fmt.Print(string(text))
	return err
}

// onThisMachine returns an address at which a listener can be reached from its own machine.
func onThisMachine(addr string) (string, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return "", fmt.Errorf("--metrics-addr %q is not HOST:PORT such as 127.0.0.1:8082", addr)
	}
	if ip, err := netip.ParseAddr(host); host == "" || err == nil && ip.IsUnspecified() {
		host = "localhost"
	}
	return net.JoinHostPort(host, port), nil
}
