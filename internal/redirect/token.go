package redirect

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/waymarkhq/waymark/internal/clock"
)

// A recovery token tells an app, after its installation, which link led to it. It
// takes 60 characters of base64url, so that it fits the referrer of a store and a
// clipboard:
//
//	byte 0       the format, tokenFormat
//	bytes 1–4    when it expires, in seconds since 1970, big-endian
//	bytes 5–12   random: no two tokens are equal
//	bytes 13–28  the UUID in the id of the link
//	bytes 29–44  the first half of HMAC-SHA256 over the hostname and what stands before
//
// The hostname is not in the token: it is that of the request, and the rest of the
// link's id.
type token struct {
	linkID  string
	expires clock.Instant
	// digest stands for the token where it is stored.
	digest string
}

const (
	tokenFormat = 1
	signedBytes = 1 + 4 + 8 + 16
	tokenBytes  = signedBytes + sha256.Size/2
)

var tokenEncoding = base64.RawURLEncoding.Strict()

// newToken returns a token for a link of a hostname, "" for a link whose id has
// another form.
func newToken(key *[sha256.Size]byte, hostname, linkID string, expires clock.Instant) string {
	id, ok := strings.CutPrefix(linkID, hostname+":")
	link, err := uuid.Parse(id)
	if !ok || err != nil || link.String() != id {
		return ""
	}
	b := make([]byte, 0, tokenBytes)
	b = append(b, tokenFormat)
	b = binary.BigEndian.AppendUint32(b, uint32(expires.Unix()))
	var random [8]byte
	rand.Read(random[:]) // never fails
	b = append(append(b, random[:]...), link[:]...)
	return tokenEncoding.EncodeToString(append(b, tokenMAC(key, hostname, b)...))
}

// readToken reads a token that newToken made with the same key for the same hostname;
// ok is false for everything else.
func readToken(key *[sha256.Size]byte, hostname, text string) (t token, ok bool) {
	if len(text) != base64.RawURLEncoding.EncodedLen(tokenBytes) {
		return t, false
	}
	b, err := tokenEncoding.DecodeString(text)
	if err != nil || len(b) != tokenBytes || b[0] != tokenFormat ||
		!hmac.Equal(tokenMAC(key, hostname, b[:signedBytes]), b[signedBytes:]) {
		return t, false
	}
	sum := sha256.Sum256(b)
	return token{
		linkID:  hostname + ":" + uuid.UUID(b[13:29]).String(),
		expires: clock.At(time.Unix(int64(binary.BigEndian.Uint32(b[1:5])), 0)),
		digest:  hex.EncodeToString(sum[:]),
	}, true
}

// tokenMAC authenticates the signed bytes of a token. Their length is fixed, so no
// other hostname and bytes have the same input.
func tokenMAC(key *[sha256.Size]byte, hostname string, signed []byte) []byte {
	mac := hmac.New(sha256.New, key[:])
	mac.Write(signed)
	mac.Write([]byte(hostname))
	return mac.Sum(nil)[:tokenBytes-signedBytes]
}
