package route

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/waymarkhq/waymark/internal/clock"
)

func TestDecideRules(t *testing.T) {
	const a, b = "https://example.com/a", "https://example.com/b"
	for name, c := range map[string]struct {
		rules    []Rule
		visit    Visit
		location string
		rule     string
	}{
		"none":           {nil, Visit{Platform: IOS}, apple, ""},
		"matches all":    {[]Rule{{ID: "1", URL: a}}, Visit{}, a, "1"},
		"the first wins": {[]Rule{{ID: "1", URL: a}, {ID: "2", URL: b}}, Visit{}, a, "1"},
		"the first that matches": {[]Rule{{ID: "1", URL: a, Platform: IOS}, {ID: "2", URL: b}},
			Visit{Platform: Android}, b, "2"},
		"order, not precision": {[]Rule{{ID: "1", URL: a, Platform: IOS},
			{ID: "2", URL: b, Platform: IOS, Country: "DE"}}, Visit{Platform: IOS, Country: "DE"}, a, "1"},
		"platform":                    {[]Rule{{ID: "1", URL: a, Platform: IOS}}, Visit{Platform: IOS}, a, "1"},
		"another platform":            {[]Rule{{ID: "1", URL: a, Platform: IOS}}, Visit{Platform: Android}, play, ""},
		"desktop":                     {[]Rule{{ID: "1", URL: a, Platform: Desktop}}, Visit{Platform: Desktop}, a, "1"},
		"unknown is no desktop":       {[]Rule{{ID: "1", URL: a, Platform: Desktop}}, Visit{Platform: Other}, web, ""},
		"country":                     {[]Rule{{ID: "1", URL: a, Country: "DE"}}, Visit{Country: "DE"}, a, "1"},
		"another country":             {[]Rule{{ID: "1", URL: a, Country: "DE"}}, Visit{Country: "FR"}, web, ""},
		"no country":                  {[]Rule{{ID: "1", URL: a, Country: "DE"}}, Visit{}, web, ""},
		"unknown is nobody's country": {[]Rule{{ID: "1", URL: a, Country: "ZZ"}}, Visit{Country: "ZZ"}, web, ""},
		"unknown to a rule for all":   {[]Rule{{ID: "1", URL: a}}, Visit{Country: "ZZ"}, a, "1"},
		"both": {[]Rule{{ID: "1", URL: a, Country: "DE", Platform: IOS}},
			Visit{Country: "DE", Platform: IOS}, a, "1"},
		"one of both": {[]Rule{{ID: "1", URL: a, Country: "DE", Platform: IOS}},
			Visit{Country: "DE", Platform: Desktop}, web, ""},
		"just started": {[]Rule{{ID: "1", URL: a, StartsAt: &noon, ExpiresAt: &later}}, Visit{}, a, "1"},
		"not yet":      {[]Rule{{ID: "1", URL: a, StartsAt: &later}}, Visit{}, web, ""},
		"just ended":   {[]Rule{{ID: "1", URL: a, StartsAt: &earlier, ExpiresAt: &noon}}, Visit{}, web, ""},
		"no address":   {[]Rule{{ID: "1", URL: "javascript:alert(1)"}, {ID: "2"}, {ID: "3", URL: b}}, Visit{}, b, "3"},
		"query":        {[]Rule{{ID: "1", URL: a + "?x=1#f"}}, Visit{Query: "x=2&qr=1&y=3"}, a + "?x=1&y=3#f", "1"},
	} {
		t.Run(name, func(t *testing.T) {
			link := &Link{DesktopURL: web, PlayStoreURL: play, AppStoreURL: apple, Rules: c.rules}
			prepared := *link
			prepared.plan = newPlan(link)
			for _, link := range []*Link{link, &prepared} {
				d := Decide(link, &Host{}, c.visit, noon)
				if d.Location != c.location || d.RuleID != c.rule || !d.Live || d.Status != 302 ||
					c.rule != "" && d.Destination != ToWeb {
					t.Errorf("got %+v\nwant %q by rule %q", d, c.location, c.rule)
				}
			}
		})
	}
}

func TestDecideRuleUTM(t *testing.T) {
	const a = "https://example.com/a"
	rule := func(address string) Rule {
		return Rule{ID: "1", URL: address, Platform: IOS, UTM: UTM{Source: "rule", Content: "rule"}}
	}
	for name, c := range map[string]struct {
		rule     Rule
		platform Platform
		query    string
		location string
	}{
		"the rule's first": {rule(a), IOS, "",
			a + "?utm_source=rule&utm_medium=link&utm_campaign=campaign&utm_content=rule"},
		"of the destination": {rule(a + "?utm_content=own"), IOS, "",
			a + "?utm_content=own&utm_source=rule&utm_medium=link&utm_campaign=campaign"},
		"of the request": {rule(a), IOS, "utm_source=req&utm_medium=",
			a + "?utm_source=req&utm_medium=&utm_campaign=campaign&utm_content=rule"},
		"of another rule":       {rule(a), Desktop, "", web + "?utm_source=link&utm_medium=link&utm_campaign=campaign"},
		"of one without an own": {Rule{URL: a}, IOS, "", a + "?utm_source=link&utm_medium=link&utm_campaign=campaign"},
	} {
		link := &Link{
			DesktopURL: web, Rules: []Rule{c.rule}, UTM: UTM{Source: "link", Medium: "link"},
			CampaignUTM: UTM{Source: "campaign", Medium: "campaign", Campaign: "campaign"},
		}
		if d := Decide(link, &Host{}, Visit{Platform: c.platform, Query: c.query}, noon); d.Location != c.location {
			t.Errorf("%s: got %q, want %q", name, d.Location, c.location)
		}
	}
}

func TestDecidePreview(t *testing.T) {
	for name, c := range map[string]struct {
		link   Link
		status int
	}{
		"title":              {Link{Title: "t"}, 307},
		"all three":          {Link{Title: "t", Description: "d", ImageURL: "https://example.com/i.png"}, 200},
		"description":        {Link{Description: "d"}, 200},
		"image":              {Link{ImageURL: "https://example.com/i.png"}, 200},
		"nothing to show":    {Link{}, 307},
		"by a rule":          {Link{Description: "d", Rules: []Rule{{ID: "1", URL: web}}}, 200},
		"archived":           {Link{Description: "d", Archived: true}, 410},
		"scheduled":          {Link{Description: "d", StartsAt: &later}, 404},
		"expired":            {Link{Description: "d", ExpiresAt: &noon}, 410},
		"expired, elsewhere": {Link{Description: "d", ExpiresAt: &noon, ExpiredURL: web}, 302},
		"used up":            {Link{Description: "d", MaxClicks: &one}, 410},
		"of another app":     {Link{Description: "d", AppID: "another"}, 404},
	} {
		t.Run(name, func(t *testing.T) {
			c.link.DesktopURL = web
			host, visit := &Host{RedirectStatus: 307}, Visit{Platform: Other, Crawler: true, Clicks: 1, Query: "a=1"}
			d := Decide(&c.link, host, visit, noon)
			if d.Status != c.status || d.Preview != (c.status == 200) || d.Preview != (d.Destination == ToPage) {
				t.Errorf("got %+v", d)
			}
			// People get what they would get anyway, and the page tells where.
			visit.Crawler = false
			others := Decide(&c.link, host, visit, noon)
			if others.Preview || others.Location != d.Location || others.Live != d.Live || others.RuleID != d.RuleID {
				t.Errorf("others get %+v", others)
			}
		})
	}
}

func TestByCountry(t *testing.T) {
	for want, rules := range map[bool][]Rule{false: {{Platform: IOS}, {}}, true: {{}, {Country: "DE"}}} {
		if got := (&Link{Rules: rules}).ByCountry(); got != want {
			t.Errorf("%+v: %v", rules, got)
		}
	}
}

func TestDecideDoesNotAllocate(t *testing.T) {
	link := &Link{DesktopURL: web, MaxClicks: &six, Description: "d"}
	for i := range 50 {
		link.Rules = append(link.Rules, Rule{ID: fmt.Sprint(i), Country: "DE", URL: web})
	}
	link.Rules[49].Country = ""
	link.plan = newPlan(link)
	for _, visit := range []Visit{{Country: "DE"}, {Country: "FR"}, {Crawler: true}} {
		if n := testing.AllocsPerRun(100, func() { Decide(link, &Host{}, visit, noon) }); n != 0 {
			t.Errorf("%+v: %v allocations", visit, n)
		}
	}
}

// TestDecideReference compares with a slow decision that shares no code.
func TestDecideReference(t *testing.T) {
	const seed = 20261121
	r := rand.New(rand.NewPCG(seed, seed))
	pick := func(from ...string) string { return from[r.IntN(len(from))] }
	address := func() string {
		return pick("", web, play, apple, "https://e.com/own?utm_source=own&a=1#f", "ftp://e.com/",
			"http://e.com:8080/x?b=2")
	}
	instant := func() *clock.Instant {
		if r.IntN(2) == 0 {
			return nil
		}
		i := noon.Add(time.Duration(r.IntN(5)-2) * time.Minute)
		return &i
	}
	utm := func() UTM {
		return UTM{Source: pick("", "a", "b c"), Medium: pick("", "m"), Campaign: pick("", "c&d"),
			Content: pick("", "é")}
	}
	seen := map[string]int{}
	for range 30_000 {
		link := &Link{
			Archived: r.IntN(10) == 0, ExpiredURL: address(), DesktopURL: address(), PlayStoreURL: address(),
			AppStoreURL: address(),
			WebOnly:     r.IntN(2) == 0, UTM: utm(), CampaignUTM: utm(), Title: pick("", "t"),
			ImageURL: pick("", "", "i"),
		}
		if r.IntN(2) == 0 {
			link.StartsAt, link.ExpiresAt = instant(), instant()
		}
		if r.IntN(2) == 0 {
			n := int64(1 + r.IntN(5))
			link.MaxClicks = &n
		}
		for i := range r.IntN(6) {
			link.Rules = append(link.Rules, Rule{
				ID: fmt.Sprint(i), Platform: Platform(pick("", "", "android", "ios", "desktop")),
				Country:  pick("", "", "DE", "FR"),
				StartsAt: instant(), ExpiresAt: instant(), URL: address(), UTM: utm(),
			})
		}
		link.Behavior, link.Templates = Behavior(pick("", "manual", "automatic", "intelligent")), randomTemplates(pick)
		host := &Host{RedirectStatus: []int{0, 302, 307}[r.IntN(3)], Scheme: pick("", "myapp"),
			AndroidPackage: pick("", "com.example"), Templates: randomTemplates(pick)}
		if r.IntN(2) == 0 {
			host.Recovery = &Recovery{ByToken: r.IntN(2) == 0}
		}
		visit := Visit{
			Platform: Platform(pick("android", "ios", "desktop", "other")), Country: pick("", "ZZ", "DE", "FR"),
			Clicks:  int64(r.IntN(6)),
			Crawler: r.IntN(3) == 0, Query: pick("", "qr=1", "a=7&qr=1&z", "utm_source=req&b=3", "qr=2&&utm_campaign="),
			InApp: r.IntN(2) == 0, Address: "https://go.example.com/p/x",
		}
		visit.Automated = visit.Crawler || r.IntN(4) == 0
		want := reference(link, host, visit, noon)
		if r.IntN(2) == 0 {
			link.plan = newPlan(link)
		}
		if got := Decide(link, host, visit, noon); !reflect.DeepEqual(got, want) {
			t.Fatalf("seed %d\ngot  %+v\nwant %+v\nlink %+v\nvisit %+v", seed, got, want, link, visit)
		}
		seen[fmt.Sprint(want.Status, want.Live, want.RuleID != "", want.QR, want.App != nil)]++
	}
	if len(seen) < 16 {
		t.Errorf("only %d kinds of decisions: %v", len(seen), seen)
	}
}
