package storetest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// OpenFiles returns the names of the files in a folder that this process has open.
func OpenFiles(t testing.TB, dir string) (names []string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	folder, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	descriptors, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range descriptors {
		file, err := os.Readlink("/proc/self/fd/" + d.Name())
		if name, in := strings.CutPrefix(file, dir); err == nil && in {
			names = append(names, name)
		}
	}
	opened := slices.Index(names, "")
	if opened < 0 {
		t.Fatalf("%s is open, and not found among %q", dir, names)
	}
	return slices.Delete(names, opened, opened+1)
}
