// Package ids makes the identifiers that clients see: time-ordered UUIDs for
// resources and revisions, ULID-like app ids, and request ids.
package ids

import (
	"crypto/rand"
	"encoding/base32"
	"encoding/binary"
	"encoding/hex"
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
	rand.Read(b[:])
	return "req_" + hex.EncodeToString(b[:])
}

var crockford = base32.NewEncoding("0123456789abcdefghjkmnpqrstvwxyz").WithPadding(base32.NoPadding)

// App returns an app id: "app_" and a ULID of 26 lower-case base32
// characters.
func App() string {
	var b [17]byte
	binary.BigEndian.PutUint64(b[:8], uint64(time.Now().UnixMilli())<<16)
	copy(b[1:7], b[:6])
	b[0] = 0
	rand.Read(b[7:])
	// 17 bytes with a leading zero byte encode to 28 characters; a ULID is
	// the 26 that stand for its 128 bits.
	s := crockford.EncodeToString(b[:])
	return "app_" + s[1:27]
}

var uuidText = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)

// IsUUID reports whether s is a UUID in its lower-case textual form.
func IsUUID(s string) bool { return uuidText.MatchString(s) }

// IsUUIDv4 reports whether s is a random (version 4) UUID, in any letter case.
func IsUUIDv4(s string) bool {
	s = strings.ToLower(s)
	return IsUUID(s) && s[14] == '4' && strings.IndexByte("89ab", s[19]) >= 0
}
