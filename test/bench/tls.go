package main

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/store"
)

// tlsNginxConfig is nginxConfig's server with TLS, and sessions kept in tickets as ours.
const tlsNginxConfig = `daemon off; master_process off; worker_processes 1;
pid %[1]s/nginx.pid; error_log %[1]s/error.log;
events { worker_connections 1024; }
http {
  access_log off;
  client_body_temp_path %[1]s/b; proxy_temp_path %[1]s/p; fastcgi_temp_path %[1]s/f; uwsgi_temp_path %[1]s/u; scgi_temp_path %[1]s/s;
  server {
    listen %[2]s ssl; server_name %[3]s; ssl_protocols TLSv1.3; ssl_session_cache none; ssl_session_tickets on;
    ssl_certificate %[1]s/cert.pem; ssl_certificate_key %[1]s/key.pem;
    location / { return 302 "https://example.com/"; }
  }
}
`

// tlsClients is how many visitors come at once.
const tlsClients = 8

// tls compares a visit over TLS, handshake included, with nginx's with the same
// certificate.
func (b *bench) tls() error {
	chain, key, err := selfSigned("go." + zone)
	if err != nil {
		return err
	}
	if err := b.storeCertificate("go."+zone, chain, key); err != nil {
		return err
	}
	// The authority is away: nothing is ordered.
	s, err := b.serve("--tls", "acme", "--http-addr=", "--acme-directory", "https://127.0.0.1:1/dir")
	if err != nil {
		return err
	}
	contenders := []*contender{{name: "waymark", child: s.child}}
	nginx, err := b.startTLSNginx(chain, key)
	if err != nil {
		return err
	}
	if nginx != nil {
		contenders = append(contenders, &contender{name: "nginx", child: nginx})
	}
	for _, resumed := range []bool{false, true} {
		kind := map[bool]string{false: "full handshake", true: "resumed"}[resumed]
		for _, c := range contenders {
			c.cost, c.rate, c.total = nil, nil, 0
		}
		for range *rounds {
			for _, c := range contenders {
				if err := c.count(func() (int, error) { return tlsVisits(c.child.address, resumed) }); err != nil {
					return err
				}
			}
		}
		ours := median(contenders[0].cost)
		b.add("redirect over TLS 1.3, P-256, "+kind+", CPU µs", "%.0f", ours, 0,
			fmt.Sprintf("%d visits; %.0f/s", contenders[0].total, median(contenders[0].rate)))
		for _, c := range contenders[1:] {
			cost := median(c.cost)
			b.add("  "+c.name+", CPU µs", "%.0f", cost, 0, fmt.Sprintf("%d visits; %.0f/s", c.total, median(c.rate)))
			b.add("  waymark's cost to that of "+c.name, "%.2f", ours/cost, 0, "in the same run")
		}
	}
	return s.stop()
}

// tlsVisits visits a server for some seconds, on a connection of its own each time.
func tlsVisits(address string, resumed bool) (int, error) {
	var answered atomic.Int64
	var failed atomic.Pointer[error]
	end := time.Now().Add(time.Duration(*seconds) * time.Second)
	var all sync.WaitGroup
	for range tlsClients {
		all.Go(func() {
			settings := &tls.Config{ServerName: "go." + zone, InsecureSkipVerify: true,
				CurvePreferences: []tls.CurveID{tls.X25519}} // which both have
			if resumed {
				settings.ClientSessionCache = tls.NewLRUClientSessionCache(1)
			}
			for n := 0; time.Now().Before(end); n++ {
				if err := tlsVisit(address, settings, resumed && n > 0); err != nil {
					failed.Store(&err)
					return
				}
				answered.Add(1)
			}
		})
	}
	all.Wait()
	if err := failed.Load(); err != nil {
		return 0, *err
	}
	return int(answered.Load()), nil
}

func tlsVisit(address string, settings *tls.Config, resumed bool) error {
	c, err := tls.Dial("tcp", address, settings)
	if err != nil {
		return err
	}
	defer c.Close()
	if c.ConnectionState().DidResume != resumed {
		return fmt.Errorf("%s: resumed %t, want %t", address, !resumed, resumed)
	}
	if _, err := fmt.Fprintf(c, "GET /%s HTTP/1.1\r\nHost: go.%s\r\nUser-Agent: %s\r\nConnection: close\r\n\r\n", slug, zone,
		userAgent); err != nil {
		return err
	}
	answer, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if _, err := io.Copy(io.Discard, answer.Body); err != nil {
		return err
	}
	if answer.StatusCode != http.StatusFound {
		return fmt.Errorf("%s answers %s", address, answer.Status)
	}
	return nil
}

func (b *bench) startTLSNginx(chain, key []byte) (*child, error) {
	program, err := exec.LookPath("nginx")
	if err != nil {
		return nil, nil
	}
	prefix := filepath.Join(b.dir, "nginx-tls")
	if err := os.Mkdir(prefix, 0o700); err != nil {
		return nil, err
	}
	at, err := freeAddress()
	if err != nil {
		return nil, err
	}
	for name, content := range map[string][]byte{"cert.pem": chain, "key.pem": key,
		"nginx.conf": fmt.Appendf(nil, tlsNginxConfig, prefix, at, "go."+zone)} {
		if err := os.WriteFile(filepath.Join(prefix, name), content, 0o600); err != nil {
			return nil, err
		}
	}
	c, err := b.start(exec.Command(program, "-p", prefix, "-c", filepath.Join(prefix, "nginx.conf"), "-e",
		filepath.Join(prefix, "error.log")))
	if err != nil {
		return nil, err
	}
	c.address = at
	for started := time.Now(); ; time.Sleep(5 * time.Millisecond) {
		err := tlsVisit(at, &tls.Config{ServerName: "go." + zone, InsecureSkipVerify: true}, false)
		if err == nil || time.Since(started) > patience {
			return c, err
		}
	}
}

// storeCertificate stores a certificate as if Let's Encrypt's place were at the directory
// of this comparison.
func (b *bench) storeCertificate(hostname string, chain, key []byte) error {
	ctx := context.Background()
	db, err := store.Open(ctx, "sqlite:"+filepath.Join(b.data, "waymark.db"), &clock.Clock{})
	if err != nil {
		return err
	}
	defer db.Close()
	never := db.Now().Add(80 * 24 * time.Hour)
	for extension, value := range map[string][]byte{".key": key, ".crt": chain,
		".json": fmt.Appendf(nil, `{"sans": [%q]}`, hostname)} {
		name := "certificates/127.0.0.1-1-dir/" + hostname + "/" + hostname + extension
		if _, err := db.Exec(ctx, `INSERT INTO certificate_file (key, value, modified_at, subject, not_after, renew_at)
			VALUES (?, ?, ?, ?, ?, ?)`, []byte(name), value, db.Now(), hostname, never, never); err != nil {
			return err
		}
	}
	return nil
}

func selfSigned(hostname string) (chain, key []byte, err error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(90 * 24 * time.Hour), DNSNames: []string{hostname}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		return nil, nil, err
	}
	text, err := x509.MarshalECPrivateKey(private)
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: text}), err
}
