package main

import (
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// Sizes of durable work.
const (
	batches      = 5
	batchItems   = 50
	events       = 1000
	destinations = 10
)

// received collects when each destination has each event for the first time.
type received struct {
	mu    sync.Mutex
	seen  map[string]bool // destination and event
	last  time.Time
	calls int
}

// receiver is where all destinations but one lead; the path tells them apart.
// The one called slow answers after the client has given up.
func (r *received) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	if request.URL.Path == "/slow" {
		select {
		case <-request.Context().Done():
		case <-time.After(10 * time.Second):
		}
		return
	}
	var event struct{ ID string }
	if json.NewDecoder(request.Body).Decode(&event) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	io.Copy(io.Discard, request.Body)
	r.mu.Lock()
	defer r.mu.Unlock()
	if key := request.URL.Path + event.ID; !r.seen[key] {
		r.seen[key], r.last = true, time.Now()
	}
	r.calls++
}

func (r *received) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.seen)
}

// durable measures what the executor does: batches, and webhooks from the
// change to the receiver.
func (b *bench) durable() error {
	r := &received{seen: map[string]bool{}}
	hooks := httptest.NewTLSServer(r)
	defer hooks.Close()
	ca := filepath.Join(b.dir, "ca.pem")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: hooks.Certificate().Raw}),
		0o600); err != nil {
		return err
	}
	s, c, err := b.prepared("durable", "--webhook-allow", "example.com="+hooks.Listener.Addr().String(), "--webhook-ca",
		ca)
	if err != nil {
		return err
	}
	defer s.stop()
	var took []time.Duration
	for n := range batches {
		d, err := c.batch(n)
		if err != nil {
			return err
		}
		took = append(took, d)
	}
	b.add("batch of 50 creations, s, request to end", "%.2f", median(took).Seconds(), 1,
		fmt.Sprintf("median of %d", batches))

	for n := range destinations + 1 {
		name := fmt.Sprint(n)
		if n == destinations {
			name = "slow"
		}
		if err := c.call("POST", "/webhooks", map[string]any{"appId": c.app, "url": "https://example.com/" + name,
			"events": []string{"link.created"}}, nil); err != nil {
			return err
		}
	}
	cpu, began := s.cpu(), time.Now()
	for n := range events {
		if _, err := c.createLink(fmt.Sprintf("event-%d", n)); err != nil {
			return err
		}
	}
	written := time.Since(began)
	want := events * destinations
	for deadline := time.Now().Add(3 * patience); r.count() < want && time.Now().
		Before(deadline); time.Sleep(5 * time.Millisecond) {
	}
	if r.count() < want {
		return fmt.Errorf("%d of %d deliveries came", r.count(), want)
	}
	b.add("1,000 events to 10 destinations, s", "%.1f", r.last.Sub(began).Seconds(), 30,
		fmt.Sprintf("a slow one beside; links made in %.1f s; %d calls; %.0f µs CPU of the server a delivery, "+
			"creation included", written.Seconds(), r.calls, float64((s.cpu()-cpu).Microseconds())/float64(want)))
	return nil
}

// batch has 50 links created in one request and returns how long that takes to
// its end.
func (c *client) batch(n int) (time.Duration, error) {
	var items []map[string]any
	for i := range batchItems {
		slug := fmt.Sprintf("batch-%d-%d", n, i)
		items = append(items, map[string]any{"clientId": slug, "action": "create", "input": map[string]any{
			"appId": c.app, "domain": c.domain, "slug": slug, "desktopUrl": "https://example.com/" + slug}})
	}
	var job struct{ Data struct{ OperationID string } }
	began := time.Now()
	if err := c.call("POST", "/link-batches", map[string]any{"appId": c.app, "items": items}, &job); err != nil {
		return 0, err
	}
	for time.Since(began) < patience {
		var o struct{ Data struct{ Status string } }
		if err := c.call("GET", "/operations/"+job.Data.OperationID, nil, &o); err != nil {
			return 0, err
		}
		switch o.Data.Status {
		case "queued", "running":
			time.Sleep(2 * time.Millisecond)
		case "succeeded":
			return time.Since(began), nil
		default:
			return 0, fmt.Errorf("the batch is %s", o.Data.Status)
		}
	}
	return 0, fmt.Errorf("the batch did not end within %s", patience)
}
