package proxies_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

const browser = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"

// recipe tells how a test runs a configuration of docs/proxies.md: with other ports
// and folders, and for some with what surrounds it.
type recipe struct {
	name string
	// http and https are what the page says of the two ports.
	http, https string
	// listen is how such a port is written with its address.
	listen  string
	around  string // %s is the configuration
	program []string
}

var recipes = []recipe{
	{"nginx", "listen 80 ", "listen 443 ", "listen %s ", "daemon off; worker_processes 1; pid {dir}/pid;\n" +
		"error_log stderr; events {}\nhttp { access_log off; client_body_temp_path {dir}/a; proxy_temp_path {dir}/b;\n" +
		"fastcgi_temp_path {dir}/c; uwsgi_temp_path {dir}/d; scgi_temp_path {dir}/e;\n%s}\n",
		[]string{"/usr/sbin/nginx", "-e", "stderr", "-c"}},
	{"caddy", "http:// {", ":443 {", "%s {", "{\n\tadmin off\n\tauto_https disable_redirects\n}\n%s",
		[]string{"caddy", "run", "--adapter", "caddyfile", "--config"}},
	{"haproxy", "bind :80", "bind :443", "bind %s", "%s", []string{"/usr/sbin/haproxy", "-db", "-f"}},
}

// block returns a configuration as the page has it.
func block(t *testing.T, language string) string {
	t.Helper()
	page, err := os.ReadFile("../../docs/proxies.md")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile("(?s)```"+language+"\n(.*?)```").FindAllSubmatch(page, -1)
	if len(found) != 1 {
		t.Fatalf("docs/proxies.md has %d blocks of %s", len(found), language)
	}
	return string(found[0][1])
}

// run starts the proxy and returns where it listens.
func (r *recipe) run(t *testing.T, public string) (plain, secure string) {
	t.Helper()
	dir := t.TempDir()
	certificate(t, dir)
	plain, secure = freePort(t), freePort(t)
	config := block(t, r.name)
	at := func(address string) string {
		if r.name == "caddy" && address == plain {
			address = "http://" + address[strings.LastIndex(address, ":"):]
		} else if r.name == "caddy" {
			address = address[strings.LastIndex(address, ":"):]
		}
		return fmt.Sprintf(r.listen, address)
	}
	for old, new := range map[string]string{r.http: at(plain), r.https: at(secure), "127.0.0.1:8081": public,
		"/etc/waymark/tls": dir} {
		if !strings.Contains(config, old) {
			t.Fatalf("the configuration does not name %q", old)
		}
		config = strings.ReplaceAll(config, old, new)
	}
	if r.name == "caddy" {
		config = strings.ReplaceAll(config, " {\n\ttls", " {\n\tbind 127.0.0.1\n\ttls")
	}
	path := filepath.Join(dir, "config")
	write(t, path, strings.ReplaceAll(fmt.Sprintf(r.around, config), "{dir}", dir))
	cmd := exec.Command(r.program[0], append(r.program[1:len(r.program):len(r.program)], path)...)
	cmd.Env = []string{"HOME=" + dir, "XDG_DATA_HOME=" + dir, "XDG_CONFIG_HOME=" + dir, "PATH=" + os.Getenv("PATH")}
	launch(t, cmd)
	return plain, secure
}

// certificate writes one that signs itself, in the forms that proxies want.
func certificate(t *testing.T, dir string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{"*.localhost"},
		NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, &template, &template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	chain := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	secret := string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}))
	write(t, filepath.Join(dir, "fullchain.pem"), chain)
	write(t, filepath.Join(dir, "privkey.pem"), secret)
	write(t, filepath.Join(dir, "both.pem"), chain+secret)
}

func TestRecipes(t *testing.T) {
	w := start(t)
	w.site(t, "other")
	for _, r := range recipes {
		t.Run(r.name, func(t *testing.T) {
			app := w.site(t, r.name)
			host := r.name + ".localhost"
			plain, secure := r.run(t, w.public)
			ask := func(c *http.Client, url string, header ...string) (*http.Response, string) {
				t.Helper()
				request, err := http.NewRequest("GET", url, nil)
				if err != nil {
					t.Fatal(err)
				}
				request.Header.Set("User-Agent", browser)
				for i := 0; i < len(header); i += 2 {
					request.Header.Set(header[i], header[i+1])
				}
				response, err := c.Do(request)
				if err != nil {
					t.Fatal(err)
				}
				defer response.Body.Close()
				body, err := io.ReadAll(response.Body)
				if err != nil {
					t.Fatal(err)
				}
				return response, string(body)
			}
			eventually(t, r.name+" is ready", func() error {
				response, err := visitor(t, "127.0.0.9", secure).Get("https://" + host + "/_service/health")
				if err == nil && response.StatusCode != 200 {
					err = fmt.Errorf("status %d", response.StatusCode)
				}
				return err
			})
			first := visitor(t, "127.0.0.2", secure)
			if got, _ := ask(visitor(t, "127.0.0.2", plain), "http://"+host+"/hello?a=1"); got.StatusCode != 301 ||
				got.Header.Get("Location") != "https://"+host+"/hello?a=1" {
				t.Errorf("http: %d %v", got.StatusCode, got.Header)
			}
			// The host is the visitor's, and what a visitor claims does not matter.
			for _, header := range [][]string{nil, {"X-Forwarded-Host", "other.localhost"},
				{"Forwarded", "host=other.localhost;for=198.51.100.7"}, {"X-Forwarded-For", "198.51.100.7"},
				{"CF-IPCountry", "DE"}} {
				if got, _ := ask(first, "https://"+host+"/hello", header...); got.StatusCode != 302 ||
					got.Header.Get("Location") != "https://example.com/"+r.name {
					t.Errorf("https with %v: %d %v", header, got.StatusCode, got.Header)
				}
			}
			for _, address := range []string{"127.0.0.3", "127.0.0.4"} {
				ask(visitor(t, address, secure), "https://"+host+"/hello")
			}
			var totals map[string]any
			eventually(t, "the visits are counted", func() error {
				now := time.Now().UTC()
				totals = w.call(t, "GET", fmt.Sprintf("/analytics/summary?appId=%s&start=%s&end=%s", app,
					now.Add(-time.Hour).Format(time.RFC3339), now.Add(time.Hour).Format(time.RFC3339)), "", nil)["totals"].(map[string]any)
				if totals["clicks"] != 7.0 {
					return fmt.Errorf("%v", totals)
				}
				return nil
			})
			if totals["uniqueVisitors"] != 3.0 {
				t.Errorf("three visitors are counted as %v", totals["uniqueVisitors"])
			}
			if got, body := ask(first, "https://"+host+"/.well-known/apple-app-site-association"); got.StatusCode != 200 ||
				got.Header.Get("Content-Type") != "application/json" || !strings.Contains(body, "com.example."+r.name) {
				t.Errorf("apple-app-site-association: %d %v %s", got.StatusCode, got.Header, body)
			}
			for _, path := range []string{"/hello", "/robots.txt", "/"} {
				if got, body := ask(first, "https://unknown.localhost"+path); got.StatusCode != 404 || body != "" {
					t.Errorf("an unknown host, %s: %d %s", path, got.StatusCode, body)
				}
			}
		})
	}
}
