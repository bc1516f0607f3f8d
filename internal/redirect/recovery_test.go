package redirect_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/waymarkhq/waymark/internal/apitest"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
	"github.com/waymarkhq/waymark/internal/visitor/visitortest"
)

type M = apitest.M

const (
	play  = "https://play.google.com/store/apps/details?id=com.example.shop"
	apple = "https://apps.apple.com/app/id123"
	none  = `{"linkId":null,"appPath":null,"parameters":{},"utm":{"source":null,"medium":null,"campaign":null,` +
		`"term":null,"content":null},"matched":false}`

	// Types of events as they are stored.
	click, appOpen, created, matched = 1, 2, 5, 6
)

// shop is an owner whose domain recovers links, with one that has all there is, and
// its id.
func shop(t *testing.T, i *apitest.Installation) (owner *apitest.Client, linkID string) {
	t.Helper()
	owner = i.Prepared(t, "ann@example.com")
	linkID = recovering(t, i, owner)
	return owner, linkID
}

func recovering(t *testing.T, i *apitest.Installation, owner *apitest.Client) (linkID string) {
	t.Helper()
	configure(owner, M{"enabled": true, "tokenTtlSeconds": 3600})
	campaign := owner.Call("POST", "/campaigns", M{"appId": owner.AppID, "name": "Spring",
		"utm": M{"source": "radio", "campaign": "spring"}}).Want(201).Text("data.id")
	linkID = owner.Link("x", M{"prefix": "p", "appPath": "product/42?color=red", "title": "Shoes",
		"parameters": M{"size": 42, "on": true}, "playStoreUrl": play, "appStoreUrl": apple,
		"utm": M{"source": "mail"}, "campaignId": campaign}).Want(201).Text("data.id")
	i.Settle(t)
	i.Visit(t, "https://"+owner.Host+"/p/x", nil, func(r *http.Response) bool { return r.StatusCode == 302 })
	return linkID
}

// configure replaces the recovery-config of an owner's only domain.
func configure(owner *apitest.Client, config M) {
	path := "/domains/" + owner.Call("GET", "/domains?appId="+owner.AppID, nil).Want(200).Text("data.0.id") +
		"/recovery-config"
	owner.Call("PUT", path, config, apitest.IfMatch(owner.Call("GET", path, nil).Revision())).Want(200)
}

// content is what an app learns of the link of shop.
func content(linkID string) string {
	return `{"linkId":"` + linkID + `","appPath":"product/42?color=red","parameters":{"on":true,"size":42},` +
		`"utm":{"source":"mail","medium":null,"campaign":"spring","term":null,"content":null},"matched":true}`
}

// ask sends a request to a path of a hostname below /_service/.
func ask(i *apitest.Installation, method, host, path, body string, header ...string) *http.Response {
	r := httptest.NewRequest(method, "https://"+host+"/_service/"+path, strings.NewReader(body))
	r.Header.Set("User-Agent", "okhttp/4.12.0")
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	i.Public.ServeHTTP(w, r)
	return w.Result()
}

// say is ask for the calls of apps; it returns the body.
func say(t *testing.T, i *apitest.Installation, host, name string, body M, want int, header ...string) string {
	t.Helper()
	text, err := json.Marshal(body, json.Deterministic(true))
	if err != nil {
		t.Fatal(err)
	}
	r := ask(i, "POST", host, name, string(text), header...)
	answer := bodyOf(t, r)
	if r.StatusCode != want || r.Header.Get("Content-Type") != "application/json" ||
		r.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("%s %s: %d %v\n%s", name, text, r.StatusCode, r.Header, answer)
	}
	return answer
}

func bodyOf(t *testing.T, r *http.Response) string {
	t.Helper()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// newToken wants the app on Android, and returns the token.
func newToken(t *testing.T, i *apitest.Installation, host, path string, header ...string) string {
	t.Helper()
	r := ask(i, "GET", host, "install/"+path, "", append(header, "User-Agent", visitortest.ChromeAndroid)...)
	location, err := r.Location()
	if err != nil {
		t.Fatalf("install/%s: %d %s", path, r.StatusCode, bodyOf(t, r))
	}
	referrer, err := url.ParseQuery(location.Query().Get("referrer"))
	if err != nil || referrer.Get("waymark_token") == "" {
		t.Fatalf("Location %s: %v", location, err)
	}
	return referrer.Get("waymark_token")
}

// totals are the counts of a summary of the app.
func totals(t *testing.T, i *apitest.Installation, owner *apitest.Client, filter string) *apitest.Response {
	t.Helper()
	i.LoadClicks(t)
	now := i.Clock.Now()
	return owner.Call("GET", "/analytics/summary?appId="+owner.AppID+"&start="+now.Add(-30*24*time.Hour).String()+
		"&end="+now.Add(time.Hour).String()+filter, nil).Want(200)
}

// inDatabase keeps events where these tests can look for each of them.
var inDatabase = apitest.Options{Events: "database"}

// types counts the stored events by type.
func types(t *testing.T, i *apitest.Installation) map[int64]int {
	t.Helper()
	i.LoadClicks(t)
	all, err := store.All(t.Context(), i.DB, store.Value[int64], "SELECT type FROM event")
	if err != nil {
		t.Fatal(err)
	}
	n := map[int64]int{}
	for _, one := range all {
		n[one]++
	}
	return n
}

func TestInstallAndRecover(t *testing.T) {
	apitest.EachWith(t, inDatabase, func(t *testing.T, i *apitest.Installation) {
		owner, linkID := shop(t, i)
		before := types(t, i)
		r := ask(i, "GET", owner.Host, "install/p/x?utm_content=a%20b", "", "User-Agent", visitortest.ChromeAndroid)
		location := r.Header.Get("Location")
		if r.StatusCode != 302 || !strings.HasPrefix(location, play+"&utm_content=a%20b&utm_source=mail&utm_campaign=spring"+
			"&referrer=waymark_token%3D") || r.Header.Get("Cache-Control") != "private, no-store" {
			t.Fatalf("install: %d %v", r.StatusCode, r.Header)
		}
		u, err := url.Parse(location)
		if err != nil {
			t.Fatal(err)
		}
		referrer := u.Query().Get("referrer")
		token, rest, _ := strings.Cut(strings.TrimPrefix(referrer, "waymark_token="), "&")
		if rest != "utm_content=a%20b&utm_source=mail&utm_campaign=spring" {
			t.Errorf("the referrer is %s", referrer)
		}
		if got := say(t, i, owner.Host, "recover", M{"token": token}, 200); got != content(linkID) {
			t.Errorf("recovered %s", got)
		}
		if got := say(t, i, owner.Host, "recover", M{"token": token}, 200); got != none {
			t.Errorf("recovered again %s", got)
		}
		after := types(t, i)
		for kind, want := range map[int64]int{created: 1, matched: 1, click: 0} {
			if got := after[kind] - before[kind]; got != want {
				t.Errorf("%d new events of type %d, want %d", got, kind, want)
			}
		}
		if used, err := store.All(t.Context(), i.DB, store.Value[string], "SELECT token FROM recovery_used"); err != nil ||
			len(used) != 1 || strings.Contains(used[0], token) {
			t.Errorf("stored are %q, %v", used, err)
		}
		// On iOS the visitor copies the token.
		r = ask(i, "GET", owner.Host, "install/p/x", "", "User-Agent", visitortest.SafariPhone)
		if text := bodyOf(t, r); r.StatusCode != 200 || r.Header.Get("Location") != "" || !strings.Contains(text, "Shoes") {
			t.Errorf("install on iOS: %d %s", r.StatusCode, text)
		}
		// Nobody else gets a token: the link decides where they go, and counts them.
		tokens := types(t, i)[created]
		for _, agent := range []string{visitortest.ChromeWindows,
			"Mozilla/5.0 (Linux; Android 6.0.1; Nexus 5X Build/MMB29P) AppleWebKit/537.36 (KHTML, like Gecko) " +
				"Chrome/131.0.0.0 Mobile Safari/537.36 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"} {
			r := ask(i, "GET", owner.Host, "install/p/x?q=%22", "", "User-Agent", agent)
			if want := "https://" + owner.Host + "/p/x?q=%22"; r.StatusCode != 302 || r.Header.Get("Location") != want {
				t.Errorf("install for %s: %d %v", agent, r.StatusCode, r.Header)
			}
		}
		// HEAD is answered as GET is, and counts nothing.
		for agent, want := range map[string]int{visitortest.ChromeAndroid: 302, visitortest.SafariPhone: 200} {
			r := ask(i, "HEAD", owner.Host, "install/p/x", "", "User-Agent", agent)
			if referred := strings.Contains(r.Header.Get("Location"), "referrer"); r.StatusCode != want ||
				referred != (want == 302) {
				t.Errorf("HEAD for %s: %d %v", agent, r.StatusCode, r.Header)
			}
		}
		if got := types(t, i)[created]; got != tokens {
			t.Errorf("%d more tokens", got-tokens)
		}
		for path, status := range map[string]int{"install/unknown": 404, "install/p/x/": 404, "install/": 404,
			"install": 404, "other": 404} {
			if r := ask(i, "GET", owner.Host, path, "", "User-Agent", visitortest.ChromeAndroid); r.StatusCode != status {
				t.Errorf("%s: %d", path, r.StatusCode)
			}
		}
		for _, path := range []string{"install/p/x", "other", "health"} {
			if r := ask(i, "POST", owner.Host, path, "{}"); r.StatusCode != 405 || r.Header.Get("Allow") != "GET, HEAD" {
				t.Errorf("POST %s: %d %v", path, r.StatusCode, r.Header)
			}
		}
	})
}

// A link that does not resolve gives no token, and a token of one no content; neither
// does anything else that is not the link of this hostname and app.
func TestNothingToRecover(t *testing.T) {
	apitest.EachWith(t, inDatabase, func(t *testing.T, i *apitest.Installation) {
		owner, linkID := shop(t, i)
		other := i.Prepared(t, "bob@example.com")
		recovering(t, i, other)
		token := newToken(t, i, owner.Host, "p/x")
		recover := func(what, host, token string) {
			t.Helper()
			if got := say(t, i, host, "recover", M{"token": token}, 200); got != none {
				t.Errorf("%s: %s", what, got)
			}
		}
		recover("another hostname", other.Host, token)
		recover("cut", owner.Host, token[:59])
		recover("no token", owner.Host, "x")
		future, soon := i.Clock.Now().Add(time.Hour), i.Clock.Now().Add(time.Minute)
		change := func(lifecycle M, status int) {
			t.Helper()
			path := "/links/" + apitest.Path(linkID)
			owner.Call("PATCH", path, M{"lifecycle": lifecycle}, apitest.IfMatch(owner.Call("GET", path,
				nil).Revision())).Want(200)
			i.Settle(t)
			if lifecycle["expiresAt"] != nil {
				i.Clock.Set(soon)
			}
			storetest.Eventually(t, "the redirector knows the lifecycle", func() bool {
				r := ask(i, "GET", owner.Host, "install/p/x", "", "User-Agent", visitortest.ChromeAndroid)
				return r.StatusCode == status
			})
		}
		resolve := M{"url": "https://" + owner.Host + "/p/x"}
		for what, c := range map[string]struct {
			lifecycle M
			status    int
		}{"archived": {M{"archived": true}, 410}, "scheduled": {M{"startsAt": future}, 404}} {
			change(c.lifecycle, c.status)
			recover(what, owner.Host, token)
			if got := say(t, i, owner.Host, "resolve", resolve, 200); got != none {
				t.Errorf("%s: resolved %s", what, got)
			}
			change(M{"archived": false, "startsAt": nil}, 302)
		}
		change(M{"expiresAt": soon}, 410)
		recover("expired", owner.Host, token)
		if got := say(t, i, owner.Host, "resolve", resolve, 200); got != none {
			t.Errorf("expired: resolved %s", got)
		}
		change(M{"expiresAt": nil}, 302)
		// None of these used the token up.
		if got := say(t, i, owner.Host, "recover", M{"token": token}, 200); got != content(linkID) {
			t.Errorf("recovered %s", got)
		}
		// The token ends after its time, to the second.
		token, last := newToken(t, i, owner.Host, "p/x"), newToken(t, i, owner.Host, "p/x")
		i.Clock.Move(time.Hour - time.Millisecond)
		if got := say(t, i, owner.Host, "recover", M{"token": last}, 200); got != content(linkID) {
			t.Errorf("just in time: %s", got)
		}
		i.Clock.Move(time.Millisecond)
		recover("too late", owner.Host, token)
		// Without recovery there are no tokens, and those made before stop working.
		token = newToken(t, i, owner.Host, "p/x")
		for _, config := range []M{{"enabled": false}, {"enabled": true, "matching": "none"}} {
			configure(owner, config)
			i.Settle(t)
			storetest.Eventually(t, "tokens are turned off", func() bool {
				r := ask(i, "GET", owner.Host, "install/p/x", "", "User-Agent", visitortest.ChromeAndroid)
				return r.Header.Get("Location") == "https://"+owner.Host+"/p/x"
			})
			recover("turned off", owner.Host, token)
			if r := ask(i, "GET", owner.Host, "install/p/x", "", "User-Agent", visitortest.SafariPhone); r.StatusCode != 302 {
				t.Errorf("install on iOS: %d", r.StatusCode)
			}
		}
		if got := say(t, i, owner.Host, "resolve", resolve, 200); got != content(linkID) {
			t.Errorf("resolved %s", got)
		}
	})
}

// A token that many apps send at once, to two processes, works for one of them.
func TestTokenWorksOnce(t *testing.T) {
	for _, engine := range storetest.Engines {
		t.Run(engine, func(t *testing.T) {
			address := storetest.Address(t, engine)
			first := apitest.New(t, engine, apitest.Options{Database: address, Events: "database"})
			owner, linkID := shop(t, first)
			processes := []*apitest.Installation{first}
			if engine == "postgres" {
				processes = append(processes, apitest.New(t, engine, apitest.Options{Database: address, Events: "database"}))
			}
			for range 10 {
				token := newToken(t, processes[len(processes)-1], owner.Host, "p/x")
				var once, never atomic.Int64
				var wg sync.WaitGroup
				start := make(chan struct{})
				for n := range 16 {
					wg.Go(func() {
						<-start
						switch bodyOf(t, ask(processes[n%len(processes)], "POST", owner.Host, "recover",
							`{"token":"`+token+`"}`)) {
						case content(linkID):
							once.Add(1)
						case none:
							never.Add(1)
						}
					})
				}
				close(start)
				wg.Wait()
				if once.Load() != 1 || never.Load() != 15 {
					t.Fatalf("%d matched, %d did not", once.Load(), never.Load())
				}
			}
			// Another installation has another key.
			stranger := apitest.New(t, engine, inDatabase)
			alike, _ := shop(t, stranger)
			if got := say(t, stranger, alike.Host, "recover", M{"token": newToken(t, first, owner.Host, "p/x")}, 200); got != none {
				t.Errorf("a token of another installation: %s", got)
			}
			if n := types(t, first)[matched]; len(processes) == 1 && n != 10 {
				t.Errorf("%d events recovery_matched", n)
			}
		})
	}
}

// Used tokens are forgotten a day after they expired.
func TestSweepOfUsedTokens(t *testing.T) {
	apitest.EachWith(t, inDatabase, func(t *testing.T, i *apitest.Installation) {
		owner, _ := shop(t, i)
		say(t, i, owner.Host, "recover", M{"token": newToken(t, i, owner.Host, "p/x")}, 200)
		for _, step := range []struct {
			wait time.Duration
			left int64
		}{{0, 1}, {25 * time.Hour, 1}, {time.Millisecond, 0}} {
			i.Clock.Move(step.wait)
			i.Sweep(t)
			if n, err := store.One(t.Context(), i.DB, store.Value[int64],
				"SELECT count(*) FROM recovery_used"); err != nil || n != step.left {
				t.Errorf("%v later %d are left, %v", step.wait, n, err)
			}
		}
	})
}

func TestResolve(t *testing.T) {
	apitest.EachWith(t, inDatabase, func(t *testing.T, i *apitest.Installation) {
		owner, linkID := shop(t, i)
		plain := owner.Link("é", nil).Want(201).Text("data.id")
		bare := strings.Replace(strings.Replace(none, "null", `"`+plain+`"`, 1), "false", "true", 1)
		i.Settle(t)
		host := owner.Host
		i.Visit(t, "https://"+host+"/é", nil, func(r *http.Response) bool { return r.StatusCode == 302 })
		clicks := types(t, i)[click]
		address := url.QueryEscape("https://" + host + "/p/x?a=1")
		for text, want := range map[string]string{
			"https://" + host + "/p/x":                                content(linkID),
			"http://" + host + "/p/x":                                 content(linkID),
			"HTTPS://" + strings.ToUpper(host) + ":8443/p/x":          content(linkID),
			"https://" + host + "./p/x?waymark_link=y&qr=1&&=%zz#a#b": content(linkID),
			"https://" + host + "/%70/x#waymark_token=abc":            content(linkID),
			"https://" + host + "/_service/install/p/x?a=1":           content(linkID),
			"shop://product/42?a=1&waymark_link=" + address + "#frag": content(linkID),
			"shop:product?waymark_link=" + address:                    content(linkID),
			"https://" + host + "/P/x":                                none,
			"https://" + host + "/p/x/":                               none,
			"https://" + host + "/p%2Fx":                              none,
			"https://" + host + "/":                                   none,
			"https://" + host:                                         none,
			"https://x." + host + "/p/x":                              none,
			"https://" + host + "@evil.example/p/x":                   none,
			"https://example.com/p/x?waymark_link=" + address:         none,
			"shop://product/42":                                       none,
			"shop://a?waymark_link=shop%3A%2F%2Fa":                    none,
			"/p/x":                                                    none,
			"https://[::1/p/x":                                        none,
			" ":                                                       none,
			strings.Repeat("a", 16384):                                none,
		} {
			if got := say(t, i, host, "resolve", M{"url": text, "installId": "i"}, 200); got != want {
				t.Errorf("%.80q: %s", text, got)
			}
		}
		for _, text := range []string{"https://" + host + "/é", "https://" + host + "/%C3%A9", "https://" + host + "/e%CC%81"} {
			if got := say(t, i, host, "resolve", M{"url": text}, 200); got != bare {
				t.Errorf("%q: %s", text, got)
			}
		}
		if n := types(t, i); n[appOpen] != 0 || n[click] != clicks {
			t.Errorf("events by type: %v", n)
		}
	})
}

func TestAppEvents(t *testing.T) {
	apitest.EachWith(t, inDatabase, func(t *testing.T, i *apitest.Installation) {
		owner, linkID := shop(t, i)
		other := i.Prepared(t, "bob@example.com")
		foreign := recovering(t, i, other)
		clicks := totals(t, i, owner, "").Value("data.totals.clicks")
		now := i.Clock.Now()
		send := func(events []M, want string, header ...string) {
			t.Helper()
			if got := say(t, i, owner.Host, "events", M{"events": events}, 202, header...); got != want {
				t.Errorf("%v: %s", events, got)
			}
		}
		event := func(kind string, more M) M {
			e := M{"type": kind, "linkId": linkID}
			for name, value := range more {
				e[name] = value
			}
			return e
		}
		send([]M{event("app_open", M{"installId": "install-1"}), event("content_view", M{"installId": "install-1"}),
			event("content_view", M{"occurredAt": now.Add(-7 * 24 * time.Hour)}),
			{"type": "app_open", "linkId": owner.Host + ":00000000-0000-7000-8000-000000000000"},
			{"type": "app_open", "linkId": foreign}, {"type": "app_open", "linkId": "x"}}, `{"accepted":3,"ignored":3}`)
		i.Clock.Move(24 * time.Hour)
		send([]M{event("app_open", M{"installId": "install-1"})}, `{"accepted":1,"ignored":0}`, "User-Agent",
			"Shop/1 CFNetwork/1498.700.2 Darwin/23.6.0")
		send([]M{event("app_open", M{"installId": "install-2", "platform": "ios"})}, `{"accepted":1,"ignored":0}`)
		send([]M{event("app_open", nil)}, `{"accepted":1,"ignored":0}`, "User-Agent",
			"Dalvik/2.1.0 (Linux; U; Android 14; Pixel 8 Build/AP2A)")
		send([]M{event("app_open", M{"platform": "android"})}, `{"accepted":1,"ignored":0}`, "User-Agent", "Googlebot/2.1")
		// What a phone's clock says wrongly counts as now.
		for _, at := range []time.Duration{-7*24*time.Hour - time.Millisecond, time.Millisecond, 24 * time.Hour} {
			send([]M{event("app_open", M{"occurredAt": i.Clock.Now().Add(at)})}, `{"accepted":1,"ignored":0}`)
		}
		for filter, want := range map[string][2]string{"": {"8", "2"}, "&device=android": {"6", "2"},
			"&device=ios": {"2", "0"}, "&device=bot": {"0", "0"}, "&source=app": {"8", "2"}} {
			r := totals(t, i, owner, filter)
			r.Has("data.totals.appOpens", want[0]).Has("data.totals.contentViews", want[1])
			if filter == "" {
				r.Has("data.totals.clicks", clicks).
					Has("data.totals.firstEventAt", `"`+now.Add(-7*24*time.Hour).String()+`"`).Has("data.totals.lastEventAt", `"`+i.Clock.Now().String()+`"`)
			}
		}
		installs, err := store.All(t.Context(), i.DB, store.Value[int64],
			"SELECT DISTINCT install FROM event WHERE install <> 0")
		if err != nil || len(installs) != 2 {
			t.Errorf("the installs are %v, %v", installs, err)
		}
		totals(t, i, other, "").Has("data.totals.appOpens", "0")
	})
}

// TestRefusals sends what no app should.
func TestRefusals(t *testing.T) {
	apitest.EachWith(t, inDatabase, func(t *testing.T, i *apitest.Installation) {
		owner, linkID := shop(t, i)
		event := `{"type":"app_open","linkId":"` + linkID + `"}`
		many := func(n int) string {
			return `{"events":[` + strings.TrimSuffix(strings.Repeat(event+",", n), ",") + `]}`
		}
		for name, c := range map[string]struct {
			path, body string
			header     []string
			status     int
			code, at   string
		}{
			"no body":         {"recover", "", []string{"Content-Type", "application/json"}, 400, "invalid_request", ""},
			"no JSON":         {"recover", "{", nil, 400, "invalid_request", ""},
			"more after it":   {"recover", `{"token":"a"}{}`, nil, 400, "invalid_request", ""},
			"member twice":    {"recover", `{"token":"a","token":"b"}`, nil, 400, "invalid_request", ""},
			"too deep":        {"recover", `{"token":` + strings.Repeat("[", 10000) + strings.Repeat("]", 10000) + "}", nil, 400, "invalid_request", ""},
			"no UTF-8":        {"recover", "{\"token\":\"\xff\"}", nil, 400, "invalid_request", ""},
			"form":            {"recover", `token=a`, []string{"Content-Type", "application/x-www-form-urlencoded"}, 415, "unsupported_media_type", ""},
			"packed":          {"recover", `{"token":"a"}`, []string{"Content-Encoding", "gzip"}, 415, "unsupported_media_type", ""},
			"too large":       {"recover", `{"token":"` + strings.Repeat("a", 32<<10) + `"}`, nil, 413, "payload_too_large", ""},
			"array":           {"recover", "[]", nil, 422, "validation_failed", ""},
			"no token":        {"recover", "{}", nil, 422, "validation_failed", "/token"},
			"null":            {"recover", `{"token":null}`, nil, 422, "validation_failed", "/token"},
			"number":          {"recover", `{"token":1}`, nil, 422, "validation_failed", "/token"},
			"unknown member":  {"recover", `{"token":"a","Token":"a"}`, nil, 422, "validation_failed", "/Token"},
			"long token":      {"recover", `{"token":"` + strings.Repeat("a", 513) + `"}`, nil, 422, "validation_failed", "/token"},
			"empty address":   {"resolve", `{"url":""}`, nil, 422, "validation_failed", "/url"},
			"long address":    {"resolve", `{"url":"` + strings.Repeat("a", 16385) + `"}`, nil, 422, "validation_failed", "/url"},
			"long install id": {"resolve", `{"url":"a","installId":"` + strings.Repeat("a", 129) + `"}`, nil, 422, "validation_failed", "/installId"},
			"no events":       {"events", `{"events":[]}`, nil, 422, "validation_failed", "/events"},
			"many events":     {"events", many(51), nil, 422, "validation_failed", "/events"},
			"a click":         {"events", `{"events":[` + event + `,{"type":"click","linkId":"a"}]}`, nil, 422, "validation_failed", "/events/1/type"},
			"no link":         {"events", `{"events":[{"type":"app_open"}]}`, nil, 422, "validation_failed", "/events/0/linkId"},
			"no instant":      {"events", `{"events":[{"type":"app_open","linkId":"a","occurredAt":"yesterday"}]}`, nil, 422, "validation_failed", "/events/0/occurredAt"},
			"a platform":      {"events", `{"events":[{"type":"app_open","linkId":"a","platform":"windows"}]}`, nil, 422, "validation_failed", "/events/0/platform"},
		} {
			r := ask(i, "POST", owner.Host, c.path, c.body, c.header...)
			var got struct {
				Error struct {
					Code    string `json:"code"`
					Message string `json:"message"`
					Details []struct {
						Path string `json:"path"`
					} `json:"details"`
				} `json:"error"`
			}
			text := bodyOf(t, r)
			if err := json.Unmarshal([]byte(text), &got); err != nil || r.StatusCode != c.status || got.Error.Code != c.code ||
				got.Error.Message == "" || c.at != "" && (len(got.Error.Details) == 0 || got.Error.Details[0].Path != c.at) {
				t.Errorf("%s: %d %s %v", name, r.StatusCode, text, err)
			}
		}
		// The greatest that is taken.
		if got := bodyOf(t, ask(i, "POST", owner.Host, "events", many(50))); got != `{"accepted":50,"ignored":0}` {
			t.Errorf("50 events: %s", got)
		}
		exact := `{"token":"a"}` + strings.Repeat(" ", 32<<10-len(`{"token":"a"}`))
		if got := bodyOf(t, ask(i, "POST", owner.Host, "recover", exact)); got != none {
			t.Errorf("a body of 32 KiB: %s", got)
		}
		for _, method := range []string{"GET", "HEAD", "PUT", "OPTIONS"} {
			for _, path := range []string{"resolve", "recover", "events"} {
				if r := ask(i, method, owner.Host, path, ""); r.StatusCode != 405 || r.Header.Get("Allow") != "POST" {
					t.Errorf("%s %s: %d %v", method, path, r.StatusCode, r.Header)
				}
			}
		}
		// A hostname that is not served has none of this.
		if r := ask(i, "POST", "nobody.example", "recover", `{"token":"a"}`); r.StatusCode != 404 {
			t.Errorf("an unknown hostname: %d", r.StatusCode)
		}
		n := types(t, i)
		if n[appOpen] != 50 {
			t.Errorf("events by type: %v", n)
		}
	})
}

var seconds = regexp.MustCompile(`^[1-9]\d?$`)

// TestRates counts the calls of an address, whatever hostname they are for.
func TestRates(t *testing.T) {
	i := apitest.New(t, "sqlite", apitest.Options{LimitScale: 1})
	owner, _ := shop(t, i)
	for path, c := range map[string]struct {
		method, body string
		limit, ok    int
	}{
		"resolve":     {"POST", `{"url":"x"}`, 120, 200},
		"recover":     {"POST", `{"token":"x"}`, 20, 200},
		"events":      {"POST", `{"events":[{"type":"app_open","linkId":"x"}]}`, 60, 202},
		"install/p/x": {"GET", "", 60, 302},
	} {
		call := func(address string) *http.Response {
			return ask(i, c.method, owner.Host, path, c.body, "X-Forwarded-For", address, "User-Agent",
				visitortest.ChromeAndroid)
		}
		for n := range c.limit {
			if r := call("2001:db8::1"); r.StatusCode != c.ok {
				t.Fatalf("call %d of %s: %d", n+1, path, r.StatusCode)
			}
		}
		for _, address := range []string{"2001:db8::1", "2001:db8::ffff"} {
			if r := call(address); r.StatusCode != 429 || !seconds.MatchString(r.Header.Get("Retry-After")) ||
				strings.Contains(bodyOf(t, r), "2001") {
				t.Errorf("%s of %s above the limit: %d %v", path, address, r.StatusCode, r.Header)
			}
		}
		if r := call("2001:db8:0:1::1"); r.StatusCode != c.ok {
			t.Errorf("%s of another address: %d", path, r.StatusCode)
		}
	}
	i.Clock.Move(time.Minute)
	if r := ask(i, "POST", owner.Host, "recover", `{"token":"x"}`, "X-Forwarded-For", "2001:db8::1"); r.StatusCode != 200 {
		t.Errorf("a minute later: %d", r.StatusCode)
	}
}
