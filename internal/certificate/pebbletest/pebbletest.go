// Package pebbletest runs Pebble, a certificate authority for tests, with its DNS server.
// Both are tools of tools/go.mod.
package pebbletest

import (
	"bytes"
	"cmp"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/waymarkhq/waymark/internal/store/storetest"
)

// Authority is a private Pebble with its DNS server, behind a proxy that counts.
type Authority struct {
	Settings
	// Directory is its URL.
	Directory string
	// Roots verify its own TLS. Root is the only one of them, as DER.
	Roots *x509.CertPool
	Root  []byte
	// Issued verifies its certificates, as IssuedPEM does.
	Issued    *x509.CertPool
	IssuedPEM []byte
	// plain and tls are the ports that it visits.
	plain, tls int
	// at is where Pebble listens behind the proxy.
	at     atomic.Pointer[string]
	client *http.Client
	dns    string // address of the DNS server
	names  string // URL of the DNS server's management
	// Orders counts the orders that were made.
	Orders atomic.Int64
	// Renewals counts the requests for orders that name the certificate they replace.
	Renewals atomic.Int64
	// Before is called with each request before it is passed on.
	Before atomic.Pointer[func(*http.Request)]
}

// Settings are what an authority is started with.
type Settings struct {
	// Validity is how long certificates are valid; 0 means 90 days.
	Validity time.Duration
}

// Start starts an authority that visits every hostname at these ports of this machine,
// rejects half of the nonces and lives as long as the test.
func Start(t testing.TB, plain, tlsPort int, s Settings) *Authority {
	t.Helper()
	a := &Authority{Settings: s, plain: plain, tls: tlsPort}
	start(t, nil, "pebble-challtestsrv", func() []string {
		names := FreeAddress(t)
		a.names, a.dns = "http://"+names, FreeAddress(t)
		return []string{"-http01", "", "-https01", "", "-tlsalpn01", "", "-doh", "", "-dnsserver", a.dns,
			"-management", names, "-defaultIPv4", "127.0.0.1", "-defaultIPv6", ""}
	}, func() bool {
		answer, err := http.Get(a.names)
		if err == nil {
			answer.Body.Close()
		}
		return err == nil
	})
	a.client = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true},
		MaxIdleConnsPerHost: 100}}
	t.Cleanup(a.client.CloseIdleConnections)
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(&url.URL{Scheme: "https", Host: *a.at.Load()})
			r.Out.Host = r.In.Host // Pebble makes its URLs of it
		},
		Transport: a.client.Transport, ErrorLog: log.New(io.Discard, "", 0),
		ModifyResponse: func(r *http.Response) error {
			if r.Request.URL.Path == "/order-plz" && r.StatusCode == http.StatusCreated {
				a.Orders.Add(1)
			}
			return nil
		},
	}
	front := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if before := a.Before.Load(); before != nil {
			(*before)(r)
		}
		if r.URL.Path == "/order-plz" && strings.Contains(Payload(r), `"replaces"`) {
			a.Renewals.Add(1)
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(front.Close)
	a.Directory, a.Roots = front.URL+"/dir", x509.NewCertPool()
	a.Roots.AddCert(front.Certificate())
	a.Root = front.Certificate().Raw
	a.Restart(t)
	return a
}

// Restart starts the authority itself, in place of one that was started before.
func (a *Authority) Restart(t testing.TB) {
	t.Helper()
	dir, at, manage := t.TempDir(), "", ""
	write := func(name string, content []byte) string {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, content, 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	certificate := SelfSigned(t, "127.0.0.1", time.Now().Add(-time.Hour), time.Now().Add(time.Hour))
	chain, key := write("cert.pem", certificate.Chain), write("key.pem", certificate.Key)
	environment := []string{"PEBBLE_WFE_NONCEREJECT=50", "PEBBLE_VA_NOSLEEP=1", "PEBBLE_AUTHZREUSE=0"}
	start(t, environment, "pebble", func() []string {
		at, manage = FreeAddress(t), FreeAddress(t)
		configuration, err := json.Marshal(map[string]any{"pebble": map[string]any{
			"listenAddress": at, "managementListenAddress": manage, "certificate": chain, "privateKey": key,
			"httpPort": a.plain, "tlsPort": a.tls, "keyAlgorithm": "ecdsa",
			"domainBlocklist": []string{"blocked.example"}, "retryAfter": map[string]int{"authz": 1, "order": 1},
			"profiles": map[string]any{"default": map[string]any{"description": "-",
				"validityPeriod": int(cmp.Or(a.Validity, 90*24*time.Hour) / time.Second)}},
		}})
		if err != nil {
			t.Fatal(err)
		}
		return []string{"-config", write("pebble.json", configuration), "-dnsserver", a.dns}
	}, func() bool {
		answer, err := a.client.Get("https://" + manage + "/roots/0")
		if err != nil {
			return false
		}
		defer answer.Body.Close()
		root, err := io.ReadAll(answer.Body)
		a.Issued, a.IssuedPEM = x509.NewCertPool(), root
		return err == nil && a.Issued.AppendCertsFromPEM(root)
	})
	a.at.Store(&at)
}

// Payload returns what a request to the authority asks for.
func Payload(r *http.Request) string {
	body, err := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	var signed struct{ Payload string }
	if err == nil {
		err = json.Unmarshal(body, &signed)
	}
	text, err2 := base64.RawURLEncoding.DecodeString(signed.Payload)
	if err != nil || err2 != nil {
		return ""
	}
	return string(text)
}

// Set changes what the DNS server answers, by a call of its management.
func (a *Authority) Set(t testing.TB, call string, body map[string]any) {
	t.Helper()
	if err := a.TrySet(call, body); err != nil {
		t.Fatal(err)
	}
}

// TrySet is Set for callers that handle its error.
func (a *Authority) TrySet(call string, body map[string]any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	answer, err := http.Post(a.names+"/"+call, "application/json", bytes.NewReader(text))
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s", call, answer.Status)
	}
	return nil
}

// tools holds where the tools of tools/go.mod are.
var tools sync.Map

// starts bounds how often a tool is started that ends at once: another program may take a
// free port before it does.
const starts = 5

// start starts a tool of tools/go.mod, which ends with the test, and waits until it is
// ready.
func start(t testing.TB, environment []string, name string, args func() []string, ready func() bool) {
	t.Helper()
	find, _ := tools.LoadOrStore(name, sync.OnceValues(func() (string, error) {
		module, err := exec.Command("go", "env", "GOMOD").Output()
		if err != nil {
			return "", err
		}
		cmd := exec.Command("go", "tool", "-modfile=tools/go.mod", "-n", name)
		cmd.Dir = filepath.Dir(strings.TrimSpace(string(module)))
		path, err := cmd.Output()
		return strings.TrimSpace(string(path)), err
	}))
	program, err := find.(func() (string, error))()
	if err != nil {
		t.Fatalf("tool %s: %v", name, err)
	}
	for range starts {
		cmd := exec.Command(program, args()...)
		cmd.Env = append(os.Environ(), environment...)
		cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		exited := make(chan struct{})
		go func() {
			cmd.Wait()
			close(exited)
		}()
		t.Cleanup(func() {
			cmd.Process.Kill()
			<-exited
		})
		answers := false
		storetest.Eventually(t, name+" to be ready", func() bool {
			select {
			case <-exited:
				return true
			default:
				answers = ready()
				return answers
			}
		})
		if answers {
			return
		}
	}
	t.Fatalf("%s ended %d times", name, starts)
}

// FreeAddress returns a loopback address that is free now.
func FreeAddress(t testing.TB) string {
	t.Helper()
	l := Listen(t)
	defer l.Close()
	return l.Addr().String()
}

// Listen listens on a free port until the test ends.
func Listen(t testing.TB) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// PortOf returns the port of a listener.
func PortOf(l net.Listener) int { return l.Addr().(*net.TCPAddr).Port }

// Made is a certificate made by a test, with its key, as PEM.
type Made struct{ Chain, Key []byte }

// SelfSigned makes a certificate of a hostname and of 127.0.0.1.
func SelfSigned(t testing.TB, name string, from, to time.Time, change ...func(*x509.Certificate)) Made {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: serial, NotBefore: from, NotAfter: to, DNSNames: []string{name},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
	for _, c := range change {
		c(template)
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return Made{pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: private})}
}
