package main

import (
	"cmp"
	"fmt"

	"github.com/waymarkhq/waymark/internal/weburl"
)

// hostnames are the flags that name the hostnames of an installation.
type hostnames struct {
	PlatformZone string `help:"DNS zone below which apps get domains without setup: <prefix>.<zone>." placeholder:"ZONE"`
	AssetsHost   string `help:"Hostname at which the redirector serves images; default: assets.<platform zone>." placeholder:"HOST"`
}

// check completes the flags; dev tells of development mode.
func (h *hostnames) check(dev bool) error {
	if dev {
		h.PlatformZone = cmp.Or(h.PlatformZone, "localhost")
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
	return nil
}
