// Package webhooks verifies what Waymark sends.
package webhooks

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// tolerance is how far the clocks may be apart, and how old a copy may be.
const tolerance = 300 * time.Second

var digits = regexp.MustCompile(`^[0-9]{10,12}$`)

// Verify reports whether header, the Service-Signature of a request, signs its
// raw body with secret. During a rotation try the old and the new secret.
func Verify(secret, header string, body []byte, now time.Time) bool {
	parts := strings.Split(header, ",")
	timestamp, ok := strings.CutPrefix(parts[0], "t=")
	if !ok || !digits.MatchString(timestamp) {
		return false
	}
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil || now.Sub(time.Unix(seconds, 0)).Abs() > tolerance {
		return false
	}
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(timestamp + "."))
	mac.Write(body)
	want := mac.Sum(nil)
	for _, part := range parts[1:] {
		text, ok := strings.CutPrefix(part, "v1=")
		sum, err := hex.DecodeString(text)
		if ok && err == nil && hmac.Equal(sum, want) { // in constant time
			return true
		}
	}
	return false
}
