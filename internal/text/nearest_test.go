package text_test

import (
	"strings"
	"testing"

	"github.com/waymarkhq/waymark/internal/text"
)

func TestNearest(t *testing.T) {
	known := []string{"api-addr", "data-dir", "database", "dev", "email", "limit-scale"}
	for name, want := range map[string]string{
		"api-addr": "api-addr", "api_addr": "api-addr", "api-adr": "api-addr", "apiaddr": "api-addr",
		"data-dri":     "data-dir",
		"limit-scales": "limit-scale", "limit-scaels": "limit-scale", "limit-sacles": "limit-scale", "limit-slaecs": "",
		"emial": "email", "emal": "email", "mial": "", "dev": "dev", "dve": "dev", "env": "", "de": "", "": "",
		"api-port": "",
	} {
		if got := text.Nearest(name, known); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", name, got, want)
		}
	}
}

func TestNearestOfMembers(t *testing.T) {
	known := []string{"desktopUrl", "playStoreUrl", "appStoreUrl", "slug", "title", "webOnly"}
	for unknown, want := range map[string]string{
		"desktop_url": "desktopUrl", "DESKTOPURL": "desktopUrl", "desktopurI": "desktopUrl", "dekstopUrl": "desktopUrl",
		"tilte":    "title",
		"web-only": "webOnly", "slgu": "slug", "slugs": "slug", "sluggish": "", "x": "", "": "",
		strings.Repeat("slug", 1000): "",
	} {
		if got := text.Nearest(unknown, known); got != want {
			t.Errorf("Nearest(%.20q) = %q, want %q", unknown, got, want)
		}
	}
}
