package scan

import (
	"container/list"
	"context"
	"sync"

	"github.com/waymarkhq/waymark/internal/clicklog"
	"github.com/waymarkhq/waymark/internal/eventstore"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/store"
)

// maxStates bounds the link states that Links keeps, over all apps; the app that was
// asked for last is kept whatever it has. A state takes some 500 bytes.
const maxStates = 1 << 18

// Links keeps the link states of the apps that were asked for last, so that a question
// reads only those that are new. It is safe for concurrent use.
type Links struct {
	db *store.DB

	mu     sync.Mutex
	apps   map[string]*list.Element // of *appLinks
	recent list.List                // the app asked for last is the first
	states int                      // of all apps
	limit  int
}

// appLinks are the states of an app.
type appLinks struct {
	id string
	// reading is held by who brings them up to date.
	reading sync.Mutex
	states  *States
	// history is the one of the database that they are of.
	history int64
	// ids numbers the links by their ids.
	ids map[string]int32
	// counted is how many states Links has counted, gone that it has forgotten the app.
	// Both belong to Links.mu.
	counted int
	gone    bool
}

// NewLinks returns Links that know nothing yet.
func NewLinks(db *store.DB) *Links {
	return &Links{db: db, apps: map[string]*list.Element{}, limit: maxStates}
}

// States are the link states of an app at some time. They never change.
type States struct {
	// App is the number of the app, 0 for one without events.
	App int64
	// links has the states in the order of their numbers, after an empty one that stands
	// for unknown numbers; of tells the place of a number, less one.
	links []clicklog.Link
	of    *numbering
	// ids tells for each state the number of its link among those of the app.
	ids    []int32
	last   int64
	digest string // of the last
}

func noStates() *States {
	return &States{links: make([]clicklog.Link, 1), of: newNumbering(), ids: make([]int32, 1)}
}

// Link returns the state with a number of event_link, an empty one if there is none.
func (s *States) Link(no int64) *clicklog.Link { return &s.links[s.place(no)] }

// place returns where the state with a number stands, 0 if there is none.
func (s *States) place(no int64) int32 { return s.of.find(no) + 1 }

// Of returns the states of the links of an app: all those of events that were
// committed before the call.
func (l *Links) Of(ctx context.Context, appID string) (_ *States, err error) {
	defer fault.Wrap(&err, "link states of app %s", appID)
	a := l.app(appID)
	a.reading.Lock()
	defer a.reading.Unlock()
	if history := l.db.History(); a.history != history {
		a.forget()
		a.history = history
	}
	fresh, err := l.read(ctx, appID, a.states.last)
	if err != nil {
		return nil, err
	}
	// The last known state comes again, unless an older copy of the database took the
	// place of the one that it was read from.
	if a.states.last != 0 && (len(fresh) == 0 || fresh[0].digest != a.states.digest) {
		a.forget()
		if fresh, err = l.read(ctx, appID, 0); err != nil {
			return nil, err
		}
	} else if a.states.last != 0 {
		fresh = fresh[1:]
	}
	a.add(fresh)
	l.count(a)
	return a.states, nil
}

func (l *Links) app(id string) *appLinks {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e, ok := l.apps[id]; ok {
		l.recent.MoveToFront(e)
		return e.Value.(*appLinks)
	}
	a := &appLinks{id: id}
	a.forget()
	l.apps[id] = l.recent.PushFront(a)
	l.count1(a, 1) // an app without states takes memory, too
	return a
}

func (a *appLinks) forget() { a.states, a.ids = noStates(), map[string]int32{"": 0} }

// add makes states that have more than those before, which others may still use.
func (a *appLinks) add(fresh []state) {
	if len(fresh) == 0 {
		return
	}
	last := &fresh[len(fresh)-1]
	s := &States{App: last.app, links: a.states.links, of: a.states.of.clone(), ids: a.states.ids, last: last.no,
		digest: last.digest}
	for i := range fresh {
		f := &fresh[i]
		id, ok := a.ids[f.ID]
		if !ok {
			id = int32(len(a.ids))
			a.ids[f.ID] = id
		}
		s.of.number(f.no)
		s.links, s.ids = append(s.links, f.Link), append(s.ids, id)
	}
	a.states = s
}

// count counts the states of a and forgets the apps that were asked for longest ago
// while there are too many.
func (l *Links) count(a *appLinks) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.count1(a, len(a.states.links))
}

func (l *Links) count1(a *appLinks, states int) {
	if a.gone {
		return
	}
	l.states += states - a.counted
	a.counted = states
	for l.states > l.limit && l.recent.Len() > 1 {
		oldest := l.recent.Remove(l.recent.Back()).(*appLinks)
		delete(l.apps, oldest.id)
		l.states -= oldest.counted
		oldest.gone = true
	}
}

// state is a row of event_link.
type state struct {
	no, app int64
	digest  string
	clicklog.Link
}

// read returns the states of an app from a number on.
func (l *Links) read(ctx context.Context, appID string, from int64) ([]state, error) {
	return store.All(ctx, l.db, func(r store.Row) (s state, err error) {
		var tags string
		err = r.Scan(&s.no, &s.app, &s.digest, &s.ID, &s.Hostname, &s.Prefix, &s.Slug, &s.Group, &s.CampaignID,
			&s.FolderID, &tags)
		s.AppID, s.TagIDs = appID, eventstore.TagList(tags)
		return s, err
	}, `SELECT no, app_no, digest, link_id, hostname, prefix, slug, link_group, campaign_id, folder_id, tag_ids
		FROM event_link WHERE app_no = (SELECT no FROM event_app WHERE app_id = ?) AND no >= ? ORDER BY no`,
		appID, from)
}
