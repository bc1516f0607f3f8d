package visitor

import (
	"net/http"
	"strings"

	"github.com/maypok86/otter/v2"
	"github.com/mileusna/useragent"

	"github.com/waymarkhq/waymark/internal/route"
)

const (
	// maxAgent is how much of a user agent counts.
	maxAgent = 512
	// agentsKept is how many different ones are remembered.
	agentsKept = 8192
)

// Agent is what the headers of a request say about the program that sent it.
type Agent struct {
	// Text is the user agent as far as it counts.
	Text     string
	Platform route.Platform
	// Device is the platform, or Bot.
	Device  string
	OS      string // "" when unknown
	Browser string // "" when unknown
	// Social is set for the app of a social network.
	Social bool
	// embedded is set for the browser inside an app, as its user agent tells.
	embedded bool
	// Preview is set for a program that fetches links to show what they lead
	// to.
	Preview bool
}

// Bot is the device of a program that no person uses.
const Bot = "bot"

// agents remembers parsed user agents: parsing one takes longer than all the
// rest of a redirect, and a few thousand make up nearly all visits.
type agents struct{ known *otter.Cache[string, Agent] }

func newAgents() *agents {
	return &agents{otter.Must(&otter.Options[string, Agent]{MaximumSize: agentsKept})}
}

// of returns the Agent of a request.
func (a *agents) of(header http.Header) Agent {
	var text string
	if values := header["User-Agent"]; len(values) > 0 {
		text = values[0]
	}
	if len(text) > maxAgent {
		text = text[:maxAgent]
	}
	found, ok := a.known.GetIfPresent(text)
	if !ok {
		text = strings.Clone(text)
		found = parseAgent(text)
		a.known.Set(text, found)
	}
	found.hint(header)
	if isPrefetch(header) {
		found.Device = Bot
	}
	return found
}

// Source returns where a visit came from, as analytics names it.
func (a *Agent) Source(qr bool, referrer string) string {
	switch {
	case qr:
		return "qr"
	case a.Social || isSocialHost(referrer):
		return "social"
	case a.Text == "":
		return "unknown"
	}
	return "browser"
}

// parseAgent returns what a user agent alone says.
//
// An iPad asks for the pages of a desktop unless told otherwise, and then says
// that it is a Macintosh; Safari sends no client hints. It counts as a desktop:
// nothing in a request distinguishes the two. Only browsers inside an iPad app are
// recognized, by "Mobile/", and those of other makers, by the names that they have
// on iOS alone.
func parseAgent(text string) Agent {
	a := Agent{Text: text, Platform: route.Other}
	if text == "" {
		a.Device = string(a.Platform)
		return a
	}
	ua := useragent.Parse(text)
	lower := strings.ToLower(text)
	switch {
	case strings.Contains(text, "iPod"), strings.Contains(text, "Macintosh") && containsAny(text, onlyOnIOS):
		ua.OS = useragent.IOS
	case containsAny(lower, televisionTokens):
		ua.OS = ""
	case strings.Contains(text, "FreeBSD"):
		ua.OS = useragent.FreeBSD
	}
	if strings.Contains(text, " Silk/") {
		ua.Name = "Silk"
	}
	a.setOS(ua.OS)
	a.Browser = browserNames[ua.Name]
	for _, app := range socialApps {
		if strings.Contains(text, app.token) {
			a.Social, a.Browser = true, app.browser
			break
		}
	}
	a.Device = string(a.Platform)
	a.embedded = a.Social || isEmbedded(text)
	a.Preview = isPreview(lower)
	if ua.Bot || a.Preview || isBot(lower) {
		a.Device, a.Social = Bot, false
	}
	return a
}

// isEmbedded reports whether a user agent is that of a browser inside an app: the
// web views of the systems say so, or leave out the name of the browser.
func isEmbedded(text string) bool {
	switch {
	case strings.Contains(text, "; wv)"):
		return true
	case strings.Contains(text, "Mobile/") && strings.Contains(text, "AppleWebKit/") && !strings.Contains(text,
		" Safari/"):
		return true
	}
	return containsAny(text, embeddingApps)
}

// setOS takes the names of package useragent.
func (a *Agent) setOS(name string) {
	switch name {
	case useragent.Android:
		a.OS, a.Platform = name, route.Android
	case useragent.IOS:
		a.OS, a.Platform = name, route.IOS
	case useragent.Windows, useragent.MacOS, useragent.Linux, useragent.ChromeOS, useragent.FreeBSD:
		a.OS, a.Platform = name, route.Desktop
	case useragent.WindowsPhone, useragent.WindowsPhoneOS:
		a.OS, a.Platform = useragent.WindowsPhone, route.Other
	case useragent.BlackBerry, useragent.Harmony:
		a.OS, a.Platform = name, route.Other
	default:
		a.OS, a.Platform = "", route.Other
	}
}

// hint takes over the client hints that browsers send unasked. They are newer
// and plainer than the user agent, so they win where they say something.
func (a *Agent) hint(header http.Header) {
	values := header["Sec-Ch-Ua-Platform"]
	if len(values) == 0 || a.Device == Bot {
		return
	}
	name, mobile := hintedOS[values[0]], header["Sec-Ch-Ua-Mobile"]
	if name == "" || name == a.OS {
		return
	}
	if name == useragent.Linux && len(mobile) > 0 && mobile[0] == "?1" {
		return // a phone of some Linux: the user agent may know which
	}
	a.setOS(name)
	a.Device = string(a.Platform)
}

// hintedOS maps Sec-CH-UA-Platform, a quoted string, to our names.
var hintedOS = map[string]string{
	`"Android"`:     useragent.Android,
	`"iOS"`:         useragent.IOS,
	`"Windows"`:     useragent.Windows,
	`"macOS"`:       useragent.MacOS,
	`"Linux"`:       useragent.Linux,
	`"Chrome OS"`:   useragent.ChromeOS,
	`"Chromium OS"`: useragent.ChromeOS,
}

// isPrefetch reports whether a browser fetches the link before its user follows
// it. The browser asks again when the user does, because answers may not be
// stored.
func isPrefetch(header http.Header) bool {
	for _, name := range [...]string{"Sec-Purpose", "Purpose", "X-Purpose", "X-Moz"} {
		for _, value := range header[name] {
			value = strings.ToLower(value)
			if strings.Contains(value, "prefetch") || strings.Contains(value, "preview") {
				return true
			}
		}
	}
	return false
}
