package actor

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/maypok86/otter/v2"
)

// Issuer verifies human sessions of one OpenID Connect issuer, the local one
// included.
type Issuer struct {
	URL           string
	AutoProvision bool

	// connect makes the verifier: for a remote issuer by discovery, which is
	// tried again at the next call when the issuer did not answer.
	connect func(context.Context) (*oidc.IDTokenVerifier, error)
	mu      sync.Mutex
	current *oidc.IDTokenVerifier
	// seen keeps verified tokens until they expire: checking a signature costs
	// more than the rest of a read.
	seen *otter.Cache[[32]byte, Session]
}

// Session is a verified human session.
type Session struct {
	Issuer  string
	Subject string
	ID      string // sid, else jti
	Email   string
	Name    string
	Expires time.Time
}

func newIssuer(url string, autoProvision bool, connect func(context.Context) (*oidc.IDTokenVerifier, error)) *Issuer {
	return &Issuer{
		URL: url, AutoProvision: autoProvision, connect: connect,
		seen: otter.Must(&otter.Options[[32]byte, Session]{MaximumSize: 10_000}),
	}
}

// RemoteIssuer returns the verifier of an OpenID Connect issuer. audience must
// be among the audiences of its tokens. Keys are fetched again when a token
// names an unknown one, which is how rotation is followed.
func RemoteIssuer(url, audience string, autoProvision bool) *Issuer {
	client := &http.Client{Timeout: 10 * time.Second}
	return newIssuer(url, autoProvision, func(ctx context.Context) (*oidc.IDTokenVerifier, error) {
		// The provider keeps this context for fetching keys later.
		provider, err := oidc.NewProvider(oidc.ClientContext(context.WithoutCancel(ctx), client), url)
		if err != nil {
			return nil, fmt.Errorf("discover OpenID Connect issuer %s: %w", url, err)
		}
		return provider.Verifier(&oidc.Config{ClientID: audience}), nil
	})
}

// errSession marks a token that is not acceptable, as opposed to an issuer
// that did not answer.
var errSession = errors.New("session not acceptable")

// verify checks signature, issuer, audience and expiry.
func (i *Issuer) verify(ctx context.Context, token string) (Session, error) {
	digest := sha256.Sum256([]byte(token))
	if s, ok := i.seen.GetIfPresent(digest); ok {
		if time.Now().Before(s.Expires) {
			return s, nil
		}
		return Session{}, errSession
	}
	verifier, err := i.verifier(ctx)
	if err != nil {
		return Session{}, err
	}
	verified, err := verifier.Verify(ctx, token)
	if err != nil {
		return Session{}, fmt.Errorf("%w: %w", errSession, err)
	}
	var claims struct {
		SID   string `json:"sid"`
		JTI   string `json:"jti"`
		Email string `json:"email"`
		Name  string `json:"name"`
	}
	if err := verified.Claims(&claims); err != nil {
		return Session{}, fmt.Errorf("%w: %w", errSession, err)
	}
	s := Session{
		Issuer: i.URL, Subject: verified.Subject, ID: claims.SID,
		Email: claims.Email, Name: claims.Name, Expires: verified.Expiry,
	}
	if s.ID == "" {
		s.ID = claims.JTI
	}
	if s.ID == "" || s.Subject == "" {
		return Session{}, fmt.Errorf("%w: the token names no session (sid or jti) or no subject", errSession)
	}
	i.seen.Set(digest, s)
	return s, nil
}

func (i *Issuer) verifier(ctx context.Context) (*oidc.IDTokenVerifier, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.current != nil {
		return i.current, nil
	}
	v, err := i.connect(ctx)
	if err != nil {
		return nil, err
	}
	i.current = v
	return v, nil
}
