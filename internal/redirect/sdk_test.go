package redirect

import (
	"errors"
	"fmt"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/ids"
	"github.com/waymarkhq/waymark/internal/route"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
	"github.com/waymarkhq/waymark/internal/visitor"
	"github.com/waymarkhq/waymark/internal/visitor/visitortest"
)

// foreignID is the id of a link that a former holder of the hostname left over.
const foreignID = "a.example:00000000-0000-7000-8000-000000000001"

// appWorld is a handler with one hostname that recovers links, some of them limited, and
// one that does not. It returns the id of the link "x".
func appWorld(t *testing.T, db *store.DB, c *clock.Clock) (w *world, linkID string) {
	t.Helper()
	ctx, limit := t.Context(), int64(2)
	linkID = "a.example:" + ids.New()
	err := db.InTxReadCommitted(ctx, func(tx *store.Tx) error {
		p, err := route.Lock(ctx, tx)
		if err != nil {
			return err
		}
		if err := p.PutHost(ctx, "a.example", "r", route.Host{DomainID: "a", AppID: "app",
			Recovery: &route.Recovery{TokenTTLSeconds: 3600, ByToken: true}}); err != nil {
			return err
		}
		const store = "https://play.google.com/store/apps/details?id=com.example"
		return p.PutLinks(ctx, []route.LinkRoute{
			{Hostname: "a.example", Path: "x", Revision: "r", Link: route.Link{LinkID: linkID, AppID: "app", Slug: "x",
				AppPath: "x", PlayStoreURL: store, AppStoreURL: "https://apps.apple.com/app/id1"}},
			{Hostname: "a.example", Path: "limited", Revision: "r", Link: route.Link{LinkID: "a.example:" + ids.New(),
				AppID: "app", Slug: "limited", PlayStoreURL: store, MaxClicks: &limit}},
			{Hostname: "a.example", Path: "web", Revision: "r", Link: route.Link{LinkID: "a.example:" + ids.New(),
				AppID: "app", Slug: "web", PlayStoreURL: store, WebOnly: true}},
			{Hostname: "a.example", Path: "ruled", Revision: "r", Link: route.Link{LinkID: "a.example:" + ids.New(),
				AppID: "app", Slug: "ruled", PlayStoreURL: store, Rules: []route.Rule{{ID: "de", Country: "DE",
					URL: "https://example.de/"}}}},
			{Hostname: "a.example", Path: "foreign", Revision: "r", Link: route.Link{LinkID: foreignID,
				AppID: "former", Slug: "foreign", PlayStoreURL: store}},
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return newWorld(t, db, c), linkID
}

// install wants the app of a link on Android; the token is "" where there is none.
func (w *world) install(t *testing.T, slug string, header ...string) (status int, token string) {
	t.Helper()
	asked := request("GET", "a.example", "/_service/install/"+slug, append(header, "User-Agent",
		visitortest.ChromeAndroid)...)
	asked.RemoteAddr = "10.0.0.1:4711"
	r := w.get(asked)
	location, err := url.Parse(r.Header().Get("Location"))
	if err != nil {
		t.Fatal(err)
	}
	referrer, err := url.ParseQuery(location.Query().Get("referrer"))
	if err != nil {
		t.Fatal(err)
	}
	return r.Code, referrer.Get(route.TokenParameter)
}

func (w *world) post(name, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequest("POST", "/_service/"+name, strings.NewReader(body))
	r.Host = "a.example"
	r.Header.Set("Content-Type", "application/json")
	return w.get(r)
}

func TestWhoGetsATokenOfWhat(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, c *clock.Clock) {
		w, _ := appWorld(t, db, c)
		for _, c := range []struct {
			slug   string
			header []string
			status int
			token  bool
		}{
			{"x", nil, 302, true}, {"x", []string{"Sec-Purpose", "prefetch"}, 302, false},
			{"web", nil, 302, false}, {"foreign", nil, 404, false}, {"ruled", nil, 302, true},
			{"ruled", []string{"X-Country", "DE"}, 302, false},
		} {
			if status, token := w.install(t, c.slug, c.header...); status != c.status || (token != "") != c.token {
				t.Errorf("%s %v: %d %q", c.slug, c.header, status, token)
			}
		}
	})
}

// The visitor whose click was the last one a limit admits still gets the app, but no
// token: nothing tells that visitor from one who comes too late. A token made earlier
// works.
func TestLimitAndRecovery(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, c *clock.Clock) {
		w, _ := appWorld(t, db, c)
		visit := func() int {
			return w.get(request("GET", "a.example", "/limited", "User-Agent", visitortest.ChromeAndroid)).Code
		}
		resolved := func() bool {
			return strings.Contains(w.post("resolve", `{"url":"https://a.example/limited"}`).Body.String(), `"matched":true`)
		}
		if visit() != 302 || !resolved() {
			t.Error("the first click does not count")
		}
		_, token := w.install(t, "limited")
		if visit() != 302 || visit() != 410 || resolved() {
			t.Error("the limit does not hold")
		}
		if status, late := w.install(t, "limited"); status != 302 || late != "" {
			t.Errorf("the last visitor: %d %q", status, late)
		}
		if got := w.post("recover", `{"token":"`+token+`"}`).Body.String(); !strings.Contains(got, `"matched":true`) {
			t.Errorf("the token of the first visitor: %s", got)
		}
	})
}

// Without the database apps wait, and visitors go to the store.
func TestAppsWithoutDatabase(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, c *clock.Clock) {
		w, linkID := appWorld(t, db, c)
		stranger := newWorld(t, db, c) // has not read the keys
		for _, w := range []*world{w, stranger} {
			w.get(request("GET", "a.example", "/x"))
		}
		if status, token := w.install(t, "x"); status != 302 || token == "" {
			t.Fatalf("%d %q", status, token)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		status, token := w.install(t, "x")
		if status != 302 || token == "" {
			t.Errorf("with keys: %d %q", status, token)
		}
		if status, token := stranger.install(t, "x"); status != 302 || token != "" {
			t.Errorf("without keys: %d %q", status, token)
		}
		for name, body := range map[string]string{
			"recover": `{"token":"` + token + `"}`, "resolve": `{"url":"https://a.example/other"}`,
			"events": `{"events":[{"type":"app_open","linkId":"` + linkID + `"}]}`,
		} {
			r := w.post(name, body)
			if r.Code != 503 || r.Header().Get("Retry-After") != "5" || !strings.Contains(r.Body.String(),
				`"service_unavailable"`) {
				t.Errorf("%s: %d %v %s", name, r.Code, r.Header(), r.Body)
			}
		}
		if got := w.post("resolve", `{"url":"https://a.example/x"}`).Body.String(); !strings.Contains(got, `"matched":true`) {
			t.Errorf("a link in memory: %s", got)
		}
	})
}

// An event that cannot be written is not acknowledged. A token is worth more than its
// event: it works, and the event counts as lost.
func TestAppsWithoutClickLog(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, c *clock.Clock) {
		w, linkID := appWorld(t, db, c)
		w.broken = errors.New("disk full")
		events := `{"events":[{"type":"app_open","linkId":"` + linkID + `"}]}`
		if r := w.post("events", events); r.Code != 503 {
			t.Errorf("events: %d", r.Code)
		}
		_, token := w.install(t, "x")
		if got := w.post("recover", `{"token":"`+token+`"}`).Body.String(); !strings.Contains(got, `"matched":true`) {
			t.Errorf("recover: %s", got)
		}
		if lost := counted(t, w.registry, "waymark_redirect_clicks_lost_total", ""); lost != 2 {
			t.Errorf("%v events were lost", lost)
		}
		w.broken = nil
		if r := w.post("events", events); r.Code != 202 || len(w.clicks) != 1 {
			t.Errorf("events: %d, %d were written", r.Code, len(w.clicks))
		}
		for outcome, want := range map[string]float64{"events accepted": 1, "events unavailable": 1, "recover matched": 1,
			"install token": 1} {
			endpoint, outcome, _ := strings.Cut(outcome, " ")
			if got := counterOf(t, w, endpoint, outcome); got != want {
				t.Errorf("%s %s: %v", endpoint, outcome, got)
			}
		}
	})
}

// counterOf returns how many calls of an endpoint ended in a way.
func counterOf(t *testing.T, w *world, endpoint, outcome string) float64 {
	t.Helper()
	families, err := w.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			labels := metric.GetLabel()
			if family.GetName() == "waymark_sdk_requests_total" && labels[0].GetValue() == endpoint &&
				labels[1].GetValue() == outcome {
				return metric.GetCounter().GetValue()
			}
		}
	}
	return 0
}

// Events of links that the hostname's app does not have are ignored, however many.
func TestRandomIDs(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, c *clock.Clock) {
		w, linkID := appWorld(t, db, c)
		for range 20 {
			var events []string
			events = append(events, `{"type":"app_open","linkId":"`+foreignID+`"}`)
			for range 48 {
				events = append(events, fmt.Sprintf(`{"type":"app_open","linkId":"a.example:%s"}`, ids.New()))
			}
			events = append(events, `{"type":"app_open","linkId":"`+linkID+`"}`)
			if r := w.post("events", `{"events":[`+strings.Join(events, ",")+`]}`); r.Code != 202 ||
				r.Body.String() != `{"accepted":1,"ignored":49}` {
				t.Fatalf("%d %s", r.Code, r.Body)
			}
		}
		if len(w.clicks) != 20 {
			t.Errorf("%d events", len(w.clicks))
		}
	})
}

func TestAppPlatform(t *testing.T) {
	for agent, want := range map[string]route.Platform{
		"okhttp/4.12.0": route.Android, "Dalvik/2.1.0 (Linux; U; Android 14; Pixel 8 Build/AP2A)": route.Android,
		"Shop/7 CFNetwork/1498.700.2 Darwin/23.6.0": route.IOS, visitortest.SafariPhone: route.IOS,
		visitortest.ChromeAndroid: route.Android, "": route.Other, "Ktor client": route.Other, "Googlebot/2.1": route.Other,
	} {
		r := request("POST", "a.example", "/", "User-Agent", agent)
		from := visitor.New(visitor.Options{}).Of(r)
		if got := appPlatform(&from.Agent); got != want {
			t.Errorf("%q: %s", agent, got)
		}
	}
}

func TestInstallHash(t *testing.T) {
	one := installHash(key(1), "app", "install")
	for name, other := range map[string]int64{"install": installHash(key(1), "app", "install2"),
		"app": installHash(key(1), "app2", "install"), "key": installHash(key(2), "app", "install"),
		"border": installHash(key(1), "appi", "nstall")} {
		if other == one || other == 0 {
			t.Errorf("another %s gives %d", name, other)
		}
	}
	if again := installHash(key(1), "app", "install"); again != one {
		t.Errorf("%d is not %d", again, one)
	}
}

func FuzzLinkPath(f *testing.F) {
	f.Add("https://a.example/p/x?a=1#waymark_token=b")
	f.Add("shop://a?waymark_link=https%3A%2F%2Fa.example%2Fx")
	f.Add("HTTP://A.EXAMPLE.:80/%C3%A9")
	f.Add("https://a.example/_service/install/x")
	f.Fuzz(func(t *testing.T, text string) {
		path, ok := linkPath(text, "a.example")
		if !ok {
			return
		}
		if again, ok := linkPath("https://a.example/"+(&url.URL{Path: path}).EscapedPath(), "a.example"); path != "" &&
			(!ok || again != strings.TrimPrefix(path, route.InstallPath)) {
			t.Errorf("%q became %q, which became %q", text, path, again)
		}
	})
}
