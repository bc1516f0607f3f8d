package exports

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/waymarkhq/waymark/internal/analytics"
	"github.com/waymarkhq/waymark/internal/automation"
	"github.com/waymarkhq/waymark/internal/delivery"
	"github.com/waymarkhq/waymark/internal/durable"
	"github.com/waymarkhq/waymark/internal/link"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/turns"
)

// The bounds of an export (api-v1.md, Sizes and counts).
const (
	maxRecords = 1000
	maxBytes   = 1 << 20
	// maxTime is how long reading may take.
	maxTime = 10 * time.Second
	// busyWait is how long an export waits when its owner has too many heavy reads open.
	busyWait = 2 * time.Second
)

// errTooLarge is an export that exceeds its bounds: it fails, it is never cut.
var errTooLarge = errors.New("the export exceeds its bounds")

// next makes the file of an export, after a first turn that shows it as
// running.
func (e *service) next(ctx context.Context, r *durable.Run) error {
	j, err := automation.Of(ctx, r.DB, &r.Operation)
	if err != nil {
		return err
	}
	if j.State == durable.Queued {
		return r.InTx(ctx, func(ctx context.Context, _ *op.Call, tx *store.Tx) error {
			j.State = durable.Running
			return j.Save(ctx, tx)
		})
	}
	var asked request
	if err := json.Unmarshal([]byte(j.Request), &asked); err != nil {
		return err
	}
	content, n, err := e.content(ctx, r.Call, asked)
	if errors.Is(err, turns.ErrBusy) { // with other reads of the owner
		return r.Later(ctx, r.DB.Now().Add(busyWait))
	}
	late := errors.Is(err, context.DeadlineExceeded) || errors.Is(err, turns.ErrSlow)
	if err != nil && !errors.Is(err, errTooLarge) && !late {
		return err
	}
	return r.Finish(ctx, func(ctx context.Context, c *op.Call, tx *store.Tx, o *durable.Operation) error {
		if err := e.finish(ctx, c, tx, o, &j, asked, content, late); err != nil {
			return err
		}
		if j.State = o.Status; o.Status == durable.Succeeded {
			j.Total, j.Succeeded = n, n
		}
		if err := j.Save(ctx, tx); err != nil || o.Status != durable.Succeeded {
			return err
		}
		return delivery.Emit(ctx, tx, delivery.ExportReady, j.Ref())
	})
}

// finish ends the operation of an export; content is "" when there is none,
// because it took too long or would be too large.
func (e *service) finish(ctx context.Context, c *op.Call, tx *store.Tx, o *durable.Operation, j *automation.Record,
	asked request, content string, late bool) error {
	if c.Require(permission(asked.Dataset)) != nil {
		return o.Fail(ctx, tx, "authorization_lost", "The credential that started this is no longer authorized to "+
			"read the data.")
	}
	if late {
		return o.Fail(ctx, tx, "export_too_slow", fmt.Sprintf("The data could not be read within %.0f seconds. "+
			"Narrow the filters.", maxTime.Seconds()))
	}
	if content == "" {
		return o.Fail(ctx, tx, "export_too_large", fmt.Sprintf("The export would have more than %d records or %d "+
			"bytes. Narrow the filters.", maxRecords, maxBytes))
	}
	if err := automation.SaveFile(ctx, tx, j, content); err != nil {
		return err
	}
	return o.Finish(ctx, tx, durable.Result{Resource: durable.Resource{Type: automation.Export, ID: j.ID}})
}

// content returns the file that a request asks for and how many records it
// has.
func (e *service) content(ctx context.Context, c *op.Call, asked request) (string, int64, error) {
	ctx, cancel := context.WithTimeout(ctx, maxTime)
	defer cancel()
	if asked.Dataset == "links" {
		filters, err := e.chosen(asked.Filters.Value)
		if err != nil {
			return "", 0, err
		}
		var links []link.Link
		if err := c.Heavy(ctx, func(ctx context.Context, c *op.Call) (err error) {
			links, err = e.links.Chosen(ctx, c, filters, maxRecords+1)
			return err
		}); err != nil {
			return "", 0, err
		}
		return file(asked.Format, links)
	}
	span, err := e.span(asked.Filters.Value)
	if err != nil {
		return "", 0, err
	}
	if asked.Dataset == "events" {
		events, err := analytics.EventsIn(ctx, c, e.events, span, maxRecords+1)
		if err != nil {
			return "", 0, err
		}
		return file(asked.Format, events)
	}
	summary, err := analytics.SummaryOf(ctx, c, e.events, span)
	if err != nil {
		return "", 0, err
	}
	return file(asked.Format, []analytics.Summary{summary})
}

// file writes records in a format, within the bounds.
func file[T any](format string, records []T) (string, int64, error) {
	if len(records) > maxRecords {
		return "", 0, errTooLarge
	}
	var text string
	if format == "csv" {
		var err error
		if text, err = asCSV(records); err != nil {
			return "", 0, err
		}
	} else {
		b, err := json.Marshal(records)
		if err != nil {
			return "", 0, err
		}
		text = string(b)
	}
	if len(text) > maxBytes {
		return "", 0, errTooLarge
	}
	return text, int64(len(records)), nil
}
