package analytics_test

import (
	"context"
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
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/ratelimit"
	"github.com/waymarkhq/waymark/internal/requestlog"
	"github.com/waymarkhq/waymark/internal/server"
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

// A call has one deadline, however many queries it takes.
func TestAllQueriesOfACallShareADeadline(t *testing.T) {
	i := apitest.New(t, "sqlite", apitest.Options{})
	owner := i.Prepared(t, "ann@example.com")
	campaign := owner.Call("POST", "/campaigns", M{"appId": owner.AppID, "name": "x"}).Want(201).Text("data.id")
	engine, log := &deadlines{}, slog.New(slog.DiscardHandler)
	pipeline := op.New(op.Options{DB: i.DB, Auth: actor.NewAuthenticator(i.DB, actor.Staging),
		Limiter: ratelimit.NewMemory(), Cursors: cursor.NewSigner(make([]byte, 32)), Requests: requestlog.New(i.DB, log),
		Log: log, LimitScale: 1000, ClientAddr: func(*http.Request) netip.Addr { return netip.IPv6Loopback() }})
	analytics.Register(pipeline, engine)
	reader := owner.Key("analytics:read")
	i.API = server.New(server.Options{Service: pipeline, Log: log, Ready: i.DB.Ping})
	now := i.Clock.Now()
	for name, queries := range map[string]int{"summary": 1, "timeseries": 1, "breakdown": 1, "top-links": 2, "events": 1,
		"native": 1, "recovery": 1, "campaigns/" + campaign: 2} {
		more := ""
		if name == "breakdown" {
			more = "&dimension=country"
		}
		engine.all = nil
		begin := time.Now()
		reader.Call("GET", "/analytics/"+name+period(owner, now.Add(-day), now)+more, nil).Want(200)
		if len(engine.all) != queries {
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
