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

// creationAims are for a number of clients; 0 is none.
type creationAims map[int]struct{ cpu, rate, ratio float64 }

var (
	sqliteAims   = creationAims{1: {cpu: 900}, 32: {cpu: 400, ratio: 2.5}}
	postgresAims = creationAims{1: {rate: 400}, 32: {cpu: 2000, rate: 1000}}
)

// slug is of the link that redirects are measured with.
const slug = "visited"

// destination is where the links of the benchmark lead.
func destination(slug string) string {
	return "https://www.example.com/some/page?of=the&site=" + slug
}

// creation is the request that creates a link.
func (c *client) creation(slug string) (*http.Request, error) {
	body, err := json.Marshal(map[string]any{
		"appId": c.app, "domain": c.domain, "slug": slug, "desktopUrl": destination(slug),
		"title": "A link of the benchmark",
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

// creations compares the creation of a link with golink's, which stores a row;
// golink may be nil.
func (b *bench) creations(what string, s *server, c *client, golink *child, aims creationAims) error {
	ours := &child{cmd: s.cmd, address: s.api[len("http://"):], helpers: s.helpers}
	for _, clients := range creationClients {
		if err := b.creationsBy(clients, what, s, c, &contender{name: "waymark", child: ours},
			&contender{name: "golink", child: golink}, aims); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) creationsBy(clients int, what string, s *server, c *client, ours, theirs *contender,
	aims creationAims) error {
	var published []float64
	for round := range *rounds {
		name := func(of int64) string { return fmt.Sprintf("r%d-%d-%d", clients, round, of) }
		cpu, before := s.cpu(), ours.total
		if err := ours.turn(load{clients, http.StatusCreated,
			func(of int64) []byte { return written(c.creation(name(of))) }}); err != nil {
			return err
		}
		// What it still does must not cost the other its processor.
		if err := s.drained("waymark_jobs_waiting"); err != nil {
			return err
		}
		published = append(published, per(s.cpu()-cpu, ours.total-before))
		if theirs.child == nil {
			continue
		}
		if err := theirs.turn(load{clients, http.StatusOK, func(of int64) []byte {
			return written(golinkCreation(theirs.child.address, name(of)), nil)
		}}); err != nil {
			return err
		}
	}
	aim := aims[clients]
	b.add(fmt.Sprintf("%s, %d client(s), CPU µs", what, clients), "%.0f", median(ours.cost), aim.cpu,
		fmt.Sprintf("%d links in %d turns, executor at work beside", ours.total, *rounds))
	b.add("  the same until published", "%.0f", median(published), 0, "queue of jobs empty")
	b.addAtLeast("  requests/s", "%.0f", median(ours.rate), aim.rate, "")
	if theirs.child != nil {
		b.add("  golink, CPU µs", "%.0f", median(theirs.cost), 0, fmt.Sprintf("%d links", theirs.total))
		b.add("  golink, requests/s", "%.0f", median(theirs.rate), 0, "")
		b.addAtLeast("  waymark's rate to golink's", "%.2f", median(ours.rate)/median(theirs.rate), aim.ratio,
			"in the same run")
	}
	return nil
}
