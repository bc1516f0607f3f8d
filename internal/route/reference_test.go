package route

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/waymarkhq/waymark/internal/clock"
)

// reference decides as Decide does, slowly.
func reference(link *Link, host *Host, visit Visit, now clock.Instant) (d Decision) {
	within := func(from, to *clock.Instant) bool {
		return (from == nil || *from <= now) && (to == nil || *to > now)
	}
	over := !within(nil, link.ExpiresAt) || link.MaxClicks != nil && !(visit.Clicks < *link.MaxClicks)
	if link.Archived {
		return Decision{Status: http.StatusGone, Destination: "none"}
	} else if !within(link.StartsAt, nil) {
		return Decision{Status: http.StatusNotFound, Destination: "none", Scheduled: true}
	} else if over && usable(link.ExpiredURL) {
		return Decision{Status: http.StatusFound, Location: link.ExpiredURL, Destination: "web"}
	} else if over {
		return Decision{Status: http.StatusGone, Destination: "none"}
	}
	var choices []choice
	for _, r := range link.Rules {
		if within(r.StartsAt, r.ExpiresAt) && slices.Contains([]Platform{"", visit.Platform}, r.Platform) &&
			slices.Contains([]string{"", visit.Country}, r.Country) && usable(r.URL) {
			choices = append(choices, choice{r.URL, r.ID, "web", r.UTM})
		}
	}
	page, store := choice{address: link.DesktopURL, kind: "web"}, map[Platform]choice{
		"android": {address: link.PlayStoreURL, kind: "store"}, "ios": {address: link.AppStoreURL, kind: "store"},
	}
	d.QR = slices.Contains(strings.Split(visit.Query, "&"), "qr=1")
	own, phone := store[visit.Platform]
	opens := host.Scheme != "" || visit.Platform == "android" && host.AndroidPackage != ""
	if phone && opens && len(choices) == 0 && !link.WebOnly && !visit.Automated {
		d.App = referenceApp(link, host, visit, own.location(link, visit), page.location(link, visit))
		d.Status, d.Live, d.Destination, d.Location = 200, true, "page", d.App.InstallURL
		if d.App.Opening == "automatic" {
			d.Destination = "app"
		}
		if d.Location == "" {
			d.Location = d.App.WebURL
		}
		return d
	}
	switch {
	case phone && link.WebOnly:
		choices = append(choices, page, own)
	case phone:
		choices = append(choices, own, page)
	default:
		choices = append(choices, page, store["android"], store["ios"])
	}
	i := slices.IndexFunc(choices, func(c choice) bool { return usable(c.address) })
	if i < 0 {
		return Decision{Status: http.StatusNotFound, Destination: "none"}
	}
	chosen := choices[i]
	d.Live, d.Location, d.Destination, d.RuleID, d.Status = true, chosen.location(link, visit), chosen.kind,
		chosen.rule,
		http.StatusFound
	if host.RedirectStatus != 0 {
		d.Status = host.RedirectStatus
	}
	if visit.Crawler && link.Description+link.ImageURL != "" {
		d.Status, d.Preview, d.Destination = http.StatusOK, true, "page"
	}
	return d
}

// referenceApp is the page of a link without an app path and parameters.
func referenceApp(link *Link, host *Host, visit Visit, store, web string) *App {
	a := &App{Base: "android", Opening: "manual", StoreURL: store, WebURL: web, InstallURL: store,
		Address:  visit.Address,
		Template: "official"}
	chosen := []string{link.Templates.Android, host.Templates.Android}
	if visit.Platform == "ios" {
		a.Base, chosen = "ios", []string{link.Templates.IOS, host.Templates.IOS}
		if strings.HasPrefix(link.AppStoreURL, apple) {
			a.AppStoreID = "1"
		}
	}
	for _, name := range chosen {
		if name != "" {
			a.Template = name
			break
		}
	}
	if link.Behavior == "automatic" || link.Behavior == "intelligent" && !visit.InApp {
		a.Opening = "automatic"
	}
	var pairs []string
	for _, pair := range strings.Split(visit.Query, "&") {
		if pair != "" && pair != "qr=1" {
			pairs = append(pairs, pair)
		}
	}
	if len(pairs) > 0 {
		a.Address += "?" + strings.Join(pairs, "&")
	}
	if store != "" && host.Recovery != nil && host.Recovery.ByToken {
		a.InstallURL = strings.Replace(a.Address, "https://go.example.com/",
			"https://go.example.com/_service/install/", 1)
	}
	scheme, rest := "https", strings.TrimPrefix(a.Address, "https://")
	if host.Scheme != "" {
		scheme, rest = host.Scheme, "?waymark_link="+url.QueryEscape(a.Address)
	}
	a.NativeURI = scheme + "://" + rest
	if visit.Platform == "android" {
		a.NativeURI = "intent://" + rest + "#Intent;scheme=" + scheme +
			";action=android.intent.action.VIEW;category=android.intent.category.BROWSABLE;"
		if host.AndroidPackage != "" {
			a.NativeURI += "package=com.example;"
		}
		fallback := a.InstallURL
		if fallback == "" {
			fallback = web
		}
		if fallback != "" {
			a.NativeURI += "S.browser_fallback_url=" + url.QueryEscape(fallback) + ";"
		}
		a.NativeURI += "end"
	}
	return a
}

func usable(address string) bool { return strings.HasPrefix(address, "http") }

// choice is a destination, and the rule that leads there.
type choice struct {
	address, rule string
	kind          Destination
	utm           UTM
}

// location returns where a visitor arrives, "" for no usable address.
func (c choice) location(link *Link, visit Visit) string {
	if !usable(c.address) {
		return ""
	}
	u, err := url.Parse(c.address)
	if err != nil {
		panic(err)
	}
	taken, pairs := map[string]bool{}, []string{}
	for name := range u.Query() {
		taken[name] = true
	}
	if u.RawQuery != "" {
		pairs = append(pairs, u.RawQuery)
	}
	given := map[string]bool{}
	for _, pair := range strings.Split(visit.Query, "&") {
		name := strings.Split(pair, "=")[0]
		if pair != "" && pair != "qr=1" && !taken[name] {
			pairs, given[name] = append(pairs, pair), true
		}
	}
	for _, p := range []struct {
		name string
		of   func(UTM) string
	}{
		{"utm_source", func(u UTM) string { return u.Source }}, {"utm_medium", func(u UTM) string { return u.Medium }},
		{"utm_campaign", func(u UTM) string { return u.Campaign }}, {"utm_term", func(u UTM) string { return u.Term }},
		{"utm_content", func(u UTM) string { return u.Content }},
	} {
		value := ""
		for _, from := range []UTM{c.utm, link.UTM, link.CampaignUTM} {
			if value == "" {
				value = p.of(from)
			}
		}
		if value != "" && !taken[p.name] && !given[p.name] {
			pairs = append(pairs, p.name+"="+url.QueryEscape(value))
		}
	}
	u.RawQuery = strings.Join(pairs, "&")
	return u.String()
}

func randomTemplates(pick func(...string) string) Templates {
	return Templates{Android: pick("", "official", "a@1"), IOS: pick("", "official", "i@2")}
}
