package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/term"

	"github.com/waymarkhq/waymark/api"
	"github.com/waymarkhq/waymark/client"
)

// call makes the call that the flags describe, and shows what is answered.
func (f *callFlags) call(ctx context.Context) error {
	common := group[commonFlags](f)
	c, p, err := common.open()
	if err != nil {
		return err
	}
	c.Patience = common.Patience
	r, err := f.request(p)
	if err != nil {
		return err
	}
	if f.operation.NeedsRevision && r.Revision == "" {
		if r.Revision, err = f.readRevision(ctx, c); err != nil {
			return fmt.Errorf("read the revision: %w", err)
		}
	}
	if page := group[pageFlags](f); page != nil && !asksForFile(r.Query) {
		return f.pages(ctx, c, r, page.All)
	}
	a, err := c.Do(ctx, r)
	if err != nil {
		return repeatable(err, r.Revision)
	}
	return f.show(a)
}

// asksForFile reports whether a list is asked for as one file.
func asksForFile(query url.Values) bool { return query.Get("format") == "csv" }

// repeatable tells how a mutation is repeated of which nobody knows whether it happened. It has to be the
// same call: one with another revision would be refused, as the revision has changed if it happened.
func repeatable(err error, revision string) error {
	key := client.RepeatKey(err)
	if key == "" {
		return err
	}
	flags := "--idempotency-key " + key
	if revision != "" {
		flags += " --if-match " + revision
	}
	return fmt.Errorf("%w; whether it happened is not known: repeat the command with %s, and it happens once", err, flags)
}

// request makes the request of the flags.
func (f *callFlags) request(p place) (r client.Request, err error) {
	o := f.operation
	r = client.Request{Method: o.Method, Query: url.Values{}}
	for _, parameter := range o.Parameters {
		value, given := f.parameter(parameter.Name)
		if told := fromContext[parameter.Name]; !given && told != nil && (parameter.Required || parameter.InPath) {
			value, given = told(p), told(p) != ""
			if !given {
				return r, usage(fmt.Sprintf("--%s is required: the context has none", flagName(parameter.Name)))
			}
		}
		switch {
		case parameter.InPath:
			f.inPath = append(f.inPath, value)
		case given:
			r.Query.Set(parameter.Name, value)
		}
	}
	r.Path = client.Path(o.Path, f.inPath...)
	if flags := group[mutationFlags](f); flags != nil {
		r.Key = flags.IdempotencyKey
	}
	if flags := group[revisionFlags](f); flags != nil {
		r.Revision = strings.Trim(flags.IfMatch, `"`)
	}
	if flags := group[uploadFlags](f); flags != nil {
		r.File, err = f.readUpload(flags.File, p)
	} else if flags := group[bodyFlags](f); flags != nil {
		r.Body, err = body(o.Body, flags, p)
	}
	return r, err
}

// maxUpload bounds a file that is uploaded, in bytes, well above what the server takes.
const maxUpload = 8 << 20

func (f *callFlags) readUpload(name string, p place) (*client.File, error) {
	app, given := f.parameter("appId")
	if !given {
		app = p.App
	}
	content, err := readBounded(name, maxUpload)
	if err != nil {
		return nil, err
	}
	kind := mime.TypeByExtension(filepath.Ext(name))
	if kind == "" {
		kind = http.DetectContentType(content)
	}
	return &client.File{Name: filepath.Base(name), Type: kind, Bytes: content, Fields: map[string]string{"appId": app}}, nil
}

// readerOf returns the operation that reads what an operation changes: the one of the nearest path
// above it. Where that is a list, the resource is a row of it.
func readerOf(o *api.Operation) *api.Operation {
	all := api.Operations()
	for path := o.Path; path != ""; path = path[:strings.LastIndexByte(path, '/')] {
		i := slices.IndexFunc(all, func(read api.Operation) bool {
			return read.Method == http.MethodGet && read.Path == path && (read.Tagged || read.Paged)
		})
		if i >= 0 {
			return &all[i]
		}
	}
	return nil
}

// readRevision reads the revision of the resource that the operation changes.
func (f *callFlags) readRevision(ctx context.Context, c *client.Client) (string, error) {
	read, ids := readerOf(f.operation), f.inPath
	r := client.Request{Method: read.Method, Path: client.Path(read.Path, ids...)}
	if read.Tagged {
		a, err := c.Do(ctx, r)
		if err != nil {
			return "", err
		}
		return a.Revision(), nil
	}
	var found struct{ ID, Revision string }
	err := each(ctx, c, r, func(row json.RawMessage) (bool, error) {
		err := json.Unmarshal(row, &found)
		return found.ID != ids[len(ids)-1], err
	})
	if err != nil || found.ID == ids[len(ids)-1] {
		return found.Revision, err
	}
	return "", &client.Error{Status: http.StatusNotFound, Code: "not_found", Message: "The list " + r.Path + " has no such resource."}
}

// show shows one answer.
func (f *callFlags) show(a *client.Answer) error {
	if len(a.Body) == 0 {
		return nil
	}
	if f.operation.Data == nil || !a.IsJSON() {
		return f.save(a)
	}
	e, err := a.Envelope()
	if err != nil {
		return err
	}
	return group[commonFlags](f).value(f.operation.Data, e.Data)
}

// save writes the bytes of a file.
func (f *callFlags) save(a *client.Answer) error {
	flags := group[fileFlags](f)
	if flags == nil || flags.Out == "" || flags.Out == "-" {
		if !strings.HasPrefix(a.Header.Get("Content-Type"), "text/") && !a.IsJSON() && term.IsTerminal(int(os.Stdout.Fd())) {
			return usage("the answer is a file: give --out FILE")
		}
		_, err := stdout.Write(a.Body)
		return err
	}
	return os.WriteFile(flags.Out, a.Body, 0o666)
}

// pages shows one page, or all.
func (f *callFlags) pages(ctx context.Context, c *client.Client, r client.Request, all bool) error {
	common, rows := group[commonFlags](f), f.operation.Data
	if rows.Type != "array" { // a page of something that is more than its rows
		if all {
			return usage("--all needs a list: follow this one with --cursor")
		}
		a, err := c.Do(ctx, r)
		if err != nil {
			return err
		}
		return f.show(a)
	}
	some, every := columnsOf(rows.Items)
	w, err := common.writer(stdout, some, every)
	if err != nil {
		return err
	}
	if all {
		return w.end(each(ctx, c, r, func(row json.RawMessage) (bool, error) { return true, w.row(row) }))
	}
	a, err := c.Do(ctx, r)
	if err != nil {
		return err
	}
	var page []json.RawMessage
	e, err := a.Envelope()
	if err == nil {
		err = a.Data(&page)
	}
	if err != nil {
		return err
	}
	for _, row := range page {
		if err := w.row(row); err != nil {
			return err
		}
	}
	if e.Pagination != nil && e.Pagination.HasMore {
		tell("more rows follow: --all, or --cursor %s", e.Pagination.NextCursor)
	}
	return w.close()
}
