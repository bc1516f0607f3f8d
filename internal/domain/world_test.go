package domain_test

import (
	"crypto/x509"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"sync/atomic"
	"testing"
	"time"

	"github.com/waymarkhq/waymark/internal/apitest"
	"github.com/waymarkhq/waymark/internal/dnslookup/dnstest"
	"github.com/waymarkhq/waymark/internal/outbound"
	"github.com/waymarkhq/waymark/internal/store/storetest"
)

// world is an installation whose owners have hostnames below example.com and
// example.net, in the DNS of a real server. TLS ends in a proxy in front of it.
type world struct {
	*apitest.Installation
	dns     *dnstest.Server
	proxy   *proxy
	records []string
	options apitest.Options
}

// proxy passes requests on to an installation, or to another server.
type proxy struct {
	*httptest.Server
	to      atomic.Pointer[http.HandlerFunc]
	answers atomic.Int64
}

func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.answers.Add(1)
	(*p.to.Load())(w, r)
}

func (p *proxy) leadTo(handle http.HandlerFunc) { p.to.Store(&handle) }

// eachWorld runs f in a world on each engine.
func eachWorld(t *testing.T, o apitest.Options, f func(t *testing.T, w *world)) {
	for _, engine := range storetest.Engines {
		t.Run(engine, func(t *testing.T) { f(t, newWorld(t, engine, o)) })
	}
}

func newWorld(t testing.TB, engine string, o apitest.Options) *world {
	t.Helper()
	w := &world{dns: dnstest.Start(t, "example.com", apitest.Zone), proxy: &proxy{}}
	w.proxy.Server = httptest.NewUnstartedServer(w.proxy) // its certificate is for *.example.com
	w.proxy.Config.ErrorLog = log.New(io.Discard, "", 0)
	w.proxy.StartTLS()
	t.Cleanup(w.proxy.Close)
	o.DNS = w.dns.Address
	o.Probe = outbound.ProbeOptions{CA: x509.NewCertPool(),
		Address: netip.MustParseAddrPort(w.proxy.Listener.Addr().String())}
	o.Probe.CA.AddCert(w.proxy.Certificate())
	w.options = o
	w.Installation = apitest.New(t, engine, o)
	w.proxy.leadTo(w.Public.ServeHTTP)
	w.dns.Set(t, apitest.Zone, "connect A 192.0.2.80", "connect A 192.0.2.81", "* A 192.0.2.80")
	return w
}

// add adds records to example.com.
func (w *world) add(t testing.TB, records ...string) {
	t.Helper()
	w.records = append(w.records, records...)
	w.dns.Set(t, "example.com", w.records...)
}

// replace replaces the records of example.com.
func (w *world) replace(t testing.TB, records ...string) {
	t.Helper()
	w.records = nil
	w.add(t, records...)
}

// claim adds a hostname as an external domain and returns its path and the record that
// proves it.
func (w *world) claim(t testing.TB, c *apitest.Client, hostname string) (path, proof string) {
	t.Helper()
	done := c.Call("POST", "/domains", M{"appId": c.AppID, "mode": "external", "hostname": hostname}).Want(202)
	w.Settle(t)
	operation := c.Call("GET", "/operations/"+done.Text("data.id"), nil).Want(200)
	path = "/domains/" + operation.Text("data.result.resource.id")
	d := c.Call("GET", path, nil).Want(200)
	return path, d.Text("data.challenge.name") + ". TXT " + d.Text("data.challenge.value")
}

// verify verifies a domain and returns its operation when it has ended.
func (w *world) verify(t testing.TB, c *apitest.Client, path string) *apitest.Response {
	t.Helper()
	w.Clock.Move(time.Minute)
	r := w.startVerification(t, c, path)
	w.Settle(t)
	return w.end(t, c, r)
}

func (w *world) startVerification(t testing.TB, c *apitest.Client, path string) *apitest.Response {
	t.Helper()
	return c.Call("POST", path+"/verify", M{}, apitest.IfMatch(c.Call("GET", path, nil).Want(200).Revision())).Want(202).
		Has("data.type", `"domain.verify"`)
}

// end moves the clock until an operation that was put off ends.
func (w *world) end(t testing.TB, c *apitest.Client, r *apitest.Response) *apitest.Response {
	t.Helper()
	for range 20 {
		o := c.Call("GET", "/operations/"+r.Text("data.id"), nil).Want(200)
		if status := o.Text("data.status"); status != "queued" && status != "running" {
			return o
		}
		w.Clock.Move(time.Second)
		w.Settle(t)
	}
	t.Fatal("the operation does not end")
	return nil
}

// ready returns the path of a domain of a client that was verified.
func (w *world) ready(t testing.TB, c *apitest.Client, hostname string) (path string) {
	t.Helper()
	path, proof := w.claim(t, c, hostname)
	w.add(t, proof, hostname+". CNAME connect."+apitest.Zone+".")
	w.verify(t, c, path).Has("data.status", `"succeeded"`)
	return path
}
