package main

import (
	"fmt"
	"net"

	"github.com/waymarkhq/waymark/internal/dnslookup"
)

// dns are the flags of the commands that ask the DNS.
type dns struct {
	DNSResolver string `name:"dns-resolver" help:"DNS server that is asked about the hosts of webhooks and the hostnames of owners; default: those of the system." placeholder:"HOST:PORT"`
}

func (d *dns) check() error {
	if d.DNSResolver == "" {
		return nil
	}
	if host, port, err := net.SplitHostPort(d.DNSResolver); err != nil || host == "" || port == "" {
		return fmt.Errorf("--dns-resolver %q is not HOST:PORT", d.DNSResolver)
	}
	return nil
}

func (d *dns) resolver() *dnslookup.Resolver { return dnslookup.New(d.DNSResolver) }
