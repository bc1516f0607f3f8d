package apitest

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
)

// Journal collects what is logged, for Options.Log, or what a process writes.
type Journal struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements io.Writer.
func (j *Journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(p)
}

// String returns everything that was written so far.
func (j *Journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}

// noRuntimeErrors is a handler of the log. It fails the test when the log tells of a runtime error, such as that of a nil
// pointer: the call only answers with an internal error, or the job fails, and a test may expect that for another reason.
type noRuntimeErrors struct {
	slog.Handler
	t testing.TB
}

// Enabled implements slog.Handler.
func (n noRuntimeErrors) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn || n.Handler.Enabled(ctx, level)
}

// Handle implements slog.Handler.
func (n noRuntimeErrors) Handle(ctx context.Context, r slog.Record) error {
	r.Attrs(func(a slog.Attr) bool {
		if told := a.Value.String(); strings.Contains(told, "runtime error: ") {
			n.t.Errorf("%s: %s", r.Message, told)
		}
		return true
	})
	if !n.Handler.Enabled(ctx, r.Level) {
		return nil
	}
	return n.Handler.Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (n noRuntimeErrors) WithAttrs(attrs []slog.Attr) slog.Handler {
	return noRuntimeErrors{n.Handler.WithAttrs(attrs), n.t}
}

// WithGroup implements slog.Handler.
func (n noRuntimeErrors) WithGroup(name string) slog.Handler {
	return noRuntimeErrors{n.Handler.WithGroup(name), n.t}
}
