package actor

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"golang.org/x/oauth2"

	"github.com/waymarkhq/waymark/internal/fault"
)

// An issuer that refuses a code is told from one that is out of order, which the caller tries again.
func TestRefusedCode(t *testing.T) {
	answered := func(status int) error {
		return &oauth2.RetrieveError{Response: &http.Response{StatusCode: status}, ErrorCode: "invalid_grant"}
	}
	for _, test := range []struct {
		err  error
		want fault.Code
	}{
		{answered(400), fault.Unauthenticated}, {answered(499), fault.Unauthenticated},
		{answered(500), fault.Unavailable}, {answered(503), fault.Unavailable},
		{&oauth2.RetrieveError{}, fault.Unauthenticated},
		{errors.New("oauth2: server response missing access_token"), fault.Unauthenticated},
		{errors.New("connection refused"), fault.Unavailable},
	} {
		if refusal, ok := fault.From(refusedCode(test.err)); !ok || refusal.Code != test.want {
			t.Errorf("%v: %v, want %s", test.err, refusal, test.want)
		}
	}
}

// granted answers the code of an entry with an ID token.
func (r *remote) grants(idToken any) {
	r.set(func() { r.granted = map[string]any{"access_token": "a", "token_type": "Bearer", "id_token": idToken} })
}

// The dashboard is entered with a good ID token for this entry, and by nothing else that an issuer answers to a code.
func TestFinish(t *testing.T) {
	eachWorld(t, func(w *world) {
		r := newRemote(t)
		mint, e := r.add(t, "key"), NewEntry("https://here.example/auth/callback")
		token := func(changes map[string]any) string {
			all := map[string]any{"sub": "ann", "nonce": e.Nonce}
			for name, value := range changes {
				all[name] = value
			}
			return mint(all)
		}
		issuer := RemoteIssuer(r.URL, "us", true)
		finish := func(i *Issuer) (*Actor, error) {
			secret, err := i.Finish(t.Context(), w.db, e, "code", "Firefox")
			if err != nil {
				return nil, err
			}
			return w.auth.Browser(t.Context(), secret, true)
		}
		for name, bad := range map[string]any{
			"none": nil, "no text": 1, "empty": "", "no token": "x", "another nonce": token(map[string]any{"nonce": "x"}),
			"no nonce": token(map[string]any{"nonce": nil}), "sid of another type": token(map[string]any{"sid": 7}),
			"too long": token(map[string]any{"padding": strings.Repeat("x", 16<<10)}),
		} {
			r.grants(bad)
			a, err := finish(issuer)
			refused(t, name, a, err, invalidToken)
		}
		away := newRemote(t)
		away.Close()
		a, err := finish(RemoteIssuer(away.URL, "us", true))
		unavailable(t, "an issuer that is away", a, err)
		if n := w.count("SELECT COUNT(*) FROM users"); n != 1 {
			t.Errorf("%d owners", n)
		}
		r.grants(token(nil))
		if a, err := finish(issuer); err != nil || a.OwnerID != w.userID(r.URL, "ann") {
			t.Errorf("%+v, %v", a, err)
		}
	})
}

// An ID token has at most 16,384 bytes.
func TestLongestIDToken(t *testing.T) {
	eachWorld(t, func(w *world) {
		r := newRemote(t)
		e, lengths := NewEntry("https://here.example/auth/callback"), map[int]string{}
		for _, kid := range []string{"k", "kk", "kkk"} { // as no byte more of one part may be two bytes more of the token
			mint := r.add(t, kid)
			for n := 11_800; n < 12_200; n++ {
				token := mint(map[string]any{"sub": "ann", "nonce": e.Nonce, "padding": strings.Repeat("x", n)})
				lengths[len(token)] = token
			}
		}
		issuer := RemoteIssuer(r.URL, "us", true)
		for length, fits := range map[int]bool{16_384: true, 16_385: false} {
			if r.grants(lengths[length]); lengths[length] == "" {
				t.Fatalf("there is no token of %d bytes", length)
			}
			_, err := issuer.Finish(t.Context(), w.db, e, "code", "Firefox")
			if (err == nil) != fits {
				t.Errorf("a token of %d bytes: %v", length, err)
			}
		}
	})
}

// The password of an installation goes to the issuer in the header, or in the form where the issuer takes it there alone.
func TestPasswordAtTheIssuer(t *testing.T) {
	for name, test := range map[string]struct {
		methods []string
		inForm  bool
	}{
		"not told":    {nil, false},
		"none":        {[]string{}, false},
		"header":      {[]string{"client_secret_basic"}, false},
		"both":        {[]string{"client_secret_post", "client_secret_basic"}, false},
		"form":        {[]string{"client_secret_post"}, true},
		"not by text": {[]string{"private_key_jwt", "client_secret_post"}, true},
	} {
		r := newRemote(t)
		r.methods = test.methods
		issuer := RemoteIssuer(r.URL, "us", true)
		issuer.Secret = "secret"
		if _, err := issuer.Finish(t.Context(), nil, NewEntry(""), "code", "Firefox"); err == nil {
			t.Errorf("%s: entered without a token", name)
		}
		header, form := "secret", ""
		if test.inForm {
			header, form = form, header
		}
		if r.asked.Get("code") != "code" || r.password != header || r.asked.Get("client_secret") != form {
			t.Errorf("%s: %q in the header, the form is %v", name, r.password, r.asked)
		}
	}
}

// Problem names the cause of a failed sign-in in one word, which selects the page that explains it.
func TestProblem(t *testing.T) {
	for word, err := range map[string]error{
		"not_allowed": notAnOwner.refusal(), "disabled": disabledOwner.refusal(), "ended": endedSession.refusal(),
		"too_many": tooManySessions.because("owner x has 1000"), "used": unknownLink.refusal(),
		"unavailable": fault.New(fault.Unavailable, "The issuer is away."),
		"failed":      fault.New(fault.InvalidRequest, "The request is wrong."),
	} {
		if got := Problem(err); got != word {
			t.Errorf("%v is %q, want %q", err, got, word)
		}
	}
	for _, err := range []error{nil, errors.New("the disk failed"), invalidToken.refusal()} {
		if got := Problem(err); got != "failed" {
			t.Errorf("%v is %q", err, got)
		}
	}
}
