// Package program builds waymark for tests that start it.
package program

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Build builds the program in a folder, and returns its path. It is compiled as make build
// does, so that nothing is compiled anew after that.
func Build(dir string) (string, error) { return BuildFrom("", dir) }

// BuildFrom builds the program of another folder of sources.
func BuildFrom(source, dir string) (string, error) {
	binary := filepath.Join(dir, "waymark")
	build := exec.Command("go", "build", "-trimpath", "-o", binary, "github.com/waymarkhq/waymark/cmd/waymark")
	build.Dir, build.Env = source, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build waymark: %w\n%s", err, out)
	}
	return binary, nil
}
