package signin

import (
	"cmp"
	"context"
	"encoding/base64"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"

	"github.com/waymarkhq/waymark/internal/actor"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/ids"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/opt"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/text"
)

// maxPasskeys is how many passkeys an owner has.
const maxPasskeys = 20

// maxPublicKey is more than public keys of passkeys have, in bytes: one of RSA with 4096 bits has some
// 530. To verify with a very long one takes seconds.
const maxPublicKey = 1000

// passkey is one of an owner.
type passkey struct {
	ID        string         `json:"id"`
	Name      string         `json:"name"`
	CreatedAt clock.Instant  `json:"createdAt"`
	UsedAt    *clock.Instant `json:"usedAt"`

	credential webauthn.Credential
}

func scanPasskey(r store.Row) (p passkey, err error) {
	var credential string
	if err := r.Scan(&p.ID, &p.Name, &p.CreatedAt, &p.UsedAt, &credential); err != nil {
		return p, err
	}
	return p, stdjson.Unmarshal([]byte(credential), &p.credential)
}

const passkeyColumns = "id, name, created_at, used_at, credential FROM passkey"

func passkeysOf(ctx context.Context, q store.Q, ownerID string) ([]passkey, error) {
	return store.All(ctx, q, scanPasskey, "SELECT "+passkeyColumns+" WHERE user_id = ? ORDER BY created_at, id LIMIT ?",
		ownerID, maxPasskeys)
}

// user is an owner as package webauthn wants one. Authenticators keep the id, and show the
// names to the person who chooses a passkey.
type user struct {
	id, email, name string
	passkeys        []passkey
}

// WebAuthnID implements webauthn.User.
func (u *user) WebAuthnID() []byte { return []byte(u.id) }

// WebAuthnName implements webauthn.User.
func (u *user) WebAuthnName() string { return cmp.Or(u.email, u.name, "Waymark") }

// WebAuthnDisplayName implements webauthn.User.
func (u *user) WebAuthnDisplayName() string { return cmp.Or(u.name, u.email, "Waymark") }

// WebAuthnCredentials implements webauthn.User.
func (u *user) WebAuthnCredentials() []webauthn.Credential {
	all := make([]webauthn.Credential, len(u.passkeys))
	for i, p := range u.passkeys {
		all[i] = p.credential
	}
	return all
}

func loadUser(ctx context.Context, q store.Q, ownerID string) (*user, error) {
	u, err := store.One(ctx, q, func(r store.Row) (*user, error) {
		u := &user{}
		return u, r.Scan(&u.id, &u.email, &u.name)
	}, "SELECT id, COALESCE(email, ''), COALESCE(display_name, '') FROM users WHERE id = ?", ownerID)
	if err == nil {
		u.passkeys, err = passkeysOf(ctx, q, ownerID)
	}
	return u, err
}

// checkPasskeys refuses calls where browsers make no passkeys.
func (h *Handler) checkPasskeys() error {
	if h.passkeys == nil {
		return fault.New(fault.ResourceConflict, "Passkeys need a hostname: %s is an address (see --api-url).", h.site.Origin)
	}
	return nil
}

func (h *Handler) listPasskeys(c *call) error {
	all, err := passkeysOf(c.ctx, h.db(), c.actor.OwnerID)
	if err != nil {
		return err
	}
	return c.answer(200, all)
}

func (h *Handler) removePasskey(c *call) error {
	n, err := h.db().Exec(c.ctx, "DELETE FROM passkey WHERE id = ? AND user_id = ?", c.r.PathValue("id"), c.actor.OwnerID)
	if err != nil {
		return err
	}
	if n == 0 {
		return fault.Missing()
	}
	return c.done()
}

// begun keeps a ceremony and answers with its options.
func (h *Handler) begun(c *call, ownerID string, challenge *webauthn.SessionData, options any) error {
	name, err := keep(c.ctx, h.db(), ownerID, challenge)
	if err != nil {
		return err
	}
	// The types of package webauthn say how they are written in tags of the standard library.
	data, err := stdjson.Marshal(ceremony{name, options})
	if err != nil {
		return err
	}
	op.WriteData(c.w, c.id, 200, data)
	return nil
}

var errTooMany = fault.New(fault.ResourceConflict, "An owner has at most %d passkeys. Remove one first.", maxPasskeys)

func (h *Handler) beginRegistration(c *call) error {
	if err := h.checkPasskeys(); err != nil {
		return err
	}
	u, err := loadUser(c.ctx, h.db(), c.actor.OwnerID)
	if err != nil {
		return err
	}
	if len(u.passkeys) >= maxPasskeys {
		return errTooMany
	}
	creation, challenge, err := h.passkeys.BeginRegistration(u,
		webauthn.WithExclusions(webauthn.Credentials(u.WebAuthnCredentials()).CredentialDescriptors()))
	if err != nil {
		return fmt.Errorf("begin registration: %w", err)
	}
	return h.begun(c, u.id, challenge, creation.Response)
}

// answerBody is what a browser answers in a ceremony: its credential, as toJSON writes it.
type answerBody struct {
	Ceremony   string     `json:"ceremony" maxLength:"100"`
	Credential opt.Object `json:"credential"`
}

type registerBody struct {
	answerBody
	Name opt.Opt[text.Line] `json:"name,omitzero" maxLength:"100"`
}

func (h *Handler) register(c *call) error {
	if err := h.checkPasskeys(); err != nil {
		return err
	}
	body, err := h.readRegister(c.w, c.r)
	if err != nil {
		return err
	}
	challenge, err := take(c.ctx, h.db(), c.actor.OwnerID, body.Ceremony)
	if err != nil {
		return err
	}
	u, err := loadUser(c.ctx, h.db(), c.actor.OwnerID)
	if err != nil {
		return err
	}
	answer, err := protocol.ParseCredentialCreationResponseBytes(body.Credential.Value)
	if err == nil && len(answer.Response.AttestationObject.AuthData.AttData.CredentialPublicKey) > maxPublicKey {
		err = errors.New("its public key is too long")
	}
	if err != nil {
		return badPasskey(err)
	}
	credential, err := h.passkeys.CreateCredential(u, challenge, answer)
	if err != nil {
		return badPasskey(err)
	}
	p := passkey{ID: ids.New(), Name: cmp.Or(string(body.Name.Value), h.browser(c)), credential: *credential}
	if err := h.add(c, &p); err != nil {
		return err
	}
	return c.answer(201, p)
}

// add stores a passkey of the owner who calls, who may still call.
func (h *Handler) add(c *call, p *passkey) error {
	kept, err := stdjson.Marshal(p.credential)
	if err != nil {
		return err
	}
	err = h.db().InTx(c.ctx, func(tx *store.Tx) error {
		if _, _, err := c.actor.Still(c.ctx, tx, ""); err != nil {
			return err
		}
		n, err := store.One(c.ctx, tx, store.Value[int64], "SELECT COUNT(*) FROM passkey WHERE user_id = ?", c.actor.OwnerID)
		if err != nil {
			return err
		}
		if n >= maxPasskeys {
			return errTooMany
		}
		p.CreatedAt = tx.Now
		_, err = tx.Exec(c.ctx, `INSERT INTO passkey (id, user_id, credential_id, credential, name, created_at)
			VALUES (?, ?, ?, ?, ?, ?)`, p.ID, c.actor.OwnerID, credentialID(p.credential.ID), string(kept), p.Name, p.CreatedAt)
		return err
	})
	if h.db().IsUnique(err) {
		return fault.New(fault.ResourceConflict, "This passkey is known already.")
	}
	return err
}

// RemovePasskeys removes the passkeys of the owners with an e-mail address, and returns how many
// there were.
func RemovePasskeys(ctx context.Context, db *store.DB, email string) (_ int64, err error) {
	defer fault.Wrap(&err, "remove passkeys")
	return db.Exec(ctx, "DELETE FROM passkey WHERE user_id IN (SELECT id FROM users WHERE email = ?)",
		strings.ToLower(strings.TrimSpace(email)))
}

// credentialID is how a credential is looked up.
func credentialID(id []byte) string { return base64.RawURLEncoding.EncodeToString(id) }

// badPasskey refuses an answer of a browser. What was wrong with it only the log gets.
func badPasskey(err error) error {
	var told *protocol.Error
	reason := err.Error()
	if errors.As(err, &told) {
		reason = told.Type + ": " + told.Details
	}
	refusal := fault.New(fault.Unauthenticated, "The passkey is not accepted. Try again, or sign in otherwise.")
	return fmt.Errorf("%w (%.300q)", refusal, reason)
}

func (h *Handler) beginPasskey(c *call) error {
	if err := h.checkPasskeys(); err != nil {
		return err
	}
	assertion, challenge, err := h.passkeys.BeginDiscoverableLogin(webauthn.WithUserVerification(protocol.VerificationPreferred))
	if err != nil {
		return fmt.Errorf("begin sign-in: %w", err)
	}
	return h.begun(c, "", challenge, assertion.Response)
}

func (h *Handler) usePasskey(c *call) error {
	if err := h.checkPasskeys(); err != nil {
		return err
	}
	body, err := h.readAnswer(c.w, c.r)
	if err != nil {
		return err
	}
	challenge, err := take(c.ctx, h.db(), "", body.Ceremony)
	if err != nil {
		return err
	}
	answer, err := protocol.ParseCredentialRequestResponseBytes(body.Credential.Value)
	if err != nil {
		return badPasskey(err)
	}
	secret, err := h.signInWith(c, challenge, answer)
	if err == nil {
		err = h.enter(c, secret, h.session(c))
	}
	if err != nil {
		return err
	}
	return c.done()
}

// signInWith signs in the owner of the passkey with which a browser answered. The answer is
// verified before the transaction, in which nobody else writes; it counts when the passkey is still
// what it was.
func (h *Handler) signInWith(c *call, challenge webauthn.SessionData, answer *protocol.ParsedCredentialAssertionData) (
	secret string, err error) {
	type holder struct{ id, ownerID, credential string }
	its, err := store.One(c.ctx, h.db(), func(r store.Row) (v holder, err error) {
		err = r.Scan(&v.id, &v.ownerID, &v.credential)
		return v, err
	}, "SELECT id, user_id, credential FROM passkey WHERE credential_id = ?", credentialID(answer.RawID))
	if errors.Is(err, store.ErrNotFound) {
		return "", badPasskey(errors.New("nobody has this passkey"))
	}
	if err != nil {
		return "", err
	}
	u, err := loadUser(c.ctx, h.db(), its.ownerID)
	if err != nil {
		return "", err
	}
	_, credential, err := h.passkeys.ValidatePasskeyLogin(func(_, _ []byte) (webauthn.User, error) { return u, nil }, challenge,
		answer)
	if err != nil {
		return "", badPasskey(err)
	}
	if credential.Authenticator.CloneWarning {
		return "", badPasskey(errors.New("its counter went back: there may be a copy of it"))
	}
	kept, err := stdjson.Marshal(credential)
	if err != nil {
		return "", err
	}
	err = h.db().InTx(c.ctx, func(tx *store.Tx) error {
		n, err := tx.Exec(c.ctx, "UPDATE passkey SET credential = ?, used_at = ? WHERE id = ? AND credential = ?", string(kept),
			tx.Now, its.id, its.credential)
		if err == nil && n == 0 {
			err = badPasskey(errors.New("it was used or removed meanwhile"))
		}
		if err != nil {
			return err
		}
		secret, err = actor.SignIn(c.ctx, tx, its.ownerID, h.browser(c))
		return err
	})
	return secret, err
}
