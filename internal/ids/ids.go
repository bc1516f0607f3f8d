// Package ids makes the identifiers that clients see: time-ordered UUIDs for
// resources and revisions, ULID-like app ids, and request ids.
package ids

import (
	cryptorand "crypto/rand"
	"encoding/hex"
	"math/rand/v2"
	"regexp"
	"strings"
	"time"

	"github.com/google/uuid"
)

// New returns a UUIDv7. Ids made later sort later, so inserts stay at the end
// of their index and paging by id follows creation.
func New() string { return uuid.Must(uuid.NewV7()).String() }

// Revision returns a fresh strong revision (a random UUIDv4: revisions are
// compared, never ordered).
func Revision() string { return uuid.New().String() }

// Request returns a request id: "req_" and 32 hexadecimal characters.
func Request() string {
	var b [16]byte
	cryptorand.Read(b[:])
	return "req_" + hex.EncodeToString(b[:])
}

const crockford = "0123456789abcdefghjkmnpqrstvwxyz"

// App returns an app id: "app_" and a ULID of 26 lower-case base32
// characters.
func App() string {
	high := uint64(time.Now().UnixMilli())<<16 | rand.Uint64()>>48
	low := rand.Uint64()
	var text [26]byte
	for i := len(text) - 1; i >= 0; i-- {
		text[i] = crockford[low&31]
		low = low>>5 | high<<59
		high >>= 5
	}
	return "app_" + string(text[:])
}

var uuidText = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)

// IsUUID reports whether s is a UUID in its lower-case textual form.
func IsUUID(s string) bool { return uuidText.MatchString(s) }

// IsUUIDv4 reports whether s is a random (version 4) UUID, in any letter case.
func IsUUIDv4(s string) bool {
	s = strings.ToLower(s)
	return IsUUID(s) && s[14] == '4' && strings.IndexByte("89ab", s[19]) >= 0
}
