package visitor

import (
	"net/http"
	"strings"
	"testing"

	"github.com/waymarkhq/waymark/internal/visitor/visitortest"
)

func TestParseAgent(t *testing.T) {
	const social = true
	for _, c := range []struct {
		text                          string
		platform, device, os, browser string
		social                        bool
	}{
		// Desktops.
		{visitortest.ChromeWindows, "desktop", "desktop", "Windows", "Chrome", false},
		{visitortest.SafariMac, "desktop", "desktop", "macOS", "Safari", false}, // or an iPad: nobody can tell
		{"Mozilla/5.0 (X11; Linux x86_64; rv:132.0) Gecko/20100101 Firefox/132.0", "desktop", "desktop", "Linux",
			"Firefox", false},
		{"Mozilla/5.0 (X11; Ubuntu; Linux x86_64; rv:131.0) Gecko/20100101 Firefox/131.0", "desktop", "desktop",
			"Linux", "Firefox", false},
		{visitortest.ChromeWindows + " Edg/131.0.0.0", "desktop", "desktop", "Windows", "Edge", false},
		{visitortest.ChromeWindows + " OPR/116.0.0.0", "desktop", "desktop", "Windows", "Opera", false},
		{visitortest.ChromeWindows + " Vivaldi/7.0.3495.11", "desktop", "desktop", "Windows", "Vivaldi", false},
		{"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/128.0.0.0 " +
			"YaBrowser/24.10.0.0 Safari/537.36", "desktop", "desktop", "Windows", "Yandex", false},
		{"Mozilla/5.0 (Windows NT 10.0; WOW64; Trident/7.0; rv:11.0) like Gecko", "desktop", "desktop", "Windows",
			"Internet Explorer", false},
		{"Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 " +
			"Safari/537.36", "desktop", "desktop", "ChromeOS", "Chrome", false},
		{"Mozilla/5.0 (X11; FreeBSD amd64; rv:128.0) Gecko/20100101 Firefox/128.0", "desktop", "desktop", "FreeBSD",
			"Firefox", false},
		// Phones and tablets.
		{visitortest.ChromeAndroid, "android", "android", "Android", "Chrome", false},
		{visitortest.SafariPhone, "ios", "ios", "iOS", "Safari", false},
		{"Mozilla/5.0 (iPad; CPU OS 12_5_7 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/12.1.2 " +
			"Mobile/15E148 Safari/604.1", "ios", "ios", "iOS", "Safari", false},
		{"Mozilla/5.0 (iPod touch; CPU iPhone OS 12_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) " +
			"Version/12.0 Mobile/15E148 Safari/604.1", "ios", "ios", "iOS", "Safari", false},
		{"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_6) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148",
			"ios", "ios", "iOS", "", false},
		{"Mozilla/5.0 (iPhone; CPU iPhone OS 17_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) " +
			"CriOS/131.0.6778.73 Mobile/15E148 Safari/604.1", "ios", "ios", "iOS", "Chrome", false},
		{"Mozilla/5.0 (iPhone; CPU iPhone OS 17_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) " +
			"FxiOS/132.0 Mobile/15E148 Safari/605.1.15", "ios", "ios", "iOS", "Firefox", false},
		{"Mozilla/5.0 (iPhone; CPU iPhone OS 17_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) " +
			"Version/17.0 EdgiOS/130.0.2849.80 Mobile/15E148 Safari/605.1.15", "ios", "ios", "iOS", "Edge", false},
		{"Mozilla/5.0 (Linux; Android 14; SAMSUNG SM-S911B) AppleWebKit/537.36 (KHTML, like Gecko) " +
			"SamsungBrowser/26.0 Chrome/122.0.0.0 Mobile Safari/537.36", "android", "android", "Android",
			"Samsung Internet", false},
		{"Mozilla/5.0 (Android 14; Mobile; rv:132.0) Gecko/132.0 Firefox/132.0", "android", "android", "Android",
			"Firefox", false},
		{"Opera/9.80 (Android; Opera Mini/68.0.2254/191.303; U; en) Presto/2.12.423 Version/12.16", "android",
			"android", "Android", "Opera Mini", false},
		{"Mozilla/5.0 (Linux; Android 9; KFMAWI) AppleWebKit/537.36 (KHTML, like Gecko) Silk/112.5.1 like " +
			"Chrome/112.0.5615.213 Safari/537.36", "android", "android", "Android", "Silk", false},
		{"Mozilla/5.0 (Linux; Android 11; CUBOT NOTE 20) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 " +
			"Mobile Safari/537.36", "android", "android", "Android", "Chrome", false},
		{"Mozilla/5.0 (Linux; U; Android 13; en-us; 2201117TY Build/TKQ1) AppleWebKit/537.36 (KHTML, like Gecko) " +
			"Version/4.0 Chrome/112.0.5615.136 Mobile Safari/537.36 XiaoMi/MiuiBrowser/14.9.0", "android", "android",
			"Android", "Miui Browser", false},
		// Neither.
		{"", "other", "other", "", "", false},
		{"Mozilla/5.0 (SMART-TV; LINUX; Tizen 6.0) AppleWebKit/537.36 (KHTML, like Gecko) 76.0.3809.146/6.0 TV " +
			"Safari/537.36", "other", "other", "", "", false},
		{"Mozilla/5.0 (PlayStation; PlayStation 5/6.00) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/15.4 " +
			"Safari/605.1.15", "other", "other", "", "Safari", false},
		{"Mozilla/5.0 (BB10; Touch) AppleWebKit/537.10+ (KHTML, like Gecko) Version/10.0.9.2372 Mobile Safari/537.10+",
			"other", "other", "", "", false},
		{"something of my own", "other", "other", "", "", false},
		// Apps of social networks.
		{"Mozilla/5.0 (iPhone; CPU iPhone OS 17_6_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) " +
			"Mobile/21G93 [FBAN/FBIOS;FBAV/488.0.0.60.103;FBBV/655;FBDV/iPhone15,2;FBMD/iPhone;FBSN/iOS;FBSV/17.6.1]",
			"ios", "ios", "iOS", "Facebook", social},
		{"Mozilla/5.0 (Linux; Android 14; SM-A546B Build/UP1A; wv) AppleWebKit/537.36 (KHTML, like Gecko) " +
			"Version/4.0 Chrome/131.0.6778.39 Mobile Safari/537.36 [FB_IAB/FB4A;FBAV/489.0.0.54.80;]", "android",
			"android", "Android", "Facebook", social},
		{"Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) " +
			"Mobile/15E148 Instagram 357.1.1.29.105 (iPhone14,5; iOS 17_5; en_US; en; scale=3.00; 1170x2532; 660)",
			"ios", "ios", "iOS", "Instagram", social},
		{"Mozilla/5.0 (Linux; Android 13; Pixel 7 Build/TQ3A; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 " +
			"Chrome/130.0.0.0 Mobile Safari/537.36 Instagram 355.0.0.41.103 Android (33/13; 420dpi)", "android",
			"android", "Android", "Instagram", social},
		{"Mozilla/5.0 (iPhone; CPU iPhone OS 17_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) " +
			"Mobile/15E148 Twitter for iPhone/10.68", "ios", "ios", "iOS", "X", social},
		{"Mozilla/5.0 (Linux; Android 14; Pixel 8 Build/AP2A; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 " +
			"Chrome/130.0.0.0 Mobile Safari/537.36 TwitterAndroid", "android", "android", "Android", "X", social},
		{"Mozilla/5.0 (Linux; Android 12; M2101K6G Build/SKQ1; wv) AppleWebKit/537.36 (KHTML, like Gecko) " +
			"Version/4.0 Chrome/130.0.0.0 Mobile Safari/537.36 musical_ly_2023708050 BytedanceWebview/d8a21c6",
			"android", "android", "Android", "TikTok", social},
		{"Mozilla/5.0 (iPhone; CPU iPhone OS 17_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) " +
			"Mobile/15E148 [LinkedInApp]/9.30.1234", "ios", "ios", "iOS", "LinkedIn", social},
		{"Mozilla/5.0 (iPhone; CPU iPhone OS 17_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) " +
			"Mobile/15E148 Snapchat/13.14.0.43 (like Safari/8618.3.11.10.7, panda)", "ios", "ios", "iOS", "Snapchat",
			social},
		{"Mozilla/5.0 (iPhone; CPU iPhone OS 17_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) " +
			"Mobile/15E148 [Pinterest/iOS]", "ios", "ios", "iOS", "Pinterest", social},
		{"Mozilla/5.0 (iPhone; CPU iPhone OS 17_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) " +
			"Mobile/15E148 Safari Line/14.17.0", "ios", "ios", "iOS", "LINE", social},
		{"Mozilla/5.0 (Linux; Android 13; V2203A Build/TP1A; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 " +
			"Chrome/116.0.0.0 Mobile Safari/537.36 MicroMessenger/8.0.53.2740(0x28003533) NetType/WIFI", "android",
			"android", "Android", "WeChat", social},
		// Crawlers, previews, programs: with the platform they pretend.
		{"Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)", "other", "bot", "", "", false},
		{"Mozilla/5.0 (Linux; Android 6.0.1; Nexus 5X Build/MMB29P) AppleWebKit/537.36 (KHTML, like Gecko) " +
			"Chrome/131.0.0.0 Mobile Safari/537.36 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
			"android", "bot", "Android", "", false},
		{"Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; bingbot/2.0; " +
			"+http://www.bing.com/bingbot.htm) Chrome/116.0.1938.76 Safari/537.36", "other", "bot", "", "", false},
		{"facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)", "other", "bot", "", "", false},
		// iMessage
		{"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_11_1) AppleWebKit/601.2.4 (KHTML, like Gecko) Version/9.0.1 " +
			"Safari/601.2.4 facebookexternalhit/1.1 Facebot Twitterbot/1.0", "desktop", "bot", "macOS", "Safari",
			false},
		{"Twitterbot/1.0", "other", "bot", "", "", false},
		{"LinkedInBot/1.0 (compatible; Mozilla/5.0; Apache-HttpClient +http://www.linkedin.com)", "other", "bot", "",
			"", false},
		{"Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)", "other", "bot", "", "", false},
		{"TelegramBot (like TwitterBot)", "other", "bot", "", "", false},
		{"Mozilla/5.0 (compatible; Discordbot/2.0; +https://discordapp.com)", "other", "bot", "", "", false},
		{"WhatsApp/2.24.21.79 A", "other", "bot", "", "WhatsApp", false},
		{"Mozilla/5.0 (Windows NT 6.1; WOW64) SkypeUriPreview Preview/0.5", "desktop", "bot", "Windows", "", false},
		{"Mozilla/5.0 (compatible; AhrefsBot/7.0; +http://ahrefs.com/robot/)", "other", "bot", "", "", false},
		{"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/131.0.0.0 Safari/537.36", "desktop", "bot", "Linux", "", false},
		{"Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) " +
			"Version/17.4 Mobile/15E148 Safari/604.1 (Applebot/0.1; +http://www.apple.com/go/applebot)", "", "bot", "",
			"", false},
		{"Mozilla/5.0 (Linux; Android 5.0) AppleWebKit/537.36 (KHTML, like Gecko) Mobile Safari/537.36 (compatible; " +
			"Bytespider; spider-feedback@bytedance.com)", "android", "bot", "Android", "", false},
		{"curl/8.10.1", "other", "other", "", "", false},
		{"Go-http-client/2.0", "other", "other", "", "", false},
		{"python-requests/2.32.3", "other", "other", "", "", false},
		{"Messages/1.0 CFNetwork/1498.700.2 Darwin/23.6.0", "other", "bot", "", "", false},
	} {
		got := parseAgent(c.text)
		if c.platform == "" { // crawlers whose platform the parser leaves out
			c.platform = string(got.Platform)
		}
		if string(got.Platform) != c.platform || got.Device != c.device || got.OS != c.os || got.Browser != c.browser ||
			got.Social != c.social {
			t.Errorf("%s\ngot %s %s %q %q %v, want %s %s %q %q %v", c.text,
				got.Platform, got.Device, got.OS, got.Browser, got.Social, c.platform, c.device, c.os, c.browser,
				c.social)
		}
	}
}

func TestHeadersOfAgent(t *testing.T) {
	known := newAgents()
	for name, c := range map[string]struct {
		header                   http.Header
		platform, device, system string
	}{
		"no headers": {http.Header{}, "other", "other", ""},
		"reduced": {http.Header{"User-Agent": {visitortest.ChromeWindows}, "Sec-Ch-Ua-Platform": {`"Windows"`},
			"Sec-Ch-Ua-Mobile": {"?0"}}, "desktop", "desktop", "Windows"},
		"hint wins": {http.Header{"User-Agent": {visitortest.ChromeWindows}, "Sec-Ch-Ua-Platform": {`"Android"`},
			"Sec-Ch-Ua-Mobile": {"?1"}}, "android", "android", "Android"},
		"hint alone": {http.Header{"Sec-Ch-Ua-Platform": {`"Chrome OS"`}}, "desktop", "desktop", "ChromeOS"},
		"hint of Linux": {http.Header{"User-Agent": {visitortest.ChromeAndroid}, "Sec-Ch-Ua-Platform": {`"Linux"`},
			"Sec-Ch-Ua-Mobile": {"?1"}}, "android", "android", "Android"},
		"unknown hint": {http.Header{"User-Agent": {visitortest.ChromeAndroid}, "Sec-Ch-Ua-Platform": {`"Fuchsia"`}},
			"android", "android", "Android"},
		"bot with hint": {http.Header{"User-Agent": {"Twitterbot/1.0"}, "Sec-Ch-Ua-Platform": {`"Windows"`}}, "other",
			"bot", ""},
		"Chrome ahead": {http.Header{"User-Agent": {visitortest.ChromeAndroid},
			"Sec-Purpose": {"prefetch;prerender"}}, "android", "bot", "Android"},
		"Safari ahead": {http.Header{"User-Agent": {visitortest.SafariMac}, "Purpose": {"prefetch"}}, "desktop",
			"bot", "macOS"},
		"Firefox ahead": {http.Header{"User-Agent": {visitortest.SafariMac}, "X-Moz": {"prefetch"}}, "desktop", "bot",
			"macOS"},
		"another's": {http.Header{"User-Agent": {visitortest.SafariMac}, "Sec-Purpose": {"speed"}}, "desktop",
			"desktop", "macOS"},
		"not remembered": {http.Header{"User-Agent": {visitortest.SafariMac}}, "desktop", "desktop", "macOS"},
	} {
		for range 2 {
			got := known.of(c.header)
			if string(got.Platform) != c.platform || got.Device != c.device || got.OS != c.system {
				t.Errorf("%s: got %+v", name, got)
			}
		}
	}
	long := known.of(http.Header{"User-Agent": {strings.Repeat("x", 5000)}})
	if len(long.Text) != maxAgent {
		t.Errorf("%d bytes of the user agent count", len(long.Text))
	}
}

func TestPreviewers(t *testing.T) {
	for want, agents := range map[bool][]string{true: visitortest.Previewers, false: append(visitortest.Searchers,
		visitortest.ChromeWindows, visitortest.ChromeAndroid, visitortest.SafariPhone, visitortest.SafariMac, "",
		"curl/8.10.1",
		visitortest.SafariPhone+" [Pinterest/iOS]", visitortest.SafariPhone+" Twitter for iPhone/10.68",
		visitortest.SafariPhone+" [LinkedInApp]/9.30", visitortest.SafariPhone+" [FBAN/FBIOS;FBAV/488.0]",
		visitortest.ChromeAndroid+" Viber/21.0", visitortest.ChromeAndroid+" WhatsApp/2.24",
		visitortest.ChromeAndroid+" Telegram-Android/11.2", visitortest.ChromeAndroid+" Reddit/2024.1",
	)} {
		for _, text := range agents {
			if a := parseAgent(text); a.Preview != want || want && (a.Device != Bot || a.Social) {
				t.Errorf("%s\n%+v", text, a)
			}
		}
	}
}

func TestSource(t *testing.T) {
	for name, c := range map[string]struct {
		agent    string
		qr       bool
		referrer string
		want     string
	}{
		"browser":           {visitortest.ChromeAndroid, false, "example.com", "browser"},
		"QR":                {visitortest.ChromeAndroid, true, "facebook.com", "qr"},
		"referrer":          {visitortest.ChromeAndroid, false, "l.facebook.com", "social"},
		"app as referrer":   {visitortest.ChromeAndroid, false, "com.linkedin.android", "social"},
		"nobody's referrer": {"", false, "t.co", "social"},
		"similar referrer":  {visitortest.ChromeAndroid, false, "notfacebook.com", "browser"},
		"app":               {visitortest.ChromeAndroid + " Instagram 1", false, "", "social"},
		"nothing":           {"", false, "", "unknown"},
	} {
		a := parseAgent(c.agent)
		if got := a.Source(c.qr, c.referrer); got != c.want {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func FuzzParseAgent(f *testing.F) {
	f.Add(visitortest.ChromeAndroid)
	f.Add("(;[:]http://é\x00")
	f.Fuzz(func(t *testing.T, text string) {
		if a := parseAgent(text); a.Device == "" || a.Platform == "" || len(a.Browser) > 32 {
			t.Errorf("%+v", a)
		}
	})
}

func BenchmarkParseAgent(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		parseAgent(visitortest.ChromeAndroid)
	}
}
