package blob

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
)

// MaxSize is the most bytes that an object has.
const MaxSize = 1 << 20

// ErrNotFound is returned by Open for a name that has no object.
var ErrNotFound = errors.New("no such object")

// Store keeps objects. Every error but ErrNotFound means that the store does
// not do its work now.
type Store interface {
	// Put stores size bytes durably under a name of its own.
	Put(ctx context.Context, name, contentType string, r io.Reader, size int64) error
	// Open returns an object to read; the caller closes it.
	Open(ctx context.Context, name string) (io.ReadSeekCloser, error)
	// Delete removes an object, if there is one.
	Delete(ctx context.Context, name string) error
	// Names calls f with the name of every object.
	Names(ctx context.Context, f func(name string) error) error
	// Check tries whether the store can be used.
	Check(ctx context.Context) error
}

// Open returns the store at an address: "file" for a folder below dataDir, or
// s3://bucket/prefix?endpoint=https://host&region=name. An S3 store takes its
// credentials from AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and
// AWS_SESSION_TOKEN.
func Open(address, dataDir string) (Store, error) {
	switch {
	case address == "file":
		return openFolder(dataDir + "/assets")
	case strings.HasPrefix(address, "s3://"):
		return openS3(address)
	}
	return nil, errors.New("the asset store is neither file nor an s3:// address")
}

var nameText = regexp.MustCompile(`^[0-9a-f]{32}\.(png|jpg)$`)

// checkName refuses what is no name of ours, before it becomes part of a path.
func checkName(name string) error {
	if !nameText.MatchString(name) {
		return fmt.Errorf("%q is no name of an object: %w", name, ErrNotFound)
	}
	return nil
}
