package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/waymarkhq/waymark/internal/apitest/refused"
)

// unreadClients ask for so many lists each and read none of them. The system keeps some MiB
// of a connection by itself.
const unreadClients, unreadLists = 500, 8

// clients measures what clients cost that send what is refused, or read nothing.
func (b *bench) clients() error {
	s, c, err := b.prepared("clients")
	if err != nil {
		return err
	}
	defer s.stop()
	if err := s.drained("waymark_jobs_waiting"); err != nil {
		return err
	}
	if err := b.refusedBodies(c); err != nil {
		return err
	}
	return b.unread(s, c)
}

// refusedBodies measures the body whose refusal takes longest.
func (b *bench) refusedBodies(c *client) error {
	link, err := c.createLink("refused")
	if err != nil {
		return err
	}
	var template struct {
		Data struct{ Template struct{ ID string } }
	}
	if err := c.call("POST", "/templates", map[string]any{"appId": c.app, "name": "a", "baseTemplateId": "android"},
		&template); err != nil {
		return err
	}
	worst, what, calls := 0.0, "", refused.Calls(c.app, url.QueryEscape(link), template.Data.Template.ID)
	for _, call := range calls {
		var times []float64
		for range 20 {
			took, err := c.refused(call)
			if err != nil {
				return err
			}
			times = append(times, took)
		}
		if m := median(times); m > worst {
			worst, what = m, call.Name
		}
	}
	b.add("refused body, worst of the corpus, ms", "%.1f", worst, 5, fmt.Sprintf("%s; %d bodies, medians of 20", what,
		len(calls)))
	return nil
}

// refused makes a call that is refused and returns how many milliseconds it took.
func (c *client) refused(call refused.Call) (ms float64, err error) {
	request, err := http.NewRequest(call.Method, c.api+call.Path, strings.NewReader(call.Body))
	if err != nil {
		return 0, err
	}
	for name, value := range map[string]string{"Authorization": "Bearer " + c.token, "Content-Type": call.Type,
		"Idempotency-Key": uuid.NewString(), "If-Match": refused.Revision} {
		request.Header.Set(name, value)
	}
	began := time.Now()
	response, err := c.Do(request)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		return 0, err
	}
	if response.StatusCode < 400 || response.StatusCode >= 500 {
		return 0, fmt.Errorf("%s is answered with %s", call.Name, response.Status)
	}
	return time.Since(began).Seconds() * 1e3, nil
}

// unread measures the memory that large answers take while nobody reads them.
func (b *bench) unread(s *server, c *client) error {
	for n := range 80 {
		if err := c.call("POST", "/links", map[string]any{"appId": c.app, "domain": c.domain,
			"slug": fmt.Sprint("large-", n), "desktopUrl": destination("large"),
			"parameters": map[string]any{"text": strings.Repeat("x", 15<<10)}}, nil); err != nil {
			return err
		}
	}
	path := "/links?limit=100&appId=" + c.app
	if err := c.call("GET", path, nil, nil); err != nil {
		return err
	}
	before := s.memory("VmRSS")
	var conns []net.Conn
	defer func() {
		for _, conn := range conns {
			conn.Close()
		}
	}()
	for range unreadClients {
		conn, err := net.Dial("tcp", s.api[len("http://"):])
		if err != nil {
			return err
		}
		conns = append(conns, conn)
		conn.(*net.TCPConn).SetReadBuffer(1)
		ask := fmt.Sprintf("GET /v1%s HTTP/1.1\r\nHost: api\r\nAuthorization: Bearer %s\r\n\r\n", path, c.token)
		if _, err := io.WriteString(conn, strings.Repeat(ask, unreadLists)); err != nil {
			return err
		}
	}
	most := 0.0
	for began := time.Now(); ; time.Sleep(100 * time.Millisecond) {
		most = max(most, s.memory("VmRSS")-before)
		left, err := s.gauge("waymark_api_answers_unread_total")
		if err != nil {
			return err
		}
		if left > 0 {
			break
		}
		if time.Since(began) > patience {
			return errors.New("all answers were taken")
		}
	}
	away, err := s.gauge("waymark_api_answers_refused_total")
	if err != nil {
		return err
	}
	b.add("memory with unread answers, MiB more", "%.0f", most, 128, fmt.Sprintf("%d clients with lists of 1 MiB, %.0f turned "+
		"away", unreadClients, away))
	return nil
}
