package page

import (
	"slices"
	"strings"
	"testing"

	"github.com/waymarkhq/waymark/internal/binding"
)

func TestSchemes(t *testing.T) {
	for scheme, want := range map[Scheme][]string{
		Light: {`content="light">`, "#f2f2f7"}, Dark: {`content="dark">`, "#1c1c1e"},
		"": {`content="light dark">`, "#f2f2f7", "@media(prefers-color-scheme:dark){:root{", "#1c1c1e"},
	} {
		v := visitOf(binding.IOS)
		v.Scheme = scheme
		page := string(Official(binding.IOS).Append(nil, &v))
		for _, colour := range []string{"#f2f2f7", "#1c1c1e", "@media(prefers-color-scheme:dark)"} {
			if strings.Contains(page, colour) != slices.ContainsFunc(want,
				func(w string) bool { return strings.HasPrefix(w, colour) }) {
				t.Errorf("%q: %s", scheme, colour)
			}
		}
		if !strings.Contains(page, want[0]) {
			t.Errorf("%q: no %s", scheme, want[0])
		}
	}
}

func TestAppearance(t *testing.T) {
	v := visitOf(binding.Android)
	page := string(Compile(binding.Android, configOf(t,
		`{"appearance":{"light":{"accent":"#0000ff","secondary":"#eeeeee"},
		"fontFamily":"serif","radius":"small","spacing":"compact"}}`), "").Append(nil, &v))
	for _, want := range []string{"--accent:#0000ff;--on-accent:#fff;--second:#eeeeee;--on-second:#000",
		"--radius:.5rem",
		"--gap:.75rem", "Georgia", androidLight.text, androidDark.accent} {
		if !strings.Contains(page, want) {
			t.Errorf("no %s", want)
		}
	}
}
