package oidc

import (
	"encoding/json"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waymarkhq/waymark/test/chromium"
)

// visitor is a browser: it keeps cookies and goes where it is led.
type visitor struct {
	t    *testing.T
	site string
	http.Client
}

func newVisitor(t *testing.T, w *waymark) *visitor {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &visitor{t, strings.TrimSuffix(w.api, "/v1"), http.Client{Jar: jar, Timeout: patience}}
}

// enters signs in at the provider and returns where the browser ends, without the host.
func (v *visitor) enters() string {
	v.t.Helper()
	response, err := v.Get(v.site + "/auth/login?to=" + url.QueryEscape("/dashboard/#/links"))
	if err != nil {
		v.t.Fatal(err)
	}
	response.Body.Close()
	end := response.Request.URL
	if response.StatusCode != http.StatusOK || !strings.HasPrefix(end.String(), v.site) {
		v.t.Fatalf("%s answers %s", end, response.Status)
	}
	return strings.TrimPrefix(end.String(), v.site)
}

// me asks who is signed in, as a page of the dashboard does.
func (v *visitor) me() (status int, email string) {
	v.t.Helper()
	request, err := http.NewRequest("GET", v.site+"/v1/me", nil)
	if err != nil {
		v.t.Fatal(err)
	}
	request.Header.Set("Sec-Fetch-Site", "same-origin")
	response, err := v.Do(request)
	if err != nil {
		v.t.Fatal(err)
	}
	defer response.Body.Close()
	var answer struct {
		Data struct {
			Email string `json:"email"`
		} `json:"data"`
	}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		v.t.Fatal(err)
	}
	return response.StatusCode, answer.Data.Email
}

// browsers returns the flags with which browsers sign in at an issuer, to the API at an
// address that they know under another.
func browsers(t *testing.T, address, known string, more ...string) []string {
	t.Helper()
	password := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(password, []byte("password of the dashboard\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return append([]string{"--oidc-audience", "dashboard", "--oidc-client-secret-file", password, "--api-addr", address,
		"--api-url", "http://" + known, "--oidc-allow", "email_domain=example.com"}, more...)
}

// A browser goes through the pages of a real provider and comes back signed in, where the
// rules let it.
func TestBrowsersOfAProvider(t *testing.T) {
	address := freeAddress(t)
	t.Setenv("REDIRECT", "http://"+address+"/auth/callback")
	p := startProvider(t, "0")
	w := serve(t, t.TempDir(), p.issuer, browsers(t, address, address, "--oidc-allow", "group=marketing")...)
	const in, problem = "/dashboard/#/links", "/dashboard/#/signin?problem="
	for _, c := range []struct{ user, email, end string }{
		{"sub=alice&email=alice@example.com&email_verified=true", "alice@example.com", in},
		{"sub=bob&email=bob@example.com&email_verified=false", "", problem + "not_allowed"},
		{"sub=carol&email=carol@other.example&email_verified=true&groups=sales,marketing", "carol@other.example", in},
		{"sub=dave&email=dave@other.example&email_verified=true&groups=sales", "", problem + "not_allowed"},
		{"", "", problem + "denied"},
	} {
		p.put(t, "/control/user?"+c.user)
		v := newVisitor(t, w)
		end := v.enters()
		status, email := v.me()
		if end != c.end || email != c.email || (status == http.StatusOK) != (c.end == in) {
			t.Errorf("%s: led to %s, /me answers %d %q", c.user, end, status, email)
		}
		if c.email == "alice@example.com" {
			if told := w.run("session", "revoke", "--session", c.email); !strings.Contains(told, "ended session") {
				t.Error(told)
			}
			if status, _ := v.me(); status != http.StatusUnauthorized {
				t.Errorf("an ended session: %d", status)
			}
			if end := v.enters(); end != in { // the provider still knows the browser
				t.Errorf("again: led to %s", end)
			}
		}
	}
}

// The same in Chromium, where the provider is another site than the dashboard, and asks.
func TestChromiumOfAProvider(t *testing.T) {
	address := freeAddress(t)
	known := strings.Replace(address, "127.0.0.1", "localhost", 1)
	t.Setenv("REDIRECT", "http://"+known+"/auth/callback")
	p := startProvider(t, "0")
	serve(t, t.TempDir(), p.issuer, browsers(t, address, known)...)
	script := chromium.Script(t, "browser.mjs", "http://"+known+"/dashboard/", p.issuer)
	var complaints strings.Builder
	script.Stderr = &complaints
	out, err := script.Output()
	if err != nil {
		t.Fatalf("browser.mjs: %v\n%s", err, &complaints)
	}
	checks := 0
	for line := range strings.Lines(string(out)) {
		var found struct{ Check, Problem string }
		if err := json.Unmarshal([]byte(line), &found); err != nil {
			t.Errorf("browser.mjs printed %q: %v", line, err)
		}
		if checks++; found.Problem != "" {
			t.Errorf("%s: %s", found.Check, found.Problem)
		}
	}
	if checks != 8 {
		t.Errorf("%d checks", checks)
	}
}
