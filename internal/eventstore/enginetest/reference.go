package enginetest

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/waymarkhq/waymark/internal/clicklog"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/eventstore"
)

// Reference is the engine that others are compared with: a slice of events and loops
// that say what is meant and nothing else. It is safe for concurrent use.
type Reference struct {
	mu sync.Mutex
	// events are those of each app as stored, by instant and id.
	events map[string][]clicklog.Event
	// states are those of the links of each app, in the order in which they came.
	states map[string][]clicklog.Link
	clock  *clock.Clock
}

var _ eventstore.Engine = (*Reference)(nil)

// NewReference returns an engine without events.
func NewReference(c *clock.Clock) *Reference {
	return &Reference{events: map[string][]clicklog.Event{}, states: map[string][]clicklog.Link{}, clock: c}
}

// types and destinations are those that this version knows.
var (
	types = []clicklog.EventType{clicklog.Click, clicklog.AppOpen, clicklog.ContentView, clicklog.LegacyContentLoad,
		clicklog.RecoveryCreated, clicklog.RecoveryMatched}
	destinations = []string{"none", "web", "store", "app", "page"}
)

// stored returns an event as every engine keeps it: texts that any database takes,
// and of type, destination and country what this version knows.
func stored(e clicklog.Event) clicklog.Event {
	for _, text := range []*string{&e.Device, &e.OS, &e.Browser, &e.Source, &e.ReferrerHost, &e.RuleID, &e.Link.ID,
		&e.Link.AppID, &e.Link.Hostname, &e.Link.Prefix, &e.Link.Slug, &e.Link.Group, &e.Link.CampaignID,
		&e.Link.FolderID} {
		*text = eventstore.Clean(*text)
	}
	var tags []string
	for _, tag := range e.Link.TagIDs {
		tags = append(tags, eventstore.Clean(tag))
	}
	e.Link.TagIDs = tags
	if !slices.Contains(types, e.Type) {
		e.Type = ""
	}
	if !slices.Contains(destinations, e.Destination) {
		e.Destination = "none"
	}
	if len(e.Country) != 2 || strings.Trim(e.Country, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" {
		e.Country = "ZZ"
	}
	e.Limited = false
	return e
}

// inOrder compares events by instant and id, which is what identifies them in an app.
func inOrder(a, b clicklog.Event) int {
	return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.ID, b.ID))
}

// Append implements eventstore.Engine.
func (r *Reference) Append(ctx context.Context, b *clicklog.Batch) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range b.Events {
		e = stored(e)
		app := e.Link.AppID
		if i, found := slices.BinarySearchFunc(r.events[app], e, inOrder); !found {
			r.events[app] = slices.Insert(r.events[app], i, e)
			r.states[app] = append(r.states[app], e.Link)
		}
	}
	return nil
}

// chosen returns the events that a filter chooses, in order.
func (r *Reference) chosen(f *eventstore.Filter) []clicklog.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	var events []clicklog.Event
	for _, e := range r.events[f.AppID] {
		if f.Start <= e.At && e.At < f.End && f.Link(&e.Link) &&
			(f.Device == e.Device || f.Device == "" && e.Device != "bot") &&
			(f.Source == "" || f.Source == e.Source) && (f.Country == "" || f.Country == e.Country) &&
			(f.EventType == "" || f.EventType == string(e.Type)) {
			events = append(events, e)
		}
	}
	return events
}

// List implements eventstore.Engine.
func (r *Reference) List(ctx context.Context, f eventstore.Filter, before *eventstore.Place, limit int) (
	[]eventstore.Listed, error) {
	listed := []eventstore.Listed{}
	for _, e := range slices.Backward(r.chosen(&f)) {
		if before != nil && (e.At > before.At || e.At == before.At && e.ID >= before.ID) {
			continue
		}
		if len(listed) == limit {
			break
		}
		e.Link.TagIDs = nil
		listed = append(listed, eventstore.Listed{
			Place: eventstore.Place{At: e.At, ID: e.ID}, Type: e.Type, Link: e.Link, Device: e.Device, OS: e.OS,
			Browser: e.Browser, Country: e.Country, Source: e.Source, ReferrerHost: e.ReferrerHost, RuleID: e.RuleID,
			Into: e.Destination, Identified: e.Install != 0,
		})
	}
	return listed, ctx.Err()
}

// Links implements eventstore.Engine.
func (r *Reference) Links(ctx context.Context, appID string, ids []string) (map[string]clicklog.Link, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	asked := map[string]bool{}
	for _, e := range r.events[appID] {
		if slices.Contains(ids, e.Link.ID) {
			asked[e.Link.ID] = true
		}
	}
	links := map[string]clicklog.Link{}
	for _, l := range r.states[appID] {
		if asked[l.ID] {
			links[l.ID] = l
		}
	}
	return links, ctx.Err()
}

// Read implements eventstore.Engine.
func (r *Reference) Read(ctx context.Context, appID string, after *eventstore.Place, limit int) (
	[]clicklog.Event, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	events := []clicklog.Event{}
	for _, app := range slices.Sorted(maps.Keys(r.events)) {
		for _, e := range r.events[app] {
			if after != nil && (app < appID || app == appID &&
				(e.At < after.At || e.At == after.At && e.ID <= after.ID)) {
				continue
			}
			if len(events) < limit {
				events = append(events, e)
			}
		}
	}
	return events, ctx.Err()
}

// Sweep implements eventstore.Engine.
func (r *Reference) Sweep(ctx context.Context, before clock.Instant, limit int64) (int64, error) {
	return r.remove(func(e *clicklog.Event) bool { return e.At < before }, limit), ctx.Err()
}

// Erase implements eventstore.Engine.
func (r *Reference) Erase(ctx context.Context, x eventstore.Erasure) (int64, clock.Instant, error) {
	n := r.remove(func(e *clicklog.Event) bool {
		return x.LinkID != "" && e.Link.ID == x.LinkID || x.Install != 0 && e.Install == x.Install
	}, math.MaxInt64)
	return n, r.clock.Now(), ctx.Err()
}

// remove deletes up to limit of the events that are to go.
func (r *Reference) remove(goes func(*clicklog.Event) bool, limit int64) (n int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for app := range r.events {
		r.events[app] = slices.DeleteFunc(r.events[app], func(e clicklog.Event) bool {
			if n == limit || !goes(&e) {
				return false
			}
			n++
			return true
		})
	}
	return n
}

// Run implements eventstore.Engine: there is nothing to do.
func (r *Reference) Run(context.Context) {}
