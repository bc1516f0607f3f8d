package redirect

import (
	"net/http"
	"strings"
	"time"

	"github.com/waymarkhq/waymark/internal/clicklog"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/opt"
	"github.com/waymarkhq/waymark/internal/route"
	"github.com/waymarkhq/waymark/internal/visitor"
)

// oldestEvent is how long an app may keep an event before it sends it.
const oldestEvent = 7 * 24 * time.Hour

type eventsInput struct {
	Events []eventInput `json:"events" minItems:"1" maxItems:"50"`
}

type eventInput struct {
	Type       clicklog.EventType     `json:"type" enum:"app_open,content_view"`
	LinkID     string                 `json:"linkId" minLength:"1" maxLength:"300"`
	InstallID  opt.Opt[string]        `json:"installId,omitzero" minLength:"1" maxLength:"128"`
	OccurredAt opt.Opt[clock.Instant] `json:"occurredAt,omitzero" format:"date-time"`
	// Platform is for apps whose user agent does not tell it.
	Platform opt.Opt[route.Platform] `json:"platform,omitzero" enum:"android,ios"`
}

// eventsResult tells how many events were counted, and how many name no link of the
// hostname.
type eventsResult struct {
	Accepted int `json:"accepted"`
	Ignored  int `json:"ignored"`
}

// events answers POST /_service/events: what people did in the app. The answer is sent
// once the events are in the click log.
//
// An instant that is ahead of this clock, or older than oldestEvent, counts as now: the
// clocks of phones are wrong at times, and an app whose event is refused for that would
// send it again and again.
func (h *Handler) events(c *appCall) (appAnswer, error) {
	in, err := h.bodies.events(c.w, c.Request)
	if err != nil {
		return appAnswer{}, err
	}
	keys, err := h.recoveries.keys(c.Context())
	if err != nil {
		return appAnswer{}, err
	}
	ids := make([]string, len(in.Events))
	for i := range in.Events {
		ids[i] = in.Events[i].LinkID
	}
	links, err := h.Cache.Links(c.Context(), c.hostname, ids)
	if err != nil {
		return appAnswer{}, err
	}
	var result eventsResult
	for i, link := range links {
		if link == nil || link.AppID != c.host.AppID {
			result.Ignored++
			continue
		}
		sent := &in.Events[i]
		event := h.appEvent(sent.Type, c, link, sent.Platform.Or(""))
		if at := sent.OccurredAt.Or(c.now); at <= c.now && at >= c.now.Add(-oldestEvent) {
			event.At = at
		}
		if sent.InstallID.Set {
			event.Install = installHash(&keys.installs, link.AppID, sent.InstallID.Value)
		}
		if err := h.record(&event, &c.from, c.now); err != nil {
			return appAnswer{}, err
		}
		result.Accepted++
	}
	return appAnswer{http.StatusAccepted, accepted, result}, nil
}

// appEvent returns an event of an app on a platform, "" for what its user agent tells.
func (h *Handler) appEvent(kind clicklog.EventType, c *appCall, link *route.Link,
	platform route.Platform) clicklog.Event {
	event := h.event(kind, c.hostname, link, &c.from, c.now)
	if platform == "" {
		platform = appPlatform(&c.from.Agent)
	}
	event.Device, event.OS, event.Browser = string(platform), "", ""
	switch platform {
	case route.Android:
		event.OS = "Android"
	case route.IOS:
		event.OS = "iOS"
	}
	event.Source, event.Destination, event.ReferrerHost = "app", string(route.ToApp), ""
	return event
}

// appPlatform returns the platform of the app that sends a request. Apps send the user
// agents of the libraries with which they call, some of which crawlers send too.
func appPlatform(agent *visitor.Agent) route.Platform {
	switch text := agent.Text; {
	case strings.Contains(text, "okhttp/"), strings.Contains(text, "Dalvik/"):
		return route.Android
	case strings.Contains(text, "CFNetwork/"), strings.Contains(text, "Darwin/"):
		return route.IOS
	}
	return agent.Platform
}
