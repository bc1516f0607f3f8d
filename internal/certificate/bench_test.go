package certificate

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/waymarkhq/waymark/internal/certificate/pebbletest"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/store/storetest"
)

// benchManager returns a manager without an authority.
func benchManager(b testing.TB) *Manager {
	b.Helper()
	c := &clock.Clock{}
	db := storetest.Open(b, storetest.Address(b, "sqlite"), c)
	return (&installation{Authority: &pebbletest.Authority{Directory: "https://ca.example"}}).manager(b, db, nil)
}

// BenchmarkMemory reports what ten thousand certificates take, each visited once.
func BenchmarkMemory(b *testing.B) {
	const certificates = 10_000
	m, now := benchManager(b), time.Now()
	for n := range certificates {
		m.seed(b, fmt.Sprintf("h%d.example", n), now, now.Add(90*day))
	}
	heap := func() float64 {
		runtime.GC()
		runtime.GC()
		var s runtime.MemStats
		runtime.ReadMemStats(&s)
		return float64(s.HeapAlloc) / (1 << 20)
	}
	for b.Loop() {
		before := heap()
		for n := range certificates {
			f := m.fly(wish{fmt.Sprintf("h%d.example", n), visit})
			if <-f.done; f.err != nil {
				b.Fatal(f.err)
			}
		}
		b.ReportMetric(heap()-before, "MiB")
		runtime.KeepAlive(m)
	}
}

// BenchmarkUnknownHostname compares the processor time of a handshake for a hostname that
// nobody serves with that of one that plain net/http refuses. It includes the client's.
func BenchmarkUnknownHostname(b *testing.B) {
	m := benchManager(b)
	refusing := &tls.Config{GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
		return nil, errors.New("no certificate")
	}}
	for name, settings := range map[string]*tls.Config{"waymark": m.TLS(), "plain": refusing} {
		b.Run(name, func(b *testing.B) {
			l := pebbletest.Listen(b)
			s := &http.Server{ErrorLog: log.New(io.Discard, "", 0)}
			go s.Serve(tls.NewListener(l, settings))
			defer s.Close()
			n, cpu := 0, processTime()
			for b.Loop() {
				c, err := net.Dial("tcp", l.Addr().String())
				if err != nil {
					b.Fatal(err)
				}
				n++
				err = tls.Client(c, &tls.Config{ServerName: fmt.Sprintf("h%d.unknown.test", n)}).Handshake()
				if err == nil || !strings.Contains(err.Error(), "internal error") {
					b.Fatal(err)
				}
				c.Close()
			}
			b.ReportMetric(float64((processTime()-cpu).Microseconds())/float64(n), "cpu-µs/op")
		})
	}
}

func processTime() time.Duration {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
