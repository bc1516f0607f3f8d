package main

import (
	"cmp"
	"fmt"
	"net/netip"

	"github.com/waymarkhq/waymark/internal/domain"
	"github.com/waymarkhq/waymark/internal/weburl"
)

// hostnames are the flags that name the hostnames of an installation.
type hostnames struct {
	PlatformZone     string   `help:"DNS zone below which apps get domains without setup: <prefix>.<zone>." placeholder:"ZONE"`
	ReservedPrefixes []string `help:"Further prefixes that no app can have below the platform zone, besides www, api, login and the like." placeholder:"PREFIX"`
	ConnectCNAME     string   `name:"connect-cname" help:"Hostname that owners' hostnames lead to by CNAME." placeholder:"HOST"`
	ConnectIPs       []string `name:"connect-ips" help:"Public addresses of the redirector, which an owner's apex hostname leads to." placeholder:"IP"`
	DomainsPerApp    int64    `default:"100" help:"How many domains an app may have; default: ${default}." placeholder:"N"`
	AssetsHost       string   `help:"Hostname at which the redirector serves images; default: assets.<platform zone>." placeholder:"HOST"`

	connectIPs []netip.Addr
}

// check completes the flags; dev tells of development mode.
func (h *hostnames) check(dev bool) error {
	if dev {
		h.PlatformZone = cmp.Or(h.PlatformZone, "localhost")
		h.ConnectCNAME = cmp.Or(h.ConnectCNAME, "connect.localhost")
	}
	if h.PlatformZone != "" {
		zone, ok := weburl.Hostname(h.PlatformZone)
		if !ok {
			return fmt.Errorf("--platform-zone %q is not a hostname", h.PlatformZone)
		}
		h.PlatformZone = zone
	}
	if h.AssetsHost == "" && h.PlatformZone != "" {
		h.AssetsHost = "assets." + h.PlatformZone
	}
	if h.AssetsHost != "" {
		host, ok := weburl.Hostname(h.AssetsHost)
		if !ok {
			return fmt.Errorf("--assets-host %q is not a hostname", h.AssetsHost)
		}
		h.AssetsHost = host
	}
	if h.DomainsPerApp < 1 {
		return fmt.Errorf("--domains-per-app %d must be 1 or more", h.DomainsPerApp)
	}
	for _, text := range h.ConnectIPs {
		address, err := netip.ParseAddr(text)
		if err != nil || address.Zone() != "" || address.IsUnspecified() {
			return fmt.Errorf("--connect-ips %q is not an IP address such as 203.0.113.5", text)
		}
		h.connectIPs = append(h.connectIPs, address.Unmap())
	}
	if h.ConnectCNAME != "" {
		host, ok := weburl.Hostname(h.ConnectCNAME)
		if !ok {
			return fmt.Errorf("--connect-cname %q is not a hostname", h.ConnectCNAME)
		}
		h.ConnectCNAME = host
	}
	return nil
}

// domains returns the options of domains that the flags describe.
func (h *hostnames) domains() domain.Options {
	return domain.Options{PlatformZone: h.PlatformZone, ReservedPrefixes: h.ReservedPrefixes, PerApp: h.DomainsPerApp,
		Connection: domain.Connection{CNAME: h.ConnectCNAME, Addresses: h.connectIPs}}
}
