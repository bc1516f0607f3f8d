package page

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"golang.org/x/text/language"

	"github.com/waymarkhq/waymark/internal/binding"
)

// repeating is a configuration of 10 KB whose texts show one variable some 1,200
// times.
func repeating(t *testing.T, variable string) Config {
	t.Helper()
	many := func(most int) string { return strings.Repeat("{{a}}", most/5) }
	detail := `{"label":"` + many(80) + `","value":"` + many(1000) + `"}`
	var c Config
	if err := json.Unmarshal([]byte(`{"content":{"heading":"`+many(120)+`","supportingText":"`+many(1000)+
		`","actionLabels":{"open":"`+many(120)+`","install":"`+many(120)+`","web":"`+many(120)+`","copy":"`+many(120)+
		`"},"details":[`+strings.Repeat(detail+",", 3)+detail+`]},"variables":[`+variable+`]}`), &c); err != nil {
		t.Fatal(err)
	}
	return c
}

// A value that many texts show does not make a page large, however often they show
// it, neither while it is rendered nor at the end.
func TestRepeatedValue(t *testing.T) {
	for _, base := range binding.Bases {
		template := Compile(base, repeating(t, `{"key":"a","required":true}`), "")
		v := ordinaryVisit(language.English)
		v.Data = map[string]string{"a": strings.Repeat("'", 4000)}
		if n := len(template.render(nil, &v, whole)); n > 64<<10 {
			t.Errorf("%s: %d bytes are rendered before the page is found to be too large", base, n)
		}
		if n := len(template.Append(nil, &v)); n > MaxPageBytes {
			t.Errorf("%s: the page has %d bytes", base, n)
		}
	}
	long := repeating(t, `{"key":"a","defaultValue":"`+strings.Repeat("'", 4000)+`"}`)
	if found := Check(binding.IOS, long); len(found) != 1 || found[0].Path != "/content" {
		t.Errorf("%+v", found)
	}
}

// Texts with values are cut at their bound, at whole characters.
func TestSayCuts(t *testing.T) {
	v := values{variables: map[string]variable{"a": {}}, data: map[string]string{"a": "äöü"}, words: wordsIn(language.English)}
	for most, want := range map[int]string{8: "x äöüäöü", 7: "x äöüäö…", 5: "x äöü…", 4: "x äö…", 1: "x…"} {
		if got := v.say(parse("x {{a}}{{a}}"), most); got != want {
			t.Errorf("%d: %q, want %q", most, got, want)
		}
	}
	if got := v.say(parse("{{a}}"), 3); got != "äöü" {
		t.Errorf("%q", got)
	}
}
