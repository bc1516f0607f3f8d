package certificate

import (
	"context"
	"crypto/tls"
	"slices"
	"strings"
	"time"

	"github.com/mholt/acmez/v3"
)

// handshakeFor bounds how long a visitor waits for a certificate that is being issued.
const handshakeFor = 8 * time.Second

// TLS returns the settings of TLS listeners, for tls.NewListener. It is shared and must
// not be changed.
func (m *Manager) TLS() *tls.Config { return m.tls }

func (m *Manager) newTLS() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1", acmez.ACMETLS1Protocol},
		GetConfigForClient: m.admit, GetCertificate: m.certificate,
	}
}

// admit refuses hostnames that are not served. It comes before any cryptography, so a
// flood of them costs less than handshakes that find no certificate.
func (m *Manager) admit(hello *tls.ClientHelloInfo) (*tls.Config, error) {
	if !m.serves(strings.ToLower(hello.ServerName)) {
		return nil, errUnknown
	}
	return nil, nil // the same settings
}

// certificate returns the certificate of a served hostname: from memory, else from the
// database, else, if it may be ordered, from the authority.
func (m *Manager) certificate(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	hostname := strings.ToLower(hello.ServerName)
	if slices.Equal(hello.SupportedProtos, []string{acmez.ACMETLS1Protocol}) {
		return m.challengeCertificate(hello.Context(), hostname)
	}
	now := time.Now()
	for _, c := range m.cache.AllMatchingCertificates(hostname) {
		if now.Before(c.Leaf.NotAfter) {
			return &c.Certificate, nil
		}
	}
	ctx, cancel := context.WithTimeout(hello.Context(), handshakeFor)
	defer cancel()
	f := m.fly(wish{m.subject(hostname), visit})
	select {
	case <-f.done:
		return &f.certificate.Certificate, f.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
