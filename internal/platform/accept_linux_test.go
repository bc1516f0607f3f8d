package platform

import (
	"errors"
	"net"
	"testing"
	"time"
)

// Of a socket that takes no more connections, those that wait are accepted, and nobody else comes to wait:
// who tries is neither refused nor connected.
func TestRefuseNew(t *testing.T) {
	var config net.ListenConfig
	config.SetMultipathTCP(false)
	l, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	before, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer before.Close()
	raw, err := l.(*net.TCPListener).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	if err := raw.Control(func(fd uintptr) { refuseNew(int(fd)) }); err != nil {
		t.Fatal(err)
	}
	after, err := net.DialTimeout("tcp", l.Addr().String(), 200*time.Millisecond)
	if timeout, ok := errors.AsType[net.Error](err); !ok || !timeout.Timeout() {
		t.Errorf("a connection that came afterwards: %v, %v", after, err)
	}
	last := AcceptLast(l.(*net.TCPListener))
	if len(last) != 1 {
		t.Fatalf("%d connections waited, want 1", len(last))
	}
	defer last[0].Close()
	// The socket of the connection has the same filter, and takes all that belongs to it.
	if _, err := before.Write([]byte("request")); err != nil {
		t.Fatal(err)
	}
	last[0].SetDeadline(time.Now().Add(time.Minute))
	got := make([]byte, 10)
	if n, err := last[0].Read(got); err != nil || string(got[:n]) != "request" {
		t.Errorf("%q, %v", got[:n], err)
	}
}
