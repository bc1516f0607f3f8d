package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"

	"github.com/waymarkhq/waymark/client"
)

type exportCommand struct {
	ofApp
	Dataset string            `arg:"" optional:"" enum:"links,events,summary," default:"links" help:"links, events or summary; default: ${default}."`
	Format  string            `enum:"csv,json" default:"csv" help:"csv or json; default: ${default}." placeholder:"FORMAT"`
	Filter  map[string]string `help:"Filter of the dataset, such as state=active, or start=2026-11-01 and end=2026-12-01 for events and summary. Repeatable." placeholder:"NAME=VALUE"`
	Out     string            `help:"File to write; default: the standard output." placeholder:"FILE"`
	All     bool              `help:"Write all links, however many: page by page, instead of the 1,000 that the server writes into one file."`
}

// Run writes a file that is whole, or none.
func (e *exportCommand) Run(ctx context.Context) error {
	c, p, err := e.open()
	if err != nil {
		return err
	}
	c.Patience = longPatience
	if e.All && e.Dataset != "links" {
		return usage("--all is for links; narrow the span of " + e.Dataset)
	}
	if info, err := os.Stat(e.Out); err == nil && info.IsDir() {
		return usage(fmt.Sprintf("--out %s is a folder: name a file", e.Out))
	}
	links := 0
	write := func(out io.Writer) (err error) {
		if e.All {
			links, err = e.pages(ctx, c, p, out)
			return err
		}
		return e.job(ctx, c, p, out)
	}
	if e.Out == "" || e.Out == "-" {
		err = write(stdout)
	} else {
		err = writeFile(e.Out, write)
	}
	if err == nil && e.All {
		tell("wrote %s", count(links, "link"))
	}
	return err
}

// job has the server write the file, and downloads it.
func (e *exportCommand) job(ctx context.Context, c *client.Client, p place, out io.Writer) error {
	body := map[string]any{"appId": p.App, "dataset": e.Dataset, "format": e.Format}
	if len(e.Filter) > 0 {
		body["filters"] = e.Filter
	}
	a, err := c.Do(ctx, client.Request{Method: http.MethodPost, Path: "/exports", Body: body})
	if err != nil {
		return p.named(err)
	}
	var made struct{ ID, OperationID string }
	if err := a.Data(&made); err != nil {
		return err
	}
	ended, err := follow(ctx, c, made.OperationID, func(operation) {})
	if err == nil {
		err = ended.failure()
	}
	if err != nil {
		return err
	}
	a, err = c.Do(ctx, client.Request{Method: http.MethodGet, Path: client.Path("/exports/{exportId}/download", made.ID)})
	if err != nil {
		return err
	}
	_, err = out.Write(a.Body)
	return err
}

// pages reads the links page by page, the oldest first: what is added meanwhile comes at the end.
// The columns are those of the server's file. It returns how many links it wrote.
func (e *exportCommand) pages(ctx context.Context, c *client.Client, p place, out io.Writer) (int, error) {
	query := url.Values{"appId": {p.App}, "limit": {fmt.Sprint(pageSize)}, "order": {"createdAt:asc"}}
	for name, value := range e.Filter {
		query.Set(name, value)
	}
	var columns []string
	for _, m := range linkSchema().Members {
		if m.Name != "tagIds" { // which lists alone have
			columns = append(columns, m.Name)
		}
	}
	w, err := (&shape{Output: e.Format}).writer(out, nil, columns)
	if err != nil {
		return 0, err
	}
	if err := each(ctx, c, linksOf(query), func(row json.RawMessage) (bool, error) { return true, w.row(row) }); err != nil {
		return 0, p.named(err)
	}
	return w.rows, w.close()
}
