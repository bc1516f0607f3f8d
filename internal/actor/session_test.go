package actor

import (
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/go-jose/go-jose/v4"
	"github.com/go-json-experiment/json"

	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/ids"
	"github.com/waymarkhq/waymark/internal/store/storetest"
)

func TestSessionAccepted(t *testing.T) {
	eachWorld(t, func(w *world) {
		want := w.accepts("issued", w.token)
		if want.Type != Human || want.OwnerID != w.owner || want.PrincipalID() != w.owner || want.Permissions != nil ||
			want.AppIDs != nil {
			t.Errorf("%+v", want)
		}
		if again := w.accepts("issued, again", w.token); again.Credential != want.Credential {
			t.Error("one session has two credentials")
		}
		if other := w.accepts("another session", w.issue(email)); other.Credential == want.Credential ||
			other.OwnerID != w.owner {
			t.Errorf("two sessions: %+v", other)
		}
		for name, changes := range map[string]map[string]any{
			"several audiences":       {"aud": []string{"other", LocalAudience}},
			"jti instead of sid":      {"sid": nil, "jti": "an id"},
			"no sid, no jti":          {"sid": nil},
			"empty sid":               {"sid": ""},
			"fractional expiry":       {"exp": float64(time.Now().Add(time.Hour).Unix()) + 0.5},
			"not before, in the past": {"nbf": time.Now().Add(-time.Minute).Unix()},
			"azp ours":                {"aud": []string{"other", LocalAudience}, "azp": LocalAudience},
			"claims of no concern":    {"role": "admin", "nested": map[string]any{"a": 1}},
		} {
			w.accepts(name, w.mint(changes))
		}
		// sid and jti: the session is the sid, its tokens may be many.
		one := w.accepts("first token", w.mint(map[string]any{"sid": "s", "jti": "1"}))
		two := w.accepts("second token", w.mint(map[string]any{"sid": "s", "jti": "2"}))
		if one.Credential != two.Credential {
			t.Error("two tokens of one session have two credentials")
		}
		if strings.Contains(one.Credential, "s:s") || len(one.Credential) != len(sessionPrefix)+32 {
			t.Errorf("credential %q", one.Credential)
		}
	})
}

func TestSessionRefused(t *testing.T) {
	eachWorld(t, func(w *world) {
		public := w.key.Public().(ed25519.PublicKey)
		_, stranger, err := ed25519.GenerateKey(rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		curve, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		jwk, err := json.Marshal(jose.JSONWebKey{Key: public, KeyID: w.keyID, Algorithm: "EdDSA", Use: "sig"})
		if err != nil {
			t.Fatal(err)
		}
		good := w.mint(nil)
		part := strings.Split(good, ".")
		encode := func(v any) string {
			text, err := json.Marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			return base64.RawURLEncoding.EncodeToString(text)
		}
		embedded, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.EdDSA,
			Key: jose.JSONWebKey{Key: stranger, KeyID: w.keyID}}, &jose.SignerOptions{EmbedJWK: true})
		if err != nil {
			t.Fatal(err)
		}
		claimed, err := json.Marshal(w.claims(nil))
		if err != nil {
			t.Fatal(err)
		}
		selfSigned, err := embedded.Sign(claimed)
		if err != nil {
			t.Fatal(err)
		}
		selfSignedText, err := selfSigned.CompactSerialize()
		if err != nil {
			t.Fatal(err)
		}
		none := map[string]any{"alg": "none", "typ": "JWT", "kid": w.keyID}
		for name, token := range map[string]string{
			"wrong audience":       w.mint(map[string]any{"aud": "another"}),
			"audience in part":     w.mint(map[string]any{"aud": LocalAudience + "x"}),
			"no audience":          w.mint(map[string]any{"aud": nil}),
			"empty audiences":      w.mint(map[string]any{"aud": []string{}}),
			"wrong issuer":         w.mint(map[string]any{"iss": "https://issuer.example"}),
			"no issuer":            w.mint(map[string]any{"iss": nil}),
			"expired":              w.mint(map[string]any{"exp": time.Now().Add(-time.Second).Unix()}),
			"no expiry":            w.mint(map[string]any{"exp": nil}),
			"expiry as text":       w.mint(map[string]any{"exp": "tomorrow"}),
			"not yet":              w.mint(map[string]any{"nbf": time.Now().Add(time.Hour).Unix()}),
			"sid of another type":  w.mint(map[string]any{"sid": 7}),
			"no subject":           w.mint(map[string]any{"sub": nil}),
			"empty subject":        w.mint(map[string]any{"sub": ""}),
			"unknown subject":      w.mint(map[string]any{"sub": ids.New()}),
			"the e-mail address":   w.mint(map[string]any{"sub": email}),
			"subject, other case":  w.mint(map[string]any{"sub": strings.ToUpper(w.owner)}),
			"subject with NUL":     w.mint(map[string]any{"sub": w.owner + "\x00"}),
			"logout token":         w.mint(map[string]any{"events": map[string]any{"http://schemas.openid.net/event/backchannel-logout": map[string]any{}}}),
			"access token":         w.mint(map[string]any{"typ": "Bearer"}),
			"azp of another":       w.mint(map[string]any{"aud": []string{"other", LocalAudience}, "azp": "other"}),
			"subject too long":     w.mint(map[string]any{"sub": strings.Repeat("a", 10_000)}),
			"key unknown":          sign(t, jose.EdDSA, w.key, "another-key", w.claims(nil)),
			"key unnamed":          sign(t, jose.EdDSA, w.key, "", w.claims(nil)),
			"key named with NUL":   sign(t, jose.EdDSA, w.key, "a\x00b", w.claims(nil)),
			"key name too long":    sign(t, jose.EdDSA, w.key, strings.Repeat("k", 8000), w.claims(nil)),
			"key name as SQL":      sign(t, jose.EdDSA, w.key, "' OR '1'='1", w.claims(nil)),
			"key of a stranger":    sign(t, jose.EdDSA, stranger, w.keyID, w.claims(nil)),
			"key in the token":     selfSignedText,
			"another algorithm":    sign(t, jose.ES256, curve, w.keyID, w.claims(nil)),
			"HS256, public key":    sign(t, jose.HS256, []byte(public), w.keyID, w.claims(nil)),
			"HS256, public JWK":    sign(t, jose.HS256, jwk, w.keyID, w.claims(nil)),
			"HS512, public key":    sign(t, jose.HS512, append([]byte(public), public...), w.keyID, w.claims(nil)),
			"none, no signature":   encode(none) + "." + part[1] + ".",
			"none, some signature": encode(none) + "." + part[1] + "." + part[2],
			"None":                 encode(map[string]any{"alg": "None", "kid": w.keyID}) + "." + part[1] + ".",
			"no algorithm":         encode(map[string]any{"kid": w.keyID}) + "." + part[1] + "." + part[2],
			"tampered payload":     part[0] + "." + encode(w.claims(map[string]any{"sub": ids.New()})) + "." + part[2],
			"tampered header": encode(map[string]any{"alg": "EdDSA", "kid": w.keyID, "typ": "x"}) + "." + part[1] +
				"." + part[2],
			"tampered signature": part[0] + "." + part[1] + "." +
				base64.RawURLEncoding.EncodeToString(make([]byte, 64)),
			"no signature": part[0] + "." + part[1] + ".",
			"two parts":    part[0] + "." + part[1],
			"four parts":   good + "." + part[2],
			"critical extension": encode(map[string]any{"alg": "EdDSA", "kid": w.keyID, "crit": []string{"x"},
				"x": 1}) + "." + part[1] + "." + part[2],
			"payload no object": part[0] + "." + base64.RawURLEncoding.EncodeToString([]byte(`[]`)) + "." + part[2],
			"not a token":       "abc",
			"dots":              "..",
			"too long":          w.mint(map[string]any{"padding": strings.Repeat("x", 16<<10)}),
		} {
			w.refuses(name, token)
		}
		w.accepts("the one that the others were made of", good)
	})
}

func TestSessionRevoked(t *testing.T) {
	eachWorld(t, func(w *world) {
		first, second := w.mint(map[string]any{"sid": "first"}), w.mint(map[string]any{"sid": "second"})
		w.accepts("before", first)
		w.accepts("before", second)
		w.ends("first", 1)
		w.endsNone("first")
		w.refuses("revoked, token seen before", first, endedSession)
		w.refuses("revoked, another token", w.mint(map[string]any{"sid": "first", "jti": "x"}), endedSession)
		w.accepts("another session", second)
		if found := w.count("SELECT COUNT(*) FROM session WHERE credential LIKE '%first%'"); found != 0 {
			t.Error("the id of a session is stored")
		}
		w.exec("UPDATE users SET active = FALSE WHERE id = ?", w.owner)
		w.refuses("owner not active", second, disabledOwner)
		w.refuses("owner not active, token new", w.mint(nil), disabledOwner)
		w.exec("UPDATE users SET active = TRUE WHERE id = ?", w.owner)
		w.accepts("owner active again", second)
	})
}

// TestSessionDatabaseAway: a database that fails is no reason to tell a
// working client that its session is over.
func TestSessionDatabaseAway(t *testing.T) {
	eachWorld(t, func(w *world) {
		seen, fresh := w.mint(nil), w.mint(nil)
		w.accepts("before", seen)
		if err := w.db.Close(); err != nil {
			t.Fatal(err)
		}
		for name, token := range map[string]string{"seen before": seen, "not seen before": fresh} {
			a, err := w.authenticate(token)
			if refusal, ok := fault.From(err); a != nil || err == nil || ok && refusal.Code == fault.Unauthenticated {
				t.Errorf("%s: %+v, %v", name, a, err)
			}
		}
	})
}

// TestSessionOfAnotherHistory: a token that was verified by a key that an older copy of the
// database does not have is refused from then on.
func TestSessionOfAnotherHistory(t *testing.T) {
	eachWorld(t, func(w *world) {
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { w.auth.Run(ctx, slog.Default()) })
		defer running.Wait()
		defer cancel()
		seen := w.mint(nil)
		w.accepts("before", seen)
		if _, err := w.db.Exec(ctx, "DELETE FROM issuer_key"); err != nil {
			t.Fatal(err)
		}
		w.accepts("remembered", seen)
		storetest.Eventually(t, "it is refused", func() bool {
			w.db.NewHistory()
			_, err := w.authenticate(seen)
			return err != nil
		})
	})
}

// TestSessionExpiresWhileSeen: a token that was verified once is not good for
// longer.
func TestSessionExpiresWhileSeen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		public, private, err := ed25519.GenerateKey(rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		issuer := newIssuer(LocalIssuerURL, LocalAudience, false, func(context.Context) (*provider, error) {
			keys := staticKeys{public}
			return &provider{IDTokenVerifier: oidc.NewVerifier(LocalIssuerURL, keys, &oidc.Config{SkipClientIDCheck: true,
				SupportedSigningAlgs: []string{"EdDSA"}})}, nil
		})
		token := sign(t, jose.EdDSA, private, "", claims(nil)) // for an hour
		for _, wait := range []time.Duration{0, time.Minute, 58 * time.Minute, 59 * time.Second} {
			time.Sleep(wait)
			if s, err := issuer.verify(t.Context(), token); err != nil || s.Subject != email {
				t.Fatalf("%+v, %v", s, err)
			}
		}
		if _, seen := issuer.seen.GetIfPresent(sha256.Sum256([]byte(token))); !seen {
			t.Error("the token was not kept")
		}
		time.Sleep(2 * time.Second)
		if s, err := issuer.verify(t.Context(), token); err == nil || s != (Session{}) {
			t.Errorf("after its end: %+v, %v", s, err)
		}
	})
}

type staticKeys struct{ key ed25519.PublicKey }

func (k staticKeys) VerifySignature(_ context.Context, token string) ([]byte, error) {
	signed, err := jose.ParseSignedCompact(token, []jose.SignatureAlgorithm{jose.EdDSA})
	if err != nil {
		return nil, err
	}
	return signed.Verify(k.key)
}

func TestIssueSession(t *testing.T) {
	eachWorld(t, func(w *world) {
		for _, same := range []string{" owner@example.com\n", "Owner@Example.COM"} {
			if a := w.accepts(same, w.issue(same)); a.OwnerID != w.owner {
				t.Errorf("%q is another owner", same)
			}
		}
		if a := w.accepts("another", w.issue("other@example.com")); a.OwnerID == w.owner {
			t.Error("two addresses, one owner")
		}
		for _, wrong := range []string{"", "@", "a@", "@b", "owner", "a\x00@b.example", "a b@c.example",
			"a@b\x7f.example", "a\xff@b.example", strings.Repeat("a", 250) + "@b.example"} {
			if token, err := IssueSession(t.Context(), w.db, w.dir, wrong); err == nil || token != "" {
				t.Errorf("%q was accepted", wrong)
			}
		}
		if n := w.count("SELECT COUNT(*) FROM users"); n != 2 {
			t.Errorf("%d owners", n)
		}
		info, err := os.Stat(filepath.Join(w.dir, "session-key.json"))
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("the signing key: %v, %v", info.Mode(), err)
		}
		// Another machine has another data folder and the same database.
		token, err := IssueSession(t.Context(), w.db, t.TempDir(), email)
		if err != nil {
			t.Fatal(err)
		}
		if a := w.accepts("issued elsewhere", token); a.OwnerID != w.owner {
			t.Error("issued elsewhere: another owner")
		}
		w.accepts("issued before", w.token)
		if n := w.count("SELECT COUNT(*) FROM issuer_key"); n != 2 {
			t.Errorf("%d keys", n)
		}
		// The private half is nowhere in the database.
		if n := w.count(`SELECT COUNT(*) FROM issuer_key WHERE public_jwk LIKE '%"d"%'`); n != 0 {
			t.Error("private keys are in the database")
		}
		for _, damaged := range []string{"", "{}", `{"kty":"oct","k":"AAAA"}`, "not JSON"} {
			if err := os.WriteFile(filepath.Join(w.dir, "session-key.json"), []byte(damaged), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := IssueSession(t.Context(), w.db, w.dir, email); err == nil {
				t.Errorf("a damaged signing key %q was used or replaced", damaged)
			}
		}
	})
}

// TestIssueSessionTogether: whoever comes second uses the first one's key.
func TestIssueSessionTogether(t *testing.T) {
	eachWorld(t, func(w *world) {
		dir := filepath.Join(t.TempDir(), "new", "folder")
		tokens := make([]string, 8)
		var all sync.WaitGroup
		for i := range tokens {
			all.Go(func() {
				var err error
				if tokens[i], err = IssueSession(t.Context(), w.db, dir, "new@example.com"); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		for _, token := range tokens {
			w.accepts("issued together", token)
		}
		if n := w.count("SELECT COUNT(*) FROM issuer_key"); n != 2 {
			t.Errorf("%d keys, want the first and one more", n)
		}
		if left, _ := filepath.Glob(filepath.Join(dir, ".*")); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	})
}
