package page

import (
	"github.com/waymarkhq/waymark/internal/binding"
)

// look is what a template says of colours and shapes, for one colour scheme.
type look struct {
	// meta is for the browser's own parts, variables for the styles.
	meta, variables string
}

// shapes and fonts are the choices that a configuration has.
var (
	radii    = map[string]string{"small": ".5rem", "medium": ".875rem", "large": "1.5625rem"}
	spacings = map[string]string{"compact": ".75rem", "comfortable": "1rem"}
	fonts    = map[string]string{
		"system": `system-ui,-apple-system,"Segoe UI",Roboto,sans-serif`,
		"sans":   `"Avenir Next",Avenir,"Helvetica Neue",Helvetica,Arial,"Noto Sans",sans-serif`,
		"serif":  `ui-serif,"New York",Georgia,"Noto Serif",serif`,
	}
)

// looksOf returns the looks of a template by colour scheme, "" among them.
func looksOf(base binding.Base, a Appearance) map[Scheme]look {
	radius := "medium"
	if base == binding.Android {
		radius = "large"
	}
	shape := ";--radius:" + radii[a.Radius.Or(radius)] + ";--gap:" + spacings[a.Spacing.Or("comfortable")] +
		";--font:" + fonts[a.FontFamily.Or("system")] + "}"
	light, dark := palette(base, Light, a), palette(base, Dark, a)
	return map[Scheme]look{
		Light: {meta: scheme("light") + theme("", light.bar(base)), variables: ":root{" + light.variables() + shape},
		Dark:  {meta: scheme("dark") + theme("", dark.bar(base)), variables: ":root{" + dark.variables() + shape},
		"": {
			meta: scheme("light dark") + theme("light", light.bar(base)) + theme("dark", dark.bar(base)),
			variables: ":root{" + light.variables() + shape +
				"@media(prefers-color-scheme:dark){:root{" + dark.variables() + "}}",
		},
	}
}

func (c *colours) variables() string {
	return "--back:" + c.background + ";--card:" + c.surface + ";--line:" + c.border + ";--text:" + c.text +
		";--soft:" + c.muted + ";--accent:" + c.accent + ";--on-accent:" + on(c.accent) + ";--second:" + c.secondary +
		";--on-second:" + on(c.secondary) + ";--third:" + c.tertiary
}

// bar is the colour of the browser's bar: that of the top of a page on a phone.
func (c *colours) bar(base binding.Base) string {
	if base == binding.Android {
		return c.background
	}
	return c.surface
}

func scheme(schemes string) string {
	return `<meta name="color-scheme" content="` + schemes + "\">\n"
}

func theme(scheme, colour string) string {
	media := ""
	if scheme != "" {
		media = ` media="(prefers-color-scheme:` + scheme + `)"`
	}
	return `<meta name="theme-color"` + media + ` content="` + colour + "\">\n"
}
