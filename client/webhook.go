package client

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

const (
	// standardTolerance is Receiver.Tolerance unless it is set.
	standardTolerance = 5 * time.Minute
	// maxSignature bounds the header, in bytes: a longer one is not from Waymark, and costs no work.
	maxSignature = 1000
)

// Receiver verifies the requests of webhooks.
type Receiver struct {
	// Secrets are the signing secrets, of which one must fit: two while one is being rotated.
	Secrets []string
	// Tolerance is how far the clocks may be apart, and how old a copy may be. 0 means 5 minutes.
	Tolerance time.Duration
	// Now returns what time it is; nil: time.Now.
	Now func() time.Time
}

// Event is what a webhook tells: which resource changed, and how. Ignore types that you do not know.
type Event struct {
	// ID is the same in every delivery of the event: deduplicate by it.
	ID            string    `json:"id"`
	Type          string    `json:"type"`
	SchemaVersion string    `json:"schemaVersion"`
	AppID         string    `json:"appId"`
	OccurredAt    time.Time `json:"occurredAt"`
	// Test is true only for webhook.test.
	Test     bool `json:"test"`
	Resource struct {
		ID       string `json:"id"`
		Revision string `json:"revision"`
	} `json:"resource"`
}

// SignatureError tells why a request is not taken for one of Waymark.
type SignatureError struct{ reason string }

// Error returns the reason.
func (e *SignatureError) Error() string { return "the webhook is refused: " + e.reason }

var signatureTime = regexp.MustCompile(`^t=([0-9]{10,12})$`)

// Verify returns the event in a request, whose body is as it came and not parsed. The error is a
// *SignatureError unless one of the secrets signed it.
func (r *Receiver) Verify(body []byte, header http.Header) (*Event, error) {
	values := header.Values("Service-Signature")
	if len(values) != 1 || len(values[0]) > maxSignature {
		return nil, &SignatureError{"it does not have one header Service-Signature of Waymark"}
	}
	parts := strings.Split(values[0], ",")
	timestamp := signatureTime.FindStringSubmatch(parts[0])
	if timestamp == nil {
		return nil, &SignatureError{"the header Service-Signature has another form"}
	}
	seconds, err := strconv.ParseInt(timestamp[1], 10, 64)
	if err != nil || r.now().Sub(time.Unix(seconds, 0)).Abs() > r.tolerance() {
		return nil, &SignatureError{"the signature is too old, or the clocks are apart"}
	}
	for _, secret := range r.Secrets {
		if secret == "" {
			return nil, errors.New("a secret is empty") // whoever knows that can sign
		}
		mac := hmac.New(sha256.New, []byte(secret))
		mac.Write([]byte(timestamp[1] + "."))
		mac.Write(body)
		if signedBy(mac.Sum(nil), parts[1:]) {
			return event(body)
		}
	}
	return nil, &SignatureError{"no secret fits the signature"}
}

// signedBy compares a sum with each v1 of the header, in constant time. Schemes of later versions are
// left alone.
func signedBy(sum []byte, parts []string) bool {
	for _, part := range parts {
		text, ok := strings.CutPrefix(part, "v1=")
		given, err := hex.DecodeString(text)
		if ok && err == nil && hmac.Equal(given, sum) {
			return true
		}
	}
	return false
}

func event(body []byte) (*Event, error) {
	e := &Event{}
	if err := json.Unmarshal(body, e); err != nil {
		return nil, fmt.Errorf("read the event: %w", err)
	}
	return e, nil
}

func (r *Receiver) now() time.Time {
	if r.Now != nil {
		return r.Now()
	}
	return time.Now()
}

func (r *Receiver) tolerance() time.Duration {
	if r.Tolerance != 0 {
		return r.Tolerance
	}
	return standardTolerance
}
