//go:build linux || darwin

package platform

import (
	"math"
	"os"
	"syscall"
)

// FreeSpace returns what is left where a file or folder is.
func FreeSpace(path string) (s Space, err error) {
	var at syscall.Stat_t
	var disk syscall.Statfs_t
	err = syscall.Stat(path, &at)
	if err == nil {
		err = syscall.Statfs(path, &disk)
	}
	if err != nil {
		return s, &os.PathError{Op: "statfs", Path: path, Err: err}
	}
	s = Space{Bytes: uint64(disk.Bavail) * uint64(disk.Bsize), Files: disk.Ffree, Disk: uint64(at.Dev)}
	if disk.Files == 0 { // as on Btrfs
		s.Files = math.MaxUint64
	}
	return s, nil
}
