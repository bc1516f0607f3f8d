package outbound_test

import (
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waymarkhq/waymark/internal/outbound"
)

func TestParseAllow(t *testing.T) {
	allow, err := outbound.ParseAllow([]string{"Receiver.Internal.=10.0.0.1:8443", "localhost=[::1]:443"})
	if err != nil || len(allow) != 2 || allow["receiver.internal"] != netip.MustParseAddrPort("10.0.0.1:8443") ||
		allow["localhost"] != netip.MustParseAddrPort("[::1]:443") {
		t.Errorf("ParseAllow = %v, %v", allow, err)
	}
	for pair, reason := range map[string]string{
		"":                       "not host=ip:port",
		"receiver":               "not host=ip:port",
		"=10.0.0.1:443":          "not a hostname",
		"10.0.0.1=10.0.0.1:443":  "not a hostname",
		"a b=10.0.0.1:443":       "not a hostname",
		"receiver=":              "not ip:port",
		"receiver=10.0.0.1":      "not ip:port",
		"receiver=10.0.0.1:0":    "not ip:port",
		"receiver=other:443":     "not ip:port",
		"receiver=10.0.0.1:443=": "not ip:port",
		"LOCALHOST=10.0.0.1:443": "twice",
	} {
		if _, err := outbound.ParseAllow([]string{"localhost=127.0.0.1:443", pair}); err == nil ||
			!strings.Contains(err.Error(), reason) {
			t.Errorf("ParseAllow(%q) = %v", pair, err)
		}
	}
}

func TestLoadCA(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ca.pem")
	if _, err := outbound.LoadCA(file); err == nil {
		t.Error("no file is no error")
	}
	if err := os.WriteFile(file, []byte("no certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := outbound.LoadCA(file); err == nil {
		t.Error("a file of text is no error")
	}
	if err := os.WriteFile(file, selfSigned(t, never).pem, 0o600); err != nil {
		t.Fatal(err)
	}
	if pool, err := outbound.LoadCA(file); err != nil || pool == nil {
		t.Errorf("LoadCA = %v, %v", pool, err)
	}
}
