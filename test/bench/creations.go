package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/google/uuid"
)

// creationClients are the numbers of clients that creations are measured with.
var creationClients = []int{1, 32}

// aims of creations, by number of clients: CPU, and the ratio to golink's rate.
var aims = map[int]struct{ cpu, ratio float64 }{1: {cpu: 900}, 32: {cpu: 400, ratio: 2.5}}

// slug is of the link that redirects are measured with.
const slug = "visited"

// destination is where the links of the benchmark lead.
func destination(slug string) string {
	return "https://www.example.com/some/page?of=the&site=" + slug
}

// creation is the request that creates a link.
func (c *client) creation(slug string) (*http.Request, error) {
	body, err := json.Marshal(map[string]any{
		"appId": c.app, "domain": c.domain, "slug": slug, "desktopUrl": destination(slug), "title": "A link of the benchmark",
	})
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequest("POST", c.api+"/links", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+c.token)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Idempotency-Key", uuid.NewString())
	return request, nil
}

// written returns the bytes of a request.
func written(r *http.Request, err error) []byte {
	if err != nil {
		panic(err)
	}
	var b bytes.Buffer
	if err := r.Write(&b); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// creations compares the creation of a link with golink's, which stores a row.
func (b *bench) creations(s *server, c *client) error {
	golink, err := b.startGolink()
	if err != nil {
		return err
	}
	if golink != nil {
		defer golink.stop()
	}
	for _, clients := range creationClients {
		if err := b.creationsBy(clients, s, c, golink); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) creationsBy(clients int, s *server, c *client, golink *child) error {
	ours := &contender{name: "waymark", child: &child{cmd: s.cmd, address: s.api[len("http://"):]}}
	theirs := &contender{name: "golink", child: golink}
	var published []float64
	for round := range *rounds {
		name := func(of int64) string { return fmt.Sprintf("r%d-%d-%d", clients, round, of) }
		cpu, before := s.cpu(), ours.total
		if err := ours.turn(load{clients, http.StatusCreated, func(of int64) []byte { return written(c.creation(name(of))) }}); err != nil {
			return err
		}
		// What it still does must not cost the other its processor.
		if err := s.drained("waymark_jobs_waiting"); err != nil {
			return err
		}
		published = append(published, per(s.cpu()-cpu, ours.total-before))
		if golink == nil {
			continue
		}
		if err := theirs.turn(load{clients, http.StatusOK, func(of int64) []byte {
			return written(golinkCreation(golink.address, name(of)), nil)
		}}); err != nil {
			return err
		}
	}
	what := fmt.Sprintf("create link, %d client(s), ", clients)
	aim := aims[clients]
	b.add(what+"CPU µs", "%.0f", median(ours.cost), aim.cpu, fmt.Sprintf("%d links in %d turns, executor at work beside", ours.total, *rounds))
	b.add("  the same until published", "%.0f", median(published), 0, "queue of jobs empty")
	b.add("  requests/s", "%.0f", median(ours.rate), 0, "")
	if golink != nil {
		b.add("  golink, CPU µs", "%.0f", median(theirs.cost), 0, fmt.Sprintf("%d links", theirs.total))
		b.add("  golink, requests/s", "%.0f", median(theirs.rate), 0, "")
		b.addAtLeast("  waymark's rate to golink's", "%.2f", median(ours.rate)/median(theirs.rate), aim.ratio, "in the same run")
	}
	return nil
}
