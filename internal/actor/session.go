package actor

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/go-jose/go-jose/v4"
	"github.com/maypok86/otter/v2"

	"github.com/waymarkhq/waymark/internal/fault"
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
	// pending is the connect under way, shared by all who wait for it.
	pending *connection
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
// names an unknown one, which is how rotation is followed: tokens of a new key
// are accepted at once. A key that the issuer no longer publishes is forgotten
// at that fetch; until then, and for tokens seen before until they expire,
// what it signed is accepted.
func RemoteIssuer(url, audience string, autoProvision bool) *Issuer {
	client := &http.Client{Timeout: 10 * time.Second}
	return newIssuer(url, autoProvision, func(ctx context.Context) (*oidc.IDTokenVerifier, error) {
		// The key set keeps this context for fetching keys later.
		ctx = oidc.ClientContext(context.WithoutCancel(ctx), client)
		provider, err := oidc.NewProvider(ctx, url)
		if err != nil {
			return nil, unreachable(fmt.Errorf("discover OpenID Connect issuer %s: %w", url, err))
		}
		var discovered struct {
			Keys       string   `json:"jwks_uri"`
			Algorithms []string `json:"id_token_signing_alg_values_supported"`
		}
		if err := provider.Claims(&discovered); err != nil {
			return nil, unreachable(fmt.Errorf("discover OpenID Connect issuer %s: %w", url, err))
		}
		return oidc.NewVerifier(url, remoteKeys{oidc.NewRemoteKeySet(ctx, discovered.Keys)}, &oidc.Config{
			ClientID: audience,
			SupportedSigningAlgs: slices.DeleteFunc(discovered.Algorithms, func(name string) bool {
				return !slices.Contains(signatures, jose.SignatureAlgorithm(name))
			}),
		}), nil
	})
}

// signatures are the algorithms accepted of an issuer that announces them: all
// with a public key.
var signatures = []jose.SignatureAlgorithm{
	jose.RS256, jose.RS384, jose.RS512, jose.PS256, jose.PS384, jose.PS512, jose.ES256, jose.ES384, jose.ES512, jose.EdDSA,
}

// remoteKeys tells the outage of an issuer from a signature that does not
// hold.
type remoteKeys struct{ *oidc.RemoteKeySet }

// VerifySignature implements oidc.KeySet.
func (k remoteKeys) VerifySignature(ctx context.Context, token string) ([]byte, error) {
	payload, err := k.RemoteKeySet.VerifySignature(ctx, token)
	if err != nil && strings.HasPrefix(err.Error(), "fetching keys") {
		setOutage(ctx, unreachable(err))
	}
	return payload, err
}

func unreachable(err error) error {
	return errors.Join(fault.New(fault.Unavailable, "The identity provider cannot be reached."), err)
}

// outageKey is the context key under which a key set leaves that it could not
// look at the signature at all: go-oidc makes one text of all its errors.
type outageKey struct{}

func setOutage(ctx context.Context, err error) {
	if at, ok := ctx.Value(outageKey{}).(*error); ok {
		*at = err
	}
}

// errSession marks a token that is not acceptable, as opposed to an issuer or
// a database that did not answer.
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
	var outage error
	verified, err := verifier.Verify(context.WithValue(ctx, outageKey{}, &outage), token)
	if outage != nil {
		return Session{}, outage
	}
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
		Issuer: i.URL, Subject: storable(verified.Subject, maxSubject), ID: cmp.Or(claims.SID, claims.JTI),
		Email: storable(claims.Email, maxEmail), Name: storable(claims.Name, maxName), Expires: verified.Expiry,
	}
	if s.ID == "" || s.Subject == "" {
		return Session{}, fmt.Errorf("%w: the token names no session (sid or jti) or no subject", errSession)
	}
	i.seen.Set(digest, s)
	return s, nil
}

// What is kept of a token: subjects have at most 255 characters (OpenID Connect
// Core §2), names as many as the profile allows.
const (
	maxSubject = 255
	maxEmail   = 254
	maxName    = 100
)

// storable returns a claim that can be stored and shown as it is, else "".
func storable(claim string, most int) string {
	if utf8.RuneCountInString(claim) > most || strings.ContainsFunc(claim, unicode.IsControl) {
		return ""
	}
	return claim
}

// connection is a connect under way.
type connection struct {
	done     chan struct{}
	verifier *oidc.IDTokenVerifier
	err      error
}

// verifier returns the verifier, connecting first where that is still to be
// done. An issuer that hangs keeps each caller waiting once, not one after the
// other.
// remembers reports whether a token was verified before.
func (i *Issuer) remembers(token string) bool {
	_, ok := i.seen.GetIfPresent(sha256.Sum256([]byte(token)))
	return ok
}

func (i *Issuer) verifier(ctx context.Context) (*oidc.IDTokenVerifier, error) {
	i.mu.Lock()
	if v := i.current; v != nil {
		i.mu.Unlock()
		return v, nil
	}
	c := i.pending
	if c == nil {
		c = &connection{done: make(chan struct{})}
		i.pending = c
		go func() {
			c.verifier, c.err = i.connect(context.WithoutCancel(ctx))
			i.mu.Lock()
			i.current, i.pending = c.verifier, nil
			i.mu.Unlock()
			close(c.done)
		}()
	}
	i.mu.Unlock()
	select {
	case <-c.done:
		return c.verifier, c.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
