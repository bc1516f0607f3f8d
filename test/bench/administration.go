package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os/exec"
	"strings"
	"time"

	"github.com/google/uuid"
)

// client calls the API as the owner.
type client struct {
	http.Client
	api, token  string
	app, domain string // of newApp
}

func (b *bench) newClient(s *server) (*client, error) { return b.newClientAs(s, "bench@example.com") }

func (b *bench) newClientAs(s *server, email string) (*client, error) {
	token, err := exec.Command(b.binary, "session", "issue", "--data-dir", b.data, "--database", b.database, "--email",
		email).Output()
	if err != nil {
		return nil, fmt.Errorf("session issue: %w", err)
	}
	return &client{
		Client: http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}, Timeout: patience},
		api:    s.api + "/v1", token: strings.TrimSpace(string(token)),
	}, nil
}

// call makes one call; out receives the answer when it is not nil.
func (c *client) call(method, path string, body map[string]any, out any) error {
	var content io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return err
		}
		content = bytes.NewReader(text)
	}
	request, err := http.NewRequest(method, c.api+path, content)
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+c.token)
	if method != http.MethodGet {
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Idempotency-Key", uuid.NewString())
	}
	response, err := c.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode/100 != 2 {
		return fmt.Errorf("%s %s: %s %s", method, path, response.Status, text)
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(text, out)
}

type created struct {
	Data struct {
		ID string `json:"id"`
	} `json:"data"`
}

func (c *client) createLink(slug string) (id string, err error) {
	var link created
	err = c.call("POST", "/links", map[string]any{
		"appId": c.app, "domain": c.domain, "slug": slug, "desktopUrl": destination(slug),
		"title": "A link of the benchmark",
	}, &link)
	return link.Data.ID, err
}

// newApp makes an app with a domain, in which the client works from here on.
func (c *client) newApp(prefix string) error {
	var app created
	if err := c.call("POST", "/apps", map[string]any{"name": "Benchmark"}, &app); err != nil {
		return err
	}
	c.app, c.domain = app.Data.ID, prefix+"."+zone
	return c.call("POST", "/domains", map[string]any{"appId": c.app, "mode": "platform", "prefix": prefix}, nil)
}

// prepared starts a server with an app on a domain.
func (b *bench) prepared(prefix string, flags ...string) (*server, *client, error) {
	s, err := b.serve(flags...)
	if err != nil {
		return nil, nil, err
	}
	c, err := b.newClient(s)
	if err == nil {
		err = c.newApp(prefix)
	}
	return s, c, err
}

// administration measures the API: creation, reads, publication.
func (b *bench) administration() error {
	s, c, err := b.prepared("go")
	if err != nil {
		return err
	}
	defer s.stop()
	if err := s.drained("waymark_jobs_waiting"); err != nil {
		return err
	}
	if _, err := c.createLink(slug); err != nil {
		return err
	}
	golink, err := b.startGolink()
	if err != nil {
		return err
	}
	if golink != nil {
		defer golink.stop()
	}
	if err := b.creations("create link", s, c, golink, sqliteAims); err != nil {
		return err
	}
	if err := b.lists(s, c); err != nil {
		return err
	}
	id, err := c.createLink("point")
	if err != nil {
		return err
	}
	if err := s.drained("waymark_jobs_waiting"); err != nil {
		return err
	}
	const reads = 5000
	cpu, started := s.cpu(), time.Now()
	for range reads {
		if err := c.call("GET", "/links/"+url.PathEscape(id), nil, nil); err != nil {
			return err
		}
	}
	b.add("read link, CPU µs", "%.0f", per(s.cpu()-cpu, reads), 0, fmt.Sprintf("%d reads, 1 client", reads))
	b.add("read link, ms", "%.3f", per(time.Since(started), reads)/1000, 0, "mean, with the client's own part")
	if err := b.publication(s, c); err != nil {
		return err
	}
	return s.stop()
}

// per returns microseconds for each of n.
func per(d time.Duration, n int) float64 { return float64(d.Nanoseconds()) / 1000 / float64(n) }

// lists walks through all links in pages of 50.
func (b *bench) lists(s *server, c *client) error {
	var times []time.Duration
	items, cursor, cpu := 0, "", s.cpu()
	for range 400 {
		var page struct {
			Data       []json.RawMessage `json:"data"`
			Pagination struct {
				NextCursor *string `json:"nextCursor"`
			} `json:"pagination"`
		}
		query := url.Values{"appId": {c.app}, "limit": {"50"}}
		if cursor != "" {
			query.Set("cursor", cursor)
		}
		started := time.Now()
		if err := c.call("GET", "/links?"+query.Encode(), nil, &page); err != nil {
			return err
		}
		times = append(times, time.Since(started))
		items += len(page.Data)
		if cursor = ""; page.Pagination.NextCursor != nil {
			cursor = *page.Pagination.NextCursor
		}
	}
	if items < 400*30 {
		return fmt.Errorf("400 pages have %d links", items)
	}
	b.add("list of 50 links, CPU µs", "%.0f", per(s.cpu()-cpu, len(times)), 0, "400 pages of all links")
	b.add("list of 50 links, ms", "%.2f", float64(median(times).Microseconds())/1000, 0,
		"median, with the client's decoding")
	return nil
}

// publication measures from the start of a creation to the first redirect.
func (b *bench) publication(s *server, c *client) error {
	visitor := &http.Client{
		Transport:     &http.Transport{},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	var times []time.Duration
	for i := range 300 {
		slug := fmt.Sprintf("publication-%d", i)
		started := time.Now()
		if _, err := c.createLink(slug); err != nil {
			return err
		}
		for {
			request, err := http.NewRequest("GET", "http://"+s.public+"/"+slug, nil)
			if err != nil {
				return err
			}
			request.Host = "go." + zone
			response, err := visitor.Do(request)
			if err != nil {
				return err
			}
			response.Body.Close()
			if response.StatusCode == http.StatusFound {
				break
			}
			if time.Since(started) > patience {
				return fmt.Errorf("%s is not published: %s", slug, response.Status)
			}
			time.Sleep(time.Millisecond)
		}
		times = append(times, time.Since(started))
	}
	b.add("publication p50, ms", "%.1f", float64(quantile(times, 0.5).Microseconds())/1000, 0,
		"create to first 302, 300 in turn, same process")
	b.add("publication p99, ms", "%.1f", float64(quantile(times, 0.99).Microseconds())/1000, 1000, "")
	return nil
}
