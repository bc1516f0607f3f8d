package pages

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/color"
	"image/png"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"golang.org/x/text/language"

	"github.com/waymarkhq/waymark/internal/binding"
	"github.com/waymarkhq/waymark/internal/page"
)

// nonce stands in all pages: what is checked here does not depend on its chance.
const nonce = "AAAAAAAAAAAAAAAAAAAAAA"

// logo draws a picture of an app and returns it as a data URI.
func logo(t *testing.T) string {
	t.Helper()
	picture := image.NewNRGBA(image.Rect(0, 0, 96, 96))
	for y := range 96 {
		for x := range 96 {
			c := color.NRGBA{R: uint8(250 - y), G: uint8(120 + x/3), B: uint8(90 + y/2), A: 255}
			if dx, dy := x-48, y-52; dx*dx+dy*dy < 24*24 {
				c = color.NRGBA{R: 255, G: 250, B: 240, A: 255}
			}
			picture.SetNRGBA(x, y, c)
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, picture); err != nil {
		t.Fatal(err)
	}
	return "data:image/png;base64," + base64.StdEncoding.EncodeToString(b.Bytes())
}

// album holds pages by their names. Their links lead to a server at an address.
type album struct {
	address string
	visit   page.Visit
	pages   map[string][]byte
}

func newAlbum(t *testing.T, address string) *album {
	t.Helper()
	visit := page.Visit{
		Language: language.English, Nonce: nonce, AppName: "Summer Shop", AppLogo: logo(t),
		Title:       "Canvas sneakers, 30% off",
		Description: "Light, washable, made to walk a whole city in.\nOnly until Sunday.",
		OpenURI:     "shop://items/7?color=red&size=m", InstallURL: address + "/install", WebURL: address + "/web",
		Fallback: address + "/install",
	}
	return &album{address, visit, map[string][]byte{}}
}

// show adds a page for a visit with some changes.
func (a *album) show(name string, template *page.Template, changes ...func(v *page.Visit)) {
	v := a.visit
	for _, change := range changes {
		change(&v)
	}
	a.pages[name] = template.Append(nil, &v)
}

// notice adds a notice.
func (a *album) notice(name string, base binding.Base, n page.Notice) {
	n.Nonce = nonce
	a.pages[name] = page.Official(base).AppendNotice(nil, &n)
}

// recovering makes a visit one of a page from which a link is taken along.
func (a *album) recovering(v *page.Visit) {
	v.OpenURI, v.Title, v.Description = "", "", ""
	v.CopyText = a.address + "/spring#waymark_token=Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4"
}

// looks are the pages to look at.
func looks(t *testing.T, a *album) {
	picture := a.visit.AppLogo
	for _, base := range binding.Bases {
		official := page.Official(base)
		switch base {
		case binding.Recovery:
			a.show("recovery", official, a.recovering)
			a.show("recovery-es", official, a.recovering, func(v *page.Visit) {
				v.Language, v.AppLogo = language.Spanish, ""
			})
			a.show("recovery-long", compiled(t, base, longest, picture), a.recovering, func(v *page.Visit) {
				v.CopyText += strings.Repeat("x", 400)
			})
		default:
			name := string(base)
			a.show(name, official)
			a.show(name+"-bare", official, func(v *page.Visit) {
				v.AppLogo, v.Title, v.Description, v.InstallURL, v.Language = "", "", "", "", language.Portuguese
			})
			a.show(name+"-rtl", compiled(t, base, rightToLeft, ""), func(v *page.Visit) {
				v.AppName, v.Title = "חנות הקיץ", "נעלי בד, 30% הנחה"
				v.Description = "קלות, רחיצות, נוצרו להליכה בכל העיר."
			})
			a.show(name+"-long", compiled(t, base, longest, picture), func(v *page.Visit) {
				v.AppName = strings.Repeat("Incomprehensibilities", 4)
			})
			a.show(name+"-own", compiled(t, base, own, ""), func(v *page.Visit) { v.AppLogo = "" })
		}
	}
	for _, kind := range []page.Kind{page.NotFound, page.Gone, page.Scheduled, page.Unavailable, page.BadMethod} {
		a.notice("notice-"+string(kind), binding.IOS, page.Notice{
			Kind: kind, AppName: "Summer Shop", AppLogo: picture, HomeURL: a.address + "/web",
		})
	}
	a.notice("notice-android", binding.Android, page.Notice{
		Kind: page.NotFound, Language: language.Portuguese, AppName: "Summer Shop", HomeURL: a.address + "/web",
	})
	a.notice("notice-bare", binding.Android, page.Notice{Kind: page.Gone})
}

// acts are the pages to act on.
func acts(_ *testing.T, a *album) {
	ios := page.Official(binding.IOS)
	fallback := a.address + "/fallback"
	a.show("manual", ios)
	a.show("automatic", ios, func(v *page.Visit) { v.Automatic, v.Fallback, v.InstallURL = true, fallback, fallback })
	a.show("apart", ios, func(v *page.Visit) { v.Automatic, v.Fallback = true, fallback })
	a.show("android", page.Official(binding.Android),
		func(v *page.Visit) { v.OpenURI = "intent://a#Intent;scheme=https;end" })
	a.show("recovery", page.Official(binding.Recovery), a.recovering)
	a.notice("notice", binding.IOS, page.Notice{Kind: page.NotFound, HomeURL: a.address + "/web"})
}

// compiled makes a template of a configuration that passes all checks.
func compiled(t *testing.T, base binding.Base, text, logo string) *page.Template {
	t.Helper()
	var config page.Config
	if err := json.Unmarshal([]byte(text), &config); err != nil {
		t.Fatal(err)
	}
	for _, problem := range append(page.Check(base, config), page.CheckContrast(base, config)...) {
		t.Fatalf("%s: %s", problem.Path, problem.Message)
	}
	return page.Compile(base, config, logo)
}

const rightToLeft = `{"content": {"actionLabels": {"open": "פתיחה באפליקציה"}, "details": [
	{"label": "עיר", "value": "חיפה"}, {"label": "Size", "value": "42"}]}}`

const own = `{"appearance": {
	"light": {"background": "#fdf1e7", "surface": "#fffaf5", "border": "#f0dcc8", "text": "#3b2314", "muted": "#74553f",
		"accent": "#b4400f", "secondary": "#fbdcc4", "tertiary": "#a83a0b"},
	"dark": {"background": "#1c120b", "surface": "#281a11", "border": "#463022", "text": "#fbeee2", "muted": "#cdb29d",
		"accent": "#ff9a62", "secondary": "#4a3020", "tertiary": "#ffa877"},
	"fontFamily": "serif", "radius": "small", "spacing": "compact"},
	"content": {"heading": "Sneakers in {{city}}", "details": [{"label": "Size", "value": "{{size}}"},
		{"label": "Where", "value": "In our shop at the old harbour, second floor, beside the bakery"},
		{"label": "Lace", "value": "{{lace}}"}, {"label": "Empty", "value": "{{nothing}}"}]},
	"variables": [{"key": "city", "defaultValue": "Lisbon"}, {"key": "size", "type": "number", "defaultValue": 42},
		{"key": "lace", "type": "boolean", "defaultValue": true}, {"key": "nothing"}]}`

var longest = func() string {
	word := strings.Repeat("Donaudampfschifffahrtsgesellschaft", 4)[:120]
	text := strings.Repeat("Donaudampfschifffahrtsgesellschaftskapitän und ", 21)
	return `{"appearance": {"radius": "large"}, "content": {"heading": "` + word + `", "supportingText": "` + text + `",
		"actionLabels": {"open": "` + word + `", "install": "` + word + `", "web": "` + word + `", "copy": "` + word + `"},
		"details": [{"label": "` + word[:80] + `", "value": "` + word + `"}, {"label": "When", "value": "` + text + `"},
			{"label": "` + word[:40] + `", "value": "Today"}, {"label": "Where", "value": "` + word + `"}]}}`
}()
