package page

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/text/language"

	"github.com/waymarkhq/waymark/internal/binding"
)

var update = flag.Bool("update", false, "write the golden files anew")

const nonce = "AAAAAAAAAAAAAAAAAAAAAA"

// visitOf returns a visit with something in every field that a base template shows.
func visitOf(base binding.Base) Visit {
	v := Visit{
		Language: language.English, Nonce: nonce, AppName: "Summer Shop", AppLogo: "data:image/png;base64,iVBORw0KGgo=",
		Title: `Canvas sneakers & "laces"`, Description: "Made to walk a whole city in.\nUntil Sunday.",
		OpenURI: "shop://items/7?color=red&size=m", InstallURL: "https://go.example/_service/install/spring",
		WebURL: "https://shop.example/items/7?a=1&b=2", Address: "https://go.example/spring?a=1,2",
	}
	v.Fallback = v.InstallURL
	switch base {
	case binding.Android:
		v.Automatic = true
	case binding.IOS:
		v.AppStoreID = "1234567890"
	case binding.Recovery:
		v.CopyText = v.Address + "#waymark_token=abc"
	}
	return v
}

func TestGolden(t *testing.T) {
	for _, base := range binding.Bases {
		v := visitOf(base)
		got := Official(base).Append(nil, &v)
		path := filepath.Join("testdata", string(base)+".html")
		if *update {
			if err := os.WriteFile(path, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s is not as in %s (-update writes it anew):\n%s", base, path, got)
		}
		if again := Official(base).Append([]byte("before"), &v); string(again) != "before"+string(got) {
			t.Errorf("%s: another time, another page", base)
		}
	}
}

// A page is never larger than what arrives in the first round trip, unless the
// addresses alone are: it is shown without the logo, and then without its texts.
func TestLeavesOut(t *testing.T) {
	long := func(n int) string { return strings.Repeat("x", n) }
	config := configOf(t, `{"content":{"details":[{"label":"Size","value":"42"}]}}`)
	template := Compile(binding.IOS, config, "")
	for _, c := range []struct {
		text           int
		logo           int
		hasLogo, hasDL bool
	}{
		{100, MaxLogoBytes, true, true}, {3000, 3000, true, true}, {6000, MaxLogoBytes, false, true},
		{8000, 0, false, true}, {12000, MaxLogoBytes, false, false}, {100, MaxLogoBytes + 1, false, true},
	} {
		v := visitOf(binding.IOS)
		v.Description, v.AppLogo = long(c.text), ""
		if c.logo > 0 {
			v.AppLogo = "data:image/png;base64," + long(c.logo-len("data:image/png;base64,"))
		}
		page := string(template.Append(nil, &v))
		if len(page) > MaxPageBytes || strings.Contains(page, "<img") != c.hasLogo || strings.Contains(page,
			"<dl") != c.hasDL ||
			strings.Contains(page, v.Description) != c.hasDL || !strings.Contains(page, "shop://items/7") {
			t.Errorf("%+v: %d bytes\n%s", c, len(page), page)
		}
	}
}

// The bound of a page is exact.
func TestLeavesOutAtTheBound(t *testing.T) {
	v := visitOf(binding.Android)
	v.Description = strings.Repeat("x", 1000)
	v.Description += strings.Repeat("x", MaxPageBytes-len(Official(binding.Android).Append(nil, &v)))
	if page := Official(binding.Android).Append(nil, &v); len(page) != MaxPageBytes || !bytes.Contains(page,
		[]byte("<img")) {
		t.Errorf("%d bytes:\n%s", len(page), page)
	}
	v.Description += "x"
	if page := Official(binding.Android).Append(nil, &v); len(page) >= MaxPageBytes || bytes.Contains(page,
		[]byte("<img")) {
		t.Errorf("%d bytes:\n%s", len(page), page)
	}
}

func TestLogos(t *testing.T) {
	for own, shown := range map[string]string{
		"":                            "data:image/png;base64,iVBORw0KGgo=",
		"data:image/webp;base64,UklG": "data:image/webp;base64,UklG",
		"https://images.example/a":    "",
		"data:text/html,x":            "",
	} {
		v := visitOf(binding.Android)
		page := string(Compile(binding.Android, Config{}, own).Append(nil, &v))
		if strings.Contains(page, "<img") != (shown != "") || !strings.Contains(page, `src="`+shown) && shown != "" {
			t.Errorf("%q: %s", own, page)
		}
	}
}

// render returns what a page of a configuration shows after its styles.
func render(t *testing.T, base binding.Base, config string, change func(v *Visit)) string {
	t.Helper()
	v := visitOf(base)
	change(&v)
	_, body, _ := strings.Cut(string(Compile(base, configOf(t, config), "").Append(nil, &v)), "</style>")
	return body
}

func TestVariables(t *testing.T) {
	const config = `{"variables":[{"key":"city","defaultValue":"Lisbon"},{"key":"n","type":"number","defaultValue":1.50},
		{"key":"b","type":"boolean"},{"key":"none"}],"content":{"heading":"{{none}}","supportingText":"{{city}}: {{ n }} {{b}} {{",
		"actionLabels":{"open":"To {{city}}","install":" {{none}}"},
		"details":[{"label":"A","value":"{{none}}"},{"label":"B","value":"{{b}}"}]}}`
	for _, c := range []struct {
		data map[string]string
		want []string
	}{
		{nil, []string{
			`<h1 lang="" dir="auto">Canvas sneakers &amp; &#34;laces&#34;</h1>`, `dir="auto">Lisbon: 1.50  {{</p>`,
			`lang="" dir="auto">To Lisbon</a>`, `dir="auto">Instalar o app</a>`}},
		{map[string]string{"city": "<b>", "n": "7", "b": "true", "none": "Heading", "unknown": "x"}, []string{
			`<h1 lang="" dir="auto">Heading</h1>`, `dir="auto">&lt;b&gt;: 7 Sim {{</p>`, `>To &lt;b&gt;</a>`,
			`>Heading</a>`,
			`<dt lang="" dir="auto">A</dt><dd lang="" dir="auto">Heading</dd>`, `<dd lang="" dir="auto">Sim</dd>`}},
		{map[string]string{"b": "false", "city": ""}, []string{`dir="auto">: 1.50 Não {{</p>`,
			`<dt lang="" dir="auto">B</dt>`}},
	} {
		page := render(t, binding.IOS, config, func(v *Visit) { v.Data, v.Language = c.data, language.Portuguese })
		for _, want := range c.want {
			if !strings.Contains(page, want) {
				t.Errorf("%v: no %s in\n%s", c.data, want, page)
			}
		}
		if strings.Contains(page, "<dt lang=\"\" dir=\"auto\">A</dt>") != (c.data["none"] != "") {
			t.Errorf("%v: a detail without a value is shown, or one with a value is not", c.data)
		}
	}
}

func TestWordsOfOurs(t *testing.T) {
	page := render(t, binding.Android, `{}`, func(v *Visit) {
		v.Title, v.Description, v.Language = "", "",
			language.Spanish
	})
	for _, want := range []string{`<h1 dir="auto">Abre la app</h1>`, `dir="auto">Abrir la app</a>`,
		`dir="auto">Instalar la app</a>`, `dir="auto">Continuar en el navegador</a>`} {
		if !strings.Contains(page, want) {
			t.Errorf("no %s in\n%s", want, page)
		}
	}
	if strings.Contains(page, `class="text"`) {
		t.Error("a text where there is none")
	}
	page = render(t, binding.Recovery, `{}`, func(v *Visit) { v.Title, v.Description = "", "" })
	for _, want := range []string{"Continue in the app", "it needs this link", ">Copy</button>", `data-copied="Copied"`,
		`value="https://go.example/spring?a=1,2#waymark_token=abc"`, ">Open the store</a>"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %s in\n%s", want, page)
		}
	}
}

func TestBanner(t *testing.T) {
	template := Official(binding.IOS)
	for id, want := range map[string]string{
		"1234567890": `<meta name="apple-itunes-app" content="app-id=1234567890, app-argument=https://go.example/spring?a=1%2C2">`,
		"":           "", "12x": "", `1"><b>`: "",
	} {
		v := visitOf(binding.IOS)
		v.AppStoreID = id
		page := string(template.Append(nil, &v))
		if strings.Contains(page, "apple-itunes-app") != (want != "") || !strings.Contains(page, want) {
			t.Errorf("%q: %s", id, page)
		}
	}
}

func TestDirection(t *testing.T) {
	for _, c := range []struct{ heading, text, want string }{
		{"Sale", "", "ltr"}, {"123 ש", "abc", "rtl"}, {"مرحبا", "", "rtl"}, {"30%", "שלום", "rtl"}, {"30%", "", ""},
	} {
		if got := direction(c.heading, c.text); got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
}

func BenchmarkRender(b *testing.B) {
	config := configOf(b,
		`{"variables":[{"key":"city","defaultValue":"Lisbon"}],"content":{"heading":"Sneakers in {{city}}",
		"details":[{"label":"Size","value":"42"},{"label":"Where","value":"{{city}}, at the old harbour"}]}}`)
	for _, base := range binding.Bases {
		v := visitOf(base)
		v.Description = strings.Repeat("Words & more words. ", 50)
		v.AppLogo = "data:image/png;base64," + strings.Repeat("A", MaxLogoBytes-22)
		template := Compile(base, config, "")
		b.Run(string(base), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				template.Append(nil, &v)
			}
		})
	}
}
