package blob

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path"
	"regexp"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/minio/minio-go/v7/pkg/s3utils"
)

const (
	// callTimeout bounds a call of the service, as a caller of ours waits for it. One
	// that moves bytes has more time for each MiB.
	callTimeout = 10 * time.Second
	perMiB      = time.Second
	// attempts is how often a call is made before the service counts as away.
	attempts = 2
	// atOnce is the most bytes that S3 takes in one call. Stores of larger objects send them in
	// parts.
	atOnce = 5 << 30
	// page is how many names the service lists in one call.
	page = 1000
)

// prefixText are the characters of a prefix: none that a service or a client of
// it would escape.
var prefixText = regexp.MustCompile(`^[A-Za-z0-9._/-]+$`)

// bucket is a Store in an S3-compatible service.
type bucket struct {
	client       *minio.Core
	name, prefix string
	// dir is where objects that are being read lie, in nameless files.
	dir     string
	kind    Kind
	timeout time.Duration
}

// openS3 reads an address. What it says about one that it refuses does not
// repeat a value: it may be one that should have stood in the environment.
func openS3(address, dir string, kind Kind) (*bucket, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" && u.User == nil {
		return nil, fmt.Errorf("the %s's address is not s3://bucket/prefix?endpoint=https://host", kind.Title)
	}
	if u.User != nil {
		return nil, fmt.Errorf("the %s's address must not hold credentials: set AWS_ACCESS_KEY_ID and "+
			"AWS_SECRET_ACCESS_KEY", kind.Title)
	}
	settings, err := url.ParseQuery(u.RawQuery)
	if err != nil || u.Fragment != "" {
		return nil, fmt.Errorf("the settings of the %s's address cannot be read", kind.Title)
	}
	for name := range settings {
		if name != "endpoint" && name != "region" {
			return nil, fmt.Errorf("the %s's address has an unknown setting %q", kind.Title, name)
		}
	}
	client, err := newClient(settings.Get("endpoint"), settings.Get("region"), kind)
	if err != nil {
		return nil, err
	}
	b := &bucket{client: client, name: u.Host, prefix: strings.TrimPrefix(u.Path, "/"), dir: dir, kind: kind,
		timeout: callTimeout}
	if s3utils.CheckValidBucketNameStrict(b.name) != nil {
		return nil, fmt.Errorf("the %s's address has an invalid bucket", kind.Title)
	}
	if b.prefix != "" {
		b.prefix = strings.TrimSuffix(b.prefix, "/") + "/"
		if path.Clean("/"+b.prefix)+"/" != "/"+b.prefix || !prefixText.MatchString(b.prefix) {
			return nil, fmt.Errorf("the %s's address has an invalid prefix", kind.Title)
		}
	}
	return b, nil
}

// amazon is the endpoint of Amazon's own service.
const amazon = "s3.amazonaws.com"

// newClient returns a client of the service at an endpoint; "" is Amazon's own.
func newClient(endpoint, region string, kind Kind) (*minio.Core, error) {
	host, options := amazon, &minio.Options{Secure: true, Region: region, MaxRetries: attempts}
	if endpoint != "" {
		u, err := url.Parse(endpoint)
		if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || strings.Trim(u.Path, "/") != "" ||
			u.User != nil || u.RawQuery != "" || u.Fragment != "" {
			return nil, fmt.Errorf("the %s's endpoint is not an address such as https://s3.example.com", kind.Title)
		}
		// Few other services have a hostname for each bucket.
		host, options.Secure, options.BucketLookup = u.Host, u.Scheme == "https", minio.BucketLookupPath
		if region == "" {
			options.Region = "us-east-1" // what those without regions expect
		}
	}
	key, secret := os.Getenv("AWS_ACCESS_KEY_ID"), os.Getenv("AWS_SECRET_ACCESS_KEY")
	if key == "" || secret == "" {
		return nil, fmt.Errorf("the %s needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment",
			kind.Title)
	}
	if options.Region == "" {
		return nil, fmt.Errorf("the %s's address needs an endpoint or a region", kind.Title)
	}
	options.Creds = credentials.NewStaticV4(key, secret, os.Getenv("AWS_SESSION_TOKEN"))
	client, err := minio.NewCore(host, options)
	if err != nil {
		return nil, fmt.Errorf("the %s's endpoint is not a host", kind.Title)
	}
	return client, nil
}

// timeFor returns how long a call may take that moves so many bytes.
func (b *bucket) timeFor(bytes int64) time.Duration {
	return b.timeout + time.Duration(bytes>>20)*perMiB
}

// Put implements Store. The service compares the checksum before it stores.
func (b *bucket) Put(ctx context.Context, name, contentType string, r io.Reader, size int64) error {
	if err := b.kind.checkNew(name, size); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, b.timeFor(size))
	defer cancel()
	_, err := b.client.Client.PutObject(ctx, b.name, b.prefix+name, r, size, minio.PutObjectOptions{
		ContentType: contentType, SendContentMd5: true, DisableMultipart: b.kind.MaxSize <= atOnce,
		DisableContentSha256: size == 0, // over http the client would send nothing without saying so
	})
	return away("store", name, plain(err))
}

// Open implements Store. All of an object is read at once: a service that fails in the
// middle is told from an object that is whole. It is kept in a nameless file: many slow
// visitors must not need its size in memory.
func (b *bucket) Open(ctx context.Context, name string) (Object, error) {
	if err := b.kind.checkName(name); err != nil {
		return nil, err
	}
	file, err := b.fetch(ctx, name, b.nameless)
	if err != nil {
		return nil, away("read", name, err)
	}
	return file, nil
}

// nameless makes a file that is gone once it is closed.
func (b *bucket) nameless() (*os.File, error) {
	file, err := os.CreateTemp(b.dir, unfinished)
	if err != nil {
		return nil, err
	}
	return file, os.Remove(file.Name())
}

// fetch copies an object to a new file and goes back to its start.
func (b *bucket) fetch(ctx context.Context, name string, create func() (*os.File, error)) (*os.File, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	late := time.AfterFunc(b.timeout, func() { cancel(context.DeadlineExceeded) })
	defer late.Stop()
	body, object, _, err := b.client.GetObject(ctx, b.name, b.prefix+name, minio.GetObjectOptions{})
	if err != nil {
		return nil, plain(err)
	}
	defer body.Close()
	late.Reset(b.timeFor(min(object.Size, b.kind.MaxSize)))
	file, err := create()
	if err == nil {
		err = b.fill(file, body)
	}
	if err != nil && file != nil {
		err = errors.Join(err, file.Close())
	}
	return file, err
}

func (b *bucket) fill(file *os.File, body io.Reader) error {
	n, err := io.Copy(file, io.LimitReader(body, b.kind.MaxSize+1))
	if err == nil && n > b.kind.MaxSize {
		err = fmt.Errorf("it has more than %d bytes", b.kind.MaxSize)
	}
	if err == nil {
		_, err = file.Seek(0, io.SeekStart)
	}
	return err
}

// Delete implements Store.
func (b *bucket) Delete(ctx context.Context, name string) error {
	if err := b.kind.checkName(name); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, b.timeout)
	defer cancel()
	err := plain(b.client.RemoveObject(ctx, b.name, b.prefix+name, minio.RemoveObjectOptions{}))
	if errors.Is(err, ErrNotFound) {
		err = nil
	}
	return away("remove", name, err)
}

// Names implements Store. The service may be slow page by page, and f as slow
// as it likes.
func (b *bucket) Names(ctx context.Context, f func(string) error) error {
	for last, more := "", true; more; {
		keys, err := b.list(ctx, last)
		if err != nil {
			return away("list", b.prefix, plain(err))
		}
		for _, key := range keys {
			if name := strings.TrimPrefix(key, b.prefix); b.kind.Name.MatchString(name) {
				if err := f(name); err != nil {
					return err
				}
			}
			last = key
		}
		more = len(keys) == page
	}
	return nil
}

// list returns the next keys after last, a page of them unless there are fewer.
func (b *bucket) list(ctx context.Context, last string) (keys []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, b.timeout)
	defer cancel()
	for object := range b.client.ListObjectsIter(ctx, b.name,
		minio.ListObjectsOptions{Prefix: b.prefix, Recursive: true, StartAfter: last, MaxKeys: page}) {
		if object.Err != nil {
			return nil, object.Err
		}
		if keys = append(keys, object.Key); len(keys) == page {
			return keys, nil
		}
	}
	return keys, ctx.Err() // a call that was cut off looks like the end
}

// Check implements Store.
func (b *bucket) Check(ctx context.Context) error { return try(ctx, b, &b.kind) }

// plain returns what the service answered without its own words: they may
// repeat what it was sent.
func plain(err error) error {
	answer := minio.ToErrorResponse(err)
	switch {
	case answer.StatusCode == 0:
		return err
	case answer.StatusCode == http.StatusNotFound && answer.Code == minio.NoSuchKey:
		return ErrNotFound
	case len(answer.Code) > 50 || strings.ContainsFunc(answer.Code, func(r rune) bool { return r <= ' ' || r > '~' }):
		return fmt.Errorf("the service answered %d", answer.StatusCode)
	}
	return fmt.Errorf("the service answered %d %s", answer.StatusCode, answer.Code)
}
