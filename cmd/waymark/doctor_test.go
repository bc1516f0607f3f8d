package main

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/waymarkhq/waymark/internal/platform"
)

func TestDisksAreJudged(t *testing.T) {
	for _, test := range []struct {
		bytes, files uint64
		want         grade
	}{
		{2 << 30, 10_000, fine}, {2<<30 - 1, math.MaxUint64, doubtful}, {256 << 20, math.MaxUint64, doubtful},
		{256<<20 - 1, math.MaxUint64, failed}, {math.MaxUint64, 9_999, doubtful}, {math.MaxUint64, 500, doubtful},
		{math.MaxUint64, 499, failed}, {1 << 30, 499, failed},
	} {
		f := disk{Space: platform.Space{Bytes: test.bytes, Files: test.files}}.judge()
		if f.grade != test.want || (f.advice == "") != (f.grade == fine) {
			t.Errorf("%d bytes and %d files: %+v, want %s", test.bytes, test.files, f, test.want)
		}
	}
	if f := (disk{err: errors.ErrUnsupported}).judge(); f.grade != failed {
		t.Errorf("what cannot be found out: %+v", f)
	}
}

func TestClocksAreJudged(t *testing.T) {
	for _, test := range []struct {
		behind, ahead time.Duration
		want          grade
	}{
		{0, 0, fine}, {-time.Hour, 0, fine}, {time.Second, time.Second, fine}, {0, -time.Second, fine},
		{time.Second + 1, 0, doubtful}, {0, time.Second + 1, doubtful}, {0, -time.Second - 1, doubtful},
		{10 * time.Second, -10 * time.Second, doubtful},
		{10*time.Second + 1, 0, failed}, {0, 10*time.Second + 1, failed}, {0, -10*time.Second - 1, failed},
		{2 * time.Second, 11 * time.Second, failed},
	} {
		if f := judgeClock(test.behind, test.ahead); f.grade != test.want || (f.advice == "") != (f.grade == fine) {
			t.Errorf("%s behind what is stored, %s ahead of the database: %+v, want %s", test.behind, test.ahead, f, test.want)
		}
	}
}

func TestQueuesAreJudged(t *testing.T) {
	for _, test := range []struct {
		n    int64
		late time.Duration
		want grade
	}{{0, time.Hour, fine}, {1, time.Minute, fine}, {1, time.Minute + 1, doubtful}} {
		if f := judgeQueue(test.n, test.late, "waiting", "do"); f.grade != test.want {
			t.Errorf("%d for %s: %+v, want %s", test.n, test.late, f, test.want)
		}
	}
}
