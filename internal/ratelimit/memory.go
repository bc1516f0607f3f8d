package ratelimit

import (
	"context"
	"sync"
	"time"

	"github.com/waymarkhq/waymark/internal/clock"
)

// maxWindows is how many windows are counted at once. One more takes the place of any:
// addresses without end (there are 2^64 networks of IPv6 addresses) take no memory without
// end, and an address whose count is lost only begins anew.
const maxWindows = 1 << 18

// Memory counts in this process: for an installation that one process serves,
// which is every one on SQLite. Counters start anew with the process.
type Memory struct {
	mu      sync.Mutex
	windows map[windowKey]window
	swept   clock.Instant
}

// windowKey is Bucket.id without building a string on every call.
type windowKey struct {
	name, by, key string
	length        time.Duration
}

type window struct {
	ends clock.Instant
	used int64
}

// NewMemory returns counters in this process.
func NewMemory() *Memory { return &Memory{windows: map[windowKey]window{}} }

// Take implements Limiter.
func (m *Memory) Take(_ context.Context, now clock.Instant, buckets []Bucket) ([]Standing, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sweep(now)
	standings, admitted := m.peek(now, buckets)
	if !admitted {
		return standings, false, nil
	}
	for i := range standings {
		standings[i].Used++
		m.set(standings[i])
	}
	return standings, true, nil
}

// Add implements Limiter.
func (m *Memory) Add(_ context.Context, now clock.Instant, b Bucket, n int64) (Standing, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sweep(now)
	standings, _ := m.peek(now, []Bucket{b})
	standings[0].Used += n
	m.set(standings[0])
	return standings[0], nil
}

// set keeps a standing.
func (m *Memory) set(s Standing) {
	key := keyOf(s.Bucket)
	if _, known := m.windows[key]; !known && len(m.windows) >= maxWindows {
		for other := range m.windows {
			delete(m.windows, other)
			break
		}
	}
	m.windows[key] = window{ends: s.Reset, used: s.Used}
}

// Peek implements Limiter.
func (m *Memory) Peek(_ context.Context, now clock.Instant, buckets []Bucket) ([]Standing, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	standings, _ := m.peek(now, buckets)
	return standings, nil
}

func (m *Memory) peek(now clock.Instant, buckets []Bucket) (standings []Standing, admit bool) {
	admit = true
	standings = make([]Standing, len(buckets))
	for i, b := range buckets {
		used := int64(0)
		if w := m.windows[keyOf(b)]; now < w.ends {
			used = w.used
		}
		standings[i] = b.standing(used, now)
		admit = admit && used < b.Limit
	}
	return standings, admit
}

// sweep forgets ended windows about once a minute.
func (m *Memory) sweep(now clock.Instant) {
	if now < m.swept {
		return
	}
	for k, w := range m.windows {
		if now >= w.ends {
			delete(m.windows, k)
		}
	}
	m.swept = now.Add(sweepEvery)
}

func keyOf(b Bucket) windowKey { return windowKey{b.Name, b.By, b.Key, b.Window} }
