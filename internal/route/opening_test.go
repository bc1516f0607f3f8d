package route

import (
	"reflect"
	"strings"
	"testing"

	"github.com/waymarkhq/waymark/internal/binding"
)

const address = "https://go.example.com/hello"

// phone visits a link with an app path on a host that knows everything of the app.
func phone(platform Platform, change func(*Link, *Host, *Visit)) Decision {
	link := &Link{DesktopURL: web, PlayStoreURL: play, AppStoreURL: apple, AppPath: "products/7"}
	host := &Host{Scheme: "myapp", AndroidPackage: "com.example"}
	visit := Visit{Platform: platform, Address: address}
	if change != nil {
		change(link, host, &visit)
	}
	return Decide(link, host, visit, noon)
}

func TestDecideOpening(t *testing.T) {
	for name, c := range map[string]struct {
		change       func(l *Link, h *Host, v *Visit)
		android, ios Opening
	}{
		"nothing said": {nil, OpenManual, OpenManual},
		"manual": {func(l *Link, _ *Host, _ *Visit) { l.Behavior = BehaveManual }, OpenManual,
			OpenManual},
		"automatic": {func(l *Link, _ *Host, _ *Visit) { l.Behavior = BehaveAutomatic }, OpenAutomatic,
			OpenAutomatic},
		"intelligent, browser": {func(l *Link, _ *Host, _ *Visit) { l.Behavior = BehaveIntelligent }, OpenAutomatic,
			OpenAutomatic},
		"intelligent, in an app": {func(l *Link, _ *Host, v *Visit) { l.Behavior, v.InApp = BehaveIntelligent, true },
			OpenManual,
			OpenManual},
		"automatic, in an app": {func(l *Link, _ *Host, v *Visit) { l.Behavior, v.InApp = BehaveAutomatic, true },
			OpenAutomatic,
			OpenAutomatic},
		"no scheme":  {func(_ *Link, h *Host, _ *Visit) { h.Scheme = "" }, OpenManual, OpenNone},
		"no package": {func(_ *Link, h *Host, _ *Visit) { h.AndroidPackage = "" }, OpenManual, OpenManual},
		"no app": {func(_ *Link, h *Host, _ *Visit) { h.Scheme, h.AndroidPackage = "", "" }, OpenNone,
			OpenNone},
		"web only":  {func(l *Link, _ *Host, _ *Visit) { l.WebOnly = true }, OpenNone, OpenNone},
		"a program": {func(_ *Link, _ *Host, v *Visit) { v.Automated = true }, OpenNone, OpenNone},
		"a rule that matched": {func(l *Link, _ *Host, _ *Visit) { l.Rules = []Rule{{ID: "r", URL: web}} }, OpenNone,
			OpenNone},
		"a rule of no address": {func(l *Link, _ *Host, _ *Visit) { l.Rules = []Rule{{ID: "r", URL: "x:y"}} },
			OpenManual,
			OpenManual},
		"a rule for others": {func(l *Link, _ *Host, _ *Visit) {
			l.Rules = []Rule{{ID: "r", URL: web,
				Country: "DE"}}
		}, OpenManual, OpenManual},
		"nowhere else to go": {func(l *Link, _ *Host, _ *Visit) {
			l.DesktopURL, l.PlayStoreURL, l.AppStoreURL = "",
				"", ""
		}, OpenManual, OpenManual},
		"a link of a past app": {func(l *Link, _ *Host, _ *Visit) { l.AppID = "past" }, OpenNone, OpenNone},
		"archived":             {func(l *Link, _ *Host, _ *Visit) { l.Archived = true }, OpenNone, OpenNone},
		"scheduled":            {func(l *Link, _ *Host, _ *Visit) { l.StartsAt = &later }, OpenNone, OpenNone},
		"expired": {func(l *Link, _ *Host, _ *Visit) { l.ExpiresAt, l.ExpiredURL = &noon, web },
			OpenNone, OpenNone},
	} {
		for platform, want := range map[Platform]Opening{Android: c.android, IOS: c.ios, Desktop: OpenNone,
			Other: OpenNone} {
			d := phone(platform, c.change)
			got := OpenNone
			if d.App != nil {
				got = d.App.Opening
			}
			kind := map[Opening]Destination{OpenManual: ToPage, OpenAutomatic: ToApp, OpenNone: d.Destination}[want]
			if got != want || (d.App != nil) != (d.Status == 200) || d.Destination != kind {
				t.Errorf("%s on %s: %s, %+v", name, platform, got, d)
			}
		}
	}
}

// TestApp looks at all that a page is made of.
func TestApp(t *testing.T) {
	all := func(l *Link, h *Host, v *Visit) {
		l.UTM.Source, v.Query = "news", "a=1&qr=1&b='\""
		h.Recovery = &Recovery{ByToken: true}
		h.Templates, l.Templates = Templates{Android: "h@1", IOS: "h@2"}, Templates{IOS: "l@3"}
	}
	const query, passed = "?a=1&b=%27%22", "?a=1&b='%22"
	for platform, want := range map[Platform]App{
		Android: {Base: binding.Android, Template: "h@1", Opening: OpenManual, StoreURL: play +
			"&a=1&b='%22&utm_source=news",
			WebURL: web + passed + "&utm_source=news", InstallURL: "https://go.example.com/_service/install/hello" +
				query,
			Address: address + query,
			NativeURI: "intent://products/7?waymark_link=https%3A%2F%2Fgo.example.com%2Fhello%3Fa%3D1%26b" +
				"%3D%2527%2522#Intent;scheme=myapp;action=android.intent.action.VIEW;category=android.intent.category.BROWSABLE;" +
				"package=com.example;S.browser_fallback_url=https%3A%2F%2Fgo.example.com%2F_service%2Finstall%2Fhello%3Fa%3D1%26" +
				"b%3D%2527%2522;end"},
		IOS: {Base: binding.IOS, Template: "l@3", Opening: OpenManual, StoreURL: apple + passed + "&utm_source=news",
			WebURL: web + passed + "&utm_source=news", InstallURL: "https://go.example.com/_service/install/hello" +
				query,
			Address: address + query, AppStoreID: "1",
			NativeURI: "myapp://products/7?waymark_link=https%3A%2F%2Fgo.example.com" +
				"%2Fhello%3Fa%3D1%26b%3D%2527%2522"},
	} {
		d := phone(platform, all)
		if !reflect.DeepEqual(*d.App, want) || d.Location != want.InstallURL || !d.QR || !d.Live {
			t.Errorf("%s: %+v\ngot  %+v\nwant %+v", platform, d, *d.App, want)
		}
	}
	for name, c := range map[string]struct {
		change                 func(l *Link, h *Host, v *Visit)
		install, web, fallback string
	}{
		"to the store":         {nil, apple, web, apple},
		"no recovery by token": {func(_ *Link, h *Host, _ *Visit) { h.Recovery = &Recovery{} }, apple, web, apple},
		"no store":             {func(l *Link, _ *Host, _ *Visit) { l.AppStoreURL = "" }, "", web, web},
		"no store to recover in": {func(l *Link, h *Host, _ *Visit) {
			l.AppStoreURL, h.Recovery = "",
				&Recovery{ByToken: true}
		}, "", web, web},
		"no web page": {func(l *Link, _ *Host, _ *Visit) { l.DesktopURL = "" }, apple, "", apple},
		"nothing": {func(l *Link, _ *Host, _ *Visit) {
			l.AppStoreURL, l.DesktopURL = "",
				"market://x"
		}, "", "", ""},
	} {
		d := phone(IOS, c.change)
		if a := d.App; a.InstallURL != c.install || a.WebURL != c.web || a.Fallback() != c.fallback ||
			d.Location != c.fallback {
			t.Errorf("%s: %+v %+v", name, d, a)
		}
	}
}

func TestAppStoreID(t *testing.T) {
	for address, want := range map[string]string{
		"https://apps.apple.com/us/app/some-name/id1234567890?mt=8": "1234567890",
		"https://apps.apple.com/app/id12345678901234567890":         "12345678901234567890",
		"https://apps.apple.com/app/id123456789012345678901":        "",
		"https://apps.apple.com/app/id1":                            "1",
		"https://itunes.apple.com/app/id42":                         "42",
		"https://apps.apple.com/us/developer/some/id12":             "",
		"https://apps.apple.com/app/id12x":                          "",
		"https://apps.apple.com/app/xid12":                          "",
		"https://apps.apple.com/app/id":                             "",
		"https://apps.apple.com/app/id" + strings.Repeat("1", 21):   "",
		"https://apps.apple.com.example/app/id12":                   "",
		"https://example.com/id12":                                  "",
		"":                                                          "",
		"%":                                                         "",
	} {
		if got := appStoreID(address); got != want {
			t.Errorf("%s: %q, want %q", address, got, want)
		}
	}
}
