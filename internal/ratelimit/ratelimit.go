// Package ratelimit counts calls in fixed windows. A call names every bucket
// that it counts against and is admitted by all of them or by none, so a call
// refused for its app costs its credential nothing.
//
// It owns the counters, in memory where one process serves the installation
// and in the database where several do. Which buckets a call has is for the
// pipeline (package op) to say.
package ratelimit

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/waymarkhq/waymark/internal/clock"
)

// Bucket is one counter with its limit.
type Bucket struct {
	Name   string // entry, read, write, link-create, upload, receipt
	By     string // credential, account, app
	Key    string // whose: the id of the credential, account or app
	Limit  int64
	Window time.Duration
}

// id names the counter in storage. Two windows of one name, such as those of
// link creation, count apart.
func (b Bucket) id() string {
	return b.Name + "|" + b.By + "|" + b.Key + "|" + strconv.Itoa(int(b.Window.Seconds()))
}

// start returns when the window around now began: windows are aligned to the
// epoch, so they are the same for every process.
func (b Bucket) start(now clock.Instant) clock.Instant {
	return now - now%clock.Instant(b.Window.Microseconds())
}

// Standing is how full a bucket is.
type Standing struct {
	Bucket
	Used  int64
	Reset clock.Instant
}

// Remaining returns how many more calls the window admits.
func (s Standing) Remaining() int64 { return max(0, s.Limit-s.Used) }

// Policy is the value of X-RateLimit-Policy (completions.md §1).
func (s Standing) Policy() string {
	return fmt.Sprintf("%d;w=%d;name=%q;by=%q", s.Limit, int(s.Window.Seconds()), s.Name, s.By)
}

// RetryAfter returns the whole seconds until the window ends, at least 1.
func (s Standing) RetryAfter(now clock.Instant) int {
	return max(1, int((s.Reset.Sub(now)+time.Second-1)/time.Second))
}

// Tightest returns the standing closest to exhaustion.
func Tightest(all []Standing) Standing {
	tightest := all[0]
	for _, s := range all[1:] {
		if s.Remaining() < tightest.Remaining() {
			tightest = s
		}
	}
	return tightest
}

// Limiter counts.
type Limiter interface {
	// Take counts one call in every bucket when all of them admit it, and in
	// none otherwise. The standings follow the order of the buckets; those of
	// a refusal show the full ones at their limit.
	Take(ctx context.Context, now clock.Instant, buckets []Bucket) (standings []Standing, admitted bool, err error)
	// Add counts n in one bucket, also beyond its limit, and returns its standing.
	Add(ctx context.Context, now clock.Instant, b Bucket, n int64) (Standing, error)
	// Peek returns the standings without counting.
	Peek(ctx context.Context, now clock.Instant, buckets []Bucket) ([]Standing, error)
}

func (b Bucket) standing(used int64, now clock.Instant) Standing {
	return Standing{Bucket: b, Used: used, Reset: b.start(now).Add(b.Window)}
}
