package redirect

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/waymarkhq/waymark/internal/binding"
	"github.com/waymarkhq/waymark/internal/clicklog"
	"github.com/waymarkhq/waymark/internal/page"
	"github.com/waymarkhq/waymark/internal/route"
	"github.com/waymarkhq/waymark/internal/visitor"
)

// busy is the answer to an address that asked too often.
var busy = newText(http.StatusTooManyRequests, textType, noStore, "Too many requests. Please try again in a minute.\n")

// install sends a visitor who wants the app to its store, with a token by which the app
// finds the link again: on Android in the referrer, on iOS by way of a page from which
// the visitor copies it. Everybody else goes where the link leads. It is no click: the
// page with the button was one.
func (h *Handler) install(w http.ResponseWriter, c *appCall, path string) outcome {
	if after := h.quotas.take(c.Context(), c.now, installEndpoint, c.from.Address()); after > 0 {
		h.countInstall(limited)
		w.Header().Set("Retry-After", strconv.Itoa(after))
		return busy.write(w, c.Request)
	}
	link, err := h.Cache.Link(c.Context(), c.hostname, path)
	if err != nil {
		h.countInstall(away)
		return h.unavailable(w, c.Request, c.host, err)
	}
	agent := &c.from.Agent
	// As for a program, Decide has no page that opens the app. A limit of clicks does not
	// turn away the visitor whose click was the last one, but then there is no token.
	visit := route.Visit{Platform: agent.Platform, Query: c.URL.RawQuery, Automated: true}
	if link != nil && link.ByCountry() {
		visit.Country = c.from.Country()
	}
	decision := route.Decide(link, c.host, visit, c.now)
	if !recoverable(c, link, &decision) {
		h.countInstall(withoutToken)
		if decision.Live { // the link itself counts the visit, and knows whether it is used up
			decision = route.Decision{Status: http.StatusFound,
				Location: route.WithQuery(h.Address(c.hostname, link.Prefix, link.Slug), c.URL.RawQuery)}
		}
		return h.answer(w, c.Request, c.host, decision)
	}
	switch token := h.newRecovery(c, link); {
	case token == "":
		h.countInstall(withoutToken)
	case visit.Platform == route.IOS:
		h.countInstall(tokenMade)
		return h.show(w, c.Request, c.host, binding.Recovery, route.TemplateOf(binding.Recovery, link, c.host),
			&page.Visit{
				Title: link.Title, Description: link.Description, Data: link.Variables(),
				InstallURL: decision.Location,
				CopyText:   route.CopiedAddress(h.Address(c.hostname, link.Prefix, link.Slug), token),
			})
	default:
		h.countInstall(tokenMade)
		decision.Location = withReferrer(decision.Location, c.hostname, token)
	}
	return h.answer(w, c.Request, c.host, decision)
}

// recoverable reports whether a visitor whom a decision sends to a store can have a
// token: a person on a phone, on the way to the app of a link that opens one. A rule
// never leads to a store.
func recoverable(c *appCall, link *route.Link, d *route.Decision) bool {
	agent := &c.from.Agent
	return d.Live && d.Destination == route.ToStore && !link.WebOnly &&
		(agent.Platform == route.Android || agent.Platform == route.IOS) && agent.Device != visitor.Bot &&
		c.host.Recovery != nil && c.host.Recovery.ByToken
}

func (h *Handler) countInstall(o callOutcome) {
	h.metrics.calls.WithLabelValues(string(installEndpoint), string(o)).Inc()
}

// newRecovery returns a token for a link and records that; "" for a link that is used
// up, or when the database is needed and away: the visitor still gets the app.
func (h *Handler) newRecovery(c *appCall, link *route.Link) string {
	ctx := context.WithoutCancel(c.Context())
	keys, err := h.recoveries.keys(ctx)
	if err == nil && link.MaxClicks != nil {
		var clicks int64
		if clicks, err = h.Clicks.Clicks(ctx, link.LinkID); err == nil && clicks >= *link.MaxClicks {
			return ""
		}
	}
	if err != nil {
		if h.awayLog.allows(time.Now()) {
			h.Log.Warn("visitors go to the store without a recovery token", "error", err)
		}
		return ""
	}
	expires := c.now.Add(time.Duration(c.host.Recovery.TokenTTLSeconds) * time.Second)
	token := newToken(&keys.recovery, c.hostname, link.LinkID, expires)
	if token == "" {
		return ""
	}
	if c.Method == http.MethodGet { // by HEAD nobody sees the token
		event := h.event(clicklog.RecoveryCreated, c.hostname, link, &c.from, c.now)
		event.Source, event.Destination = c.from.Agent.Source(false, event.ReferrerHost), string(route.ToStore)
		if err := h.record(&event, &c.from, c.now); err != nil {
			h.metrics.lost.Inc()
		}
	}
	return token
}

// withReferrer returns the address of an app in the Play Store with a referrer, which
// Google Play keeps for the app (Play Install Referrer). It is a query in itself: the
// token, first as nobody may cut it off; what the store's address has as a referrer
// already; and the campaign parameters of the address. Tools that read referrers look
// for utm_source, so there always is one: the hostname, unless something else is set.
func withReferrer(location, hostname, token string) string {
	location, fragment, _ := strings.Cut(location, "#")
	base, query, _ := strings.Cut(location, "?")
	var kept, referrer []string
	named := map[string]bool{route.TokenParameter: true}
	add := func(pair string) {
		if name, _, _ := strings.Cut(pair, "="); pair != "" && !named[name] {
			named[name] = true
			referrer = append(referrer, pair)
		}
	}
	var campaign []string
	for pair := range strings.SplitSeq(query, "&") {
		switch name, value, _ := strings.Cut(pair, "="); {
		case pair == "":
		case name == "referrer":
			own, err := url.QueryUnescape(value)
			for pair := range strings.SplitSeq(own, "&") {
				if err == nil {
					add(pair)
				}
			}
		default:
			kept = append(kept, pair)
			if strings.HasPrefix(name, "utm_") {
				campaign = append(campaign, pair)
			}
		}
	}
	for _, pair := range campaign {
		add(pair)
	}
	add("utm_source=" + hostname)
	referrer = append([]string{route.TokenParameter + "=" + token}, referrer...)
	kept = append(kept, "referrer="+url.QueryEscape(strings.Join(referrer, "&")))
	location = base + "?" + strings.Join(kept, "&")
	if fragment != "" {
		location += "#" + fragment
	}
	return location
}
