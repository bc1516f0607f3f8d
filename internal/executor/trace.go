package executor

import (
	"context"
	"errors"

	"github.com/waymarkhq/waymark/internal/jobs"
	"github.com/waymarkhq/waymark/internal/tracing"
)

// spans are those of the jobs of one attempt, each in the trace of its cause.
type spans []tracing.Span

// traced begins the spans of an attempt. Jobs that share a transaction do their work in the first of
// these traces, and the spans of the others refer to it.
func (e *Executor) traced(ctx context.Context, claimed ...jobs.Job) (context.Context, spans) {
	var all spans
	work := ctx
	for _, j := range claimed {
		if j.Trace == "" {
			continue
		}
		its, span := e.Tracer.Continue(ctx, j.Trace, "job "+j.Kind, tracing.Number("waymark.attempt", int(j.Attempts)))
		if !span.IsRecording() {
			continue
		}
		if len(all) == 0 {
			work = its
		} else {
			tracing.Refer(span, all[0])
		}
		all = append(all, span)
	}
	return work, all
}

// end ends the spans of an attempt that succeeded, or not.
func (s spans) end(err error) {
	for _, span := range s {
		switch {
		case errors.Is(err, jobs.ErrLeaseLost):
			tracing.Fail(span, "lease lost")
		case err != nil:
			tracing.Fail(span, "failed")
		}
		span.End()
	}
}
