package main

import (
	"context"
	"fmt"
	"os"
	"text/template"
	"time"

	"github.com/google/uuid"

	"github.com/waymarkhq/waymark/internal/actor"
	"github.com/waymarkhq/waymark/internal/domain"
)

// devOwner is the owner that development mode makes, and the first one of an installation
// unless the operator names another.
const devOwner = "owner@localhost"

var welcomeText = template.Must(template.New("welcome").Parse(`
Waymark runs in development mode.

  API         {{.API}}/v1
  Docs        {{.API}}/docs/
  Dashboard   {{.Dashboard}}
  Links       http://<prefix>.{{.Zone}}:{{.Port}}/<slug>

The address of the dashboard signs you in, once and within ten minutes; waymark session issue --link makes others.

Paste these lines into another terminal: an app, a domain, a link, its QR code (hello.png), a visit, and its count.
The examples in docs go on from there.

API={{.API}}/v1
TOKEN={{.Token}}
uuid() { od -An -N16 -tx1 /dev/urandom | tr -d ' \n' | sed 's/\(.\{8\}\)\(.\{4\}\).\(.\{3\}\).\(.\{3\}\)/\1-\2-4\3-8\4-/'; }
call() { curl -sS -w '\n' -H "Authorization: Bearer $TOKEN" -H "Idempotency-Key: ${INTENT:-$(uuid)}" "$@" -H "Content-Type: application/json"; }
field() { tee -a /dev/stderr | tr '{,}' '\n\n\n' | sed -n 's/^"'$1'":"\{0,1\}\([^"]*\).*/\1/p' | head -n 1; }
APP=$(INTENT={{.Key1}} call $API/apps -d '{"name":"My first app"}' | field id)
DOMAIN={{.Prefix}}.{{.Zone}}
(INTENT={{.Key2}} call $API/domains -d '{"appId":"'$APP'","mode":"platform","prefix":"{{.Prefix}}"}')
LINK=$(INTENT={{.Key3}} call $API/links -d '{"appId":"'$APP'","domain":"'$DOMAIN'","slug":"hello","desktopUrl":"https://example.com/"}' | field id)
call $API/links/$LINK/qr -o hello.png
for n in 1 2 3 4 5; do call $API/links/$LINK | grep -q '"status":"synced"' && break; sleep 1; done
curl -si http://$DOMAIN:{{.Port}}/hello
for n in 1 2 3 4 5; do call "$API/analytics/summary?appId=$APP&start={{.Start}}&end={{.End}}" | grep -o '"clicks":[1-9][0-9]*' && break; sleep 1; done

`))

// firstText is for an installation that nobody has signed in to.
const firstText = `
Nobody is an owner yet. This address signs in the first one, once and within ten minutes:

  %s

waymark session issue --link makes others.

`

// welcome prints what who has just started the program does next, where that is known.
func (p *process) welcome(ctx context.Context) error {
	if p.Dev {
		return p.welcomeDev(ctx)
	}
	if p.OIDCIssuer != "" { // that is where people sign in
		return nil
	}
	some, err := actor.AnyOwner(ctx, p.db)
	if err != nil || some {
		return err
	}
	code, err := actor.IssueLink(ctx, p.db, devOwner)
	if err != nil {
		return err
	}
	_, err = fmt.Printf(firstText, signInAt(p.siteURL, code))
	return err
}

// welcomeDev prints an owner token and requests that work when pasted. Their
// idempotency keys are new at each start, so pasting them twice does nothing
// twice. The examples of docs repeat the shell functions and go on with the
// variables; test/docs runs all of it.
func (p *process) welcomeDev(ctx context.Context) error {
	code, err := actor.IssueLink(ctx, p.db, devOwner)
	if err != nil {
		return err
	}
	token, err := actor.IssueSession(ctx, p.db, p.DataDir, devOwner)
	if err != nil {
		return err
	}
	prefix := "demo"
	taken, err := domain.Held(ctx, p.db, prefix+"."+p.PlatformZone)
	if err != nil {
		return err
	}
	if len(taken) > 0 { // an earlier start's lines were pasted
		prefix += "-" + uuid.NewString()[:4]
	}
	return welcomeText.Execute(os.Stdout, map[string]string{
		"API": p.apiURL, "Dashboard": signInAt(p.siteURL, code), "Zone": p.PlatformZone, "Port": p.addresses.Port[1:],
		"Token": token, "Prefix": prefix,
		"Start": p.db.Now().Add(-24 * time.Hour).String(), "End": p.db.Now().Add(24 * time.Hour).String(),
		"Key1": uuid.NewString(), "Key2": uuid.NewString(), "Key3": uuid.NewString(),
	})
}
