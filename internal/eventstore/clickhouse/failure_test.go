package clickhouse_test

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"testing"

	"github.com/waymarkhq/waymark/internal/clicklog"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/eventstore"
	"github.com/waymarkhq/waymark/internal/eventstore/clickhouse"
	"github.com/waymarkhq/waymark/internal/eventstore/clickhouse/clickhousetest"
	"github.com/waymarkhq/waymark/internal/eventstore/database"
	"github.com/waymarkhq/waymark/internal/eventstore/enginetest"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
)

// everything chooses all events of an app.
func everything(app string) eventstore.Query {
	return eventstore.Query{Filter: eventstore.Filter{AppID: app, End: enginetest.Start * 2, Device: "ios"}}
}

// clicks are n clicks on iOS.
func clicks(n int) *clicklog.Batch {
	events := make([]clicklog.Event, n)
	for i := range events {
		events[i] = clicklog.Event{ID: int64(i+1) * 7_777_777_777, At: enginetest.Start + clock.Instant(i*i), Visitor: int64(i),
			Type: clicklog.Click, Device: "ios", Link: clicklog.Link{ID: "one", AppID: "a"}}
	}
	return enginetest.Batch(events...)
}

func count(t *testing.T, s *clickhouse.Store) int64 {
	t.Helper()
	rows, err := eventstore.Count(t.Context(), s, everything("a"))
	if err != nil {
		t.Fatal(err)
	}
	return rows[0].Clicks
}

// A Store needs its server when it is asked for something, not before, and goes on when
// the server is there again. Its errors say what is wrong, but not the password.
func TestServerThatIsAway(t *testing.T) {
	relay, address := clickhousetest.NewRelay(t, clickhousetest.Address(t))
	s := open(t, address)
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	password, _ := u.User.Password()
	refused := func(what string, err error) {
		t.Helper()
		if err == nil || strings.Contains(err.Error(), password) || !strings.Contains(err.Error(), "connection refused") {
			t.Errorf("%s without a server: %v", what, err)
		}
	}
	for range 2 {
		refused("append", s.Append(t.Context(), clicks(3)))
		_, err := eventstore.Count(t.Context(), s, everything("a"))
		refused("count", err)
		_, err = s.List(t.Context(), everything("a").Filter, nil, 1)
		refused("list", err)
		_, err = s.Links(t.Context(), "a", []string{"one"})
		refused("links", err)
		_, err = s.Read(t.Context(), "", nil, 1)
		refused("read", err)
		_, err = s.Sweep(t.Context(), enginetest.Start, 1)
		refused("sweep", err)
		_, _, err = s.Erase(t.Context(), eventstore.Erasure{LinkID: "one"})
		refused("erase", err)
		refused("check", s.Check(t.Context()))
		relay.Up(t)
		if err := s.Check(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := s.Append(t.Context(), clicks(3)); err != nil {
			t.Fatal(err)
		}
		if got := count(t, s); got != 3 {
			t.Errorf("%d clicks, want 3", got)
		}
		relay.Down()
	}
}

// A batch whose answer is lost may be stored: it is once, after it was tried again.
func TestLostAnswer(t *testing.T) {
	address := clickhousetest.Address(t)
	relay, through := clickhousetest.NewRelay(t, address)
	relay.Up(t)
	s, direct := open(t, through), open(t, address)
	if err := s.Append(t.Context(), clicks(1)); err != nil {
		t.Fatal(err)
	}
	relay.LoseAnswers(100_000) // the ids that are looked up are less, they and the events more
	failed := make(chan error)
	go func() { failed <- s.Append(t.Context(), clicks(4000)) }()
	storetest.Eventually(t, "the server has the batch", func() bool { return count(t, direct) == 4000 })
	relay.Down()
	if err := <-failed; err == nil {
		t.Fatal("an Append without an answer returned no error")
	}
	relay.Up(t)
	for range 2 {
		if err := s.Append(t.Context(), clicks(4001)); err != nil {
			t.Fatal(err)
		}
		if got := count(t, s); got != 4001 {
			t.Fatalf("%d clicks, want 4001", got)
		}
	}
}

// Whoever does not wait any more is not kept waiting by a server that says nothing.
func TestSilentServer(t *testing.T) {
	relay, address := clickhousetest.NewRelay(t, clickhousetest.Address(t))
	relay.Up(t)
	s := open(t, address)
	if got := count(t, s); got != 0 {
		t.Fatalf("%d clicks at first", got)
	}
	relay.LoseAnswers(1)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 2)
	go func() { ended <- s.Append(ctx, clicks(1)) }()
	go func() {
		_, err := eventstore.Count(ctx, s, everything("a"))
		ended <- err
	}()
	cancel()
	for range 2 {
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("after the caller has left: %v", err)
		}
	}
}

// While somebody waits for a silent server to get the schema, others may leave.
func TestSilentServerAtFirst(t *testing.T) {
	relay, address := clickhousetest.NewRelay(t, clickhousetest.Address(t))
	relay.Up(t)
	relay.LoseAnswers(1)
	s := open(t, address)
	first, end := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Append(first, clicks(1)) }()
	storetest.Eventually(t, "the server is asked", relay.Asked)
	left, leave := context.WithCancel(t.Context())
	leave()
	if err := s.Append(left, clicks(1)); !errors.Is(err, context.Canceled) {
		t.Errorf("after the caller has left: %v", err)
	}
	end()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("at the end: %v", err)
	}
}

// The main database knows how far logs are loaded, so that an engine that takes the place
// of ClickHouse knows it, and tells when none must be any more.
func TestRecord(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, _ *clock.Clock) {
		s, next := open(t, clickhousetest.Address(t)), database.Open(db)
		moved := error(nil)
		s.Record(db, func(context.Context, store.Q) error { return moved })
		l := enginetest.NewLog()
		l.Write(clicks(30).Events...)
		if err := s.Append(t.Context(), l.Batch(0, 20)); err != nil {
			t.Fatal(err)
		}
		moved = errors.New("moved")
		if err := s.Append(t.Context(), l.Batch(0, 30)); !errors.Is(err, moved) {
			t.Errorf("append after the events have moved: %v", err)
		}
		if got := count(t, s); got != 20 {
			t.Errorf("%d clicks, want 20", got)
		}
		if err := next.Append(t.Context(), l.Batch(0, 30)); err != nil {
			t.Fatal(err)
		}
		rows, err := eventstore.Count(t.Context(), next, everything("a"))
		if err != nil || rows[0].Clicks != 10 {
			t.Errorf("the next engine has %+v, %v; want the 10 clicks that ClickHouse has not", rows, err)
		}
	})
}

// A program does not touch what a newer one has made.
func TestNewerSchema(t *testing.T) {
	address := clickhousetest.Address(t)
	if err := open(t, address).Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	name, server := u.Path[1:], clickhousetest.Shared(t)
	for _, statement := range []string{"DROP TABLE " + name + ".event_schema",
		"CREATE VIEW " + name + ".event_schema AS SELECT toUInt32(2) AS version"} {
		if err := server.Execute(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	err = open(t, address).Append(t.Context(), clicks(1))
	if err == nil || !strings.Contains(err.Error(), "database "+name+" has schema 2 and this program has 1") {
		t.Errorf("append to a newer schema: %v", err)
	}
}

// An address is refused when a Store is opened, in words without the password.
func TestAddress(t *testing.T) {
	for _, address := range []string{
		"", "clickhouse:", "https://u:secret@h:1/d", "clickhouse://u:secret@h:1", "clickhouse://u:secret@h:1/",
		"clickhouse://u:secret@h:1/a/b", "clickhouse://u:secret@h:1/a`b", "clickhouse://u:se%zzcret@h:1/d",
	} {
		s, err := clickhouse.Open(address, &clock.Clock{})
		if err == nil || strings.Contains(err.Error(), "secret") || !strings.Contains(err.Error(), "address of ClickHouse") {
			t.Errorf("%q: %v, %v", address, s, err)
		}
	}
}
