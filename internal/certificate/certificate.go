// Package certificate gets, keeps, renews and serves the TLS certificates of the
// hostnames that an installation serves. An ACME authority issues them (RFC 8555); the
// database holds them, their private keys and the locks of those who work on them, so
// that any number of processes share one set.
//
// The order itself, the answers to the authority's challenges and the storage are here;
// renewal by renewal information, OCSP and the cache in memory are certmagic's. Which
// hostnames are served is decided by whoever makes the Manager.
package certificate

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/caddyserver/certmagic"
	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"github.com/waymarkhq/waymark/internal/dnslookup"
	"github.com/waymarkhq/waymark/internal/dnsprovider"
	"github.com/waymarkhq/waymark/internal/store"
)

const (
	// capacity is how many certificates are kept in memory at most. One takes some
	// 4 to 8 KiB. Others are loaded when a visitor comes.
	capacity = 4000
	// renewalWindow is the part of a certificate's life before whose last one it is
	// renewed: the last third.
	renewalWindow = 3
	// renewCheckEvery is the pause between looks at the certificates in memory.
	renewCheckEvery = 10 * time.Minute
)

// Options are what a Manager works with. All are needed unless said otherwise.
type Options struct {
	DB  *store.DB
	Log *slog.Logger
	// Directory is the URL of the authority's directory (RFC 8555 §7.1.1).
	Directory string
	// Roots verify the authority's own TLS; nil means those of the system.
	Roots *x509.CertPool
	// Email is told to the authority; may be empty.
	Email string
	// HTTP tells that a plain listener answers on port 80 (see Plain).
	HTTP bool
	// Own are the hostnames of the installation itself.
	Own []string
	// Serves reports whether a hostname is that of an app. It is asked at each
	// handshake and must answer from memory. Nil means that this process serves none,
	// and leaves renewals to those that do.
	Serves func(hostname string) bool
	// Ready reports whether Serves knows the hostnames yet: until then no certificate is
	// taken for one that is wanted no more. Nil means always.
	Ready func() bool
	// MayOrder reports whether a handshake may order the certificate of an app's hostname,
	// which Serves knows: one whose DNS does not lead here yet would only fail, and put off
	// the order that follows when it does. Nil means always.
	MayOrder func(ctx context.Context, hostname string) bool
	// Zone is the platform zone, and Provider hosts it: then one wildcard covers the
	// hostnames below it. Provider nil means none.
	Zone     string
	Provider dnsprovider.Provider
	// Resolver tells when a record made at Provider can be seen; nil does not wait.
	Resolver *dnslookup.Resolver
	// Metrics registers the metrics; may be nil.
	Metrics prometheus.Registerer
}

// Manager gives listeners their certificates.
type Manager struct {
	Options
	storage *storage
	issuer  *issuer
	cache   *certmagic.Cache
	config  *certmagic.Config
	own     map[string]bool
	// answers bounds the reads of answers to the authority.
	answers chan struct{}
	tls     *tls.Config
	tickets atomic.Pointer[[][32]byte]

	// life ends with Close.
	life context.Context
	end  context.CancelFunc

	mu sync.Mutex
	// flights are the certificates that are being loaded or obtained, and for failedFor
	// those that could not be.
	flights   map[wish]*flight
	failedFor time.Duration
	running   sync.WaitGroup
}

// New returns a Manager. Run must run for renewals and shared session tickets.
func New(o Options) *Manager {
	m := &Manager{
		Options: o, own: map[string]bool{}, answers: make(chan struct{}, answersAtOnce),
		flights: map[wish]*flight{}, failedFor: failedFor,
	}
	for _, hostname := range o.Own {
		m.own[hostname] = true
	}
	m.life, m.end = context.WithCancel(context.Background())
	m.storage = newStorage(o.DB)
	m.issuer = newIssuer(&m.Options, m.storage)
	quiet := zap.NewNop() // the issuer logs what matters
	m.cache = certmagic.NewCache(certmagic.CacheOptions{
		Capacity: capacity, RenewCheckInterval: renewCheckEvery, Logger: quiet,
		GetConfigForCert: func(c certmagic.Certificate) (*certmagic.Config, error) {
			if !m.keeps(c.Names[0]) {
				return nil, errUnknown
			}
			return m.config, nil
		},
	})
	m.config = certmagic.New(m.cache, certmagic.Config{
		Storage: m.storage, Issuers: []certmagic.Issuer{m.issuer}, Logger: quiet, DisableStorageCheck: true,
		KeySource: certmagic.StandardKeyGenerator{KeyType: certmagic.P256}, RenewalWindowRatio: 1.0 / renewalWindow,
		OCSP: certmagic.OCSPConfig{HTTPProxy: http.ProxyFromEnvironment}, // without it there is no deadline
	})
	m.tls = m.newTLS()
	return m
}

// Close ends what New started. Orders under way are given up; another process, or the
// next start, makes them again.
func (m *Manager) Close() {
	m.end()
	m.running.Wait()
	m.cache.Stop()
}

// errUnknown refuses handshakes for hostnames that are not served, errNotConnected those
// for hostnames that have no certificate because their DNS does not lead here yet.
var (
	errUnknown      = errors.New("the hostname is not served here")
	errNotConnected = errors.New("the hostname has no certificate, and does not lead here yet")
)

// serves reports whether handshakes for a hostname are accepted. It is decided in
// memory, so that names that nobody serves cost nothing.
func (m *Manager) serves(hostname string) bool {
	return hostname != "" && (m.own[hostname] || m.Serves != nil && m.Serves(hostname))
}

// mayOrder reports whether a handshake may order the certificate of a subject.
func (m *Manager) mayOrder(ctx context.Context, subject string) bool {
	return m.MayOrder == nil || m.own[subject] || subject == m.wildcard() || m.MayOrder(ctx, subject)
}

// keeps reports whether the certificate of a subject is still wanted.
func (m *Manager) keeps(subject string) bool { return subject == m.wildcard() || m.serves(subject) }

// wildcard returns the subject that stands for the hostnames of the platform zone, ""
// for none.
func (m *Manager) wildcard() string {
	if m.Provider == nil || m.Zone == "" {
		return ""
	}
	return "*." + m.Zone
}

// subject returns what the certificate of a hostname is issued for.
func (m *Manager) subject(hostname string) string {
	if _, parent, _ := strings.Cut(hostname, "."); parent == m.Zone && m.wildcard() != "" {
		return m.wildcard()
	}
	return hostname
}

// subjects returns those of the installation's own hostnames.
func (m *Manager) subjects() (all []string) {
	seen := map[string]bool{}
	add := func(subject string) {
		if subject != "" && !seen[subject] {
			seen[subject], all = true, append(all, subject)
		}
	}
	add(m.wildcard())
	for _, hostname := range m.Own {
		add(m.subject(hostname))
	}
	return all
}
