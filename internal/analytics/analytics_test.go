package analytics_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/waymarkhq/waymark/internal/apitest"
	"github.com/waymarkhq/waymark/internal/fault"
)

type M = apitest.M

const (
	iphone = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) " +
		"Version/18.5 Mobile/15E148 Safari/604.1"
	robot = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"
)

// The main job of the product: an owner makes a link, visitors follow it, the
// owner sees them counted.
func TestFromLinkToCountedClick(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner, eve := i.Prepared(t, "ann@example.com"), i.Prepared(t, "eve@example.com")
		link := owner.Link("a", M{"appStoreUrl": "https://apps.example/a", "group": "main",
			"utm": M{"source": "mail"}}).Want(201)
		owner.Link("b", nil).Want(201)
		i.Settle(t)
		redirected := func(r *http.Response) bool { return r.StatusCode == http.StatusFound }
		visit := func(slug string, header http.Header) *http.Response {
			return i.Visit(t, "https://"+owner.Host+"/"+slug, header, redirected)
		}
		if got := visit("a?x=1", nil).Header.Get("Location"); got != "https://example.com/a?x=1&utm_source=mail" {
			t.Errorf("Location %s", got)
		}
		if got := visit("a",
			http.Header{"User-Agent": {iphone}}).Header.Get("Location"); got != "https://apps.example/a?utm_source=mail" {
			t.Errorf("Location on iOS %s", got)
		}
		visit("a?qr=1", nil)
		visit("b", nil)
		visit("b", http.Header{"User-Agent": {robot}})
		i.LoadClicks(t)

		now := i.Clock.Now()
		query := "/analytics/summary?appId=" + owner.AppID + "&start=" + now.Add(-time.Hour).
			String() + "&end=" + now.Add(time.Hour).String()
		owner.Call("GET", query, nil).Want(200).Has("data.totals.clicks", "4").Has("data.totals.uniqueVisitors", "2").
			Has("data.totals.activeLinks", "2").
			Has("data.totals.firstEventAt", `"`+now.String()+`"`).Has("data.filters.group", `"all"`).
			Has("data.coverage.uniqueVisitors", `"estimate"`).
			Has("data.period.timezone", `"UTC"`)
		for filter, want := range map[string]string{
			"group=main": "3", "group=operational": "1", "group=all": "4", "device=ios": "1", "device=bot": "1",
			"source=qr": "1", "country=ZZ": "4", "country=PT": "0",
			"linkId=" + apitest.Path(link.Text("data.id")): "3", "domain=" + owner.Host: "4", "domain=x.example": "0",
			"prefix=p": "0", "prefix=": "4",
			"campaignId=x": "0", "folderId=x": "0", "tagId=x": "0", "timezone=Europe/Lisbon": "4",
		} {
			owner.Call("GET", query+"&"+filter, nil).Want(200).Has("data.totals.clicks", want)
			if t.Failed() {
				t.Fatalf("at %s", filter)
			}
		}
		// The end is exclusive, the start inclusive.
		base := "/analytics/summary?appId=" + owner.AppID
		owner.Call("GET", base+"&start="+now.String()+"&end="+now.Add(time.Millisecond).String(), nil).Want(200).
			Has("data.totals.clicks", "4")
		owner.Call("GET", base+"&start="+now.Add(-time.Hour).String()+"&end="+now.String(), nil).Want(200).
			Has("data.totals.clicks", "0").Has("data.totals.lastEventAt", "null")

		for _, bad := range []string{
			"", "&start=" + now.String(), "&start=" + now.String() + "&end=" + now.String(),
			"&start=" + now.String() + "&end=" + now.Add(367*24*time.Hour).String(),
			"&start=x&end=y",
		} {
			owner.Call("GET", base+bad, nil).Refused(fault.InvalidRequest)
		}
		for _, bad := range []string{"timezone=Mars/Olympus", "timezone=Local", "timezone=localtime",
			"timezone=posixrules", "timezone=Factory", "timezone=posix/UTC", "timezone=right/UTC", "device=fridge", "source=tv",
			"country=pt", "group=odd", "domain=a..b", "granularity=day"} {
			owner.Call("GET", query+"&"+bad, nil).Refused(fault.InvalidRequest)
		}
		eve.Call("GET", query, nil).Refused(fault.NotFound)
		// Deleted links stay counted.
		owner.Call("DELETE", "/links/"+apitest.Path(link.Text("data.id")), nil, apitest.IfMatch(link.Revision())).
			Want(204)
		owner.Call("GET", query, nil).Want(200).Has("data.totals.clicks", "4")
	})
}
