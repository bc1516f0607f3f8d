package clickhouse

import (
	"context"
	"fmt"
	"slices"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/waymarkhq/waymark/internal/clicklog"
	"github.com/waymarkhq/waymark/internal/eventstore"
	"github.com/waymarkhq/waymark/internal/store"
)

// columns are those of event, in the order of values and scanEvent.
const columns = "app, at, id, type, visitor, install, link, hostname, prefix, slug, link_group, campaign, folder, tags, " +
	"device, os, browser, source, country, referrer, rule, destination"

// key identifies an event.
type key struct {
	app string
	eventstore.Place
}

func keyOf(e *clicklog.Event) key { return key{e.Link.AppID, eventstore.Place{At: e.At, ID: e.ID}} }

// Append implements eventstore.Engine.
func (s *Store) Append(ctx context.Context, b *clicklog.Batch) error {
	if len(b.Events) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, appendTimeout)
	defer cancel()
	err := s.mayAppend(ctx)
	if err == nil {
		err = s.append(ctx, b.Events)
	}
	if err == nil {
		err = s.advance(ctx, b)
	}
	if err != nil {
		return fmt.Errorf("append %d events to ClickHouse: %w", len(b.Events), err)
	}
	return nil
}

// mayAppend asks the guard before ClickHouse has the events; advance asks it again.
func (s *Store) mayAppend(ctx context.Context) error {
	if s.guard == nil {
		return nil
	}
	return s.guard(ctx, s.db)
}

// advance tells the main database how far the logs of a batch are loaded. After an error
// the batch comes again, and its events are found by their ids.
func (s *Store) advance(ctx context.Context, b *clicklog.Batch) error {
	if s.db == nil {
		return nil
	}
	return s.db.InTx(ctx, func(tx *store.Tx) error {
		_, err := eventstore.Advance(ctx, tx, s.guard, b)
		return err
	})
}

func (s *Store) append(ctx context.Context, all []clicklog.Event) error {
	if err := s.prepare(ctx); err != nil {
		return err
	}
	events := make([]clicklog.Event, len(all))
	for i := range all {
		events[i] = eventstore.Stored(&all[i])
	}
	there, err := s.there(ctx, events)
	if err != nil {
		return err
	}
	events = slices.DeleteFunc(events, func(e clicklog.Event) bool {
		k := keyOf(&e)
		known := there[k]
		there[k] = true
		return known
	})
	if len(events) == 0 {
		return nil
	}
	batch, err := s.conn.PrepareBatch(ctx, "INSERT INTO "+s.table+" ("+columns+")")
	if err != nil {
		return err
	}
	defer batch.Close()
	for i := range events {
		e := &events[i]
		l := &e.Link
		err := batch.Append(l.AppID, int64(e.At), e.ID, string(e.Type), e.Visitor, e.Install, l.ID, l.Hostname, l.Prefix,
			l.Slug, l.Group, l.CampaignID, l.FolderID, l.TagIDs, e.Device, e.OS, e.Browser, e.Source, e.Country,
			e.ReferrerHost, e.RuleID, e.Destination)
		if err != nil {
			return err
		}
	}
	return batch.Send()
}

// perLook is how many ids are looked up at a time: a statement has at most 256 KiB.
const perLook = 4096

// there returns which events of a batch the server has.
func (s *Store) there(ctx context.Context, events []clicklog.Event) (map[key]bool, error) {
	there := map[key]bool{}
	for some := range slices.Chunk(events, perLook) {
		ids, apps := make([]int64, len(some)), map[string]bool{}
		first, last := some[0].At, some[0].At
		for i, e := range some {
			ids[i], apps[e.Link.AppID] = e.ID, true
			first, last = min(first, e.At), max(last, e.At)
		}
		found, err := all(ctx, s, appendTimeout, func(r driver.Rows) (k key, err error) {
			return k, r.Scan(&k.app, (*int64)(&k.At), &k.ID)
		}, fmt.Sprintf("SELECT app, at, id FROM %s WHERE app IN %s AND at >= %d AND at <= %d AND id IN %s", s.table,
			texts(apps), first, last, numbers(ids)))
		if err != nil {
			return nil, err
		}
		for _, k := range found {
			there[k] = true
		}
	}
	return there, nil
}
