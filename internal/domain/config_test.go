package domain_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/waymarkhq/waymark/internal/apitest"
	"github.com/waymarkhq/waymark/internal/domain"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
)

// domainOf returns the path of the domain of a prepared client.
func domainOf(c *apitest.Client) string {
	return "/domains/" + c.Call("GET", "/domains?appId="+c.AppID, nil).Want(200).Text("data.0.id")
}

const (
	appleFile   = "/.well-known/apple-app-site-association"
	androidFile = "/.well-known/assetlinks.json"
)

// read returns a body that the redirector answered.
func read(t *testing.T, r *http.Response) string {
	t.Helper()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

func TestWebConfig(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner, eve := i.Prepared(t, "ann@example.com"), i.Prepared(t, "eve@example.com")
		owner.Link("a", nil).Want(201)
		path, host := domainOf(owner)+"/web-config", "https://"+owner.Host
		first := owner.Call("GET", path, nil).Want(200).
			Has("data.config", `{"rootUrl":null,"notFoundUrl":null,"robots":"index","redirectStatus":302}`)
		match := apitest.IfMatch(first.Revision())
		for at, body := range map[string]M{
			"/rootUrl": {"rootUrl": "http://example.com/"}, "/notFoundUrl": {"notFoundUrl": "x"},
			"/robots": {"robots": "none"}, "/redirectStatus": {"redirectStatus": 301}, "/root": {"root": nil},
		} {
			owner.Call("PUT", path, body, match).Refused(fault.ValidationFailed, at)
		}
		for _, status := range []any{302.5, 303, 306, 308, "302", nil} {
			owner.Call("PUT", path, M{"redirectStatus": status}, match).Refused(fault.ValidationFailed, "/redirectStatus")
		}
		// Nobody is sent round in a circle.
		for _, at := range []string{"/rootUrl", "/notFoundUrl"} {
			for _, url := range []string{host, "https://" + strings.ToUpper(owner.Host) + "./a", "https://" + eve.Host + "/x"} {
				owner.Call("PUT", path, M{at[1:]: url}, match).Refused(fault.ValidationFailed, at).
					Has("error.details.0.code", `"redirect_loop"`)
			}
		}
		owner.Call("POST", "/domains", M{"appId": owner.AppID, "mode": "external", "hostname": "go.example.org"}).Want(202)
		claim := domainOf(owner) + "/web-config" // the newest stands first
		owner.Call("PUT", claim, M{"rootUrl": "https://go.example.org/a"},
			apitest.IfMatch(owner.Call("GET", claim, nil).Revision())).Refused(fault.ValidationFailed, "/rootUrl")
		set := owner.Call("PUT", path, M{"rootUrl": "https://bücher.example.com/", "notFoundUrl": "https://192.0.2.1/lost",
			"robots": "noindex", "redirectStatus": 307}, match).Want(200).
			Has("data.config.rootUrl", `"https://bücher.example.com/"`).Has("data.config.redirectStatus", "307")
		i.Settle(t)
		i.Visit(t, host+"/", nil, func(r *http.Response) bool {
			return r.StatusCode == 302 && r.Header.Get("Location") == "https://xn--bcher-kva.example.com/"
		})
		if r := i.Visit(t, host+"/unknown", nil, nil); r.Header.Get("Location") != "https://192.0.2.1/lost" {
			t.Errorf("an unknown address: %d %v", r.StatusCode, r.Header)
		}
		if r := i.Visit(t, host+"/a", nil, nil); r.StatusCode != 307 {
			t.Errorf("the link redirects with %d", r.StatusCode)
		}
		if text := read(t, i.Visit(t, host+"/robots.txt", nil, nil)); text != "User-agent: *\nDisallow: /\n" {
			t.Errorf("robots.txt: %s", text)
		}
		// A PUT replaces: what is omitted gets its default.
		set = owner.Call("PUT", path, M{"redirectStatus": 302.0}, apitest.IfMatch(set.Revision())).Want(200).
			Has("data.config", first.Value("data.config"))
		i.Settle(t)
		i.Visit(t, host+"/unknown", nil, func(r *http.Response) bool { return r.StatusCode == 404 })
		if r := i.Visit(t, host+"/a", nil, nil); r.StatusCode != 302 {
			t.Errorf("the link redirects with %d", r.StatusCode)
		}
		// Pages lead to the desktopUrl of the app, until the domain has a rootUrl.
		home := func(want string) {
			t.Helper()
			i.Settle(t)
			i.Visit(t, host+"/unknown", nil, func(r *http.Response) bool {
				return r.StatusCode == 404 && strings.Contains(read(t, r), `href="`+want+`"`)
			})
		}
		app := "/apps/" + owner.AppID
		owner.Call("PATCH", app, M{"desktopUrl": "https://www.example.com/shop"},
			apitest.IfMatch(owner.Call("GET", app, nil).Revision())).Want(200)
		home("https://www.example.com/shop")
		owner.Call("PUT", path, M{"rootUrl": "https://home.example.com/"}, apitest.IfMatch(set.Revision())).Want(200)
		home("https://home.example.com/")
	})
}

func TestRecoveryConfig(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		path := domainOf(owner) + "/recovery-config"
		first := owner.Call("GET", path, nil).Want(200).
			Has("data.config", `{"enabled":false,"tokenTtlSeconds":86400,"matching":"token"}`)
		match := apitest.IfMatch(first.Revision())
		for at, body := range map[string]M{"/enabled": {}, "/matching": {"enabled": true, "matching": "both"}} {
			owner.Call("PUT", path, body, match).Refused(fault.ValidationFailed, at)
		}
		for _, ttl := range []any{299, 604801, 300.5, "300"} {
			owner.Call("PUT", path, M{"enabled": true, "tokenTtlSeconds": ttl}, match).
				Refused(fault.ValidationFailed, "/tokenTtlSeconds")
		}
		for ttl, matching := range map[int]string{300: "none", 604800: "token"} {
			r := owner.Call("PUT", path, M{"enabled": true, "tokenTtlSeconds": ttl, "matching": matching}, match).Want(200).
				Has("data.config.matching", `"`+matching+`"`).Has("data.config.enabled", "true")
			match = apitest.IfMatch(r.Revision())
			owner.Call("GET", path, nil).Want(200).Has("data.config", r.Value("data.config"))
			i.Settle(t)
			document, err := store.One(t.Context(), i.DB, store.Value[string], `SELECT document FROM route
				WHERE hostname = ? AND path = ''`, owner.Host)
			if want := fmt.Sprintf(`"rec":{"ttl":%d`, ttl); err != nil || !strings.Contains(document, want) ||
				strings.Contains(document, `"tok":true`) != (matching == "token") {
				t.Errorf("%d, %s: the route is %s, %v", ttl, matching, document, err)
			}
		}
	})
}

// How long tokens are good is told of a domain, or of an app as a whole: then the longest time of its domains counts.
func TestRecoveryLifetime(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner, eve := i.Prepared(t, "ann@example.com"), i.Prepared(t, "eve@example.com")
		configure := func(c *apitest.Client, seconds int) {
			path := domainOf(c) + "/recovery-config" // the newest stands first
			c.Call("PUT", path, M{"enabled": true, "tokenTtlSeconds": seconds},
				apitest.IfMatch(c.Call("GET", path, nil).Revision())).Want(200)
		}
		lasts := func(hostname string, want time.Duration) {
			t.Helper()
			got, err := domain.RecoveryLifetime(t.Context(), i.DB, owner.AppID, hostname)
			if got != want || err != nil {
				t.Errorf("for %q they are good for %s, want %s, %v", hostname, got, want, err)
			}
		}
		configure(eve, 604800)
		lasts("", 24*time.Hour)
		lasts(owner.Host, 24*time.Hour)
		configure(owner, 300)
		i.Clock.Move(time.Second)
		second := create(t, i, owner, M{"mode": "platform", "prefix": "second"}).Text("data.hostname")
		lasts("", 5*time.Minute)
		lasts(second, 24*time.Hour)
		configure(owner, 600)
		lasts("", 10*time.Minute)
		lasts(second, 10*time.Minute)
		lasts(owner.Host, 5*time.Minute)
		storetest.Faulty(t, func(ctx context.Context) error {
			_, err := domain.RecoveryLifetime(ctx, i.DB, owner.AppID, "")
			return err
		})
		if _, err := i.DB.Exec(t.Context(), "UPDATE domain SET recovery_config = '-' WHERE hostname = ?", second); err != nil {
			t.Fatal(err)
		}
		if got, err := domain.RecoveryLifetime(t.Context(), i.DB, owner.AppID, ""); err == nil {
			t.Errorf("with what cannot be read they are good for %s", got)
		}
	})
}

// A domain that was configured stays when its creation is cancelled, and what is
// detached cannot be configured.
func TestConfigOfCancelledAndDetached(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		for _, config := range []struct {
			path string
			body M
		}{{"native-config", M{}}, {"web-config", M{}}, {"recovery-config", M{"enabled": false}}} {
			prefix := "soon" + config.path[:3]
			creation := owner.Call("POST", "/domains", M{"appId": owner.AppID, "mode": "platform", "prefix": prefix}).
				Want(202)
			path := domainOf(owner) + "/" + config.path
			r := owner.Call("PUT", path, config.body, apitest.IfMatch(owner.Call("GET", path, nil).Revision())).Want(200)
			owner.Call("POST", "/operations/"+creation.Text("data.id")+"/cancel", nil).Want(202)
			i.Settle(t)
			owner.Call("GET", path, nil).Want(200).Has("data.publication.status", `"synced"`)
			if _, err := i.DB.Exec(t.Context(), "UPDATE domain SET detached = TRUE WHERE hostname = ?",
				prefix+"."+apitest.Zone); err != nil {
				t.Fatal(err)
			}
			owner.Call("PUT", path, config.body, apitest.IfMatch(r.Revision())).Refused(fault.ResourceConflict)
			owner.Call("GET", path, nil).Want(200)
		}
	})
}
