package listen

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/waymarkhq/waymark/internal/store/storetest"
)

const (
	ask  = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
	post = "POST / HTTP/1.1\r\nHost: a\r\n"
)

var heads = []struct {
	name, sent string
	// want are the statuses of the answers, after the last of which the connection ends.
	want string
}{
	{"plain", ask, "200"},
	{"three at once", ask + ask + ask, "200 200 200"},
	{"a body", post + "Content-Length: 5\r\n\r\nab\n\r\n" + ask, "200 200"},
	{"a body like a head", post + "Content-Length: 21\r\n\r\nGET / HTTP/1.1\nX: y\n\n" + ask, "200 200"},
	{"a length of zero", post + "Content-Length: 0\r\n\r\n" + ask, "200 200"},
	{"twice the same length", post + "Content-Length: 1\r\ncontent-length:1\r\n\r\na" + ask, "200 200"},
	{"empty line before the second", post + "Content-Length: 1\r\n\r\na\r\n" + ask, "200 200"},
	{"chunked is the last", post + "Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n" + ask, "200"},
	{"a long target", "GET /" + strings.Repeat("a", 3000) + " HTTP/1.1\r\nHost: a\r\n\r\n" + ask, "200 200"},
	{"a long header", "GET / HTTP/1.1\r\nHost: a\r\nCookie: " + strings.Repeat("a", 3000) + "\r\n\r\n" + ask, "200 200"},
	{"a long target of chunks", "POST /" + strings.Repeat("a", 3000) +
		" HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "200"},

	{"length and coding", post + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + ask, "400"},
	{"coding and length", post + "transfer-encoding: chunked\r\ncontent-length: 5\r\n\r\n0\r\n\r\n" + ask, "400"},
	{"coding and length zero", post + "Transfer-Encoding: chunked\r\nContent-Length: 0\r\n\r\n0\r\n\r\n", "400"},
	{"length and empty coding", post + "Content-Length: 5\r\nTransfer-Encoding:\r\n\r\nabcde", "400"},
	{"in the second request", ask + post + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "200 400"},
	{"behind a body", post + "Content-Length: 1\r\n\r\na" + post +
		"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "200 400"},
	{"coding in HTTP/1.0", "POST / HTTP/1.0\r\nHost: a\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" +
		ask, "400"},
	{"coding in HTTP/1.0, length too", "POST / HTTP/1.0\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "400"},
	{"two lengths", post + "Content-Length: 1\r\nContent-Length: 2\r\n\r\nab", "400"},
	{"two lengths, the first zero", post + "Content-Length: 0\r\nContent-Length: 1\r\n\r\na", "400"},
	{"a length beyond what is kept", post + "Content-Length:" + strings.Repeat(" ", 45) + "12345\r\n\r\n", "400"},
	{"a list of lengths", post + "Content-Length: 1, 1\r\n\r\na", "400"},
	{"a length with a sign", post + "Content-Length: +1\r\n\r\na", "400"},
	{"an empty length", post + "Content-Length:\r\n\r\n", "400"},
	{"a far length", post + "Content-Length:" + strings.Repeat(" ", 60) + "1\r\n\r\na", "400"},
	{"a huge length", post + "Content-Length: 9223372036854775808\r\n\r\n", "400"},

	{"LF after the request line", "GET / HTTP/1.1\nHost: a\r\n\r\n", "400"},
	{"LF after a header", "GET / HTTP/1.1\r\nHost: a\nX: y\r\n\r\n", "400"},
	{"LF after the last header", "GET / HTTP/1.1\r\nHost: a\n\r\n", "400"},
	{"LF at the end", "GET / HTTP/1.1\r\nHost: a\r\n\n", "400"},
	{"LF alone", "GET / HTTP/1.1\nHost: a\n\n", "400"},
	{"LF before", "\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", "400"},
	{"LF in the second request", ask + "GET / HTTP/1.1\nHost: a\r\n\r\n", "200 400"},
	{"LF after a long header", "GET / HTTP/1.1\r\nHost: a\r\nCookie: " + strings.Repeat("a", 3000) + "\n\r\n", "400"},
	{"a folded line", "GET / HTTP/1.1\r\nHost: a\r\nX: y\r\n z\r\n\r\n", "400"},
	{"a length in a folded line", post + "X: y\r\n\tContent-Length: 1\r\n\r\n" + ask, "400"},
}

// served answers on a listener with 200, after it has read the body.
func served(t *testing.T, o Options) (*Listener, *http.Server) {
	t.Helper()
	tcp, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	l := New(tcp, o)
	server := &http.Server{ConnState: l.Track, Handler: l.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
	}))}
	ended := make(chan error)
	go func() { ended <- server.Serve(l) }()
	t.Cleanup(func() {
		server.Close()
		<-ended
	})
	return l, server
}

// A head that programs read in different ways gets 400 and ends its connection, with TLS
// and without, in however many pieces it comes. Every other one gets its answer.
func TestHeads(t *testing.T) {
	authority := httptest.NewUnstartedServer(nil)
	authority.StartTLS()
	defer authority.Close()
	plain, _ := served(t, Options{Max: 10})
	secure, _ := served(t, Options{Max: 10, TLS: &tls.Config{
		Certificates: authority.TLS.Certificates, NextProtos: []string{"h2", "http/1.1"}}})
	for _, c := range heads {
		for piece := range map[int]bool{len(c.sent): true, 7: true, 1: true} {
			conn, err := net.Dial("tcp", plain.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			answers(t, fmt.Sprintf("%s, plain, by %d", c.name, piece), conn, c.sent, piece, c.want)
		}
		conn, err := tls.Dial("tcp", secure.Addr().String(), &tls.Config{InsecureSkipVerify: true})
		if err != nil {
			t.Fatal(err)
		}
		answers(t, c.name+", TLS", conn, c.sent, len(c.sent), c.want)
	}
}

// answers compares the statuses of what is answered.
func answers(t *testing.T, name string, conn net.Conn, sent string, piece int, want string) {
	t.Helper()
	defer conn.Close()
	go func() {
		for ; len(sent) > piece; sent = sent[piece:] {
			io.WriteString(conn, sent[:piece])
		}
		io.WriteString(conn, sent)
	}()
	var got []string
	r := bufio.NewReader(conn)
	for ended := false; !ended && len(got) < len(strings.Fields(want)); {
		answer, err := http.ReadResponse(r, nil)
		if err != nil {
			t.Fatalf("%s: after %q: %v", name, got, err)
		}
		io.Copy(io.Discard, answer.Body)
		got, ended = append(got, fmt.Sprint(answer.StatusCode)), answer.Close
	}
	if strings.Join(got, " ") != want {
		t.Errorf("%s: got %q, want %q", name, got, want)
	}
	if last := got[len(got)-1]; last != "200" || strings.Contains(name, "the last") {
		// A client that was still sending may see a reset in place of the end.
		if rest, _ := io.ReadAll(r); len(rest) > 0 {
			t.Errorf("%s: answered more: %q", name, rest)
		}
	}
}

// HTTP/2 has no such heads, and goes its own way.
func TestHTTP2(t *testing.T) {
	authority := httptest.NewUnstartedServer(nil)
	authority.StartTLS()
	defer authority.Close()
	l, _ := served(t, Options{Max: 1, Closed: func(Bound) {}, TLS: &tls.Config{
		Certificates: authority.TLS.Certificates, NextProtos: []string{"h2", "http/1.1"}}})
	client := &http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, ForceAttemptHTTP2: true}}
	defer client.CloseIdleConnections()
	for range 3 {
		answer, err := client.Get("https://" + l.Addr().String())
		if err != nil || answer.ProtoMajor != 2 || answer.StatusCode != 200 {
			t.Fatalf("%v, %v", answer, err)
		}
		answer.Body.Close()
	}
	storetest.Eventually(t, "an idle connection", func() bool { active, idle := l.Open(); return active == 0 && idle == 1 })
	// Another client gets the place of the idle one.
	other := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	defer other.CloseIdleConnections()
	if _, err := other.Get("https://" + l.Addr().String()); err != nil {
		t.Error(err)
	}
}
