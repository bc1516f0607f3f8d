package client_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/waymarkhq/waymark/client"
)

const (
	secret = "whsec_4Kb1Zs6Vn3Hy8Lc5Wp0Ga7Qm2xR9dTf0uE3iO6pA1sD"
	body   = `{"id":"0198c9a3","type":"link.updated","schemaVersion":"1","appId":"app_1","occurredAt":"2026-11-20T12:00:00.000Z","test":false,` +
		`"resource":{"id":"go.example.com:0198","revision":"f3b1"}}`
)

var sentAt = time.Unix(1795176000, 0)

// sum returns the v1 of a body that is sent at a time.
func sum(secret, body string, at time.Time) string {
	mac := hmac.New(sha256.New, []byte(secret))
	fmt.Fprintf(mac, "%d.%s", at.Unix(), body)
	return "v1=" + hex.EncodeToString(mac.Sum(nil))
}

// signed returns the headers of a request.
func signed(values ...string) http.Header {
	return http.Header{"Service-Signature": values}
}

// at returns a receiver whose clock shows a time.
func at(now time.Time, secrets ...string) *client.Receiver {
	return &client.Receiver{Secrets: secrets, Now: func() time.Time { return now }}
}

// A request that one of the secrets signed is an event, and no other is.
func TestVerify(t *testing.T) {
	const timestamp = "t=1795176000,"
	v1 := sum(secret, body, sentAt)
	long := timestamp + v1 + ",v2=" + strings.Repeat("x", 1000-len(timestamp+v1+",v2="))
	for name, c := range map[string]struct {
		receiver *client.Receiver
		body     string
		header   http.Header
		want     string // "" for an event
	}{
		"good":                         {at(sentAt, secret), body, signed(timestamp + v1), ""},
		"the old of two secrets":       {at(sentAt, "whsec_new", secret), body, signed(timestamp + v1), ""},
		"the second of two signatures": {at(sentAt, secret), body, signed(timestamp + sum("whsec_new", body, sentAt) + "," + v1), ""},
		"unknown schemes":              {at(sentAt, secret), body, signed(timestamp + "v0=00," + v1 + ",v2=xyz"), ""},
		"300 s late":                   {at(sentAt.Add(300*time.Second), secret), body, signed(timestamp + v1), ""},
		"300 s early":                  {at(sentAt.Add(-300*time.Second), secret), body, signed(timestamp + v1), ""},
		"over 300 s late":              {at(sentAt.Add(300*time.Second+1), secret), body, signed(timestamp + v1), "too old"},
		"over 300 s early":             {at(sentAt.Add(-300*time.Second-1), secret), body, signed(timestamp + v1), "too old"},
		"1000 bytes of a header":       {at(sentAt, secret), body, signed(long), ""},
		"1001 bytes of a header":       {at(sentAt, secret), body, signed(long + "x"), "one header"},
		"body changed":                 {at(sentAt, secret), strings.Replace(body, "false", "true", 1), signed(timestamp + v1), "no secret fits"},
		"another secret":               {at(sentAt, "whsec_new"), body, signed(timestamp + v1), "no secret fits"},
		"a secret without its prefix":  {at(sentAt, strings.TrimPrefix(secret, "whsec_")), body, signed(timestamp + v1), "no secret fits"},
		"no secret":                    {at(sentAt), body, signed(timestamp + v1), "no secret fits"},
		"another time":                 {at(sentAt, secret), body, signed("t=1795176001," + v1), "no secret fits"},
		"no signature":                 {at(sentAt, secret), body, signed(timestamp), "no secret fits"},
		"another scheme":               {at(sentAt, secret), body, signed(timestamp + strings.Replace(v1, "v1", "v0", 1)), "no secret fits"},
		"half a signature":             {at(sentAt, secret), body, signed(timestamp + v1[:len(v1)-2]), "no secret fits"},
		"no time":                      {at(sentAt, secret), body, signed(v1), "another form"},
		"a time after something else":  {at(sentAt, secret), body, signed("x" + timestamp + v1), "another form"},
		"a time of 9 digits":           {at(sentAt, secret), body, signed("t=179517600," + v1), "another form"},
		"a time of 13 digits":          {at(sentAt, secret), body, signed("t=1795176000000," + v1), "another form"},
		"a time of 12 digits":          {at(sentAt, secret), body, signed("t=179517600000," + v1), "too old"},
		"no header":                    {at(sentAt, secret), body, http.Header{}, "one header"},
		"two headers":                  {at(sentAt, secret), body, signed(timestamp+v1, timestamp+v1), "one header"},
	} {
		e, err := c.receiver.Verify([]byte(c.body), c.header)
		if c.want == "" {
			if err != nil || e.ID != "0198c9a3" || e.Type != "link.updated" || e.Resource.ID != "go.example.com:0198" || e.OccurredAt.Hour() != 12 {
				t.Errorf("%s: %+v, %v", name, e, err)
			}
			continue
		}
		var refused *client.SignatureError
		if !errors.As(err, &refused) || !strings.Contains(err.Error(), c.want) || e != nil {
			t.Errorf("%s: %+v, %v", name, e, err)
		}
	}
}

// The tolerance can be set, and holds both ways; without a clock the system's is asked.
func TestTolerance(t *testing.T) {
	header := signed("t=1795176000," + sum(secret, body, sentAt))
	for apart, ok := range map[time.Duration]bool{10 * time.Second: true, -10 * time.Second: true, 10*time.Second + 1: false, -10*time.Second - 1: false} {
		r := at(sentAt.Add(apart), secret)
		r.Tolerance = 10 * time.Second
		if _, err := r.Verify([]byte(body), header); (err == nil) != ok {
			t.Errorf("%s apart: %v", apart, err)
		}
	}
	now := time.Now()
	r := &client.Receiver{Secrets: []string{secret}}
	if _, err := r.Verify([]byte(body), signed(fmt.Sprintf("t=%d,%s", now.Unix(), sum(secret, body, now)))); err != nil {
		t.Error(err)
	}
}

// Whoever knows that a secret is empty could sign, so that it is a mistake of the program.
func TestEmptySecret(t *testing.T) {
	var refused *client.SignatureError
	_, err := at(sentAt, "").Verify([]byte(body), signed("t=1795176000,"+sum("", body, sentAt)))
	if err == nil || errors.As(err, &refused) {
		t.Errorf("an empty secret: %v", err)
	}
	// What is signed is from Waymark; that it can be read is another matter.
	if _, err := at(sentAt, secret).Verify([]byte("{"), signed("t=1795176000,"+sum(secret, "{", sentAt))); err == nil || errors.As(err, &refused) {
		t.Errorf("no JSON: %v", err)
	}
}

// Nothing is verified that the secret did not sign at the time in the header.
func FuzzVerify(f *testing.F) {
	good := "t=1795176000," + sum(secret, body, sentAt)
	f.Add(good, body)
	f.Add(good+","+good, body)
	f.Add("t=1795176000,v1=", "")
	f.Add("t=,v1=00,t=1795176000", body)
	f.Fuzz(func(t *testing.T, header, sent string) {
		if _, err := at(sentAt, secret).Verify([]byte(sent), signed(header)); err != nil {
			return
		}
		var seconds int64
		if _, err := fmt.Sscanf(header, "t=%d,", &seconds); err != nil {
			t.Fatalf("%q has no time: %v", header, err)
		}
		if !strings.Contains(strings.ToLower(header), sum(secret, sent, time.Unix(seconds, 0))) {
			t.Errorf("%q signs %q", header, sent)
		}
	})
}
