// Package oidc proves that the real command accepts the sessions of a real
// OpenID Connect provider (npm oidc-provider, provider.mjs), and only those.
//
// What is cached, and so what a provider must know: its keys are fetched when
// the first token comes and whenever a token names a key that is not known.
// A new key is therefore good at once. A key that is no longer published is
// forgotten at the next fetch, that is when the first token of a newer key
// comes; a token that was accepted before stays good until it expires, is
// ended with `waymark session revoke`, or the server restarts.
package oidc

import (
	"encoding/base64"
	"encoding/json"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestSessionsOfAProvider(t *testing.T) {
	p := startProvider(t, "0")
	data := t.TempDir()
	w := serve(t, data, p.issuer, "--auth-auto-provision")
	alice := w.accepts("alice", p.mint(t, "alice", "email", "alice@example.com", "name", "Alice")).Data
	if alice.DisplayName == nil || *alice.DisplayName != "Alice" {
		t.Errorf("the new owner: %+v", alice)
	}
	if again := w.accepts("alice again", p.mint(t, "alice")).Data; again.UserID != alice.UserID {
		t.Error("one subject, two owners")
	}
	if bob := w.accepts("bob", p.mint(t, "bob")).Data; bob.UserID == alice.UserID || bob.DisplayName != nil {
		t.Errorf("bob: %+v", bob)
	}
	w.stop()

	w = serve(t, data, p.issuer) // without --auth-auto-provision
	if again := w.accepts("alice, known", p.mint(t, "alice")).Data; again.UserID != alice.UserID {
		t.Error("another owner after a restart")
	}
	w.refuses("unknown user", p.mint(t, "carol"), "not an owner")
	w.refuses("wrong audience", p.mint(t, "alice", "audience", "https://other.example/api"), "another audience")
	w.refuses("audience of the same beginning", p.mint(t, "alice", "audience", audience+"/v2"))
	good := p.mint(t, "alice")
	w.refuses("tampered", good[:strings.LastIndexByte(good, '.')-2]+"AA"+good[strings.LastIndexByte(good, '.'):])
	w.refuses("no token", "")

	other := startProvider(t, "0") // also has a key "first"
	w.refuses("another issuer", other.mint(t, "alice"), "an issuer that this installation does not accept")
}

// Without --auth-auto-provision the operator says who is an owner.
func TestUsers(t *testing.T) {
	t.Parallel()
	p := startProvider(t, "0")
	w := serve(t, t.TempDir(), p.issuer)
	alice := func(changes ...string) string {
		return p.mint(t, "alice", append([]string{"email", "Alice@example.com", "name", "Alice"}, changes...)...)
	}
	w.refuses("nobody was added", alice("email_verified", "true"), "not an owner")
	w.run("users", "add", "--oidc-issuer", p.issuer, "--email", "alice@example.com")
	w.refuses("an address for which nobody vouches", alice(), "not an owner")
	w.refuses("an address that is not verified", alice("email_verified", "false"), "not an owner")
	w.refuses("another address", p.mint(t, "bob", "email", "bob@example.com", "email_verified", "true"), "not an owner")
	first := w.accepts("by verified address", alice("email_verified", "true")).Data
	if first.DisplayName == nil || *first.DisplayName != "Alice" {
		t.Errorf("%+v", first)
	}
	w.refuses("another subject with her address", p.mint(t, "mallory", "email", "alice@example.com", "email_verified",
		"true"), "not an owner")
	w.run("users", "add", "--oidc-issuer", p.issuer, "--email", "bob@example.com", "--subject", "bob")
	bob := p.mint(t, "bob")
	if name := w.accepts("by subject", bob).Data.DisplayName; name == nil || *name != "bob@example.com" {
		t.Errorf("bob's name: %v", name)
	}
	token := alice()
	if again := w.accepts("alice, known", token).Data; again.UserID != first.UserID {
		t.Error("one subject, two owners")
	}
	w.run("users", "disable", "alice@example.com")
	w.refuses("disabled, token seen before", token, "disabled")
	w.refuses("disabled, new token", alice("email_verified", "true"), "disabled")
	w.accepts("bob", bob)
	w.run("users", "enable", first.UserID)
	w.accepts("enabled", token)
}

// Sessions of the command line work beside those of an issuer, also while it is
// away: for local owners and for those of the issuer.
func TestBreakGlass(t *testing.T) {
	t.Parallel()
	p := startProvider(t, "0")
	w := serve(t, t.TempDir(), p.issuer, "--auth-auto-provision")
	alice := w.accepts("alice", p.mint(t, "alice", "email", "alice@example.com")).Data
	fresh := p.mint(t, "alice")
	p.stop()
	local := w.accepts("local owner", w.run("session", "issue", "--email", "alice@example.com")).Data
	if local.UserID == alice.UserID {
		t.Error("an address of the issuer's word became a local owner")
	}
	glass := w.run("session", "issue", "--user", alice.UserID)
	if same := w.accepts("alice, through the local issuer", glass).Data; same.UserID != alice.UserID {
		t.Errorf("%+v", same)
	}
	w.accepts("alice, known key", fresh)
	w.run("session", "revoke", "--session="+glass)
	w.refuses("ended", glass, "was ended")
}

// ID tokens such as Google's name no session: each is one.
func TestTokenWithoutSession(t *testing.T) {
	t.Parallel()
	p := startProvider(t, "0")
	w := serve(t, t.TempDir(), p.issuer, "--auth-auto-provision", "--oidc-audience", "test")
	mint := func(ttl string) string {
		token := p.mint(t, "alice", "use", "id_token", "ttl", ttl)
		if c := claimsOf(t, token); c["sid"] != nil || c["jti"] != nil || c["iat"] == nil {
			t.Fatalf("%v", c)
		}
		return token
	}
	one, two := mint("600"), mint("601")
	if w.accepts("one", one).Data.UserID != w.accepts("two", two).Data.UserID {
		t.Error("one subject, two owners")
	}
	w.run("session", "revoke", "--session="+one)
	w.refuses("ended", one, "was ended")
	w.accepts("the other", two)
	w.refuses("an access token", p.mint(t, "alice", "use", "access_token", "audience", "test"), "ID token")
}

// TestExpiry needs real time: the token's clock is the provider's.
func TestExpiry(t *testing.T) {
	t.Parallel()
	p := startProvider(t, "0")
	w := serve(t, t.TempDir(), p.issuer, "--auth-auto-provision")
	w.accepts("first", p.mint(t, "alice"))
	const life = 4 * time.Second
	var minted time.Time
	var seen, unseen string
	for range 5 { // until one is seen in time
		minted = time.Now()
		seen, unseen = p.mint(t, "alice", "ttl", "4"), p.mint(t, "alice", "ttl", "4")
		if w.me(seen).status == http.StatusOK {
			break
		}
	}
	for first := true; ; first = false {
		m := w.me(seen)
		age := time.Since(minted)
		if m.status == http.StatusUnauthorized {
			// exp is in whole seconds.
			if age < life-time.Second || first {
				t.Fatalf("refused after %v of %v", age, life)
			}
			break
		}
		if m.status != http.StatusOK {
			t.Fatalf("%+v", m)
		}
		if age > life+5*time.Second {
			t.Fatalf("accepted after %v of %v", age, life)
		}
		time.Sleep(50 * time.Millisecond)
	}
	w.refuses("expired, seen before", seen)
	w.refuses("expired, not seen before", unseen)
}

// TestKeyRotation: see the comment on the package.
func TestKeyRotation(t *testing.T) {
	t.Parallel()
	p := startProvider(t, "0")
	data := t.TempDir()
	w := serve(t, data, p.issuer, "--auth-auto-provision")
	seen := p.mint(t, "alice")
	unseen := []string{p.mint(t, "alice"), p.mint(t, "alice")}
	// A moment passes between the answer to the token that asked for the keys
	// and the end of the fetch: what is refused then is tried with a new token
	// each time, as one that was accepted is good for longer.
	var spare []string
	for range 20 {
		spare = append(spare, p.mint(t, "alice"))
	}
	w.accepts("first key", seen)
	w.accepts("first key, another token", p.mint(t, "alice"))
	if n := p.fetched(t); n != "1" {
		t.Errorf("two tokens of one key: the keys were fetched %s times", n)
	}

	p.keys(t, "second", "first")
	w.accepts("second key", p.mint(t, "alice"))
	w.accepts("first key, still published", unseen[0])
	if n := p.fetched(t); n != "2" {
		t.Errorf("one new key: the keys were fetched %s times", n)
	}

	p.keys(t, "second")
	w.accepts("first key, removed, but still known here", unseen[1])

	p.keys(t, "third", "second")
	w.accepts("third key", p.mint(t, "alice"))
	for len(spare) > 1 && w.me(spare[0]).status == http.StatusOK {
		spare = spare[1:]
		time.Sleep(10 * time.Millisecond)
	}
	w.refuses("first key, removed and forgotten", spare[0])
	p.keys(t, "second", "third")
	w.accepts("second key", p.mint(t, "alice"))
	w.accepts("first key, a token seen before", seen)
	w.stop()

	w = serve(t, data, p.issuer, "--auth-auto-provision")
	w.refuses("first key, a token seen before the restart", seen)
	w.accepts("second key", p.mint(t, "alice"))
}

// TestIssuerDown: the server starts without its issuer and finds it later. A
// token that cannot be checked is not called bad.
func TestIssuerDown(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	w := serve(t, t.TempDir(), "http://"+address, "--auth-auto-provision")
	if line := await(t, w.child, w.warned); !strings.Contains(line, "--oidc-issuer") ||
		!strings.Contains(line, address) {
		t.Errorf("the start warns %s", line)
	}
	unavailable := func(name, token string) {
		t.Helper()
		if m := w.me(token); m.status != http.StatusServiceUnavailable || m.Error.Code != "service_unavailable" ||
			m.retryAfter == "" {
			t.Errorf("%s: %+v", name, m)
		}
	}
	// That the token's claims are not signed cannot be known yet.
	unavailable("down at the start", "e30."+base64.RawURLEncoding.EncodeToString([]byte(`{"iss":"http://`+address+
		`"}`))+".c2ln")
	w.refuses("no token at all", "a.b.c", "not valid")
	if response, err := http.Get(strings.TrimSuffix(w.api, "/v1") + "/readyz"); err != nil ||
		response.StatusCode != http.StatusOK {
		t.Errorf("readyz: %v, %v", response, err)
	}
	_, port, _ := net.SplitHostPort(address)
	p := startProvider(t, port)
	token, unseen := p.mint(t, "alice"), p.mint(t, "alice")
	w.accepts("up", token)
	p.keys(t, "second")
	newer := p.mint(t, "alice")
	p.stop()
	w.accepts("down again, token seen before", token)
	w.accepts("down again, known key", unseen)
	unavailable("down again, new key", newer)
	if n := len(w.warned); n != 0 {
		t.Errorf("%d more warnings", n)
	}
}

func TestSessionRevoke(t *testing.T) {
	t.Parallel()
	p := startProvider(t, "0")
	w := serve(t, t.TempDir(), p.issuer, "--auth-auto-provision")
	revoke := func(id string) {
		t.Helper()
		if told := w.run("session", "revoke", "--session="+id); !strings.Contains(told, p.issuer) {
			t.Errorf("%s", told)
		}
	}
	ended, refreshed, other := p.mint(t, "alice", "sid", "one"), p.mint(t, "alice", "sid", "one"),
		p.mint(t, "alice", "sid", "two")
	bare := p.mint(t, "alice") // has a jti only
	for name, token := range map[string]string{"one": ended, "two": other, "no sid": bare} {
		w.accepts(name, token)
	}
	revoke("one")
	w.refuses("revoked", ended)
	w.refuses("revoked, another token of the session", refreshed)
	w.refuses("revoked, a later token of the session", p.mint(t, "alice", "sid", "one"))
	w.accepts("another session", other)
	w.accepts("no sid", bare)
	revoke(claimsOf(t, bare)["jti"].(string))
	w.refuses("revoked by jti", bare)
	w.accepts("another session", other)
}

// claimsOf returns the claims of a token, as its holder reads them.
func claimsOf(t *testing.T, token string) (claims map[string]any) {
	t.Helper()
	text, err := base64.RawURLEncoding.DecodeString(strings.Split(token, ".")[1])
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &claims); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return claims
}
