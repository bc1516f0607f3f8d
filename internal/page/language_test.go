package page

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"golang.org/x/text/language"
)

func TestLanguage(t *testing.T) {
	for accept, want := range map[string]string{
		"": "en", "en": "en", "en-US,en;q=0.9": "en", "pt-BR,pt;q=0.9,en-US;q=0.8": "pt", "pt-PT": "pt",
		"es-419,es;q=0.9": "es",
		"ES":              "es", "de-DE,de;q=0.9,es;q=0.5,en;q=0.3": "es", "de": "en", "*": "en", "fr,pt": "pt",
		"gl,es;q=0.8":       "es",
		"en;q=0.1,pt;q=0.9": "pt", "en-US;q=0.1,pt;q=0.9": "pt", "es;q=0,en": "en", "english": "en", "x": "en",
		"\xff\x00": "en", ";;;,,": "en",
		strings.Repeat("de,", 40) + "pt":     "pt", // 122 bytes
		strings.Repeat("de,", 60) + "pt":     "en", // beyond what is looked at
		strings.Repeat("a-", 10000):          "en",
		"de," + strings.Repeat("x", 1<<20):   "en",
		"zh-Hant-TW, " + "pt;q=0.7,en;q=0.6": "pt",
	} {
		if got := Language(accept); got.String() != want {
			t.Errorf("%.60q: %s, want %s", accept, got, want)
		}
	}
}

// The languages that most browsers send cost no allocation.
func TestLanguageAllocates(t *testing.T) {
	for _, accept := range []string{"en-US,en;q=0.9", "pt-BR,pt;q=0.9,en;q=0.8", "es-ES", "en"} {
		if n := testing.AllocsPerRun(100, func() { Language(accept) }); n > 0 {
			t.Errorf("%s: %v allocations", accept, n)
		}
	}
}

func FuzzLanguage(f *testing.F) {
	f.Add("pt-BR,pt;q=0.9")
	f.Add("*;q=0.1, x-klingon")
	f.Fuzz(func(t *testing.T, accept string) {
		if tag := Language(accept); wordsByTag[tag] == nil {
			t.Errorf("%q: %s", accept, tag)
		}
	})
}

// Every file has the same words, none of them empty, and none with markup.
func TestMessages(t *testing.T) {
	files, err := messages.ReadDir("messages")
	if err != nil {
		t.Fatal(err)
	}
	var keys []string
	for _, file := range files {
		text, err := messages.ReadFile("messages/" + file.Name())
		if err != nil {
			t.Fatal(err)
		}
		var all map[string]any
		if err := json.Unmarshal(text, &all); err != nil {
			t.Fatalf("%s: %v", file.Name(), err)
		}
		flat := map[string]string{}
		flatten(flat, "", all)
		for key, text := range flat {
			if strings.TrimSpace(text) == "" || text != strings.TrimSpace(text) || strings.ContainsAny(text,
				"<>&\"\n") {
				t.Errorf("%s: %s is %q", file.Name(), key, text)
			}
		}
		if flat["direction"] != "ltr" && flat["direction"] != "rtl" || !strings.Contains(flat["continueTo"],
			"{destination}") {
			t.Errorf("%s: direction or continueTo", file.Name())
		}
		if keys == nil {
			keys = slices.Sorted(maps.Keys(flat))
		} else if now := slices.Sorted(maps.Keys(flat)); !slices.Equal(keys, now) {
			t.Errorf("%s has %q, %s has %q", file.Name(), now, files[0].Name(), keys)
		}
	}
	if len(keys) < 25 || len(languages) != len(files) {
		t.Errorf("%d words, %d languages of %d files", len(keys), len(languages), len(files))
	}
	for _, kind := range []Kind{NotFound, Gone, Scheduled, Unavailable, BadMethod} {
		if wordsByTag[language.English].Notices[kind].Title == "" {
			t.Errorf("%s says nothing", kind)
		}
	}
}

func flatten(into map[string]string, path string, v any) {
	if members, nested := v.(map[string]any); nested {
		for key, member := range members {
			flatten(into, strings.TrimPrefix(path+"."+key, "."), member)
		}
		return
	}
	into[path], _ = v.(string)
}

func TestContinueTo(t *testing.T) {
	if got := ContinueTo(language.Portuguese, "shop.example"); got != "Continuar para shop.example" {
		t.Error(got)
	}
	if got := ContinueTo(language.Japanese, "shop.example"); got != "Continue to shop.example" {
		t.Error(got)
	}
}

func BenchmarkLanguage(b *testing.B) {
	for name, accept := range map[string]string{
		"common": "pt-BR,pt;q=0.9,en-US;q=0.8", "foreign": "de-DE,de;q=0.9,en-US;q=0.8,en;q=0.7",
		"hostile": strings.Repeat("a-b-c-d;q=0.1,", 1000),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Language(accept)
			}
		})
	}
}
