// Package deploy tests what is in deploy/ with the tools of those who run it.
package deploy

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const unit = "../../deploy/waymark.service"

// systemd accepts the unit without a remark, and rates its exposure 2.0 of 10 at most.
func TestSystemdUnit(t *testing.T) {
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		t.Fatalf("this test needs systemd-analyze (scripts/tools installs it): %v", err)
	}
	text, err := os.ReadFile(unit)
	if err != nil {
		t.Fatal(err)
	}
	const program = "ExecStart=/usr/bin/waymark "
	if strings.Count(string(text), program) != 1 {
		t.Fatalf("the unit has no line %q", program)
	}
	// Here the program is not installed: verify asks only whether it can be run.
	path := filepath.Join(t.TempDir(), "waymark.service")
	if err := os.WriteFile(path, []byte(strings.Replace(string(text), program, "ExecStart=/bin/true ", 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("systemd-analyze", "verify", path).CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("systemd-analyze verify: %v\n%s", err, out)
	}
	if out, err := exec.Command("systemd-analyze", "security", "--offline=true", "--threshold=20", "--no-pager", path).
		CombinedOutput(); err != nil {
		t.Errorf("systemd-analyze security: %v\n%s", err, out)
	}
}
