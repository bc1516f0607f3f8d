//go:build !linux && !darwin

package platform

import "errors"

// FreeSpace fails: only what has an installation asks for it.
func FreeSpace(string) (Space, error) { return Space{}, errors.ErrUnsupported }
