package redirect

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/waymarkhq/waymark/internal/clicklog"
	"github.com/waymarkhq/waymark/internal/opt"
	"github.com/waymarkhq/waymark/internal/route"
	"github.com/waymarkhq/waymark/internal/utm"
	"github.com/waymarkhq/waymark/internal/weburl"
)

// resolution is what an app learns of a link: nothing unless it is Matched.
type resolution struct {
	LinkID     *string        `json:"linkId"`
	AppPath    *string        `json:"appPath"`
	Parameters jsontext.Value `json:"parameters"`
	UTM        utm.UTM        `json:"utm"`
	Matched    bool           `json:"matched"`
}

// noLink is the one answer for everything that leads to no link: unknown, expired,
// archived, used, of another hostname or another app.
var noLink = appAnswer{http.StatusOK, unmatched, resolution{Parameters: jsontext.Value("{}")}}

// contentOf is the answer for a link.
func contentOf(link *route.Link) appAnswer {
	own := link.AllUTM()
	return appAnswer{http.StatusOK, matched, resolution{
		LinkID: &link.LinkID, AppPath: opt.TextPtr(link.AppPath), Parameters: jsontext.Value(cmp.Or(link.Parameters, "{}")),
		UTM: utm.UTM{Source: opt.TextPtr(own.Source), Medium: opt.TextPtr(own.Medium), Campaign: opt.TextPtr(own.Campaign),
			Term: opt.TextPtr(own.Term), Content: opt.TextPtr(own.Content)},
		Matched: true,
	}}
}

type resolveInput struct {
	URL string `json:"url" minLength:"1" maxLength:"16384"`
	// InstallID is part of the contract; opening a link by itself is no event.
	InstallID opt.Opt[string] `json:"installId,omitzero" minLength:"1" maxLength:"128"`
}

// resolve answers POST /_service/resolve: what the link at an address is for the app.
func (h *Handler) resolve(c *appCall) (appAnswer, error) {
	in, err := h.bodies.resolve(c.w, c.Request)
	if err != nil {
		return appAnswer{}, err
	}
	path, ok := linkPath(in.URL, c.hostname)
	if !ok {
		return noLink, nil
	}
	link, err := h.Cache.Link(c.Context(), c.hostname, path)
	if err != nil {
		return appAnswer{}, err
	}
	var clicks int64
	if link != nil && link.MaxClicks != nil {
		if clicks, err = h.Clicks.Clicks(c.Context(), link.LinkID); err != nil {
			return appAnswer{}, err
		}
	}
	if !link.Open(c.host, clicks, c.now) {
		return noLink, nil
	}
	return contentOf(link), nil
}

type recoverInput struct {
	Token string `json:"token" minLength:"1" maxLength:"512"`
}

// recover answers POST /_service/recover: what the link is that led to the installation
// of the app. A token works once. A limit of clicks does not matter any more: the
// visitor with the token was one of those who were let in.
func (h *Handler) recover(c *appCall) (appAnswer, error) {
	in, err := h.bodies.recover(c.w, c.Request)
	if err != nil {
		return appAnswer{}, err
	}
	if c.host.Recovery == nil || !c.host.Recovery.ByToken {
		return noLink, nil
	}
	keys, err := h.recoveries.keys(c.Context())
	if err != nil {
		return appAnswer{}, err
	}
	t, ok := readToken(&keys.recovery, c.hostname, in.Token)
	if !ok || c.now >= t.expires {
		return noLink, nil
	}
	// From here on the app gets its answer, also when it is about to leave: a token must
	// not be used up by half a call.
	ctx := context.WithoutCancel(c.Context())
	links, err := h.Cache.Links(ctx, c.hostname, []string{t.linkID})
	if err != nil {
		return appAnswer{}, err
	}
	link := links[0]
	if link == nil {
		return noLink, nil
	}
	if !link.Open(c.host, 0, c.now) {
		return noLink, nil
	}
	switch first, err := h.recoveries.use(ctx, &t); {
	case err != nil:
		return appAnswer{}, err
	case !first:
		return noLink, nil
	}
	event := h.appEvent(clicklog.RecoveryMatched, c, link, "")
	if err := h.record(&event, &c.from, c.now); err != nil {
		h.metrics.lost.Inc()
	}
	return contentOf(link), nil
}

// linkPath returns the path of the link at an address of a hostname, in the form that
// routes have. The address may have any query and fragment, and may be one that leads
// to the store. When it opens an app by the app's own scheme, it is the one in its
// parameter route.LinkParameter.
func linkPath(text, hostname string) (path string, ok bool) {
	u, err := url.Parse(text)
	if err == nil && !isWeb(u) {
		u, err = url.Parse(u.Query().Get(route.LinkParameter))
	}
	if err != nil || !isWeb(u) {
		return "", false
	}
	host, ok := weburl.AuthorityHost(u.Host)
	if !ok {
		host, ok = weburl.Hostname(u.Hostname()) // may have letters beyond ASCII
	}
	if path, clean := cleanPath(u); ok && clean && host == hostname && path != "" {
		return strings.TrimPrefix(path, route.InstallPath), true
	}
	return "", false
}

func isWeb(u *url.URL) bool { return u.Scheme == "https" || u.Scheme == "http" }
