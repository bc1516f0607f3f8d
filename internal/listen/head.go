package listen

import (
	"bytes"
	"io"
	"net"
	"strconv"
)

// closeWriter is a connection that can say that nothing more comes; net/http does so
// before it closes one whose client may still be sending.
type closeWriter interface {
	net.Conn
	CloseWrite() error
}

// refused is read in place of the rest of a head that is refused: wherever that was,
// there is now a line that is none of a head, so that net/http answers 400 and closes.
const refused = "?\r\n?\r\n\r\n"

// checkedConn is a connection whose heads of requests are read by a head before net/http
// reads them.
type checkedConn struct {
	closeWriter
	head head
	// rest is what is left to be read of refused, after which nothing is.
	rest    []byte
	refused bool
}

// NetConn returns the connection below, as that of tls.Conn does.
func (c *checkedConn) NetConn() net.Conn { return c.closeWriter }

// Read implements net.Conn.
func (c *checkedConn) Read(b []byte) (int, error) {
	n := 0
	if !c.refused {
		read, err := c.closeWriter.Read(b)
		if n = c.head.read(b[:read]); n == read {
			return n, err
		}
		c.refused, c.rest = true, []byte(refused)
	} else if len(c.rest) == 0 {
		return 0, io.EOF
	}
	more := copy(b[n:], c.rest)
	c.rest = c.rest[more:]
	return n + more, nil
}

// head follows the requests of a connection from one head to the next. It finds what
// programs read in different ways, so that one would see two requests where another sees
// one: lines that end with LF alone or go on in the next one, a length that is none, and
// a length beside a transfer coding. Of the rest it knows nothing; net/http checks it.
type head struct {
	// line is the beginning of a line that has come in so far, but the end of a request line,
	// where its version is. length is how long it is, and last its last byte.
	line   [64]byte
	kept   int
	length int
	last   byte
	// begun tells that the request line has come in, and coded that it may be followed by
	// a transfer coding.
	begun, coded bool
	// size is the Content-Length, -1 for none; chunked tells of a Transfer-Encoding.
	size    int64
	chunked bool
	// body is what is left of the body. A chunked one, where done is set, is the last of
	// the connection: Listener.Handler sees to that.
	body int64
	done bool
}

// read returns how much of b comes before a fault, len(b) if there is none.
func (h *head) read(b []byte) int {
	for at := 0; at < len(b); {
		if h.done {
			break
		}
		if h.body > 0 {
			skip := min(h.body, int64(len(b)-at))
			h.body -= skip
			at += int(skip)
			continue
		}
		end := bytes.IndexByte(b[at:], '\n')
		if end < 0 {
			h.keep(b[at:])
			break
		}
		h.keep(b[at : at+end])
		if at += end; !h.endLine() {
			return at
		}
		at++
		h.kept, h.length, h.last = 0, 0, 0
	}
	return len(b)
}

func (h *head) keep(b []byte) {
	if len(b) == 0 {
		return
	}
	h.length += len(b)
	h.last = b[len(b)-1]
	if !h.begun {
		b = b[max(0, len(b)-len(h.line)):]
		over := max(0, h.kept+len(b)-len(h.line))
		h.kept = copy(h.line[:], h.line[over:h.kept])
	}
	h.kept += copy(h.line[h.kept:], b)
}

// endLine reports whether the line that ends is as it has to be.
func (h *head) endLine() bool {
	line := h.line[:h.kept]
	switch {
	case h.last != '\r':
		return false
	case h.length == 1 && h.begun:
		h.body, h.done = max(0, h.size), h.chunked
		h.begun = false
		return true
	case h.length == 1: // before a request line
		return true
	case !h.begun:
		h.begun, h.size, h.chunked = true, -1, false
		h.coded = bytes.HasSuffix(line, []byte(" HTTP/1.1\r"))
		return true
	case line[0] == ' ' || line[0] == '\t':
		return false
	}
	name, value, _ := bytes.Cut(line, []byte(":"))
	switch {
	case bytes.EqualFold(name, []byte("Content-Length")):
		size, err := strconv.ParseUint(string(bytes.Trim(value, " \t\r")), 10, 63)
		if err != nil || h.length > len(h.line) || h.size >= 0 && h.size != int64(size) {
			return false
		}
		h.size = int64(size)
	case bytes.EqualFold(name, []byte("Transfer-Encoding")):
		h.chunked = true
	}
	return !h.chunked || h.coded && h.size < 0
}
