package main

import (
	"fmt"
	"net/netip"

	"github.com/waymarkhq/waymark/internal/outbound"
)

// probes are the flags that say how the verification of a domain reaches its hostname.
type probes struct {
	ProbeAddress string `help:"Address at which hostnames are probed instead of their own, for networks from which those are not reachable." placeholder:"IP:PORT"`
	ProbeCA      string `name:"probe-ca" help:"PEM file of the certificate authorities of hostnames; default: those of the system." placeholder:"FILE"`
}

// prober returns the prober that the flags describe; own are the addresses of the
// installation.
func (p *probes) prober(own []netip.Addr) (*outbound.Prober, error) {
	o := outbound.ProbeOptions{Own: own}
	if p.ProbeAddress != "" {
		var err error
		if o.Address, err = netip.ParseAddrPort(p.ProbeAddress); err != nil || o.Address.Port() == 0 {
			return nil, fmt.Errorf("--probe-address %q is not IP:PORT such as 10.0.0.5:443", p.ProbeAddress)
		}
	}
	if p.ProbeCA != "" {
		var err error
		if o.CA, err = outbound.LoadCA(p.ProbeCA); err != nil {
			return nil, fmt.Errorf("--probe-ca: %w", err)
		}
	}
	return &outbound.Prober{ProbeOptions: o}, nil
}
