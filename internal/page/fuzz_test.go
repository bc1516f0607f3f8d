package page

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	nethtml "golang.org/x/net/html"
	"golang.org/x/text/language"

	"github.com/waymarkhq/waymark/internal/binding"
	"github.com/waymarkhq/waymark/internal/opt"
	"github.com/waymarkhq/waymark/internal/text"
)

// admitted are the elements of pages, and their attributes.
var admitted = map[string][]string{
	"html": {"lang", "dir"}, "head": nil, "meta": {"charset", "name", "content", "media"}, "link": {"rel", "href"},
	"title": {"lang", "dir"}, "style": {"nonce"}, "script": {"nonce"}, "body": nil, "main": {"dir", "class"},
	"header": nil,
	"img":    {"class", "src", "alt"}, "span": {"class", "aria-hidden"}, "p": {"class", "id", "lang", "dir", "role"},
	"div": {"class"}, "h1": {"lang", "dir"}, "h2": {"dir"}, "dl": nil, "dt": {"lang", "dir"}, "dd": {"lang", "dir"},
	"ol": {"dir"}, "li": nil, "input": {"id", "dir", "readonly", "aria-label", "value"},
	"button": {"class", "id", "type", "hidden", "data-copied", "lang", "dir"},
	"a":      {"class", "id", "href", "lang", "dir", "hidden", "data-fallback"},
}

// inspect parses a page, fails for anything that the templates do not have, and
// returns what it found.
func inspect(t *testing.T, page []byte, nonce string) (elements []*nethtml.Node) {
	t.Helper()
	root, err := nethtml.Parse(bytes.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for n := range root.Descendants() {
		if n.Type == nethtml.CommentNode {
			t.Errorf("a comment: %s", n.Data)
		}
		if n.Type != nethtml.ElementNode {
			continue
		}
		elements = append(elements, n)
		count[n.Data]++
		attributes, known := admitted[n.Data]
		if !known {
			t.Errorf("an element that no template has: %s", n.Data)
		}
		for _, a := range n.Attr {
			if !slices.Contains(attributes, a.Key) || a.Namespace != "" {
				t.Errorf("an attribute that no template has: %s of %s", a.Key, n.Data)
			}
			switch {
			case n.Data == "a" && a.Key == "href":
				if !opensApp(a.Val) || a.Val != attribute(n, "href") {
					t.Errorf("a link to %q", a.Val)
				}
			case a.Key == "src" && !isImage(a.Val):
				t.Errorf("an image from %q", a.Val)
			case n.Data == "link" && a.Key == "href" && a.Val != "data:,":
				t.Errorf("a link of the head to %q", a.Val)
			case a.Key == "nonce" && a.Val != seen(nonce):
				t.Errorf("the nonce %q, want %q", a.Val, seen(nonce))
			}
		}
		if n.Data == "script" && strings.TrimSpace(n.FirstChild.Data) != openScript &&
			strings.TrimSpace(n.FirstChild.Data) != copyScript {
			t.Errorf("a script: %s", n.FirstChild.Data)
		}
		if n.Data == "style" && !strings.HasPrefix(n.FirstChild.Data, ":root{--back:#") {
			t.Errorf("a style: %s", n.FirstChild.Data)
		}
	}
	for element, want := range map[string]int{"h1": 1, "title": 1, "main": 1, "style": 1, "html": 1, "head": 1,
		"body": 1} {
		if count[element] != want {
			t.Errorf("%d times %s", count[element], element)
		}
	}
	return elements
}

func attribute(n *nethtml.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

// seen is what a parser makes of an attribute: line breaks are normalized, and what
// is no text is replaced.
func seen(s string) string {
	return strings.NewReplacer("\r\n", "\n", "\r", "\n", "\x00", "\uFFFD").Replace(s)
}

// hostile are values that would change a page if one slot forgot to escape them.
var hostile = []string{
	`"><script>alert(1)</script>`, `'><img src=x onerror=alert(1)>`, "</title></style></script><b>",
	"javascript:alert(1)",
	"JaVaScRiPt://x%0aalert(1)", "data:text/html,<script>alert(1)</script>", "https://a.example/\" onclick=\"alert(1)",
	"shop://x' onclick='alert(1)", "intent://x#Intent;S.browser_fallback_url=javascript:alert(1);end", "{{key}}",
	"{{", "}}",
	"\x00<b>", "\xff<b>", "<!--", "-->", "]]>", "&lt;b&gt;", "&#60;b&#62;", "`", "\u2028", "\u202e", "<plaintext>",
	"<base href=x>",
	"data:image/svg+xml,\" onerror=\"alert(1)", "#fff;}</style><b>", "1234", "1\" http-equiv=\"refresh",
}

func FuzzAppend(f *testing.F) {
	for i, s := range hostile {
		f.Add(s, hostile[(i+3)%len(hostile)], hostile[(i+7)%len(hostile)], hostile[(i+11)%len(hostile)], byte(i))
	}
	f.Fuzz(func(t *testing.T, a, b, c, d string, choice byte) {
		base := binding.Bases[int(choice)%len(binding.Bases)]
		values := []string{a, b, c, d}
		next := func() string { // turns through the values, from another one for each choice
			values = append(values[1:], values[0])
			return values[0]
		}
		for range choice % 4 {
			next()
		}
		line := func() opt.Opt[text.Line] { return opt.OptOf(text.Line(next())) }
		config := Config{
			Appearance: opt.OptOf(Appearance{
				Light: opt.OptOf(Palette{Background: opt.OptOf(next()), Text: opt.OptOf(next()),
					Accent: opt.OptOf(next())}),
				FontFamily: opt.OptOf(next()), Radius: opt.OptOf(next()), Spacing: opt.OptOf(next()),
			}),
			Content: opt.OptOf(Content{
				Heading: line(), SupportingText: opt.OptOf(text.Block(next())),
				ActionLabels: opt.OptOf(ActionLabels{"open": text.Line(next()), "install": text.Line(next()),
					"web":  text.Line(next()),
					"copy": text.Line(next()), next(): "x"}),
				Details: opt.OptOf([]Detail{{text.Line(next()), text.Block(next())}, {"{{key}}", "{{key}} {{other}}"}}),
			}),
			Variables: opt.OptOf([]Variable{{Key: "key"}, {Key: next()}}),
		}
		if choice&4 != 0 {
			config = Config{}
		}
		v := Visit{
			Language: language.Make(next()), Nonce: next(), Scheme: Scheme(next()), AppName: next(), AppLogo: next(),
			Title:       next(),
			Description: next(), Data: map[string]string{"key": next(), next(): next()}, OpenURI: next(),
			Fallback:  next(),
			Automatic: choice&8 != 0, InstallURL: next(), WebURL: next(), CopyText: next(), AppStoreID: next(),
			Address: next(),
		}
		template := Compile(base, config, next())
		page := template.Append(nil, &v)
		for _, n := range inspect(t, page, v.Nonce) {
			if n.Data == "input" && attribute(n, "value") != seen(v.CopyText) {
				t.Errorf("%q is to be copied, not %q", attribute(n, "value"), v.CopyText)
			}
		}
		if again := template.Append(nil, &v); !bytes.Equal(page, again) {
			t.Error("two renderings differ")
		}
		n := Notice{
			Kind: Gone, Language: v.Language, Nonce: v.Nonce, Scheme: v.Scheme, AppName: v.AppName, AppLogo: v.AppLogo,
			HomeURL: v.WebURL,
		}
		inspect(t, template.AppendNotice(nil, &n), n.Nonce)
	})
}
