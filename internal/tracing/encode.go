package tracing

import (
	"encoding/json"
	"io"
	"strconv"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// The types below are those of OTLP in JSON: opentelemetry-proto, trace/v1 and collector/trace/v1.

type request struct {
	ResourceSpans []resourceSpans `json:"resourceSpans"`
}

type resourceSpans struct {
	Resource   attributed   `json:"resource"`
	ScopeSpans []scopeSpans `json:"scopeSpans"`
}

type attributed struct {
	Attributes []pair `json:"attributes"`
}

type scopeSpans struct {
	Scope struct {
		Name string `json:"name"`
	} `json:"scope"`
	Spans []span `json:"spans"`
}

type span struct {
	TraceID    string  `json:"traceId"`
	SpanID     string  `json:"spanId"`
	ParentID   string  `json:"parentSpanId,omitempty"`
	Name       string  `json:"name"`
	Kind       int     `json:"kind"` // with the numbers of trace.SpanKind
	Start      string  `json:"startTimeUnixNano"`
	End        string  `json:"endTimeUnixNano"`
	Attributes []pair  `json:"attributes,omitempty"`
	Links      []link  `json:"links,omitempty"`
	Status     *status `json:"status,omitempty"`
}

type link struct {
	TraceID string `json:"traceId"`
	SpanID  string `json:"spanId"`
}

type status struct {
	Message string `json:"message,omitempty"`
	Code    int    `json:"code"`
}

type pair struct {
	Key   string `json:"key"`
	Value value  `json:"value"`
}

type value struct {
	Text   *string `json:"stringValue,omitempty"`
	Number *string `json:"intValue,omitempty"` // 64 bits are text in JSON
}

// statusError is the code of a failure, which has another number in OTLP than in codes.
const statusError = 2

// encode writes spans of one Tracer as a request.
func encode(w io.Writer, all []sdktrace.ReadOnlySpan) error {
	var in scopeSpans
	in.Scope.Name = scope
	var resource attributed
	for _, s := range all {
		resource.Attributes = pairs(s.Resource().Attributes())
		in.Spans = append(in.Spans, encoded(s))
	}
	return json.NewEncoder(w).Encode(request{[]resourceSpans{{resource, []scopeSpans{in}}}})
}

func encoded(s sdktrace.ReadOnlySpan) span {
	at := s.SpanContext()
	out := span{
		TraceID: at.TraceID().String(), SpanID: at.SpanID().String(), Name: s.Name(), Kind: int(s.SpanKind()),
		Start: nanoseconds(s.StartTime()), End: nanoseconds(s.EndTime()), Attributes: pairs(s.Attributes()),
	}
	if above := s.Parent(); above.HasSpanID() {
		out.ParentID = above.SpanID().String()
	}
	for _, l := range s.Links() {
		out.Links = append(out.Links, link{l.SpanContext.TraceID().String(), l.SpanContext.SpanID().String()})
	}
	if s.Status().Code == codes.Error {
		out.Status = &status{s.Status().Description, statusError}
	}
	return out
}

func nanoseconds(t time.Time) string { return strconv.FormatInt(t.UnixNano(), 10) }

// pairs encodes attributes, which are texts and whole numbers.
func pairs(attributes []attribute.KeyValue) (all []pair) {
	for _, a := range attributes {
		text := a.Value.String()
		v := value{Text: &text}
		if a.Value.Type() == attribute.INT64 {
			v = value{Number: &text}
		}
		all = append(all, pair{string(a.Key), v})
	}
	return all
}
