package webhook_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/waymarkhq/waymark/internal/apitest"
	"github.com/waymarkhq/waymark/internal/outbound"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
)

type M = apitest.M

// receiver is a TLS server that answers for the hosts below example.com.
type receiver struct {
	server *httptest.Server
	mu     sync.Mutex
	got    []received
	// answer decides on the status; nil is 204.
	answer func(host string, r received) int
}

type received struct {
	host   string
	header http.Header
	body   string
	event  event
}

type event struct {
	ID, Type, SchemaVersion, AppID, OccurredAt string
	Test                                       bool
	Resource                                   struct{ ID, Revision string }
}

func newReceiver(t testing.TB) *receiver {
	r := &receiver{}
	r.server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		body, _ := io.ReadAll(request.Body)
		one := received{host: request.Host, header: request.Header, body: string(body)}
		if err := json.Unmarshal(body, &one.event, json.MatchCaseInsensitiveNames(true)); err != nil {
			t.Errorf("%s: %v", body, err)
		}
		r.mu.Lock()
		r.got = append(r.got, one)
		answer := r.answer
		r.mu.Unlock()
		status := 204
		if answer != nil {
			status = answer(one.host, one)
		}
		if status/100 == 3 {
			w.Header().Set("Location", "https://a.example.com/elsewhere")
		}
		w.WriteHeader(status)
	}))
	t.Cleanup(r.server.Close)
	return r
}

func (r *receiver) options() outbound.Options {
	ca := x509.NewCertPool()
	ca.AddCert(r.server.Certificate())
	at := netip.MustParseAddrPort(r.server.Listener.Addr().String())
	return outbound.Options{Allow: map[string]netip.AddrPort{"a.example.com": at, "b.example.com": at}, CA: ca}
}

// answers sets what the receiver answers from now on.
func (r *receiver) answers(f func(host string, r received) int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answer = f
}

func always(status int) func(string, received) int {
	return func(string, received) int { return status }
}

// take returns what arrived since the last time.
func (r *receiver) take() []received {
	r.mu.Lock()
	defer r.mu.Unlock()
	got := r.got
	r.got = nil
	return got
}

// each runs f on both engines with a receiver.
func each(t *testing.T, f func(t *testing.T, i *apitest.Installation, r *receiver)) {
	for _, engine := range storetest.Engines {
		t.Run(engine, func(t *testing.T) {
			r := newReceiver(t)
			f(t, apitest.New(t, engine, apitest.Options{Outbound: r.options()}), r)
		})
	}
}

const linkCreated, linkUpdated, linkDeleted = "link.created", "link.updated", "link.deleted"

var permissions = []string{"webhooks:create", "webhooks:read", "webhooks:update", "webhooks:delete",
	"webhooks:rotate_secret", "webhooks:test", "webhooks:retry"}

// registered is a destination of a test and its secret.
type registered struct {
	*testing.T
	c                *apitest.Client
	id, path, secret string
}

// register registers a destination with a key, whose expiry follows the clock
// of the test; a session's follows the machine's.
func register(t *testing.T, owner *apitest.Client, more M) *registered {
	t.Helper()
	return registerAs(t, owner.Key(permissions...), more)
}

func registerAs(t *testing.T, c *apitest.Client, more M) *registered {
	t.Helper()
	body := M{"appId": c.AppID, "url": "https://a.example.com/hook",
		"events": []string{linkCreated, linkUpdated, linkDeleted}}
	for name, value := range more {
		body[name] = value
	}
	r := c.Call("POST", "/webhooks", body).Want(201)
	id := r.Text("data.webhook.id")
	return &registered{T: t, c: c, id: id, path: "/webhooks/" + id, secret: r.Text("data.secret")}
}

func (w *registered) get() *apitest.Response {
	w.Helper()
	return w.c.Call("GET", w.path, nil).Want(200)
}

func (w *registered) patch(body M) *apitest.Response {
	w.Helper()
	return w.c.Call("PATCH", w.path, body, apitest.IfMatch(w.get().Revision())).Want(200)
}

// states returns the states of the deliveries, the oldest first.
func (w *registered) states() string {
	w.Helper()
	r := w.c.Call("GET", w.path+"/deliveries?limit=100", nil).Want(200)
	var states []string
	for n := r.Len("data") - 1; n >= 0; n-- {
		state := r.Text("data." + strconv.Itoa(n) + ".state")
		if code := r.Text("data." + strconv.Itoa(n) + ".error.code"); code != "" {
			state += ":" + code
		}
		states = append(states, state)
	}
	return strings.Join(states, " ")
}

// newest returns the newest delivery.
func (w *registered) newest() *apitest.Response {
	w.Helper()
	id := w.c.Call("GET", w.path+"/deliveries?limit=1", nil).Want(200).Text("data.0.id")
	return w.c.Call("GET", "/webhook-deliveries/"+id, nil).Want(200)
}

// wantStates fails the test unless the deliveries have these states.
func (w *registered) wantStates(want string) {
	w.Helper()
	if got := w.states(); got != want {
		w.Errorf("deliveries: %s, want %s", got, want)
	}
}

// signed reports which of the secrets signed what was received.
func (r received) signed(secrets ...string) string {
	parts := strings.Split(r.header.Get("Service-Signature"), ",")
	var by []string
	for _, part := range parts[1:] {
		for n, secret := range secrets {
			mac := hmac.New(sha256.New, []byte(secret))
			io.WriteString(mac, strings.TrimPrefix(parts[0], "t=")+"."+r.body)
			if part == "v1="+hex.EncodeToString(mac.Sum(nil)) {
				by = append(by, strconv.Itoa(n))
			}
		}
	}
	return strings.Join(by, " ")
}

func exec(t testing.TB, db *store.DB, query string, args ...any) {
	t.Helper()
	if _, err := db.Exec(t.Context(), query, args...); err != nil {
		t.Fatal(err)
	}
}

func count(t testing.TB, db *store.DB, query string, args ...any) int64 {
	t.Helper()
	n, err := store.One(t.Context(), db, store.Value[int64], query, args...)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
