package main

import (
	"context"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// waymark health succeeds when the process that serves is ready, and says otherwise why not.
func TestHealth(t *testing.T) {
	listen := func(h http.Handler) string {
		s := httptest.NewServer(h)
		t.Cleanup(s.Close)
		return s.Listener.Addr().String()
	}
	server := func(cause error) string {
		mux := http.NewServeMux()
		mux.Handle("GET /readyz", readiness(func(context.Context) error { return cause }))
		return listen(mux)
	}
	ready := server(nil)
	_, port, err := net.SplitHostPort(ready)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, addr, refusal string }{
		{"ready", ready, ""},
		{"ready, all addresses", ":" + port, ""},
		{"ready, all IPv4 addresses", "0.0.0.0:" + port, ""},
		{"ready, all addresses as IPv6 names them", "[::]:" + port, ""},
		{"not ready", server(errors.New("the database is away")), "is not ready: the database is away"},
		{"nobody", "127.0.0.1:1", "no answer from 127.0.0.1:1: connect: connection refused; is waymark serve running"},
		{"another server", listen(http.NotFoundHandler()), "is not ready: 404"},
		{"turned off", "", "--metrics-addr is empty"},
		{"no port", "127.0.0.1", `--metrics-addr "127.0.0.1" is not HOST:PORT`},
	} {
		t.Setenv("WAYMARK_METRICS_ADDR", c.addr)
		err := run(t.Context(), []string{"health"})
		if c.refusal == "" && err != nil || c.refusal != "" && (err == nil || !strings.Contains(err.Error(), c.refusal)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.refusal)
		}
	}
}

// Where the system has no certificate authorities, as in an image of the program alone, the
// program has those of the web.
func TestCertificateAuthorities(t *testing.T) {
	const without = "WAYMARK_TEST_NO_AUTHORITIES" // this process is the one on such a system
	if os.Getenv(without) == "" {
		nowhere := t.TempDir() + "/none"
		again := exec.Command(os.Args[0], "-test.run=^TestCertificateAuthorities$")
		again.Env = append(os.Environ(), without+"=1", "SSL_CERT_FILE="+nowhere, "SSL_CERT_DIR="+nowhere)
		if out, err := again.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	known := 0
	for root := range bundle.Roots() {
		authority, err := x509.ParseCertificate(root.Certificate)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := authority.Verify(x509.VerifyOptions{CurrentTime: authority.NotBefore}); err == nil {
			known++
		}
	}
	if known < 100 {
		t.Errorf("%d authorities are trusted", known)
	}
}
