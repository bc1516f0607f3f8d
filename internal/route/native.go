package route

import (
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/waymarkhq/waymark/internal/page"
)

const (
	// maxNative is how long what an app gets may be, after its scheme: systems and
	// apps cut longer addresses. Only the address of the link may be longer.
	maxNative = 2000
	// maxFallback is how long the escaped fallback of an intent may be; with a longer
	// one the buttons of the page alone lead on.
	maxFallback = 4000
)

// LinkParameter is the parameter by which an app that was opened finds the address
// of the link.
const LinkParameter = "waymark_link"

// appAddress is what a link says to the app, prepared for the address of the link to
// be added: "<path>?<pairs>#<fragment>" in safe ASCII.
type appAddress struct {
	path, fragment string
	// pairs are the parameters of the path, then those of the link.
	pairs []string
}

// newAppAddress prepares the path and the parameters of a link. What can never fit
// is left out: the app asks for it (completions.md §10, resolve).
func newAppAddress(link *Link) (a appAddress) {
	path, fragment, _ := strings.Cut(link.AppPath, "#")
	path, query, _ := strings.Cut(path, "?")
	a.path = string(appendNative(nil, path))
	// An intent has fields after its last #, which end with a semicolon.
	a.fragment = strings.ReplaceAll(string(appendNative(nil, fragment)), ";", "%3B")
	if len(a.path)+len(a.fragment) > maxNative {
		a.path, a.fragment = "", ""
	}
	names, room := map[string]bool{LinkParameter: true}, maxNative
	add := func(name, pair string) {
		if !names[name] && len(pair) < room {
			a.pairs, room = append(a.pairs, pair), room-len(pair)
		}
	}
	own := map[string]bool{}
	for pair := range strings.SplitSeq(query, "&") {
		if name := parameterName(pair); pair != "" {
			add(name, string(appendNative(nil, pair)))
			own[name] = true
		}
	}
	for name := range own {
		names[name] = true
	}
	parameters, err := page.ParseData(link.Parameters)
	if err != nil { // links are stored with an object
		return a
	}
	for _, name := range slices.Sorted(maps.Keys(parameters)) {
		add(name, escape(name)+"="+escape(parameters[name]))
	}
	return a
}

// bytes estimates the memory that it takes.
func (a *appAddress) bytes() (n int) {
	n = len(a.path) + len(a.fragment)
	for _, pair := range a.pairs {
		n += len(pair) + 16
	}
	return n
}

// with returns what follows "<scheme>://": the path, and the parameters with the
// address of the link as the last. Where there is no room for everything, parameters
// of the link are left out first, then the query of the visit, then the path.
func (a *appAddress) with(link, query string) string {
	path, fragment, own := a.path, a.fragment, LinkParameter+"="+escape(link)
	room := func() int { return maxNative - len(path) - len(fragment) - len(own) - len("?#") }
	if room() < 0 {
		path, fragment = "", ""
	}
	if full := LinkParameter + "=" + escape(WithQuery(link, query)); len(full)-len(own) <= room() {
		own = full
	}
	var b strings.Builder
	b.WriteString(path)
	b.WriteByte('?')
	left := room()
	for _, pair := range a.pairs {
		if len(pair) < left {
			b.WriteString(pair)
			b.WriteByte('&')
			left -= len(pair) + 1
		}
	}
	b.WriteString(own)
	if fragment != "" {
		b.WriteByte('#')
		b.WriteString(fragment)
	}
	return b.String()
}

// nativeURI returns what opens the app: "<scheme>://" and the app's address, as an
// intent on Android. An Android app without a scheme is opened with the address of
// the link, which its manifest declares (App Links).
func nativeURI(app *appAddress, host *Host, visit *Visit, fallback string) string {
	scheme, rest, _ := strings.Cut(visit.Address, "://")
	if host.Scheme != "" {
		scheme, rest = host.Scheme, app.with(visit.Address, visit.Query)
	} else if full := WithQuery(rest, visit.Query); len(full) <= maxNative {
		rest = full
	}
	if visit.Platform != Android {
		return scheme + "://" + rest
	}
	// Android takes what stands before the last # as the data of the intent.
	intent := "intent://" + rest + "#Intent;scheme=" + scheme + ";action=android.intent.action.VIEW;" +
		"category=android.intent.category.BROWSABLE;"
	if host.AndroidPackage != "" {
		intent += "package=" + host.AndroidPackage + ";"
	}
	if escaped := escape(fallback); escaped != "" && len(escaped) <= maxFallback {
		intent += "S.browser_fallback_url=" + escaped + ";"
	}
	return intent + "end"
}

// WithQuery returns an address without a query with that of a visit. It has no
// quotes, so that it can stand between any.
func WithQuery(address, query string) string {
	t := target{base: address, plain: address, join: "?"}
	return strings.ReplaceAll(t.location(query), "'", "%27")
}

// appendNative is appendSafe for a part of an app's address. It also encodes what
// ends an attribute of HTML, and what has a meaning in a hostname: the first segment
// of the path stands where one is expected.
func appendNative(b []byte, s string) []byte {
	const hex = "0123456789ABCDEF"
	for _, c := range appendSafe(nil, s, true) {
		if strings.IndexByte("'[]@", c) >= 0 {
			b = append(b, '%', hex[c>>4], hex[c&15])
		} else {
			b = append(b, c)
		}
	}
	return b
}

// escape returns a value for a parameter of an address. A space is %20: iOS takes a
// plus for itself.
func escape(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "+", "%20") }
