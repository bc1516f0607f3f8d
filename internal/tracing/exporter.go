package tracing

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// exporter sends spans as JSON (OTLP 1.x over HTTP). The exporters of OpenTelemetry itself would bring
// gRPC into the program, which then has 2.8 million bytes more, and more than the 60 million that it may have.
type exporter struct {
	url     string
	client  *http.Client
	log     *slog.Logger
	spans   *prometheus.CounterVec
	failing atomic.Bool
	// waiting is how many spans are not sent yet.
	waiting atomic.Int64
}

const (
	// sendLimit bounds a request, with its repetitions.
	sendLimit = 10 * time.Second
	// sendAgain is the pause before a request that was refused for now is made again.
	sendAgain = time.Second
	// sendAttempts is how often a request is made.
	sendAttempts = 3
)

func newExporter(o Options) (*exporter, error) {
	u, err := url.Parse(o.Endpoint)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, errors.New("it is not an address such as http://localhost:4318")
	}
	e := &exporter{url: u.JoinPath("v1/traces").String(), client: &http.Client{}, log: o.Log,
		spans: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "waymark_trace_spans_total",
			Help: "Spans that were sent to the collector, or lost because it did not take them in time."}, []string{"outcome"})}
	if o.Metrics != nil {
		o.Metrics.MustRegister(e.spans)
	}
	return e, nil
}

// ExportSpans implements sdktrace.SpanExporter. Spans that cannot be sent are lost: nothing else
// waits for them.
func (e *exporter) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	defer e.waiting.Add(-int64(len(spans)))
	body, err := packed(spans)
	if err == nil {
		err = e.send(ctx, body)
	}
	if err != nil {
		e.spans.WithLabelValues("lost").Add(float64(len(spans)))
		if !e.failing.Swap(true) { // once, not with each batch
			e.log.Warn("traces cannot be sent, they are lost until the collector takes them", "error", err)
		}
		return nil
	}
	e.spans.WithLabelValues("sent").Add(float64(len(spans)))
	if e.failing.Swap(false) {
		e.log.Info("traces are sent again")
	}
	return nil
}

// queue is where spans wait to be sent. The processor of OpenTelemetry, too, gives up those that do not fit,
// but tells nobody how many they were.
type queue struct {
	sdktrace.SpanProcessor
	of *exporter
}

// OnEnd implements sdktrace.SpanProcessor.
func (q queue) OnEnd(s sdktrace.ReadOnlySpan) {
	if q.of.waiting.Add(1) > maxQueue {
		q.of.waiting.Add(-1)
		q.of.spans.WithLabelValues("lost").Inc()
		return
	}
	q.SpanProcessor.OnEnd(s)
}

// Shutdown implements sdktrace.SpanExporter.
func (e *exporter) Shutdown(context.Context) error {
	e.client.CloseIdleConnections()
	return nil
}

// packed returns the body of a request.
func packed(spans []sdktrace.ReadOnlySpan) ([]byte, error) {
	var body bytes.Buffer
	z := gzip.NewWriter(&body)
	err := errors.Join(encode(z, spans), z.Close())
	return body.Bytes(), err
}

// send makes a request, and makes it again where the collector may take it later.
func (e *exporter) send(ctx context.Context, body []byte) (err error) {
	for attempt := 1; ; attempt++ {
		var again bool
		if again, err = e.post(ctx, body); !again || attempt == sendAttempts {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(sendAgain):
		}
	}
}

func (e *exporter) post(ctx context.Context, body []byte) (again bool, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, e.url, bytes.NewReader(body))
	if err != nil {
		return false, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Content-Encoding", "gzip")
	answer, err := e.client.Do(r)
	if err != nil {
		if inner := (*url.Error)(nil); errors.As(err, &inner) {
			err = inner.Err // the address may have a password
		}
		return true, fmt.Errorf("POST /v1/traces: %w", err)
	}
	defer answer.Body.Close()
	io.Copy(io.Discard, io.LimitReader(answer.Body, 64<<10))
	switch answer.StatusCode {
	case http.StatusOK, http.StatusAccepted, http.StatusNoContent:
		return false, nil
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		again = true
	}
	return again, fmt.Errorf("POST /v1/traces: %s", answer.Status)
}
