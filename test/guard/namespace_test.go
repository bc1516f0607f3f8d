package guard_test

import (
	"encoding/pem"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// inside tells the process that it is in the network of its own.
const inside = "WAYMARK_TEST_GUARD"

func TestMain(m *testing.M) {
	if os.Getenv(inside) == "" {
		os.Exit(enter())
	}
	if err := open(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// enter runs this program again in a network namespace and returns its exit
// code. There the certificate of the receiver is the system's only root.
func enter() int {
	folder, err := os.MkdirTemp("", "guard")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(folder)
	server := httptest.NewTLSServer(nil)
	root := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	server.Close()
	file := filepath.Join(folder, "root.pem")
	if err := os.WriteFile(file, root, 0o600); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	flags, err := namespace()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	again := exec.Command("unshare", append([]string{flags, os.Args[0]}, os.Args[1:]...)...)
	again.Env = append(os.Environ(), inside+"=1", "SSL_CERT_FILE="+file, "SSL_CERT_DIR="+folder)
	again.Stdout, again.Stderr = os.Stdout, os.Stderr
	if err := again.Run(); err != nil {
		return 1
	}
	return 0
}

// namespace returns the flags with which unshare makes a network here: as root,
// or as a user who becomes root in it.
func namespace() (flags string, err error) {
	var out []byte
	for _, flags := range []string{"-n", "-rn"} {
		if out, err = exec.Command("unshare", flags, "ip", "link", "set", "lo", "up").CombinedOutput(); err == nil {
			return flags, nil
		}
	}
	return "", fmt.Errorf("no network namespace for the test: install util-linux and iproute2 (scripts/tools), "+
		"and run as root or where users may create namespaces: %w\n%s", err, out)
}

// open makes every address of the internet one of this machine.
func open() error {
	for _, arguments := range [][]string{{"link", "set", "lo", "up"},
		{"route", "add", "local", "default", "dev", "lo"}} {
		if out, err := exec.Command("ip", arguments...).CombinedOutput(); err != nil {
			return fmt.Errorf("ip %v: %w\n%s", arguments, err, out)
		}
	}
	// A kernel without IPv6 has nothing to guard there.
	_ = exec.Command("ip", "-6", "route", "add", "local", "default", "dev", "lo").Run()
	return nil
}
