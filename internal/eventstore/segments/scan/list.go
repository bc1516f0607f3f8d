package scan

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/waymarkhq/waymark/internal/clicklog"
	"github.com/waymarkhq/waymark/internal/eventstore"
	"github.com/waymarkhq/waymark/internal/eventstore/segments/segment"
	"github.com/waymarkhq/waymark/internal/turns"
)

// lister collects the newest events.
type lister struct {
	*chooser
	before *eventstore.Place
	limit  int

	mu    sync.Mutex
	found []eventstore.Listed // the newest first, limit at most
}

// List answers eventstore.Engine's List from row groups, which must hold every event
// once. It reads the newest row groups first, and no more than needed.
func List(ctx context.Context, turn *turns.Turn, f eventstore.Filter, before *eventstore.Place, limit int,
	links *Links, groups []Group) ([]eventstore.Listed, error) {
	states, err := links.Of(ctx, f.AppID)
	if err != nil {
		return nil, err
	}
	if before != nil {
		f.End = min(f.End, before.At+1)
	}
	l := &lister{before: before, limit: limit, found: []eventstore.Listed{}}
	if err := turn.Each(ctx, 1, func(int, int) error {
		l.chooser = newChooser(&f, states)
		return nil
	}); err != nil {
		return nil, err
	}
	list := spans(&f, states.App, groups)
	slices.SortStableFunc(list, func(a, b span) int { return cmp.Compare(b.stats().LastAt, a.stats().LastAt) })
	for n := 1; len(list) > 0 && l.wants(list[0].Group); n *= 2 {
		part := list[:min(n, len(list))]
		list = list[len(part):]
		if err := turn.Each(ctx, len(part), func(_, i int) error { return l.scan(part[i].Group) }); err != nil {
			return nil, err
		}
	}
	return l.found, nil
}

// wants reports whether g may have an event that belongs to the list.
func (l *lister) wants(g Group) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.found) < l.limit || l.limit > 0 && g.stats().LastAt >= l.found[l.limit-1].At
}

// listings keeps rows for their memory.
var listings = sync.Pool{New: func() any { return new(rows) }}

// scan adds events of a row group to the list.
func (l *lister) scan(g Group) (err error) {
	defer recovered(&err)
	if !l.wants(g) {
		return nil
	}
	r := listings.Get().(*rows)
	defer listings.Put(r)
	if err := r.choose(g, l.chooser, l.Start, l.End); err != nil || len(r.chosen) == 0 {
		return err
	}
	if err := r.more(g, segment.All&^segment.Of(segment.Visitor, segment.App)); err != nil {
		return err
	}
	found := []eventstore.Listed{}
	for i := len(r.chosen) - 1; i >= 0 && len(found) < l.limit; i-- {
		if e := l.listed(&r.block, int(r.chosen[i])); l.before == nil || newer(l.before, &e.Place) < 0 {
			found = append(found, e)
		}
	}
	l.add(found)
	return nil
}

// newer compares places: the newest first.
func newer(a, b *eventstore.Place) int {
	return cmp.Or(cmp.Compare(b.At, a.At), cmp.Compare(b.ID, a.ID))
}

func (l *lister) add(more []eventstore.Listed) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.found = append(l.found, more...)
	slices.SortFunc(l.found, func(a, b eventstore.Listed) int { return newer(&a.Place, &b.Place) })
	l.found = l.found[:min(l.limit, len(l.found))]
}

// listed returns the event of a row.
func (l *lister) listed(b *segment.Block, row int) eventstore.Listed {
	text := func(c segment.Column) string { return b.Texts(c)[b.Codes(c)[row]] }
	number := func(c segment.Column) int64 { return b.Numbers(c)[b.Codes(c)[row]] }
	e := eventstore.Listed{
		Place: eventstore.Place{At: b.At()[row], ID: b.IDs()[row].Int()},
		Type:  clicklog.EventType(text(segment.Type)), Link: *l.states.Link(number(segment.Link)),
		Device: text(segment.Device), OS: text(segment.OS), Browser: text(segment.Browser),
		Country: text(segment.Country), Source: text(segment.Source), ReferrerHost: text(segment.Referrer),
		RuleID: text(segment.Rule), Into: text(segment.Destination), Identified: number(segment.Install) != 0,
	}
	e.Link.TagIDs = nil
	return e
}
