package certificate

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"github.com/caddyserver/certmagic"

	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/store"
)

const (
	// failedFor is how long handshakes are refused after one that failed, without
	// another look.
	failedFor = 5 * time.Second
	// flightFor bounds how long a certificate is loaded or obtained, with the wait for the
	// order of another process.
	flightFor = 2 * orderFor
)

// asker says who wants a certificate, which decides whether an order is made.
type asker int

const (
	upkeep       asker = iota // a renewal, or the installation itself
	visit                     // a handshake: anybody
	verification              // the check of a domain, after it saw the DNS lead here
)

// askerKey is the key under which a context tells the asker: certmagic is between those
// who ask and the order.
type askerKey struct{}

func askerOf(ctx context.Context) asker {
	by, _ := ctx.Value(askerKey{}).(asker)
	return by
}

// Obtain gets the certificate of a hostname that was found to lead here, unless there is a
// valid one: by one order, or not at all when the last order failed a short while ago. It
// returns a *Failure when the authority refuses or cannot be reached, and the error of ctx
// when that ends first; the order goes on then. All processes that want the same
// certificate make one order.
func (m *Manager) Obtain(ctx context.Context, hostname string) error {
	return m.obtain(ctx, hostname, verification)
}

func (m *Manager) obtain(ctx context.Context, hostname string, by asker) (err error) {
	defer fault.Wrap(&err, "certificate.Obtain(%q)", hostname)
	subject := m.subject(hostname)
	valid, err := store.Exists(ctx, m.DB, "SELECT 1 FROM certificate_file WHERE key = ? AND not_after > ?",
		m.key(subject), m.DB.Now())
	if err != nil || valid {
		return err
	}
	f := m.fly(wish{subject, by})
	select {
	case <-f.done:
		return f.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// key returns the key of a subject's certificate.
func (m *Manager) key(subject string) []byte {
	return []byte(certmagic.StorageKeys.SiteCert(m.issuer.IssuerKey(), subject))
}

// wish is what a flight is made for.
type wish struct {
	subject string
	by      asker
}

// flight is a certificate that is being loaded or obtained for all who want it.
type flight struct {
	done        chan struct{}
	certificate certmagic.Certificate
	err         error
}

// fly loads a certificate into memory, or obtains it, once for all askers of a kind who
// want it at the same time.
func (m *Manager) fly(w wish) *flight {
	m.mu.Lock()
	defer m.mu.Unlock()
	f := m.flights[w]
	if f != nil {
		return f
	}
	f = &flight{done: make(chan struct{})}
	m.flights[w] = f
	m.running.Go(func() {
		f.certificate, f.err = m.loadOrObtain(w)
		land := func() {
			m.mu.Lock()
			defer m.mu.Unlock()
			delete(m.flights, w)
		}
		if f.err != nil {
			time.AfterFunc(m.failedFor, land)
		} else {
			land()
		}
		close(f.done)
	})
	return f
}

func (m *Manager) loadOrObtain(w wish) (certmagic.Certificate, error) {
	ctx, cancel := context.WithTimeout(context.WithValue(m.life, askerKey{}, w.by), flightFor)
	defer cancel()
	subject := w.subject
	c, err := m.load(ctx, subject)
	if !errors.Is(err, fs.ErrNotExist) && (err != nil || !c.Expired()) {
		return c, err
	}
	if w.by == visit && !m.mayOrder(ctx, subject) {
		return c, errNotConnected
	}
	// Asked before the lock, for which many may wait.
	if failure, err := m.storage.waiting(ctx, subject); err != nil || failure != nil {
		return c, errors.Join(err, failure.orNil())
	}
	// It obtains what is not there, and renews what has expired.
	if err := m.config.RenewCertSync(ctx, subject, false); err != nil {
		return c, err
	}
	return m.load(ctx, subject)
}

// load reads a certificate from the database into memory. A renewal may come between
// its files; then they do not fit, and are read again.
func (m *Manager) load(ctx context.Context, subject string) (certmagic.Certificate, error) {
	c, err := m.config.CacheManagedCertificate(ctx, subject)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		c, err = m.config.CacheManagedCertificate(ctx, subject)
	}
	return c, err
}
