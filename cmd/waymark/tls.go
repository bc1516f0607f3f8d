package main

import (
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/mail"
	"net/url"
	"regexp"
	"strconv"
	"time"

	"github.com/waymarkhq/waymark/internal/certificate"
	"github.com/waymarkhq/waymark/internal/outbound"
	"github.com/waymarkhq/waymark/internal/weburl"
)

// letsEncrypt is the directory of the authority that issues certificates by default.
const letsEncrypt = "https://acme-v02.api.letsencrypt.org/directory"

// certificates are the flags that say who ends TLS, and where certificates come from.
type certificates struct {
	TLS           string        `name:"tls" default:"off" help:"off: TLS ends in front of Waymark; acme: Waymark ends it, with certificates of an ACME authority; default: ${default}." placeholder:"MODE"`
	ACMEDirectory string        `name:"acme-directory" help:"Directory of the authority; default: that of Let's Encrypt." placeholder:"URL"`
	ACMECA        string        `name:"acme-ca" help:"PEM file of the certificate authorities of the directory's own TLS; default: those of the system." placeholder:"FILE"`
	ACMEEmail     string        `name:"acme-email" help:"Address that the authority is told." placeholder:"EMAIL"`
	HTTPAddr      *string       `name:"http-addr" help:"Where http is answered: the authority's visits, and redirects to https; empty turns it off; default: :80 with --tls=acme." placeholder:"HOST:PORT"`
	HSTS          time.Duration `name:"hsts" help:"For how long browsers are told to come by https only (Strict-Transport-Security)." placeholder:"DURATION"`
	APIHost       string        `name:"api-host" help:"Hostname of the API: its listener ends TLS with a certificate of its own." placeholder:"HOST"`

	roots *x509.CertPool
}

// check completes the flags; dev tells of development mode.
func (c *certificates) check(dev bool) error {
	switch c.TLS {
	case "off":
		return c.checkOff()
	case "acme":
	default:
		return fmt.Errorf("--tls %q is neither off nor acme", c.TLS)
	}
	if dev {
		return errors.New("--tls=acme cannot be used with --dev, whose links are http")
	}
	if c.ACMEDirectory == "" {
		c.ACMEDirectory = letsEncrypt
	}
	if u, err := url.Parse(c.ACMEDirectory); err != nil || u.Scheme != "https" || u.Host == "" {
		return fmt.Errorf("--acme-directory %q is not an https URL", c.ACMEDirectory)
	}
	if c.ACMEEmail != "" {
		if a, err := mail.ParseAddress(c.ACMEEmail); err != nil || a.Address != c.ACMEEmail {
			return fmt.Errorf("--acme-email %q is not an address such as ann@example.com", c.ACMEEmail)
		}
	}
	if c.HTTPAddr == nil {
		standard := ":80"
		c.HTTPAddr = &standard
	}
	if c.HSTS < 0 || c.HSTS%time.Second != 0 {
		return fmt.Errorf("--hsts %s is not a number of seconds, such as 8760h for a year", c.HSTS)
	}
	if c.APIHost != "" {
		host, ok := weburl.Hostname(c.APIHost)
		if !ok {
			return fmt.Errorf("--api-host %q is not a hostname", c.APIHost)
		}
		c.APIHost = host
	}
	return c.loadRoots()
}

// checkOff refuses settings that would be without effect.
func (c *certificates) checkOff() error {
	for _, flag := range []struct {
		name  string
		given bool
	}{
		{"--acme-directory", c.ACMEDirectory != ""}, {"--acme-ca", c.ACMECA != ""}, {"--acme-email", c.ACMEEmail != ""},
		{"--http-addr", c.httpAddr() != ""}, {"--hsts", c.HSTS != 0}, {"--api-host", c.APIHost != ""},
	} {
		if flag.given {
			return fmt.Errorf("%s needs --tls=acme: without it TLS ends in front of Waymark", flag.name)
		}
	}
	return nil
}

func (c *certificates) loadRoots() error {
	if c.ACMECA == "" {
		return nil
	}
	var err error
	if c.roots, err = outbound.LoadCA(c.ACMECA); err != nil {
		return fmt.Errorf("--acme-ca: %w", err)
	}
	return nil
}

// acme reports whether this program ends TLS.
func (c *certificates) acme() bool { return c.TLS == "acme" }

// apiTLS reports whether the API's listener ends TLS.
func (c *certificates) apiTLS() bool { return c.APIHost != "" }

// plain reports whether http is answered.
func (c *certificates) plain() bool { return c.acme() && c.httpAddr() != "" }

// httpAddr is where http is answered, "" for nowhere.
func (c *certificates) httpAddr() string {
	if c.HTTPAddr == nil {
		return ""
	}
	return *c.HTTPAddr
}

// manager returns the options of the certificates that the flags describe; nil when TLS
// ends in front.
func (p *process) manager() *certificate.Options {
	if !p.acme() {
		return nil
	}
	o := &certificate.Options{Directory: p.ACMEDirectory, Roots: p.roots, Email: p.ACMEEmail, HTTP: p.plain()}
	for _, hostname := range []string{p.AssetsHost, p.APIHost} {
		if hostname != "" {
			o.Own = append(o.Own, hostname)
		}
	}
	if p.DNSResolver != "" {
		o.Resolver = p.resolver()
	}
	return o
}

// secured adds the headers of answers over https.
func (c *certificates) secured(h http.Handler) http.Handler {
	if c.HSTS == 0 {
		return h
	}
	value := []string{"max-age=" + strconv.FormatInt(int64(c.HSTS/time.Second), 10)}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header()["Strict-Transport-Security"] = value
		h.ServeHTTP(w, r)
	})
}

// withoutAddress cuts the client's address out of what net/http says of a connection.
var withoutAddress = regexp.MustCompile(`( from) \S+:\d+:`)

// connectionLog logs what net/http says of connections, at debug level alone: anybody can
// make handshakes fail.
type connectionLog struct{ log *slog.Logger }

// Write implements io.Writer.
func (c connectionLog) Write(line []byte) (int, error) {
	c.log.Debug(string(withoutAddress.ReplaceAll(line, []byte("$1 a client:"))))
	return len(line), nil
}
