package actor

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/ids"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
)

// A statement that fails is told, and is not taken for a credential that is not accepted.
func TestFailedStatements(t *testing.T) {
	eachWorld(t, func(w *world) {
		key, _, _ := NewKey(Staging)
		w.storeKey(key, []string{"app"}, []string{"links:read"}, w.now().Add(time.Hour), nil)
		known := &Actor{Type: Human, OwnerID: w.owner, Credential: Session{Issuer: LocalIssuerURL, ID: "x"}.credential()}
		authenticate := func(text string) func(context.Context) error {
			return func(ctx context.Context) error { // by a process that has seen nothing yet
				_, err := NewAuthenticator(w.db, Staging, LocalIssuer(w.db)).Authenticate(ctx, "Bearer "+text)
				return err
			}
		}
		still := func(a *Actor) func(context.Context) error {
			return func(ctx context.Context) error {
				return w.db.InTx(ctx, func(tx *store.Tx) error { _, _, err := a.Still(ctx, tx, "app"); return err })
			}
		}
		holder := func(a *Actor) func(context.Context) error {
			return func(ctx context.Context) error {
				_, err := a.Grant().Holder(ctx, w.db, w.db.Now(), "links:read", "app")
				return err
			}
		}
		byKey, err := w.authenticate(key)
		if err != nil {
			t.Fatal(err)
		}
		w.issue("other@example.com")
		r := newRemote(t)
		mint := r.add(t, "key")
		secret := w.signIn("Firefox")
		signedIn := w.browses("signed in", secret)
		for name, f := range map[string]func(context.Context) error{
			"browser": func(ctx context.Context) error { _, err := w.auth.Browser(ctx, secret, true); return err },
			"sign in": func(ctx context.Context) error {
				return w.db.InTx(ctx, func(tx *store.Tx) error { _, err := SignIn(ctx, tx, w.owner, "Firefox"); return err })
			},
			"sign out":    func(ctx context.Context) error { return SignOut(ctx, w.db, Digest(w.signIn("Firefox"))) },
			"sessions of": func(ctx context.Context) error { _, err := SessionsOf(ctx, w.db, w.owner, 10); return err },
			"end of": func(ctx context.Context) error {
				return EndSessionOf(ctx, w.db, w.owner, strings.TrimPrefix(signedIn.Credential, sessionPrefix))
			},
			"link": func(ctx context.Context) error { _, err := IssueLink(ctx, w.db, email); return err },
			"use of a link": func(ctx context.Context) error {
				code, err := IssueLinkFor(w.Context(), w.db, w.owner)
				if err == nil {
					_, err = UseLink(ctx, w.db, code, "Firefox")
				}
				return err
			},
			"link of a new owner": func(ctx context.Context) error {
				code, err := IssueLink(w.Context(), w.db, ids.New()+"@example.com")
				if err == nil {
					_, err = UseLink(ctx, w.db, code, "Firefox")
				}
				return err
			},
			"new owner of an issuer": func(ctx context.Context) error {
				token := mint(map[string]any{"sub": ids.New(), "email": ids.New() + "@example.com", "email_verified": true})
				_, err := NewAuthenticator(w.db, Staging, RemoteIssuer(r.URL, "us", true)).Authenticate(ctx, "Bearer "+token)
				return err
			},
			"disable": func(ctx context.Context) error {
				_, err := SetActive(ctx, w.db, "other@example.com", false)
				return err
			},
			"sweep of links": func(ctx context.Context) error { _, err := SweepLinks(ctx, w.db, 1); return err },
			"add": func(ctx context.Context) error {
				_, err := AddOwner(ctx, w.db, Owner{Issuer: LocalIssuerURL, Email: ids.New() + "@example.com"})
				return err
			},
			"any owner":     func(ctx context.Context) error { _, err := AnyOwner(ctx, w.db); return err },
			"session":       authenticate(w.token),
			"new session":   func(ctx context.Context) error { return authenticate(w.issue(email))(ctx) },
			"key":           authenticate(key),
			"still session": still(known),
			"still key":     still(byKey),
			"holder":        holder(known),
			"holder of key": holder(byKey),
			"issue":         func(ctx context.Context) error { _, err := IssueSession(ctx, w.db, w.dir, email); return err },
			"sessions":      func(ctx context.Context) error { _, err := Sessions(ctx, w.db, "", 10); return err },
			"end": func(ctx context.Context) error {
				_, err := EndSessions(ctx, w.db, w.issue(email))
				return err
			},
			"owners": func(ctx context.Context) error { _, err := Owners(ctx, w.db, "", 10); return err },
			"enable": func(ctx context.Context) error { _, err := SetActive(ctx, w.db, email, true); return err },
			"sweep":  func(ctx context.Context) error { _, err := SweepSessions(ctx, w.db, 1); return err },
			"used": func(ctx context.Context) error {
				if _, err := w.authenticate(key); err != nil {
					return err
				}
				return w.auth.FlushUsed(ctx)
			},
		} {
			t.Run(name, func(t *testing.T) {
				storetest.Faulty(t, func(ctx context.Context) error {
					err := f(ctx)
					if refusal, ok := fault.From(err); ok && refusal.Code == fault.Unauthenticated {
						return nil
					}
					return err
				})
			})
		}
	})
}

// A key of the local issuer that cannot be read is a failure of the service, and no mistake
// of who sends the token.
func TestDamagedKeyOfTheIssuer(t *testing.T) {
	eachWorld(t, func(w *world) {
		w.exec("UPDATE issuer_key SET public_jwk = '{'")
		_, err := w.authenticate(w.mint(nil))
		if refusal, ok := fault.From(err); err == nil || ok && refusal.Code == fault.Unauthenticated {
			t.Errorf("the answer is %v", err)
		}
		if errors.Is(err, store.ErrNotFound) {
			t.Errorf("the key is taken for unknown: %v", err)
		}
	})
}
