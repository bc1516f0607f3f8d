package route

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

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
}

// Fallback is where the visitor goes when the app does not open; "" for nowhere.
func (a *App) Fallback() string { return cmp.Or(a.InstallURL, a.WebURL) }

// OpensApps reports whether links of a host may open an app.
func (h *Host) OpensApps() bool { return h.Scheme != "" || h.AndroidPackage != "" }

// destination is what analytics says of the page: an app that is opened at once was
// the destination, whether or not it is installed.
func (a *App) destination() Destination {
	if a.Opening == OpenAutomatic {
		return ToApp
	}
	return ToPage
}

// openApp returns the page with which a visit opens the app; nil when the visit is
// sent on instead: it is no person's on a phone, the link is for the web only, or
// nothing is known that opens the app on this phone.
//
// Only its own scheme opens an app of iOS from a page of the same hostname:
// universal links are opened by the system before it asks the redirector.
func openApp(link *Link, host *Host, visit *Visit, p *plan) *App {
	if link.WebOnly || visit.Automated {
		return nil
	}
	a := App{Opening: OpenManual, WebURL: p.web.location(visit.Query)}
	switch {
	case visit.Platform == Android && (host.AndroidPackage != "" || host.Scheme != ""):
		a.Base, a.StoreURL = binding.Android, p.play.location(visit.Query)
	case visit.Platform == IOS && host.Scheme != "":
		a.Base, a.StoreURL = binding.IOS, p.apple.location(visit.Query)
	default:
		return nil
	}
	if link.Behavior == BehaveAutomatic || link.Behavior == BehaveIntelligent && !visit.InApp {
		a.Opening = OpenAutomatic
	}
	if a.InstallURL = a.StoreURL; a.StoreURL != "" && host.Recovery != nil && host.Recovery.ByToken {
		a.InstallURL = installAddress(visit.Address)
	}
	a.NativeURI = nativeURI(link, host, visit, a.Fallback())
	a.Template = TemplateOf(a.Base, link, host)
	return &a
}

// InstallPath begins the paths that lead to the store with a recovery token; the path
// of the link follows.
const InstallPath = "_service/install/"

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

// maxNative is how long the address that opens the app gets at most: longer ones
// are cut by some systems. Parameters that do not fit are left out; the app asks for
// them (completions.md §10, resolve).
const maxNative = 2000

// LinkParameter is the parameter by which an app that was opened finds the address
// of the link.
const LinkParameter = "waymark_link"

// nativeURI returns what opens the app: "<scheme>://<appPath>?<parameters>", as an
// intent on Android. An Android app without a scheme is opened with the address of
// the link, which its manifest declares (App Links).
func nativeURI(link *Link, host *Host, visit *Visit, fallback string) string {
	data, scheme := visit.Address, host.Scheme
	if scheme != "" {
		data = scheme + "://" + appAddress(link, visit.Address)
	} else {
		scheme, _, _ = strings.Cut(data, "://")
	}
	if visit.Platform != Android {
		return data
	}
	_, rest, _ := strings.Cut(data, "://")
	rest, fragment, _ := strings.Cut(rest, "#")
	if fragment != "" { // a second # would be taken for the intent's
		rest += "%23" + fragment
	}
	intent := "intent://" + rest + "#Intent;scheme=" + scheme + ";action=android.intent.action.VIEW;" +
		"category=android.intent.category.BROWSABLE;"
	if host.AndroidPackage != "" {
		intent += "package=" + host.AndroidPackage + ";"
	}
	if fallback != "" {
		intent += "S.browser_fallback_url=" + url.QueryEscape(fallback) + ";"
	}
	return intent + "end"
}

// appAddress returns the path and the parameters of a link for an app's own scheme,
// in safe ASCII.
func appAddress(link *Link, address string) string {
	path, fragment, _ := strings.Cut(link.AppPath, "#")
	path, query, _ := strings.Cut(path, "?")
	b := appendSafe(nil, path, false)
	join := "?"
	add := func(pair string) {
		b = append(append(b, join...), pair...)
		join = "&"
	}
	if query != "" {
		add(string(appendSafe(nil, query, true)))
	}
	own := LinkParameter + "=" + url.QueryEscape(address)
	for _, pair := range parameters(link.Parameters) {
		if len(b)+len(pair)+len(own)+len(fragment)+2 <= maxNative {
			add(pair)
		}
	}
	if address != "" {
		add(own)
	}
	if fragment != "" {
		b = appendSafe(append(b, '#'), fragment, true)
	}
	return string(b)
}

// parameters returns the members of a JSON object as parameters of an address, in
// the order of their names: strings as they are, everything else as JSON.
func parameters(object string) (pairs []string) {
	var members map[string]jsontext.Value
	if object == "" || json.Unmarshal([]byte(object), &members) != nil {
		return nil
	}
	for name, value := range members {
		s := string(value)
		if value.Kind() == '"' && json.Unmarshal(value, &s) != nil {
			continue
		}
		pairs = append(pairs, url.QueryEscape(name)+"="+url.QueryEscape(s))
	}
	slices.Sort(pairs)
	return pairs
}
