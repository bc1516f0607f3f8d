package process_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
)

const hostname = "demo.localhost"

// browser is a desktop's user agent, so that visits are redirected and counted
// as human.
const browser = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"

// client calls the administrative API of one process.
type client struct {
	base, token string
	http        *http.Client
}

func (s *server) client(token string) *client {
	return &client{base: "http://" + s.api + "/v1", token: token, http: &http.Client{
		Timeout: patience, Transport: &http.Transport{MaxIdleConnsPerHost: 64},
	}}
}

// answer is a response as it came.
type answer struct {
	status int
	header http.Header
	body   []byte
}

func (a answer) String() string { return fmt.Sprintf("%d %s", a.status, a.body) }

// replayed tells that the answer came from a receipt.
func (a answer) replayed() bool { return a.header.Get("Idempotency-Replayed") == "true" }

// code returns the error code of a refusal in the envelope, "" without one.
func (a answer) code() string {
	var envelope struct {
		Error struct{ Code, RequestID string }
	}
	if json.Unmarshal(a.body, &envelope) != nil || envelope.Error.RequestID == "" {
		return ""
	}
	return envelope.Error.Code
}

// intent is one call that may be sent again. A mutation without a key gets a
// new one.
type intent struct {
	method, path string
	body         any
	key, ifMatch string
}

// call sends an intent. An error means that no whole answer came.
func (c *client) call(i intent) (a answer, err error) {
	var body io.Reader
	if i.body != nil {
		text, err := json.Marshal(i.body)
		if err != nil {
			return a, err
		}
		body = bytes.NewReader(text)
	}
	r, err := http.NewRequest(i.method, c.base+i.path, body)
	if err != nil {
		return a, err
	}
	r.Header.Set("Authorization", "Bearer "+c.token)
	if i.body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if i.method != "GET" {
		if i.key == "" {
			i.key = uuid.NewString()
		}
		r.Header.Set("Idempotency-Key", i.key)
	}
	if i.ifMatch != "" {
		r.Header.Set("If-Match", `"`+i.ifMatch+`"`)
	}
	response, err := c.http.Do(r)
	if err != nil {
		return a, err
	}
	defer response.Body.Close()
	a.status, a.header = response.StatusCode, response.Header
	a.body, err = io.ReadAll(response.Body)
	return a, err
}

// must sends an intent that has to be answered with a status.
func (c *client) must(t *testing.T, status int, i intent) answer {
	t.Helper()
	a, err := c.call(i)
	if err != nil {
		t.Fatal(err)
	}
	if a.status != status {
		t.Fatalf("%s %s: %s, want %d", i.method, i.path, a, status)
	}
	return a
}

// link is what the tests look at of a link.
type link struct {
	ID          string
	Revision    string
	Title       string
	Description string
	Slug        string
	Publication struct{ Status string }
}

func dataOf[T any](t *testing.T, a answer) (data T) {
	t.Helper()
	var envelope struct{ Data *T }
	envelope.Data = &data
	if err := json.Unmarshal(a.body, &envelope); err != nil {
		t.Errorf("answer %s: %v", a, err)
	}
	return data
}

// owner is an account with an app and the domain demo.localhost.
type owner struct {
	*client
	app string
}

// newOwner makes the account of a token ready.
func newOwner(t *testing.T, c *client) *owner {
	t.Helper()
	app := dataOf[struct{ ID string }](t, c.must(t, 201, intent{method: "POST", path: "/apps",
		body: map[string]any{"name": "Demo"}}))
	c.must(t, 202, intent{method: "POST", path: "/domains", body: map[string]any{"appId": app.ID, "mode": "platform",
		"prefix": "demo"}})
	return &owner{c, app.ID}
}

// content is what a link has in one state: all fields tell the same version.
func content(version string) map[string]any {
	return map[string]any{"title": version, "description": version, "desktopUrl": target(version)}
}

func target(version string) string { return "https://example.com/" + version }

// keepEvents registers a destination at which nobody receives: what matters is
// that each event is kept.
func (o *owner) keepEvents(t *testing.T) {
	t.Helper()
	o.must(t, 201, intent{method: "POST", path: "/webhooks", body: map[string]any{
		"appId": o.app, "url": "https://hooks.example.com/",
		"events": []string{"link.created", "link.updated", "link.deleted"}}})
}

func (o *owner) creation(slug, version string) intent {
	body := content(version)
	body["appId"], body["domain"], body["slug"] = o.app, hostname, slug
	return intent{method: "POST", path: "/links", body: body, key: uuid.NewString()}
}

func change(l link, version string) intent {
	return intent{method: "PATCH", path: "/links/" + url.PathEscape(l.ID), body: content(version),
		key: uuid.NewString(), ifMatch: l.Revision}
}

// create makes a link.
func (o *owner) create(t *testing.T, slug string) link {
	t.Helper()
	return dataOf[link](t, o.must(t, 201, o.creation(slug, slug+"-0")))
}

// clicks returns how many are in the event store.
func (o *owner) clicks(t *testing.T) int {
	t.Helper()
	const day = 24 * time.Hour
	path := fmt.Sprintf("/analytics/summary?appId=%s&start=%s&end=%s", o.app,
		time.Now().Add(-day).UTC().Format(time.RFC3339), time.Now().Add(day).UTC().Format(time.RFC3339))
	return dataOf[struct{ Totals struct{ Clicks int } }](t, o.must(t, 200,
		intent{method: "GET", path: path})).Totals.Clicks
}

// visitor keeps one connection to a redirector. Go's client would send a GET
// again on its own, and then two clicks could stand for one visit.
type visitor struct {
	address string
	conn    net.Conn
	reader  *bufio.Reader
}

func (s *server) visitor(t *testing.T) *visitor {
	v := &visitor{address: s.public}
	t.Cleanup(v.close)
	return v
}

func (v *visitor) close() {
	if v.conn != nil {
		v.conn.Close()
		v.conn = nil
	}
}

// ask sends one request. sent tells that it may have reached the server.
func (v *visitor) ask(method, slug string) (a answer, sent bool, err error) {
	if v.conn == nil {
		if v.conn, err = net.DialTimeout("tcp", v.address, 5*time.Second); err != nil {
			v.conn = nil
			return a, false, err
		}
		v.reader = bufio.NewReader(v.conn)
	}
	defer func() {
		if err != nil {
			v.close()
		}
	}()
	v.conn.SetDeadline(time.Now().Add(patience))
	if _, err := fmt.Fprintf(v.conn, "%s /%s HTTP/1.1\r\nHost: %s\r\nUser-Agent: %s\r\n\r\n", method, slug, hostname,
		browser); err != nil {
		return a, true, err
	}
	request := &http.Request{Method: method}
	response, err := http.ReadResponse(v.reader, request)
	if err != nil {
		return a, true, err
	}
	defer response.Body.Close()
	a.status, a.header = response.StatusCode, response.Header
	if a.body, err = io.ReadAll(response.Body); err == nil && response.Close {
		v.close()
	}
	return a, true, err
}

// look asks where a link leads without counting as a click.
func (v *visitor) look(t *testing.T, slug string) (status int, location string) {
	t.Helper()
	a, _, err := v.ask("HEAD", slug)
	if err != nil {
		t.Fatal(err)
	}
	return a.status, a.header.Get("Location")
}

// leadsTo waits until a link leads to a version's target.
func (v *visitor) leadsTo(t *testing.T, slug, version string) {
	t.Helper()
	eventually(t, "redirect of "+slug, func() error {
		if status, location := v.look(t, slug); status != 302 || location != target(version) {
			return fmt.Errorf("%d to %q, want %q", status, location, target(version))
		}
		return nil
	})
}

// metric reads one value of /metrics.
func (s *server) metric(name string) float64 {
	s.t.Helper()
	response, err := (&http.Client{Timeout: patience}).Get("http://" + s.metrics + "/metrics")
	if err != nil {
		s.t.Fatal(err)
	}
	defer response.Body.Close()
	lines := bufio.NewScanner(response.Body)
	for lines.Scan() {
		if text, ok := strings.CutPrefix(lines.Text(), name+" "); ok {
			value, err := strconv.ParseFloat(text, 64)
			if err != nil {
				s.t.Fatal(err)
			}
			return value
		}
	}
	s.t.Fatalf("no metric %s", name)
	return 0
}

// loaded waits until all clicks that the process knows are in the event store.
func (s *server) loaded() {
	s.t.Helper()
	s.eventually("all clicks are loaded", func() error {
		if left := s.metric("waymark_click_log_bytes"); left != 0 {
			return fmt.Errorf("%.0f bytes left", left)
		}
		return nil
	})
}
