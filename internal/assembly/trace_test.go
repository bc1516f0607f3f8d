package assembly_test

import (
	"log/slog"
	"strings"
	"testing"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/waymarkhq/waymark/internal/apitest"
	"github.com/waymarkhq/waymark/internal/store/storetest"
	"github.com/waymarkhq/waymark/internal/tracing"
	"github.com/waymarkhq/waymark/internal/tracing/tracingtest"
)

// traced runs f on a fresh installation of each engine that makes traces, and hands over what was sent.
func traced(t *testing.T, o tracing.Options, f func(*testing.T, *apitest.Installation),
	look func(*testing.T, *tracingtest.Collector)) {
	for _, engine := range storetest.Engines {
		t.Run(engine, func(t *testing.T) {
			c := tracingtest.Start(t)
			o.Endpoint, o.Log = c.Address, slog.New(slog.DiscardHandler)
			tracer, err := tracing.New(o)
			if err != nil {
				t.Fatal(err)
			}
			f(t, apitest.New(t, engine, apitest.Options{Tracer: tracer}))
			if err := tracer.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
			look(t, c)
		})
	}
}

// The trace of a call has its transaction with its statements, and the jobs and the deliveries that the
// transaction left, which are done later. Nothing else is traced.
func TestTraceOfACall(t *testing.T) {
	const trace, client = "0123456789abcdef0123456789abcdef", "fedcba9876543210"
	var requestID string
	traced(t, tracing.Options{}, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		owner.Call("POST", "/webhooks", apitest.M{"appId": owner.AppID, "url": "https://hooks.example.com/",
			"events": []string{"link.created"}}).Want(201)
		owner.Link("before", nil).Want(201)
		requestID = owner.Link("secret-slug", nil, apitest.Header("Traceparent", "00-"+trace+"-"+client+"-01")).Want(201).
			Header.Get("X-Request-Id")
		owner.Link("after", nil).Want(201)
		i.Settle(t)
		i.Deliver(t)
	}, func(t *testing.T, c *tracingtest.Collector) {
		call := c.Span(t, "POST /v1/links")
		if call.TraceID().String() != trace || call.ParentSpanID().String() != client {
			t.Errorf("the call is of trace %s, below %s", call.TraceID(), call.ParentSpanID())
		}
		for name, want := range map[string]any{"http.request.method": "POST", "http.route": "/v1/links",
			"http.response.status_code": int64(201), "waymark.operation": "createLinks", "waymark.request_id": requestID} {
			if got := call.Attributes().AsRaw()[name]; got != want {
				t.Errorf("%s is %v, want %v", name, got, want)
			}
		}
		delivery := c.Span(t, "delivery link.created")
		if delivery.Status().Code() != ptrace.StatusCodeError || delivery.Status().Message() == "" {
			t.Errorf("a delivery that failed is told as %s %q", delivery.Status().Code(), delivery.Status().Message())
		}
		byID := map[pcommon.SpanID]ptrace.Span{}
		for _, s := range c.Spans(t) {
			byID[s.SpanID()] = s
		}
		below := map[string]string{"transaction": "POST /v1/links, job link.publish", "statement": "transaction, POST /v1/links",
			"job link.publish": "transaction", "delivery link.created": "transaction"}
		seen := map[string]int{}
		for _, s := range byID {
			seen[s.Name()]++
			if s.TraceID().String() != trace {
				t.Errorf("%s is of trace %s", s.Name(), s.TraceID())
			}
			if above, found := byID[s.ParentSpanID()]; s.Name() != call.Name() &&
				(!found || !strings.Contains(below[s.Name()], above.Name())) {
				t.Errorf("%s is below %q, want %s", s.Name(), above.Name(), below[s.Name()])
			}
			for name, value := range s.Attributes().AsRaw() {
				if text, _ := value.(string); strings.Contains(text, "secret-slug") {
					t.Errorf("%s of %s is %s", name, s.Name(), text)
				}
			}
		}
		if seen["transaction"] < 2 || seen["statement"] < 5 || seen["job link.publish"] != 1 {
			t.Errorf("the trace has %v", seen)
		}
	})
}

// A refusal is told by its code; only what the server did wrong is a failure.
func TestTraceOfARefusal(t *testing.T) {
	traced(t, tracing.Options{Calls: 1}, func(t *testing.T, i *apitest.Installation) {
		i.Owner(t, "ann@example.com").Call("GET", "/links/nothing", nil).Want(404)
	}, func(t *testing.T, c *tracingtest.Collector) {
		call := c.Span(t, "GET /v1/links/{linkId}")
		if got := call.Attributes().AsRaw(); got["error.type"] != "not_found" || call.Status().Code() != ptrace.StatusCodeUnset {
			t.Errorf("%v, %s", got, call.Status().Code())
		}
	})
}

// The trace of a visit has the statements that read what was not in memory.
func TestTraceOfAVisit(t *testing.T) {
	traced(t, tracing.Options{Visits: 1}, func(t *testing.T, i *apitest.Installation) {
		i.Visit(t, "https://nobody."+apitest.Zone+"/", nil, nil)
	}, func(t *testing.T, c *tracingtest.Collector) {
		visit := c.Span(t, "visit")
		if got := visit.Attributes().AsRaw(); len(got) != 1 || got["waymark.outcome"] != "not_found" {
			t.Errorf("attributes: %v", got)
		}
		statements := 0
		for _, s := range c.Spans(t) {
			if s.Name() == "statement" && s.ParentSpanID() == visit.SpanID() {
				statements++
			}
		}
		if statements == 0 {
			t.Error("the visit has no statement")
		}
	})
}
