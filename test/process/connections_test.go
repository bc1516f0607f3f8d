package process_test

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// faulty are heads of requests that programs read in different ways.
var faulty = map[string]string{
	"length and coding": "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
	"LF alone":          "GET / HTTP/1.1\nHost: a\n\n",
}

// refuses fails unless a listener answers each of them with 400 and closes.
func refuses(t *testing.T, what, address string, secured *tls.Config) {
	t.Helper()
	for name, head := range faulty {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		conn.SetDeadline(time.Now().Add(patience))
		if secured != nil {
			conn = tls.Client(conn, secured)
		}
		if _, err := io.WriteString(conn, head); err != nil {
			t.Fatal(err)
		}
		r := bufio.NewReader(conn)
		answer, err := http.ReadResponse(r, nil)
		if err != nil {
			t.Fatalf("%s, %s: %v", what, name, err)
		}
		body, err := io.ReadAll(answer.Body)
		if err != nil || answer.StatusCode != 400 || !answer.Close {
			t.Errorf("%s, %s: %d, closes: %t, %v", what, name, answer.StatusCode, answer.Close, err)
		}
		if envelope := strings.Contains(string(body), `"invalid_request"`); envelope != strings.HasPrefix(what, "api") {
			t.Errorf("%s, %s: %s", what, name, body)
		}
		if rest, err := r.ReadByte(); err == nil {
			t.Errorf("%s, %s: answered on with %q", what, name, rest)
		}
	}
}

func TestFaultyHeads(t *testing.T) {
	t.Parallel()
	s := serve(t, t.TempDir(), "sqlite")
	refuses(t, "api", s.api, nil)
	refuses(t, "public", s.public, nil)
	refuses(t, "metrics", s.metrics, nil)
	s.terminate()
}

// With few descriptors and more idle visitors than they are enough for, the API, the metrics
// and a new visitor are answered, and no click is lost.
func TestFewDescriptors(t *testing.T) {
	each(t, func(t *testing.T, database string) {
		dir := t.TempDir()
		limited := append([]string{"-c", `ulimit -n 200; exec "$0" "$@"`, binary}, serveArgs(dir, database)...)
		s := started(t, exec.Command("sh", limited...), dir, database)
		o := newOwner(t, s.client(s.token("ann@example.com")))
		o.create(t, "hello")
		s.visitor(t).leadsTo(t, "hello", "hello-0")
		visits := 0
		for i := range 400 {
			from := net.IPv4(127, 0, 1, byte(i/10)) // no address has too many
			d := net.Dialer{LocalAddr: &net.TCPAddr{IP: from}, Timeout: patience}
			conn, err := d.Dial("tcp", s.public)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			if i%2 == 0 { // and never asks
				continue
			}
			conn.SetDeadline(time.Now().Add(patience))
			fmt.Fprintf(conn, "GET /hello HTTP/1.1\r\nHost: %s\r\nUser-Agent: %s\r\n\r\n", hostname, browser)
			answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil || answer.StatusCode != 302 {
				t.Fatalf("visitor %d: %v, %v", i, answer, err)
			}
			visits++
		}
		s.visitor(t).leadsTo(t, "hello", "hello-0") // by HEAD, which is no click
		o.must(t, 200, intent{method: "GET", path: "/me"})
		if closed := s.metric(`waymark_connections_closed_total{bound="connections",listener="public"}`); closed < 300 {
			t.Errorf("%v connections were closed", closed)
		}
		if idle := s.metric(`waymark_connections{listener="public",state="idle"}`); idle < 20 || idle > 100 {
			t.Errorf("%v idle connections", idle)
		}
		s.eventually("all visits are counted", func() error {
			if n := o.clicks(t); n != visits {
				return fmt.Errorf("%d of %d", n, visits)
			}
			return nil
		})
		if lost := s.metric("waymark_redirect_clicks_lost_total"); lost != 0 {
			t.Errorf("%v clicks are lost", lost)
		}
		s.terminate()
	})
}
