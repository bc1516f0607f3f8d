//go:build unix

package platform

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// Installations tells whether this system can keep what an installation promises.
const Installations = true

// OwnerOnly has files that are made from now on belong to their owner alone.
func OwnerOnly() { syscall.Umask(0o077) }

// Lock takes the lock of an open file or folder, until it is closed; ErrLocked when somebody else
// has it.
func Lock(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return ErrLocked
	}
	return err
}

// OpenFiles is how many files this process may have open.
func OpenFiles() (uint64, error) {
	var limit syscall.Rlimit
	err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit)
	return uint64(limit.Cur), err
}

// Group has a command, which is not started yet, and the processes that it will start be a group of
// their own.
func Group(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// EndGroup ends what is left of the group of a command.
func EndGroup(c *exec.Cmd) { syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
