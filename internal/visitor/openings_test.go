package visitor_test

import (
	_ "embed"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/route"
	"github.com/waymarkhq/waymark/internal/visitor"
)

// openings are real user agents, what kind of program each is, and what it gets of a
// link with a page for browsers, both stores and a description, whose app can be
// opened on both platforms, under each behaviour and with webOnly: the status, the
// opening of a page (or "preview"), what opens the app, and the destination that
// analytics shows.
//
//go:embed testdata/openings.tsv
var openings string

func TestOpenings(t *testing.T) {
	link := route.Link{LinkID: "l", AppID: "a", Slug: "s", Description: "d", AppPath: "products/7",
		DesktopURL: "https://example.com/", PlayStoreURL: "https://play.google.com/store/apps/details?id=com.example",
		AppStoreURL: "https://apps.apple.com/app/id1"}
	host := &route.Host{AppID: "a", Scheme: "myapp", AndroidPackage: "com.example"}
	visitors, kinds := visitor.New(visitor.Options{}), map[string]int{}
	columns := [...]struct {
		name   string
		change func(*route.Link)
	}{
		{"manual", func(l *route.Link) { l.Behavior = route.BehaveManual }},
		{"automatic", func(l *route.Link) { l.Behavior = route.BehaveAutomatic }},
		{"intelligent", func(l *route.Link) { l.Behavior = route.BehaveIntelligent }},
		{"webOnly", func(l *route.Link) { l.Behavior, l.WebOnly = route.BehaveAutomatic, true }},
	}
	_, rows, _ := strings.Cut(strings.TrimSuffix(openings, "\n"), "\n")
	for row := range strings.SplitSeq(rows, "\n") {
		cells := strings.Split(row, "\t")
		name, kind, header, want, agent := cells[0], cells[1], cells[2], cells[3:7], cells[7]
		kinds[kind]++
		r := httptest.NewRequest("GET", "/s", nil)
		r.Header.Set("User-Agent", agent)
		if field, value, found := strings.Cut(header, ": "); found {
			r.Header.Set(field, value)
		}
		for i, column := range columns {
			changed := link
			column.change(&changed)
			from := visitors.Of(r)
			visit := route.Visit{Platform: from.Agent.Platform, Crawler: from.Agent.Preview,
				Automated: from.Agent.Device == visitor.Bot, InApp: from.InApp(), Address: "https://go.example.com/s"}
			if got := outcome(route.Decide(&changed, host, visit, clock.Instant(0))); got != want[i] {
				t.Errorf("%s (%s), %s: got %q, want %q\n%s", name, kind, column.name, got, want[i], agent)
			}
		}
	}
	if len(kinds) != 10 {
		t.Errorf("kinds %v", kinds)
	}
}

// outcome is a decision as the table names it.
func outcome(d route.Decision) string {
	opening, native := "none", "none"
	switch {
	case d.Preview:
		opening = "preview"
	case d.App != nil && strings.HasPrefix(d.App.NativeURI, "intent://products/7?"):
		opening, native = string(d.App.Opening), "intent"
	case d.App != nil && strings.HasPrefix(d.App.NativeURI, "myapp://products/7?"):
		opening, native = string(d.App.Opening), "scheme"
	case d.App != nil:
		opening, native = string(d.App.Opening), d.App.NativeURI
	}
	return fmt.Sprint(d.Status, " ", opening, " ", native, " ", d.Destination)
}
