package page

import (
	"strings"
	"testing"

	"github.com/waymarkhq/waymark/internal/binding"
)

// A page has the scripts that it needs, and no other.
func TestScripts(t *testing.T) {
	for _, c := range []struct {
		base        binding.Base
		change      func(v *Visit)
		opens, copy bool
	}{
		{binding.Android, func(v *Visit) {}, true, false},
		{binding.Android, func(v *Visit) { v.Automatic = false }, false, false},
		{binding.Android, func(v *Visit) { v.OpenURI = "" }, false, false},
		{binding.IOS, func(v *Visit) { v.Automatic = true }, true, false},
		{binding.Recovery, func(v *Visit) { v.Automatic = true }, false, true},
		{binding.Recovery, func(v *Visit) { v.CopyText = "" }, false, false},
	} {
		page := render(t, c.base, `{}`, c.change)
		if strings.Contains(page, openScript) != c.opens || strings.Contains(page, copyScript) != c.copy ||
			(c.opens || c.copy) != strings.Contains(page, "<script nonce=\""+nonce+"\">") {
			t.Errorf("%s: %s", c.base, page)
		}
	}
}

func TestFallback(t *testing.T) {
	for fallback, want := range map[string]string{
		"https://go.example/_service/install/spring": `class="secondary" data-fallback href="https://go.example/_service`,
		"https://shop.example/items/7?a=1&b=2":       `class="tertiary" data-fallback href="https://shop`,
		"https://elsewhere.example/":                 `<a hidden data-fallback href="https://elsewhere.example/"></a>`,
		"javascript:alert(1)":                        "",
		"":                                           "",
	} {
		page := render(t, binding.Android, `{}`, func(v *Visit) { v.Fallback = fallback })
		if n := strings.Count(page, "data-fallback "); n != min(len(want), 1) || !strings.Contains(page, want) {
			t.Errorf("%q: %d in %s", fallback, n, page)
		}
	}
}
