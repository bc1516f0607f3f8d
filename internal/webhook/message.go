package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strconv"

	"github.com/go-json-experiment/json"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/outbox"
)

// payload is what a receiver gets of an event. It tells which resource changed,
// not how: the receiver reads that through the API, with its own permissions.
type payload struct {
	ID            string        `json:"id"`
	Type          outbox.Type   `json:"type"`
	SchemaVersion string        `json:"schemaVersion"`
	AppID         string        `json:"appId"`
	OccurredAt    clock.Instant `json:"occurredAt"`
	Test          bool          `json:"test"`
	Resource      resource      `json:"resource"`
}

type resource struct {
	ID       string `json:"id"`
	Revision string `json:"revision"`
}

// message is the request of an attempt.
type message struct {
	header http.Header
	body   []byte
}

// message returns the request for an attempt at an instant. Each attempt is
// signed anew, as receivers refuse an old timestamp.
func (w *Webhook) message(c *claimed, now clock.Instant) (message, error) {
	e := c.event
	body, err := json.Marshal(payload{
		ID: e.ID, Type: e.Type, SchemaVersion: "1", AppID: e.AppID, OccurredAt: e.OccurredAt, Test: e.Type == outbox.Test,
		Resource: resource{ID: e.ResourceID, Revision: e.Revision},
	})
	return message{body: body, header: http.Header{
		"Content-Type":        {"application/json; charset=utf-8"},
		"Service-Event-Id":    {e.ID},
		"Service-Delivery-Id": {c.id},
		"Service-Signature":   {w.signature(now, body)},
	}}, err
}

// signature returns the Service-Signature header of a body.
func (w *Webhook) signature(now clock.Instant, body []byte) string {
	seconds := strconv.FormatInt(now.Unix(), 10)
	text := "t=" + seconds + ",v1=" + sign(w.secret, seconds, body)
	if w.previousUntil != nil && *w.previousUntil > now {
		text += ",v1=" + sign(*w.previousSecret, seconds, body)
	}
	return text
}

func sign(secret, seconds string, body []byte) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(seconds + "."))
	mac.Write(body)
	return hex.EncodeToString(mac.Sum(nil))
}
