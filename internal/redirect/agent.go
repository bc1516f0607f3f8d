package redirect

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

// agent is what a request's headers tell of the program that sent it.
type agent struct {
	// text is the user agent as far as it counts.
	text     string
	platform route.Platform
	// device is the platform, or bot.
	device  string
	os      string // "" when unknown
	browser string // "" when unknown
	// social tells that the program is a social network's own app, preview
	// that it fetches links to show what they lead to.
	social, preview bool
}

const bot = "bot"

// agents remembers what user agents tell: parsing one takes longer than all
// the rest of a redirect, and a few thousand make up nearly all visits.
type agents struct{ known *otter.Cache[string, agent] }

func newAgents() *agents {
	return &agents{otter.Must(&otter.Options[string, agent]{MaximumSize: agentsKept})}
}

// of returns what a request's headers tell.
func (a *agents) of(header http.Header) agent {
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
		found.device = bot
	}
	return found
}

// source returns where a visit came from, as analytics names it.
func (a *agent) source(qr bool, referrer string) string {
	switch {
	case qr:
		return "qr"
	case a.social || isSocialHost(referrer):
		return "social"
	case a.text == "":
		return "unknown"
	}
	return "browser"
}

// parseAgent tells what it can from a user agent alone.
//
// An iPad asks for the pages of a desktop unless told otherwise, and then
// says that it is a Macintosh; Safari sends no client hints. It counts as a
// desktop: nothing in a request tells the two apart. Only an app's own view
// gives itself away by "Mobile/".
func parseAgent(text string) agent {
	a := agent{text: text, platform: route.Other}
	if text == "" {
		a.device = string(a.platform)
		return a
	}
	ua := useragent.Parse(text)
	lower := strings.ToLower(text)
	switch {
	case strings.Contains(text, "iPod"), strings.Contains(text, "Macintosh") && strings.Contains(text, "Mobile/"):
		ua.OS = useragent.IOS
	case isTelevision(lower):
		ua.OS = ""
	case strings.Contains(text, "FreeBSD"):
		ua.OS = useragent.FreeBSD
	}
	if strings.Contains(text, " Silk/") {
		ua.Name = "Silk"
	}
	a.setOS(ua.OS)
	a.browser = browserNames[ua.Name]
	for _, app := range socialApps {
		if strings.Contains(text, app.token) {
			a.social, a.browser = true, app.browser
			break
		}
	}
	a.device = string(a.platform)
	a.preview = isPreview(lower)
	if ua.Bot || a.preview || isBot(lower) {
		a.device, a.social = bot, false
	}
	return a
}

// setOS takes the names of package useragent.
func (a *agent) setOS(name string) {
	switch name {
	case useragent.Android:
		a.os, a.platform = name, route.Android
	case useragent.IOS:
		a.os, a.platform = name, route.IOS
	case useragent.Windows, useragent.MacOS, useragent.Linux, useragent.ChromeOS, useragent.FreeBSD:
		a.os, a.platform = name, route.Desktop
	case useragent.WindowsPhone, useragent.WindowsPhoneOS:
		a.os, a.platform = useragent.WindowsPhone, route.Other
	case useragent.BlackBerry, useragent.Harmony:
		a.os, a.platform = name, route.Other
	default:
		a.os, a.platform = "", route.Other
	}
}

// hint takes over the client hints that browsers send unasked. They are newer
// and plainer than the user agent, so they win where they say something.
func (a *agent) hint(header http.Header) {
	values := header["Sec-Ch-Ua-Platform"]
	if len(values) == 0 || a.device == bot {
		return
	}
	name, mobile := hintedOS[values[0]], header["Sec-Ch-Ua-Mobile"]
	if name == "" || name == a.os {
		return
	}
	if name == useragent.Linux && len(mobile) > 0 && mobile[0] == "?1" {
		return // a phone of some Linux: the user agent may know which
	}
	a.setOS(name)
	a.device = string(a.platform)
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

// isPrefetch reports that nobody has followed the link yet. A browser asks
// again when its user does: answers may not be stored.
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
