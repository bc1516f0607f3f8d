// Package chromium runs scripts that look at pages in Chromium, for tests.
package chromium

import (
	"os"
	"os/exec"
	"testing"
)

// Script returns a command that runs a script with Node.js, which finds the browser by the
// variable CHROMIUM. Standard error tells what the browser says, too: when it ends by itself,
// nothing else tells why.
func Script(t *testing.T, name string, args ...string) *exec.Cmd {
	t.Helper()
	browser, err := exec.LookPath("chromium")
	if err != nil {
		t.Fatalf("this test needs Chromium (scripts/tools installs it): %v", err)
	}
	script := exec.CommandContext(t.Context(), "node", append([]string{name}, args...)...)
	script.Env = append(os.Environ(), "CHROMIUM="+browser, "DEBUG=pw:browser")
	return script
}
