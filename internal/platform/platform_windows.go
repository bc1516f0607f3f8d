package platform

import (
	"errors"
	"math"
	"net"
	"os"
	"os/exec"
)

// Installations tells whether this system can keep what an installation promises. It cannot: folders
// can neither be locked nor be brought to the disk, and files that are open cannot be removed.
const Installations = false

// OwnerOnly does nothing: files have the permissions of the folder that they are made in.
func OwnerOnly() {}

// Lock fails: only what has an installation takes a lock.
func Lock(*os.File) error { return errors.ErrUnsupported }

// OpenFiles is how many files this process may have open: there is no bound.
func OpenFiles() (uint64, error) { return math.MaxUint64, nil }

// AcceptLast accepts nothing: connections that wait are reset when the listener is closed.
func AcceptLast(*net.TCPListener) []*net.TCPConn { return nil }

// Group does nothing: there are no groups.
func Group(*exec.Cmd) {}

// EndGroup does nothing: what a command has started goes on.
func EndGroup(*exec.Cmd) {}
