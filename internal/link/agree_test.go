package link_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

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
					platform, country := pick(random, "android", "ios", "desktop"), pick(random, "", "DE", "FR", "US")
					want := previewed(t, i, owner, l.id, platform, country)
					got := visited(i, "https://"+owner.Host+"/"+l.slug, platform, country)
					if got != want {
						t.Fatalf("%s at %s, %s from %q: the preview says %s, the redirector %s", l.slug, i.Clock.Now(),
							platform, country, want, got)
					}
					seen[got]++
				}
			}
			if len(seen) < 10 {
				t.Errorf("only %d different answers: %v", len(seen), seen)
			}
		})
	}
}

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
	l := M{"desktopUrl": nil, "webOnly": r.IntN(4) == 0}
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

func agents(platform string) string {
	return map[string]string{
		"android": "Mozilla/5.0 (Linux; Android 16; Pixel 9) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 " +
			"Mobile Safari/537.36",
		"ios": "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) " +
			"Version/18.0 Mobile/15E148 Safari/604.1",
		"desktop": "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 " +
			"Safari/537.36",
	}[platform]
}

// visited returns where the redirector sends a visitor, "" for a page.
func visited(i *apitest.Installation, address, platform, country string) string {
	r := httptest.NewRequest("GET", address, nil)
	r.RemoteAddr = "192.0.2.1:1"
	r.Header = http.Header{"User-Agent": {agents(platform)}, "X-Forwarded-For": {"203.0.113.9"}}
	if country != "" {
		r.Header.Set("CF-IPCountry", country)
	}
	w := httptest.NewRecorder()
	i.Public.ServeHTTP(w, r)
	return w.Header().Get("Location")
}

// previewed returns what the API says about that, without the validation by
// the contract that each call of a Client gets.
func previewed(t *testing.T, i *apitest.Installation, owner *apitest.Client, id, platform, country string) string {
	t.Helper()
	body := M{"platform": platform, "source": "browser"}
	if country != "" {
		body["country"] = country
	}
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest("POST", "https://api.example/v1/links/"+apitest.Path(id)+"/preview", bytes.NewReader(text))
	r.Header = http.Header{"Authorization": {"Bearer " + owner.Credential}, "Content-Type": {"application/json"},
		"Idempotency-Key": {apitest.NewKey()}}
	w := httptest.NewRecorder()
	i.API.ServeHTTP(w, r)
	var answer struct {
		Data struct {
			Mode           string
			DestinationURL *string
		}
	}
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil || w.Code != 200 {
		t.Fatalf("preview: %d %s, %v", w.Code, w.Body, err)
	}
	if (answer.Data.Mode == "redirect") != (answer.Data.DestinationURL != nil) {
		t.Fatalf("preview: %s", w.Body)
	}
	if answer.Data.DestinationURL == nil {
		return ""
	}
	return *answer.Data.DestinationURL
}
