package main

import (
	"context"
	"os"
	"text/template"
	"time"

	"github.com/google/uuid"

	"github.com/waymarkhq/waymark/internal/actor"
	"github.com/waymarkhq/waymark/internal/store"
)

// devOwner is the owner that development mode makes.
const devOwner = "owner@localhost"

var welcomeText = template.Must(template.New("welcome").Parse(`
Waymark runs in development mode.

  API         {{.API}}/v1
  Reference   {{.API}}/docs
  Links       http://<prefix>.{{.Zone}}:{{.Port}}/<slug>

Paste these lines into another terminal: an app, a domain, a link, its QR code (hello.png), a visit, and its count.

API={{.API}}/v1
TOKEN={{.Token}}
call() { curl -sS -H "Authorization: Bearer $TOKEN" -H "Content-Type: application/json" "$@"; echo; }
APP=$(call $API/apps -H "Idempotency-Key: {{.Key1}}" -d '{"name":"My first app"}' | grep -o 'app_[a-z0-9]*' | head -1)
call $API/domains -H "Idempotency-Key: {{.Key2}}" -d '{"appId":"'$APP'","mode":"platform","prefix":"{{.Prefix}}"}'
LINK=$(call $API/links -H "Idempotency-Key: {{.Key3}}" -d '{"appId":"'$APP'","domain":"{{.Prefix}}.{{.Zone}}","slug":"hello","desktopUrl":"https://example.com/"}' | tee /dev/stderr | grep -o '"id":"[^"]*' | head -1 | cut -c7-)
call "$API/links/$LINK/qr" -o hello.png
sleep 1; curl -i http://{{.Prefix}}.{{.Zone}}:{{.Port}}/hello
sleep 1; call "$API/analytics/summary?appId=$APP&start={{.Start}}&end={{.End}}" | grep -o '"totals":{[^}]*}'

`))

// welcome prints an owner token and requests that work when pasted. Their
// idempotency keys are new at each start, so pasting them twice does nothing
// twice.
func (p *process) welcome(ctx context.Context) error {
	token, err := actor.IssueSession(ctx, p.db, p.DataDir, devOwner)
	if err != nil {
		return err
	}
	prefix := "demo"
	taken, err := store.Exists(ctx, p.db, "SELECT 1 FROM domain WHERE hostname = ? AND NOT detached", prefix+"."+p.PlatformZone)
	if err != nil {
		return err
	}
	if taken { // an earlier start's lines were pasted
		prefix += "-" + uuid.NewString()[:4]
	}
	return welcomeText.Execute(os.Stdout, map[string]string{
		"API": p.apiURL, "Zone": p.PlatformZone, "Port": p.addresses.Port[1:],
		"Token": token, "Prefix": prefix,
		"Start": p.db.Now().Add(-24 * time.Hour).String(), "End": p.db.Now().Add(24 * time.Hour).String(),
		"Key1": uuid.NewString(), "Key2": uuid.NewString(), "Key3": uuid.NewString(),
	})
}
