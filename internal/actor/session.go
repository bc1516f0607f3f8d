package actor

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
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
	"github.com/go-json-experiment/json"
	"github.com/maypok86/otter/v2"
	"golang.org/x/oauth2"

	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/text"
)

const (
	// maxVerified is how many verified tokens are remembered.
	maxVerified = 10_000
	// issuerTimeout is how long an issuer may take for an answer.
	issuerTimeout = 10 * time.Second
)

// Issuer verifies human sessions of one OpenID Connect issuer, the local one
// included.
type Issuer struct {
	URL           string
	AutoProvision bool
	// Allow says who may enter the dashboard; without a rule AutoProvision decides. Secret is
	// the password of this installation at the issuer, "" where it has none.
	Allow  []Rule
	Secret string

	audience string
	// connect finds the provider: for a remote issuer by discovery, which is
	// tried again at the next call when the issuer did not answer.
	connect func(context.Context) (*provider, error)
	mu      sync.Mutex
	current *provider
	// pending is the connect under way, shared by all who wait for it.
	pending *connection
	// seen keeps verified tokens until they expire: checking a signature costs
	// more than the rest of a read.
	seen *otter.Cache[[32]byte, Session]
}

// provider is an issuer that was reached: what verifies its tokens, and where browsers
// sign in.
type provider struct {
	*oidc.IDTokenVerifier
	endpoint oauth2.Endpoint
	scopes   []string
	client   *http.Client
}

// Session is a verified human session.
type Session struct {
	Issuer  string
	Subject string
	// ID names the session at its issuer: sid, else jti, else a digest of the
	// token, which then is a session of its own.
	ID string
	// Renewable: later tokens may continue the session.
	Renewable bool
	Email     string // in lower case
	// EmailVerified: the issuer vouches for Email.
	EmailVerified bool
	Name          string
	Issued        time.Time // zero where the token does not tell
	Expires       time.Time
}

func newIssuer(url, audience string, autoProvision bool, connect func(context.Context) (*provider, error)) *Issuer {
	return &Issuer{
		URL: url, AutoProvision: autoProvision, audience: audience, connect: connect,
		seen: otter.Must(&otter.Options[[32]byte, Session]{MaximumSize: maxVerified}),
	}
}

// RemoteIssuer returns the verifier of an OpenID Connect issuer. audience must
// be among the audiences of its tokens. Keys are fetched again when a token
// names an unknown one, which is how rotation is followed: tokens of a new key
// are accepted at once. A key that the issuer no longer publishes is forgotten
// at that fetch; until then, and for tokens seen before until they expire,
// what it signed is accepted.
func RemoteIssuer(url, audience string, autoProvision bool) *Issuer {
	client := &http.Client{Timeout: issuerTimeout}
	return newIssuer(url, audience, autoProvision, func(ctx context.Context) (*provider, error) {
		// The key set keeps this context for fetching keys later.
		ctx = oidc.ClientContext(context.WithoutCancel(ctx), client)
		found, err := oidc.NewProvider(ctx, url)
		if err != nil {
			return nil, unreachable(fmt.Errorf("discover OpenID Connect issuer %s: %w", url, err))
		}
		var discovered struct {
			Keys       string   `json:"jwks_uri"`
			Algorithms []string `json:"id_token_signing_alg_values_supported"`
			Scopes     []string `json:"scopes_supported"`
			Methods    []string `json:"token_endpoint_auth_methods_supported"`
		}
		if err := found.Claims(&discovered); err != nil {
			return nil, unreachable(fmt.Errorf("discover OpenID Connect issuer %s: %w", url, err))
		}
		verifier := oidc.NewVerifier(url, remoteKeys{oidc.NewRemoteKeySet(ctx, discovered.Keys)}, &oidc.Config{
			SkipClientIDCheck: true, // Issuer.check does it
			SupportedSigningAlgs: slices.DeleteFunc(discovered.Algorithms, func(name string) bool {
				return !slices.Contains(signatures, jose.SignatureAlgorithm(name))
			}),
		})
		return &provider{verifier, endpointOf(found, discovered.Methods), discovered.Scopes, client}, nil
	})
}

// endpointOf returns where browsers sign in. The password goes in the header, as is the rule
// (OpenID Connect Discovery §3), unless the issuer takes it in the form alone.
func endpointOf(found *oidc.Provider, methods []string) oauth2.Endpoint {
	endpoint := found.Endpoint()
	endpoint.AuthStyle = oauth2.AuthStyleInHeader
	if len(methods) > 0 && !slices.Contains(methods, "client_secret_basic") {
		endpoint.AuthStyle = oauth2.AuthStyleInParams
	}
	return endpoint
}

// signatures are the algorithms accepted of an issuer that announces them: all
// with a public key.
var signatures = []jose.SignatureAlgorithm{
	jose.RS256, jose.RS384, jose.RS512, jose.PS256, jose.PS384, jose.PS512, jose.ES256, jose.ES384, jose.ES512,
	jose.EdDSA,
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

// tokenClaims are those that matter of a token besides what go-oidc reads.
type tokenClaims struct {
	Issuer string `json:"iss"`
	SID    string `json:"sid"`
	JTI    string `json:"jti"`
	Email  string `json:"email"`
	// EmailVerified is a text at some issuers.
	EmailVerified any    `json:"email_verified"`
	Name          string `json:"name"`
	tokenType
}

// unverified reads the claims of a token without believing them; ok is false
// for what is no token at all.
func unverified(token string) (c tokenClaims, ok bool) {
	part := strings.Split(token, ".")
	if len(part) != 3 {
		return c, false
	}
	payload, err := base64.RawURLEncoding.DecodeString(part[1])
	return c, err == nil && json.Unmarshal(payload, &c) == nil
}

// sessionID names the session of a token. Where the issuer does not, each
// token is a session of its own, named by what is signed of it: the signature
// itself can be written in several ways.
func (c tokenClaims) sessionID(token string) string {
	return cmp.Or(c.SID, c.JTI, Digest(token[:strings.LastIndexByte(token, '.')]))
}

// issued reports whether a token that claims to be of an issuer is for this
// one to verify. Google leaves out the scheme at times.
func (i *Issuer) issued(claimed string) bool {
	return claimed == i.URL || "https://"+claimed == i.URL
}

// verify checks signature, issuer, audience and expiry of a token, once.
func (i *Issuer) verify(ctx context.Context, token string) (Session, error) {
	digest := sha256.Sum256([]byte(token))
	if s, ok := i.seen.GetIfPresent(digest); ok {
		if time.Now().Before(s.Expires) {
			return s, nil
		}
		return Session{}, expiredSession.refusal()
	}
	p, err := i.provider(ctx)
	if err != nil {
		return Session{}, err
	}
	s, _, err := i.check(ctx, p, token)
	if err == nil {
		i.seen.Set(digest, s)
	}
	return s, err
}

// check is verify of a token that was not seen before. It returns all that the token says,
// too.
func (i *Issuer) check(ctx context.Context, p *provider, token string) (Session, *oidc.IDToken, error) {
	var outage error
	verified, err := p.Verify(context.WithValue(ctx, outageKey{}, &outage), token)
	if outage != nil {
		return Session{}, nil, outage
	}
	var expired *oidc.TokenExpiredError
	if errors.As(err, &expired) {
		return Session{}, nil, expiredSession.refusal()
	}
	if err != nil {
		return Session{}, nil, invalidToken.because("%v", err)
	}
	if !slices.Contains(verified.Audience, i.audience) {
		return Session{}, nil, otherAudience.because("expected %q, got %q", i.audience, verified.Audience)
	}
	var claims tokenClaims
	if err := verified.Claims(&claims); err != nil {
		return Session{}, nil, invalidToken.because("%v", err)
	}
	if reason := claims.notSession(headerType(token), i.audience, verified.Audience); reason != "" {
		return Session{}, nil, otherToken.because("%s", reason)
	}
	s := Session{
		Issuer: i.URL, Subject: storable(verified.Subject, maxSubject),
		ID: claims.sessionID(token), Renewable: claims.SID != "" && i.URL != LocalIssuerURL,
		Email: storable(strings.ToLower(claims.Email), maxEmail), Name: displayName(claims.Name),
		EmailVerified: claims.EmailVerified == true || claims.EmailVerified == "true",
		Issued:        verified.IssuedAt, Expires: verified.Expiry,
	}
	if s.Subject == "" {
		return Session{}, nil, invalidToken.because("it names no subject that can be stored")
	}
	return s, verified, nil
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

// displayName returns a name in the form in which owners may set one
// (completions.md §11, Text), else "".
func displayName(claim string) string {
	name, err := text.CleanLine(claim)
	if err != nil {
		return ""
	}
	return storable(name, maxName)
}

// connection is a connect under way.
type connection struct {
	done     chan struct{}
	provider *provider
	err      error
}

// remembers reports whether a token was verified before.
func (i *Issuer) remembers(token string) bool {
	_, ok := i.seen.GetIfPresent(sha256.Sum256([]byte(token)))
	return ok
}

// Connect reports whether the issuer can be reached now. Nothing depends on
// it: the next token tries again.
func (i *Issuer) Connect(ctx context.Context) error {
	_, err := i.provider(ctx)
	return err
}

// provider returns the provider, connecting first where that is still to be
// done. An issuer that hangs keeps each caller waiting once, not one after the
// other.
func (i *Issuer) provider(ctx context.Context) (*provider, error) {
	i.mu.Lock()
	if p := i.current; p != nil {
		i.mu.Unlock()
		return p, nil
	}
	c := i.pending
	if c == nil {
		c = &connection{done: make(chan struct{})}
		i.pending = c
		go func() {
			c.provider, c.err = i.connect(context.WithoutCancel(ctx))
			i.mu.Lock()
			i.current, i.pending = c.provider, nil
			i.mu.Unlock()
			close(c.done)
		}()
	}
	i.mu.Unlock()
	select {
	case <-c.done:
		return c.provider, c.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
