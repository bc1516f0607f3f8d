package proxies_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// Requests as they come over the wire are routed by their true host alone.
func TestHostForms(t *testing.T) {
	w := start(t)
	w.site(t, "a")
	w.site(t, "b")
	long := strings.Repeat("a.", 126) + "localhost"
	for _, c := range []struct {
		name, head string
		want       string // where the visitor is sent, else the status
	}{
		{"plain", "GET /hello HTTP/1.1\r\nHost: a.localhost\r\n", "a"},
		{"port", "GET /hello HTTP/1.1\r\nHost: a.localhost:8443\r\n", "a"},
		{"empty port", "GET /hello HTTP/1.1\r\nHost: a.localhost:\r\n", "a"},
		{"port of letters", "GET /hello HTTP/1.1\r\nHost: a.localhost:b\r\n", "404"},
		{"two ports", "GET /hello HTTP/1.1\r\nHost: a.localhost:80:80\r\n", "404"},
		{"final dot", "GET /hello HTTP/1.1\r\nHost: a.localhost.\r\n", "a"},
		{"final dot and port", "GET /hello HTTP/1.1\r\nHost: a.localhost.:80\r\n", "a"},
		{"two final dots", "GET /hello HTTP/1.1\r\nHost: a.localhost..\r\n", "404"},
		{"capitals", "GET /hello HTTP/1.1\r\nHost: A.LocalHost\r\n", "a"},
		{"white space around", "GET /hello HTTP/1.1\r\nHost: \t a.localhost \r\n", "a"},
		{"white space inside", "GET /hello HTTP/1.1\r\nHost: a.localhost b.localhost\r\n", "400"},
		{"white space before the colon", "GET /hello HTTP/1.1\r\nHost : a.localhost\r\n", "400"},
		{"a folded line", "GET /hello HTTP/1.1\r\nHost: a.localhost\r\n b.localhost\r\n", "400"},
		{"a list", "GET /hello HTTP/1.1\r\nHost: a.localhost, b.localhost\r\n", "400"},
		{"absolute form, the target wins", "GET http://b.localhost/hello HTTP/1.1\r\nHost: a.localhost\r\n", "b"},
		{"absolute form of https", "GET https://b.localhost:444/hello HTTP/1.1\r\nHost: a.localhost\r\n", "b"},
		{"absolute form without Host", "GET http://b.localhost/hello HTTP/1.1\r\n", "400"},
		{"absolute form with user", "GET http://a.localhost@b.localhost/hello HTTP/1.1\r\nHost: a.localhost\r\n", "b"},
		{"absolute form of a stranger", "GET http://c.localhost/hello HTTP/1.1\r\nHost: a.localhost\r\n", "404"},
		{"target with two slashes", "GET //b.localhost/hello HTTP/1.1\r\nHost: a.localhost\r\n", "404 page"},
		{"two Hosts", "GET /hello HTTP/1.1\r\nHost: a.localhost\r\nHost: b.localhost\r\n", "400"},
		{"twice the same Host", "GET /hello HTTP/1.1\r\nHost: a.localhost\r\nhost: a.localhost\r\n", "400"},
		{"no Host", "GET /hello HTTP/1.1\r\n", "400"},
		{"no Host, HTTP/1.0", "GET /hello HTTP/1.0\r\n", "404"},
		{"Host, HTTP/1.0", "GET /hello HTTP/1.0\r\nHost: a.localhost\r\n", "a"},
		{"empty Host", "GET /hello HTTP/1.1\r\nHost:\r\n", "404"},
		{"X-Forwarded-Host", "GET /hello HTTP/1.1\r\nHost: a.localhost\r\nX-Forwarded-Host: b.localhost\r\n", "a"},
		{"X-Forwarded-Host alone", "GET /hello HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Forwarded-Host: a.localhost\r\n", "404"},
		{"Forwarded", "GET /hello HTTP/1.1\r\nHost: a.localhost\r\nForwarded: host=b.localhost\r\n", "a"},
		{"X-Host and others", "GET /hello HTTP/1.1\r\nHost: a.localhost\r\nX-Host: b.localhost\r\n" +
			"X-Original-Host: b.localhost\r\nX-HTTP-Host-Override: b.localhost\r\n", "a"},
		{"an address", "GET /hello HTTP/1.1\r\nHost: 127.0.0.1\r\n", "404"},
		{"an IPv6 address", "GET /hello HTTP/1.1\r\nHost: [::1]:8081\r\n", "404"},
		{"user", "GET /hello HTTP/1.1\r\nHost: a.localhost@b.localhost\r\n", "400"},
		{"NUL", "GET /hello HTTP/1.1\r\nHost: a.localhost\x00b\r\n", "400"},
		{"a path", "GET /hello HTTP/1.1\r\nHost: a.localhost/b\r\n", "400"},
		{"underscore", "GET /hello HTTP/1.1\r\nHost: _a.localhost\r\n", "404"},
		{"percent", "GET /hello HTTP/1.1\r\nHost: a%2elocalhost\r\n", "404"},
		{"beyond ASCII", "GET /hello HTTP/1.1\r\nHost: ａ.localhost\r\n", "400"},
		{"long", "GET /hello HTTP/1.1\r\nHost: " + long + "\r\n", "404"},
		{"very long", "GET /hello HTTP/1.1\r\nHost: " + strings.Repeat("a", 64<<10) + "\r\n", "431"},
		{"below", "GET /hello HTTP/1.1\r\nHost: x.a.localhost\r\n", "404"},
		{"the zone", "GET /hello HTTP/1.1\r\nHost: localhost\r\n", "404"},
	} {
		conn, err := net.Dial("tcp", w.public)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		conn.SetDeadline(time.Now().Add(patience))
		// The server may answer and close before it has read a head that is too long.
		fmt.Fprint(conn, c.head+"Connection: close\r\n\r\n")
		r, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		got, sent := strings.CutPrefix(r.Header.Get("Location"), "https://example.com/")
		if !sent {
			got = fmt.Sprint(r.StatusCode)
		}
		if got == "404" && r.ContentLength != 0 {
			got = "404 page"
		}
		if got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}
