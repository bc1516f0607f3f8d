package domain_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/waymarkhq/waymark/internal/apitest"
	"github.com/waymarkhq/waymark/internal/fault"
)

func TestNativeConfig(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner, eve := i.Prepared(t, "ann@example.com"), i.Prepared(t, "eve@example.com")
		domain := domainOf(owner)
		path, host := domain+"/native-config", "https://"+owner.Host
		before := owner.Call("GET", path, nil).Want(200).Has("data.config", `{"ios":null,"android":null}`).
			Has("data.appId", `"`+owner.AppID+`"`).Has("data.domainId", `"`+strings.TrimPrefix(domain, "/domains/")+`"`).
			Has("data.publication.status", `"synced"`)
		i.Visit(t, host+appleFile, nil, func(r *http.Response) bool { return r.StatusCode == 404 })
		// checked compares what the diagnostics say of the app of a platform.
		checked := func(at, name, status, message, expected string) {
			t.Helper()
			owner.Call("GET", domain+"/diagnostics", nil).Want(200).Has("data.checks."+at+".name", `"`+name+`"`).
				Has("data.checks."+at+".status", `"`+status+`"`).Has("data.checks."+at+".message", `"`+message+`"`).
				Has("data.checks."+at+".expected", expected)
		}
		checked("4", "native_ios", "skipped", "No iOS app is associated with the hostname.", "[]")
		checked("5", "native_android", "skipped", "No Android app is associated with the hostname.", "[]")
		print := strings.Repeat("ab:", 31) + "ab"
		body := M{"ios": M{"appIds": []string{"A1B2C3D4E5.com.example.shop"}, "paths": []string{"NOT /web/*", "/*"}},
			"android": M{"apps": []M{{"packageName": "com.example.shop", "sha256CertFingerprints": []string{print}}}}}
		config := `{"ios":{"appIds":["A1B2C3D4E5.com.example.shop"],"paths":["NOT /web/*","/*"]},` +
			`"android":{"apps":[{"packageName":"com.example.shop","sha256CertFingerprints":["` + strings.ToUpper(print) +
			`"]}]}}`
		owner.Call("PUT", path, body).Refused(fault.PreconditionRequired)
		after := owner.Call("PUT", path, body, apitest.IfMatch(before.Revision())).Want(200).
			Has("data.config", config).Has("data.publication.status", `"pending"`)
		if after.Revision() == before.Revision() || after.Text("data.publication.desiredRevision") != after.Revision() {
			t.Errorf("the revision %s: %s", after.Revision(), after.Body)
		}
		owner.Call("PUT", path, body, apitest.IfMatch(before.Revision())).Refused(fault.RevisionConflict)
		i.Settle(t)
		owner.Call("GET", path, nil).Want(200).Has("data.config", config).Has("data.publication.status", `"synced"`)
		checked("4", "native_ios", "ok", "iOS apps are associated with the hostname.", `["A1B2C3D4E5.com.example.shop"]`)
		checked("5", "native_android", "ok", "Android apps are associated with the hostname.", `["com.example.shop"]`)
		if d := owner.Call("GET", domain, nil).Want(200).Has("data.nativeConfig", config); d.Revision() != after.Revision() {
			t.Errorf("the domain has the revision %s", d.Revision())
		}
		for file, want := range map[string]string{
			appleFile:   `"components":[{"/":"/_service/*","exclude":true},{"/":"/.well-known/*","exclude":true},{"/":"/web/*","exclude":true},{"/":"/*"}]`,
			androidFile: `"sha256_cert_fingerprints":["` + strings.ToUpper(print) + `"]`,
		} {
			r := i.Visit(t, host+file, nil, func(r *http.Response) bool { return r.StatusCode == 200 })
			if text := read(t, r); !strings.Contains(text, want) || r.Header.Get("Content-Type") != "application/json" ||
				r.Header.Get("Location") != "" {
				t.Errorf("%s: %v %s", file, r.Header, text)
			}
		}
		// It is nothing of other domains.
		i.Visit(t, "https://"+eve.Host+appleFile, nil, func(r *http.Response) bool { return r.StatusCode == 404 })
		eve.Call("GET", path, nil).Refused(fault.NotFound)
		eve.Call("PUT", path, body, apitest.IfMatch(after.Revision())).Refused(fault.NotFound)
		owner.Key("web_config:update").Call("PUT", path, body, apitest.IfMatch(after.Revision())).
			Refused(fault.InsufficientPermission)

		last := owner.Call("PUT", path, M{}, apitest.IfMatch(after.Revision())).Want(200).
			Has("data.config", `{"ios":null,"android":null}`)
		if last.Revision() == after.Revision() {
			t.Error("a PUT gave no new revision")
		}
		i.Settle(t)
		i.Visit(t, host+appleFile, nil, func(r *http.Response) bool { return r.StatusCode == 404 })
	})
}

// Until an owner sets native apps, they are the iOS app of the domain's app, as it
// is now.
func TestNativeConfigOfTheApp(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		domain := domainOf(owner)
		path, app := domain+"/native-config", "/apps/"+owner.AppID
		change := func(body M) {
			t.Helper()
			owner.Call("PATCH", app, body, apitest.IfMatch(owner.Call("GET", app, nil).Revision())).Want(200)
		}
		before := owner.Call("GET", path, nil)
		change(M{"iosBundleId": "com.example.shop", "androidPackage": "com.example.shop"})
		if r := owner.Call("GET", path, nil).Has("data.config.ios", "null"); r.Revision() != before.Revision() {
			t.Error("a bundle without a team changed the domain")
		}
		change(M{"iosTeamId": "A1B2C3D4E5"})
		const config = `{"ios":{"appIds":["A1B2C3D4E5.com.example.shop"],"paths":["/*"]},"android":null}`
		r := owner.Call("GET", path, nil).Want(200).Has("data.config", config).
			Has("data.publication.status", `"pending"`)
		if r.Revision() == before.Revision() {
			t.Error("one revision of the domain names two configurations")
		}
		owner.Call("GET", "/domains?appId="+owner.AppID, nil).Want(200).Has("data.0.nativeConfig", config)
		i.Settle(t)
		file := i.Visit(t, "https://"+owner.Host+appleFile, nil,
			func(r *http.Response) bool { return r.StatusCode == 200 })
		if text := read(t, file); !strings.Contains(text, `"appIDs":["A1B2C3D4E5.com.example.shop"]`) {
			t.Errorf("the file is %s", text)
		}
		i.Visit(t, "https://"+owner.Host+androidFile, nil, func(r *http.Response) bool { return r.StatusCode == 404 })
		// A domain that is made later has it from the first publication on.
		owner.Call("POST", "/domains", M{"appId": owner.AppID, "mode": "platform", "prefix": "later"}).Want(202)
		change(M{"iosTeamId": "F6G7H8I9J0"})
		i.Settle(t)
		file = i.Visit(t, "https://later."+apitest.Zone+appleFile, nil,
			func(r *http.Response) bool { return r.StatusCode == 200 })
		if text := read(t, file); !strings.Contains(text, "F6G7H8I9J0") || strings.Contains(text, "A1B2C3D4E5") {
			t.Errorf("the file is %s", text)
		}
		// What is omitted of an app is the app's own.
		print := strings.Repeat("AB", 32)
		r = owner.Call("PUT", path, M{"ios": M{}, "android": M{"apps": []M{{"sha256CertFingerprints": []string{print}}}}},
			apitest.IfMatch(owner.Call("GET", path, nil).Revision())).Want(200).
			Has("data.config.ios.appIds.0", `"F6G7H8I9J0.com.example.shop"`).Has("data.config.ios.paths", `["/*"]`).
			Has("data.config.android.apps.0.packageName", `"com.example.shop"`)
		// What was set does not follow the app any more.
		change(M{"iosTeamId": "A1B2C3D4E5"})
		if again := owner.Call("GET", path, nil).Has("data.config", r.Value("data.config")); again.Revision() != r.Revision() {
			t.Error("the app changed what was set")
		}
	})
}

func TestNativeConfigRules(t *testing.T) {
	i := apitest.New(t, "sqlite", apitest.Options{})
	owner := i.Prepared(t, "ann@example.com")
	path := domainOf(owner) + "/native-config"
	match := apitest.IfMatch(owner.Call("GET", path, nil).Revision())
	print := strings.Repeat("AB:", 31)
	ios := func(key string, value any) M {
		ios := M{"appIds": []string{"A1B2C3D4E5.com.example.shop"}, "paths": []string{"/*"}}
		ios[key] = value
		return M{"ios": ios}
	}
	android := func(apps ...M) M { return M{"android": M{"apps": apps}} }
	app := func(name string, prints ...string) M {
		return M{"packageName": name, "sha256CertFingerprints": prints}
	}
	many := func(n int, format string) (all []string) {
		for i := range n {
			all = append(all, strings.ReplaceAll(format, "%", string(rune('a'+i%26))+strings.Repeat("z", i/26)))
		}
		return all
	}
	for _, c := range []struct {
		path string
		body M
	}{
		{"/ios/appIds", M{"ios": M{}}}, // the app has none
		{"/ios/appIds", ios("appIds", []string{})},
		{"/ios/appIds", ios("appIds", many(11, "A1B2C3D4E5.com.example.%"))},
		{"/ios/appIds/1", ios("appIds", []string{"A1B2C3D4E5.com.a", "A1B2C3D4E5.com.a"})},
		{"/ios/appIds/0", ios("appIds", []string{"com.example.shop"})},
		{"/ios/appIds/0", ios("appIds", []string{"a1b2c3d4e5.com.example.shop"})},
		{"/ios/appIds/0", ios("appIds", []string{"A1B2C3D4E.com.example.shop"})},
		{"/ios/appIds/0", ios("appIds", []string{"A1B2C3D4E5.shop"})},
		{"/ios/paths", ios("paths", []string{})},
		{"/ios/paths", ios("paths", many(51, "/%"))},
		{"/ios/paths/0", ios("paths", []string{"admin"})},
		{"/ios/paths/0", ios("paths", []string{"/" + strings.Repeat("a", 500)})},
		{"/ios/path", ios("path", "/")},
		{"/android/apps", android()},
		{"/android/apps/0/packageName", android(M{"sha256CertFingerprints": []string{print + "AB"}})},
		{"/android/apps/0/packageName", android(app("shop", print+"AB"))},
		{"/android/apps/1/packageName", android(app("com.a", print+"AB"), app("com.a", print+"AC"))},
		{"/android/apps/0/sha256CertFingerprints", android(app("com.a"))},
		{"/android/apps/0/sha256CertFingerprints/0", android(app("com.a", print))},
		{"/android/apps/0/sha256CertFingerprints/0", android(app("com.a", print+"AG"))},
		{"/android/apps/0/sha256CertFingerprints/1", android(app("com.a", print+"AB", strings.ToLower(print)+"ab"))},
	} {
		owner.Call("PUT", path, c.body, match).Refused(fault.ValidationFailed, c.path)
	}
	// The most of everything is taken.
	var apps []M
	for _, name := range many(10, "com.example.%") {
		var prints []string
		for n := range 10 {
			prints = append(prints, print+"A"+string(rune('0'+n)))
		}
		apps = append(apps, app(name, prints...))
	}
	owner.Call("PUT", path, M{"ios": M{"appIds": many(10, "A1B2C3D4E5.com.example.%"), "paths": many(50, "/%")},
		"android": M{"apps": apps}}, match).Want(200)
}
