package op

import (
	"log/slog"
	"net/http"
	"testing"
	"time"

	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/tracing"
	"github.com/waymarkhq/waymark/internal/tracing/tracingtest"
)

// The trace of a call names the call, and a failure of the service by its code. What the client did wrong is no failure.
func TestTraceOfAFailure(t *testing.T) {
	collector := tracingtest.Start(t)
	tracer, err := tracing.New(tracing.Options{Endpoint: collector.Address, Calls: 1, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	ends := map[string]struct {
		status int
		code   fault.Code
		want   ptrace.StatusCode
	}{
		"success":          {200, "", ptrace.StatusCodeUnset},
		"refusal":          {499, fault.NotFound, ptrace.StatusCodeUnset},
		"failure":          {500, fault.Internal, ptrace.StatusCodeError},
		"part unavailable": {503, fault.Unavailable, ptrace.StatusCodeError},
	}
	for name, end := range ends {
		c := &callContext{row: &row{}}
		c.row.ID, c.row.Method, c.row.Path, c.RequestID = "createTags", "POST", "/tags", name
		c.ctx, _ = tracer.Call(t.Context(), http.Header{}, name, time.Now())
		c.trace(end.status, end.code)
		tracing.Of(c.ctx).End()
	}
	if err := tracer.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	for name, end := range ends {
		span, message := collector.Span(t, name), ""
		if end.want == ptrace.StatusCodeError {
			message = string(end.code)
		}
		if got := span.Status(); got.Code() != end.want || got.Message() != message {
			t.Errorf("%s: %s %q, want %s %q", name, got.Code(), got.Message(), end.want, message)
		}
		told := span.Attributes().AsRaw()
		for attribute, want := range map[string]any{"http.request.method": "POST", "http.route": "/v1/tags",
			"http.response.status_code": int64(end.status), "waymark.operation": "createTags", "waymark.request_id": name} {
			if told[attribute] != want {
				t.Errorf("%s: %s is %v, want %v", name, attribute, told[attribute], want)
			}
		}
		if code, told := told["error.type"]; told != (end.code != "") || told && code != string(end.code) {
			t.Errorf("%s: the type of its error is %v", name, code)
		}
	}
}
