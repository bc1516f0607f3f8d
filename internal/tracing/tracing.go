// Package tracing tells a collector of OpenTelemetry what took how long, and what caused it: a call of
// the API, its transaction and the statements of that, the jobs that it left, and the webhooks that
// these sent. It is off unless somebody names a collector; then nothing of it costs time.
//
// Spans have no addresses of clients, no bodies, no arguments of statements and no credentials.
package tracing

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// Span is one piece of work with its times. A span that is not traced takes no notice of anything.
type Span = trace.Span

// Attr is a name and a value of a span.
type Attr = attribute.KeyValue

const (
	// maxQueue is how many spans wait to be sent; further ones are lost.
	maxQueue = 4096
	// maxBatch is how many spans a request has.
	maxBatch = 512
	// maxAttributes bounds the attributes, events and links of a span.
	maxAttributes = 64
	// maxText bounds a text of a span, in characters.
	maxText = 1000
	// sendEvery is how long a span waits for others.
	sendEvery = 2 * time.Second
)

// Options say where spans go, and how many there are.
type Options struct {
	// Endpoint is the address of a collector that takes OTLP over HTTP, such as
	// http://localhost:4318. A name and a password in it are sent as HTTP's basic authorization.
	Endpoint string
	// Calls and Visits are the shares of the API's calls and of visits that are traced, from 0 to 1.
	// A call whose client sent a traceparent is traced when the client says so.
	Calls, Visits float64
	// Version is that of the program.
	Version string
	// Instance names the process among others.
	Instance string
	Log      *slog.Logger
	// Metrics registers the counter of spans; may be nil.
	Metrics prometheus.Registerer
}

// Tracer begins traces. A nil Tracer begins none.
type Tracer struct {
	calls, visits float64
	exporter      *exporter
	provider      *sdktrace.TracerProvider
	tracer        trace.Tracer
}

// scope names who made the spans.
const scope = "github.com/waymarkhq/waymark"

// New returns a Tracer that sends until it is closed.
func New(o Options) (*Tracer, error) {
	to, err := newExporter(o)
	if err != nil {
		return nil, err
	}
	limits := sdktrace.NewSpanLimits()
	limits.AttributeCountLimit, limits.EventCountLimit, limits.LinkCountLimit = maxAttributes, maxAttributes, maxAttributes
	limits.AttributeValueLengthLimit = maxText
	provider := sdktrace.NewTracerProvider(
		// Whether to trace is decided before a span is made, so that one that is not costs nothing.
		sdktrace.WithSampler(sdktrace.AlwaysSample()),
		sdktrace.WithRawSpanLimits(limits),
		sdktrace.WithResource(resource.NewSchemaless(attribute.String("service.name", "waymark"),
			attribute.String("service.version", o.Version), attribute.String("service.instance.id", o.Instance))),
		sdktrace.WithSpanProcessor(queue{of: to, SpanProcessor: sdktrace.NewBatchSpanProcessor(to,
			sdktrace.WithMaxQueueSize(maxQueue), sdktrace.WithMaxExportBatchSize(maxBatch),
			sdktrace.WithBatchTimeout(sendEvery), sdktrace.WithExportTimeout(sendLimit))}),
	)
	return &Tracer{calls: o.Calls, visits: o.Visits, exporter: to, provider: provider, tracer: provider.Tracer(scope)}, nil
}

// Close sends what waits, until ctx ends.
func (t *Tracer) Close(ctx context.Context) error {
	if t == nil {
		return nil
	}
	if err := t.provider.Shutdown(ctx); err != nil {
		return fmt.Errorf("send the last traces: %w", err)
	}
	return nil
}

// Call begins the span of a call of the API, which began before. It belongs to the trace of its client, if that
// sent one (W3C Trace Context): that decides whether the call is traced, so it must be known who it is.
func (t *Tracer) Call(ctx context.Context, header http.Header, name string, began time.Time) (context.Context, Span) {
	if t == nil {
		return ctx, trace.SpanFromContext(ctx)
	}
	ctx = propagation.TraceContext{}.Extract(ctx, propagation.HeaderCarrier(header))
	if from := trace.SpanContextFromContext(ctx); from.IsValid() && !from.IsSampled() || !from.IsValid() && !drawn(t.calls) {
		return ctx, trace.SpanFromContext(ctx)
	}
	return t.tracer.Start(ctx, name, trace.WithSpanKind(trace.SpanKindServer), trace.WithTimestamp(began))
}

// DrawsVisit reports whether the next visit is to be traced.
func (t *Tracer) DrawsVisit() bool { return t != nil && drawn(t.visits) }

func drawn(share float64) bool { return share > 0 && rand.Float64() < share }

// Visit begins the span of a visit that was drawn. What visitors send of traces is not read.
func (t *Tracer) Visit(ctx context.Context, name string) (context.Context, Span) {
	return t.tracer.Start(ctx, name, trace.WithSpanKind(trace.SpanKindServer), trace.WithNewRoot())
}

// Continue begins a span of work that was stored with the trace of its cause (see Stored), "" for
// none: then it is not traced.
func (t *Tracer) Continue(ctx context.Context, stored, name string, attrs ...Attr) (context.Context, Span) {
	if t == nil || stored == "" {
		return ctx, trace.SpanFromContext(ctx)
	}
	ctx = propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier{traceparent: stored})
	if !trace.SpanContextFromContext(ctx).IsSampled() {
		return ctx, trace.SpanFromContext(ctx)
	}
	return t.tracer.Start(ctx, name, trace.WithSpanKind(trace.SpanKindConsumer), trace.WithAttributes(attrs...))
}

// Start begins a part of the work of ctx. It is traced when that is.
func Start(ctx context.Context, name string, attrs ...Attr) (context.Context, Span) {
	above := trace.SpanFromContext(ctx)
	if !above.IsRecording() {
		return ctx, above
	}
	return above.TracerProvider().Tracer(scope).Start(ctx, name, trace.WithAttributes(attrs...))
}

// Of returns the span of the work of ctx.
func Of(ctx context.Context) Span { return trace.SpanFromContext(ctx) }

// Traced reports whether the work of ctx is traced.
func Traced(ctx context.Context) bool { return trace.SpanFromContext(ctx).IsRecording() }

const traceparent = "traceparent"

// Stored returns what Continue goes on from later, "" where the work of ctx is not traced: a header
// traceparent of W3C Trace Context, of 55 characters.
func Stored(ctx context.Context) string {
	if !Traced(ctx) {
		return ""
	}
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, carrier)
	return carrier[traceparent]
}

// Refer has a span refer to one of another trace.
func Refer(span, to Span) { span.AddLink(trace.Link{SpanContext: to.SpanContext()}) }

// Fail marks a span as failed, for a reason that is safe to tell, such as a code.
func Fail(span Span, reason string) { span.SetStatus(codes.Error, reason) }

// Text returns an attribute.
func Text(name, value string) Attr { return attribute.String(name, value) }

// Number returns an attribute.
func Number(name string, value int) Attr { return attribute.Int(name, value) }
