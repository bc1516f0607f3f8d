package redirect

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/waymarkhq/waymark/internal/clickcount"
	"github.com/waymarkhq/waymark/internal/clicklog"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/route"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/tracing"
	"github.com/waymarkhq/waymark/internal/visitor"
	"github.com/waymarkhq/waymark/internal/weburl"
)

// Options are what a Handler works with. All are needed unless said
// otherwise.
type Options struct {
	Cache *route.Cache
	// DB has the keys of recovery tokens, and the tokens that were used.
	DB *store.DB
	// Append writes a click durably before the visitor is answered; it must
	// not keep the event.
	Append func(*clicklog.Event) error
	// Unstored counts an event of an app that is not stored, and reports whether it could.
	Unstored func(appID string, at clock.Instant) bool
	// Clicks counts the clicks of links that have a limit.
	Clicks *clickcount.Counter
	// Visitors finds out who sends a request, and Salts makes the visitor hash.
	Visitors *visitor.Visitors
	Salts    *visitor.Salts
	// Ready reports whether the process can answer visitors.
	Ready func() bool
	// Address returns the public address of a link.
	Address func(hostname, prefix, slug string) string
	// Assets answers on the hostname AssetsHost, which has no links; "" for
	// none.
	Assets     http.Handler
	AssetsHost string
	// Installation is what the health answer proves the installation by
	// (route.InstallationHeader).
	Installation string
	// LimitScale multiplies how many calls of apps an address may make, and how many
	// events are stored.
	LimitScale float64
	Clock      *clock.Clock
	Log        *slog.Logger
	// Tracer traces a share of the visits; nil traces none.
	Tracer *tracing.Tracer
	// Metrics registers the counters; may be nil.
	Metrics prometheus.Registerer
}

// Handler answers the visitors of links.
type Handler struct {
	Options
	installation []string
	metrics      metrics
	recoveries   *recoveries
	quotas       *quotas
	flooding     *flooding
	bodies       bodies
	// failing is set when the last click could not be written.
	failing atomic.Bool
	lossLog atMostOnceASecond
	awayLog atMostOnceASecond
}

// New returns a Handler.
func New(o Options) *Handler {
	return &Handler{
		Options: o, installation: []string{o.Installation}, metrics: newMetrics(o.Metrics),
		recoveries: newRecoveries(o.DB), quotas: newQuotas(o.LimitScale), bodies: newBodies(o.Log),
		flooding: newFlooding(o.LimitScale),
	}
}

// Run reads what the handler needs besides routes and clicks as soon as the database
// is there, or until ctx is done.
func (h *Handler) Run(ctx context.Context) { h.recoveries.run(ctx) }

// ServeHTTP answers one request.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	began := time.Now()
	outcome := h.traced(w, r)
	h.metrics.answers[outcome].Inc()
	h.metrics.seconds.Observe(time.Since(began).Seconds())
	if h.Log.Enabled(r.Context(), slog.LevelDebug) {
		h.Log.DebugContext(r.Context(), "visit", "method", r.Method, "host", r.Host, "path", r.URL.Path, "outcome",
			outcome.String())
	}
}

// traced answers one request, and has a trace made of a share of them.
func (h *Handler) traced(w http.ResponseWriter, r *http.Request) outcome {
	if !h.Tracer.DrawsVisit() {
		return h.serve(w, r)
	}
	ctx, span := h.Tracer.Visit(r.Context(), "visit")
	defer span.End()
	outcome := h.serve(w, r.WithContext(ctx))
	span.SetAttributes(tracing.Text("waymark.outcome", outcome.String()))
	return outcome
}

// serve answers a hostname that is none of this installation, or whose ownership
// was never proved, with nothing: whoever points a name here gets no content under
// it. The health alone is told on every hostname: the verification of a domain asks
// before the domain has a route, and load balancers ask by address.
func (h *Handler) serve(w http.ResponseWriter, r *http.Request) outcome {
	path, clean := cleanPath(r.URL)
	reads := r.Method == http.MethodGet || r.Method == http.MethodHead
	if path == "_service/health" && clean && reads {
		return h.health(w, r)
	}
	hostname, ok := weburl.AuthorityHost(r.Host)
	if !ok {
		return nothing.write(w, r)
	}
	if hostname == h.AssetsHost {
		h.Assets.ServeHTTP(w, r)
		return service
	}
	host, err := h.Cache.Host(r.Context(), hostname)
	switch {
	case err != nil:
		return h.unavailable(w, r, nil, err)
	case host == nil:
		return nothing.write(w, r)
	case clean && (path == "_service" || strings.HasPrefix(path, servicePath)):
		return h.service(w, r, hostname, host, path)
	case !reads:
		w.Header()["Allow"] = allowed
		return h.notify(w, r, host, methodNotice)
	case !clean:
		return h.answer(w, r, host, route.Unknown(host))
	case path == "":
		return h.answer(w, r, host, route.Root(host))
	}
	switch first, _, _ := strings.Cut(path, "/"); first {
	case ".well-known":
		return h.association(w, r, host, path)
	case "robots.txt":
		return robots(w, r, host.NoIndex)
	case "favicon.ico":
		w.Header()["Cache-Control"] = cacheForADay
		w.WriteHeader(http.StatusNoContent)
		return service
	}
	link, err := h.Cache.Link(r.Context(), hostname, path)
	if err != nil {
		return h.unavailable(w, r, host, err)
	}
	return h.visit(w, r, hostname, host, link)
}

// visit answers a visitor of an address that may be a link's.
//
// Only GET is a click: nobody sees a page by HEAD. Programs send HEAD to check
// a link or to find where it leads, and then GET to follow it; counting both
// would count the visit twice. A limit counts only the clicks of people;
// programs do not use it up, but see that it is reached.
//
// When a click cannot be written, the visitor is still sent on; the click is
// lost and counted as lost. A link with a click limit turns the visitor away
// instead: it must not let in more visitors than its limit because of a full
// disk.
func (h *Handler) visit(w http.ResponseWriter, r *http.Request, hostname string, host *route.Host,
	link *route.Link) outcome {
	from := h.Visitors.Of(r)
	now := h.Clock.Now()
	visit := route.Visit{Platform: from.Agent.Platform, Query: r.URL.RawQuery, Crawler: from.Agent.Preview,
		Automated: from.Agent.Device == visitor.Bot}
	if link == nil {
		return h.answer(w, r, host, route.Decide(nil, host, visit, now))
	}
	if link.OpensApp(host, &visit) {
		visit.Address, visit.InApp = h.Address(hostname, link.Prefix, link.Slug), from.InApp()
	}
	if link.ByCountry() {
		visit.Country = from.Country()
	}
	if link.MaxClicks != nil {
		var err error
		if visit.Clicks, err = h.Clicks.Clicks(r.Context(), link.LinkID); err != nil {
			return h.unavailable(w, r, host, err)
		}
	}
	decision := route.Decide(link, host, visit, now)
	if decision.Live && r.Method == http.MethodGet {
		limited := link.MaxClicks != nil && from.Agent.Device != visitor.Bot
		if limited {
			taken, err := h.Clicks.Take(r.Context(), link.LinkID, *link.MaxClicks)
			if err != nil {
				return h.unavailable(w, r, host, err)
			}
			if !taken { // others came first
				visit.Clicks = *link.MaxClicks
				return h.answer(w, r, host, route.Decide(link, host, visit, now))
			}
		}
		switch err := h.click(hostname, link, &from, &decision, limited, now); {
		case err != nil && limited:
			h.Clicks.GiveBack(link.LinkID)
			return h.unavailable(w, r, host, err)
		case err != nil:
			h.metrics.lost.Inc()
		}
	}
	switch {
	case decision.Preview:
		return h.preview(w, r, hostname, host, link, decision.Location)
	case decision.App != nil:
		return h.openApp(w, r, host, link, decision.App)
	}
	return h.answer(w, r, host, decision)
}

// click records a visit. limited says that it counts against the link's limit.
func (h *Handler) click(hostname string, link *route.Link, from *visitor.Visitor, decision *route.Decision,
	limited bool, now clock.Instant) error {
	event := h.event(clicklog.Click, hostname, link, from, now)
	event.Source = from.Agent.Source(decision.QR, event.ReferrerHost)
	event.RuleID, event.Destination = decision.RuleID, string(decision.Destination)
	event.Limited = limited
	return h.record(&event, from, now)
}

// event returns an event of a link with what a request tells of its sender, but for
// the source and the destination.
func (h *Handler) event(kind clicklog.EventType, hostname string, link *route.Link, from *visitor.Visitor,
	now clock.Instant) clicklog.Event {
	agent := &from.Agent
	return clicklog.Event{
		At:   now,
		Type: kind,
		Link: clicklog.Link{
			ID: link.LinkID, AppID: link.AppID, Hostname: hostname, Prefix: link.Prefix, Slug: link.Slug,
			Group: link.Group, CampaignID: link.CampaignID, FolderID: link.FolderID, TagIDs: link.TagIDs,
		},
		Visitor:      h.Salts.Hash(now, from.Address(), agent.Text),
		Device:       agent.Device,
		OS:           agent.OS,
		Browser:      agent.Browser,
		Country:      from.Country(),
		ReferrerHost: from.Referrer(),
	}
}

// record writes an event durably. One of a flood is counted on its day and not stored;
// when it is Limited it is in the log all the same, because limited clicks are counted
// from there, each exactly once (package clickcount). There are never more of those than
// the limit of their link allows.
func (h *Handler) record(event *clicklog.Event, from *visitor.Visitor, now clock.Instant) error {
	flood := h.flooding.event(now, from.Address(), event.Link.ID)
	switch {
	case flood != noFlood && h.Unstored(event.Link.AppID, event.At):
		h.metrics.unstored[flood].Inc()
		if event.Unstored = true; !event.Limited {
			return nil
		}
	case event.ReferrerHost != "" && !h.flooding.referrer(now, event.Link.ID, event.ReferrerHost):
		event.ReferrerHost = ""
		h.metrics.referrers.Inc()
	}
	err := h.Append(event)
	if err != nil && h.lossLog.allows(time.Now()) {
		h.Log.Error("clicks are being lost: the click log cannot be written", "error", err)
	}
	if failed := err != nil; h.failing.Load() != failed {
		h.failing.Store(failed)
	}
	return err
}

// answer writes a decision.
func (h *Handler) answer(w http.ResponseWriter, r *http.Request, host *route.Host, d route.Decision) outcome {
	if d.IsPage() {
		return h.notify(w, r, host, noticeOf(&d))
	}
	header := w.Header()
	header["Location"] = []string{d.Location}
	header["Cache-Control"] = privateNoStore
	header["Referrer-Policy"] = referrerPolicy
	w.WriteHeader(d.Status)
	if d.Live {
		return redirected
	}
	return elsewhere
}

// unavailable answers when the route of an address, or the number of its
// clicks, is not in memory and the database does not answer.
func (h *Handler) unavailable(w http.ResponseWriter, r *http.Request, host *route.Host, err error) outcome {
	if r.Context().Err() == nil && h.awayLog.allows(time.Now()) {
		h.Log.Warn("visitors cannot be answered", "error", err)
	}
	w.Header()["Retry-After"] = retryAfter
	return h.notify(w, r, host, unavailableNotice)
}

// health tells whether the process can answer visitors. Lost clicks do not make it
// unhealthy, as its visitors are still served.
func (h *Handler) health(w http.ResponseWriter, r *http.Request) outcome {
	w.Header()[route.InstallationHeader] = h.installation
	switch {
	case !h.Ready():
		unavailableHealth.write(w, r)
	case h.failing.Load():
		degradedHealth.write(w, r)
	default:
		okHealth.write(w, r)
	}
	return service
}

// atMostOnceASecond keeps a storm of errors out of the log.
type atMostOnceASecond struct{ last atomic.Int64 }

func (a *atMostOnceASecond) allows(now time.Time) bool {
	last := a.last.Load()
	return now.UnixNano()-last >= int64(time.Second) && a.last.CompareAndSwap(last, now.UnixNano())
}
