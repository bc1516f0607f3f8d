package tracing

import (
	"context"
	"log/slog"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/waymarkhq/waymark/internal/tracing/tracingtest"
)

// collecting returns a collector, and a Tracer that sends to it.
func collecting(t *testing.T, o Options) (*tracingtest.Collector, *Tracer) {
	t.Helper()
	c := tracingtest.Start(t)
	o.Endpoint, o.Version, o.Instance = c.Address, "v1", "here:1"
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	tracer, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tracer.Close(context.WithoutCancel(t.Context())) })
	return c, tracer
}

func closed(t *testing.T, tracer *Tracer) {
	t.Helper()
	if err := tracer.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// A collector gets what was begun: who caused what, when, and how it ended.
func TestSent(t *testing.T) {
	c, tracer := collecting(t, Options{Calls: 1})
	begun := time.Now().Add(-time.Minute)
	ctx, call := tracer.Call(t.Context(), http.Header{}, "call", begun)
	call.SetAttributes(Text("text", strings.Repeat("é", maxText+1)), Number("number", -7))
	part, inner := Start(ctx, "part", Text("a", "b"))
	stored := Stored(part)
	Fail(inner, "FAILED")
	inner.End()
	call.End()
	_, later := tracer.Continue(t.Context(), stored, "job")
	_, other := tracer.Call(t.Context(), http.Header{}, "other", time.Now())
	Refer(other, later)
	later.End()
	other.End()
	closed(t, tracer)

	root, child, job, second := c.Span(t, "call"), c.Span(t, "part"), c.Span(t, "job"), c.Span(t, "other")
	if took := root.EndTimestamp() - root.StartTimestamp(); took < pcommon.Timestamp(time.Minute) || took > pcommon.Timestamp(time.Hour) {
		t.Errorf("the call took %d ns", took)
	}
	if !root.ParentSpanID().IsEmpty() || root.TraceID().IsEmpty() || root.Kind() != ptrace.SpanKindServer {
		t.Errorf("the call: %s %s %s", root.TraceID(), root.ParentSpanID(), root.Kind())
	}
	if child.TraceID() != root.TraceID() || child.ParentSpanID() != root.SpanID() || child.Kind() != ptrace.SpanKindInternal ||
		child.Status().Code() != ptrace.StatusCodeError || child.Status().Message() != "FAILED" {
		t.Errorf("its part: %s %s %s %v", child.TraceID(), child.ParentSpanID(), child.Kind(), child.Status())
	}
	if job.TraceID() != root.TraceID() || job.ParentSpanID() != child.SpanID() || job.Kind() != ptrace.SpanKindConsumer ||
		job.Status().Code() != ptrace.StatusCodeUnset {
		t.Errorf("the job: %s %s %s %v", job.TraceID(), job.ParentSpanID(), job.Kind(), job.Status())
	}
	if second.TraceID() == root.TraceID() || second.Links().Len() != 1 || second.Links().At(0).SpanID() != job.SpanID() ||
		second.Links().At(0).TraceID() != job.TraceID() {
		t.Errorf("the other call: %s, %d links", second.TraceID(), second.Links().Len())
	}
	if got := child.Attributes().AsRaw(); len(got) != 1 || got["a"] != "b" {
		t.Errorf("attributes: %v", got)
	}
	if got := root.Attributes().AsRaw(); got["number"] != int64(-7) || got["text"] != strings.Repeat("é", maxText) {
		t.Errorf("attributes: %v", got)
	}
	if root.StartTimestamp() > child.StartTimestamp() || child.EndTimestamp() > root.EndTimestamp() ||
		child.StartTimestamp() == 0 {
		t.Errorf("times: %v–%v in %v–%v", child.StartTimestamp(), child.EndTimestamp(), root.StartTimestamp(), root.EndTimestamp())
	}
	if _, password, resource := c.Requests(); password != "secret" || !maps.Equal(resource, map[string]any{
		"service.name": "waymark", "service.version": "v1", "service.instance.id": "here:1"}) {
		t.Errorf("resource %v, password %q", resource, password)
	}
}

const parent = "00-0123456789abcdef0123456789abcdef-0123456789abcdef-0"

// Who decides whether something is traced.
func TestDrawn(t *testing.T) {
	for name, test := range map[string]struct {
		calls, visits float64
		begin         func(*Tracer) Span
		traced        bool
		trace         string
	}{
		"all calls": {1, 0, func(tr *Tracer) Span { return call(t, tr, "") }, true, ""},
		"no calls":  {0, 1, func(tr *Tracer) Span { return call(t, tr, "") }, false, ""},
		"a client that traces": {0, 0, func(tr *Tracer) Span { return call(t, tr, parent+"1") }, true,
			"0123456789abcdef0123456789abcdef"},
		"a client that does not":     {1, 1, func(tr *Tracer) Span { return call(t, tr, parent+"0") }, false, ""},
		"a client that sends no id":  {1, 0, func(tr *Tracer) Span { return call(t, tr, "00-x-y-01") }, true, ""},
		"work of no trace":           {1, 1, func(tr *Tracer) Span { return later(t, tr, "") }, false, ""},
		"work of a trace":            {0, 0, func(tr *Tracer) Span { return later(t, tr, parent+"1") }, true, "0123456789abcdef0123456789abcdef"},
		"work of one that ended":     {1, 1, func(tr *Tracer) Span { return later(t, tr, parent+"0") }, false, ""},
		"work of something else":     {1, 1, func(tr *Tracer) Span { return later(t, tr, "x") }, false, ""},
		"no tracer, a call":          {1, 1, func(*Tracer) Span { return call(t, nil, parent+"1") }, false, ""},
		"no tracer, work of a trace": {1, 1, func(*Tracer) Span { return later(t, nil, parent+"1") }, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, tracer := collecting(t, Options{Calls: test.calls, Visits: test.visits})
			span := test.begin(tracer)
			if span.IsRecording() != test.traced || test.trace != "" && span.SpanContext().TraceID().String() != test.trace {
				t.Errorf("traced: %t, %s", span.IsRecording(), span.SpanContext().TraceID())
			}
			for range 100 {
				if tracer.DrawsVisit() != (test.visits == 1) {
					t.Fatal("visits are drawn otherwise")
				}
			}
		})
	}
	if (*Tracer)(nil).DrawsVisit() || (*Tracer)(nil).Close(t.Context()) != nil {
		t.Error("a nil Tracer does something")
	}
}

func call(t *testing.T, tracer *Tracer, traceparent string) Span {
	header := http.Header{}
	if traceparent != "" {
		header.Set("Traceparent", traceparent)
	}
	ctx, span := tracer.Call(t.Context(), header, "call", time.Now())
	if Traced(ctx) != span.IsRecording() || (Stored(ctx) != "") != span.IsRecording() ||
		Of(ctx).SpanContext().SpanID() != span.SpanContext().SpanID() {
		t.Error("the context tells something else than the span")
	}
	if _, inner := Start(ctx, "part"); inner.IsRecording() != span.IsRecording() {
		t.Error("a part is traced otherwise than the whole")
	}
	return span
}

func later(t *testing.T, tracer *Tracer, stored string) Span {
	_, span := tracer.Continue(t.Context(), stored, "job")
	return span
}

// A visit has a trace of its own, whatever came with it.
func TestVisit(t *testing.T) {
	c, tracer := collecting(t, Options{Visits: 1})
	ctx, _ := tracer.Call(t.Context(), http.Header{"Traceparent": {parent + "1"}}, "call", time.Now())
	_, visit := tracer.Visit(ctx, "visit")
	visit.End()
	closed(t, tracer)
	if s := c.Span(t, "visit"); s.TraceID().String() == parent[3:35] || !s.ParentSpanID().IsEmpty() ||
		s.Kind() != ptrace.SpanKindServer {
		t.Errorf("%s %s %s", s.TraceID(), s.ParentSpanID(), s.Kind())
	}
}

// What a collector refuses for now is sent again; what it refuses is lost, counted, and logged once.
func TestRefused(t *testing.T) {
	for name, test := range map[string]struct {
		answers    []int
		requests   int
		sent, lost float64
		log        string
	}{
		"for now":    {[]int{503, 429}, 3, 1, 0, ""},
		"gateway":    {[]int{502, 504}, 3, 1, 0, ""},
		"for longer": {[]int{503, 503, 503}, 3, 0, 1, "503 Service Unavailable"},
		"for good":   {[]int{400}, 1, 0, 1, "400 Bad Request"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var log strings.Builder
			metrics := prometheus.NewRegistry()
			c, tracer := collecting(t, Options{Calls: 1, Log: slog.New(slog.NewTextHandler(&log, nil)), Metrics: metrics})
			c.Refuse(test.answers...)
			call(t, tracer, "").End()
			if err := tracer.provider.ForceFlush(t.Context()); err != nil {
				t.Fatal(err)
			}
			if n, _, _ := c.Requests(); n != test.requests {
				t.Errorf("%d requests, want %d", n, test.requests)
			}
			failed := strings.Count(log.String(), "traces cannot be sent")
			if !strings.Contains(log.String(), test.log) || failed != int(test.lost) || strings.Contains(log.String(), "secret") {
				t.Errorf("the log: %s", log.String())
			}
			c.Refuse(400)
			call(t, tracer, "").End()
			tracer.provider.ForceFlush(t.Context())
			call(t, tracer, "").End()
			tracer.provider.ForceFlush(t.Context())
			if n := strings.Count(log.String(), "traces cannot be sent"); n != 1 || strings.Count(log.String(), "sent again") != 1 {
				t.Errorf("the log: %s", log.String())
			}
			spans := tracer.exporter.spans
			if sent, lost := testutil.ToFloat64(spans.WithLabelValues("sent")),
				testutil.ToFloat64(spans.WithLabelValues("lost")); sent != test.sent+1 || lost != test.lost+1 {
				t.Errorf("%v sent, %v lost", sent, lost)
			}
		})
	}
}

// While a collector does not answer, so many spans wait for it; further ones are lost, and counted.
func TestQueueIsBounded(t *testing.T) {
	c, tracer := collecting(t, Options{Calls: 1})
	for round := 1; round <= 2; round++ {
		resume := c.Hold()
		for range maxQueue + 3 {
			call(t, tracer, "").End()
		}
		lost := testutil.ToFloat64(tracer.exporter.spans.WithLabelValues("lost"))
		resume()
		if err := tracer.provider.ForceFlush(t.Context()); err != nil {
			t.Fatal(err)
		}
		sent := testutil.ToFloat64(tracer.exporter.spans.WithLabelValues("sent"))
		if lost != float64(3*round) || sent != float64(maxQueue*round) {
			t.Errorf("round %d: %v lost, %v sent", round, lost, sent)
		}
	}
}

// A collector that cannot be reached takes no more time than it has, and its password is not logged.
func TestUnreachable(t *testing.T) {
	var log strings.Builder
	tracer, err := New(Options{Endpoint: "http://user:secret@127.0.0.1:1", Calls: 1, Log: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	call(t, tracer, "").End()
	closed(t, tracer)
	if text := log.String(); !strings.Contains(text, "traces cannot be sent") || strings.Contains(text, "secret") {
		t.Errorf("the log: %s", text)
	}
}

func TestAddresses(t *testing.T) {
	for _, wrong := range []string{"", "localhost:4318", "http://", "ftp://collector", "/v1/traces", "http://a b"} {
		if _, err := New(Options{Endpoint: wrong}); err == nil || !strings.Contains(err.Error(), "http://localhost:4318") {
			t.Errorf("%q: %v", wrong, err)
		}
	}
}
