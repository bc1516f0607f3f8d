// Package exports owns exports: files of an app's links or events that the
// executor makes and a client downloads within a day (api-v1.md, Exports;
// completions.md §8).
package exports

import (
	"context"
	"errors"

	"github.com/go-json-experiment/json"

	"github.com/waymarkhq/waymark/internal/analytics"
	"github.com/waymarkhq/waymark/internal/automation"
	"github.com/waymarkhq/waymark/internal/durable"
	"github.com/waymarkhq/waymark/internal/eventstore"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/jobs"
	"github.com/waymarkhq/waymark/internal/link"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/opt"
	"github.com/waymarkhq/waymark/internal/part"
	"github.com/waymarkhq/waymark/internal/store"
)

// CreateExport is the body of createExports.
type CreateExport struct {
	AppID   string              `json:"appId" minLength:"1" maxLength:"500"`
	Dataset string              `json:"dataset" enum:"links,events,summary"`
	Format  string              `json:"format" enum:"csv,json"`
	Filters opt.Opt[opt.Object] `json:"filters,omitzero" doc:"For links: the filters of getLinks, all optional. For events and summary: start and end (required), timezone (UTC) and group."`
}

// SchemaName implements schema.Named.
func (CreateExport) SchemaName() string { return "ExportCreate" }

// request is what is stored of an export.
type request struct {
	Dataset string     `json:"dataset"`
	Format  string     `json:"format"`
	Filters opt.Object `json:"filters"`
}

// permission is what reading the original data of a dataset needs.
func permission(dataset string) string {
	if dataset == "links" {
		return "links:read"
	}
	return "analytics:read"
}

// service holds what the operations and the work need.
type service struct {
	links  *link.Service
	events eventstore.Engine
	chosen func([]byte) (link.Filters, error)
	span   func([]byte) (analytics.Span, error)
}

// Register declares the operations of this package, adds what they do to works and
// returns the package's part.
func Register(p *op.Pipeline, works *durable.Works, links *link.Service, events eventstore.Engine) part.Part {
	e := &service{links, events, op.Reader[link.Filters](p), op.Reader[analytics.Span](p)}
	app := op.AppOf("exportId", automation.AppOf(automation.Export))
	op.Write(p, op.Op{ID: "createExports", Method: "POST", Path: "/exports", Perm: "exports:create", App: op.AppInBody,
		Status: 202, Needs: func(in any) []string { return []string{permission(in.(*createInput).Body.Dataset)} },
		Summary: "Export links or analytics", Doc: "An export has at most 1,000 records and 1 MiB; a larger one " +
			"fails and is never cut. Needs links:read or analytics:read for the dataset."}, e.create)
	op.Read(p, op.Op{ID: "getExportsExportId", Method: "GET", Path: "/exports/{exportId}", Perm: "exports:read",
		App: app, Summary: "Get the status of an export"}, e.get)
	op.Bytes(p, op.Op{ID: "getExportsExportIdDownload", Method: "GET", Path: "/exports/{exportId}/download",
		Perm: "exports:read", App: app, Summary: "Download an export as CSV or JSON",
		Doc: "Within 24 hours of the request. Needs links:read or analytics:read for the dataset."},
		[]string{"text/csv", "application/json"}, e.download)
	return part.Part{Name: "exports", Kinds: []jobs.Kind{works.Add(durable.Work{
		Type: automation.Export, Permission: "exports:create", Next: e.next, Ended: automation.Ended,
	})}}
}

type createInput struct{ Body CreateExport }

func (e *service) create(ctx context.Context, c *op.Call, tx *store.Tx,
	in *createInput) (op.Item[automation.Record], error) {
	r := request{Dataset: in.Body.Dataset, Format: in.Body.Format,
		Filters: in.Body.Filters.Or(opt.Object{Value: []byte("{}")})}
	var p fault.Problems
	p.KeepAt(fault.Pointer("filters"), e.check(r))
	if err := p.Refusal(); err != nil {
		return op.Item[automation.Record]{}, err
	}
	text, err := json.Marshal(r)
	if err != nil {
		return op.Item[automation.Record]{}, err
	}
	j, err := automation.Create(ctx, c, tx, automation.Export, durable.Queued, string(text), 0)
	if err != nil {
		return op.Item[automation.Record]{}, err
	}
	o, err := automation.Start(ctx, c, tx, &j)
	return j.Accepted(o), err
}

// check refuses what is wrong with the filters of a request.
func (e *service) check(r request) error {
	if r.Dataset == "links" {
		_, err := e.chosen(r.Filters.Value)
		return err
	}
	span, err := e.span(r.Filters.Value)
	if err == nil {
		err = span.Check()
	}
	return err
}

// missing says, by the state of an export, why it has no file and what to do.
var missing = map[string]string{
	durable.Queued:     "The export is queued. Wait until its state is succeeded.",
	durable.Running:    "The export is running. Wait until its state is succeeded.",
	durable.Succeeded:  expired,
	automation.Expired: expired,
	durable.Failed:     "The export failed and has no file. The error of its operation says why.",
	durable.Cancelled:  "The export was cancelled and has no file. Request it again.",
}

const expired = "The file of the export has expired. Request the export again."

type exportInput struct {
	ExportID string `path:"exportId"`
}

func (e *service) get(ctx context.Context, c *op.Call, in *exportInput) (op.Item[automation.Record], error) {
	j, err := automation.Load(ctx, c.DB, automation.Export, in.ExportID, c.Now)
	return op.Item[automation.Record]{Data: j, Ref: j.Ref()}, err
}

func (e *service) download(ctx context.Context, c *op.Call, in *exportInput) (op.File, error) {
	j, err := automation.Load(ctx, c.DB, automation.Export, in.ExportID, c.Now)
	if err != nil {
		return op.File{}, err
	}
	var r request
	if err := json.Unmarshal([]byte(j.Request), &r); err != nil {
		return op.File{}, err
	}
	if err := c.Require(permission(r.Dataset)); err != nil {
		return op.File{}, err
	}
	gone := fault.New(fault.ResourceConflict, "%s", missing[j.State])
	if j.DownloadURL == nil {
		return op.File{}, gone
	}
	content, err := automation.File(ctx, c.DB, j.ID)
	if errors.Is(err, store.ErrNotFound) {
		return op.File{}, gone
	}
	kind := "text/csv; charset=utf-8"
	if r.Format == "json" {
		kind = "application/json; charset=utf-8"
	}
	return op.File{Name: "waymark-" + r.Dataset + "-" + j.ID + "." + r.Format, ContentType: kind, Attachment: true,
		Content: []byte(content), Ref: j.Ref()}, err
}
