package route

import (
	"fmt"
	"net/url"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestAppAddress(t *testing.T) {
	own := "waymark_link=" + url.QueryEscape(address)
	long, longer := strings.Repeat("x", 2000), strings.Repeat("y", 1000)
	for name, c := range map[string]struct {
		path, parameters, query string
		want                    string // "*" stands for the parameter with the link's address
	}{
		"nothing": {"", "", "", "?*"},
		"path":    {"a/b", "{}", "", "a/b?*"},
		"parameters": {"a", `{"z":"1 +&=#;","b":2.50,"c":true,"n":null,"o":{"x":[1,"y"]}}`, "",
			"a?b=2.50&c=true&n=null&o=%7B%22x%22%3A%5B1%2C%22y%22%5D%7D&z=1%20%2B%26%3D%23%3B&*"},
		"of the path":         {"a?z=9&b=%41", `{"z":"1","y":"2"}`, "", "a?z=9&b=%41&y=2&*"},
		"fragment":            {"a?b#c?d#e;f", "", "", "a?b&*#c?d%23e%3Bf"},
		"fragment alone":      {"#Intent;package=evil;end", "", "", "?*#Intent%3Bpackage=evil%3Bend"},
		"beyond ASCII":        {"日本/é", `{"ü":"ß"}`, "", "%E6%97%A5%E6%9C%AC/%C3%A9?%C3%BC=%C3%9F&*"},
		"escaped already":     {"a%20b/100%/%zz", "", "", "a%20b/100%25/%25zz?*"},
		"hostile":             {"a\"><'\n\t[x]@h\\;b", "", "", "a%22%3E%3C%27%0A%09%5Bx%5D%40h%5C;b?*"},
		"invalid UTF-8":       {"\xff", "", "", "%FF?*"},
		"the link's own name": {"a?waymark_link=x&waymark%5Flink=y", `{"waymark_link":"z"}`, "", "a?*"},
		"no object":           {"a", `["x"]`, "", "a?*"},
		"damaged":             {"a", `{"x":`, "", "a?*"},
		"a visit's query":     {"a", "", "b=1&qr=1", "a?waymark_link=" + url.QueryEscape(address+"?b=1")},
		"a long path":         {long, `{"a":1}`, "b=1", "?a=1&waymark_link=" + url.QueryEscape(address+"?b=1")},
		"a long query":        {"a", `{"a":1}`, longer + longer, "a?a=1&*"},
		"a query before parameters": {"a", `{"a":"` + longer + `","b":1}`, longer, "a?b=1&waymark_link=" +
			url.QueryEscape(address+"?"+longer)},
		"a path before the query": {longer, `{"b":1}`, longer, longer + "?b=1&*"},
		"small parameters":        {"a", `{"a":"` + long + `","b":1}`, "", "a?b=1&*"},
	} {
		app := newAppAddress(&Link{AppPath: c.path, Parameters: c.parameters})
		if got := app.with(address, c.query); got != strings.ReplaceAll(c.want, "*", own) || len(got) > 2000 {
			t.Errorf("%s: %d bytes\ngot  %s\nwant %s", name, len(got), got, strings.ReplaceAll(c.want, "*", own))
		}
	}
	// From both sides of the bound: the longest path and parameter that fit.
	room := 2000 - len("?#"+own)
	for n, want := range map[int]bool{room: true, room + 1: false} {
		app := newAppAddress(&Link{AppPath: strings.Repeat("p", n)})
		if got := app.with(address, ""); strings.HasPrefix(got, "p") != want {
			t.Errorf("a path of %d: %d bytes, %.20s", n, len(got), got)
		}
		app = newAppAddress(&Link{Parameters: fmt.Sprintf(`{"a":"%s"}`, strings.Repeat("p", n-len("a=&")))})
		if got := app.with(address, ""); strings.Contains(got, "a=p") != want {
			t.Errorf("a parameter of %d: %d bytes, %.20s", n, len(got), got)
		}
	}
	for n, want := range map[int]bool{room: true, room + 1: false} { // the longest query
		query := "q=" + strings.Repeat("p", n-len("%3Fq%3D"))
		app := newAppAddress(&Link{})
		if got := app.with(address, query); strings.Contains(got, "%3Fq%3Dp") != want || len(got) > 2000 {
			t.Errorf("a query that takes %d: %d bytes, %.80s", n, len(got), got)
		}
	}
	if got := (&appAddress{path: "p"}).with(address+long,
		"q=1"); got != "?waymark_link="+url.QueryEscape(address+long) {
		t.Errorf("the longest address of a link: %s", got)
	}
}

// What can never fit takes no memory in the cache: from both sides of the bounds of a path and of a parameter.
func TestAppAddressKeepsWhatCanFit(t *testing.T) {
	for n, want := range map[int]int{2000: 2000, 2001: 0} {
		for _, path := range []string{strings.Repeat("p", n), "p#" + strings.Repeat("f", n-1)} {
			app := newAppAddress(&Link{AppPath: path})
			if app.bytes() != want {
				t.Errorf("a path of %d bytes takes %d, want %d", n, app.bytes(), want)
			}
		}
	}
	for n, want := range map[int]int{1999: 1, 2000: 0} {
		if app := newAppAddress(&Link{AppPath: "?" + strings.Repeat("q", n)}); len(app.pairs) != want {
			t.Errorf("of a parameter of %d bytes %d are kept, want %d", n, len(app.pairs), want)
		}
	}
}

func TestIntent(t *testing.T) {
	link := &Link{AppPath: "a#b", Parameters: `{"c":"d;e"}`}
	for name, c := range map[string]struct {
		host               Host
		fallback           string
		data, pack, scheme string
	}{
		"scheme and package": {Host{Scheme: "myapp", AndroidPackage: "com.example"}, web,
			"myapp://a?c=d%3Be&waymark_link=https%3A%2F%2Fgo.example.com%2Fhello%3Fq%3D1#b", "com.example", "myapp"},
		"scheme": {Host{Scheme: "myapp"}, web,
			"myapp://a?c=d%3Be&waymark_link=https%3A%2F%2Fgo.example.com%2Fhello%3Fq%3D1#b", "", "myapp"},
		"package": {Host{AndroidPackage: "com.example"}, "", address + "?q=1", "com.example", "https"},
		"a fallback with everything": {Host{AndroidPackage: "com.example"},
			"https://e.com/;end?a=;S.x=y&b=%3B#Intent;end",
			address + "?q=1", "com.example", "https"},
	} {
		app := newAppAddress(link)
		uri := nativeURI(&app, &c.host, &Visit{Platform: Android, Address: address, Query: "q=1"}, c.fallback)
		got := parseIntent(t, uri)
		want := map[string]string{"data": c.data, "scheme": c.scheme, "action": "android.intent.action.VIEW",
			"category": "android.intent.category.BROWSABLE"}
		if c.pack != "" {
			want["package"] = c.pack
		}
		if c.fallback != "" {
			want["S.browser_fallback_url"] = c.fallback
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %s\ngot  %q\nwant %q", name, uri, got, want)
		}
	}
	host, visit := Host{AndroidPackage: "com.example"}, Visit{Platform: Android, Address: address}
	for n, want := range map[int]bool{4000: true, 4001: false} {
		uri := nativeURI(&appAddress{}, &host, &visit, strings.Repeat("x", n))
		if _, found := parseIntent(t, uri)["S.browser_fallback_url"]; found != want {
			t.Errorf("a fallback of %d bytes: %v", n, found)
		}
	}
	// The address of the link opens an app without a scheme, without a query that is
	// too long.
	_, rest, _ := strings.Cut(address, "://")
	for n, want := range map[int]string{2000: address + "?", 2001: address} {
		visit.Query = strings.Repeat("x", n-len(rest+"?"))
		if want != address {
			want += visit.Query
		}
		if got := parseIntent(t, nativeURI(&appAddress{}, &host, &visit, ""))["data"]; got != want {
			t.Errorf("with %d bytes: %s", n, got)
		}
	}
}

// parseIntent reads an intent as Android does (android.content.Intent.parseUri).
func parseIntent(t testing.TB, uri string) map[string]string {
	t.Helper()
	i := strings.LastIndexByte(uri, '#')
	data, intent := strings.CutPrefix(uri[:max(i, 0)], "intent:")
	fields, begins := strings.CutPrefix(uri[i+1:], "Intent;")
	if !intent || !begins {
		t.Fatalf("%q is no intent", uri)
	}
	found := map[string]string{}
	for !strings.HasPrefix(fields, "end") {
		name, rest, hasValue := strings.Cut(fields, "=")
		value, rest, ends := strings.Cut(rest, ";")
		decoded, err := url.PathUnescape(value) // a plus stays a plus
		if _, twice := found[name]; !hasValue || !ends || err != nil || twice {
			t.Fatalf("%q: a field at %q: %v", uri, fields, err)
		}
		found[name], fields = decoded, rest
	}
	if fields != "end" {
		t.Fatalf("%q goes on after its end", uri)
	}
	found["data"] = found["scheme"] + ":" + data
	return found
}

// uriText is RFC 3986, with the brackets in queries that browsers leave as they are.
var uriText = regexp.MustCompile(`^[a-z][a-z0-9+.-]*://([A-Za-z0-9._~!$&()*+,;=:-]|%[0-9a-fA-F]{2})*` +
	`(/([A-Za-z0-9._~!$&()*+,;=:/-]|%[0-9a-fA-F]{2})*)?(\?([A-Za-z0-9._~!$&()*+,;=:/?@[\]-]|%[0-9a-fA-F]{2})*)?` +
	`(#([A-Za-z0-9._~!$&()*+,;=:/?-]|%[0-9a-fA-F]{2})*)?$`)

// checkNative fails unless what opens an app can be written anywhere and is read as
// it was meant.
func checkNative(t testing.TB, uri string, platform Platform, scheme string) {
	t.Helper()
	if strings.ContainsFunc(uri, func(r rune) bool {
		return r <= ' ' || r >= 0x7f ||
			strings.ContainsRune("\"'<>`\\{}|^", r)
	}) {
		t.Fatalf("%q has what an address must not have", uri)
	}
	if platform == Android {
		intent := parseIntent(t, uri)
		if uri = intent["data"]; intent["scheme"] != scheme {
			t.Fatalf("%q is for the scheme %q", uri, intent["scheme"])
		}
		for name := range intent {
			switch name {
			case "data", "scheme", "action", "category", "package", "S.browser_fallback_url":
			default:
				t.Fatalf("%q has the field %q", uri, name)
			}
		}
	}
	if !strings.HasPrefix(uri, scheme+"://") || !uriText.MatchString(uri) {
		t.Fatalf("%q is no address of %s", uri, scheme)
	}
}

// checkApp fails unless a decision with a page is whole.
func checkApp(t *testing.T, d Decision, link *Link, host *Host, visit *Visit) {
	t.Helper()
	scheme := host.Scheme
	if scheme == "" {
		scheme = "https"
	}
	checkNative(t, d.App.NativeURI, visit.Platform, scheme)
	for _, location := range []string{d.App.StoreURL, d.App.WebURL, d.App.InstallURL, d.App.Address} {
		if location != "" && safeLocation(location) != location {
			t.Fatalf("%q is no location", location)
		}
	}
	if d.Status != 200 || !d.Live || d.RuleID != "" || d.Preview || link.WebOnly || visit.Automated ||
		d.Location != d.App.Fallback() || visit.Platform == IOS && host.Scheme == "" {
		t.Fatalf("%+v %+v of %+v for %+v", d, d.App, link, visit)
	}
}

func FuzzNativeURI(f *testing.F) {
	f.Add("products/7?a=1#b", `{"a":"b","n":1.0}`, "q=1&qr=1", true)
	f.Add("a\"><'\n#Intent;S.browser_fallback_url=javascript:;end", `{"#":";"}`, "#Intent;end", true)
	f.Add("%%%zz/[::1]@:80\\", `{"\u0000":"\uffff"}`, "%&;'\"", false)
	f.Add(strings.Repeat("é", 500), `{"a":{"b":[null,true]}}`, strings.Repeat("x", 3000), false)
	f.Fuzz(func(t *testing.T, path, parameters, query string, android bool) {
		link := &Link{AppPath: path, Parameters: parameters, DesktopURL: web, Behavior: BehaveAutomatic}
		for _, host := range []*Host{{Scheme: "my-app+1.x"}, {AndroidPackage: "com.example"}, {Scheme: "s2",
			AndroidPackage: "a.b"}} {
			visit := Visit{Platform: IOS, Query: query, Address: address}
			if android {
				visit.Platform = Android
			}
			d := Decide(link, host, visit, noon)
			if d.App == nil {
				continue
			}
			checkApp(t, d, link, host, &visit)
			if n := len(d.App.NativeURI); n > 6300 {
				t.Fatalf("%d bytes", n)
			}
			// The app gets the address of the link, and what it was told if all fits.
			data := d.App.NativeURI
			if android {
				data = parseIntent(t, data)["data"]
			}
			_, asked, _ := strings.Cut(data, "?")
			asked, _, _ = strings.Cut(asked, "#")
			if host.Scheme != "" {
				last := asked[strings.LastIndexByte(asked, '&')+1:]
				value, err := url.QueryUnescape(strings.TrimPrefix(last, LinkParameter+"="))
				if err != nil || value != address && value != d.App.Address {
					t.Fatalf("%q names the link %q, %v", data, value, err)
				}
			}
			if utf8.ValidString(path) && !strings.ContainsAny(path, "?#%") && len(path) < 100 && host.Scheme != "" {
				rest, _, _ := strings.Cut(strings.TrimPrefix(data, host.Scheme+"://"), "?")
				if got, err := url.PathUnescape(rest); err != nil || got != path {
					t.Fatalf("%q is read as %q", path, got)
				}
			}
		}
	})
}
