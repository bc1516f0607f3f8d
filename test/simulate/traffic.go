package main

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/text/language"
)

// traffic draws visits. The same seed draws the same ones, in another order where several visit at once.
type traffic struct {
	seed      uint64
	links     int
	countries []string
	// clicks are those that were made.
	clicks atomic.Int64
}

func newTraffic(seed uint64, links int) *traffic {
	t := &traffic{seed: seed, links: links}
	for a := 'A'; a <= 'Z'; a++ {
		for b := 'A'; b <= 'Z' && len(t.countries) < 200; b++ {
			if r, err := language.ParseRegion(string(a) + string(b)); err == nil && r.IsCountry() && r.String() == string(a)+string(b) {
				t.countries = append(t.countries, r.String())
			}
		}
	}
	return t
}

// people are those who may visit on a day.
const people = 2_000_000

// Special days, and the links that make two of them special.
const (
	viralDay, crowdDay, tryingDay = 9, 14, 20
	viralLink, crowdLink          = 7, 42
)

// share is how much of a day's visits come in an hour of it: nights are quiet.
func share(hour int) float64 { return (1 - 0.8*math.Cos(2*math.Pi*float64(hour-3)/24)) / 24 }

// day sends the visits of a day, hour by hour, and moves the clock to the next one.
func (i *installation) day(t *traffic, day int) (name string, sent int, err error) {
	usual := float64(*visits) / float64(*days)
	if weekday := day % 7; weekday >= 5 {
		usual *= 0.6
	}
	kinds := func(hour int) []portion {
		return []portion{{int(usual * share(hour)), i.visitLink}}
	}
	switch day {
	case viralDay:
		name = " viral link"
		kinds = func(hour int) []portion {
			n := int(usual * share(hour))
			return []portion{{n, i.visitLink}, {n, func(v *visitor) error { return i.visit(v, viralLink) }}}
		}
	case crowdDay:
		name = " flash crowd"
		kinds = func(hour int) []portion {
			all := []portion{{int(usual * share(hour)), i.visitLink}}
			if hour == 20 {
				all = append(all, portion{int(usual), func(v *visitor) error { return i.visit(v, crowdLink) }})
			}
			return all
		}
	case tryingDay:
		name = " tried slugs"
		kinds = func(hour int) []portion {
			n := int(usual * share(hour))
			return []portion{{n, i.visitLink}, {n, i.trySlug}}
		}
	}
	for hour := range 24 {
		for _, k := range kinds(hour) {
			if err := i.hour(t, day, hour, k); err != nil {
				return name, sent, err
			}
			sent += k.n
		}
		i.clock.Move(begins.Add(time.Duration(24*day+hour+1) * time.Hour).Sub(i.clock.Now()))
	}
	return name, sent, nil
}

// portion is how many visits of one kind come within an hour.
type portion struct {
	n    int
	send func(*visitor) error
}

// hour sends visits within the first minutes of an hour, so that many come at the same time.
func (i *installation) hour(t *traffic, day, hour int, k portion) error {
	const minutes = 10
	for minute := range minutes {
		n := part(k.n, minute, minutes)
		errs := make([]error, *workers)
		var sending sync.WaitGroup
		for w := range *workers {
			sending.Go(func() {
				random := rand.New(rand.NewPCG(t.seed, uint64((day*24+hour)*minutes+minute)<<16|uint64(w)))
				v := &visitor{traffic: t, random: random, link: rand.NewZipf(random, 1.1, 10, uint64(t.links-1)),
					country: rand.NewZipf(random, 1.3, 2, uint64(len(t.countries)-1)), answer: answer{header: http.Header{}}}
				for range part(n, w, *workers) {
					if errs[w] = k.send(v); errs[w] != nil {
						return
					}
				}
			})
		}
		sending.Wait()
		if err := errors.Join(errs...); err != nil {
			return err
		}
		i.clock.Move(time.Minute)
	}
	return nil
}

// part returns how many of n come in one of several equal parts, which together are n.
func part(n, which, parts int) int { return n*(which+1)/parts - n*which/parts }

// visitor sends one request after another, each as somebody else.
type visitor struct {
	*traffic
	random        *rand.Rand
	link, country *rand.Zipf
	answer        answer
}

// agents are what visitors use.
var agents = []string{
	"Mozilla/5.0 (iPhone; CPU iPhone OS 19_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/19.1 Mobile/15E148 Safari/604.1",
	"Mozilla/5.0 (Linux; Android 16; Pixel 9) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0.0.0 Mobile Safari/537.36",
	"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0.0.0 Safari/537.36",
	"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/19.1 Safari/605.1.15",
	"Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0",
	"Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
}

var referrers = []string{"", "", "https://www.instagram.com/", "https://t.co/", "https://mail.example.org/", "https://news.example.net/a"}

// ask sends a request and returns the status of its answer.
func (i *installation) ask(v *visitor, path string) int {
	who := v.random.IntN(people)
	r := &http.Request{Method: http.MethodGet, URL: &url.URL{Path: path}, Host: hostname, RequestURI: path, Proto: "HTTP/1.1",
		ProtoMajor: 1, ProtoMinor: 1, Body: http.NoBody, RemoteAddr: proxy.String() + ":4711", Header: http.Header{
			"User-Agent":      {agents[who%len(agents)]},
			"X-Forwarded-For": {fmt.Sprintf("198.%d.%d.%d", 18+who>>16&1, who>>8&255, who&255)},
			"Cf-Ipcountry":    {v.countries[v.country.Uint64()]},
		}}
	if referrer := referrers[v.random.IntN(len(referrers))]; referrer != "" {
		r.Header.Set("Referer", referrer)
	}
	v.answer.status = http.StatusOK
	clear(v.answer.header)
	i.Public.ServeHTTP(&v.answer, r)
	return v.answer.status
}

// visitLink visits a link as most do.
func (i *installation) visitLink(v *visitor) error { return i.visit(v, int(v.link.Uint64())) }

// visit visits a link, which must lead where it is to lead.
func (i *installation) visit(v *visitor, k int) error {
	status := i.ask(v, "/"+slug(k))
	if to := v.answer.header.Get("Location"); status != http.StatusFound || to != destination(k) {
		return fmt.Errorf("link %d answers %d %q", k, status, to)
	}
	v.clicks.Add(1)
	return nil
}

// trySlug asks for a link that there is not.
func (i *installation) trySlug(v *visitor) error {
	if status := i.ask(v, fmt.Sprintf("/%x", v.random.Uint64())); status != http.StatusNotFound {
		return fmt.Errorf("an unknown slug answers %d", status)
	}
	return nil
}

// answer keeps the head of an answer.
type answer struct {
	header http.Header
	status int
}

func (a *answer) Header() http.Header            { return a.header }
func (a *answer) WriteHeader(status int)         { a.status = status }
func (a *answer) Write(body []byte) (int, error) { return len(body), nil }
