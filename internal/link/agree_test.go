package link_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/waymarkhq/waymark/internal/apitest"
	"github.com/waymarkhq/waymark/internal/clock"
)

// A preview tells what the redirector does: for 10,000 pairs of a random link
// with random rules and a random visitor at a random time both say the same.
func TestPreviewAgrees(t *testing.T) {
	const links, visits = 200, 50
	for engine, part := range map[string]int{"sqlite": 1, "postgres": 10} {
		t.Run(engine, func(t *testing.T) {
			i := apitest.New(t, engine, apitest.Options{LimitScale: 1e6})
			owner := i.Prepared(t, "ann@example.com")
			random := rand.New(rand.NewPCG(3, uint64(part)))
			start := i.Clock.Now()
			campaign := created(owner, "/campaigns", M{"name": "c", "utm": M{"source": "campaign", "term": "t"}})
			opensApps(owner)
			type known struct{ id, slug string }
			var all []known
			for n := range links / part {
				slug := fmt.Sprintf("s%d", n)
				r := owner.Link(slug, randomLink(random, start, campaign)).Want(201)
				owner.Call("PUT", "/links/"+apitest.Path(r.Text("data.id"))+"/routing-rules",
					M{"rules": randomRules(random, start)}, apitest.IfMatch(r.Revision())).Want(200)
				all = append(all, known{r.Text("data.id"), slug})
			}
			i.Settle(t)
			for _, l := range all { // wait until the redirector knows the newest
				i.Visit(t, "https://"+owner.Host+"/"+l.slug, nil, nil)
			}
			seen := map[string]int{}
			for _, l := range all {
				for range visits {
					i.Clock.Set(start.Add(time.Duration(random.IntN(20*24)) * time.Hour))
					v := visit{pick(random, "android", "ios", "desktop"), pick(random, "browser", "social"),
						pick(random, "", "DE", "FR", "US")}
					want := previewed(t, i, owner, l.id, v)
					if got := visited(t, i, "https://"+owner.Host+"/"+l.slug, v); got != want {
						t.Fatalf("%s at %s, %+v: the preview says %s, the redirector %s", l.slug, i.Clock.Now(), v,
							want, got)
					}
					seen[want]++
				}
			}
			if len(seen) < 10 {
				t.Errorf("only %d different answers: %v", len(seen), seen)
			}
		})
	}
}

// TestPreviewOfPages compares the same for all that decides whether an app opens.
func TestPreviewOfPages(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		app := opensApps(owner)
		ids := map[string]string{}
		for _, behavior := range []string{"manual", "automatic", "intelligent"} {
			for _, webOnly := range []bool{false, true} {
				for _, ruled := range []bool{false, true} {
					slug := fmt.Sprintf("%s-%v-%v", behavior, webOnly, ruled)
					r := owner.Link(slug, M{"behavior": behavior, "webOnly": webOnly, "appPath": "products/7?a=b#c",
						"parameters": M{"size": 10, "color": "dark red"}, "title": "T",
						"desktopUrl":   "https://example.com/d",
						"playStoreUrl": "https://play.example/?id=x",
						"appStoreUrl":  "https://apps.example/x"}).Want(201)
					if ids[slug] = r.Text("data.id"); ruled {
						owner.Call("PUT", "/links/"+apitest.Path(ids[slug])+"/routing-rules",
							M{"rules": []M{{"platform": "ios",
								"destinationUrl": "https://example.com/rule"}}}, apitest.IfMatch(r.Revision())).Want(200)
					}
				}
			}
		}
		i.Settle(t)
		compare := func() map[string]int {
			seen := map[string]int{}
			for slug, id := range ids {
				address := "https://" + owner.Host + "/" + slug
				i.Visit(t, address, nil, nil) // until the redirector knows the newest
				for _, platform := range []string{"android", "ios", "desktop"} {
					for _, source := range []string{"browser", "social"} {
						v := visit{platform, source, ""}
						want := previewed(t, i, owner, id, v)
						if got := visited(t, i, address, v); got != want {
							t.Errorf("%s, %+v:\nthe preview says %s\nthe redirector   %s", slug, v, want, got)
						}
						mode, _, _ := strings.Cut(want, " to ")
						seen[mode]++
					}
				}
			}
			return seen
		}
		// Of 72, 24 are desktops, 24 of the phones web only, and 6 iPhones follow a rule.
		seen := compare()
		if seen["redirect"] != 54 || seen["page, manual"] != 9 || seen["page, automatic"] != 9 {
			t.Errorf("seen %v", seen)
		}
		// The template is the one that is chosen, and nothing opens without an app.
		preview := "/links/" + apitest.Path(ids["manual-false-false"]) + "/preview"
		owner.Call("POST", preview, M{"platform": "ios", "source": "browser"}).Want(200).
			Has("data.template", `{"mode":"official","templateId":null,"version":null}`).Has("data.destinationUrl",
			"null")
		owner.Call("POST", preview, M{"platform": "desktop", "source": "browser"}).Want(200).
			Has("data.template", "null").Has("data.nativeUri", "null").Has("data.opening", `"none"`)
		owner.Call("PATCH", app, M{"scheme": nil, "androidPackage": nil},
			apitest.IfMatch(owner.Call("GET", app, nil).Revision())).Want(200)
		owner.Call("POST", preview, M{"platform": "ios", "source": "browser"}).Want(200).Has("data.mode", `"redirect"`)
		i.Settle(t)
		i.Visit(t, "https://"+owner.Host+"/manual-false-false", http.Header{"User-Agent": {agents("ios", "browser")}},
			func(r *http.Response) bool { return r.StatusCode == 302 })
		if seen := compare(); seen["redirect"] != 72 {
			t.Errorf("without an app: %v", seen)
		}
	})
}

// opensApps lets the links of an owner's app open it, and returns its path.
func opensApps(owner *apitest.Client) string {
	app := "/apps/" + owner.AppID
	owner.Call("PATCH", app, M{"scheme": "shop", "androidPackage": "com.example.shop"},
		apitest.IfMatch(owner.Call("GET", app, nil).Revision())).Want(200)
	return app
}

// visit is who follows a link.
type visit struct{ platform, source, country string }

func pick[T any](r *rand.Rand, from ...T) T { return from[r.IntN(len(from))] }

// maybe sets a member most of the time.
func maybe(r *rand.Rand, m M, name string, value any) {
	if r.IntN(3) > 0 {
		m[name] = value
	}
}

// randomTimes sets none, one or both ends of a time of validity.
func randomTimes(r *rand.Rand, start clock.Instant, m M) M {
	at := func(hours int) string { return start.Add(time.Duration(hours) * time.Hour).String() }
	from := r.IntN(15 * 24)
	switch r.IntN(4) {
	case 0:
		m["startsAt"] = at(from)
	case 1:
		m["expiresAt"] = at(from)
	case 2:
		m["startsAt"], m["expiresAt"] = at(from), at(from+1+r.IntN(100))
	}
	return m
}

func randomLink(r *rand.Rand, start clock.Instant, campaign string) M {
	l := M{"desktopUrl": nil, "webOnly": r.IntN(4) == 0, "behavior": pick(r, "manual", "automatic", "intelligent")}
	maybe(r, l, "appPath", pick(r, "a/b", "é?x=1#y", "a b;c"))
	maybe(r, l, "parameters", M{"b": 1.5, "a": pick(r, "x y", "日本")})
	maybe(r, l, "desktopUrl", pick(r, "https://example.com/d", "https://example.com/d?utm_source=own#f",
		"https://bücher.example/"))
	maybe(r, l, "playStoreUrl", "https://play.example/?id=x")
	maybe(r, l, "appStoreUrl", "https://apps.example/x")
	maybe(r, l, "campaignId", campaign)
	maybe(r, l, "utm", M{"source": pick(r, "mail", "a b&c"), "medium": "m"})
	lifecycle := M{"archived": r.IntN(10) == 0, "maxClicks": pick[any](r, nil, 1_000_000)}
	maybe(r, lifecycle, "expiredUrl", "https://example.com/over")
	if r.IntN(2) == 0 {
		randomTimes(r, start, lifecycle)
	}
	l["lifecycle"] = lifecycle
	return l
}

func randomRules(r *rand.Rand, start clock.Instant) []M {
	rules := []M{}
	for n := range r.IntN(6) {
		rule := randomTimes(r, start, M{"destinationUrl": fmt.Sprintf("https://example.com/rule%d", n)})
		maybe(r, rule, "platform", pick(r, "android", "ios", "desktop"))
		maybe(r, rule, "country", pick(r, "DE", "FR", "US"))
		maybe(r, rule, "utm", M{"source": "rule", "content": fmt.Sprint(n)})
		rules = append(rules, rule)
	}
	return rules
}

func agents(platform, source string) string {
	agent := map[string]string{
		"android": "Mozilla/5.0 (Linux; Android 16; Pixel 9) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 " +
			"Mobile Safari/537.36",
		"ios": "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) " +
			"Version/18.0 Mobile/15E148 Safari/604.1",
		"desktop": "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 " +
			"Safari/537.36",
	}[platform]
	if source == "social" {
		agent += " Instagram 357.1.1.29.105"
	}
	return agent
}

// visited returns what the redirector answers a visitor: where it sends on, or what
// the page that opens an app does, or nothing.
func visited(t *testing.T, i *apitest.Installation, address string, v visit) string {
	t.Helper()
	r := httptest.NewRequest("GET", address, nil)
	r.RemoteAddr = "192.0.2.1:1"
	r.Header = http.Header{"User-Agent": {agents(v.platform, v.source)}, "X-Forwarded-For": {"203.0.113.9"}}
	if v.country != "" {
		r.Header.Set("CF-IPCountry", v.country)
	}
	w := httptest.NewRecorder()
	i.Public.ServeHTTP(w, r)
	switch {
	case w.Code == http.StatusFound:
		return told("redirect", "none", w.Header().Get("Location"), "")
	case w.Code != http.StatusOK:
		return told("unavailable", "none", "", "")
	}
	// The first link opens the app, the second is where to go without it.
	opening, links := "manual", append(hrefs(t, w.Body.String()), "", "")
	if strings.Contains(w.Body.String(), "<script") {
		opening = "automatic"
	}
	return told("page", opening, links[0], links[1])
}

// told is one line for an answer and its preview.
func told(mode, opening, to, fallback string) string {
	if mode == "page" {
		return mode + ", " + opening + " to " + to + ", else " + fallback
	}
	return mode + " to " + to
}

// hrefs returns where the links of a page lead.
func hrefs(t *testing.T, page string) (all []string) {
	t.Helper()
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	for n := range root.Descendants() {
		for _, a := range n.Attr {
			if n.Data == "a" && a.Key == "href" {
				all = append(all, a.Val)
			}
		}
	}
	return all
}

// previewed returns what the API says about that, without the validation by
// the contract that each call of a Client gets.
func previewed(t *testing.T, i *apitest.Installation, owner *apitest.Client, id string, v visit) string {
	t.Helper()
	body := M{"platform": v.platform, "source": v.source}
	if v.country != "" {
		body["country"] = v.country
	}
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest("POST", "https://api.example/v1/links/"+apitest.Path(id)+"/preview",
		bytes.NewReader(text))
	r.Header = http.Header{"Authorization": {"Bearer " + owner.Credential}, "Content-Type": {"application/json"},
		"Idempotency-Key": {apitest.NewKey()}}
	w := httptest.NewRecorder()
	i.API.ServeHTTP(w, r)
	var answer struct {
		Data struct {
			Mode, Opening                       string
			NativeURI, Fallback, DestinationURL *string
			Template                            *struct{ Mode string }
		}
	}
	d := &answer.Data
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil || w.Code != 200 {
		t.Fatalf("preview: %d %s, %v", w.Code, w.Body, err)
	}
	page := d.Mode == "page"
	if (d.Mode == "redirect") != (d.DestinationURL != nil) || page != (d.NativeURI != nil) ||
		page != (d.Template != nil) ||
		page == (d.Opening == "none") || d.Fallback != nil && !page {
		t.Fatalf("preview: %s", w.Body)
	}
	value := func(s *string) string {
		if s == nil {
			return ""
		}
		return *s
	}
	return told(d.Mode, d.Opening, value(d.DestinationURL)+value(d.NativeURI), value(d.Fallback))
}
