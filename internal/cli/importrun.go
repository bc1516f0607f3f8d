package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/waymarkhq/waymark/client"
)

// importRun tries and commits the parts of a file, several side by side.
type importRun struct {
	api     *client.Client
	app     string
	format  string
	mapping mapping
	parts   []part
	journal *journal
	// sideBySide is how many parts are under way at once.
	sideBySide int
	// ahead is how many parts may be tried that are not committed.
	ahead int
	// progress begins a stage that brings so many rows to an end, and returns what is told of them.
	progress func(stage string, rows int) (done func(rows int))
}

// job is an import as the API tells it.
type job struct {
	ID       string `json:"id"`
	State    string `json:"state"`
	Revision string `json:"revision"`
	Total    int    `json:"total"`
	Invalid  int    `json:"invalid"`
}

// reportItem is what became of a row.
type reportItem struct {
	Row     int    `json:"row"`
	State   string `json:"state"`
	Address string `json:"address,omitempty"`
	LinkID  string `json:"linkId,omitempty"`
	Code    string `json:"code,omitempty"`
	Message string `json:"message,omitempty"`
}

// errFull tells that the app keeps as many jobs as it may, none of which has ended.
var errFull = errors.New("the app keeps as many exports, batches and imports as it may, and none has ended; imports that were " +
	"only tried go after a day")

// usualRecords is how many exports, batches and imports an app keeps where the server does not tell.
const usualRecords = 100

// leaveRoom finds out how many parts may be tried ahead. An import that is tried and not committed is kept for
// a day, so some of the app's room is left to its other work.
func (r *importRun) leaveRoom(ctx context.Context) error {
	var usage struct {
		SharedLimits struct {
			App struct{ AutomationRecords int }
		}
	}
	err := r.api.Get(ctx, client.Path("/apps/{appId}/usage", r.app), nil, &usage)
	if refusedWith(err, "insufficient_permission") { // the credential is for imports alone
		err = nil
	}
	r.ahead = cmp.Or(usage.SharedLimits.App.AutomationRecords, usualRecords) * 9 / 10
	return err
}

// try uploads and validates the parts that are not yet tried, as far as there is room for them. No link is
// made. full tells that there is none for the rest, which is tried when it is committed.
func (r *importRun) try(ctx context.Context) (full bool, err error) {
	var stopped atomic.Bool
	var tried atomic.Int64
	order, rows := r.left(func(p partState) bool {
		if p.State == "validated" {
			tried.Add(1)
		}
		return !p.over() && p.State != "validated"
	})
	done := r.progress("trying", rows)
	err = r.each(ctx, order, func(ctx context.Context, n int) error {
		if stopped.Load() || tried.Add(1) > int64(r.ahead) {
			stopped.Store(true)
			return nil
		}
		p := r.journal.part(n)
		switch err := r.tryPart(ctx, &p); {
		case errors.Is(err, errFull):
			stopped.Store(true)
			return nil
		case err != nil:
			return err
		case p.over(): // none of its rows can become a link, so that it takes no room
			tried.Add(-1)
		}
		done(len(r.parts[n].rows))
		return nil
	})
	return stopped.Load(), err
}

// commit commits the parts that have not ended, and follows each to its end: first those that were
// tried, as they take the room of the others.
func (r *importRun) commit(ctx context.Context) error {
	order, rows := r.left(func(p partState) bool { return !p.over() })
	done := r.progress("importing", rows)
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(len(r.journal.part(b).ID), len(r.journal.part(a).ID))
	})
	return r.each(ctx, order, func(ctx context.Context, n int) error {
		p := r.journal.part(n)
		for !p.over() {
			if err := r.commitPart(ctx, &p); err != nil {
				return err
			}
		}
		done(len(r.parts[n].rows))
		return nil
	})
}

// left returns the numbers of the parts with which there is something to do, and how many rows they have.
func (r *importRun) left(todo func(partState) bool) (order []int, rows int) {
	for n := range r.parts {
		if todo(r.journal.part(n)) {
			order, rows = append(order, n), rows+len(r.parts[n].rows)
		}
	}
	return order, rows
}

// each calls a function for the parts in an order, some at once, until one fails.
func (r *importRun) each(ctx context.Context, order []int, do func(context.Context, int) error) error {
	g, running := errgroup.WithContext(ctx)
	g.SetLimit(r.sideBySide)
	for _, n := range order {
		if running.Err() != nil {
			break
		}
		g.Go(func() error {
			if err := do(running, n); err != nil {
				return fmt.Errorf("%s: %w", span(r.parts[n].rows), err)
			}
			return nil
		})
	}
	return errors.Join(g.Wait(), ctx.Err())
}

// tryPart uploads a part and has it validated.
func (r *importRun) tryPart(ctx context.Context, p *partState) error {
	var made job
	if err := r.post(ctx, p, "create", "/imports", "", map[string]any{"appId": r.app, "format": r.format,
		"mapping": r.mapping, "content": r.parts[p.Part].content}, &made); err != nil {
		if refusedWith(err, "resource_conflict") {
			return errFull
		}
		return err
	}
	if err := r.post(ctx, p, "validate", importPath(made.ID)+"/validate", "", map[string]any{}, &made); err != nil {
		return err
	}
	return r.take(ctx, p, made)
}

// commitPart brings a part one step towards its end.
func (r *importRun) commitPart(ctx context.Context, p *partState) error {
	if p.ID == "" {
		return r.tryPart(ctx, p)
	}
	if p.State == "validated" {
		p.Committed = true
		if err := r.journal.keep(*p); err != nil {
			return err
		}
		var accepted any
		err := r.post(ctx, p, "commit", importPath(p.ID)+"/commit", p.Revision, map[string]any{}, &accepted)
		switch {
		case refusedWith(err, "not_found"):
			return r.again(p)
		case err != nil && !refusedWith(err, "revision_conflict", "resource_conflict"):
			return err // of those two the job itself tells more
		}
	}
	for pause := firstLook; ; pause = min(pause*3/2, lastLook) {
		var at job
		err := r.api.Get(ctx, importPath(p.ID), nil, &at)
		if refusedWith(err, "not_found") {
			return r.again(p)
		}
		if err != nil {
			return err
		}
		if at.State != "queued" && at.State != "running" {
			return r.take(ctx, p, at)
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// again begins a part anew: its import is not kept any more. Links that it made are there, and
// their rows are refused as taken.
func (r *importRun) again(p *partState) error {
	*p = partState{Part: p.Part, Attempt: p.Attempt + 1, Committed: p.Committed}
	return r.journal.keep(*p)
}

// take keeps what the API tells of a part.
func (r *importRun) take(ctx context.Context, p *partState, at job) (err error) {
	p.ID, p.State, p.Revision, p.Invalid = at.ID, at.State, at.Revision, at.Invalid
	if at.State == "validated" && at.Invalid == at.Total {
		p.State = "nothing_valid"
	}
	if p.over() || p.Invalid > 0 {
		if p.Items, err = r.items(ctx, p); err != nil {
			return err
		}
	}
	return r.journal.keep(*p)
}

// items returns what became of the rows of a part; of one that has not ended, only those that are
// invalid.
func (r *importRun) items(ctx context.Context, p *partState) (items []reportItem, err error) {
	query := url.Values{"limit": {strconv.Itoa(pageSize)}}
	for a, err := range r.api.Pages(ctx, client.Request{Method: http.MethodGet, Path: importPath(p.ID) + "/items", Query: query}) {
		if err != nil {
			return nil, err
		}
		var page []struct {
			Ordinal int
			State   string
			Input   struct{ Domain, Prefix, Slug string }
			Result  struct{ LinkID string }
			Error   *client.Error
		}
		if err := a.Data(&page); err != nil {
			return nil, err
		}
		for _, item := range page {
			if !p.over() && item.State != "invalid" || item.Ordinal < 1 || item.Ordinal > len(r.parts[p.Part].rows) {
				continue
			}
			made := reportItem{Row: r.parts[p.Part].rows[item.Ordinal-1], State: item.State, LinkID: item.Result.LinkID}
			if in := item.Input; in.Slug != "" {
				made.Address = strings.Join(filled(in.Domain, in.Prefix, in.Slug), "/")
			}
			if item.Error != nil {
				made.Code, made.Message = item.Error.Code, explainItem(item.Error, r.parts[p.Part].rows)
			}
			items = append(items, made)
		}
	}
	return items, nil
}

// filled returns the texts that are not empty.
func filled(texts ...string) (kept []string) {
	for _, text := range texts {
		if text != "" {
			kept = append(kept, text)
		}
	}
	return kept
}

// namedItem is how a message names another item of the same import.
var namedItem = regexp.MustCompile(`\bitem (\d+) of this import\b`)

// explainItem says what is wrong with a row of a part, field by field. The server counts the rows of the part,
// a person those of the file.
func explainItem(e *client.Error, rows []int) string {
	texts := []string{e.Message}
	if len(e.Details) > 0 {
		texts = nil
	}
	for _, d := range e.Details {
		texts = append(texts, strings.ReplaceAll(strings.TrimPrefix(d.Path, "/"), "/", ".")+": "+d.Message)
	}
	return namedItem.ReplaceAllStringFunc(strings.Join(texts, "; "), func(named string) string {
		n, err := strconv.Atoi(namedItem.FindStringSubmatch(named)[1])
		if err != nil || n < 1 || n > len(rows) {
			return named
		}
		return fmt.Sprintf("row %d", rows[n-1])
	})
}

// span names rows.
func span(rows []int) string {
	if first, last := rows[0], rows[len(rows)-1]; first != last {
		return fmt.Sprintf("rows %d to %d", first, last)
	}
	return fmt.Sprintf("row %d", rows[0])
}

func importPath(id string) string { return client.Path("/imports/{importId}", id) }

// post makes one step of a part. What is refused because too much is under way waits as long as it has to:
// the windows of an hour are longer than the patience with a server that is away.
func (r *importRun) post(ctx context.Context, p *partState, step, path, revision string, body, into any) error {
	for {
		a, err := r.api.Do(ctx, client.Request{Method: http.MethodPost, Path: path, Body: body, Revision: revision,
			Key: r.journal.key(*p, step)})
		switch {
		case err == nil:
			return a.Data(into)
		case !refusedWith(err, "rate_limited"):
			return err
		}
		select {
		case <-time.After(lastLook):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// refusedWith reports whether the server refused with one of the codes.
func refusedWith(err error, codes ...string) bool {
	var refused *client.Error
	if !errors.As(err, &refused) {
		return false
	}
	for _, code := range codes {
		if refused.Code == code {
			return true
		}
	}
	return false
}
