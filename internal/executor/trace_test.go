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

// collecting returns a tracer, and the collector to which it sends every span.
func collecting(t *testing.T) (*tracingtest.Collector, *tracing.Tracer) {
	t.Helper()
	c := tracingtest.Start(t)
	tracer, err := tracing.New(tracing.Options{Endpoint: c.Address, Calls: 1, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	return c, tracer
}

// What jobs do together is in the trace of the first, and the spans of the others refer to that. A job whose
// cause is not traced has no span.
func TestSpansOfJobsTogether(t *testing.T) {
	c, tracer := collecting(t)
	claimed := []jobs.Job{{Kind: "untraced"}}
	for _, kind := range []string{"a", "b", "c"} {
		ctx, span := tracer.Call(t.Context(), http.Header{}, "call", time.Now())
		claimed = append(claimed, jobs.Job{Kind: kind, Trace: tracing.Stored(ctx)})
		span.End()
	}
	ctx, all := (&Executor{Options: Options{Tracer: tracer}}).traced(t.Context(), claimed...)
	_, within := tracing.Start(ctx, "within")
	within.End()
	all.end(nil)
	if err := tracer.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	first := c.Span(t, "job a")
	if work := c.Span(t, "within"); len(all) != 3 || first.Links().Len() != 0 || work.ParentSpanID() != first.SpanID() {
		t.Errorf("%d spans, %d links, the work is below %s", len(all), first.Links().Len(), work.ParentSpanID())
	}
	for _, name := range []string{"job b", "job c"} {
		if links := c.Span(t, name).Links(); links.Len() != 1 || links.At(0).SpanID() != first.SpanID() {
			t.Errorf("%s has %d links", name, links.Len())
		}
	}
}

// The span of an attempt tells how it ended, and an attempt that lost its lease from one that failed.
func TestSpansTellHowAttemptsEnd(t *testing.T) {
	c, tracer := collecting(t)
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
