package webhook

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/waymarkhq/waymark/internal/delivery"
	"github.com/waymarkhq/waymark/internal/outbound"
	"github.com/waymarkhq/waymark/internal/places"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/tracing"
)

const (
	// maxServed is how many destinations a process serves at once, and ownerServed how
	// many of one owner. Each begins with one delivery, so a receiver that hangs holds
	// one connection, and a hundred of them leave their owner room for the others.
	maxServed, ownerServed = 320, 160
	// maxBatches and ownerBatches are how many of those go on with a batch at a time,
	// after the delivery before it succeeded.
	maxBatches, ownerBatches = 32, 16
	// batch is how many deliveries that is, and turn for how long a destination begins
	// another; then others have their turn.
	batch, turn = 10, time.Second
	// maxWrites is how many of the destinations write to the database at once.
	maxWrites = 8
	// pollEvery is the pause between looks for deliveries that became due, or
	// that other processes enqueued, and restWait that between any two looks: with
	// thousands of destinations a look takes long.
	pollEvery, restWait = 250 * time.Millisecond, 20 * time.Millisecond
	// awayWait is the pause after the database did not answer.
	awayWait = time.Second
	// attemptLimit bounds the requests of a batch, and writeLimit each of its two writes. A
	// lease, which begins in the first, outlives the requests and the second.
	attemptLimit, writeLimit = 10 * time.Second, 4 * time.Second
)

// Dispatcher sends the deliveries that are due. Several may run on one
// PostgreSQL database.
type Dispatcher struct {
	db     *store.DB
	client *outbound.Client
	log    *slog.Logger
	// Tracer traces deliveries whose cause is traced; nil traces none.
	Tracer  *tracing.Tracer
	metrics metrics
	wake    <-chan struct{}
	// free receives when a place was given back and its destination may have
	// more.
	free    chan struct{}
	running sync.WaitGroup
	// after is the destination served last; the next look goes on behind it, so
	// that each has its turn.
	after string

	served, batches *places.Places
	// writes has a token for each destination that writes to the database.
	writes chan struct{}

	mu sync.Mutex
	// busy are the destinations being served.
	busy map[string]bool
}

// New returns a dispatcher that sends through client. metrics may be nil.
func New(db *store.DB, client *outbound.Client, log *slog.Logger, metrics prometheus.Registerer) *Dispatcher {
	return &Dispatcher{
		db: db, client: client, log: log, metrics: newMetrics(metrics), wake: db.Listen(delivery.Topic),
		free: make(chan struct{}, 1), busy: map[string]bool{}, writes: make(chan struct{}, maxWrites),
		served: places.New(maxServed, ownerServed), batches: places.New(maxBatches, ownerBatches),
	}
}

// Run works until ctx ends; attempts under way are finished and recorded first.
func (d *Dispatcher) Run(ctx context.Context) {
	defer d.running.Wait()
	for ctx.Err() == nil {
		wait := pollEvery
		_, err := d.begin(ctx)
		looked := time.Now()
		if err != nil && ctx.Err() == nil {
			d.log.Error("webhook dispatcher", "error", err)
			wait = awayWait
		}
		select {
		case <-ctx.Done():
		case <-d.wake:
		case <-d.free:
		case <-time.After(wait):
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Until(looked.Add(restWait))):
		}
	}
}

// Drain sends until nothing is due. It is for tests; Run must not be running.
func (d *Dispatcher) Drain(ctx context.Context) error {
	for {
		n, err := d.begin(ctx)
		d.running.Wait()
		if err != nil || n == 0 {
			return err
		}
	}
}

// begin serves due destinations that are not being served, as many as there are
// places for, and returns how many.
func (d *Dispatcher) begin(ctx context.Context) (n int, err error) {
	free, full := d.served.Left()
	if free == 0 {
		return 0, nil
	}
	// Destinations that are being served may be among the due ones. Those of owners who
	// have all their places would hide others.
	found, err := delivery.FindDue(ctx, d.db, d.after, full, 2*maxServed)
	if err == nil && len(found) < 2*maxServed && d.after != "" {
		var rest []delivery.Due
		rest, err = delivery.FindDue(ctx, d.db, "", full, 2*maxServed)
		found = append(found, rest...)
	}
	for _, to := range found {
		if d.take(to) {
			n++
			d.after = to.WebhookID
			d.running.Go(func() { d.serve(context.WithoutCancel(ctx), to) })
		}
	}
	return n, err
}

// take takes a place for a destination.
func (d *Dispatcher) take(to delivery.Due) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.busy[to.WebhookID] || !d.served.Take(to.OwnerID) {
		return false
	}
	d.busy[to.WebhookID] = true
	return true
}

// serve sends to a destination and gives its place back: one delivery, and batches
// as long as all that was sent succeeded.
func (d *Dispatcher) serve(ctx context.Context, to delivery.Due) {
	end := time.Now().Add(turn)
	sent, succeeded, err := d.attempt(ctx, to.WebhookID, 1)
	if succeeded && d.batches.Take(to.OwnerID) {
		for succeeded && time.Now().Before(end) {
			_, succeeded, err = d.attempt(ctx, to.WebhookID, batch)
		}
		d.batches.GiveBack(to.OwnerID)
	}
	if err != nil {
		d.log.Error("webhook dispatcher", "error", err)
	}
	d.mu.Lock()
	delete(d.busy, to.WebhookID)
	d.mu.Unlock()
	d.served.GiveBack(to.OwnerID)
	if sent && err == nil { // otherwise the next poll is soon enough
		select {
		case d.free <- struct{}{}:
		default:
		}
	}
}

// attempt claims at most n deliveries, sends them together and records what came of
// them. It reports whether there were any, and whether there were and all succeeded.
// The network is used outside of transactions. An attempt that could not be recorded
// is made again after its lease: at least once.
func (d *Dispatcher) attempt(ctx context.Context, id string, n int) (sent, succeeded bool, err error) {
	var w Webhook
	var all []claimed
	err = d.write(ctx, func(ctx context.Context) (err error) {
		w, all, err = claim(ctx, d.db, id, n)
		return err
	})
	if err != nil || len(all) == 0 {
		return false, false, err
	}
	messages := make([]message, len(all))
	for i := range all {
		if messages[i], err = w.message(&all[i], d.db.Now()); err != nil {
			return false, false, err
		}
	}
	attempting, cancel := context.WithTimeout(ctx, attemptLimit)
	defer cancel()
	done := make(chan claimed, len(all))
	for i, c := range all {
		go func() {
			d.send(attempting, &w, &c, messages[i])
			done <- c
		}()
	}
	ended := make([]claimed, 0, len(all))
	succeeded = true
	for range all {
		c := <-done
		succeeded = succeeded && c.failure == nil
		ended = append(ended, c)
	}
	if err = d.write(ctx, func(ctx context.Context) error { return record(ctx, d.db, &w, ended) }); err != nil {
		return false, false, err
	}
	d.metrics.observe(ended, d.db.Now())
	return true, succeeded, nil
}

// send makes an attempt.
func (d *Dispatcher) send(ctx context.Context, to *Webhook, c *claimed, m message) {
	ctx, span := d.Tracer.Continue(ctx, c.Trace, "delivery "+string(c.Event.Type),
		tracing.Text("waymark.webhook", to.ID), tracing.Text("waymark.delivery", c.ID))
	defer span.End()
	c.status, c.failure = d.client.Post(ctx, to.URL, m.header, m.body)
	if c.status != 0 {
		span.SetAttributes(tracing.Number("http.response.status_code", c.status))
	}
	if c.failure != nil {
		tracing.Fail(span, string(c.failure.Code))
	}
}

// write writes to the database when it is the turn of the destination. It has a time limit
// of its own, so that a delivery is recorded although its attempt took long.
func (d *Dispatcher) write(ctx context.Context, f func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, writeLimit)
	defer cancel()
	select {
	case d.writes <- struct{}{}:
		defer func() { <-d.writes }()
		return f(ctx)
	case <-ctx.Done():
		return fmt.Errorf("write of a webhook: %w", ctx.Err())
	}
}
