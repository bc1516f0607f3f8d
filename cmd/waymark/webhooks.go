package main

import (
	"errors"
	"fmt"

	"github.com/waymarkhq/waymark/internal/outbound"
)

// webhooks are the flags of the commands that reach destinations of webhooks.
type webhooks struct {
	WebhookAllow []string `help:"Host that webhooks may reach at this address although it is not public; repeatable." placeholder:"HOST=IP:PORT"`
	WebhookCA    string   `name:"webhook-ca" help:"PEM file of the certificate authorities of those hosts; default: those of the system." placeholder:"FILE"`
}

// client returns the client that the flags describe, which asks a resolver for the
// addresses of hosts.
func (w *webhooks) client(resolver string) (_ *outbound.Client, err error) {
	o := outbound.Options{Resolver: resolver}
	if o.Allow, err = outbound.ParseAllow(w.WebhookAllow); err != nil {
		return nil, fmt.Errorf("--webhook-allow: %w", err)
	}
	if w.WebhookCA != "" {
		if len(o.Allow) == 0 {
			return nil, errors.New("--webhook-ca needs --webhook-allow")
		}
		if o.CA, err = outbound.LoadCA(w.WebhookCA); err != nil {
			return nil, fmt.Errorf("--webhook-ca: %w", err)
		}
	}
	return outbound.New(o), nil
}
