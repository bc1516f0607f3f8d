package page

import (
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"golang.org/x/text/language"

	"github.com/waymarkhq/waymark/internal/binding"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/schema"
)

// Check returns what is wrong with a configuration of a template, besides the
// rules of its schema and besides colours, which CheckContrast checks. Paths are
// relative to the configuration.
func Check(base binding.Base, config Config) []fault.Detail {
	var p fault.Problems
	if n := len(config.Canonical()); n > MaxConfigBytes {
		p.Add("", fault.ReasonTooLarge, "the configuration must have at most %d bytes, counted without white space; "+
			"it has %d", MaxConfigBytes, n)
	}
	if own := config.BaseTemplateID.Or(base); own != base {
		p.Add("/baseTemplateId", fault.ReasonNotAllowed, "must be %s as in the template, or left out", base)
	}
	checkVariables(&p, config.Variables.Value)
	checkPhrases(&p, config)
	if !p.Any() {
		checkSize(&p, base, config)
	}
	return found(&p)
}

// found returns the problems of a check that cannot fail.
func found(p *fault.Problems) []fault.Detail {
	details, _ := p.Details()
	return details
}

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// Canonical returns a configuration as canonical JSON, over which its size and its
// digest are computed: the same configuration gives the same bytes.
func (c Config) Canonical() []byte {
	b, err := json.Marshal(c)
	if err != nil {
		panic(err) // a configuration that was decoded can be encoded
	}
	return b
}

func checkVariables(p *fault.Problems, all []Variable) {
	first := map[string]int{}
	for i, v := range all {
		if at, twice := first[v.Key]; twice {
			p.Add(fault.Pointer("variables", i, "key"), fault.ReasonDuplicate,
				"must differ from the keys of other variables; %s has the same", fault.Pointer("variables", at))
		} else {
			first[v.Key] = i
		}
		if v.MaxLength.Set && v.Type.Or(textType) != textType {
			p.Add(fault.Pointer("variables", i, "maxLength"), fault.ReasonNotAllowed,
				"is for variables of the type text; leave it out or change the type")
		}
		if v.DefaultValue.Set {
			checkValue(p, fault.Pointer("variables", i, "defaultValue"), v, v.DefaultValue.Value.Value)
		}
	}
}

// checkPhrases finds placeholders of variables that are not declared.
func checkPhrases(p *fault.Problems, config Config) {
	var keys []string
	for _, v := range config.Variables.Value {
		keys = append(keys, v.Key)
	}
	check := func(s string, at ...any) {
		for _, part := range parse(s) {
			if part.isVariable && !slices.Contains(keys, part.text) {
				p.Add(fault.Pointer(append([]any{"content"}, at...)...), fault.ReasonUnknownReference,
					"{{%s}} names a variable that is not declared in variables%s", part.text,
					schema.Hint(part.text, keys))
			}
		}
	}
	c := config.Content.Value
	check(string(c.Heading.Value), "heading")
	check(string(c.SupportingText.Value), "supportingText")
	for _, name := range sorted(c.ActionLabels.Value) {
		check(string(c.ActionLabels.Value[name]), "actionLabels", name)
	}
	for i, d := range c.Details.Value {
		check(string(d.Label), "details", i, "label")
		check(string(d.Value), "details", i, "value")
	}
}

// checkSize renders the page of an ordinary link with the default values, in each
// language. A template with a logo of its own must have place for it.
func checkSize(p *fault.Problems, base binding.Base, config Config) {
	logo, most := "", 0
	if config.Appearance.Value.LogoAssetID.Set {
		logo = "data:image/png;base64,"
		logo += strings.Repeat("A", MaxLogoBytes-len(logo))
	}
	t := Compile(base, config, logo)
	for _, tag := range languages {
		v := ordinaryVisit(tag)
		most = max(most, len(t.render(nil, &v, whole)))
	}
	if most > MaxPageBytes {
		p.Add("/content", fault.ReasonTooLarge, "the page must have at most %d bytes, the logo included; with the "+
			"default values of the variables it has %d; shorten the texts", MaxPageBytes, most)
	}
}

// ordinaryVisit is a visit of a link as most are, rather long.
func ordinaryVisit(tag language.Tag) Visit {
	address := "https://links.example.com/" + strings.Repeat("a", 100)
	return Visit{
		Language: tag, Nonce: strings.Repeat("n", 22), AppName: strings.Repeat("n", 40),
		Title: strings.Repeat("t", 80), OpenURI: "intent://" + strings.Repeat("a", 400), Automatic: true,
		Fallback: address + "/fallback", InstallURL: address + "/install", WebURL: address,
		CopyText:   address + "#waymark_token=" + strings.Repeat("t", 64),
		AppStoreID: "1234567890", Address: address,
	}
}
