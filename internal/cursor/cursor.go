// Package cursor signs the positions at which lists continue. A cursor is
// bound to everything that made its list (credential, operation, filters,
// order, limit), so it is worth nothing elsewhere, and it expires
// (api-v1.md, Common rules 4).
package cursor

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"strings"
	"time"

	"github.com/waymarkhq/waymark/internal/clock"
)

// Lifetime of a cursor.
const Lifetime = 15 * time.Minute

// ErrInvalid covers every cursor that was altered, expired or made for
// another list: the client learns no more than that.
var ErrInvalid = errors.New("the cursor is invalid, expired or belongs to another list")

// Position is the last row that was returned: lists order by instant, then id. A list
// that orders by another number has that number as At.
type Position struct {
	At clock.Instant
	ID string
}

// Signer signs with a key that all processes of an installation share.
type Signer struct{ key []byte }

// NewSigner returns a Signer with the given secret key.
func NewSigner(key []byte) *Signer { return &Signer{key} }

const macBytes = 16

// Sign returns the text of a cursor that continues after p.
func (s *Signer) Sign(p Position, binding string, now clock.Instant) string {
	b := make([]byte, 0, 16+len(p.ID)+macBytes)
	b = binary.BigEndian.AppendUint64(b, uint64(now.Add(Lifetime)))
	b = binary.BigEndian.AppendUint64(b, uint64(p.At))
	b = append(b, p.ID...)
	return base64.RawURLEncoding.EncodeToString(append(b, s.mac(b, binding)...))
}

// Open returns the position in a cursor made by Sign with the same binding.
func (s *Signer) Open(text, binding string, now clock.Instant) (Position, error) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(text)
	// The decoder skips line breaks, which no cursor of ours has.
	if err != nil || strings.ContainsAny(text, "\r\n") || len(b) < 16+macBytes {
		return Position{}, ErrInvalid
	}
	payload, mac := b[:len(b)-macBytes], b[len(b)-macBytes:]
	if !hmac.Equal(mac, s.mac(payload, binding)) || now > clock.Instant(binary.BigEndian.Uint64(payload)) {
		return Position{}, ErrInvalid
	}
	return Position{At: clock.Instant(binary.BigEndian.Uint64(payload[8:])), ID: string(payload[16:])}, nil
}

func (s *Signer) mac(payload []byte, binding string) []byte {
	h := hmac.New(sha256.New, s.key)
	h.Write(payload)
	h.Write([]byte{0})
	h.Write([]byte(binding))
	return h.Sum(nil)[:macBytes]
}
