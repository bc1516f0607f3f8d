// Package dnstest runs a real DNS server, Knot, for tests.
package dnstest

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/waymarkhq/waymark/internal/store/storetest"
)

// Server is a running Knot that is the authority for some zones.
type Server struct {
	// Address is its host:port, on UDP and TCP.
	Address string
	folder  string
	serial  int
}

// Start starts a server of the given zones, without records, that ends with the
// test.
func Start(t testing.TB, zones ...string) *Server {
	t.Helper()
	s := &Server{Address: freeAddress(t), folder: t.TempDir()}
	host, port, _ := net.SplitHostPort(s.Address)
	config := fmt.Sprintf("server:\n  rundir: %[1]s\n  listen: %[2]s@%[3]s\n  udp-workers: 1\n  tcp-workers: 1\n"+
		"  background-workers: 1\ndatabase:\n  storage: %[1]s\ncontrol:\n  listen: %[1]s/knot.sock\n"+
		"template:\n  - id: default\n    storage: %[1]s\n    file: \"%%s.zone\"\n    zonefile-load: difference-no-serial\n"+
		"    zonefile-sync: -1\n    journal-content: all\nzone:\n", s.folder, host, port)
	for _, zone := range zones {
		config += "  - domain: " + zone + "\n"
		s.write(t, zone, "")
	}
	if err := os.WriteFile(s.config(), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	knot := exec.Command(program("knotd"), "--config", s.config())
	knot.Stdout, knot.Stderr = &log, &log
	knot.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := knot.Start(); err != nil {
		t.Fatalf("Knot is needed (scripts/tools installs it): %v", err)
	}
	t.Cleanup(func() {
		_ = knot.Process.Kill()
		_ = knot.Wait()
		if errors := lines(log.String(), "error:"); t.Failed() && errors != "" {
			t.Log(errors)
		}
	})
	storetest.Eventually(t, "Knot answers", func() bool { return s.control("zone-status") == nil })
	return s
}

// Set replaces the records of a zone, which are lines of a zone file without its SOA
// record.
func (s *Server) Set(t testing.TB, zone string, records ...string) {
	t.Helper()
	s.write(t, zone, strings.Join(records, "\n"))
	if err := s.control("--blocking", "zone-reload", zone); err != nil {
		t.Fatal(err)
	}
}

func (s *Server) write(t testing.TB, zone, records string) {
	t.Helper()
	s.serial++
	text := fmt.Sprintf("$ORIGIN %s.\n$TTL 1\n@ SOA ns hostmaster %d 1 1 1 1\n@ NS ns\nns A 127.0.0.1\n%s\n", zone,
		s.serial, records)
	if err := os.WriteFile(filepath.Join(s.folder, zone+".zone"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (s *Server) config() string { return filepath.Join(s.folder, "knot.conf") }

func (s *Server) control(command ...string) error {
	out, err := exec.Command(program("knotc"), append([]string{"--config", s.config()}, command...)...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("knotc %s: %w: %s", strings.Join(command, " "), err, out)
	}
	return nil
}

// lines returns the lines of a text that contain a word.
func lines(text, word string) (found string) {
	for line := range strings.Lines(text) {
		if strings.Contains(line, word) {
			found += line
		}
	}
	return found
}

// program returns the path of a program that Debian keeps for the administrator.
func program(name string) string {
	if path, err := exec.LookPath(name); err == nil {
		return path
	}
	return "/usr/sbin/" + name
}

// freeAddress returns an address of the loopback whose port was free on UDP and TCP
// just now.
func freeAddress(t testing.TB) string {
	t.Helper()
	for {
		stream, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		packets, err := net.ListenPacket("udp", stream.Addr().String())
		stream.Close()
		if err == nil {
			packets.Close()
			return stream.Addr().String()
		}
	}
}
