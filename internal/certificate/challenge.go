package certificate

import (
	"context"
	"crypto/tls"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/mholt/acmez/v3"
	"github.com/mholt/acmez/v3/acme"

	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/store"
)

const (
	// challengeFor is how long an answer to the authority is kept at most.
	challengeFor = time.Hour
	// answersAtOnce bounds the reads of answers: anybody may ask for one.
	answersAtOnce = 4
	// answerFor bounds how long one may take.
	answerFor = 5 * time.Second
)

// solver proves a name in one way.
type solver struct {
	kind    string
	present func(context.Context, acme.Challenge) error
	cleanUp func(context.Context, acme.Challenge)
}

// solvers returns the ways in which a subject can be proved, the first to be tried
// first.
func (i *issuer) solvers(subject string) []solver {
	if isWildcard(subject) {
		return []solver{{acme.ChallengeTypeDNS01, i.presentTXT, i.removeTXT}}
	}
	s := []solver{{acme.ChallengeTypeTLSALPN01, i.storage.present, i.storage.cleanUp}}
	if i.HTTP {
		s = append([]solver{{acme.ChallengeTypeHTTP01, i.storage.present, i.storage.cleanUp}}, s...)
	}
	return s
}

// present stores the answer to a challenge, for whichever process the authority visits.
func (s *storage) present(ctx context.Context, c acme.Challenge) (err error) {
	defer func() { err = storageFailed(err) }()
	defer fault.Wrap(&err, "certificate.present(%s, %q)", c.Type, c.Identifier.Value)
	_, err = s.db.Exec(ctx, `INSERT INTO certificate_challenge (kind, hostname, token, key_authorization, expires_at)
		VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (kind, hostname) DO UPDATE SET token = excluded.token,
			key_authorization = excluded.key_authorization, expires_at = excluded.expires_at`,
		c.Type, c.Identifier.Value, c.Token, c.KeyAuthorization, s.db.Now().Add(challengeFor))
	return err
}

// cleanUp removes the answer to a challenge. The sweep removes what it leaves.
func (s *storage) cleanUp(ctx context.Context, c acme.Challenge) {
	s.db.Exec(ctx, "DELETE FROM certificate_challenge WHERE kind = ? AND hostname = ? AND token = ?", c.Type,
		c.Identifier.Value, c.Token)
}

// challenge returns what is asked of a hostname, or store.ErrNotFound.
func (m *Manager) challenge(ctx context.Context, kind, hostname string) (acme.Challenge, error) {
	ctx, cancel := context.WithTimeout(ctx, answerFor)
	defer cancel()
	select {
	case m.answers <- struct{}{}:
		defer func() { <-m.answers }()
	case <-ctx.Done():
		return acme.Challenge{}, ctx.Err()
	}
	return store.One(ctx, m.DB, func(r store.Row) (acme.Challenge, error) {
		c := acme.Challenge{Type: kind, Identifier: acme.Identifier{Type: "dns", Value: hostname}}
		err := r.Scan(&c.Token, &c.KeyAuthorization)
		return c, err
	}, "SELECT token, key_authorization FROM certificate_challenge WHERE kind = ? AND hostname = ?", kind, hostname)
}

// challengeCertificate answers a TLS-ALPN-01 challenge (RFC 8737 §3).
func (m *Manager) challengeCertificate(ctx context.Context, hostname string) (*tls.Certificate, error) {
	c, err := m.challenge(ctx, acme.ChallengeTypeTLSALPN01, hostname)
	if err != nil {
		return nil, err
	}
	return acmez.TLSALPN01ChallengeCert(c)
}

// challengePath begins the paths that the authority asks for.
const challengePath = "/.well-known/acme-challenge/"

// answerChallenge answers an HTTP-01 challenge (RFC 8555 §8.3) at a served hostname.
func (m *Manager) answerChallenge(w http.ResponseWriter, r *http.Request, hostname string) {
	c, err := m.challenge(r.Context(), acme.ChallengeTypeHTTP01, hostname)
	switch {
	case errors.Is(err, store.ErrNotFound) || err == nil && strings.TrimPrefix(r.URL.Path, challengePath) != c.Token:
		w.WriteHeader(http.StatusNotFound)
	case err != nil:
		w.WriteHeader(http.StatusServiceUnavailable)
	default:
		w.Header().Set("Content-Type", "application/octet-stream")
		w.Write([]byte(c.KeyAuthorization))
	}
}
