package cli

import (
	"cmp"
	"fmt"
	"os"
	"time"

	"github.com/waymarkhq/waymark/client"
)

// target are the flags that say which server a command calls, and as whom.
type target struct {
	Context string `env:"WAYMARK_CONTEXT" help:"Context to use instead of the current one." placeholder:"NAME"`
	Server  string `env:"WAYMARK_SERVER" help:"Address of a server, with a credential in WAYMARK_TOKEN, instead of a context." placeholder:"URL"`
}

// tokenVariable holds a credential. There is no flag for it: others see the command lines of a machine.
const tokenVariable = "WAYMARK_TOKEN"

// TokenSetting is the name of that variable as a setting.
const TokenSetting = "token"

// place returns what the flags, the environment and the contexts say.
func (t *target) place() (place, error) {
	token := os.Getenv(tokenVariable)
	if t.Server != "" {
		if t.Context != "" {
			return place{}, usage("a server and a context are given: leave out --context and WAYMARK_CONTEXT, or --server and WAYMARK_SERVER")
		}
		if token == "" {
			return place{}, fmt.Errorf("%s is needed for the server %s: the credential of a context is sent to its own server alone",
				tokenVariable, t.Server)
		}
		return place{Server: t.Server, Token: token}, nil
	}
	all, err := loadContexts()
	if err != nil {
		return place{}, err
	}
	p, err := all.find(t.Context)
	if token != "" {
		p.Token = token
	}
	return p, err
}

// open returns a client of the server, and the place that it is for.
func (t *target) open() (*client.Client, place, error) {
	p, err := t.place()
	if err != nil {
		return nil, p, err
	}
	c, err := newClient(p)
	return c, p, err
}

func newClient(p place) (*client.Client, error) {
	c := &client.Client{Server: p.Server, Token: p.Token, Agent: "waymark", Waiting: tellPause}
	if err := c.Check(); err != nil {
		return nil, usage(err.Error())
	}
	return c, nil
}

// tellPause tells a person why nothing happens.
func tellPause(pause time.Duration, reason error) {
	if pause >= time.Second {
		tell("waymark: waiting %s: %v", pause.Round(time.Second), reason)
	}
}

// named names the app in the refusal of a call that concerns nothing else.
func (p *place) named(err error) error {
	if refusedWith(err, "not_found") {
		return fmt.Errorf("there is no app %q that the credential reaches (waymark api getApps lists the apps): %w", p.App, err)
	}
	return err
}

// ofApp are the flags of commands that concern an app.
type ofApp struct {
	target
	App string `env:"WAYMARK_APP" help:"App that the command concerns; default: the app of the context." placeholder:"ID"`
}

// open returns a client, the place that it is for, and the app.
func (o *ofApp) open() (*client.Client, place, error) {
	c, p, err := o.target.open()
	if err != nil {
		return c, p, err
	}
	if p.App = cmp.Or(o.App, p.App); p.App == "" {
		return c, p, usage("which app is not known: give --app, or run waymark context set --app ID (waymark api getApps lists the apps)")
	}
	return c, p, nil
}
