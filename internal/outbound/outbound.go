// Package outbound sends HTTPS requests to addresses that strangers chose: events to
// the destinations of webhooks, and probes to the hostnames of domains. For each
// attempt it refuses all addresses of the host that are not public, and connects to
// the very address it checked: no later answer of the DNS can lead it into the
// network it runs in.
package outbound

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"time"
)

const (
	// timeLimit is for all of an attempt, from the DNS to the last header.
	timeLimit = 5 * time.Second
	// answerLimit bounds what is read of an answer, in bytes.
	answerLimit = 64 << 10
	// maxSessions is how many hosts get the short TLS handshake; each takes a few
	// kilobytes.
	maxSessions = 256
	// userAgent names the sender to receivers.
	userAgent = "Waymark-Webhooks/1"
)

// Options are what a Client works with.
type Options struct {
	// Resolver is the host:port of a DNS server; "" asks the system's.
	Resolver string
	// Allow lifts the rule of public addresses for single hostnames: they are
	// reached at these addresses alone.
	Allow map[string]netip.AddrPort
	// CA verifies the certificates of those hosts; nil is the system's roots.
	CA *x509.CertPool
}

// Client sends requests.
type Client struct {
	options  Options
	resolver *net.Resolver
	// sessions are kept by hostname, so that none serves another host.
	sessions tls.ClientSessionCache
}

// New returns a client.
func New(o Options) *Client {
	// Go's own resolver: the C library's cannot be interrupted.
	resolver := &net.Resolver{PreferGo: true}
	if o.Resolver != "" {
		resolver.Dial = func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, o.Resolver)
		}
	}
	return &Client{o, resolver, tls.NewLRUClientSessionCache(maxSessions)}
}

// Post sends body and discards the answer. status is 0 when there was none; a
// nil failure is an answer 2xx. The URL is one that Check accepts.
func (c *Client) Post(ctx context.Context, url string, header http.Header, body []byte) (status int, failure *Failure) {
	ctx, cancel := context.WithTimeout(ctx, timeLimit)
	defer cancel()
	status, code := c.attempt(ctx, url, header, body)
	if status == 0 && isOver(ctx) {
		code = timeout
	}
	return status, failed(code, status)
}

// isOver reports whether the time of an attempt is over. A connection may notice
// it a moment before the context does.
func isOver(ctx context.Context) bool {
	deadline, _ := ctx.Deadline()
	return ctx.Err() != nil || !time.Now().Before(deadline)
}

// attempt returns the status of the answer and the code of a failure.
func (c *Client) attempt(ctx context.Context, url string, header http.Header, body []byte) (status int, code string) {
	request, err := http.NewRequest(http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return 0, connectionFailed
	}
	maps.Copy(request.Header, header)
	request.Header.Set("User-Agent", userAgent)
	request.Host = request.URL.Hostname()

	conn, code := c.connect(ctx, request.Host)
	if code != "" {
		return 0, code
	}
	response, err := exchange(conn, request)
	if err != nil {
		return 0, connectionFailed
	}
	switch response.StatusCode / 100 {
	case 2:
		return response.StatusCode, ""
	case 3:
		return response.StatusCode, redirectRefused
	}
	return response.StatusCode, httpStatus
}

// exchange sends a request and returns the head of its answer. One request on one
// connection that was just checked needs no Transport with its pool, and nothing of
// the body is ever read.
func exchange(conn net.Conn, request *http.Request) (response *http.Response, err error) {
	request.Close = true
	if err := request.Write(conn); err != nil {
		return nil, err
	}
	answer := bufio.NewReader(io.LimitReader(conn, answerLimit))
	for {
		response, err = http.ReadResponse(answer, request)
		// informational answers go before the real one
		if err != nil || response.StatusCode >= http.StatusOK || response.StatusCode == http.StatusSwitchingProtocols {
			return response, err
		}
	}
}
