package executor

import (
	"fmt"
	"log/slog"
	"net/http"
	"testing"
	"time"

	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/waymarkhq/waymark/internal/jobs"
	"github.com/waymarkhq/waymark/internal/tracing"
	"github.com/waymarkhq/waymark/internal/tracing/tracingtest"
)

// The span of an attempt tells how it ended, and an attempt that lost its lease from one that failed.
func TestSpansTellHowAttemptsEnd(t *testing.T) {
	c := tracingtest.Start(t)
	tracer, err := tracing.New(tracing.Options{Endpoint: c.Address, Calls: 1, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	ends := map[string]error{"": nil, "failed": errKind, "lease lost": fmt.Errorf("run: %w", jobs.ErrLeaseLost)}
	for name, err := range ends {
		_, one := tracer.Call(t.Context(), http.Header{}, "one "+name, time.Now())
		_, other := tracer.Call(t.Context(), http.Header{}, "other "+name, time.Now())
		spans{one, other}.end(err)
	}
	if err := tracer.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	for name, err := range ends {
		want := ptrace.StatusCodeUnset
		if err != nil {
			want = ptrace.StatusCodeError
		}
		for _, which := range []string{"one ", "other "} {
			if s := c.Span(t, which+name).Status(); s.Code() != want || s.Message() != name {
				t.Errorf("after %v: %s %q, want %s %q", err, s.Code(), s.Message(), want, name)
			}
		}
	}
}
