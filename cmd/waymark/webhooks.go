package main

import (
	"errors"
	"fmt"
	"net"

	"github.com/waymarkhq/waymark/internal/outbound"
)

// webhooks are the flags of the commands that reach destinations of webhooks.
type webhooks struct {
	DNSResolver  string   `name:"dns-resolver" help:"DNS server that resolves the hosts of webhooks; default: the resolver of the system." placeholder:"HOST:PORT"`
	WebhookAllow []string `help:"Host that webhooks may reach at this address although it is not public; repeatable." placeholder:"HOST=IP:PORT"`
	WebhookCA    string   `name:"webhook-ca" help:"PEM file of the certificate authorities of those hosts; default: those of the system." placeholder:"FILE"`
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
