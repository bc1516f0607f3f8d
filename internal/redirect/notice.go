package redirect

import (
	"net/http"
	"strings"

	"github.com/waymarkhq/waymark/internal/binding"
	"github.com/waymarkhq/waymark/internal/page"
	"github.com/waymarkhq/waymark/internal/route"
)

// notice is a page that says why an address leads nowhere.
type notice struct {
	kind    page.Kind
	status  int
	outcome outcome
}

var (
	notFoundNotice    = notice{page.NotFound, http.StatusNotFound, notFound}
	goneNotice        = notice{page.Gone, http.StatusGone, gone}
	scheduledNotice   = notice{page.Scheduled, http.StatusNotFound, notFound}
	unavailableNotice = notice{page.Unavailable, http.StatusServiceUnavailable, unavailable}
	methodNotice      = notice{page.BadMethod, http.StatusMethodNotAllowed, badMethod}
)

// noticeOf returns what is said of a decision that leads nowhere.
func noticeOf(d *route.Decision) notice {
	switch {
	case d.Status == http.StatusGone:
		return goneNotice
	case d.Scheduled:
		return scheduledNotice
	}
	return notFoundNotice
}

// notify answers with a notice in the look of a hostname. A host that is not known
// because the database is away is nil.
func (h *Handler) notify(w http.ResponseWriter, r *http.Request, host *route.Host, n notice) outcome {
	if host == nil {
		host = &route.Host{}
	}
	base, name := lookOf(host, h.Visitors.Of(r).Agent.Platform)
	shown := page.Notice{Kind: n.kind, Language: languageOf(r), Nonce: newNonce(), AppName: host.AppName,
		AppLogo: host.AppLogo, HomeURL: host.HomeURL}
	if n.kind == page.Unavailable {
		shown.HomeURL = "" // the visitor is to try again
	}
	body := h.template(r, host, base, name).AppendNotice(nil, &shown)
	return writePage(w, r, n.status, n.outcome, noStore, shown.Nonce, body)
}

// lookOf returns the template in whose look a host shows notices: the one for the
// visitor's platform, or else any that its owner designed.
func lookOf(host *route.Host, platform route.Platform) (base binding.Base, name string) {
	base = binding.IOS
	if platform == route.Android {
		base = binding.Android
	}
	for _, b := range [...]binding.Base{base, binding.IOS, binding.Android, binding.Recovery} {
		if name := host.Templates.Of(b); strings.Contains(name, "@") {
			return b, name
		}
	}
	return base, binding.OfficialRef
}
