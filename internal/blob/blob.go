package blob

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// MaxSize is the most bytes that an image has.
const MaxSize = 1 << 20

// Kind is what a store keeps.
type Kind struct {
	// Title names the store in messages, such as "asset store".
	Title string
	// Folder is the folder below the data folder in which a store of files lies.
	Folder string
	// Name is the form of names.
	Name *regexp.Regexp
	// Extension ends the name of the object that Check stores, ContentType is its type.
	Extension, ContentType string
	// MaxSize is the most bytes that an object has.
	MaxSize int64
	// Cache is the most bytes of objects of an S3 store that are kept in files below the
	// data folder, so that they are fetched once; 0 keeps none.
	Cache int64
}

// Images are the uploaded images.
var Images = Kind{
	Title: "asset store", Folder: "assets", Name: regexp.MustCompile(`^[0-9a-f]{32}\.(png|jpg)$`),
	Extension: ".png", ContentType: "image/png", MaxSize: MaxSize,
}

// Segments are the files of the events of analytics. cache is Kind.Cache.
func Segments(cache int64) Kind {
	return Kind{
		Title: "segment store", Folder: "events", Name: regexp.MustCompile(`^[0-9a-f]{32}\.parquet$`),
		Extension: ".parquet", ContentType: "application/vnd.apache.parquet", MaxSize: 256 << 20, Cache: cache,
	}
}

// Backups are the files of backups in S3, by their paths below the backup's prefix. Their names
// are given once only within a backup that is being written.
var Backups = Kind{
	Title: "backup", Name: regexp.MustCompile(`^[A-Za-z0-9._-]+(/[A-Za-z0-9._-]+)*$`),
	ContentType: "application/octet-stream", MaxSize: 5 << 40,
}

var (
	// ErrNotFound is the error of a name that has no object.
	ErrNotFound = errors.New("no such object")
	// ErrAway is the error of a store that does not do its work now, for
	// whatever reason. An effect may have happened nevertheless.
	ErrAway = errors.New("the store does not work")
)

// Object is an object that is open to be read.
type Object interface {
	io.ReadSeekCloser
	io.ReaderAt
}

// Store keeps objects. Every call can be repeated.
type Store interface {
	// Put stores the next size bytes of r durably under a name of its own.
	Put(ctx context.Context, name, contentType string, r io.Reader, size int64) error
	// Open returns an object to read or ErrNotFound; the caller closes it.
	Open(ctx context.Context, name string) (Object, error)
	// Delete removes an object, if there is one.
	Delete(ctx context.Context, name string) error
	// Names calls f with the name of every object until it returns an error.
	Names(ctx context.Context, f func(name string) error) error
	// Check stores, reads and removes an object of its own, to find out whether
	// the store does its work.
	Check(ctx context.Context) error
}

// Open returns the store of a kind at an address: "file" for a folder below dataDir, or
// s3://bucket/prefix?endpoint=https://host&region=name. An S3 store takes its
// credentials from AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and
// AWS_SESSION_TOKEN. It is not asked for anything yet: Check does that.
func Open(address, dataDir string, kind Kind) (Store, error) {
	switch {
	case address == "file":
		return openFolder(filepath.Join(dataDir, kind.Folder), kind, (*os.File).Sync)
	case strings.HasPrefix(address, "s3://"):
		b, err := openS3(address, dataDir, kind)
		switch {
		case err != nil:
			return nil, err
		case kind.Cache > 0:
			return openCache(b, filepath.Join(dataDir, kind.Folder+"-cache")), nil
		}
		return b, nil
	}
	return nil, fmt.Errorf("the %s is neither file nor an s3:// address", kind.Title)
}

// Identity returns which store of a kind Open opens at an address: the same text for
// all addresses of a store, without its region. It holds no credentials.
func Identity(address string, kind Kind) (string, error) {
	if address == "file" {
		return address, nil
	}
	b, err := openS3(address, "", kind)
	if err != nil {
		return "", err
	}
	identity := strings.TrimSuffix("s3://"+b.name+"/"+b.prefix, "/")
	if endpoint := b.client.EndpointURL(); endpoint.Host != amazon {
		identity += "?endpoint=" + endpoint.Scheme + "://" + endpoint.Host
	}
	return identity, nil
}

// checkName refuses what is no name of ours, before it becomes part of a path.
func (k *Kind) checkName(name string) error {
	if !k.Name.MatchString(name) {
		return fmt.Errorf("%q is no name: %w", name, ErrNotFound)
	}
	return nil
}

// checkNew refuses what cannot be stored, before anything is.
func (k *Kind) checkNew(name string, size int64) error {
	if size < 0 || size > k.MaxSize {
		return fmt.Errorf("store %s: %d bytes are not between 0 and %d", name, size, k.MaxSize)
	}
	return k.checkName(name)
}

// away tells what the store was doing when it failed.
func away(doing, name string, err error) error {
	if err == nil || errors.Is(err, ErrNotFound) {
		return err
	}
	return fmt.Errorf("%w: %s %s: %w", ErrAway, doing, name, err)
}
