package server

import (
	"bytes"
	"net"
	"net/http"
	"strconv"

	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/ids"
	"github.com/waymarkhq/waymark/internal/op"
)

// Conn wraps a connection of the API so that requests which net/http refuses
// before any handler sees them (a malformed request line or header, a missing
// Host) are answered in the envelope too (completions.md §1).
func Conn(c net.Conn, p *op.Pipeline) net.Conn { return &conn{c, p} }

type conn struct {
	net.Conn
	service *op.Pipeline
}

// NetConn returns the connection below, as that of tls.Conn does.
func (c *conn) NetConn() net.Conn { return c.Conn }

// CloseWrite says that nothing more comes. net/http does so before it closes a connection
// whose client may still be sending, so that the client gets the answer.
func (c *conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// refusalHeaders follow the status line of net/http's own refusals, and of
// nothing that a handler writes: those carry X-Request-Id before the type.
var refusalHeaders = []byte("\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n")

// Write implements net.Conn.
func (c *conn) Write(b []byte) (int, error) {
	const statusLine = "HTTP/1.1 "
	end := bytes.IndexByte(b, '\r')
	if end < len(statusLine)+3 || !bytes.HasPrefix(b, []byte(statusLine)) || !bytes.HasPrefix(b[end:], refusalHeaders) {
		return c.Conn.Write(b)
	}
	message := "The request is not well-formed HTTP. Check its first line, its headers and Host."
	if bytes.HasPrefix(b[len(statusLine):], []byte("431")) {
		message = "The request's headers are too large. Send fewer or shorter ones."
	}
	if _, err := c.Conn.Write(c.refusal(message)); err != nil {
		return 0, err
	}
	return len(b), nil
}

func (c *conn) refusal(message string) []byte {
	id := ids.Request()
	answer := &bufferedAnswer{header: http.Header{}}
	answer.header.Set("Connection", "close")
	answer.header.Set("Cache-Control", "no-store, no-transform")
	answer.header.Set("X-Request-Id", id)
	c.service.WriteError(answer, id, fault.New(fault.InvalidRequest, "%s", message))
	var b bytes.Buffer
	b.WriteString("HTTP/1.1 " + strconv.Itoa(answer.status) + " " + http.StatusText(answer.status) + "\r\n")
	answer.header.Write(&b)
	b.WriteString("\r\n")
	b.Write(answer.body)
	return b.Bytes()
}

// bufferedAnswer keeps an answer for a connection without a handler.
type bufferedAnswer struct {
	header http.Header
	status int
	body   []byte
}

// Header implements http.ResponseWriter.
func (a *bufferedAnswer) Header() http.Header { return a.header }

// WriteHeader implements http.ResponseWriter.
func (a *bufferedAnswer) WriteHeader(status int) { a.status = status }

// Write implements http.ResponseWriter.
func (a *bufferedAnswer) Write(b []byte) (int, error) {
	a.body = append(a.body, b...)
	return len(b), nil
}
