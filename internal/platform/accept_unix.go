//go:build unix

package platform

import (
	"errors"
	"net"
	"os"
	"syscall"
)

// AcceptLast accepts the connections that wait in the kernel and has no others wait there. On Linux, l
// must not be a multipath socket.
func AcceptLast(l *net.TCPListener) (last []*net.TCPConn) {
	raw, err := l.SyscallConn()
	if err != nil {
		return nil
	}
	var accepted []int
	raw.Control(func(fd uintptr) {
		// One that came between the last accept and the shutdown would be reset.
		refuseNew(int(fd))
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
