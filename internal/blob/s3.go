package blob

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

// bucket is a Store in an S3-compatible service.
type bucket struct {
	client       *minio.Client
	name, prefix string
}

// callTimeout bounds a call of the service: a caller of ours waits for it.
const callTimeout = 10 * time.Second

func openS3(address string) (*bucket, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return nil, errors.New("the asset store's address is not s3://bucket/prefix?endpoint=https://host")
	}
	if u.User != nil {
		return nil, errors.New("the asset store's address must not hold credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
	}
	query := u.Query()
	endpoint := &url.URL{Scheme: "https", Host: "s3.amazonaws.com"}
	for name := range query {
		if name != "endpoint" && name != "region" {
			return nil, fmt.Errorf("the asset store's address has an unknown setting %q", name)
		}
	}
	options := minio.Options{Region: query.Get("region"), MaxRetries: 2}
	if text := query.Get("endpoint"); text != "" {
		endpoint, err = url.Parse(text)
		if err != nil || endpoint.Host == "" || endpoint.Scheme != "https" && endpoint.Scheme != "http" || strings.Trim(endpoint.Path, "/") != "" {
			return nil, fmt.Errorf("the asset store's endpoint %q is not an address such as https://s3.example.com", text)
		}
		options.BucketLookup = minio.BucketLookupPath
	}
	key, secret := os.Getenv("AWS_ACCESS_KEY_ID"), os.Getenv("AWS_SECRET_ACCESS_KEY")
	if key == "" || secret == "" {
		return nil, errors.New("the asset store needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment")
	}
	options.Creds = credentials.NewStaticV4(key, secret, os.Getenv("AWS_SESSION_TOKEN"))
	options.Secure = endpoint.Scheme == "https"
	client, err := minio.New(endpoint.Host, &options)
	if err != nil {
		return nil, fmt.Errorf("asset store: %w", err)
	}
	b := &bucket{client: client, name: u.Host, prefix: strings.Trim(u.Path, "/")}
	if b.prefix != "" {
		b.prefix += "/"
	}
	return b, nil
}

// Put implements Store.
func (b *bucket) Put(ctx context.Context, name, contentType string, r io.Reader, size int64) error {
	if err := checkName(name); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	_, err := b.client.PutObject(ctx, b.name, b.prefix+name, r, size, minio.PutObjectOptions{ContentType: contentType, DisableMultipart: true})
	return b.describe("store", name, err)
}

// Open implements Store. All of an object is read at once: it is small, and a
// service that fails in the middle is told from an object that is whole.
func (b *bucket) Open(ctx context.Context, name string) (io.ReadSeekCloser, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	object, err := b.client.GetObject(ctx, b.name, b.prefix+name, minio.GetObjectOptions{})
	if err != nil {
		return nil, b.describe("read", name, err)
	}
	defer object.Close()
	content, err := io.ReadAll(io.LimitReader(object, MaxSize))
	if err != nil {
		return nil, b.describe("read", name, err)
	}
	return nopCloser{bytes.NewReader(content)}, nil
}

type nopCloser struct{ io.ReadSeeker }

func (nopCloser) Close() error { return nil }

// Delete implements Store.
func (b *bucket) Delete(ctx context.Context, name string) error {
	if err := checkName(name); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	err := b.describe("remove", name, b.client.RemoveObject(ctx, b.name, b.prefix+name, minio.RemoveObjectOptions{}))
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	return err
}

// Names implements Store.
func (b *bucket) Names(ctx context.Context, each func(string) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for object := range b.client.ListObjects(ctx, b.name, minio.ListObjectsOptions{Prefix: b.prefix, Recursive: true}) {
		if object.Err != nil {
			return b.describe("list", b.prefix, object.Err)
		}
		if name := strings.TrimPrefix(object.Key, b.prefix); nameText.MatchString(name) {
			if err := each(name); err != nil {
				return err
			}
		}
	}
	return nil
}

// Check implements Store.
func (b *bucket) Check(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	exists, err := b.client.BucketExists(ctx, b.name)
	if err == nil && !exists {
		err = errors.New("there is no such bucket")
	}
	return b.describe("look at", b.name, err)
}

func (b *bucket) describe(what, name string, err error) error {
	if err == nil {
		return nil
	}
	if response := minio.ToErrorResponse(err); response.Code == minio.NoSuchKey || response.StatusCode == http.StatusNotFound && response.Code == "" {
		return ErrNotFound
	}
	return fmt.Errorf("asset store: %s %s: %w", what, name, err)
}
