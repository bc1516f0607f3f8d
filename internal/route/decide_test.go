package route

import (
	"math/rand/v2"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/waymarkhq/waymark/internal/clock"
)

var (
	noon    = clock.At(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC))
	earlier = noon.Add(-time.Hour)
	later   = noon.Add(time.Hour)

	one, five, six = int64(1), int64(5), int64(6)
)

const (
	web   = "https://example.com/page"
	play  = "https://play.google.com/store/apps/details?id=com.example"
	apple = "https://apps.apple.com/app/id1"
)

func TestDecideLifecycle(t *testing.T) {
	for name, c := range map[string]struct {
		link     *Link
		host     Host
		status   int
		location string
		live     bool
	}{
		"live": {link: &Link{}, status: 302, location: web, live: true},
		"status of the host": {link: &Link{}, host: Host{RedirectStatus: 307}, status: 307, location: web,
			live: true},
		"a status of no meaning": {link: &Link{}, host: Host{RedirectStatus: 200}, status: 302, location: web,
			live: true},
		"unknown": {status: 404},
		"unknown, elsewhere": {host: Host{NotFoundURL: "https://example.com/404"}, status: 302,
			location: "https://example.com/404"},
		"of another app":          {link: &Link{AppID: "another"}, status: 404},
		"archived":                {link: &Link{Archived: true, ExpiresAt: &earlier, ExpiredURL: web}, status: 410},
		"not yet":                 {link: &Link{StartsAt: &later}, status: 404},
		"not yet, unlike unknown": {link: &Link{StartsAt: &later}, host: Host{NotFoundURL: web}, status: 404},
		"just started": {link: &Link{StartsAt: &noon, ExpiresAt: &later}, status: 302, location: web,
			live: true},
		"just ended": {link: &Link{StartsAt: &earlier, ExpiresAt: &noon}, status: 410},
		"ended, elsewhere": {link: &Link{ExpiresAt: &noon, ExpiredURL: "https://example.com/over"},
			status: 302, location: "https://example.com/over"},
		"ended, to no address": {link: &Link{ExpiresAt: &noon, ExpiredURL: "javascript:alert(1)"}, status: 410},
		"used up":              {link: &Link{MaxClicks: &five}, status: 410},
		"used up, elsewhere": {link: &Link{MaxClicks: &five, ExpiredURL: "https://example.com/over"},
			status: 302, location: "https://example.com/over"},
		"used beyond its limit":    {link: &Link{MaxClicks: &one}, status: 410},
		"one click left":           {link: &Link{MaxClicks: &six}, status: 302, location: web, live: true},
		"used up before its start": {link: &Link{MaxClicks: &one, StartsAt: &later}, status: 404},
		"used up, without a rule":  {link: &Link{MaxClicks: &one, Rules: []Rule{{ID: "r", URL: web}}}, status: 410},
		"started after it ends":    {link: &Link{StartsAt: &later, ExpiresAt: &earlier}, status: 404},
		"unknown, to no address":   {host: Host{NotFoundURL: "https://exa mple.com"}, status: 404},
		"unknown, to another line": {host: Host{NotFoundURL: "https://example.com/\r\nSet-Cookie: a=b"}, status: 404},
		"unknown, needing escaping": {host: Host{NotFoundURL: "https://example.com/é x"}, status: 302,
			location: "https://example.com/%C3%A9%20x"},
	} {
		t.Run(name, func(t *testing.T) {
			if c.link != nil && c.link.DesktopURL == "" {
				c.link.DesktopURL = web
			}
			d := Decide(c.link, &c.host, Visit{Platform: Desktop, Clicks: five}, noon)
			if d.Status != c.status || d.Location != c.location || d.Live != c.live ||
				d.IsPage() != (c.location == "") {
				t.Errorf("got %+v", d)
			}
		})
	}
}

func TestDecidePlatform(t *testing.T) {
	all := Link{DesktopURL: web, PlayStoreURL: play, AppStoreURL: apple}
	webOnly := all
	webOnly.WebOnly = true
	for name, c := range map[string]struct {
		link                        Link
		android, ios, desktop, rest string
	}{
		"all":              {all, play, apple, web, web},
		"web only":         {webOnly, web, web, web, web},
		"just the web":     {Link{DesktopURL: web}, web, web, web, web},
		"just Android":     {Link{PlayStoreURL: play}, play, "", play, play},
		"just iOS":         {Link{AppStoreURL: apple}, "", apple, apple, apple},
		"stores":           {Link{PlayStoreURL: play, AppStoreURL: apple}, play, apple, play, play},
		"stores, web only": {Link{PlayStoreURL: play, AppStoreURL: apple, WebOnly: true}, play, apple, play, play},
		"nothing":          {Link{}, "", "", "", ""},
		"no address": {Link{DesktopURL: "market://details?id=a", PlayStoreURL: "//example.com",
			AppStoreURL: "https:///a"}, "", "", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			for platform, want := range map[Platform]string{Android: c.android, IOS: c.ios, Desktop: c.desktop,
				Other: c.rest} {
				d := Decide(&c.link, &Host{}, Visit{Platform: platform}, noon)
				kind := map[string]Destination{"": ToNone, web: ToWeb, play: ToStore, apple: ToStore}[want]
				if d.Location != want || d.Destination != kind || (want == "") != (d.Status == 404) {
					t.Errorf("%s: got %+v", platform, d)
				}
			}
		})
	}
}

func TestDecideQuery(t *testing.T) {
	both := Link{UTM: UTM{Source: "link", Campaign: "spring & co"},
		CampaignUTM: UTM{Source: "campaign", Medium: "mail"}}
	for name, c := range map[string]struct {
		link               Link
		destination, query string
		want               string
		qr                 bool
	}{
		"nothing to add":      {Link{}, "https://e.com", "", "https://e.com", false},
		"passed on":           {Link{}, "https://e.com/", "b=2&a=1&b=3", "https://e.com/?b=2&a=1&b=3", false},
		"destination's first": {Link{}, "https://e.com/?z=%41&y&&x=", "b=2", "https://e.com/?z=%41&y&&x=&b=2", false},
		"destination wins":    {Link{}, "https://e.com/?a=1", "a=2&b=3", "https://e.com/?a=1&b=3", false},
		"whatever the encoding": {Link{}, "https://e.com/?a%20b=1", "a+b=2&%61%20%62=3", "https://e.com/?a%20b=1",
			false},
		"names have a case":    {Link{}, "https://e.com/?a=1", "A=2", "https://e.com/?a=1&A=2", false},
		"fragment last":        {Link{}, "https://e.com/#top", "a=1", "https://e.com/?a=1#top", false},
		"query and fragment":   {Link{}, "https://e.com/?b#top?no", "a=1", "https://e.com/?b&a=1#top?no", false},
		"empty query":          {Link{}, "https://e.com/?", "a=1", "https://e.com/?a=1", false},
		"open query":           {Link{}, "https://e.com/?b=1&", "a=1", "https://e.com/?b=1&a=1", false},
		"empty pairs":          {Link{}, "https://e.com/", "&&a=1&&", "https://e.com/?a=1", false},
		"QR mark":              {Link{}, "https://e.com/", "qr=1", "https://e.com/", true},
		"QR mark among others": {Link{}, "https://e.com/", "a=1&qr=1&b", "https://e.com/?a=1&b", true},
		"not the QR mark":      {Link{}, "https://e.com/", "qr=2&xqr=1", "https://e.com/?qr=2&xqr=1", false},
		"QR mark of its own":   {Link{}, "https://e.com/?qr=9", "qr=1", "https://e.com/?qr=9", true},
		"UTM": {both, "https://e.com/", "",
			"https://e.com/?utm_source=link&utm_medium=mail&utm_campaign=spring+%26+co", false},
		"UTM of the destination": {both, "https://e.com/?utm_source=own&utm%5Fmedium=own", "",
			"https://e.com/?utm_source=own&utm%5Fmedium=own&utm_campaign=spring+%26+co", false},
		"UTM of the request": {both, "https://e.com/?utm_medium=own", "utm_source=req&utm_medium=req&utm_term=req",
			"https://e.com/?utm_medium=own&utm_source=req&utm_term=req&utm_campaign=spring+%26+co", false},
		"UTM with the QR mark": {both, "https://e.com/?a#f", "qr=1",
			"https://e.com/?a&utm_source=link&utm_medium=mail&utm_campaign=spring+%26+co#f", true},
		"unsafe parameters": {Link{}, "https://e.com/", "a=\"<é>&b=%&c=%zz&d=x#y",
			"https://e.com/?a=%22%3C%C3%A9%3E&b=%25&c=%25zz&d=x%23y", false},
		"escapes and what is none": {Link{}, "https://e.com/", "a=%09%90%af%fa%AF%FA&b=%0/%0:%0@%0G%0g%/0%:0%@0%G0%g0",
			"https://e.com/?a=%09%90%af%fa%AF%FA&b=%250/%250:%250@%250G%250g%25/0%25:0%25@0%25G0%25g0", false},
		"parameters that begin with an escape": {Link{}, "https://e.com/?%20a=own&b=own", "+a=visitor&%62=visitor",
			"https://e.com/?%20a=own&b=own", false},
		"a parameter without a name": {Link{}, "https://e.com/", "=x", "https://e.com/?=x", false},
		"control characters": {Link{}, "https://e.com/", "a=\x1f\x7f~\x80",
			"https://e.com/?a=%1F%7F~%80", false},
		"unsafe destination": {Link{}, "https://e.com/a b?q=é{}&p=100%", "",
			"https://e.com/a%20b?q=%C3%A9%7B%7D&p=100%", false},
		"as long as is passed on": {Link{}, "https://e.com/", "a=" + strings.Repeat("x", 4094),
			"https://e.com/?a=" + strings.Repeat("x", 4094), false},
		"too long to pass on": {both, "https://e.com/", "a=" + strings.Repeat("x", 4095),
			"https://e.com/?utm_source=link&utm_medium=mail&utm_campaign=spring+%26+co", false},
	} {
		t.Run(name, func(t *testing.T) {
			c.link.DesktopURL = c.destination
			prepared := c.link
			prepared.plan = newPlan(&c.link)
			for _, link := range []*Link{&c.link, &prepared} {
				d := Decide(link, &Host{}, Visit{Platform: Desktop, Query: c.query}, noon)
				if d.Location != c.want || d.QR != c.qr {
					t.Errorf("got %q, %v\nwant %q, %v", d.Location, d.QR, c.want, c.qr)
				}
			}
		})
	}
}

// TestDecideAlways decides on random links and looks at what must always hold.
func TestDecideAlways(t *testing.T) {
	const seed = 20261120
	r := rand.New(rand.NewPCG(seed, seed))
	pick := func(from ...string) string { return from[r.IntN(len(from))] }
	address := func() string {
		return pick("", "", web, play, apple, "http://e.com:8080/ä?x=1&utm_source=a#f", "https://e.com/\n",
			"ftp://e.com", "https://[::1]/?", "%", "https://e.com/%zz", "data:,x") +
			pick("", "", "&b", "#x", "\x00", "é", "%41")
	}
	instant := func() *clock.Instant {
		if r.IntN(3) == 0 {
			return nil
		}
		i := noon.Add(time.Duration(r.IntN(5)-2) * time.Minute)
		return &i
	}
	utm := func() UTM { return UTM{Source: pick("", "a", "é&="), Term: pick("", "\r\n", "x y")} }
	rules := func() (all []Rule) {
		for i := range r.IntN(4) {
			all = append(all, Rule{
				ID: pick("r", "s") + string(rune('0'+i)), Platform: Platform(pick("", "android", "ios", "desktop")),
				Country:  pick("", "DE", "ZZ", "FR"),
				StartsAt: instant(), ExpiresAt: instant(), URL: address(), UTM: utm(),
			})
		}
		return all
	}
	for range 20_000 {
		link := &Link{
			Archived: r.IntN(5) == 0, StartsAt: instant(), ExpiresAt: instant(), ExpiredURL: address(),
			DesktopURL: address(), PlayStoreURL: address(), AppStoreURL: address(),
			WebOnly: r.IntN(2) == 0, UTM: utm(), CampaignUTM: utm(), Rules: rules(), Title: pick("", "t"),
			Description: pick("", "d"),
		}
		if r.IntN(3) == 0 {
			link.MaxClicks = &five
		}
		link.Behavior = Behavior(pick("", "manual", "automatic", "intelligent"))
		link.AppPath, link.Parameters = pick("", "p?q=1#f", "é/'\"x"), pick("", `{"a":"b c","n":1}`, "{")
		host := &Host{RedirectStatus: r.IntN(400), NotFoundURL: address(), Scheme: pick("", "myapp"),
			AndroidPackage: pick("", "com.example")}
		visit := Visit{
			Platform: Platform(pick("android", "ios", "desktop", "other", "bot", "")),
			Query:    pick("", "qr=1", "a=1&a=%", "utm_source=&%0d%0a=%0D", "\"=é#&&=", "x=\\|^`"),
			Country:  pick("", "DE", "ZZ"), Clicks: int64(r.IntN(10)), Crawler: r.IntN(4) == 0,
			InApp: r.IntN(2) == 0, Address: "https://go.example.com/%C3%A9",
		}
		visit.Automated = visit.Crawler || r.IntN(4) == 0
		d := Decide(link, host, visit, noon)
		if d.App != nil {
			checkApp(t, d, link, host, &visit)
			if again := Decide(link, host, visit, noon); !reflect.DeepEqual(d, again) {
				t.Fatalf("seed %d: %+v, then %+v", seed, d.App, again.App)
			}
			continue
		}
		checkLocation(t, d)
		resolves := !link.Archived && (link.StartsAt == nil || noon >= *link.StartsAt) &&
			(link.ExpiresAt == nil || noon < *link.ExpiresAt) && (link.MaxClicks == nil || visit.Clicks < 5)
		if d.Live && !resolves || link.Archived && d.Status != 410 || d.Live && d.IsPage() && !d.Preview ||
			d.Preview && !visit.Crawler || d != Decide(link, host, visit, noon) {
			t.Fatalf("seed %d: %+v of %+v", seed, d, link)
		}
	}
}

// checkLocation fails unless a decision can be written as a response.
func checkLocation(t *testing.T, d Decision) {
	t.Helper()
	if d.IsPage() && !d.Preview {
		if d.Status != 404 && d.Status != 410 || d.Destination != ToNone || d.Live || d.RuleID != "" {
			t.Fatalf("a page with %+v", d)
		}
		return
	}
	if d.Preview && (d.Status != 200 || d.Destination != ToPage || !d.Live) {
		t.Fatalf("a preview with %+v", d)
	}
	u, err := url.Parse(d.Location)
	if err != nil || u.Host == "" || (u.Scheme != "https" && u.Scheme != "http") ||
		(d.Status != 302 && d.Status != 307 && !d.Preview) {
		t.Fatalf("%+v: %v", d, err)
	}
	for _, c := range []byte(d.Location) {
		if c <= ' ' || c >= 0x7f {
			t.Fatalf("%q has a byte that a header must not have", d.Location)
		}
	}
}

func FuzzDestination(f *testing.F) {
	f.Add("https://e.com/?a=1#f", "a=2&qr=1&b", "link")
	f.Add("https://e.com", "utm_source=x&%", "")
	f.Add("https://e.com/a\r\nb", "c\r\nd: e", "é\n")
	f.Add("https://e.com/?%41=%&#?", "A=%zz&;=#", "&=#")
	f.Fuzz(func(t *testing.T, destination, query, source string) {
		link := &Link{DesktopURL: destination, UTM: UTM{Source: source}}
		d := Decide(link, &Host{}, Visit{Query: query}, noon)
		checkLocation(t, d)
		if d.IsPage() {
			return
		}
		// The destination's own part stays in front, and its meaning is kept.
		own, _, _ := strings.Cut(string(appendSafe(nil, destination, false)), "#")
		if !strings.HasPrefix(d.Location, own) {
			t.Fatalf("%q is not the start of %q", own, d.Location)
		}
		if want, got := fragment(own+fragment(destination)), fragment(d.Location); len(want) > 0 != (len(got) > 0) {
			t.Fatalf("fragment %q became %q", want, got)
		}
	})
}

func fragment(s string) string {
	_, f, found := strings.Cut(s, "#")
	if !found {
		return ""
	}
	return "#" + f
}

func BenchmarkDecide(b *testing.B) {
	link := &Link{DesktopURL: web, UTM: UTM{Source: "news", Medium: "mail"}}
	link.plan = newPlan(link)
	ruled := &Link{DesktopURL: web}
	for range 50 {
		ruled.Rules = append(ruled.Rules, Rule{ID: "r", Platform: Desktop, Country: "DE", StartsAt: &earlier, URL: web})
	}
	ruled.plan = newPlan(ruled)
	b.Run("rules", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			Decide(ruled, &Host{}, Visit{Platform: Desktop, Country: "FR"}, noon)
		}
	})
	for name, query := range map[string]string{"plain": "", "qr": "qr=1", "query": "fbclid=abcdef&ref=x"} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Decide(link, &Host{}, Visit{Platform: Desktop, Query: query}, noon)
			}
		})
	}
}
