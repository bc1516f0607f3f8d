package browser

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"
)

func site(t *testing.T, address string) Site {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return NewSite(u)
}

// Each combination of what a browser tells, for requests with and without effects.
func TestOwn(t *testing.T) {
	const ours = "https://api.example.com"
	for _, c := range []struct {
		site, address   string
		fetchSite, mode string
		origin          string
		get, post       bool
	}{
		{ours, ours, "same-origin", "cors", "", true, true},
		{ours, ours, "same-origin", "cors", ours, true, true},
		{ours, ours, "same-origin", "cors", "https://evil.example", false, false},
		{ours, ours, "same-origin", "cors", "null", true, true},
		{ours, ours, "cross-site", "cors", "null", false, false},
		{ours, ours, "same-site", "cors", ours, false, false},
		{ours, ours, "same-site", "navigate", "", false, false},
		{ours, ours, "cross-site", "cors", "https://evil.example", false, false},
		{ours, ours, "cross-site", "navigate", "", false, false},
		{ours, ours, "cross-site", "no-cors", "", false, false},
		{ours, ours, "none", "navigate", "", true, false},
		{ours, ours, "none", "cors", "", false, false},
		{ours, ours, "Same-Origin", "cors", "", false, false},
		{ours, ours, "", "", "", true, false},
		{ours, ours, "", "", ours, true, true},
		{ours, ours, "", "", "http://api.example.com", false, false},
		{ours, ours, "", "", "https://api.example.com:8443", false, false},
		{ours, ours, "", "", "https://api.example.com.evil.example", false, false},
		{ours, ours, "", "", "https://www.example.com", false, false},
		{ours, ours, "", "", "null", false, false},
		{"http://localhost:8080", "http://127.0.0.1:8080", "", "", "http://127.0.0.1:8080", true, true},
		{"http://localhost:8080", "http://[::1]:8080", "", "", "http://[::1]:8080", true, true},
		{"http://127.0.0.1:8080", "http://localhost:8080", "", "", "http://localhost:8080", true, true},
		{"http://localhost:8080", "http://localhost:8080", "", "", "http://localhost:3000", false, false},
		{"http://localhost:8080", "http://localhost:8080", "", "", "https://localhost:8080", false, false},
		{"http://localhost:8080", "http://localhost:8080", "", "", "http://10.0.0.1:8080", false, false},
		{"http://localhost:8080", "http://localhost:8080", "", "", "http://u@localhost:8080", false, false},
	} {
		for method, want := range map[string]bool{"GET": c.get, "HEAD": c.get, "POST": c.post, "DELETE": c.post, "PATCH": c.post} {
			r := httptest.NewRequest(method, c.address+"/v1/me", nil)
			for name, value := range map[string]string{"Sec-Fetch-Site": c.fetchSite, "Sec-Fetch-Mode": c.mode, "Origin": c.origin} {
				if value != "" {
					r.Header.Set(name, value)
				}
			}
			if got := site(t, c.site).Own(r); got != want {
				t.Errorf("%s of %s, Sec-Fetch-Site %q, Sec-Fetch-Mode %q, Origin %q: %t", method, c.site, c.fetchSite, c.mode,
					c.origin, got)
			}
		}
	}
	for _, name := range []string{"Origin", "Sec-Fetch-Site"} {
		r := httptest.NewRequest("GET", ours, nil)
		r.Header[name] = []string{map[string]string{"Origin": ours, "Sec-Fetch-Site": "same-origin"}[name]}
		r.Header[name] = append(r.Header[name], r.Header[name][0])
		if site(t, ours).Own(r) {
			t.Errorf("a repeated %s counts", name)
		}
	}
	if (Site{}).Own(httptest.NewRequest("GET", ours, nil)) {
		t.Error("no site has requests of its own")
	}
}

func TestCookies(t *testing.T) {
	for address, names := range map[string][2]string{
		"https://api.example.com": {"__Host-waymark", "__Host-waymark-entry"},
		"http://localhost:8080":   {"waymark", "waymark-entry"},
	} {
		s := site(t, address)
		w := httptest.NewRecorder()
		s.SetSession(w, "secret", time.Hour)
		s.SetEntry(w, "state", 10*time.Minute)
		secure := map[bool]string{true: " Secure;"}[strings.HasPrefix(address, "https")]
		for i, want := range []string{
			names[0] + "=secret; Path=/; Max-Age=3600; HttpOnly;" + secure + " SameSite=Strict",
			names[1] + "=state; Path=/; Max-Age=600; HttpOnly;" + secure + " SameSite=Lax",
		} {
			if got := w.Header()["Set-Cookie"][i]; got != want {
				t.Errorf("%s, want %s", got, want)
			}
		}
		r := httptest.NewRequest("GET", address, nil)
		for _, c := range w.Result().Cookies() {
			r.AddCookie(c)
		}
		if s.Session(r) != "secret" || s.Entry(r) != "state" || (Site{}).Session(r) != "" {
			t.Errorf("%q, %q", s.Session(r), s.Entry(r))
		}
		r.AddCookie(&http.Cookie{Name: names[0], Value: "another"})
		if s.Session(r) != "" {
			t.Error("one of two cookies is believed")
		}
		w = httptest.NewRecorder()
		s.SetSession(w, "", 0)
		if got := w.Header().Get("Set-Cookie"); !strings.HasPrefix(got, names[0]+"=; Path=/; Max-Age=0;") {
			t.Error(got)
		}
		r = httptest.NewRequest("GET", address, nil)
		r.AddCookie(&http.Cookie{Name: names[0], Value: strings.Repeat("x", 4097)})
		if s.Session(r) != "" {
			t.Error("a long cookie is read")
		}
	}
}
