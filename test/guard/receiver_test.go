package guard_test

import (
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"sync"
	"testing"
)

// last is dialed to learn that all connections before it were counted.
const last = "9.9.9.9:443"

// receiver answers HTTPS for *.example.com at every address.
type receiver struct {
	net.Listener
	lasts chan bool

	mu       sync.Mutex
	accepted map[netip.Addr]int
	reached  map[string]visit // by path
}

// visit is a request that arrived.
type visit struct {
	address    netip.Addr
	serverName string
	host       string
}

func receive(t *testing.T) *receiver {
	listener, err := net.Listen("tcp", ":443")
	if err != nil {
		t.Fatal(err)
	}
	r := &receiver{Listener: listener, lasts: make(chan bool), accepted: map[netip.Addr]int{},
		reached: map[string]visit{}}
	server := httptest.NewUnstartedServer(r)
	server.Listener.Close()
	server.Listener = r
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	t.Cleanup(server.Close)
	return r
}

// Accept counts connections by the address they were made to.
func (r *receiver) Accept() (net.Conn, error) {
	conn, err := r.Listener.Accept()
	if err != nil {
		return nil, err
	}
	if conn.LocalAddr().String() == last {
		r.lasts <- true
		return conn, nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.accepted[local(conn.LocalAddr())]++
	return conn, nil
}

// ServeHTTP notes the visit; /redirect leads to a blocked address.
func (r *receiver) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	r.mu.Lock()
	r.reached[q.URL.Path] = visit{local(q.Context().Value(http.LocalAddrContextKey).(net.Addr)), q.TLS.ServerName,
		q.Host}
	r.mu.Unlock()
	if q.URL.Path == "/redirect" {
		http.Redirect(w, q, "https://"+blocked[0].String()+"/", http.StatusFound)
	}
}

func local(a net.Addr) netip.Addr { return a.(*net.TCPAddr).AddrPort().Addr().Unmap() }

// connections returns how many were made to each address since the last call.
// They are accepted in their order, so that the one made here comes after all.
func (r *receiver) connections(t *testing.T) map[netip.Addr]int {
	conn, err := net.Dial("tcp", last)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	<-r.lasts
	r.mu.Lock()
	defer r.mu.Unlock()
	accepted := r.accepted
	r.accepted = map[netip.Addr]int{}
	return accepted
}

func (r *receiver) visit(path string) (visit, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	v, ok := r.reached[path]
	return v, ok
}
