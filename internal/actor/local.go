package actor

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"github.com/go-json-experiment/json"

	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/ids"
	"github.com/waymarkhq/waymark/internal/store"
)

// LocalIssuerURL is the issuer of the sessions that the operator makes on the
// command line, LocalAudience their audience.
const (
	LocalIssuerURL = "urn:waymark:local"
	LocalAudience  = "waymark"
	// SessionLifetime of a local session.
	SessionLifetime = 12 * time.Hour

	maxKeyID = 100
)

// LocalIssuer returns the verifier of sessions that `waymark session issue`
// makes. It reads public keys from the database: the private ones never leave
// the data folders in which they were made.
func LocalIssuer(db *store.DB) *Issuer {
	return newIssuer(LocalIssuerURL, LocalAudience, false, func(context.Context) (*provider, error) {
		return &provider{IDTokenVerifier: oidc.NewVerifier(LocalIssuerURL, localKeys{db}, &oidc.Config{
			// Issuer.check checks the audience
			SkipClientIDCheck: true, SupportedSigningAlgs: []string{string(jose.EdDSA)},
		})}, nil
	})
}

// localKeys verifies signatures with the keys in the database.
type localKeys struct{ db *store.DB }

// VerifySignature implements oidc.KeySet.
func (k localKeys) VerifySignature(ctx context.Context, token string) ([]byte, error) {
	signed, err := jose.ParseSignedCompact(token, []jose.SignatureAlgorithm{jose.EdDSA})
	if err != nil {
		return nil, err
	}
	if len(signed.Signatures) != 1 {
		return nil, errors.New("a token has one signature")
	}
	id := signed.Signatures[0].Header.KeyID
	if storable(id, maxKeyID) == "" {
		return nil, errors.New("the token names no key")
	}
	text, err := store.One(ctx, k.db, store.Value[string], "SELECT public_jwk FROM issuer_key WHERE id = ?", id)
	if err != nil {
		if !errors.Is(err, store.ErrNotFound) {
			setOutage(ctx, err)
		}
		return nil, err
	}
	var key jose.JSONWebKey
	if err := json.Unmarshal([]byte(text), &key); err != nil {
		setOutage(ctx, err)
		return nil, err
	}
	return signed.Verify(key.Key)
}

// IssueSession creates the local owner with this e-mail address if new and
// returns a bearer token for a session of SessionLifetime. The signing key is
// made in dataDir at first use, readable by its owner only.
func IssueSession(ctx context.Context, db *store.DB, dataDir, email string) (token string, err error) {
	if email, err = address(email); err != nil {
		return "", err
	}
	return issueSession(ctx, db, dataDir, func(tx *store.Tx) (id string, err error) {
		return provision(ctx, tx, Owner{Issuer: LocalIssuerURL, Subject: email, Email: email})
	})
}

// IssueSessionFor is IssueSession for an owner who exists, of any issuer.
func IssueSessionFor(ctx context.Context, db *store.DB, dataDir, ownerID string) (token string, err error) {
	return issueSession(ctx, db, dataDir, func(tx *store.Tx) (string, error) {
		owner, err := ownerOf(ctx, tx, ownerID)
		return owner.ID, err
	})
}

var errDisabled = errors.New("the owner is disabled (see waymark users enable)")

// issueSession signs a token for the owner that find returns and records its
// session.
func issueSession(ctx context.Context, db *store.DB, dataDir string,
	find func(*store.Tx) (ownerID string, err error)) (token string, err error) {
	defer fault.Wrap(&err, "issue session")
	key, keyID, err := signingKey(ctx, db, filepath.Join(dataDir, "session-key.json"))
	if err != nil {
		return "", err
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.EdDSA, Key: key},
		(&jose.SignerOptions{}).WithType("JWT").WithHeader("kid", keyID))
	if err != nil {
		return "", err
	}
	now := time.Now()
	s := Session{Issuer: LocalIssuerURL, ID: ids.New(), Issued: now, Expires: now.Add(SessionLifetime)}
	if err := db.InTx(ctx, func(tx *store.Tx) (err error) {
		if s.Subject, err = find(tx); err != nil {
			return err
		}
		h, err := s.holder(ctx, tx)
		if err != nil {
			return err
		}
		if !h.active {
			return errDisabled
		}
		return s.record(ctx, tx, h.ownerID)
	}); err != nil {
		return "", err
	}
	return jwt.Signed(signer).Claims(map[string]any{
		"iss": s.Issuer, "aud": LocalAudience, "sub": s.Subject, "sid": s.ID, "iat": s.Issued.Unix(),
		"exp": s.Expires.Unix(),
	}).Serialize()
}

// address returns an e-mail address in the form that names a local owner.
func address(email string) (string, error) {
	given := email
	email = strings.ToLower(strings.TrimSpace(email))
	local, domain, _ := strings.Cut(email, "@")
	if local == "" || domain == "" || !utf8.ValidString(given) || storable(email, maxEmail) == "" ||
		strings.ContainsFunc(email, unicode.IsSpace) {
		return "", fmt.Errorf("%q is not an e-mail address", given)
	}
	return email, nil
}

// signingKey reads or makes the private key of a data folder and makes sure
// that the database knows its public half.
func signingKey(ctx context.Context, db *store.DB, file string) (ed25519.PrivateKey, string, error) {
	var key jose.JSONWebKey
	text, err := os.ReadFile(file)
	switch {
	case err == nil:
		if err := json.Unmarshal(text, &key); err != nil {
			return nil, "", fmt.Errorf("read %s: %w", file, err)
		}
	case errors.Is(err, fs.ErrNotExist):
		if key, err = makeKey(file, (*os.File).Sync); err != nil {
			return nil, "", err
		}
	default:
		return nil, "", err
	}
	private, ok := key.Key.(ed25519.PrivateKey)
	if !ok {
		return nil, "", fmt.Errorf("%s holds no Ed25519 key", file)
	}
	public, err := json.Marshal(key.Public())
	if err == nil {
		_, err = db.Exec(ctx, "INSERT INTO issuer_key (id, public_jwk, created_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
			key.KeyID, string(public), db.Now())
	}
	return private, key.KeyID, err
}

// makeKey makes a private key in a file. Its bytes are on the disk before they have
// their name. A crash may lose the name: the next session makes another key then,
// and the database knows this one, too. fsync is (*os.File).Sync, but in tests.
func makeKey(file string, fsync func(*os.File) error) (jose.JSONWebKey, error) {
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return jose.JSONWebKey{}, err
	}
	key := jose.JSONWebKey{Key: private, KeyID: ids.New(), Algorithm: string(jose.EdDSA), Use: "sig"}
	text, err := json.Marshal(key)
	if err != nil {
		return key, err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return key, err
	}
	// Written aside and linked: whoever comes second uses the first one's key.
	temporary, err := os.CreateTemp(filepath.Dir(file), ".session-key-")
	if err != nil {
		return key, err
	}
	defer os.Remove(temporary.Name())
	_, err = temporary.Write(text)
	if err := errors.Join(err, fsync(temporary), temporary.Close()); err != nil {
		return key, err
	}
	if err := os.Link(temporary.Name(), file); errors.Is(err, fs.ErrExist) {
		text, err := os.ReadFile(file)
		if err != nil {
			return key, err
		}
		return key, json.Unmarshal(text, &key)
	} else if err != nil {
		return key, err
	}
	return key, nil
}
