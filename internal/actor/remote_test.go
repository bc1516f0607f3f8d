package actor

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-json-experiment/json"

	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
)

// remote is an OpenID Connect issuer in this process, for what a real one
// does not do on request; test/oidc runs a real one.
type remote struct {
	*httptest.Server
	mu         sync.Mutex
	keys       []jose.JSONWebKey
	algorithms []string
	scopes     any
	// methods are how a password may come to the issuer, nil where it does not tell. granted is what it answers to a
	// code, asked and password what came with the last one.
	methods  []string
	granted  map[string]any
	asked    url.Values
	password string
	keysDown bool
	fetched  int
}

func newRemote(t *testing.T) *remote {
	r := &remote{algorithms: []string{"EdDSA"}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		r.mu.Lock()
		defer r.mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		json.MarshalWrite(w, map[string]any{"issuer": r.URL, "jwks_uri": r.URL + "/keys", "token_endpoint": r.URL + "/token",
			"id_token_signing_alg_values_supported": r.algorithms, "scopes_supported": r.scopes,
			"token_endpoint_auth_methods_supported": r.methods})
	})
	mux.HandleFunc("POST /token", func(w http.ResponseWriter, q *http.Request) {
		r.mu.Lock()
		defer r.mu.Unlock()
		_, r.password, _ = q.BasicAuth()
		q.ParseForm()
		r.asked = q.PostForm
		w.Header().Set("Content-Type", "application/json")
		json.MarshalWrite(w, r.granted)
	})
	mux.HandleFunc("GET /keys", func(w http.ResponseWriter, _ *http.Request) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.fetched++
		if r.keysDown {
			http.Error(w, "down", http.StatusBadGateway)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		json.MarshalWrite(w, jose.JSONWebKeySet{Keys: r.keys})
	})
	r.Server = httptest.NewServer(mux)
	t.Cleanup(r.Close)
	return r
}

// add makes a key and returns what signs with it.
func (r *remote) add(t *testing.T, kid string) func(changes map[string]any) string {
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	r.set(func() {
		r.keys = append(r.keys, jose.JSONWebKey{Key: public, KeyID: kid, Algorithm: "EdDSA", Use: "sig"})
	})
	return func(changes map[string]any) string {
		all := claims(map[string]any{"iss": r.URL, "aud": "us"})
		for name, value := range changes {
			all[name] = value
		}
		return sign(t, jose.EdDSA, private, kid, all)
	}
}

func (r *remote) set(f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f()
}

// TestRemoteKeysAway: tokens of known keys go on; of others it is not known
// whether they are good.
func TestRemoteKeysAway(t *testing.T) {
	eachWorld(t, func(w *world) {
		r := newRemote(t)
		old := r.add(t, "old")
		r.set(func() { r.keysDown = true })
		w.auth = NewAuthenticator(w.db, Staging, RemoteIssuer(r.URL, "us", true))
		a, err := w.authenticate(old(nil))
		unavailable(t, "keys away at the start", a, err)
		r.set(func() { r.keysDown = false })
		w.acceptsSoon("keys there", old(nil))
		r.set(func() { r.keysDown = true })
		fresh := r.add(t, "fresh")
		w.accepts("known key, keys away", old(nil))
		a, err = w.authenticate(fresh(nil))
		unavailable(t, "new key, keys away", a, err)
		r.set(func() { r.keysDown = false })
		w.acceptsSoon("new key, keys there", fresh(nil))
		r.set(func() { r.keys = r.keys[1:] })
		w.accepts("a removed key that is still known", old(nil))
		newest := r.add(t, "newest")
		w.acceptsSoon("newest key", newest(nil))
		// go-oidc answers who waits for a fetch a moment before it keeps the keys.
		storetest.Eventually(t, "the removed key is forgotten", func() bool {
			_, err := w.authenticate(old(nil))
			return err != nil
		})
		w.refuses("a removed key after the next fetch", old(nil))
	})
}

// acceptsSoon is for the moment after a fetch of keys: who comes right
// after it may still be answered by it.
func (w *world) acceptsSoon(what, token string) {
	w.Helper()
	storetest.Eventually(w, what+" is accepted", func() bool {
		_, err := w.authenticate(token)
		return err == nil
	})
	w.accepts(what, token)
}

// TestRemoteAlgorithms: what an issuer announces does not weaken what is
// accepted.
func TestRemoteAlgorithms(t *testing.T) {
	eachWorld(t, func(w *world) {
		r := newRemote(t)
		r.algorithms = []string{"none", "HS256", "EdDSA"}
		good := r.add(t, "key")
		public := r.keys[0].Key.(ed25519.PublicKey)
		w.auth = NewAuthenticator(w.db, Staging, RemoteIssuer(r.URL, "us", true))
		w.accepts("good", good(nil))
		w.refuses("HS256 with the public key", sign(t, jose.HS256, []byte(public), "key",
			claims(map[string]any{"iss": r.URL, "aud": "us"})))
		part := strings.Split(good(nil), ".")
		w.refuses("none", base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none"}`))+"."+part[1]+".")
		w.refuses("token of the local issuer", w.token, otherIssuer)
	})
}

// TestRemoteDiscovery: an issuer that hangs keeps everyone waiting together
// and nobody longer than they want; one that comes back is used.
func TestRemoteDiscovery(t *testing.T) {
	eachWorld(t, func(w *world) {
		r := newRemote(t)
		good := r.add(t, "key")
		real := RemoteIssuer(r.URL, "us", true)
		calls, release := make(chan struct{}, 100), make(chan struct{})
		issuer := newIssuer(r.URL, "us", true, func(ctx context.Context) (*provider, error) {
			calls <- struct{}{}
			<-release
			return real.connect(ctx)
		})
		w.auth = NewAuthenticator(w.db, Staging, issuer)
		impatient, cancel := context.WithCancel(t.Context())
		cancel()
		if a, err := w.auth.Authenticate(impatient, "Bearer "+good(nil)); err == nil {
			t.Errorf("accepted without the issuer: %+v", a)
		}
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() { w.accepts("waited", good(nil)) })
		}
		<-calls
		close(release)
		all.Wait()
		if len(calls) > 0 {
			t.Errorf("%d more attempts to reach the issuer", len(calls))
		}

		for name, url := range map[string]string{"refused": "http://127.0.0.1:1", "another issuer": r.URL + "/"} {
			w.auth = NewAuthenticator(w.db, Staging, RemoteIssuer(url, "us", true))
			a, err := w.authenticate(good(map[string]any{"iss": url}))
			unavailable(t, name, a, err)
		}

		// What an issuer tells of itself may not be readable.
		r.set(func() { r.scopes = "openid" })
		w.auth = NewAuthenticator(w.db, Staging, RemoteIssuer(r.URL, "us", true))
		a, err := w.authenticate(good(map[string]any{"jti": "another"}))
		unavailable(t, "unreadable", a, err)
	})
}

func TestAutoProvision(t *testing.T) {
	eachWorld(t, func(w *world) {
		r := newRemote(t)
		mint := r.add(t, "key")
		w.auth = NewAuthenticator(w.db, Staging, RemoteIssuer(r.URL, "us", false))
		w.refuses("unknown, off", mint(map[string]any{"sub": "new"}))
		w.refuses("the local owner's subject at another issuer, off", mint(map[string]any{"sub": email}))
		if n := w.count("SELECT COUNT(*) FROM users"); n != 1 {
			t.Fatalf("%d owners", n)
		}
		w.auth = NewAuthenticator(w.db, Staging, RemoteIssuer(r.URL, "us", true))
		w.accepts("a session of another subject", mint(map[string]any{"sub": "other", "sid": "ended"}))
		w.ends("ended", 1)
		w.exec("UPDATE session SET user_id = NULL") // as those of earlier versions
		w.exec("DELETE FROM users WHERE issuer = ?", r.URL)
		w.refuses("revoked, owner unknown", mint(map[string]any{"sub": "new", "sid": "ended"}), endedSession)
		if n := w.count("SELECT COUNT(*) FROM users"); n != 1 {
			t.Fatalf("a revoked session made an owner")
		}
		owners := make([]*Actor, 8)
		var all sync.WaitGroup
		for i := range owners {
			all.Go(func() {
				owners[i] = w.accepts("new", mint(map[string]any{"sub": "new", "email": "new@example.com",
					"name": "Zoë"}))
			})
		}
		all.Wait()
		for _, a := range owners {
			if a.OwnerID != owners[0].OwnerID {
				t.Fatal("one subject, two owners")
			}
		}
		if a := w.accepts("same subject as the local owner", mint(map[string]any{"sub": email})); a.OwnerID == w.owner {
			t.Error("a subject of another issuer became the local owner")
		}
		long := strings.Repeat("ß", 100)
		for subject, c := range map[string]struct{ given, kept map[string]any }{
			"plain": {map[string]any{"email": "E@example.com", "name": "N"},
				map[string]any{"email": "e@example.com", "display_name": "N"}},
			"none": {nil, map[string]any{"email": "", "display_name": ""}},
			"NUL": {map[string]any{"email": "e\x00@example.com", "name": "a\x00b"},
				map[string]any{"email": "", "display_name": ""}},
			"no name": {map[string]any{"email": "e@example.com"},
				map[string]any{"email": "e@example.com", "display_name": "e@example.com"}},
			"no name, long address": {map[string]any{"email": strings.Repeat("e", 100) + "@example.com"},
				map[string]any{"display_name": ""}},
			"white space": {map[string]any{"name": " A\n  B\t"}, map[string]any{"display_name": "A B"}},
			"override": {map[string]any{"name": "A\u202eB", "email": "e@example.com"},
				map[string]any{"display_name": "e@example.com"}},
			"100 letters":            {map[string]any{"name": long}, map[string]any{"display_name": long}},
			"101 letters":            {map[string]any{"name": long + "ß"}, map[string]any{"display_name": ""}},
			strings.Repeat("s", 255): {nil, nil},
		} {
			changes := map[string]any{"sub": subject}
			for name, value := range c.given {
				changes[name] = value
			}
			a := w.accepts(subject, mint(changes))
			for column, want := range c.kept {
				got, err := store.One(t.Context(), w.db, store.Value[string],
					"SELECT COALESCE("+column+", '') FROM users WHERE id = ?", a.OwnerID)
				if err != nil || got != want {
					t.Errorf("%s: %s is %q, want %q (%v)", subject, column, got, want, err)
				}
			}
		}
		for name, subject := range map[string]string{"NUL": "a\x00b", "256 characters": strings.Repeat("s", 256),
			"line end": "a\nb"} {
			w.refuses("subject with "+name, mint(map[string]any{"sub": subject}))
		}
	})
}
