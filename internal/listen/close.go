package listen

import (
	"net"

	"github.com/waymarkhq/waymark/internal/platform"
)

// Close implements net.Listener. Connections stay open, and those that wait in the kernel
// are still accepted: closing alone would reset them with the requests they may have sent.
func (l *Listener) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.closed {
		l.last = platform.AcceptLast(l.tcp)
	}
	l.closed = true
	l.changed.Broadcast()
	return l.tcp.Close()
}

// lastOne returns one of those connections after accepting failed.
func (l *Listener) lastOne(err error) (*net.TCPConn, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.closed {
		return nil, err
	}
	if len(l.last) == 0 {
		return nil, net.ErrClosed
	}
	c := l.last[0]
	l.last = l.last[1:]
	return c, nil
}
