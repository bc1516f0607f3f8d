package process_test

import (
	"context"
	"crypto/tls"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waymarkhq/waymark/internal/certificate/pebbletest"
	"github.com/waymarkhq/waymark/internal/route"
	"github.com/waymarkhq/waymark/internal/store"
)

// The program ends TLS itself for the hostnames that it serves, its API's included, and
// sends http to https. It tells no other hostname anything.
func TestTLS(t *testing.T) {
	each(t, func(t *testing.T, database string) {
		dir, public, plain := t.TempDir(), pebbletest.FreeAddress(t), pebbletest.FreeAddress(t)
		ca := pebbletest.Start(t, portOf(t, plain), portOf(t, public), pebbletest.Settings{})
		roots := filepath.Join(dir, "roots.pem")
		root := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: ca.Root})
		if err := os.WriteFile(roots, root, 0o600); err != nil {
			t.Fatal(err)
		}
		s := serve(t, dir, database, "--tls", "acme", "--acme-directory", ca.Directory, "--acme-ca", roots,
			"--acme-email", "ann@example.com", "--public-addr", public, "--http-addr", plain, "--hsts", "1h",
			"--api-host", "api.example.com")
		// get asks at an address, whatever the URL's host is.
		get := func(address, url string) (*http.Response, error) {
			transport := &http.Transport{
				DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
					return new(net.Dialer).DialContext(ctx, network, address)
				},
				TLSClientConfig: &tls.Config{RootCAs: ca.Issued}, ForceAttemptHTTP2: true, DisableKeepAlives: true,
			}
			request, err := http.NewRequest("GET", url, nil)
			if err != nil {
				return nil, err
			}
			answer, err := transport.RoundTrip(request)
			if err == nil {
				defer answer.Body.Close()
				_, err = io.Copy(io.Discard, answer.Body)
			}
			return answer, err
		}
		secure := func(address, url string, status int) {
			t.Helper()
			s.eventually("a certificate of "+url, func() error {
				answer, err := get(address, url)
				if err != nil {
					return err
				}
				if answer.StatusCode != status || answer.ProtoMajor != 2 ||
					answer.Header.Get("Strict-Transport-Security") != "max-age=3600" {
					return fmt.Errorf("%s %d %q", answer.Proto, answer.StatusCode, answer.Header)
				}
				return nil
			})
		}
		secure(s.api, "https://api.example.com/readyz", 200)
		secure(public, "https://assets.localhost/none.png", 404)
		refuses(t, "api with TLS", s.api, &tls.Config{RootCAs: ca.Issued, ServerName: "api.example.com"})
		refuses(t, "public with TLS", public, &tls.Config{RootCAs: ca.Issued, ServerName: "assets.localhost"})
		refuses(t, "http", plain, nil)

		if _, err := get(public, "https://x.example/"); err == nil {
			t.Error("a hostname that nobody serves has a certificate")
		}
		db := open(t, dir, database)
		err := db.InTxReadCommitted(t.Context(), func(tx *store.Tx) error {
			p, err := route.Lock(t.Context(), tx)
			if err != nil {
				return err
			}
			return errors.Join(
				p.PutHost(t.Context(), "x.example", "revision", route.Host{DomainID: "domain", Connected: true}),
				p.PutHost(t.Context(), "new.example", "revision", route.Host{DomainID: "new"}),
				p.PutHost(t.Context(), "x.localhost", "revision", route.Host{DomainID: "platform"}))
		})
		if err != nil {
			t.Fatal(err)
		}
		secure(public, "https://x.example/_service/health", 200)
		secure(public, "https://x.localhost/_service/health", 200)
		if _, err := get(public, "https://new.example/"); err == nil {
			t.Error("a hostname whose DNS does not lead here has a certificate")
		}
		answer, err := get(plain, "http://x.example/hello?a=b")
		if err != nil || answer.StatusCode != 308 || answer.Header.Get("Location") != "https://x.example/hello?a=b" {
			t.Errorf("http: %v, %v", answer, err)
		}
		if answer, err := get(plain, "http://y.example/"); err != nil || answer.StatusCode != 404 {
			t.Errorf("http at an unknown hostname: %v, %v", answer, err)
		}
		if n := ca.Orders.Load(); n != 4 {
			t.Errorf("%d orders, want one for each of four hostnames", n)
		}
		if out, _, _ := execute(t, "doctor", "--data-dir", dir, "--database", database); !strings.Contains(out,
			"certificates  ok       4 valid, the first expires in 90 days\n") {
			t.Errorf("doctor: %s", out)
		}
		if log := s.stderr.String(); strings.Contains(log, "127.0.0.1:") && strings.Contains(log, "handshake") {
			t.Errorf("failed handshakes are logged: %s", log)
		}
		s.terminate()
	})
}

// portOf returns the port of an address.
func portOf(t *testing.T, address string) int {
	t.Helper()
	at, err := net.ResolveTCPAddr("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	return at.Port
}
