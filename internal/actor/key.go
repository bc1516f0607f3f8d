package actor

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"hash/crc32"
	"strings"
)

// Environment decides which keys an installation issues and accepts.
type Environment string

// The environments of the contract.
const (
	Production Environment = "production"
	Staging    Environment = "staging"
)

// keyTextPrefix starts every key.
const keyTextPrefix = "svc_"

// keyPrefix starts every key of the environment.
func (e Environment) keyPrefix() string {
	if e == Production {
		return keyTextPrefix + "live_"
	}
	return keyTextPrefix + "test_"
}

// other is the environment whose keys this one does not accept.
func (e Environment) other() Environment {
	if e == Production {
		return Staging
	}
	return Production
}

const (
	base62        = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	randomChars   = 32
	checksumChars = 6
	// shownChars of a key are its non-secret prefix.
	shownChars    = 13
	keyCredential = "key:"
)

// NewKey makes the text of a key, which is shown once, and what is kept of it:
// its non-secret prefix and its digest (completions.md §2).
func NewKey(e Environment) (text, prefix, digest string) {
	random := make([]byte, 0, randomChars)
	for len(random) < randomChars {
		var b [64]byte
		rand.Read(b[:])
		for _, c := range b {
			// 248 is the largest multiple of 62 below 256: no character is
			// likelier than another.
			if c < 248 && len(random) < randomChars {
				random = append(random, base62[c%62])
			}
		}
	}
	text = e.keyPrefix() + string(random)
	text += checksum(text)
	return text, text[:shownChars], Digest(text)
}

// Digest is the stored form of a secret: SHA-256 in hexadecimal. Keys carry
// 190 random bits, so a slow hash would protect nothing more.
func Digest(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

// wellFormed reports whether text can be a key of the environment at all, so
// that random guesses and typing errors never reach the database.
func (e Environment) wellFormed(text string) bool {
	body, ok := strings.CutPrefix(text, e.keyPrefix())
	if !ok || len(body) != randomChars+checksumChars {
		return false
	}
	split := len(text) - checksumChars
	return text[split:] == checksum(text[:split])
}

// checksum is the CRC-32 of text in six base62 characters.
func checksum(text string) string {
	sum := crc32.ChecksumIEEE([]byte(text))
	out := make([]byte, checksumChars)
	for i := checksumChars - 1; i >= 0; i-- {
		out[i] = base62[sum%62]
		sum /= 62
	}
	return string(out)
}
