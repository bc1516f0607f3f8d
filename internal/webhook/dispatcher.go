package webhook

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/waymarkhq/waymark/internal/delivery"
	"github.com/waymarkhq/waymark/internal/outbound"
	"github.com/waymarkhq/waymark/internal/store"
)

const (
	// places is how many destinations a process serves at once. A slow
	// destination keeps its place for one batch; then other destinations have
	// their turn.
	places = 64
	// ownerPlaces is how many places one owner may take, so that the slow
	// receivers of one owner do not keep them all.
	ownerPlaces = places / 2
	// pollEvery is the pause between looks for deliveries that became due, or
	// that other processes enqueued.
	pollEvery = 250 * time.Millisecond
	// awayWait is the pause after the database did not answer.
	awayWait = time.Second
	// serveLimit ends a batch well before its leases.
	serveLimit = 10 * time.Second
)

// Dispatcher sends the deliveries that are due. Several may run on one
// PostgreSQL database.
type Dispatcher struct {
	db      *store.DB
	client  *outbound.Client
	log     *slog.Logger
	metrics metrics
	wake    <-chan struct{}
	// free receives when a place was given back and its destination may have
	// more.
	free    chan struct{}
	running sync.WaitGroup
	// after is the destination served last; the next look goes on behind it, so
	// that each has its turn.
	after string

	mu sync.Mutex
	// busy are the destinations being served; owners counts them by owner.
	busy   map[string]bool
	owners map[string]int
}

// New returns a dispatcher that sends through client. metrics may be nil.
func New(db *store.DB, client *outbound.Client, log *slog.Logger, metrics prometheus.Registerer) *Dispatcher {
	return &Dispatcher{
		db: db, client: client, log: log, metrics: newMetrics(metrics), wake: db.Listen(delivery.Topic),
		free: make(chan struct{}, 1), busy: map[string]bool{}, owners: map[string]int{},
	}
}

// Run works until ctx ends; attempts under way are finished and recorded first.
func (d *Dispatcher) Run(ctx context.Context) {
	defer d.running.Wait()
	for ctx.Err() == nil {
		wait := pollEvery
		if _, err := d.begin(ctx); err != nil && ctx.Err() == nil {
			d.log.Error("webhook dispatcher", "error", err)
			wait = awayWait
		}
		select {
		case <-ctx.Done():
		case <-d.wake:
		case <-d.free:
		case <-time.After(wait):
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
	// Destinations that are being served may be among the due ones.
	found, err := delivery.FindDue(ctx, d.db, d.after, 2*places)
	if err == nil && len(found) < 2*places && d.after != "" {
		var rest []delivery.Due
		rest, err = delivery.FindDue(ctx, d.db, "", 2*places)
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
	if d.busy[to.WebhookID] || len(d.busy) == places || d.owners[to.OwnerID] == ownerPlaces {
		return false
	}
	d.busy[to.WebhookID] = true
	d.owners[to.OwnerID]++
	return true
}

// serve attempts one batch of a destination and gives the place back.
func (d *Dispatcher) serve(ctx context.Context, to delivery.Due) {
	ctx, cancel := context.WithTimeout(ctx, serveLimit)
	defer cancel()
	more, err := d.attempt(ctx, to.WebhookID)
	if err != nil {
		d.log.Error("webhook dispatcher", "error", err)
	}
	d.mu.Lock()
	delete(d.busy, to.WebhookID)
	if d.owners[to.OwnerID]--; d.owners[to.OwnerID] == 0 {
		delete(d.owners, to.OwnerID)
	}
	d.mu.Unlock()
	if more && err == nil { // otherwise the next poll is soon enough
		select {
		case d.free <- struct{}{}:
		default:
		}
	}
}

// attempt claims deliveries, sends them together and records what came of them.
// The network is used outside of transactions. An attempt that could not be
// recorded is made again after its lease: at least once.
func (d *Dispatcher) attempt(ctx context.Context, id string) (more bool, err error) {
	w, all, err := claim(ctx, d.db, id)
	if err != nil || len(all) == 0 {
		return false, err
	}
	messages := make([]message, len(all))
	for i := range all {
		if messages[i], err = w.message(&all[i], d.db.Now()); err != nil {
			return false, err
		}
	}
	done := make(chan claimed, len(all))
	for i, c := range all {
		go func() {
			c.status, c.failure = d.client.Post(ctx, w.URL, messages[i].header, messages[i].body)
			done <- c
		}()
	}
	ended := make([]claimed, 0, len(all))
	for range all {
		ended = append(ended, <-done)
	}
	if err := record(ctx, d.db, &w, ended); err != nil {
		return false, err
	}
	d.metrics.observe(ended, d.db.Now())
	return true, nil
}
