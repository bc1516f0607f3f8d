package blob

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"strings"
)

// MaxSize is the most bytes that an object has.
const MaxSize = 1 << 20

var (
	// ErrNotFound is the error of a name that has no object.
	ErrNotFound = errors.New("no such object")
	// ErrAway is the error of a store that does not do its work now, for
	// whatever reason. An effect may have happened nevertheless.
	ErrAway = errors.New("the asset store does not work")
)

// Store keeps objects. Every call can be repeated.
type Store interface {
	// Put stores the next size bytes of r durably under a name of its own.
	Put(ctx context.Context, name, contentType string, r io.Reader, size int64) error
	// Open returns an object to read or ErrNotFound; the caller closes it.
	Open(ctx context.Context, name string) (io.ReadSeekCloser, error)
	// Delete removes an object, if there is one.
	Delete(ctx context.Context, name string) error
	// Names calls f with the name of every object until it returns an error.
	Names(ctx context.Context, f func(name string) error) error
	// Check stores, reads and removes an object of its own, to find out whether
	// the store does its work.
	Check(ctx context.Context) error
}

// Open returns the store at an address: "file" for a folder below dataDir, or
// s3://bucket/prefix?endpoint=https://host&region=name. An S3 store takes its
// credentials from AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and
// AWS_SESSION_TOKEN. It is not asked for anything yet: Check does that.
func Open(address, dataDir string) (Store, error) {
	switch {
	case address == "file":
		return openFolder(filepath.Join(dataDir, "assets"))
	case strings.HasPrefix(address, "s3://"):
		return openS3(address, dataDir)
	}
	return nil, errors.New("the asset store is neither file nor an s3:// address")
}

var nameText = regexp.MustCompile(`^[0-9a-f]{32}\.(png|jpg)$`)

// checkName refuses what is no name of ours, before it becomes part of a path.
func checkName(name string) error {
	if !nameText.MatchString(name) {
		return fmt.Errorf("%q is no name: %w", name, ErrNotFound)
	}
	return nil
}

// checkNew refuses what cannot be stored, before anything is.
func checkNew(name string, size int64) error {
	if size < 0 || size > MaxSize {
		return fmt.Errorf("store %s: %d bytes are not between 0 and %d", name, size, MaxSize)
	}
	return checkName(name)
}

// away tells what the store was doing when it failed.
func away(doing, name string, err error) error {
	if err == nil || errors.Is(err, ErrNotFound) {
		return err
	}
	return fmt.Errorf("%w: %s %s: %w", ErrAway, doing, name, err)
}
