package route

import (
	"cmp"
	"net/url"
	"strings"

	"github.com/waymarkhq/waymark/internal/binding"
)

// Behavior tells how a link opens the app (completions.md §10).
type Behavior string

// The behaviours.
const (
	BehaveManual      Behavior = "manual"
	BehaveAutomatic   Behavior = "automatic"
	BehaveIntelligent Behavior = "intelligent"
)

// Opening is how a page opens the app.
type Opening string

// The openings.
const (
	OpenNone      Opening = "none"
	OpenManual    Opening = "manual"
	OpenAutomatic Opening = "automatic"
)

// App is the page of a link that opens an app, as the visitor gets it.
type App struct {
	// Base and Template are the template of the page; Template is "official" or
	// "<template id>@<version>".
	Base     binding.Base
	Template string
	// Opening is OpenManual or OpenAutomatic.
	Opening Opening
	// NativeURI opens the app: an intent on Android, the app's own scheme on iOS.
	NativeURI string
	// StoreURL leads to the app in the platform's store, WebURL to the page for
	// browsers; "" where there is none. Both carry the query of the visit.
	StoreURL, WebURL string
	// InstallURL is where a visitor goes who wants the app: StoreURL, or an address of
	// this hostname that makes a recovery token on the way there.
	InstallURL string
	// Address is the public address of the link with the query of the visit, and
	// AppStoreID the number of the app in the App Store, "" when it is not known.
	Address, AppStoreID string
	// Data are the values of the template's variables. It must not be changed.
	Data map[string]string
}

// Fallback is where the visitor goes when the app does not open; "" for nowhere.
func (a *App) Fallback() string { return cmp.Or(a.InstallURL, a.WebURL) }

// OpensApp reports whether a visit of a link may open the app of its host: a person's
// on a phone on which something is known that opens it, unless the link is for the
// web only. Only then does Decide need the address of the link.
//
// Only its own scheme opens an app of iOS from a page of the same hostname:
// universal links are opened by the system before it asks the redirector.
func (l *Link) OpensApp(host *Host, visit *Visit) bool {
	if l.WebOnly || visit.Automated {
		return false
	}
	switch visit.Platform {
	case Android:
		return host.Scheme != "" || host.AndroidPackage != ""
	case IOS:
		return host.Scheme != ""
	}
	return false
}

// destination is what analytics says of the page: an app that is opened at once was
// the destination, whether or not it is installed.
func (a *App) destination() Destination {
	if a.Opening == OpenAutomatic {
		return ToApp
	}
	return ToPage
}

// openApp returns the page with which a visit opens the app, for which
// Link.OpensApp holds.
func openApp(link *Link, host *Host, visit *Visit, p *plan) *App {
	a := App{Base: binding.Android, Opening: OpenManual, Address: WithQuery(visit.Address, visit.Query), Data: p.data,
		StoreURL: p.play.location(visit.Query), WebURL: p.web.location(visit.Query)}
	if visit.Platform == IOS {
		a.Base, a.StoreURL, a.AppStoreID = binding.IOS, p.apple.location(visit.Query), p.appStoreID
	}
	if link.Behavior == BehaveAutomatic || link.Behavior == BehaveIntelligent && !visit.InApp {
		a.Opening = OpenAutomatic
	}
	if a.InstallURL = a.StoreURL; a.StoreURL != "" && host.Recovery != nil && host.Recovery.ByToken {
		a.InstallURL = installAddress(a.Address)
	}
	a.NativeURI = nativeURI(&p.app, host, visit, a.Fallback())
	a.Template = TemplateOf(a.Base, link, host)
	return &a
}

// InstallPath begins the paths that lead to the store with a recovery token; the path
// of the link follows.
const InstallPath = "_service/install/"

// TokenParameter names a recovery token: in the referrer of the Play Store, and in the
// fragment of the address that visitors of iOS copy.
const TokenParameter = "waymark_token"

// CopiedAddress is what a visitor of iOS copies for the app: the address of a link with
// a recovery token.
func CopiedAddress(link, token string) string { return link + "#" + TokenParameter + "=" + token }

// installAddress returns the address of a link's hostname that leads to the store
// with a recovery token.
func installAddress(link string) string {
	scheme, rest, _ := strings.Cut(link, "://")
	host, path, _ := strings.Cut(rest, "/")
	return scheme + "://" + host + "/" + InstallPath + path
}

// TemplateOf returns the template of a link's page: "official", or
// "<template id>@<version>".
func TemplateOf(base binding.Base, link *Link, host *Host) string {
	for _, t := range [...]*Templates{&link.Templates, &host.Templates} {
		if chosen := t.Of(base); chosen != "" {
			return chosen
		}
	}
	return binding.OfficialRef
}

// appStoreID returns the number of an app by its address in the App Store, "" when
// the address is another one.
func appStoreID(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host != "apps.apple.com" && u.Host != "itunes.apple.com" || !strings.Contains(u.Path, "/app/") {
		return ""
	}
	id, found := strings.CutPrefix(u.Path[strings.LastIndexByte(u.Path, '/')+1:], "id")
	if !found || len(id) > 20 || strings.Trim(id, "0123456789") != "" {
		return ""
	}
	return id
}
