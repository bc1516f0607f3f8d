package outbound_test

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/waymarkhq/waymark/internal/outbound"
)

func TestRequest(t *testing.T) {
	var got *http.Request
	var body []byte
	o := receiver(t, func(w http.ResponseWriter, r *http.Request) {
		got = r
		body, _ = io.ReadAll(r.Body)
	})
	header := http.Header{"Content-Type": {"application/json"}, "User-Agent": {"other"}}
	status, failure := outbound.New(o).Post(t.Context(), "https://hooks.example.com:443/in/%2F?a=%20b", header,
		[]byte(`{"a":1}`))
	verify(t, status, failure, 200, "")
	if got.Method != "POST" || got.Host != "hooks.example.com" || got.RequestURI != "/in/%2F?a=%20b" ||
		got.Proto != "HTTP/1.1" || !got.Close {
		t.Errorf("request %+v", got)
	}
	want := http.Header{"Content-Type": {"application/json"}, "User-Agent": {"Waymark-Webhooks/1"},
		"Content-Length": {"7"}, "Connection": {"close"}}
	for name := range got.Header {
		if got.Header.Get(name) != want.Get(name) {
			t.Errorf("header %s: %q, want %q", name, got.Header[name], want[name])
		}
	}
	if got.Header.Get("User-Agent") == "" || got.Header.Get("Content-Type") == "" || string(body) != `{"a":1}` ||
		header.Get("User-Agent") != "other" {
		t.Errorf("header %v, body %q; the caller's header is now %v", got.Header, body, header)
	}
}

// answers are sent as they are, after the request was read.
var answers = map[string]struct {
	text   string
	status int
	code   string
}{
	"ok":                 {"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", 200, ""},
	"no content":         {"HTTP/1.1 204 No Content\r\n\r\n", 204, ""},
	"body that is short": {"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc", 200, ""},
	"compressed":         {"HTTP/1.1 202 Accepted\r\nContent-Encoding: gzip\r\n\r\nabc", 202, ""},
	"early hints": {"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 201 " +
		"Created\r\n\r\n", 201, ""},
	"redirect": {"HTTP/1.1 302 Found\r\nLocation: https://hooks.example.com/again\r\n\r\n", 302,
		"redirect_refused"},
	"permanent": {"HTTP/1.1 308 Permanent Redirect\r\nLocation: http://127.0.0.1/\r\n\r\n", 308,
		"redirect_refused"},
	"not modified":  {"HTTP/1.1 304 Not Modified\r\n\r\n", 304, "redirect_refused"},
	"not found":     {"HTTP/1.1 404 Not Found\r\n\r\n", 404, "http_status"},
	"server error":  {"HTTP/1.1 503 Service Unavailable\r\n\r\n", 503, "http_status"},
	"odd status":    {"HTTP/1.1 999 Odd\r\n\r\n", 999, "http_status"},
	"switch":        {"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n", 101, "http_status"},
	"status zero":   {"HTTP/1.1 000 Nothing\r\n\r\n", 0, "connection_failed"},
	"nothing":       {"", 0, "connection_failed"},
	"no HTTP":       {"SSH-2.0-OpenSSH\r\n", 0, "connection_failed"},
	"cut":           {"HTTP/1.1 200 OK\r\nContent-", 0, "connection_failed"},
	"large headers": {"HTTP/1.1 200 OK\r\nA: " + strings.Repeat("a", 1<<20) + "\r\n\r\n", 0, "connection_failed"},
	"many headers":  {"HTTP/1.1 200 OK\r\n" + strings.Repeat("A: b\r\n", 1<<17) + "\r\n", 0, "connection_failed"},
	"informational flood": {strings.Repeat("HTTP/1.1 103 Early Hints\r\n\r\n", 1<<15) + "HTTP/1.1 200 OK\r\n\r\n",
		0, "connection_failed"},
}

func TestAnswers(t *testing.T) {
	cert := selfSigned(t, never)
	for name, a := range answers {
		t.Run(name, func(t *testing.T) {
			connections := make(chan bool, 10)
			address := listen(t, func(raw net.Conn) {
				connections <- true
				conn := tls.Server(raw, &tls.Config{Certificates: []tls.Certificate{cert.Certificate}})
				if _, err := io.ReadFull(conn, make([]byte, 10)); err != nil {
					return
				}
				_, _ = io.WriteString(conn, a.text)
				_ = conn.CloseWrite()
				drain(conn)
			})
			post(t, outbound.Options{Allow: to(address), CA: cert.pool}, destination, a.status, a.code)
			if n := len(connections); n != 1 {
				t.Errorf("%d connections", n)
			}
		})
	}
}

// An answer counts when its headers are there: its body may go on for ever.
func TestEndlessBody(t *testing.T) {
	ended := make(chan bool)
	o := receiver(t, func(w http.ResponseWriter, r *http.Request) {
		defer close(ended)
		for {
			if _, err := w.Write(make([]byte, 1<<16)); err != nil {
				return
			}
		}
	})
	post(t, o, destination, 200, "")
	<-ended
}

func TestMessageOfStatus(t *testing.T) {
	o := receiver(t, func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(418) })
	_, failure := outbound.New(o).Post(t.Context(), destination, nil, nil)
	if failure == nil || failure.Message != "The destination answered with status 418." {
		t.Errorf("%+v", failure)
	}
}

func TestTLSFailures(t *testing.T) {
	o := receiver(t, func(http.ResponseWriter, *http.Request) {})
	post(t, o, destination, 200, "")
	post(t, o, "https://receiver.internal/", 0, "tls_failed") // the certificate is another's
	post(t, outbound.Options{Allow: o.Allow}, destination, 0, "tls_failed")

	expired := selfSigned(t, time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC))
	address := listen(t, func(conn net.Conn) {
		_ = tls.Server(conn, &tls.Config{Certificates: []tls.Certificate{expired.Certificate}}).Handshake()
	})
	post(t, outbound.Options{Allow: to(address), CA: expired.pool}, destination, 0, "tls_failed")

	plain := listen(t, func(conn net.Conn) { _, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\n\r\n"); drain(conn) })
	post(t, outbound.Options{Allow: to(plain), CA: o.CA}, destination, 0, "tls_failed")
}

func TestNobodyListens(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	listener.Close()
	post(t, outbound.Options{Allow: to(listener.Addr())}, destination, 0, "connection_failed")
	post(t, outbound.Options{}, "https://[hooks.example.com/", 0, "connection_failed") // what Check would not accept
}

// Every attempt has a connection of its own, with the short handshake for the
// host that was there before and for no other.
func TestSessions(t *testing.T) {
	resumed := make(chan bool, 1)
	remote := map[string]bool{}
	o := receiver(t, func(_ http.ResponseWriter, r *http.Request) {
		remote[r.RemoteAddr] = true
		resumed <- r.TLS.DidResume
	})
	client := outbound.New(o)
	for _, step := range []struct {
		host string
		want bool
	}{{"hooks", false}, {"hooks", true}, {"more", false}, {"more", true}, {"hooks", true}} {
		status, failure := client.Post(t.Context(), "https://"+step.host+".example.com/", nil, nil)
		verify(t, status, failure, 200, "")
		if got := <-resumed; got != step.want {
			t.Errorf("%s: resumed is %v", step.host, got)
		}
	}
	if len(remote) != 5 {
		t.Errorf("%d connections of 5", len(remote))
	}
}

// Whatever a destination is slow at, an attempt ends by itself. That each of
// these returns at all is the assertion: nobody else would end them.
func TestTimeLimit(t *testing.T) {
	cert := selfSigned(t, never)
	config := &tls.Config{Certificates: []tls.Certificate{cert.Certificate}}
	dns, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dns.Close() })
	for name, o := range map[string]outbound.Options{
		"dns":  {Resolver: dns.LocalAddr().String()},
		"tls":  {Allow: to(listen(t, drain))},
		"http": {Allow: to(listen(t, func(c net.Conn) { drain(tls.Server(c, config)) })), CA: cert.pool},
		"header by header": {Allow: to(listen(t, func(c net.Conn) {
			conn := tls.Server(c, config)
			_, err := io.WriteString(conn, "HTTP/1.1 200 OK\r\n")
			for next := time.NewTicker(50 * time.Millisecond); err == nil; <-next.C { // the network's time is real
				_, err = io.WriteString(conn, "A: b\r\n")
			}
		})), CA: cert.pool},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			post(t, o, destination, 0, "timeout")
		})
	}
}

func TestCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	o := receiver(t, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		cancel()
		<-r.Context().Done() // the connection is closed
	})
	for range 2 { // the second is canceled before it begins
		status, failure := outbound.New(o).Post(ctx, destination, nil, nil)
		verify(t, status, failure, 0, "timeout")
	}
}
