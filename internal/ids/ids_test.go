package ids

import (
	"regexp"
	"testing"
	"time"
)

func TestShapes(t *testing.T) {
	for name, shape := range map[string]struct {
		make func() string
		want string
	}{
		"New":      {New, `^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`},
		"Revision": {Revision, `^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`},
		"Request":  {Request, `^req_[0-9a-f]{32}$`},
		"App":      {App, `^app_[0-7][0-9a-hjkmnp-tv-z]{25}$`},
	} {
		seen := map[string]bool{}
		for range 1000 {
			id := shape.make()
			if !regexp.MustCompile(shape.want).MatchString(id) {
				t.Fatalf("%s made %q", name, id)
			}
			if seen[id] {
				t.Fatalf("%s repeated %q", name, id)
			}
			seen[id] = true
		}
	}
}

func TestAppIDsSortByTime(t *testing.T) {
	first := App()
	for deadline := time.Now().Add(time.Second); time.Now().Before(deadline); {
		if next := App(); next[:14] > first[:14] {
			return
		}
	}
	t.Errorf("app ids do not grow with time: %s, then %s", first, App())
}

func TestIsUUIDv4(t *testing.T) {
	for s, want := range map[string]bool{
		"0f8fad5b-d9cb-469f-a165-70867728950e":   true,
		"0F8FAD5B-D9CB-469F-A165-70867728950E":   true,
		"0f8fad5b-d9cb-769f-a165-70867728950e":   false, // version 7
		"0f8fad5b-d9cb-469f-c165-70867728950e":   false, // variant
		"0f8fad5bd9cb469fa16570867728950e":       false,
		"{0f8fad5b-d9cb-469f-a165-70867728950e}": false,
		"":                                       false,
	} {
		if IsUUIDv4(s) != want {
			t.Errorf("IsUUIDv4(%q) = %v", s, !want)
		}
	}
}
