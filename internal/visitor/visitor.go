package visitor

import (
	"net/http"
	"net/netip"
	"strings"

	"github.com/waymarkhq/waymark/internal/clientaddr"
	"github.com/waymarkhq/waymark/internal/route"
	"github.com/waymarkhq/waymark/internal/weburl"
)

// Options say which proxies and which file are believed about a visitor. All
// may be empty.
type Options struct {
	// TrustedProxies are the peers whose X-Forwarded-For and CountryHeader
	// are believed.
	TrustedProxies clientaddr.Trusted
	// CountryHeader is the header in which a trusted proxy names the visitor's
	// country.
	CountryHeader string
	// Countries is asked before that header.
	Countries *Countries
}

// Visitors finds out who sends a request.
type Visitors struct {
	Options
	agents *agents
}

// New returns a reader of visitors.
func New(o Options) *Visitors {
	o.CountryHeader = http.CanonicalHeaderKey(o.CountryHeader)
	return &Visitors{Options: o, agents: newAgents()}
}

// Of returns the visitor who sends a request. Properties that take time to find
// are looked up only when they are asked for.
func (v *Visitors) Of(r *http.Request) Visitor {
	return Visitor{Agent: v.agents.of(r.Header), visitors: v, request: r}
}

// Visitor is who sends a request, and from where.
type Visitor struct {
	Agent Agent

	visitors *Visitors
	request  *http.Request
	// located is set once address and trusted are known.
	located bool
	address netip.Addr
	// trusted is set when a trusted proxy passed the request on.
	trusted bool
	country string // "" until it is asked for
}

// Address returns the visitor's address, the zero Addr when it is unknown.
func (v *Visitor) Address() netip.Addr {
	if !v.located {
		v.address, v.trusted = v.visitors.TrustedProxies.Of(v.request)
		v.located = true
	}
	return v.address
}

// Country returns the visitor's country: from the file, which knows more about
// an address than a proxy, else from the header of a trusted proxy.
func (v *Visitor) Country() string {
	if v.country != "" {
		return v.country
	}
	address := v.Address()
	if v.visitors.Countries != nil {
		v.country = v.visitors.Countries.of(address)
	}
	if values := v.request.Header[v.visitors.CountryHeader]; v.country == "" && v.trusted && len(values) == 1 {
		v.country = countryCode(values[0])
	}
	if v.country == "" {
		v.country = route.UnknownCountry
	}
	return v.country
}

// InApp reports whether the visitor is in the browser inside an app, and not in one
// that belongs to the visitor: such browsers swallow attempts to open another app,
// unless a tap asks for it. Those of the big social networks are known by name, most
// others by how the web views of Android and iOS name themselves. Safari View
// Controllers and Custom Tabs are the visitor's own browser, and say so.
func (v *Visitor) InApp() bool {
	if v.Agent.Device == Bot {
		return false
	}
	if v.Agent.embedded {
		return true
	}
	header := v.request.Header
	for _, brands := range header["Sec-Ch-Ua"] {
		if strings.Contains(brands, `"Android WebView"`) {
			return true
		}
	}
	// A web view of Android names its app, as com.example.reader. Scripts of pages set
	// the same header to XMLHttpRequest.
	return strings.IndexByte(header.Get("X-Requested-With"), '.') > 0
}

// Referrer returns the hostname of the page that the visitor comes from, or the
// package of the Android app, "" when there is none. Paths and queries of other
// people's pages are dropped.
func (v *Visitor) Referrer() string {
	values := v.request.Header["Referer"]
	if len(values) == 0 {
		return ""
	}
	scheme, rest, found := strings.Cut(values[0], "://")
	if !found || (scheme != "https" && scheme != "http" && scheme != "android-app") {
		return ""
	}
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		rest = rest[:i]
	}
	host, ok := weburl.AuthorityHost(rest[strings.LastIndexByte(rest, '@')+1:])
	if !ok {
		return ""
	}
	return host
}
