package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"reflect"
	"strconv"

	"github.com/go-json-experiment/json"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/delivery"
	"github.com/waymarkhq/waymark/internal/op"
)

// Event is what a receiver gets. It says which resource changed, not how: the
// receiver reads the change through the API, with its own permissions.
type Event struct {
	ID            string        `json:"id" format:"uuid" doc:"The id of the event, also in Service-Event-Id: deduplicate by it."`
	Type          delivery.Type `json:"type"`
	SchemaVersion string        `json:"schemaVersion" enum:"1"`
	AppID         string        `json:"appId"`
	OccurredAt    clock.Instant `json:"occurredAt" format:"date-time"`
	Test          bool          `json:"test" doc:"true only for webhook.test."`
	Resource      EventResource `json:"resource"`
}

// SchemaName implements schema.Named.
func (Event) SchemaName() string { return "WebhookEvent" }

// EventResource names what an event is about.
type EventResource struct {
	ID       string `json:"id"`
	Revision string `json:"revision" format:"uuid" doc:"The revision of the resource; of a deleted one, its last."`
}

// SchemaName implements schema.Named.
func (EventResource) SchemaName() string { return "WebhookEventResource" }

// describe adds the requests that receivers get to the contract.
func describe(p *op.Pipeline) {
	for _, t := range delivery.Types() {
		p.Describe(op.Outgoing{Name: string(t), Summary: "Receive the event " + string(t),
			Payload: reflect.TypeFor[Event](), Headers: map[string]string{
				"Service-Event-Id":    "The same in every delivery of the event.",
				"Service-Delivery-Id": "The same in every attempt of the delivery.",
				"Service-Signature": "t=<unix seconds>,v1=<hex>: HMAC-SHA256 of the timestamp, a dot and the raw " +
					"body under the secret; two v1 values while a secret is rotated.",
			}})
	}
}

// message is the request of an attempt.
type message struct {
	header http.Header
	body   []byte
}

// message returns the request for an attempt at an instant. Each attempt is
// signed anew, as receivers refuse an old timestamp.
func (w *Webhook) message(c *claimed, now clock.Instant) (message, error) {
	e := c.Event
	body, err := json.Marshal(Event{
		ID: e.ID, Type: e.Type, SchemaVersion: "1", AppID: e.AppID, OccurredAt: e.OccurredAt,
		Test:     e.Type == delivery.Test,
		Resource: EventResource{ID: e.ResourceID, Revision: e.Revision},
	})
	return message{body: body, header: http.Header{
		"Content-Type":        {"application/json; charset=utf-8"},
		"Service-Event-Id":    {e.ID},
		"Service-Delivery-Id": {c.ID},
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
