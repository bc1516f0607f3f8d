package signin_test

import (
	"strings"
	"testing"
	"time"

	"github.com/waymarkhq/waymark/internal/actor"
	"github.com/waymarkhq/waymark/internal/apitest"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/signin"
	"github.com/waymarkhq/waymark/internal/store"
)

// registers makes a passkey of the owner.
func (p *page) registers(a *authenticator, name string) *apitest.Response {
	p.t.Helper()
	options := p.call("POST", "/auth/passkeys/options", nil).Want(200)
	body := M{"ceremony": options.Text("data.ceremony"), "credential": a.makes(options)}
	if name != "" {
		body["name"] = name
	}
	return p.call("POST", "/auth/passkeys", body)
}

// enters signs in by a passkey.
func (p *page) enters(a *authenticator) *apitest.Response {
	p.t.Helper()
	options := p.call("POST", "/auth/passkey/options", nil).Want(200)
	return p.call("POST", "/auth/passkey", M{"ceremony": options.Text("data.ceremony"), "credential": a.signs(options)})
}

func TestPasskey(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		p, a := signedIn(t, i, email), newAuthenticator(t)
		options := p.call("POST", "/auth/passkeys/options", nil).Want(200).
			Has("data.publicKey.rp.id", `"api.example"`).Has("data.publicKey.user.name", `"ann@example.com"`).
			Has("data.publicKey.authenticatorSelection.residentKey", `"required"`).
			Has("data.publicKey.authenticatorSelection.userVerification", `"preferred"`).
			Has("data.publicKey.attestation", `"none"`)
		if len(options.Text("data.publicKey.challenge")) < 43 || options.Len("data.publicKey.excludeCredentials") > 0 {
			t.Errorf("%s", options.Body)
		}
		made := p.registers(a, "Laptop").Want(201).Has("data.name", `"Laptop"`).Has("data.usedAt", "null")
		p.registers(a, "again").Refused(fault.ResourceConflict)
		p.call("POST", "/auth/passkeys/options", nil).Has("data.publicKey.excludeCredentials.0.id", `"`+encoded(a.id)+`"`)

		moved(i, time.Hour)
		other := newPage(t, i)
		other.call("POST", "/auth/passkey/options", nil).Want(200).Has("data.publicKey.rpId", `"api.example"`).
			Has("data.publicKey.allowCredentials", "").Has("data.publicKey.userVerification", `"preferred"`)
		other.enters(a).Want(204)
		if got := other.call("GET", "/me", nil).Want(200).Text("data.displayName"); got != email {
			t.Errorf("signed in is %s", got)
		}
		other.call("GET", "/auth/passkeys", nil).Want(200).Has("data", `[{"id":"`+made.Text("data.id")+`","name":"Laptop",`+
			`"createdAt":"2026-11-20T12:00:00.000Z","usedAt":"2026-11-20T13:00:00.000Z"}]`)
		p.registers(newAuthenticator(t), "").Want(201).Has("data.name", `"Firefox on Linux"`)

		eve := signedIn(t, i, "eve@example.com")
		eve.call("GET", "/auth/passkeys", nil).Has("data", "[]")
		eve.call("DELETE", "/auth/passkeys/"+made.Text("data.id"), nil).Refused(fault.NotFound)
		p.call("DELETE", "/auth/passkeys/"+made.Text("data.id"), nil).Want(204)
		p.call("DELETE", "/auth/passkeys/"+made.Text("data.id"), nil).Refused(fault.NotFound)
		newPage(t, i).enters(a).Refused(fault.Unauthenticated)
		i.Client(t, "").Call("POST", "/auth/passkeys/options", nil).Refused(fault.Unauthenticated)
	})
}

// What is not the answer of the owner's passkey, at this site, to this question, signs nobody
// in.
func TestPasskeyRefused(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		p, a, eves := signedIn(t, i, email), newAuthenticator(t), newAuthenticator(t)
		p.registers(a, "x").Want(201)
		eve := signedIn(t, i, "eve@example.com")
		eve.registers(eves, "x").Want(201)
		for name, change := range map[string]func(a *authenticator){
			"another site":           func(a *authenticator) { a.origin = "https://evil.example" },
			"another port":           func(a *authenticator) { a.origin = apitest.Origin + ":8443" },
			"plain HTTP":             func(a *authenticator) { a.origin = "http://api.example" },
			"another relying party":  func(a *authenticator) { a.relyingParty = "example" },
			"nobody present":         func(a *authenticator) { a.flags = 0 },
			"another key":            func(a *authenticator) { a.key = eves.key },
			"another user":           func(a *authenticator) { a.user = eves.user },
			"no user":                func(a *authenticator) { a.user = nil },
			"another passkey":        func(a *authenticator) { a.id = eves.id },
			"unknown":                func(a *authenticator) { a.id = []byte("0123456789abcdef") },
			"counter that went back": func(a *authenticator) { a.counter = 1 },
		} {
			a.counter = max(a.counter, 5)
			newPage(t, i).enters(a).Want(204)
			wrong := *a
			change(&wrong)
			other := newPage(t, i)
			if other.enters(&wrong).Refused(fault.Unauthenticated); len(other.cookies) > 0 {
				t.Errorf("%s: there is a cookie", name)
			}
			fresh := newAuthenticator(t)
			fresh.origin, fresh.relyingParty, fresh.flags = wrong.origin, wrong.relyingParty, wrong.flags
			if wrong.origin != a.origin || wrong.relyingParty != a.relyingParty || wrong.flags != a.flags {
				p.registers(fresh, name).Refused(fault.Unauthenticated)
			}
		}
		a.flags = present // nobody asked for a PIN
		newPage(t, i).enters(a).Want(204)
		for _, body := range []any{M{"ceremony": "x", "credential": M{}}, M{"ceremony": "", "credential": M{"id": 1}}} {
			p.call("POST", "/auth/passkey", body).Refused(fault.Unauthenticated)
			p.call("POST", "/auth/passkeys", body).Refused(fault.Unauthenticated)
		}
		p.call("POST", "/auth/passkey", M{"ceremony": "x"}).Refused(fault.ValidationFailed, "/credential")
		if _, err := actor.SetActive(t.Context(), i.DB, email, false); err != nil {
			t.Fatal(err)
		}
		newPage(t, i).enters(a).Refused(fault.Unauthenticated)
	})
}

// A ceremony has one answer, within five minutes, of whoever began it and for what it began.
func TestCeremonies(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		p, a := signedIn(t, i, email), newAuthenticator(t)
		p.registers(a, "x").Want(201)
		begun := func(path string) *apitest.Response { return p.call("POST", path, nil).Want(200) }
		answer := func(options *apitest.Response) *apitest.Response {
			return newPage(t, i).call("POST", "/auth/passkey", M{"ceremony": options.Text("data.ceremony"), "credential": a.signs(options)})
		}
		once := begun("/auth/passkey/options")
		answer(once).Want(204)
		answer(once).Refused(fault.Unauthenticated)
		failed := begun("/auth/passkey/options")
		a.flags = 0
		answer(failed).Refused(fault.Unauthenticated)
		a.flags = present
		answer(failed).Refused(fault.Unauthenticated)
		mixed := begun("/auth/passkey/options")
		mixed.Body = []byte(`{"data":{"ceremony":"` + begun("/auth/passkey/options").Text("data.ceremony") +
			`","publicKey":` + mixed.Value("data.publicKey") + `}}`)
		answer(mixed).Refused(fault.Unauthenticated)
		answer(begun("/auth/passkeys/options")).Refused(fault.Unauthenticated)
		fresh, eve := newAuthenticator(t), signedIn(t, i, "eve@example.com")
		for _, options := range []*apitest.Response{begun("/auth/passkey/options"), eve.call("POST", "/auth/passkeys/options", nil)} {
			p.call("POST", "/auth/passkeys", M{"ceremony": options.Text("data.ceremony"), "credential": func() M {
				if options.Text("data.publicKey.user.id") == "" {
					return M{"id": "x"}
				}
				return fresh.makes(options)
			}()}).Refused(fault.Unauthenticated)
		}

		soon, late := begun("/auth/passkey/options"), begun("/auth/passkey/options")
		moved(i, 5*time.Minute-time.Millisecond)
		answer(soon).Want(204)
		if n, err := signin.SweepCeremonies(t.Context(), i.DB, 10); err != nil || n != 0 {
			t.Errorf("%d were swept, %v", n, err)
		}
		moved(i, time.Millisecond)
		answer(late).Refused(fault.Unauthenticated)
		begun("/auth/passkeys/options")
		moved(i, 5*time.Minute)
		if n, err := signin.SweepCeremonies(t.Context(), i.DB, 10); err != nil || n != 2 { // and the one whose challenge another one got
			t.Errorf("%d were swept, %v", n, err)
		}
	})
}

// Public keys have at most 1,000 bytes: to verify with a very long one takes long.
func TestLongPublicKey(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		p, a, b := signedIn(t, i, email), newAuthenticator(t), newAuthenticator(t)
		a.keyBytes, b.keyBytes = 1000, 1001
		p.registers(a, "x").Want(201)
		newPage(t, i).enters(a).Want(204)
		p.registers(b, "y").Refused(fault.Unauthenticated)
	})
}

// An owner has 20 passkeys, and 10,000 ceremonies wait for their answers.
func TestBoundsOfPasskeys(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		p := signedIn(t, i, email)
		first := p.registers(newAuthenticator(t), "0").Want(201)
		for range 18 {
			p.registers(newAuthenticator(t), "x").Want(201)
		}
		options := p.call("POST", "/auth/passkeys/options", nil).Want(200)
		// As if another browser of the owner had been faster.
		if _, err := i.DB.Exec(t.Context(), `INSERT INTO passkey SELECT 'x', user_id, 'x', credential, name, created_at, used_at
			FROM passkey WHERE id = ?`, first.Text("data.id")); err != nil {
			t.Fatal(err)
		}
		p.call("POST", "/auth/passkeys/options", nil).Refused(fault.ResourceConflict)
		late := M{"ceremony": options.Text("data.ceremony"), "credential": newAuthenticator(t).makes(options)}
		p.call("POST", "/auth/passkeys", late).Refused(fault.ResourceConflict)
		p.call("DELETE", "/auth/passkeys/"+first.Text("data.id"), nil).Want(204)

		count := func() int64 {
			n, err := store.One(t.Context(), i.DB, store.Value[int64], "SELECT COUNT(*) FROM passkey_ceremony")
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		a := newAuthenticator(t)
		p.registers(a, "x").Want(201)
		if n := count(); n != 0 {
			t.Errorf("%d ceremonies are left", n)
		}
		if err := i.DB.InTx(t.Context(), func(tx *store.Tx) error {
			for n := range 9_999 {
				if err := tx.Send(t.Context(), "INSERT INTO passkey_ceremony (digest, challenge, expires_at) VALUES (?, '{}', ?)",
					actor.Digest(string(rune(n))+"x"), tx.Now.Add(time.Duration(n+1)*time.Millisecond)); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		newPage(t, i).enters(a).Want(204)
		p.call("POST", "/auth/passkey/options", nil).Want(200)
		if n := count(); n != 10_000 {
			t.Errorf("%d ceremonies wait", n)
		}
		newPage(t, i).enters(a).Want(204) // the oldest gave way
		if n := count(); n != 9_999 {
			t.Errorf("%d ceremonies wait", n)
		}
		// Strangers leave the passkeys alone that owners are making, of which each makes one at a time.
		p.call("DELETE", "/auth/passkeys/x", nil).Want(204)
		given := p.call("POST", "/auth/passkeys/options", nil).Want(200)
		made := p.call("POST", "/auth/passkeys/options", nil).Want(200)
		for range 3 {
			newPage(t, i).call("POST", "/auth/passkey/options", nil).Want(200)
		}
		if n := count(); n != 10_001 {
			t.Errorf("%d ceremonies wait", n)
		}
		other := newAuthenticator(t)
		p.call("POST", "/auth/passkeys", M{"ceremony": given.Text("data.ceremony"), "credential": other.makes(given)}).
			Refused(fault.Unauthenticated)
		p.call("POST", "/auth/passkeys", M{"ceremony": made.Text("data.ceremony"), "credential": other.makes(made)}).Want(201)
		if n, err := signin.RemovePasskeys(t.Context(), i.DB, strings.ToUpper(email)); n != 20 || err != nil {
			t.Errorf("%d passkeys removed, %v", n, err)
		}
		newPage(t, i).enters(a).Refused(fault.Unauthenticated)
	})
}

// Passkeys belong to a hostname. The machine itself is called localhost.
func TestPasskeysNeedAHostname(t *testing.T) {
	for address, id := range map[string]string{
		"http://localhost:8080": "localhost", "http://127.0.0.1:8080": "localhost", "http://[::1]:8080": "localhost",
		"https://192.0.2.1": "", "https://api.example.com:8443": "api.example.com",
	} {
		i := apitest.New(t, "sqlite", apitest.Options{APIURL: address})
		p := newPage(t, i)
		if id == "" {
			p.call("GET", "/auth/options", nil).Has("data.passkeys", "false")
			p.call("POST", "/auth/passkey/options", nil).Refused(fault.ResourceConflict)
			p.call("POST", "/auth/passkey", M{"ceremony": "x", "credential": M{}}).Refused(fault.ResourceConflict)
			continue
		}
		p.call("POST", "/auth/passkey/options", nil).Want(200).Has("data.publicKey.rpId", `"`+id+`"`)
	}
}
