package analytics_test

import (
	"fmt"
	"math/rand/v2"
	"net/url"
	"reflect"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/waymarkhq/waymark/internal/analytics"
	"github.com/waymarkhq/waymark/internal/apitest"
	"github.com/waymarkhq/waymark/internal/clicklog"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/eventstore"
	"github.com/waymarkhq/waymark/internal/eventstore/enginetest"
)

// asked is an installation with random events, beside plain loops over the same ones.
type asked struct {
	*enginetest.Traffic
	owner     *apitest.Client
	reference *enginetest.Reference
	campaign  string
	link      clicklog.Link
	linkTitle string
}

// What the API answers to random questions is what plain loops count.
func TestAnswersAreTheEvents(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		seed := rand.Uint64()
		t.Logf("seed %d", seed)
		a := prepare(t, i, seed)
		for round := range 12 {
			f := a.filter()
			t.Run(fmt.Sprint("round ", round), func(t *testing.T) {
				a.summary(t, f)
				a.breakdown(t, f)
				a.timeseries(t, f)
				a.topLinks(t, f)
				a.events(t, f)
				a.native(t, f)
				a.recovery(t, f)
				a.campaignOf(t, f)
			})
		}
	})
}

func prepare(t *testing.T, i *apitest.Installation, seed uint64) *asked {
	t.Helper()
	a := &asked{owner: i.Prepared(t, "ann@example.com"), reference: enginetest.NewReference(i.Clock), linkTitle: "Spring"}
	a.Traffic = enginetest.NewTraffic(seed, a.owner.AppID, i.Clock.Now().Add(-20*24*time.Hour))
	a.campaign = a.owner.Call("POST", "/campaigns", M{"appId": a.owner.AppID, "name": "x"}).Want(201).Text("data.id")
	link := a.owner.Link("real", M{"title": a.linkTitle}).Want(201).Text("data.id")
	a.link = clicklog.Link{ID: link, AppID: a.owner.AppID, Hostname: a.owner.Host, Slug: "real", Group: "main",
		CampaignID: a.campaign}
	events := a.Events(600)
	for j := range events {
		if events[j].Link.CampaignID == "campaign1" {
			events[j].Link.CampaignID = a.campaign
		}
		if a.IntN(8) == 0 {
			events[j].Link = a.link
		}
	}
	i.Record(t, events...)
	i.LoadClicks(t)
	if err := a.reference.Append(t.Context(), enginetest.Batch(events...)); err != nil {
		t.Fatal(err)
	}
	return a
}

// filter returns a random filter that a query can say.
func (a *asked) filter() eventstore.Filter {
	f := a.Filter()
	for _, value := range []*string{&f.Group, &f.Device, &f.Source} {
		if *value == "none" {
			*value = ""
		}
	}
	if f.EventType = ""; f.CampaignID == "campaign1" {
		f.CampaignID = a.campaign
	}
	f.End = max(f.End, f.Start+1)
	return f
}

// query returns a filter as a query.
func query(f eventstore.Filter) url.Values {
	q := url.Values{"appId": {f.AppID}, "start": {f.Start.String()}, "end": {f.End.String()}}
	for name, value := range map[string]string{"group": f.Group, "linkId": f.LinkID, "domain": f.Hostname,
		"campaignId": f.CampaignID, "folderId": f.FolderID, "tagId": f.TagID, "device": f.Device, "source": f.Source,
		"country": f.Country, "eventType": f.EventType} {
		if value != "" {
			q.Set(name, value)
		}
	}
	if f.Prefix != nil {
		q.Set("prefix", *f.Prefix)
	}
	return q
}

// ask asks an operation and returns its data.
func ask[T any](t *testing.T, a *asked, path string, q url.Values) (data T, r *apitest.Response) {
	t.Helper()
	r = a.owner.Call("GET", "/analytics/"+path+"?"+q.Encode(), nil).Want(200)
	if err := json.Unmarshal([]byte(r.Value("data")), &data); err != nil {
		t.Fatal(err)
	}
	return data, r
}

// count counts by plain loops.
func (a *asked) count(t *testing.T, q eventstore.Query) []eventstore.Row {
	t.Helper()
	rows, err := eventstore.Count(t.Context(), a.reference, q)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func same(t *testing.T, what string, f eventstore.Filter, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("%s of %v:\n got %+v\nwant %+v", what, query(f), got, want)
	}
}

func countsOf(r eventstore.Row) analytics.Counts {
	return analytics.Counts{Clicks: r.Clicks, UniqueVisitors: r.UniqueVisitors, IdentifiedClicks: r.IdentifiedClicks,
		AppOpens: r.AppOpens, ContentViews: r.ContentViews, LegacyContentLoads: r.LegacyContentLoads}
}

func (a *asked) totals(t *testing.T, f eventstore.Filter) analytics.Totals {
	r := a.count(t, eventstore.Query{Filter: f, Grouping: eventstore.Grouping{Visitors: true, Links: true}})[0]
	want := analytics.Totals{Counts: countsOf(r), ActiveLinks: r.ActiveLinks}
	if r.Events > 0 {
		want.FirstEventAt, want.LastEventAt = &r.First, &r.Last
	}
	return want
}

func (a *asked) summary(t *testing.T, f eventstore.Filter) {
	got, _ := ask[analytics.Summary](t, a, "summary", query(f))
	same(t, "summary", f, got.Totals, a.totals(t, f))
}

func (a *asked) breakdown(t *testing.T, f eventstore.Filter) {
	for _, by := range enginetest.Dimensions[2:] {
		f := f
		if a.IntN(3) == 0 {
			f.EventType = []string{"click", "app_open", "recovery_created"}[a.IntN(3)]
		}
		limit, q := 1+a.IntN(5), query(f)
		q.Set("dimension", string(by))
		q.Set("limit", fmt.Sprint(limit))
		got, _ := ask[analytics.Breakdown](t, a, "breakdown", q)
		rows := a.count(t, eventstore.Query{Filter: f, Grouping: eventstore.Grouping{By: by, Visitors: true}})
		want := []analytics.Share{}
		for _, r := range rows[:min(len(rows), limit)] {
			share := analytics.Share{Value: &r.Value, Events: r.Events, Counts: countsOf(r)}
			if r.Value == "" && by != eventstore.ByPrefix {
				share.Value = nil
			}
			want = append(want, share)
		}
		same(t, "breakdown by "+string(by), f, got.Items, want)
		same(t, "truncated by "+string(by), f, got.Truncated, len(rows) > limit)
		if f.EventType != "" {
			same(t, "event type", f, got.Filters.EventType, &f.EventType)
		}
	}
}

// inBucket returns the row of bucket i, by asking about its time alone.
func (a *asked) inBucket(t *testing.T, f eventstore.Filter, starts []clock.Instant, i int) eventstore.Row {
	f.Start = starts[i]
	if i+1 < len(starts) {
		f.End = starts[i+1]
	}
	return a.count(t, eventstore.Query{Filter: f, Grouping: eventstore.Grouping{Visitors: true}})[0]
}

func (a *asked) timeseries(t *testing.T, f eventstore.Filter) {
	q := query(f)
	q.Set("granularity", []string{"hour", "day", "week", "month"}[a.IntN(4)])
	q.Set("timezone", []string{"Europe/Berlin", "Australia/Lord_Howe", "Asia/Kathmandu", "UTC"}[a.IntN(4)])
	got, _ := ask[analytics.Timeseries](t, a, "timeseries", q)
	a.buckets(t, f, got.Buckets)
}

func (a *asked) buckets(t *testing.T, f eventstore.Filter, got []analytics.Bucket) {
	t.Helper()
	var starts []clock.Instant
	for _, b := range got {
		starts = append(starts, b.Start)
	}
	same(t, "first start", f, starts[0], f.Start)
	for i, b := range got {
		same(t, b.LocalLabel, f, b.Counts, countsOf(a.inBucket(t, f, starts, i)))
	}
}

// top returns all links with a click, those with the most first.
func (a *asked) top(t *testing.T, f eventstore.Filter) []analytics.TopLink {
	all := []analytics.TopLink{}
	for _, r := range a.count(t, eventstore.Query{Filter: f,
		Grouping: eventstore.Grouping{By: eventstore.ByLink, Visitors: true, Clicked: true}}) {
		states, err := a.reference.Links(t.Context(), f.AppID, []string{r.Value})
		if err != nil {
			t.Fatal(err)
		}
		state := states[r.Value]
		l := analytics.TopLink{LinkID: r.Value, Domain: state.Hostname, Prefix: state.Prefix, Slug: state.Slug,
			Clicks: r.Clicks, UniqueVisitors: r.UniqueVisitors, LastClickAt: r.LastClick}
		if r.Value == a.link.ID {
			l.Title = &a.linkTitle
		}
		all = append(all, l)
	}
	return all
}

func (a *asked) topLinks(t *testing.T, f eventstore.Filter) {
	got, q := []analytics.TopLink{}, query(f)
	q.Set("limit", fmt.Sprint(1+a.IntN(5)))
	for {
		page, r := ask[analytics.TopLinks](t, a, "top-links", q)
		got = append(got, page.Items...)
		if r.Value("pagination.hasMore") != "true" {
			break
		}
		q.Set("cursor", r.Text("pagination.nextCursor"))
	}
	same(t, "top links", f, got, a.top(t, f))
}

func (a *asked) events(t *testing.T, f eventstore.Filter) {
	if a.IntN(2) == 0 {
		f.EventType = "click"
	}
	want, err := a.reference.List(t.Context(), f, nil, 1000)
	if err != nil {
		t.Fatal(err)
	}
	q, seen := query(f), 0
	q.Set("limit", fmt.Sprint(20+a.IntN(60)))
	for {
		page, r := ask[analytics.Events](t, a, "events", q)
		for _, e := range page.Items {
			w := want[seen]
			seen++
			same(t, "event", f, []any{e.OccurredAt, e.Type, e.LinkID, e.Domain, e.Slug, e.Device, e.Country, e.Source, e.Identified,
				e.Destination}, []any{w.At, string(w.Type), w.Link.ID, w.Link.Hostname, w.Link.Slug, w.Device, w.Country,
				w.Source, w.Identified, w.Into})
		}
		if r.Value("pagination.hasMore") != "true" {
			break
		}
		q.Set("cursor", r.Text("pagination.nextCursor"))
	}
	same(t, "events", f, seen, len(want))
}

func (a *asked) native(t *testing.T, f eventstore.Filter) {
	got, _ := ask[analytics.Native](t, a, "native", query(f))
	counts := func(r eventstore.Row) analytics.NativeCounts {
		return analytics.NativeCounts{AppOpens: r.AppOpens, ContentViews: r.ContentViews,
			LegacyContentLoads: r.LegacyContentLoads}
	}
	r := a.count(t, eventstore.Query{Filter: f, Grouping: eventstore.Grouping{Installs: true}})[0]
	same(t, "native", f, got.Totals, analytics.NativeTotals{NativeCounts: counts(r), UniqueInstalls: r.UniqueInstalls})
	var starts []clock.Instant
	for _, b := range got.Buckets {
		starts = append(starts, b.Start)
	}
	for i, b := range got.Buckets {
		same(t, b.LocalLabel, f, b.NativeCounts, counts(a.inBucket(t, f, starts, i)))
	}
	opens := map[string]int64{}
	for _, r := range a.count(t, eventstore.Query{Filter: f, Grouping: eventstore.Grouping{By: eventstore.ByDevice}}) {
		if r.AppOpens+r.ContentViews > 0 {
			opens[r.Value] = r.AppOpens
		}
	}
	for i, p := range got.ByPlatform {
		if n, ok := opens[p.Platform]; !ok || n != p.AppOpens || i > 0 && got.ByPlatform[i-1].AppOpens < n {
			t.Fatalf("platforms %+v, want %v", got.ByPlatform, opens)
		}
	}
	same(t, "platforms", f, len(got.ByPlatform), len(opens))
}

func (a *asked) recovery(t *testing.T, f eventstore.Filter) {
	got, _ := ask[analytics.Recovery](t, a, "recovery", query(f))
	r := a.count(t, eventstore.Query{Filter: f})[0]
	same(t, "recovery", f, got.Totals.RecoveryCounts, analytics.RecoveryCounts{Created: r.RecoveriesCreated,
		Matched: r.RecoveriesMatched})
	// All of them were created longer than a lifetime ago.
	same(t, "expired", f, got.Totals.Expired, max(0, r.RecoveriesCreated-r.RecoveriesMatched))
	var starts []clock.Instant
	for _, b := range got.Buckets {
		starts = append(starts, b.Start)
	}
	for i, b := range got.Buckets {
		r := a.inBucket(t, f, starts, i)
		same(t, b.LocalLabel, f, b.RecoveryCounts, analytics.RecoveryCounts{Created: r.RecoveriesCreated,
			Matched: r.RecoveriesMatched})
	}
}

func (a *asked) campaignOf(t *testing.T, f eventstore.Filter) {
	f.CampaignID = ""
	q := query(f)
	f.CampaignID = a.campaign
	got, _ := ask[analytics.Campaign](t, a, "campaigns/"+a.campaign, q)
	same(t, "campaign", f, got.Totals, a.totals(t, f))
	same(t, "filter of a campaign", f, got.Filters.CampaignID, &a.campaign)
	a.buckets(t, f, got.Buckets)
	top := a.top(t, f)
	same(t, "top links of a campaign", f, got.TopLinks, top[:min(len(top), 10)])
}
