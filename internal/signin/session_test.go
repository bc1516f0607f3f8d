package signin_test

import (
	"bytes"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/waymarkhq/waymark/internal/actor"
	"github.com/waymarkhq/waymark/internal/apitest"
	"github.com/waymarkhq/waymark/internal/fault"
)

// An address signs a browser in, once and within ten minutes; then its page may do what a
// session of a token may.
func TestLink(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		p := newPage(t, i)
		p.call("GET", "/auth/options", nil).Want(200).Has("data", `{"oidc":false,"issuer":"","passkeys":true,"signedIn":false}`)
		p.call("GET", "/me", nil).Refused(fault.Unauthenticated)
		code, late, soon := link(t, i, email), link(t, i, email), link(t, i, email)
		answer := p.call("POST", "/auth/link", M{"code": code}).Want(204)
		if got := answer.Header.Get("Set-Cookie"); !regexp.MustCompile(
			`^__Host-waymark=[\w-]{43}; Path=/; Max-Age=2592000; HttpOnly; Secure; SameSite=Strict$`).MatchString(got) {
			t.Errorf("the cookie is %s", got)
		}
		if got := answer.Header.Get("Cache-Control"); got != "no-store, no-transform" {
			t.Errorf("Cache-Control: %s", got)
		}
		p.call("GET", "/auth/options", nil).Has("data.signedIn", "true")
		p.call("GET", "/me", nil).Want(200).Has("data.displayName", `"ann@example.com"`).Has("data.actorType", `"human"`)
		p.call("POST", "/apps", M{"name": "By a browser"}).Want(201)

		other := newPage(t, i)
		for _, body := range []any{M{"code": code}, M{"code": ""}, M{"code": strings.Repeat("A", 43)}} {
			other.call("POST", "/auth/link", body).Refused(fault.Unauthenticated)
		}
		other.call("POST", "/auth/link", M{}).Refused(fault.ValidationFailed, "/code")
		other.call("POST", "/auth/link", M{"code": strings.Repeat("A", 101)}).Refused(fault.ValidationFailed, "/code")
		other.call("POST", "/auth/link", `{"code":"`+strings.Repeat("A", 33<<10)+`"}`).Refused(fault.PayloadTooLarge)
		moved(i, 10*time.Minute-time.Millisecond)
		other.call("POST", "/auth/link", M{"code": soon}).Want(204)
		moved(i, time.Millisecond)
		other.call("POST", "/auth/link", M{"code": late}).Refused(fault.Unauthenticated)
		other.call("GET", "/me", nil).Want(200)
	})
}

// The cookie counts for pages of ours alone: each combination of what browsers tell.
func TestCookieOfAnotherSite(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		p := signedIn(t, i, email)
		const evil = "https://evil.example"
		for _, c := range []struct {
			site, mode, origin string
			get, post          bool
		}{
			{"same-origin", "cors", "", true, true},
			{"same-origin", "cors", apitest.Origin, true, true},
			{"same-origin", "cors", evil, false, false},
			{"same-site", "cors", "https://www.example", false, false},
			{"same-site", "navigate", "", false, false},
			{"cross-site", "cors", evil, false, false},
			{"cross-site", "no-cors", "", false, false},
			{"cross-site", "navigate", "", false, false},
			{"none", "navigate", "", true, false},
			{"", "", "", true, false},
			{"", "", apitest.Origin, true, true},
			{"", "", evil, false, false},
			{"", "", "null", false, false},
		} {
			with := []apitest.With{apitest.Header("Sec-Fetch-Site", c.site), apitest.Header("Sec-Fetch-Mode", c.mode),
				apitest.Header("Origin", c.origin)}
			for method, want := range map[string]bool{"GET": c.get, "POST": c.post} {
				path, body := "/me", any(nil)
				if method == "POST" {
					path, body = "/apps", M{"name": "x"}
				}
				r := p.call(method, path, body, with...)
				if got := r.Status < 300; got != want || !got && r.Text("error.code") != "unauthenticated" {
					t.Errorf("%s, %+v: %d %s", method, c, r.Status, r.Body)
				}
			}
			for _, call := range []string{"/auth/link", "/auth/logout", "/auth/passkey/options", "/auth/passkeys/options"} {
				r := p.call("POST", call, M{"code": "x"}, with...)
				cookies := r.Header.Get("Set-Cookie")
				refused := r.Status == http.StatusForbidden || call == "/auth/passkeys/options" && r.Status == http.StatusUnauthorized
				if refused == c.post || refused && cookies != "" {
					t.Errorf("%s, %+v: %d %s %s", call, c, r.Status, r.Body, cookies)
				}
				if call == "/auth/logout" && c.post {
					p = signedIn(t, i, email)
				}
			}
		}
		// A header says who calls, whatever the cookie says.
		token := i.Owner(t, "bob@example.com")
		r := p.call("GET", "/me", nil, apitest.Header("Authorization", "Bearer "+token.Credential),
			apitest.Header("Sec-Fetch-Site", "cross-site")).Want(200)
		if r.Text("data.displayName") != "bob@example.com" {
			t.Errorf("%s", r.Body)
		}
		p.call("GET", "/me", nil, apitest.Header("Authorization", "Bearer x.y.z")).Refused(fault.Unauthenticated)
		for _, name := range []string{"waymark", "__Secure-waymark"} {
			other := newPage(t, i)
			other.cookies[name] = p.cookies["__Host-waymark"]
			other.call("GET", "/me", nil).Refused(fault.Unauthenticated)
		}
	})
}

// Refusals of a cookie count for the address, as those of tokens do.
func TestRefusedCookiesAreCounted(t *testing.T) {
	apitest.EachWith(t, apitest.Options{LimitScale: 0.01}, func(t *testing.T, i *apitest.Installation) {
		p := newPage(t, i)
		p.cookies["__Host-waymark"] = strings.Repeat("A", 43)
		for range 3 {
			p.call("GET", "/me", nil).Refused(fault.Unauthenticated)
		}
		p.call("GET", "/me", nil).Refused(fault.RateLimited)
		p.call("POST", "/auth/link", M{"code": link(t, i, email)}).Refused(fault.RateLimited)
		p.call("GET", "/auth/options", nil).Refused(fault.RateLimited)
	})
}

// Calls of API keys, which may do nothing here, count for their windows.
func TestKeysAreCounted(t *testing.T) {
	apitest.EachWith(t, apitest.Options{LimitScale: 0.1}, func(t *testing.T, i *apitest.Installation) {
		key := i.Prepared(t, email).Key("links:read")
		for range 1000 {
			r := key.Call("GET", "/auth/sessions", nil)
			if r.Status == 429 {
				return
			}
			r.Refused(fault.InsufficientPermission)
		}
		t.Error("a thousand calls are no call too many")
	})
}

// A browser stays signed in while it is used, and for 30 days at most.
func TestSlidingExpiry(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		const day = 24 * time.Hour
		used, idle := signedIn(t, i, email), signedIn(t, i, email)
		moved(i, 7*day-time.Millisecond)
		used.call("GET", "/me", nil).Want(200)
		i.FlushUsed(t)
		moved(i, time.Millisecond)
		idle.call("GET", "/me", nil).Refused(fault.Unauthenticated)
		for range 3 {
			moved(i, 6*day)
			used.call("GET", "/me", nil).Want(200)
			i.FlushUsed(t)
		}
		moved(i, 5*day-time.Millisecond)
		used.call("POST", "/apps", M{"name": "x"}).Want(201)
		i.FlushUsed(t)
		moved(i, time.Millisecond) // 30 days
		used.call("GET", "/me", nil).Refused(fault.Unauthenticated)
		used.call("POST", "/apps", M{"name": "x"}).Refused(fault.Unauthenticated)
	})
}

func TestSessions(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		p, other, eve := signedIn(t, i, email), signedIn(t, i, email), signedIn(t, i, "eve@example.com")
		token := i.Owner(t, email)
		all := p.call("GET", "/auth/sessions", nil).Want(200)
		if all.Len("data") != 3 {
			t.Fatalf("%s", all.Body)
		}
		ids := map[string]string{}
		for n := range 3 {
			at := "data." + string(rune('0'+n)) + "."
			kind := all.Text(at + "kind")
			if all.Value(at+"current") == "true" {
				kind = "current"
			}
			ids[kind] = all.Text(at + "id")
			if kind == "token" {
				all.Has(at+"usedAt", "null").Has(at+"name", `"Token"`)
				continue
			}
			all.Has(at+"name", `"Firefox on Linux"`).Has(at+"usedAt", `"2026-11-20T12:00:00.000Z"`).
				Has(at+"createdAt", `"2026-11-20T12:00:00.000Z"`).Has(at+"expiresAt", `"2026-11-27T12:00:00.000Z"`)
		}
		if len(ids) != 3 {
			t.Fatalf("%s", all.Body)
		}
		if bytes.Contains(all.Body, []byte(p.cookies["__Host-waymark"])) {
			t.Error("the secret is shown")
		}
		eve.call("DELETE", "/auth/sessions/"+ids["browser"], nil).Refused(fault.NotFound)
		p.call("DELETE", "/auth/sessions/none", nil).Refused(fault.NotFound)
		p.call("DELETE", "/auth/sessions/"+ids["browser"], nil).Want(204)
		p.call("DELETE", "/auth/sessions/"+ids["browser"], nil).Refused(fault.NotFound)
		other.call("GET", "/me", nil).Refused(fault.Unauthenticated)
		token.Call("GET", "/me", nil).Want(200)
		p.call("DELETE", "/auth/sessions/"+ids["token"], nil).Want(204)
		token.Call("GET", "/me", nil).Refused(fault.Unauthenticated)

		// A token may do the same; a key may not.
		token = i.Prepared(t, email)
		token.Call("GET", "/auth/sessions", nil).Want(200)
		token.Key("links:read").Call("GET", "/auth/sessions", nil).Refused(fault.InsufficientPermission)
		i.Client(t, "").Call("GET", "/auth/sessions", nil).Refused(fault.Unauthenticated)

		p.call("POST", "/auth/logout", nil).Want(204)
		if len(p.cookies) > 0 {
			t.Errorf("left are %v", p.cookies)
		}
		p.call("POST", "/auth/logout", nil).Want(204)
	})
}

// What is signed out of, ended or of a disabled owner is refused at once.
func TestEnds(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		p, disabled := signedIn(t, i, email), signedIn(t, i, "bob@example.com")
		copied := newPage(t, i)
		copied.cookies["__Host-waymark"] = p.cookies["__Host-waymark"]
		copied.call("GET", "/me", nil).Want(200)
		p.call("POST", "/auth/logout", nil).Want(204)
		copied.call("GET", "/me", nil).Refused(fault.Unauthenticated)

		if _, err := actor.SetActive(t.Context(), i.DB, "bob@example.com", false); err != nil {
			t.Fatal(err)
		}
		disabled.call("GET", "/me", nil).Refused(fault.Unauthenticated)
		disabled.call("GET", "/auth/sessions", nil).Refused(fault.Unauthenticated)
		disabled.call("GET", "/auth/options", nil).Has("data.signedIn", "false")
		if _, err := actor.SetActive(t.Context(), i.DB, "bob@example.com", true); err != nil {
			t.Fatal(err)
		}
		disabled.call("GET", "/me", nil).Want(200)
		if _, err := actor.EndSessions(t.Context(), i.DB, "bob@example.com"); err != nil {
			t.Fatal(err)
		}
		disabled.call("GET", "/me", nil).Refused(fault.Unauthenticated)

		// Who signs in again gets a session in place of the one before.
		again := signedIn(t, i, email)
		before := again.cookies["__Host-waymark"]
		again.call("POST", "/auth/link", M{"code": link(t, i, email)}).Want(204)
		if again.call("GET", "/auth/sessions", nil).Len("data") != 1 || again.cookies["__Host-waymark"] == before {
			t.Error("the session before is still there")
		}
	})
}
