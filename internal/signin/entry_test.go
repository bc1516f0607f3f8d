package signin_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"github.com/go-json-experiment/json"

	"github.com/waymarkhq/waymark/internal/actor"
	"github.com/waymarkhq/waymark/internal/apitest"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/store"
)

// issuer is one in this process, for what a real one does not do on request; test/oidc
// runs a real one.
type issuer struct {
	*httptest.Server
	t      *testing.T
	signer jose.Signer
	mu     sync.Mutex
	// asked is what the browser brought, claims what the next token says besides; nil removes
	// a claim.
	asked  url.Values
	claims map[string]any
	// status is that of the next answer to a code, 0 for a token.
	status int
	form   url.Values
	user   string
}

func newIssuer(t *testing.T) *issuer {
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	s := &issuer{t: t}
	if s.signer, err = jose.NewSigner(jose.SigningKey{Algorithm: jose.EdDSA, Key: jose.JSONWebKey{Key: private, KeyID: "1"}},
		(&jose.SignerOptions{}).WithType("JWT")); err != nil {
		t.Fatal(err)
	}
	answer := func(w http.ResponseWriter, status int, v any) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		json.MarshalWrite(w, v)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, 200, map[string]any{"issuer": s.URL, "jwks_uri": s.URL + "/keys", "authorization_endpoint": s.URL + "/login",
			"token_endpoint": s.URL + "/token", "id_token_signing_alg_values_supported": []string{"EdDSA"},
			"scopes_supported": []string{"openid", "groups"}})
	})
	mux.HandleFunc("GET /keys", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, 200, jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: public, KeyID: "1", Algorithm: "EdDSA", Use: "sig"}}})
	})
	mux.HandleFunc("POST /token", func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		r.ParseForm()
		s.form = r.PostForm
		user, password, _ := r.BasicAuth()
		s.user = user + ":" + password
		sum := sha256.Sum256([]byte(s.form.Get("code_verifier")))
		if s.status != 0 || s.form.Get("code") != "good" || encoded(sum[:]) != s.asked.Get("code_challenge") ||
			s.form.Get("redirect_uri") != s.asked.Get("redirect_uri") {
			answer(w, max(s.status, 400), map[string]any{"error": "invalid_grant", "error_description": "code good"})
			return
		}
		claims := map[string]any{"iss": s.URL, "aud": "waymark", "sub": "ann", "iat": time.Now().Unix(),
			"exp": time.Now().Add(time.Hour).Unix(), "nonce": s.asked.Get("nonce"), "email": email, "email_verified": true}
		for name, value := range s.claims {
			if claims[name] = value; value == nil {
				delete(claims, name)
			}
		}
		token, err := jwt.Signed(s.signer).Claims(claims).Serialize()
		if err != nil {
			t.Error(err)
		}
		answer(w, 200, map[string]any{"access_token": "a", "token_type": "Bearer", "id_token": token})
	})
	s.Server = httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

// at returns the issuer as an installation has it.
func (s *issuer) at(rules ...string) *actor.Issuer {
	s.t.Helper()
	remote := actor.RemoteIssuer(s.URL, "waymark", len(rules) == 0)
	remote.Secret = "password"
	for _, text := range rules {
		rule, err := actor.ParseRule(text)
		if err != nil {
			s.t.Fatal(err)
		}
		remote.Allow = append(remote.Allow, rule)
	}
	return remote
}

// begin leads a page to the issuer, and returns what it is to bring back.
func (s *issuer) begin(p *page, to string) url.Values {
	p.t.Helper()
	r := p.call("GET", "/auth/login?to="+url.QueryEscape(to), nil).Want(303)
	address, err := url.Parse(r.Header.Get("Location"))
	if err != nil || !strings.HasPrefix(address.String(), s.URL+"/login?") {
		p.t.Fatalf("led to %s (%v)", address, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = address.Query()
	return url.Values{"code": {"good"}, "state": {s.asked.Get("state")}, "iss": {s.URL}}
}

// back brings a page back from the issuer, as a link of another site does, and returns where
// it is led.
func (p *page) back(answer url.Values) string {
	p.t.Helper()
	return p.call("GET", "/auth/callback?"+answer.Encode(), nil, apitest.Header("Sec-Fetch-Site", "cross-site"),
		apitest.Header("Sec-Fetch-Mode", "navigate")).Want(303).Header.Get("Location")
}

const problem = "/dashboard/#/signin?problem="

func TestEntry(t *testing.T) {
	s := newIssuer(t)
	var log bytes.Buffer
	apitest.EachWith(t, apitest.Options{Issuer: s.at("group=marketing", "email_domain=example.com"), Log: &log}, func(t *testing.T,
		i *apitest.Installation) {
		p := newPage(t, i)
		p.call("GET", "/auth/options", nil).Has("data.oidc", "true").Has("data.issuer", `"127.0.0.1"`)
		answer := s.begin(p, "/dashboard/#/links?tag=a")
		for name, want := range map[string]string{
			"client_id": "waymark", "response_type": "code", "redirect_uri": apitest.Origin + "/auth/callback",
			"scope": "openid email profile groups", "code_challenge_method": "S256",
		} {
			if got := s.asked.Get(name); got != want {
				t.Errorf("%s is %q, want %q", name, got, want)
			}
		}
		if len(s.asked.Get("state")) != 43 || len(s.asked.Get("nonce")) != 43 || len(s.asked.Get("code_challenge")) != 43 {
			t.Errorf("%v", s.asked)
		}
		entry := p.cookies["__Host-waymark-entry"]
		if to := p.back(answer); to != "/dashboard/#/links?tag=a" {
			t.Errorf("led to %s", to)
		}
		if s.user != "waymark:password" || s.form.Get("client_secret") != "" {
			t.Errorf("the password came as %q, %v", s.user, s.form)
		}
		if len(p.cookies) != 1 {
			t.Errorf("left are %v", p.cookies)
		}
		p.call("GET", "/me", nil).Want(200).Has("data.displayName", `"ann@example.com"`)
		p.call("GET", "/auth/sessions", nil).Has("data.0.kind", `"browser"`).Has("data.1", "")
		again := newPage(t, i)
		answer = s.begin(again, "/dashboard/")
		if to := again.back(answer); to != "/dashboard/" {
			t.Errorf("led to %s", to)
		}
		if n, err := store.One(t.Context(), i.DB, store.Value[int64], "SELECT COUNT(*) FROM users"); err != nil || n != 1 {
			t.Errorf("%d owners, %v", n, err)
		}
		for _, secret := range []string{entry, p.cookies["__Host-waymark"], answer.Get("state"), "password", "good"} {
			if strings.Contains(log.String(), secret) {
				t.Errorf("the log has %q", secret)
			}
		}
	})
}

// Who does not bring back what was begun with is led to the page that says so, and is not
// signed in.
func TestEntryRefused(t *testing.T) {
	s := newIssuer(t)
	apitest.EachWith(t, apitest.Options{Issuer: s.at()}, func(t *testing.T, i *apitest.Installation) {
		for name, c := range map[string]struct {
			change func(p *page, answer url.Values)
			want   string
		}{
			"nothing":        {func(*page, url.Values) {}, ""},
			"no cookie":      {func(p *page, _ url.Values) { clear(p.cookies) }, "expired"},
			"another state":  {func(_ *page, a url.Values) { a.Set("state", strings.Repeat("A", 43)) }, "expired"},
			"no state":       {func(_ *page, a url.Values) { a.Del("state") }, "expired"},
			"cookie changed": {func(p *page, _ url.Values) { p.cookies["__Host-waymark-entry"] += "A" }, "expired"},
			"of another browser": {func(p *page, _ url.Values) {
				other := newPage(t, i)
				asked := s.asked
				s.begin(other, "/dashboard/")
				s.asked = asked
				p.cookies = other.cookies
			}, "expired"},
			"just in time":    {func(*page, url.Values) { moved(i, 10*time.Minute-time.Millisecond) }, ""},
			"too late":        {func(*page, url.Values) { moved(i, 10*time.Minute) }, "expired"},
			"another issuer":  {func(_ *page, a url.Values) { a.Set("iss", "https://evil.example") }, "failed"},
			"no issuer named": {func(_ *page, a url.Values) { a.Del("iss") }, ""},
			"long":            {func(_ *page, a url.Values) { a.Set("x", strings.Repeat("x", 4096)) }, "expired"},
			"denied": {func(_ *page, a url.Values) {
				a.Del("code")
				a.Set("error", "access_denied")
			}, "denied"},
			"another error":    {func(_ *page, a url.Values) { a.Set("error", "server_error") }, "failed"},
			"no code":          {func(_ *page, a url.Values) { a.Del("code") }, "failed"},
			"another code":     {func(_ *page, a url.Values) { a.Set("code", "bad") }, "failed"},
			"PKCE":             {func(*page, url.Values) { s.asked.Set("code_challenge", "x") }, "failed"},
			"another nonce":    {func(*page, url.Values) { s.claims = M{"nonce": "x"} }, "failed"},
			"no nonce":         {func(*page, url.Values) { s.claims = M{"nonce": nil} }, "failed"},
			"another audience": {func(*page, url.Values) { s.claims = M{"aud": "other"} }, "failed"},
			"expired token":    {func(*page, url.Values) { s.claims = M{"exp": time.Now().Add(-time.Hour).Unix()} }, "failed"},
			"of another":       {func(*page, url.Values) { s.claims = M{"iss": "https://evil.example"} }, "failed"},
			"issuer is down":   {func(*page, url.Values) { s.status = 503 }, "unavailable"},
		} {
			p := newPage(t, i)
			answer := s.begin(p, "/dashboard/#/x")
			c.change(p, answer)
			to, want := p.back(answer), problem+c.want
			if c.want == "" {
				want = "/dashboard/#/x"
			}
			if to != want || (c.want == "") != (p.cookies["__Host-waymark"] != "") || p.cookies["__Host-waymark-entry"] != "" {
				t.Errorf("%s: led to %s with %v", name, to, p.cookies)
			}
			s.claims, s.status = nil, 0
		}
	})
}

// The rules decide who may enter, each time; without one it is as with tokens.
func TestWhoMayEnter(t *testing.T) {
	s := newIssuer(t)
	apitest.EachWith(t, apitest.Options{Issuer: s.at("email_domain=example.com", "group=marketing", "email=zoe@other.example")},
		func(t *testing.T, i *apitest.Installation) {
			enter := func(claims M) string {
				t.Helper()
				s.claims = claims
				p := newPage(t, i)
				return p.back(s.begin(p, "/dashboard/"))
			}
			for _, c := range []struct {
				claims M
				want   string
			}{
				{nil, "/dashboard/"},
				{M{"email_verified": false}, problem + "not_allowed"},
				{M{"email_verified": nil}, problem + "not_allowed"},
				{M{"email_verified": "true"}, "/dashboard/"},
				{M{"email": nil}, problem + "not_allowed"},
				{M{"email": "ann@other.example"}, problem + "not_allowed"},
				{M{"email": "ann@example.com.evil.example"}, problem + "not_allowed"},
				{M{"email": "Zoe@Other.example", "sub": "zoe"}, "/dashboard/"},
				{M{"email": nil, "groups": []string{"sales", "marketing"}}, "/dashboard/"},
				{M{"email": nil, "groups": "marketing", "sub": "bob"}, "/dashboard/"},
				{M{"email": nil, "groups": []string{"sales"}}, problem + "not_allowed"},
				{M{"email": nil, "groups": M{"marketing": true}}, problem + "not_allowed"},
			} {
				if got := enter(c.claims); got != c.want {
					t.Errorf("%v: %s, want %s", c.claims, got, c.want)
				}
			}
			if n, err := store.One(t.Context(), i.DB, store.Value[int64], "SELECT COUNT(*) FROM users"); err != nil || n != 3 {
				t.Errorf("%d owners, %v", n, err)
			}
			if _, err := actor.SetActive(t.Context(), i.DB, email, false); err != nil {
				t.Fatal(err)
			}
			if got := enter(nil); got != problem+"disabled" {
				t.Errorf("disabled: %s", got)
			}
		})
}

// Without a rule and without auto-provisioning, the operator names the owners. Addresses that
// sign in stay valid beside the issuer.
func TestEnterAsOwner(t *testing.T) {
	s := newIssuer(t)
	remote := actor.RemoteIssuer(s.URL, "waymark", false)
	apitest.EachWith(t, apitest.Options{Issuer: remote}, func(t *testing.T, i *apitest.Installation) {
		p := newPage(t, i)
		if got := p.back(s.begin(p, "")); got != problem+"not_allowed" {
			t.Errorf("nobody was added: %s", got)
		}
		if strings.Contains(s.asked.Get("scope"), "groups") {
			t.Error("asks for groups that no rule needs")
		}
		if s.form.Get("client_id") != "waymark" || s.user != ":" {
			t.Errorf("without a password: %v, %q", s.form, s.user)
		}
		if _, err := actor.AddOwner(t.Context(), i.DB, actor.Owner{Email: email, Issuer: s.URL}); err != nil {
			t.Fatal(err)
		}
		if got := p.back(s.begin(p, "")); got != "/dashboard/" {
			t.Errorf("invited: %s", got)
		}
		p.call("GET", "/me", nil).Want(200)
		signedIn(t, i, "break@example.com").call("GET", "/me", nil).Want(200)
	})
}

// Nobody is led out of the dashboard.
func TestWayBack(t *testing.T) {
	s := newIssuer(t)
	i := apitest.New(t, "sqlite", apitest.Options{Issuer: s.at()})
	for to, want := range map[string]string{
		"/dashboard/": "/dashboard/", "/dashboard/#/links/a?b=c": "/dashboard/#/links/a?b=c", "/dashboard/?x=1": "/dashboard/?x=1",
		"": "", "/": "", "/docs": "", "/dashboard": "", "/dashboardx/": "", "https://evil.example/dashboard/": "",
		"//evil.example/dashboard/": "", `/dashboard/\evil`: "", "/dashboard/../docs": "", "/dashboard/%2e%2e/docs": "",
		"/dashboard/\r\nX: y": "", "javascript:alert(1)": "", "dashboard/": "", "/dashboard/" + strings.Repeat("x", 990): "",
	} {
		if want == "" {
			want = "/dashboard/"
		}
		p := newPage(t, i)
		if got := p.back(s.begin(p, to)); got != want {
			t.Errorf("%q: led to %q", to, got)
		}
	}
}

// Without an issuer, or one that answers, nobody is sent there.
// unread is a body that nobody may read.
type unread struct{ t *testing.T }

func (u unread) Read([]byte) (int, error) {
	u.t.Error("the body is read")
	return 0, io.EOF
}

// A way to the issuer has no body: a form in one is not looked at.
func TestEntryReadsNoBody(t *testing.T) {
	s := newIssuer(t)
	i := apitest.New(t, "sqlite", apitest.Options{Issuer: s.at()})
	r := httptest.NewRequest("GET", apitest.Origin+"/auth/login?to=/dashboard/x", unread{t})
	r.Header.Set("Content-Type", "multipart/form-data; boundary=x")
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	w := httptest.NewRecorder()
	i.API.ServeHTTP(w, r)
	if w.Code != 303 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

func TestNoIssuer(t *testing.T) {
	i := apitest.New(t, "sqlite", apitest.Options{})
	p := newPage(t, i)
	p.call("GET", "/auth/login", nil).Refused(fault.NotFound)
	p.call("GET", "/auth/callback", nil).Refused(fault.NotFound)
	s := newIssuer(t)
	remote := s.at()
	s.Close()
	i = apitest.New(t, "sqlite", apitest.Options{Issuer: remote})
	if got := newPage(t, i).call("GET", "/auth/login", nil).Want(303).Header.Get("Location"); got != problem+"unavailable" {
		t.Errorf("led to %s", got)
	}
}
