// Package browser knows what browsers add to a request: the cookies of this installation, and
// from which site a request comes. Whoever a cookie names is for package actor to say.
//
// A browser sends cookies along by itself, also when another site has it ask. So a cookie
// counts only where the browser tells that a page of ours asks.
package browser

import (
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Site is the address of the API, at which browsers sign in. The zero Site is none, for
// which no cookie counts.
type Site struct {
	// Origin is scheme and host, as in https://api.example.com.
	Origin string
	host   string // without the port
	port   string
	secure bool
}

// NewSite returns the site of a URL, which has a scheme and a host.
func NewSite(u *url.URL) Site {
	return Site{Origin: u.Scheme + "://" + u.Host, host: u.Hostname(), port: u.Port(), secure: u.Scheme == "https"}
}

// Host returns the hostname, without a port.
func (s Site) Host() string { return s.host }

// name returns the name of a cookie. Browsers let nobody but this host itself set one whose
// name begins with __Host-, and that over HTTPS alone. Plain HTTP is for the machine on which
// the browser runs; some browsers take no Secure cookies there.
func (s Site) name(purpose string) string {
	name := "waymark" + purpose
	if s.secure {
		name = "__Host-" + name
	}
	return name
}

// The purposes of cookies.
const (
	session = ""
	entry   = "-entry"
)

// maxCookie is more than the value of any cookie of ours has, in bytes.
const maxCookie = 4 << 10

// Session returns the secret of the browser's session, "" where the request brings none, or
// several.
func (s Site) Session(r *http.Request) string { return s.cookie(r, session) }

// SetSession has the browser keep the secret of its session. It goes along with requests of
// our own pages alone.
func (s Site) SetSession(w http.ResponseWriter, secret string, lasts time.Duration) {
	s.set(w, session, secret, lasts, http.SameSiteStrictMode)
}

// Entry returns what SetEntry left in the browser, "" for nothing.
func (s Site) Entry(r *http.Request) string { return s.cookie(r, entry) }

// SetEntry has the browser keep something while it is at the identity provider, from which it
// comes back by a link of another site.
func (s Site) SetEntry(w http.ResponseWriter, value string, lasts time.Duration) {
	s.set(w, entry, value, lasts, http.SameSiteLaxMode)
}

func (s Site) cookie(r *http.Request, purpose string) string {
	if s.Origin == "" {
		return ""
	}
	found := r.CookiesNamed(s.name(purpose))
	if len(found) != 1 || len(found[0].Value) > maxCookie {
		return ""
	}
	return found[0].Value
}

// set sets a cookie; one that lasts no time is removed.
func (s Site) set(w http.ResponseWriter, purpose, value string, lasts time.Duration, same http.SameSite) {
	age := int(lasts / time.Second)
	if value == "" || age <= 0 {
		value, age = "", -1
	}
	http.SetCookie(w, &http.Cookie{Name: s.name(purpose), Value: value, Path: "/", MaxAge: age, HttpOnly: true,
		Secure: s.secure, SameSite: same})
}

// Own reports whether a request comes from a page of this site, as far as a browser tells. One
// without effects may also be what a person entered into the browser, and need not name its
// origin: programs of other sites do not get to read its answer.
func (s Site) Own(r *http.Request) bool {
	safe := r.Method == http.MethodGet || r.Method == http.MethodHead
	origins, sites := r.Header["Origin"], r.Header["Sec-Fetch-Site"]
	if len(origins) > 1 || len(sites) > 1 || s.Origin == "" {
		return false
	}
	// A page that sends no referrer may have a request of its own say null.
	if hidden := len(sites) == 1 && origins != nil && origins[0] == "null"; len(origins) == 1 && !hidden && !s.is(origins[0]) {
		return false
	}
	switch {
	case len(sites) == 0:
		return len(origins) == 1 || safe
	case sites[0] == "none":
		return safe && r.Header.Get("Sec-Fetch-Mode") == "navigate"
	}
	return sites[0] == "same-origin"
}

// is reports whether an origin is that of this site. A machine has several names for itself.
func (s Site) is(origin string) bool {
	if origin == s.Origin {
		return true
	}
	u, err := url.Parse(origin)
	return err == nil && Loopback(s.host) && Loopback(u.Hostname()) && u.Port() == s.port &&
		strings.HasPrefix(s.Origin, u.Scheme+"://") && u.Scheme+"://"+u.Host == origin
}

// Loopback reports whether a host is the machine itself.
func Loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
