package analytics_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"testing"
	"time"

	"github.com/waymarkhq/waymark/internal/actor"
	"github.com/waymarkhq/waymark/internal/analytics"
	"github.com/waymarkhq/waymark/internal/apitest"
	"github.com/waymarkhq/waymark/internal/clicklog"
	"github.com/waymarkhq/waymark/internal/cursor"
	"github.com/waymarkhq/waymark/internal/eventstore"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/ratelimit"
	"github.com/waymarkhq/waymark/internal/requestlog"
	"github.com/waymarkhq/waymark/internal/server"
	"github.com/waymarkhq/waymark/internal/turns"
)

// deadlines is an engine that keeps the deadlines of its queries.
type deadlines struct {
	eventstore.Engine
	all []time.Time
}

func (d *deadlines) keep(ctx context.Context) {
	deadline, _ := ctx.Deadline()
	d.all = append(d.all, deadline)
}

func (d *deadlines) Count(ctx context.Context, _ eventstore.Filter, by ...eventstore.Grouping) ([][]eventstore.Row,
	error) {
	d.keep(ctx)
	all := make([][]eventstore.Row, len(by))
	for i := range all {
		all[i] = make([]eventstore.Row, 1)
	}
	return all, nil
}

func (d *deadlines) List(ctx context.Context, _ eventstore.Filter, _ *eventstore.Place, _ int) ([]eventstore.Listed,
	error) {
	d.keep(ctx)
	return nil, nil
}

func (d *deadlines) Links(ctx context.Context, _ string, _ []string) (map[string]clicklog.Link, error) {
	d.keep(ctx)
	return nil, nil
}

// withEngine makes a reader of analytics, which has the events of an engine, and returns what
// its operations read, by their names.
func withEngine(t *testing.T, e eventstore.Engine) (reader *apitest.Client, paths map[string]string) {
	i := apitest.New(t, "sqlite", apitest.Options{})
	owner := i.Prepared(t, "ann@example.com")
	campaign := owner.Call("POST", "/campaigns", M{"appId": owner.AppID, "name": "x"}).Want(201).Text("data.id")
	log := slog.New(slog.DiscardHandler)
	pipeline := op.New(op.Options{DB: i.DB, Auth: actor.NewAuthenticator(i.DB, actor.Staging),
		Limiter: ratelimit.NewMemory(), Cursors: cursor.NewSigner(make([]byte, 32)), Requests: requestlog.New(i.DB, log),
		Log: log, LimitScale: 1000, ClientAddr: func(*http.Request) netip.Addr { return netip.IPv6Loopback() }})
	analytics.Register(pipeline, e)
	reader = owner.Key("analytics:read")
	i.API = server.New(server.Options{Service: pipeline, Log: log, Ready: i.DB.Ping})
	day := period(owner, i.Clock.Now().Add(-day), i.Clock.Now())
	paths = map[string]string{"breakdown": "/analytics/breakdown" + day + "&dimension=country",
		"campaign": "/analytics/campaigns/" + campaign + day}
	for _, name := range []string{"summary", "timeseries", "top-links", "events", "native", "recovery"} {
		paths[name] = "/analytics/" + name + day
	}
	return reader, paths
}

// A call has one deadline, however many queries it takes.
func TestAllQueriesOfACallShareADeadline(t *testing.T) {
	engine := &deadlines{}
	reader, paths := withEngine(t, engine)
	for name, path := range paths {
		engine.all = nil
		begin := time.Now()
		reader.Call("GET", path, nil).Want(200)
		if want := map[string]int{"top-links": 2, "campaign": 2}[name]; len(engine.all) != max(want, 1) {
			t.Fatalf("%s took %d queries", name, len(engine.all))
		}
		for _, deadline := range engine.all {
			if deadline != engine.all[0] || deadline.Before(begin.Add(10*time.Second)) ||
				deadline.After(time.Now().Add(10*time.Second)) {
				t.Errorf("deadlines of %s, begun at %s: %s", name, begin, engine.all)
			}
		}
	}
}

// refusing is an engine that turns every query away.
type refusing struct {
	eventstore.Engine
	err error
}

func (r *refusing) Count(context.Context, eventstore.Filter, ...eventstore.Grouping) ([][]eventstore.Row, error) {
	return nil, r.err
}

func (r *refusing) List(context.Context, eventstore.Filter, *eventstore.Place, int) ([]eventstore.Listed, error) {
	return nil, r.err
}

// Who is turned away, or asked for too much, is told when to come again.
func TestRefusedQueries(t *testing.T) {
	engine := &refusing{}
	reader, paths := withEngine(t, engine)
	for _, path := range paths {
		for after, err := range map[string]error{"1": turns.ErrBusy, "10": turns.ErrSlow} {
			engine.err = fmt.Errorf("segments.Count: %w", err)
			r := reader.Call("GET", path, nil).Refused(fault.Unavailable)
			if got := r.Header.Get("Retry-After"); got != after {
				t.Errorf("%s, %v: Retry-After is %q, want %s", path, err, got, after)
			}
		}
	}
}
