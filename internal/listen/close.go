package listen

import (
	"errors"
	"net"
	"os"
	"syscall"
)

// Close implements net.Listener. Connections stay open, and those that wait in the kernel
// are still accepted: closing alone would reset them with the requests they may have sent.
func (l *Listener) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.closed {
		l.last = l.takeLast()
	}
	l.closed = true
	l.changed.Broadcast()
	return l.tcp.Close()
}

// takeLast accepts what waits in the kernel and has no others wait there.
func (l *Listener) takeLast() (last []*net.TCPConn) {
	raw, err := l.tcp.SyscallConn()
	if err != nil {
		return nil
	}
	var accepted []int
	raw.Control(func(fd uintptr) {
		for {
			next, _, err := syscall.Accept(int(fd))
			if errors.Is(err, syscall.EINTR) || errors.Is(err, syscall.ECONNABORTED) {
				continue
			}
			if err != nil {
				break
			}
			accepted = append(accepted, next)
		}
		syscall.Shutdown(int(fd), syscall.SHUT_RD)
	})
	for _, fd := range accepted {
		syscall.CloseOnExec(fd)
		file := os.NewFile(uintptr(fd), "")
		if c, err := net.FileConn(file); err == nil { // a copy
			last = append(last, c.(*net.TCPConn))
		}
		file.Close()
	}
	return last
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
