package certificate

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

// authority is a private Pebble with its DNS server, behind a proxy that counts.
type authority struct {
	settings
	directory string
	roots     *x509.CertPool // of its own TLS
	root      []byte         // the only one of them
	issued    *x509.CertPool // of its certificates
	// plain and tls are the ports that it visits.
	plain, tls int
	// at is where Pebble listens behind the proxy.
	at     atomic.Pointer[string]
	client *http.Client
	dns    string // address of the DNS server
	names  string // URL of the DNS server's management
	// orders counts the orders that were made.
	orders atomic.Int64
	// renewals counts the requests for orders that name the certificate they replace.
	renewals atomic.Int64
	// before is called with each request before it is passed on.
	before atomic.Pointer[func(*http.Request)]
}

// settings are what an authority is started with.
type settings struct {
	// validity is how long certificates are valid; 0 means 90 days.
	validity time.Duration
}

// startAuthority starts an authority that visits hostnames at these ports, rejects half
// of the nonces and lives as long as the test.
func startAuthority(t testing.TB, plain, tlsPort int, s settings) *authority {
	t.Helper()
	names := freeAddress(t)
	a := &authority{settings: s, plain: plain, tls: tlsPort, names: "http://" + names, dns: freeAddress(t)}
	start(t, nil, "pebble-challtestsrv", "-http01", "", "-https01", "", "-tlsalpn01", "", "-doh", "", "-dnsserver", a.dns,
		"-management", names, "-defaultIPv4", "127.0.0.1", "-defaultIPv6", "")
	storetest.Eventually(t, "the DNS server", func() bool {
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
				a.orders.Add(1)
			}
			return nil
		},
	}
	front := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if before := a.before.Load(); before != nil {
			(*before)(r)
		}
		if r.URL.Path == "/order-plz" && strings.Contains(payload(r), `"replaces"`) {
			a.renewals.Add(1)
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(front.Close)
	a.directory, a.roots = front.URL+"/dir", x509.NewCertPool()
	a.roots.AddCert(front.Certificate())
	a.root = front.Certificate().Raw
	a.startPebble(t)
	return a
}

// startPebble starts the authority itself, in place of one that was started before.
func (a *authority) startPebble(t testing.TB) {
	t.Helper()
	dir, at, manage := t.TempDir(), freeAddress(t), freeAddress(t)
	write := func(name string, content []byte) string {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, content, 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	certificate := selfSigned(t, "127.0.0.1", time.Now().Add(-time.Hour), time.Now().Add(time.Hour))
	configuration, err := json.Marshal(map[string]any{"pebble": map[string]any{
		"listenAddress": at, "managementListenAddress": manage,
		"certificate": write("cert.pem", certificate.chain), "privateKey": write("key.pem", certificate.key),
		"httpPort": a.plain, "tlsPort": a.tls, "keyAlgorithm": "ecdsa", "domainBlocklist": []string{"blocked.example"},
		"retryAfter": map[string]int{"authz": 1, "order": 1},
		"profiles": map[string]any{"default": map[string]any{"description": "-",
			"validityPeriod": int(cmp.Or(a.validity, 90*day) / time.Second)}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	start(t, []string{"PEBBLE_WFE_NONCEREJECT=50", "PEBBLE_VA_NOSLEEP=1", "PEBBLE_AUTHZREUSE=0"},
		"pebble", "-config", write("pebble.json", configuration), "-dnsserver", a.dns)
	storetest.Eventually(t, "Pebble's root certificate", func() bool {
		answer, err := a.client.Get("https://" + manage + "/roots/0")
		if err != nil {
			return false
		}
		defer answer.Body.Close()
		root, err := io.ReadAll(answer.Body)
		a.issued = x509.NewCertPool()
		return err == nil && a.issued.AppendCertsFromPEM(root)
	})
	a.at.Store(&at)
}

// payload returns what a request to the authority asks for.
func payload(r *http.Request) string {
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

// set changes what the DNS server answers, by a call of its management.
func (a *authority) set(t testing.TB, call string, body map[string]any) {
	t.Helper()
	if err := a.trySet(call, body); err != nil {
		t.Fatal(err)
	}
}

func (a *authority) trySet(call string, body map[string]any) error {
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

// start starts a tool of tools/go.mod that ends with the test.
func start(t testing.TB, environment []string, name string, args ...string) {
	t.Helper()
	find, _ := tools.LoadOrStore(name, sync.OnceValues(func() (string, error) {
		cmd := exec.Command("go", "tool", "-modfile=tools/go.mod", "-n", name)
		cmd.Dir = filepath.Join("..", "..")
		path, err := cmd.Output()
		return strings.TrimSpace(string(path)), err
	}))
	program, err := find.(func() (string, error))()
	if err != nil {
		t.Fatalf("tool %s: %v", name, err)
	}
	cmd := exec.Command(program, args...)
	cmd.Env = append(os.Environ(), environment...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
}

func freeAddress(t testing.TB) string {
	t.Helper()
	l := listen(t)
	defer l.Close()
	return l.Addr().String()
}

func listen(t testing.TB) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func portOf(l net.Listener) int { return l.Addr().(*net.TCPAddr).Port }

// made is a certificate made by a test, with its key, as PEM.
type made struct{ chain, key []byte }

func selfSigned(t testing.TB, name string, from, to time.Time) made {
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
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return made{pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: private})}
}
