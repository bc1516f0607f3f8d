package platform

import (
	"errors"
	"io/fs"
	"path/filepath"
	"testing"
)

// What is left is asked of the file system of a folder; a folder and one in it are on one disk, and
// /proc, which has no space, is another.
func TestFreeSpace(t *testing.T) {
	dir := t.TempDir()
	space, err := FreeSpace(dir)
	if err != nil || space.Bytes == 0 || space.Files == 0 {
		t.Errorf("%+v, %v", space, err)
	}
	if same, err := FreeSpace(t.TempDir()); err != nil || same.Disk != space.Disk {
		t.Errorf("%+v, %v; want the disk of %+v", same, err, space)
	}
	if proc, err := FreeSpace("/proc/self"); err != nil || proc.Disk == space.Disk || proc.Bytes != 0 {
		t.Errorf("%+v, %v", proc, err)
	}
	if _, err := FreeSpace(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder that is not there: %v", err)
	}
}
