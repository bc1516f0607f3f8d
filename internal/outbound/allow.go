package outbound

import (
	"crypto/x509"
	"fmt"
	"net/netip"
	"os"
	"strings"

	"github.com/waymarkhq/waymark/internal/weburl"
)

// ParseAllow reads pairs host=ip:port for Options.Allow.
func ParseAllow(pairs []string) (map[string]netip.AddrPort, error) {
	allow := map[string]netip.AddrPort{}
	for _, pair := range pairs {
		name, address, ok := strings.Cut(pair, "=")
		if !ok {
			return nil, fmt.Errorf("%q is not host=ip:port", pair)
		}
		host, ok := weburl.Hostname(name)
		if !ok {
			return nil, fmt.Errorf("%q: %q is not a hostname", pair, name)
		}
		target, err := netip.ParseAddrPort(address)
		if err != nil || target.Port() == 0 {
			return nil, fmt.Errorf("%q: %q is not ip:port", pair, address)
		}
		if _, twice := allow[host]; twice {
			return nil, fmt.Errorf("%q: %s is there twice", pair, host)
		}
		allow[host] = target
	}
	return allow, nil
}

// LoadCA reads the certificates of a PEM file for Options.CA.
func LoadCA(path string) (*x509.CertPool, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("%s: no PEM certificate in it", path)
	}
	return pool, nil
}
