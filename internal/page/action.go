package page

import (
	"unicode"
)

// ranks are the looks of buttons, in the order in which a page has them.
var ranks = [...]string{"primary", "secondary", "tertiary"}

// actions writes the buttons of a page that opens the app, and the script that does
// so at once.
func (p *page) actions(t *Template, v *Visit, values *values) {
	automatic := v.Automatic && opensApp(v.OpenURI)
	rank := 0
	fallback := ""
	if automatic && isWeb(v.Fallback) {
		fallback = v.Fallback
	}
	add := func(address, attributes string, label phrase, ours string) {
		if address == fallback && fallback != "" {
			attributes += " data-fallback"
			fallback = ""
		}
		p.button(ranks[rank], address, attributes, values.say(label, mostLabel), ours)
		rank++
	}
	p.raw("<div class=\"actions\">\n")
	if opensApp(v.OpenURI) {
		add(v.OpenURI, ` id="open"`, t.labels.open, p.words.Open)
	}
	if isWeb(v.InstallURL) {
		add(v.InstallURL, "", t.labels.install, p.words.Install)
	}
	if isWeb(v.WebURL) {
		add(v.WebURL, "", t.labels.web, p.words.Web)
	}
	if fallback != "" {
		p.raw(`<a hidden data-fallback href="`)
		p.text(fallback)
		p.raw("\"></a>\n")
	}
	p.raw("</div>\n")
	if automatic {
		p.script(openScript)
	}
}

// button writes a link that looks like a button, with a label of the owner's or
// else with words of ours.
func (p *page) button(rank, address, attributes, owners, ours string) {
	p.raw(`<a class="`, rank, `"`, attributes, ` href="`)
	p.text(address)
	p.raw(`"`)
	p.label(owners, ours)
	p.raw("</a>\n")
}

// recovery writes the steps by which a visitor takes the link along into an app that
// is yet to be installed.
func (p *page) recovery(t *Template, v *Visit, values *values) {
	w := p.words
	p.raw(`<ol dir="`, w.Direction, "\">\n") // the steps are in words of ours
	if v.CopyText != "" {
		p.step(w.CopyStep)
		p.raw(`<input id="field" dir="ltr" readonly aria-label="`)
		p.text(w.CopyField)
		p.raw(`" value="`)
		p.text(v.CopyText)
		p.raw("\">\n", `<button class="primary" id="copy" type="button" hidden data-copied="`)
		p.text(w.Copied)
		p.raw(`"`)
		p.label(values.say(t.labels.copy, mostLabel), w.Copy)
		p.raw("</button>\n<p id=\"copied\" role=\"status\" dir=\"auto\"></p>\n</li>\n")
	}
	if isWeb(v.InstallURL) {
		p.step(w.InstallStep)
		p.button("secondary", v.InstallURL, "", values.say(t.labels.install, mostLabel), w.Store)
		p.raw("</li>\n")
	}
	p.step(w.OpenStep)
	p.raw(`<p dir="auto">`)
	p.text(w.OpenStepText)
	p.raw("</p>\n")
	if opensApp(v.OpenURI) {
		p.button("secondary", v.OpenURI, "", values.say(t.labels.open, mostLabel), w.Open)
	}
	p.raw("</li>\n</ol>\n")
	if isWeb(v.WebURL) {
		p.raw("<div class=\"actions\">\n")
		p.button("tertiary", v.WebURL, "", values.say(t.labels.web, mostLabel), w.Web)
		p.raw("</div>\n")
	}
	if v.CopyText != "" {
		p.script(copyScript)
	}
}

// step begins a step.
func (p *page) step(title string) {
	p.raw(`<li><h2 dir="auto">`)
	p.text(title)
	p.raw("</h2>\n")
}

// firstLetter returns the first letter or digit of a name in upper case, "" for a
// name without any.
func firstLetter(name string) string {
	for _, r := range name {
		if unicode.IsLetter(r) || unicode.IsNumber(r) {
			return string(unicode.ToUpper(r))
		}
	}
	return ""
}
