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
	// loadsAtOnce bounds the database connections that handshakes keep busy.
	loadsAtOnce = 4
	// failedFor is how long handshakes are refused after one that failed, without
	// another look.
	failedFor = 5 * time.Second
	// flightFor bounds how long a certificate is loaded or obtained, with the wait for the
	// order of another process.
	flightFor = 2 * orderFor
)

// Obtain gets the certificate of a hostname, unless there is a valid one: by one order, or
// not at all when the last order failed a short while ago. It returns a *Failure when the
// authority refuses or cannot be reached, and the error of ctx when that ends first; the
// order goes on then. All processes that want the same certificate make one order.
func (m *Manager) Obtain(ctx context.Context, hostname string) (err error) {
	defer fault.Wrap(&err, "certificate.Obtain(%q)", hostname)
	subject := m.subject(hostname)
	valid, err := store.Exists(ctx, m.DB, "SELECT 1 FROM certificate_file WHERE key = ? AND not_after > ?",
		m.key(subject), m.DB.Now())
	if err != nil || valid {
		return err
	}
	f := m.fly(subject)
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

// flight is a certificate that is being loaded or obtained for all who want it.
type flight struct {
	done        chan struct{}
	certificate certmagic.Certificate
	err         error
}

// fly loads the certificate of a subject into memory, or obtains it, once for all who
// want it at the same time.
func (m *Manager) fly(subject string) *flight {
	m.mu.Lock()
	defer m.mu.Unlock()
	f := m.flights[subject]
	if f != nil {
		return f
	}
	f = &flight{done: make(chan struct{})}
	m.flights[subject] = f
	m.running.Go(func() {
		f.certificate, f.err = m.loadOrObtain(subject)
		land := func() {
			m.mu.Lock()
			defer m.mu.Unlock()
			delete(m.flights, subject)
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

func (m *Manager) loadOrObtain(subject string) (certmagic.Certificate, error) {
	ctx, cancel := context.WithTimeout(m.life, flightFor)
	defer cancel()
	c, err := m.load(ctx, subject)
	if !errors.Is(err, fs.ErrNotExist) && (err != nil || !c.Expired()) {
		return c, err
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
	select {
	case m.loads <- struct{}{}:
		defer func() { <-m.loads }()
	case <-ctx.Done():
		return certmagic.Certificate{}, ctx.Err()
	}
	c, err := m.config.CacheManagedCertificate(ctx, subject)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		c, err = m.config.CacheManagedCertificate(ctx, subject)
	}
	return c, err
}
