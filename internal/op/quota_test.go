package op_test

import (
	"encoding/base64"
	"errors"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/waymarkhq/waymark/internal/actor"
	"github.com/waymarkhq/waymark/internal/apitest"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/store"
)

// Of 500 parallel writes exactly 120 are admitted in a window, and each refusal
// names the window.
func TestWriteWindowIsExact(t *testing.T) {
	apitest.EachWith(t, apitest.Options{LimitScale: 1}, func(t *testing.T, i *apitest.Installation) {
		owner := i.Owner(t, "ann@example.com")
		var admitted, refused atomic.Int64
		var wg sync.WaitGroup
		for range 25 {
			wg.Go(func() {
				for range 20 {
					r := owner.Call("POST", "/apps", M{"name": "App"})
					if r.Status == 201 {
						admitted.Add(1)
						continue
					}
					r.Refused(fault.RateLimited)
					refused.Add(1)
					if got := r.Header.Get("X-RateLimit-Policy"); got != `120;w=60;name="write";by="credential"` {
						t.Errorf("policy %s", got)
					}
					if after, err := strconv.Atoi(r.Header.Get("Retry-After")); err != nil || after < 1 || after > 60 {
						t.Errorf("Retry-After %q", r.Header.Get("Retry-After"))
					}
				}
			})
		}
		wg.Wait()
		if admitted.Load() != 120 || refused.Load() != 380 {
			t.Errorf("%d admitted, %d refused; want 120 and 380", admitted.Load(), refused.Load())
		}
		if n := owner.Call("GET", "/audit-events?operation=createApps&limit=100", nil).
			Want(200); n.Len("data") != 100 || n.Value("pagination.hasMore") != "true" {
			t.Errorf("audit: %d rows", n.Len("data"))
		}
		// The next window admits again; another session of the account shares
		// the account's window only.
		i.Clock.Move(time.Minute)
		owner.Call("POST", "/apps", M{"name": "App"}).Want(201)
	})
}

func TestWhatCounts(t *testing.T) {
	apitest.EachWith(t, apitest.Options{LimitScale: 1}, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		used := func(path string) string {
			return owner.Call("GET", "/apps/"+owner.AppID+"/usage", nil).Want(200).Value("data." + path)
		}
		before := used("usage.write.used")
		body := M{"appId": owner.AppID, "domain": owner.Host, "slug": "a"}
		key := apitest.Idempotent(apitest.NewKey())
		owner.Call("POST", "/links", body, key).Want(201)
		owner.Call("POST", "/links", body, key).Want(201)                          // a replay
		owner.Call("POST", "/links", M{"nope": 1}).Refused(fault.ValidationFailed) // a refused body
		owner.Call("POST", "/links", body).Refused(fault.ResourceConflict)         // admitted, then refused by a rule
		want := func(what, after string, more int) {
			t.Helper()
			b, _ := strconv.Atoi(before)
			if a, _ := strconv.Atoi(after); a != b+more {
				t.Errorf("%s went from %s to %s, want %d more", what, before, after, more)
			}
		}
		want("credential's writes", used("usage.write.used"), 2)
		before = "2" // of createDomains, which named the app, and none other before
		if got := used("sharedUsage.app.write.used"); got != "3" {
			t.Errorf("app's writes: %s, want createDomains and two of createLinks", got)
		}
		// Another key shares the app's and the account's windows, not the
		// credential's.
		k := owner.Key("links:create", "usage:read")
		r := k.Call("GET", "/apps/"+k.AppID+"/usage", nil).Want(200).Has("data.usage.write.used", "0").
			Has("data.sharedUsage.app.write.used", "3").
			// createDomains, two of createLinks and four questions: all but the
			// refused body and the replay.
			Has("data.sharedUsage.app.entry.used", "7").Has("data.sharedLimits.app.entry.limit", "1200").
			Has("data.limits.write.limit", "120").Has("data.sharedLimits.account.write.limit", "240").
			Has("data.limits.entry.windowSeconds", "60")
		if r.Header.Get("X-RateLimit-Limit") == "" || r.Header.Get("X-RateLimit-Remaining") == "" ||
			r.Header.Get("X-RateLimit-Reset") == "" {
			t.Errorf("headers: %v", r.Header)
		}
		// A foreign app's window is not touched by those who may not see it.
		eve := i.Owner(t, "eve@example.com")
		for range 5 {
			eve.Call("POST", "/links", body).Refused(fault.NotFound)
		}
		if got := used("sharedUsage.app.write.used"); got != "3" {
			t.Errorf("app's writes after a stranger's: %s", got)
		}
	})
}

// The limits are those of the contract.
func TestLimits(t *testing.T) {
	i := apitest.New(t, "sqlite", apitest.Options{LimitScale: 1})
	owner := i.Prepared(t, "ann@example.com")
	told := owner.Call("GET", "/apps/"+owner.AppID+"/usage", nil).Want(200)
	for path, want := range map[string]string{
		"limits.entry": "1200", "limits.read": "600", "limits.write": "120",
		"sharedLimits.account.entry": "2400", "sharedLimits.account.read": "1200", "sharedLimits.account.write": "240",
		"sharedLimits.app.entry": "1200", "sharedLimits.app.read": "600", "sharedLimits.app.write": "120",
		"sharedLimits.app.linkCreatePerMinute": "60", "sharedLimits.app.uploadPerMinute": "20",
	} {
		told.Has("data."+path, `{"limit":`+want+`,"windowSeconds":60}`)
	}
	told.Has("data.sharedLimits.app.linkCreatePerHour", `{"limit":3000,"windowSeconds":3600}`)
}

// Calls without a valid credential are bounded by their address; those with
// one are not.
func TestAddressWindow(t *testing.T) {
	i := apitest.New(t, "sqlite", apitest.Options{LimitScale: 1})
	owner := i.Owner(t, "ann@example.com")
	anonymous := i.Client(t, "")
	for n := range 300 {
		if n%2 == 0 {
			anonymous.Call("GET", "/me", nil).Refused(fault.Unauthenticated)
		} else {
			anonymous.Call("GET", "/nowhere", nil).Refused(fault.NotFound)
		}
	}
	r := anonymous.Call("GET", "/me", nil).Refused(fault.RateLimited)
	if got := r.Header.Get("X-RateLimit-Policy"); got != `300;w=60;name="address";by="address"` {
		t.Errorf("policy %s", got)
	}
	anonymous.Call("GET", "/nowhere", nil).Refused(fault.RateLimited)
	// The headers of who is served tell of its own windows.
	served := owner.Call("GET", "/me", nil).Want(200)
	if got := served.Header.Get("X-RateLimit-Policy"); got != `600;w=60;name="read";by="credential"` {
		t.Errorf("policy of a served call %s", got)
	}
	i.Clock.Move(time.Minute)
	anonymous.Call("GET", "/me", nil).Refused(fault.Unauthenticated)
}

// A session that a remote issuer has to be asked about is refused unseen when its address had too many refusals.
func TestFullAddressAsksNoIssuer(t *testing.T) {
	var asked atomic.Int64
	issuer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.WriteHeader(http.StatusBadGateway)
	}))
	defer issuer.Close()
	i := apitest.New(t, "sqlite", apitest.Options{LimitScale: 0.01, Issuer: actor.RemoteIssuer(issuer.URL, "waymark", true)})
	part := base64.RawURLEncoding.EncodeToString
	session := i.Client(t, part([]byte(`{"alg":"EdDSA"}`))+"."+part([]byte(`{"iss":"`+issuer.URL+`"}`))+"."+part([]byte("x")))
	for range 3 {
		i.Client(t, "").Call("GET", "/me", nil).Refused(fault.Unauthenticated)
	}
	if r := session.Call("GET", "/me", nil).Refused(fault.RateLimited); asked.Load() != 0 {
		t.Errorf("the issuer was asked; %s", r.Body)
	}
	i.Clock.Move(time.Minute)
	if r := session.Call("GET", "/me", nil).Refused(fault.Unavailable); asked.Load() == 0 {
		t.Errorf("the issuer was not asked; %s", r.Body)
	}
}

// A call that cannot be counted fails, and does nothing.
func TestCallThatIsNotCounted(t *testing.T) {
	i := apitest.New(t, "postgres", apitest.Options{}) // where the database counts
	owner := i.Prepared(t, "ann@example.com")
	notCounted := func(nth int) apitest.With {
		return func(r *http.Request) {
			*r = *r.WithContext(store.WithFaults(r.Context(), func(query string) error {
				if strings.HasPrefix(query, "INSERT INTO rate_window") {
					if nth--; nth == 0 {
						return errors.New("the statement was made to fail")
					}
				}
				return nil
			}))
		}
	}
	for nth := range 2 { // the window of entries, and those of the call
		owner.Call("GET", "/tags?appId="+owner.AppID, nil, notCounted(nth+1)).Refused(fault.Internal)
		owner.Call("POST", "/tags", M{"appId": owner.AppID, "name": "t"}, notCounted(nth+1)).Refused(fault.Internal)
	}
	if n := owner.Call("GET", "/tags?appId="+owner.AppID, nil).Want(200).Len("data"); n != 0 {
		t.Errorf("%d tags", n)
	}
}

// Calls of people that are no operations of the contract count as reads or writes of the credential and of the account.
func TestCallsThatAreNoOperations(t *testing.T) {
	apitest.EachWith(t, apitest.Options{LimitScale: 0.05}, func(t *testing.T, i *apitest.Installation) {
		owner := i.Owner(t, "ann@example.com")
		read := func() *apitest.Response { return owner.Call("GET", "/auth/sessions", nil) }
		write := func() *apitest.Response { return owner.Call("DELETE", "/auth/sessions/none", nil) }
		refused := func(r *apitest.Response, policy string) {
			t.Helper()
			if got := r.Refused(fault.RateLimited).Header.Get("X-RateLimit-Policy"); got != policy {
				t.Errorf("the policy is %s, want %s", got, policy)
			}
		}
		for range 29 {
			read().Want(200)
		}
		owner.Call("HEAD", "/auth/sessions", nil).Want(200)
		refused(read(), `30;w=60;name="read";by="credential"`)
		for range 6 {
			write().Refused(fault.NotFound)
		}
		refused(write(), `6;w=60;name="write";by="credential"`)
		for range 60 - 30 - 6 { // they are entries as well
			owner.Call("GET", "/me", nil).Refused(fault.RateLimited)
		}
		refused(owner.Call("GET", "/me", nil), `60;w=60;name="entry";by="credential"`)
		refused(write(), `60;w=60;name="entry";by="credential"`)
		owner = i.Owner(t, "ann@example.com") // another session of the account
		for range 30 {
			read().Want(200)
		}
		for range 6 {
			write().Refused(fault.NotFound)
		}
		owner = i.Owner(t, "ann@example.com")
		refused(read(), `60;w=60;name="read";by="account"`)
		refused(write(), `12;w=60;name="write";by="account"`)
	})
}
