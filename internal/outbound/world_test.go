package outbound_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
	"time"

	"github.com/waymarkhq/waymark/internal/outbound"
)

// destination is where the tests send to; its host is allowed by name.
const destination = "https://hooks.example.com/in?a=b"

var never = time.Date(2099, 1, 1, 0, 0, 0, 0, time.UTC)

type certificate struct {
	tls.Certificate
	pem  []byte
	pool *x509.CertPool
}

// selfSigned returns a certificate for hooks.example.com that is its own root.
func selfSigned(t testing.TB, until time.Time) certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: until.AddDate(-1, 0, 0), NotAfter: until,
		DNSNames: []string{"hooks.example.com"}, IsCA: true, BasicConstraintsValid: true,
	}
	if until == never {
		template.NotBefore = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	c := certificate{
		Certificate: tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key},
		pem:         pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		pool:        x509.NewCertPool(),
	}
	c.pool.AppendCertsFromPEM(c.pem)
	return c
}

// receiver starts a server whose certificate is for *.example.com and returns
// the options that lead a client to it.
func receiver(t testing.TB, handle http.HandlerFunc) outbound.Options {
	t.Helper()
	server := httptest.NewUnstartedServer(handle)
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // refused handshakes
	server.StartTLS()
	t.Cleanup(server.Close)
	pool := x509.NewCertPool()
	pool.AddCert(server.Certificate())
	return outbound.Options{Allow: to(server.Listener.Addr()), CA: pool}
}

// to allows the hosts of the tests at one address.
func to(address net.Addr) map[string]netip.AddrPort {
	target := netip.MustParseAddrPort(address.String())
	return map[string]netip.AddrPort{"hooks.example.com": target, "more.example.com": target,
		"receiver.internal": target}
}

// listen serves each connection with handle and returns the address.
func listen(t testing.TB, handle func(net.Conn)) net.Addr {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				handle(conn)
			}()
		}
	}()
	return listener.Addr()
}

// drain reads until the client closes the connection.
func drain(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) }

// post sends an event and holds the outcome against what is wanted.
func post(t *testing.T, o outbound.Options, url string, status int, code string) {
	t.Helper()
	got, failure := outbound.New(o).Post(t.Context(), url, http.Header{}, []byte(`{}`))
	verify(t, got, failure, status, code)
}

func verify(t *testing.T, gotStatus int, failure *outbound.Failure, status int, code string) {
	t.Helper()
	switch {
	case code == "" && failure != nil, code != "" && (failure == nil || failure.Code != code || failure.Message == ""):
		t.Errorf("failure %+v, want %q", failure, code)
	case gotStatus != status:
		t.Errorf("status %d, want %d", gotStatus, status)
	}
}
