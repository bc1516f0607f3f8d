package actor

import (
	"context"
	"crypto/subtle"
	"errors"
	"net/http"
	"slices"
	"strings"

	"golang.org/x/oauth2"

	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/store"
)

// Entry is a way into the dashboard through an OpenID Connect issuer: the authorization code
// flow (OpenID Connect Core §3.1) with PKCE (RFC 7636). The browser keeps it from its beginning
// to its end.
type Entry struct {
	// State comes back with the browser, Nonce in the token. Verifier proves to the issuer who
	// began.
	State, Nonce, Verifier string
	// Redirect is the address to which the issuer sends the browser back.
	Redirect string
}

// NewEntry returns the beginning of a way in.
func NewEntry(redirect string) Entry {
	return Entry{State: newSecret(), Nonce: newSecret(), Verifier: oauth2.GenerateVerifier(), Redirect: redirect}
}

// flow returns the two ends of the way at an issuer that was reached.
func (i *Issuer) flow(p *provider, e Entry) *oauth2.Config {
	scopes := []string{"openid", "email", "profile"}
	// Issuers that do not know this scope refuse it, or tell the groups without it.
	if slices.Contains(p.scopes, "groups") && slices.ContainsFunc(i.Allow, func(r Rule) bool { return r.kind == byGroup }) {
		scopes = append(scopes, "groups")
	}
	endpoint := p.endpoint
	if i.Secret == "" { // a public client names itself in the form
		endpoint.AuthStyle = oauth2.AuthStyleInParams
	}
	return &oauth2.Config{ClientID: i.audience, ClientSecret: i.Secret, Endpoint: endpoint, RedirectURL: e.Redirect,
		Scopes: scopes}
}

// Begin returns the address at the issuer to which the browser goes.
func (i *Issuer) Begin(ctx context.Context, e Entry) (string, error) {
	p, err := i.provider(ctx)
	if err != nil {
		return "", err
	}
	return i.flow(p, e).AuthCodeURL(e.State, oauth2.SetAuthURLParam("nonce", e.Nonce), oauth2.S256ChallengeOption(e.Verifier)),
		nil
}

// Finish exchanges the code with which the browser came back for a token, verifies it, and
// signs in the browser of its subject where the rules let it enter. It returns the secret for
// the browser's cookie.
func (i *Issuer) Finish(ctx context.Context, db *store.DB, e Entry, code, browser string) (secret string, err error) {
	defer fault.Wrap(&err, "actor.Finish")
	p, err := i.provider(ctx)
	if err != nil {
		return "", err
	}
	granted, err := i.flow(p, e).Exchange(context.WithValue(ctx, oauth2.HTTPClient, p.client), code,
		oauth2.VerifierOption(e.Verifier))
	if err != nil {
		return "", refusedCode(err)
	}
	token, _ := granted.Extra("id_token").(string)
	if token == "" || len(token) > maxToken {
		return "", invalidToken.because("the issuer answered the code with an ID token of %d bytes", len(token))
	}
	s, verified, err := i.check(ctx, p, token)
	if err != nil {
		return "", err
	}
	if subtle.ConstantTimeCompare([]byte(verified.Nonce), []byte(e.Nonce)) == 0 {
		return "", invalidToken.because("its nonce is not that of this browser")
	}
	var claims struct {
		Groups any `json:"groups"`
	}
	if err := verified.Claims(&claims); err != nil {
		return "", invalidToken.because("%v", err)
	}
	autoProvision := i.AutoProvision
	if len(i.Allow) > 0 {
		groups := texts(claims.Groups)
		autoProvision = slices.ContainsFunc(i.Allow, func(r Rule) bool { return r.admits(s, groups) })
		if !autoProvision {
			return "", notAllowed.because("subject %q, verified e-mail address: %t, %d groups", s.Subject,
				s.EmailVerified && s.Email != "", len(groups))
		}
	}
	err = db.InTx(ctx, func(tx *store.Tx) error {
		h, err := s.find(ctx, tx, autoProvision)
		if err != nil {
			return err
		}
		secret, err = SignIn(ctx, tx, h.ownerID, browser)
		return err
	})
	return secret, err
}

// refusedCode tells an issuer that refused a code from one that did not answer. What it
// answered stays out of the log, but for the name of the error.
func refusedCode(err error) error {
	refused, ok := errors.AsType[*oauth2.RetrieveError](err)
	switch {
	case !ok && strings.HasPrefix(err.Error(), "oauth2:"):
		return invalidToken.because("the issuer answered the code with something else than a token")
	case !ok:
		return unreachable(err)
	case refused.Response != nil && refused.Response.StatusCode >= http.StatusInternalServerError:
		return unreachable(errors.New("the issuer answers the code with " + refused.Response.Status))
	}
	return invalidToken.because("the issuer refused the code: %q", storable(refused.ErrorCode, maxName))
}

// problems are the refusals of a sign-in, in a word each.
var problems = map[cause]string{
	notAllowed: "not_allowed", notAnOwner: "not_allowed", disabledOwner: "disabled", endedSession: "ended",
	tooManySessions: "too_many", unknownLink: "used",
}

// Problem names why a sign-in failed in a word, for the page that explains it: not_allowed,
// disabled, ended, too_many, used, unavailable, or failed for everything else.
func Problem(err error) string {
	refusal, ok := fault.From(err)
	switch {
	case ok && problems[cause(refusal.Message)] != "":
		return problems[cause(refusal.Message)]
	case ok && refusal.Code == fault.Unavailable:
		return "unavailable"
	}
	return "failed"
}
