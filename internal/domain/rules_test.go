package domain

import (
	"strings"
	"testing"

	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/opt"
)

// What an installation is not set up for is forbidden, and the refusal names the
// flag.
func TestNoZone(t *testing.T) {
	_, err := Options{}.fromBody(&CreateDomain{Mode: "platform", Prefix: opt.NullOf("go")})
	if refusal, ok := fault.From(err); !ok || refusal.Code != fault.InsufficientPermission ||
		!strings.Contains(refusal.Message, "--platform-zone") {
		t.Errorf("without a platform zone: %v", err)
	}
	if d, err := (Options{PlatformZone: "links.example"}).fromBody(&CreateDomain{Mode: "platform",
		Prefix: opt.NullOf("go")}); err != nil || d.Hostname != "go.links.example" {
		t.Errorf("with one: %v, %v", d.Hostname, err)
	}
}
