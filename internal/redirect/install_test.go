package redirect

import (
	"net/url"
	"strings"
	"testing"
)

func TestReferrer(t *testing.T) {
	const store = "https://play.google.com/store/apps/details"
	for name, c := range map[string]struct{ location, kept, referrer string }{
		"plain":            {store + "?id=a.b", "id=a.b", "waymark_token=T&utm_source=go.example"},
		"without a query":  {store, "", "waymark_token=T&utm_source=go.example"},
		"other parameters": {store + "?id=a.b&hl=pt", "id=a.b&hl=pt", "waymark_token=T&utm_source=go.example"},
		"campaign": {store + "?id=a.b&utm_source=news+letter&utm_medium=e%26mail",
			"id=a.b&utm_source=news+letter&utm_medium=e%26mail", "waymark_token=T&utm_source=news+letter&utm_medium=e%26mail"},
		"own referrer": {store + "?id=a.b&referrer=utm_source%3Dads%26gclid%3D1&utm_source=x&utm_campaign=c",
			"id=a.b&utm_source=x&utm_campaign=c", "waymark_token=T&utm_source=ads&gclid=1&utm_campaign=c"},
		"a foreign token": {store + "?id=a.b&referrer=waymark_token%3DX%26a%3D1", "id=a.b",
			"waymark_token=T&a=1&utm_source=go.example"},
		"a broken referrer": {store + "?id=a.b&referrer=%zz", "id=a.b", "waymark_token=T&utm_source=go.example"},
	} {
		got := withReferrer(c.location, "go.example", "T")
		u, err := url.Parse(got)
		if err != nil {
			t.Fatal(err)
		}
		kept, _, _ := strings.Cut(u.RawQuery, "referrer=")
		if strings.TrimSuffix(kept, "&") != c.kept || u.Query().Get("referrer") != c.referrer ||
			!strings.HasPrefix(got, store+"?") {
			t.Errorf("%s: %s", name, got)
		}
	}
	if got := withReferrer(store+"?id=a.b#x", "go.example", "T"); got != store+
		"?id=a.b&referrer=waymark_token%3DT%26utm_source%3Dgo.example#x" {
		t.Errorf("with a fragment: %s", got)
	}
}

func FuzzReferrer(f *testing.F) {
	f.Add("https://play.google.com/store/apps/details?id=a.b&referrer=a%3D1&utm_source=x#y")
	f.Add("https://play.google.com/?&&==&referrer=%zz&referrer=a")
	f.Fuzz(func(t *testing.T, location string) {
		if u, err := url.Parse(location); err != nil || u.Scheme != "https" || u.Host == "" {
			return
		}
		u, err := url.Parse(withReferrer(location, "go.example", "T"))
		if err != nil {
			t.Fatal(err)
		}
		var referrers []string
		for pair := range strings.SplitSeq(u.RawQuery, "&") {
			if value, ok := strings.CutPrefix(pair, "referrer="); ok {
				referrers = append(referrers, value)
			}
		}
		if len(referrers) != 1 || !strings.HasPrefix(referrers[0], "waymark_token%3DT%26") &&
			referrers[0] != "waymark_token%3DT" {
			t.Errorf("%q has the referrers %q", location, referrers)
		}
	})
}
