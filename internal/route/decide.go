package route

import (
	"net/http"

	"github.com/waymarkhq/waymark/internal/clock"
)

// Platform is what decides between a link's destinations.
type Platform string

// The platforms. A crawler has the platform that it pretends to have.
const (
	Android Platform = "android"
	IOS     Platform = "ios"
	Desktop Platform = "desktop"
	Other   Platform = "other"
)

// Destination is the kind of place a visitor is sent to, as analytics names it
// (completions.md §7).
type Destination string

// The kinds of destination.
const (
	ToWeb   Destination = "web"
	ToStore Destination = "store"
	ToApp   Destination = "app"
	ToPage  Destination = "page"
	ToNone  Destination = "none"
)

// UnknownCountry and "" both mean that the visitor's country is not known.
const UnknownCountry = "ZZ"

// Visit is what Decide needs to know of a request.
type Visit struct {
	Platform Platform
	// Query is the raw query of the request, without "?".
	Query string
	// Country is an ISO 3166-1 alpha-2 code in capitals. It matters only when
	// the link is ByCountry.
	Country string
	// Clicks are the human clicks so far. They matter only when the link has
	// MaxClicks.
	Clicks int64
	// Crawler is set for a program that makes previews of links for its users,
	// as social networks and messengers do; Automated for every program that no
	// person uses.
	Crawler, Automated bool
	// InApp is set in a browser inside an app, as social networks have it, which opens
	// other apps only when its user taps. Address is the public address of the link, in
	// safe ASCII and without a query. Both matter only when the link OpensApp.
	InApp   bool
	Address string
}

// Decision is what a visitor gets.
type Decision struct {
	// Status is 302 or 307 with a Location, 200 for a Preview or an App, else 404 or
	// 410.
	Status int
	// Location is an absolute http(s) address of safe ASCII, or "": then the
	// answer is the page of the status. An App has it only as its fallback.
	Location    string
	Destination Destination
	// RuleID is the routing rule that matched, "" when none did.
	RuleID string
	// Live is set when a link resolved: only then is the visit a click.
	Live bool
	// Preview is set when the visitor gets a page with the title, description
	// and image of the link; Location is then where the page leads.
	Preview bool
	// App is the page that opens the app; nil when the visitor gets something else.
	App *App
	// Scheduled is set when the link is not open yet.
	Scheduled bool
	// QR is set when the visitor scanned a QR code of the link.
	QR bool
}

// IsPage reports whether the visitor gets a page of ours instead of being
// sent on.
func (d Decision) IsPage() bool { return d.Preview || d.App != nil || d.Location == "" }

// Decide returns what a visitor of a link gets at an instant. A nil link means
// that the path is unknown on the hostname. A link of another app, left over
// from a former holder of the hostname, counts as unknown too. The host must
// not be nil.
//
// The lifecycle comes first (completions.md §3): archived is 410, before its
// start 404, from its end or its last click on ExpiredURL or else 410. Then
// the first rule that matches and has a usable address. Then the platform:
// phones go to their store and else to the web page, the other way round for
// WebOnly; the rest go to the web page and else to whichever store page there
// is, the Play Store's first. A phone is never sent to the other system's store:
// without a destination that fits, the answer is 404. A person on a phone whose app
// can be opened gets the page that opens it instead, unless a rule matched
// (completions.md §10, behavior). Crawlers that make previews get, instead of a
// redirect, the page of what the link has for them.
func Decide(link *Link, host *Host, visit Visit, now clock.Instant) Decision {
	if link == nil || link.AppID != host.AppID {
		return Unknown(host)
	}
	switch link.stage(visit.Clicks, now) {
	case archived:
		return elsewhere(http.StatusGone, "")
	case scheduled:
		return Decision{Status: http.StatusNotFound, Destination: ToNone, Scheduled: true}
	case expired:
		return elsewhere(http.StatusGone, link.ExpiredURL)
	}
	p := link.plan
	if p == nil { // not from the cache: a preview
		p = newPlan(link)
	}
	t, rule := p.of(link, &visit, now)
	if rule == "" && link.OpensApp(host, &visit) {
		a := openApp(link, host, &visit, p)
		return Decision{Status: http.StatusOK, Location: a.Fallback(), Destination: a.destination(), Live: true,
			App: a, QR: fromQR(visit.Query)}
	}
	if t == nil {
		return elsewhere(http.StatusNotFound, "")
	}
	d := Decision{Status: http.StatusFound, Location: t.location(visit.Query), Destination: t.kind, RuleID: rule,
		Live: true, QR: fromQR(visit.Query)}
	switch {
	case visit.Crawler && link.hasPreview():
		d.Status, d.Destination, d.Preview = http.StatusOK, ToPage, true
	case host.RedirectStatus == http.StatusTemporaryRedirect:
		d.Status = http.StatusTemporaryRedirect
	}
	return d
}

// stage is where a link is in its lifecycle.
type stage int

const (
	live stage = iota
	archived
	scheduled
	expired // or its clicks are used up
)

// stage returns where a link is in its lifecycle at an instant, after a number of
// human clicks.
func (l *Link) stage(clicks int64, now clock.Instant) stage {
	switch {
	case l.Archived:
		return archived
	case l.StartsAt != nil && now < *l.StartsAt:
		return scheduled
	case l.ExpiresAt != nil && now >= *l.ExpiresAt, l.MaxClicks != nil && clicks >= *l.MaxClicks:
		return expired
	}
	return live
}

// Root returns what a visitor of the hostname's own address gets: RootURL, or
// the page of 404.
func Root(host *Host) Decision { return elsewhere(http.StatusNotFound, host.RootURL) }

// Unknown returns what a visitor of an address gets that no link has:
// NotFoundURL, or the page of 404.
func Unknown(host *Host) Decision { return elsewhere(http.StatusNotFound, host.NotFoundURL) }

// elsewhere is the answer when nothing resolved: the page of a status, or the
// address that the owner has chosen instead of it. That address does not get
// the query of the request, which was meant for the link's destination.
func elsewhere(status int, instead string) Decision {
	if location := safeLocation(instead); location != "" {
		return Decision{Status: http.StatusFound, Location: location, Destination: ToWeb}
	}
	return Decision{Status: status, Destination: ToNone}
}

// plan holds the destination for each platform, and that of each rule, nil
// where its address is unusable, and what pages of the link are made of.
type plan struct {
	android, ios, desktop *target
	web, play, apple      *target
	rules                 []*target
	app                   appAddress
	appStoreID            string
	data                  map[string]string
}

func newPlan(link *Link) *plan {
	web := newTarget(ToWeb, link.DesktopURL, &link.UTM, &link.CampaignUTM)
	play := newTarget(ToStore, link.PlayStoreURL, &link.UTM, &link.CampaignUTM)
	apple := newTarget(ToStore, link.AppStoreURL, &link.UTM, &link.CampaignUTM)
	p := &plan{android: first(play, web), ios: first(apple, web), desktop: first(web, play, apple), web: web, play: play,
		apple: apple}
	if link.WebOnly {
		p.android, p.ios = first(web, play), first(web, apple)
	} else {
		p.app, p.appStoreID, p.data = newAppAddress(link), appStoreID(p.apple.location("")), link.Variables()
	}
	for i := range link.Rules {
		r := &link.Rules[i]
		p.rules = append(p.rules, newTarget(ToWeb, r.URL, &r.UTM, &link.UTM, &link.CampaignUTM))
	}
	return p
}

// bytes estimates the memory that is not in proportion to the link's document.
func (p *plan) bytes() int {
	n := 400*len(p.rules) + p.app.bytes()
	for key, value := range p.data {
		n += len(key) + len(value) + 64
	}
	return n
}

// of returns the destination of a visit, nil when nothing fits, and the id of
// the rule that matched.
func (p *plan) of(link *Link, visit *Visit, now clock.Instant) (t *target, rule string) {
	for i, t := range p.rules {
		if r := &link.Rules[i]; t != nil && r.matches(visit, now) {
			return t, r.ID
		}
	}
	switch visit.Platform {
	case Android:
		return p.android, ""
	case IOS:
		return p.ios, ""
	}
	return p.desktop, ""
}

func first(targets ...*target) *target {
	for _, t := range targets {
		if t != nil {
			return t
		}
	}
	return nil
}
