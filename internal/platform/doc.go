// Package platform has what differs between operating systems, and nothing else. Everything runs on
// Linux and macOS. On Windows only commands run that need no installation on their machine.
package platform

import "errors"

// ErrLocked means that another process holds a lock.
var ErrLocked = errors.New("another process holds the lock")
