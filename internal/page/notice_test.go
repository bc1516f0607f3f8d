package page

import (
	"bytes"
	"strings"
	"testing"

	"golang.org/x/text/language"

	"github.com/waymarkhq/waymark/internal/binding"
)

func TestNotices(t *testing.T) {
	for _, base := range binding.Bases {
		for _, kind := range []Kind{NotFound, Gone, Scheduled, Unavailable, BadMethod} {
			n := Notice{
				Kind: kind, Language: language.Portuguese, Nonce: nonce, AppName: "A&B",
				AppLogo: "data:image/png;base64,iVBORw0KGgo=",
				HomeURL: "https://shop.example/?a&b",
			}
			page := string(Official(base).AppendNotice(nil, &n))
			said := wordsByTag[language.Portuguese].Notices[kind]
			for _, want := range []string{`<html lang="pt"`, "<title dir=\"auto\">" + said.Title,
				`<h1 dir="auto">` + said.Title, said.Text,
				"A&amp;B", `<img class="logo"`,
				`href="https://shop.example/?a&amp;b" dir="auto">Ir para a página inicial</a>`} {
				if !strings.Contains(page, want) {
					t.Errorf("%s, %s: no %s in\n%s", base, kind, want, page)
				}
			}
			n.HomeURL = "javascript:alert(1)"
			if page := Official(base).AppendNotice(nil, &n); bytes.Contains(page, []byte("<a ")) ||
				len(page) > MaxPageBytes {
				t.Errorf("%s, %s: a button that leads nowhere", base, kind)
			}
		}
	}
}
