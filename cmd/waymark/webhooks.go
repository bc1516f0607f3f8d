package main

import (
	"context"
	"errors"
	"fmt"
	"net"

	"github.com/waymarkhq/waymark/internal/outbound"
	"github.com/waymarkhq/waymark/internal/webhook"
)

// webhooks are the flags of the commands that reach destinations of webhooks.
type webhooks struct {
	DNSResolver  string   `name:"dns-resolver" help:"DNS server that is asked for destinations of webhooks; default: the system's." placeholder:"HOST:PORT"`
	WebhookAllow []string `help:"Host that webhooks may reach at an address that is not public, and at this one only; repeatable." placeholder:"HOST=IP:PORT"`
	WebhookCA    string   `name:"webhook-ca" help:"PEM file of the authorities that certify those hosts; default: the system's." placeholder:"FILE"`
}

// client returns the client that the flags describe.
func (w *webhooks) client() (*outbound.Client, error) {
	o := outbound.Options{Resolver: w.DNSResolver}
	if host, port, err := net.SplitHostPort(o.Resolver); o.Resolver != "" && (err != nil || host == "" || port == "") {
		return nil, fmt.Errorf("--dns-resolver %q is not HOST:PORT", o.Resolver)
	}
	var err error
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

// startWebhooks runs the dispatcher.
func (p *process) startWebhooks(ctx context.Context) error {
	if len(p.WebhookAllow) > 0 {
		p.log.Warn("webhooks may reach addresses that are not public", "allowed", p.WebhookAllow)
	}
	if p.embedded() { // as with jobs
		if err := webhook.TakeOver(ctx, p.db); err != nil {
			return err
		}
	}
	p.background(webhook.New(p.db, p.outbound, p.log, p.metrics).Run)
	return nil
}
