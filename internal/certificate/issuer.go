package certificate

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/caddyserver/certmagic"
	"github.com/mholt/acmez/v3/acme"
)

const (
	// ordersAtOnce bounds the orders of this process that are under way, visitsAtOnce those
	// that handshakes made: they leave some for verifications and renewals.
	ordersAtOnce, visitsAtOnce = 10, 6
	// orderFor bounds how long an order may take, without the wait for its turn.
	orderFor = 3 * time.Minute
	// requestFor bounds one request to the authority.
	requestFor = 30 * time.Second
)

// issuer gets certificates from the authority. Every order of this process is made
// here, whoever wants it, so here is where the authority is spared: a few orders at
// once, and none for a name whose last order failed a short while ago.
type issuer struct {
	*Options
	storage *storage
	client  *acme.Client
	// slots bounds the orders, visits those of handshakes; each may take orderFor.
	slots, visits chan struct{}
	orderFor      time.Duration
	metrics       metrics
}

var (
	_ certmagic.Issuer            = (*issuer)(nil)
	_ certmagic.RenewalInfoGetter = (*issuer)(nil)
)

func newIssuer(o *Options, s *storage) *issuer {
	transport := &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         (&net.Dialer{Timeout: requestFor}).DialContext,
		TLSClientConfig:     &tls.Config{RootCAs: o.Roots},
		TLSHandshakeTimeout: requestFor, ResponseHeaderTimeout: requestFor, IdleConnTimeout: time.Minute,
		ForceAttemptHTTP2: true,
	}
	return &issuer{
		Options: o, storage: s, slots: make(chan struct{}, ordersAtOnce), visits: make(chan struct{}, visitsAtOnce),
		orderFor: orderFor, metrics: newMetrics(o.Metrics, o.DB),
		client: &acme.Client{
			Directory: o.Directory, UserAgent: "Waymark", PollTimeout: orderFor,
			HTTPClient: &http.Client{Transport: transport, Timeout: requestFor},
		},
	}
}

// IssuerKey implements certmagic.Issuer: it names the authority in keys of files.
func (i *issuer) IssuerKey() string {
	u, err := url.Parse(i.Directory)
	if err != nil {
		return i.Directory
	}
	return strings.Trim(u.Host+strings.ReplaceAll(u.Path, "/", "-"), "-")
}

// Issue implements certmagic.Issuer. A refusal is a *Failure.
func (i *issuer) Issue(ctx context.Context, csr *x509.CertificateRequest) (*certmagic.IssuedCertificate, error) {
	turns := []chan struct{}{i.slots}
	if askerOf(ctx) == visit {
		turns = []chan struct{}{i.visits, i.slots}
	}
	for _, turn := range turns {
		select {
		case turn <- struct{}{}:
			defer func() { <-turn }()
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	subject := csr.DNSNames[0]
	if failure, err := i.storage.waiting(ctx, subject); err != nil || failure != nil {
		return nil, errors.Join(err, failure.orNil())
	}
	ordering, cancel := context.WithTimeout(ctx, i.orderFor)
	defer cancel()
	issued, err := i.order(ordering, csr)
	if err == nil {
		i.metrics.orders.WithLabelValues("issued").Inc()
		i.Log.Info("certificate issued", "subject", subject)
		if err := i.storage.succeeded(context.WithoutCancel(ctx), subject); err != nil {
			i.Log.Warn("the failures of a certificate that was issued stay noted", "subject", subject, "error", err)
		}
		return issued, nil
	}
	var storage *storageError
	if ctx.Err() != nil || errors.As(err, &storage) {
		return nil, err // the caller gave up, or the database is away: nothing was learnt of the name
	}
	failure := explain(subject, err)
	i.metrics.orders.WithLabelValues(failure.Code).Inc()
	if err := i.storage.failed(context.WithoutCancel(ctx), subject, failure); err != nil {
		return nil, errors.Join(failure, err)
	}
	i.Log.Warn("certificate not issued", "subject", subject, "code", failure.Code, "retry", failure.RetryAt, "error",
		err)
	return nil, failure
}

// orNil returns f as an error, which is nil when f is.
func (f *Failure) orNil() error {
	if f == nil {
		return nil
	}
	return f
}

// GetRenewalInfo implements certmagic.RenewalInfoGetter (RFC 9773).
func (i *issuer) GetRenewalInfo(ctx context.Context, c certmagic.Certificate) (acme.RenewalInfo, error) {
	ctx, cancel := context.WithTimeout(ctx, requestFor)
	defer cancel()
	return i.client.GetRenewalInfo(ctx, c.Leaf)
}
