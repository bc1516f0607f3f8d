package signin

import (
	"context"
	"crypto/rand"
	stdjson "encoding/json"
	"errors"
	"net"
	"strings"
	"time"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"

	"github.com/waymarkhq/waymark/internal/actor"
	"github.com/waymarkhq/waymark/internal/browser"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/store"
)

const (
	// ceremonyLifetime is how long a browser may take to answer.
	ceremonyLifetime = 5 * time.Minute
	// maxCeremonies is how many sign-ins wait for an answer at once. Anybody may begin one, so the
	// oldest gives way to a further one. Of an owner one passkey at a time is being made.
	maxCeremonies = 10_000
)

// relyingParty returns what browsers are told of this site, nil where they make no passkeys.
// A passkey belongs to a hostname; the machine itself is called localhost.
func relyingParty(site browser.Site) (*webauthn.WebAuthn, error) {
	host, origin := site.Host(), site.Origin
	if ip := net.ParseIP(host); ip != nil && ip.IsLoopback() {
		name := host
		if strings.Contains(host, ":") {
			name = "[" + host + "]"
		}
		host, origin = "localhost", strings.Replace(origin, "//"+name, "//localhost", 1)
	}
	if host == "" || net.ParseIP(host) != nil {
		return nil, nil
	}
	return webauthn.New(&webauthn.Config{RPID: host, RPDisplayName: "Waymark", RPOrigins: []string{origin},
		AttestationPreference: protocol.PreferNoAttestation,
		AuthenticatorSelection: protocol.AuthenticatorSelection{
			ResidentKey: protocol.ResidentKeyRequirementRequired, RequireResidentKey: protocol.ResidentKeyRequired(),
			UserVerification: protocol.VerificationPreferred,
		}})
}

// ceremony is one that a browser is to answer.
type ceremony struct {
	Ceremony string `json:"ceremony"`
	// PublicKey are the options for the browser, as JSON.
	PublicKey any `json:"publicKey"`
}

var errCeremony = fault.New(fault.Unauthenticated, "The passkey was asked for more than five minutes ago, or was used before. "+
	"Try again.")

// keep stores the challenge of a ceremony, ownerID "" where somebody signs in, and returns its
// name, which the browser sends back.
func keep(ctx context.Context, db *store.DB, ownerID string, challenge *webauthn.SessionData) (name string, err error) {
	defer fault.Wrap(&err, "begin ceremony")
	text, err := stdjson.Marshal(challenge)
	if err != nil {
		return "", err
	}
	name = rand.Text()
	// Whether there is one more or less does not matter, so that none waits for another.
	err = db.InTxReadCommitted(ctx, func(tx *store.Tx) error {
		if err := makeRoom(ctx, tx, ownerID); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, "INSERT INTO passkey_ceremony (digest, user_id, challenge, expires_at) VALUES (?, ?, ?, ?)",
			actor.Digest(name), store.NullString(ownerID), string(text), tx.Now.Add(ceremonyLifetime))
		return err
	})
	return name, err
}

// makeRoom removes what gives way to a further ceremony.
func makeRoom(ctx context.Context, tx *store.Tx, ownerID string) error {
	if ownerID != "" {
		_, err := tx.Exec(ctx, "DELETE FROM passkey_ceremony WHERE user_id = ?", ownerID)
		return err
	}
	n, err := store.One(ctx, tx, store.Value[int64], "SELECT COUNT(*) FROM passkey_ceremony WHERE user_id IS NULL")
	if err != nil || n < maxCeremonies {
		return err
	}
	_, err = tx.Exec(ctx, `DELETE FROM passkey_ceremony WHERE digest IN (SELECT digest FROM passkey_ceremony
		WHERE user_id IS NULL ORDER BY expires_at LIMIT ?)`, n-maxCeremonies+1)
	return err
}

// take removes a ceremony and returns its challenge: a browser has one answer. ownerID is
// whose it must be.
func take(ctx context.Context, db *store.DB, ownerID, name string) (challenge webauthn.SessionData, err error) {
	defer fault.Wrap(&err, "end ceremony")
	type row struct {
		ownerID, challenge string
		expires            clock.Instant
	}
	var found row
	err = db.InTx(ctx, func(tx *store.Tx) (err error) {
		found, err = store.One(ctx, tx, func(r store.Row) (c row, err error) {
			err = r.Scan(&c.ownerID, &c.challenge, &c.expires)
			return c, err
		}, `DELETE FROM passkey_ceremony WHERE digest = ? RETURNING COALESCE(user_id, ''), challenge, expires_at`,
			actor.Digest(name))
		return err
	})
	if errors.Is(err, store.ErrNotFound) || err == nil && (found.expires <= db.Now() || found.ownerID != ownerID) {
		return challenge, errCeremony
	}
	if err != nil {
		return challenge, err
	}
	return challenge, stdjson.Unmarshal([]byte(found.challenge), &challenge)
}

// SweepCeremonies removes at most limit ceremonies that are over.
func SweepCeremonies(ctx context.Context, db *store.DB, limit int) (_ int64, err error) {
	defer fault.Wrap(&err, "signin.SweepCeremonies")
	return db.Exec(ctx, `DELETE FROM passkey_ceremony WHERE digest IN (SELECT digest FROM passkey_ceremony
		WHERE expires_at <= ? LIMIT ?)`, db.Now(), limit)
}
