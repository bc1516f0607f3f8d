package page

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/waymarkhq/waymark/internal/binding"
	"github.com/waymarkhq/waymark/internal/fault"
)

// configOf reads a configuration as the API does.
func configOf(t testing.TB, text string) (c Config) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return c
}

// wantProblems compares paths, reasons and parts of messages: "/path reason part".
func wantProblems(t *testing.T, of string, got []fault.Detail, want ...string) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %v, want %q", of, got, want)
		return
	}
	for i, d := range got {
		path, rest, _ := strings.Cut(want[i], " ")
		reason, part, _ := strings.Cut(rest, " ")
		if d.Path != path || string(d.Code) != reason || !strings.Contains(d.Message, part) {
			t.Errorf("%s: %v, want %q", of, d, want[i])
		}
	}
}

func TestCheck(t *testing.T) {
	for config, want := range map[string][]string{
		`{}`: nil,
		`{"schemaVersion":1,"kind":"preset","baseTemplateId":"ios","rendererContractVersion":1}`: nil,
		`{"baseTemplateId":"android"}`: {"/baseTemplateId not_allowed must be ios"},
		`{"variables":[{"key":"a"},{"key":"b"},{"key":"a"},{"key":"a"}]}`: {
			"/variables/2/key duplicate /variables/0", "/variables/3/key duplicate /variables/0"},
		`{"variables":[{"key":"a","maxLength":3,"defaultValue":"äöü"}]}`: nil,
		`{"variables":[{"key":"a","maxLength":3,"defaultValue":"äöüß"}]}`: {
			"/variables/0/defaultValue too_long at most 3 characters"},
		`{"variables":[{"key":"a","type":"number","maxLength":3}]}`:                                                        {"/variables/0/maxLength not_allowed type text"},
		`{"variables":[{"key":"a","type":"boolean","maxLength":3}]}`:                                                       {"/variables/0/maxLength not_allowed type text"},
		`{"variables":[{"key":"a","type":"number","defaultValue":1.5},{"key":"b","type":"boolean","defaultValue":false}]}`: nil,
		`{"variables":[{"key":"a","defaultValue":1},{"key":"b","type":"number","defaultValue":"1"},
			{"key":"c","type":"boolean","defaultValue":0},{"key":"d","type":"number","defaultValue":true}]}`: {
			"/variables/0/defaultValue wrong_type string", "/variables/1/defaultValue wrong_type number",
			"/variables/2/defaultValue wrong_type true or false", "/variables/3/defaultValue wrong_type number"},
		`{"variables":[{"key":"a","defaultValue":"\u0007"}]}`: {"/variables/0/defaultValue invalid_text control"},
		`{"variables":[{"key":"city"}],"content":{"heading":"To {{city}} and {{ city }}","supportingText":"}} {{ }",
			"actionLabels":{"open":"{{city}}"},"details":[{"label":"{{city}}","value":"{{city}}"}]}}`: nil,
		`{"variables":[{"key":"city"}],"content":{"heading":"{{cty}}","supportingText":"{{City}} {{}}",
			"actionLabels":{"a/b":"{{x}}","open":"{{city}} {{y}}"},"details":[{"label":"{{city","value":"a"},
			{"label":"{{v}}","value":"{{w}}"}]}}`: {
			"/content/heading unknown_reference did you mean city?",
			"/content/supportingText unknown_reference {{City}}",
			"/content/supportingText unknown_reference {{}}", "/content/actionLabels/a~1b unknown_reference {{x}}",
			"/content/actionLabels/open unknown_reference {{y}}", "/content/details/1/label unknown_reference {{v}}",
			"/content/details/1/value unknown_reference {{w}}"},
		`{"appearance":{"light":{"text":"#ffffff"}}}`: nil, // CheckContrast says it
	} {
		wantProblems(t, config, Check(binding.IOS, configOf(t, config)), want...)
	}
}

// The size of a configuration is that of its canonical form.
func TestConfigBytes(t *testing.T) {
	const around = len(`{"content":{"actionLabels":{"a":""}}}`)
	for n, want := range map[int][]string{
		MaxConfigBytes:     nil,
		MaxConfigBytes + 1: {" too_large at most 12288 bytes, counted without white space; it has 12289"},
	} {
		text := fmt.Sprintf(`{ "content": {"actionLabels": {"a": %q}} }`, strings.Repeat("x", n-around))
		config := configOf(t, text)
		if got := len(config.Canonical()); got != n {
			t.Fatalf("%d bytes, want %d", got, n)
		}
		wantProblems(t, fmt.Sprint(n), Check(binding.Android, config), want...)
	}
}

func TestCanonical(t *testing.T) {
	const canonical = `{"appearance":{"light":{"text":"#000000"}},"content":{"heading":"é","actionLabels":` +
		`{"a":"1","b":"2","c":"3"}},"variables":[{"key":"n","type":"number","defaultValue":1.50}]}`
	config := configOf(t, ` {"variables": [{"defaultValue": 1.50, "type": "number", "key": "n"}],
		"content": {"actionLabels": {"c": "3", "a": "1", "b": "2"}, "heading": "\u00e9"},
		"appearance": {"light": {"text": "#000000"}}}`)
	for range 20 {
		if got := string(config.Canonical()); got != canonical {
			t.Fatalf("%s\nwant\n%s", got, canonical)
		}
	}
}

// The page of an ordinary link must fit, with a logo where the template has one.
func TestPageSize(t *testing.T) {
	const some = 200
	var fit [2]int
	for i, logo := range []string{"", "data:image/png;base64," + strings.Repeat("A", MaxLogoBytes-22)} {
		with := func(n int) Config {
			appearance := `{}`
			if logo != "" {
				appearance = `{"logoAssetId":"x"}`
			}
			return configOf(t, fmt.Sprintf(`{"appearance":%s,"content":{"supportingText":%q}}`, appearance,
				strings.Repeat("x", n)))
		}
		// Each further character takes one byte more.
		largest := 0
		for _, tag := range languages {
			v := ordinaryVisit(tag)
			largest = max(largest, len(Compile(binding.Recovery, with(some), logo).render(nil, &v, whole)))
		}
		fit[i] = some + MaxPageBytes - largest
		wantProblems(t, "the largest", Check(binding.Recovery, with(fit[i])))
		wantProblems(t, "too large", Check(binding.Recovery, with(fit[i]+1)),
			"/content too_large at most 14336 bytes, the logo included; with the default values of the variables it has 14337")
	}
	if fit[0] < 6000 || fit[1] < 400 || fit[0]-fit[1] < MaxLogoBytes-100 {
		t.Errorf("texts of %d bytes fit, %d with a logo", fit[0], fit[1])
	}
}

func TestCheckContrast(t *testing.T) {
	for config, want := range map[string][]string{
		`{}`: nil,
		// #767676 on white is 4.54:1, #777777 is 4.48:1; on #f2f2f7 it needs more.
		`{"light":{"background":"#ffffff","muted":"#767676"}}`: nil,
		`{"light":{"background":"#ffffff","muted":"#777777"}}`: {
			"/appearance/light/muted low_contrast the contrast of muted #777777 with background #ffffff is 4.47:1, " +
				"at least 4.5:1 is needed; choose a darker muted",
			"/appearance/light/muted low_contrast with surface #ffffff of the official template is 4.47:1"},
		`{"light":{"tertiary":"#767676"}}`: nil,
		`{"light":{"tertiary":"#777777"}}`: {"/appearance/light/tertiary low_contrast choose a darker tertiary"},
		`{"light":{"accent":"#949494"}}`:   nil,
		`{"light":{"accent":"#959595"}}`: {
			"/appearance/light/accent low_contrast accent #959595 with surface #ffffff of the official template is 2.99:1, " +
				"at least 3:1 is needed; choose a darker accent"},
		`{"dark":{"text":"#000000"}}`: {
			"/appearance/dark/text low_contrast text #000000 with background #000000 of the official template is 1.00:1",
			"/appearance/dark/text low_contrast choose a darker text"},
		`{"light":{"surface":"#111111"}}`: {
			"/appearance/light/surface low_contrast the contrast of surface #111111 with text #111113 of the official",
			"/appearance/light/surface low_contrast muted", "/appearance/light/surface low_contrast tertiary"},
		// Any label can be read on any button, and borders are no controls.
		`{"light":{"secondary":"#777777","border":"#ffffff"},"dark":{"secondary":"#ffffff"}}`: nil,
	} {
		config = `{"appearance":` + config + `}`
		problems := CheckContrast(binding.IOS, configOf(t, config))
		wantProblems(t, config, problems, want...)
	}
}

func TestOfficialTemplatesPass(t *testing.T) {
	for _, base := range binding.Bases {
		if problems := append(Check(base, Config{}), CheckContrast(base, Config{})...); len(problems) > 0 {
			t.Errorf("%s: %v", base, problems)
		}
	}
}

func TestLabelsOnButtons(t *testing.T) {
	for button, want := range map[string]string{
		"#000000": "#fff", "#ffffff": "#000", "#276a4b": "#fff", "#8fd6ae": "#000", "#757575": "#fff",
		"#757676": "#000",
	} {
		if got := on(button); got != want {
			t.Errorf("on %s: %s", button, got)
		}
	}
}
