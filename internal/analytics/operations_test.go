package analytics_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/waymarkhq/waymark/internal/apitest"
	"github.com/waymarkhq/waymark/internal/clicklog"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/fault"
)

const day = 24 * time.Hour

// period returns a query of an app from one instant to another.
func period(owner *apitest.Client, start, end clock.Instant) string {
	return "?appId=" + owner.AppID + "&start=" + start.String() + "&end=" + end.String()
}

// Every operation takes the common query and refuses what it does not know, in the same
// way.
func TestOperationsRefuseAlike(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner, eve := i.Prepared(t, "ann@example.com"), i.Prepared(t, "eve@example.com")
		campaign := func(c *apitest.Client) string {
			return c.Call("POST", "/campaigns", M{"appId": c.AppID, "name": "x"}).Want(201).Text("data.id")
		}
		own, foreign := campaign(owner), campaign(eve)
		now := i.Clock.Now()
		query := period(owner, now.Add(-day), now)
		all := "&timezone=Asia/Kathmandu&group=main&linkId=x&domain=go.example.com&prefix=&folderId=x&tagId=x&device=ios" +
			"&source=qr&country=DE"
		reader, other := owner.Key("analytics:read"), owner.Key("links:read")
		for _, name := range []string{"summary", "timeseries", "breakdown", "top-links", "events", "native", "recovery",
			"campaigns/" + own} {
			path, more := "/analytics/"+name+query, ""
			if name == "breakdown" {
				more = "&dimension=country"
			}
			reader.Call("GET", path+more+all, nil).Want(200).Has("data.filters.linkId", `"x"`).
				Has("data.period.timezone", `"Asia/Kathmandu"`).Has("data.filters.prefix", `""`)
			for parameter, value := range map[string]string{"unknown": "x", "timezone": "Local", "group": "odd", "device": "tv",
				"source": "tv", "country": "de", "domain": "a..b", "granularity": "minute", "dimension": "colour",
				"limit": "0", "eventType": "tap", "cursor": "x"} {
				call := path + more + "&" + parameter + "=" + value
				if parameter == "dimension" {
					call = path + "&dimension=" + value
				}
				owner.Call("GET", call, nil).Refused(fault.InvalidRequest, "query."+parameter)
			}
			for _, end := range []clock.Instant{now.Add(-day), now.Add(-day) - 1, now.Add(365*day) + 1} {
				owner.Call("GET", "/analytics/"+name+period(owner, now.Add(-day), end)+more, nil).
					Refused(fault.InvalidRequest, "query.end")
			}
			owner.Call("GET", "/analytics/"+name+period(owner, now.Add(-day), now.Add(365*day))+more, nil).Want(200)
			eve.Call("GET", path+more, nil).Refused(fault.NotFound)
			other.Call("GET", path+more, nil).Refused(fault.InsufficientPermission)
			if t.Failed() {
				t.Fatalf("at %s", name)
			}
		}
		for _, id := range []string{foreign, own + "x", "x"} {
			owner.Call("GET", "/analytics/campaigns/"+id+query, nil).Refused(fault.NotFound)
		}
		// Both name the campaign's app and the caller's, and yet the one is not the other.
		eve.Call("GET", "/analytics/campaigns/"+own+period(eve, now.Add(-day), now), nil).Refused(fault.NotFound)
		owner.Call("GET", "/analytics/campaigns/"+own+query+"&campaignId="+own, nil).Refused(fault.InvalidRequest)

		breakdown := "/analytics/breakdown" + query
		owner.Call("GET", breakdown, nil).Refused(fault.InvalidRequest, "query.dimension")
		for limit, status := range map[string]int{"1": 200, "100": 200, "101": 400, "-1": 400} {
			owner.Call("GET", breakdown+"&dimension=tag&limit="+limit, nil).Want(status)
			owner.Call("GET", "/analytics/top-links"+query+"&limit="+limit, nil).Want(status)
		}
	})
}

// Hours are for 31 days, by the clocks of the zone where those show less.
func TestHoursAreForAMonth(t *testing.T) {
	i := apitest.New(t, "sqlite", apitest.Options{})
	owner := i.Prepared(t, "ann@example.com")
	for _, c := range []struct {
		start, end, zone string
		status, buckets  int
	}{
		{"2026-10-01T00:00:00Z", "2026-11-01T00:00:00Z", "UTC", 200, 744},
		{"2026-10-01T00:00:00Z", "2026-11-01T00:00:00.001Z", "UTC", 400, 0},
		// October has an hour more in Berlin, March one less.
		{"2026-09-30T22:00:00Z", "2026-10-31T23:00:00Z", "Europe/Berlin", 200, 745},
		{"2026-09-30T22:00:00Z", "2026-10-31T23:00:00.001Z", "Europe/Berlin", 400, 0},
		{"2026-02-28T23:00:00Z", "2026-03-31T23:00:00Z", "Europe/Berlin", 200, 744},
	} {
		r := owner.Call("GET", "/analytics/timeseries?granularity=hour&appId="+owner.AppID+"&start="+c.start+"&end="+c.end+
			"&timezone="+c.zone, nil).Want(c.status)
		if c.status == 400 {
			r.Refused(fault.InvalidRequest, "query.end")
		} else if n := r.Len("data.buckets"); n != c.buckets {
			t.Errorf("%v: %d buckets", c, n)
		}
		owner.Call("GET", "/analytics/timeseries?appId="+owner.AppID+"&start="+c.start+"&end="+c.end, nil).Want(200)
	}
}

// at is a click on a link of an app at an instant.
func at(owner *apitest.Client, instant clock.Instant, edit func(*clicklog.Event)) clicklog.Event {
	e := clicklog.Event{At: instant, Type: clicklog.Click, Visitor: int64(instant), Device: "ios", Source: "browser",
		Country: "DE", Destination: "web",
		Link: clicklog.Link{ID: "x", AppID: owner.AppID, Hostname: owner.Host, Slug: "x", Group: "main"}}
	if edit != nil {
		edit(&e)
	}
	return e
}

// What is past its retention is in no answer, swept or not.
func TestRetentionDoesNotWaitForTheSweep(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		oldest := i.Clock.Now().Add(-400 * 24 * time.Hour)
		i.Record(t, at(owner, oldest-1, nil), at(owner, oldest, nil), at(owner, oldest.Add(day), nil))
		i.LoadClicks(t)
		for range 2 {
			query := period(owner, oldest.Add(-10*day), oldest.Add(10*day))
			owner.Call("GET", "/analytics/summary"+query, nil).Want(200).Has("data.totals.clicks", "2").
				Has("data.totals.firstEventAt", `"`+oldest.String()+`"`).
				Has("data.period.start", `"`+oldest.Add(-10*day).String()+`"`)
			if r := owner.Call("GET", "/analytics/timeseries"+query, nil).Want(200); r.Len("data.buckets") != 21 {
				t.Errorf("buckets %s", r.Value("data.buckets"))
			}
			if r := owner.Call("GET", "/analytics/events"+query, nil).Want(200); r.Len("data.items") != 2 {
				t.Errorf("events %s", r.Value("data.items"))
			}
			past := period(owner, oldest.Add(-10*day), oldest)
			owner.Call("GET", "/analytics/timeseries"+past, nil).Want(200).Has("data.buckets.9.clicks", "0")
			owner.Call("GET", "/analytics/breakdown"+past+"&dimension=link", nil).Want(200).Has("data.items", "[]")
			i.Sweep(t)
		}
	})
}

// Events that were counted and not stored are told, by the days of the period.
func TestEventsThatWereNotStoredAreTold(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		today := i.Clock.Now() - i.Clock.Now()%clock.Instant(day.Microseconds())
		for back, clicks := range map[int64]int{0: 1, 1: 20, 2: 300} {
			if _, err := i.DB.Exec(t.Context(), "INSERT INTO event_unstored (app_id, day, clicks) VALUES (?, ?, ?)",
				owner.AppID, today.Unix()/86400-back, clicks); err != nil {
				t.Fatal(err)
			}
		}
		limitation := func(start, end clock.Instant, want string) {
			t.Helper()
			owner.Call("GET", "/analytics/native"+period(owner, start, end), nil).Want(200).
				Has("data.coverage.limitations.3", want)
		}
		told := func(days, clicks string) string {
			return `"On the UTC days from ` + days + `, ` + clicks + ` events of the app came faster than events are stored. ` +
				`Their senders got the usual answer, but they are not in these numbers."`
		}
		name := func(back time.Duration) string { return today.Add(-back * day).String()[:10] }
		limitation(today.Add(-day), today, told(name(1)+" to "+name(1), "20"))
		limitation(today-1, today+1, told(name(1)+" to "+name(0), "21"))
		limitation(today.Add(-20*day), today.Add(day), told(name(20)+" to "+name(0), "321"))
		limitation(today.Add(-20*day), today.Add(-2*day), "")
		limitation(today.Add(day), today.Add(2*day), "")
	})
}

// A page may be continued with what the answer before says of its query.
func TestPagesContinueByWhatTheAnswerSays(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		now := i.Clock.Now()
		i.Record(t, at(owner, now, func(e *clicklog.Event) { e.Link.Prefix = "caf\u00e9" }),
			at(owner, now-1, func(e *clicklog.Event) { e.Link.Prefix, e.Link.ID = "caf\u00e9", "y" }))
		i.LoadClicks(t)
		for _, list := range []string{"events", "top-links"} {
			page := func(start, end, domain, prefix, more string) *apitest.Response {
				t.Helper()
				return owner.Call("GET", "/analytics/"+list+"?limit=1&appId="+owner.AppID+"&start="+start+"&end="+end+
					"&domain="+domain+"&prefix="+url.QueryEscape(prefix)+more, nil)
			}
			first := page("2026-11-01T00:00:00Z", "2026-12-01T01:00:00%2B01:00", strings.ToUpper(owner.Host)+".", "cafe\u0301",
				"").Want(200).Has("data.filters.domain", `"`+owner.Host+`"`).Has("data.filters.prefix", "\"caf\u00e9\"").
				Has("pagination.hasMore", "true")
			cursor := "&cursor=" + url.QueryEscape(first.Text("pagination.nextCursor"))
			start, end := first.Text("data.period.start"), first.Text("data.period.end")
			domain, prefix := first.Text("data.filters.domain"), first.Text("data.filters.prefix")
			if r := page(start, end, domain, prefix, cursor).Want(200); r.Len("data.items") != 1 {
				t.Errorf("the second page of %s: %s", list, r.Value("data.items"))
			}
			page(start, "2026-12-01T00:00:00.001Z", domain, prefix, cursor).Refused(fault.InvalidRequest, "query.cursor")
			page(start, end, "x."+domain, prefix, cursor).Refused(fault.InvalidRequest, "query.cursor")
			page(start, end, domain, "cafe", cursor).Refused(fault.InvalidRequest, "query.cursor")
		}
	})
}

// Tokens expire after the lifetime of the domain's configuration.
func TestRecoveryTellsWhatExpired(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		now := i.Clock.Now()
		token := func(kind clicklog.EventType, age time.Duration) clicklog.Event {
			return at(owner, now.Add(-age), func(e *clicklog.Event) { e.Type = kind })
		}
		created, matched := clicklog.RecoveryCreated, clicklog.RecoveryMatched
		i.Record(t, token(created, 50*time.Hour), token(created, 49*time.Hour), token(created, 48*time.Hour),
			token(matched, 47*time.Hour), token(created, 2*time.Hour+time.Microsecond), token(created, 2*time.Hour),
			token(created, time.Hour), token(matched, 2*time.Minute), token(matched, time.Minute))
		i.LoadClicks(t)
		recovery := func(more string) *apitest.Response {
			t.Helper()
			return owner.Call("GET", "/analytics/recovery"+period(owner, now.Add(-5*day), now.Add(day))+more, nil).Want(200)
		}
		// A lifetime is a day by default.
		recovery("").Has("data.totals", `{"created":6,"matched":3,"expired":2,"matchRate":0.5}`)
		path := "/domains/" + owner.Call("GET", "/domains?appId="+owner.AppID, nil).Want(200).Text("data.0.id") +
			"/recovery-config"
		owner.Call("PUT", path, M{"enabled": true, "tokenTtlSeconds": 7200},
			apitest.IfMatch(owner.Call("GET", path, nil).Revision())).Want(200)
		recovery("").Has("data.totals.expired", "3")
		recovery("&domain="+owner.Host).Has("data.totals.expired", "3")
		r := recovery("&timezone=Asia/Tokyo")
		if r.Len("data.buckets") != 7 {
			t.Errorf("buckets %s", r.Value("data.buckets"))
		}
		r.Has("data.totals.created", "6").Has("data.totals.expired", "3")
		// As many as were matched later are not told twice.
		owner.Call("GET", "/analytics/recovery"+period(owner, now.Add(-3*time.Hour), now), nil).Want(200).
			Has("data.totals", `{"created":3,"matched":2,"expired":1,"matchRate":0.6666666666666666}`)
		owner.Call("GET", "/analytics/recovery"+period(owner, now.Add(-3*time.Hour), now.Add(-30*time.Minute)), nil).
			Want(200).Has("data.totals", `{"created":3,"matched":0,"expired":2,"matchRate":0}`)
		owner.Call("GET", "/analytics/recovery"+period(owner, now.Add(-time.Minute), now), nil).Want(200).
			Has("data.totals", `{"created":0,"matched":1,"expired":0,"matchRate":null}`)
	})
}

// The title is the link's of today, its place that of its newest event.
func TestTopLinksTellTodaysTitle(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		link := owner.Link("a", M{"title": "Old"}).Want(201)
		id, now := link.Text("data.id"), i.Clock.Now()
		i.Record(t, at(owner, now, func(e *clicklog.Event) { e.Link.ID, e.Link.Slug = id, "a" }))
		i.LoadClicks(t)
		path := "/links/" + apitest.Path(id)
		top := func(title string) {
			t.Helper()
			owner.Call("GET", "/analytics/top-links"+period(owner, now.Add(-day), now.Add(day)), nil).Want(200).
				Has("data.items", `[{"linkId":"`+id+`","title":`+title+`,"domain":"`+owner.Host+
					`","prefix":"","slug":"a","clicks":1,"uniqueVisitors":1,"lastClickAt":"`+now.String()+`"}]`).
				Has("pagination", `{"hasMore":false,"nextCursor":null}`)
		}
		top(`"Old"`)
		link = owner.Call("PATCH", path, M{"title": "New"}, apitest.IfMatch(link.Revision())).Want(200)
		top(`"New"`)
		owner.Call("DELETE", path, nil, apitest.IfMatch(link.Revision())).Want(204)
		top(`null`)
	})
}
