package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/waymarkhq/waymark/client"
)

// handler answers without a network, so that waiting takes no time in a bubble.
type handler func(*http.Request) (*http.Response, error)

func (h handler) RoundTrip(r *http.Request) (*http.Response, error) { return h(r) }

func answer(status int, body string, headers ...string) *http.Response {
	w := httptest.NewRecorder()
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	for i := 0; i < len(headers); i += 2 {
		w.Header().Set(headers[i], headers[i+1])
	}
	w.WriteHeader(status)
	io.WriteString(w, body)
	return w.Result()
}

func refused(status int, code string, headers ...string) *http.Response {
	return answer(status, `{"error":{"code":"`+code+`","message":"No.","requestId":"req_1","details":[{"path":"/slug","code":"taken","message":"is taken"}]}}`,
		headers...)
}

func with(h handler) *client.Client {
	return &client.Client{Server: "https://waymark.example", Token: "wm_live_secret", HTTP: &http.Client{Transport: h}}
}

// A mutation that got no answer, or was told to wait, is repeated with the same key and body.
func TestRepeatedWithTheSameKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var keys, bodies []string
		var at []time.Duration
		began := time.Now()
		c := with(func(r *http.Request) (*http.Response, error) {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				t.Error(err)
			}
			keys, bodies, at = append(keys, r.Header.Get("Idempotency-Key")), append(bodies, string(body)), append(at, time.Since(began))
			switch len(keys) {
			case 1:
				return nil, errors.New("connection reset by peer")
			case 2:
				return refused(503, "service_unavailable"), nil
			case 3:
				return refused(429, "rate_limited", "Retry-After", "3"), nil
			case 4:
				return refused(409, "operation_in_progress", "Retry-After", "1"), nil
			}
			return answer(201, `{"data":{"id":"1"},"meta":{"requestId":"req_2"}}`, "ETag", `"5f0a"`), nil
		})
		a, err := c.Do(t.Context(), client.Request{Method: "POST", Path: "/tags", Body: map[string]string{"name": "a"}})
		if err != nil {
			t.Fatal(err)
		}
		if len(keys) != 5 || len(slices.Compact(keys)) != 1 || keys[0] == "" || len(slices.Compact(bodies)) != 1 || bodies[0] != `{"name":"a"}` {
			t.Errorf("keys %q, bodies %q", keys, bodies)
		}
		if wait := at[3] - at[2]; wait < 3*time.Second || wait > 5*time.Second {
			t.Errorf("%s after Retry-After: 3", wait)
		}
		var made struct{ ID string }
		if err := a.Data(&made); err != nil || made.ID != "1" || a.Revision() != "5f0a" {
			t.Errorf("%v, %+v, revision %q", err, made, a.Revision())
		}
	})
}

// Each mutation has a key of its own, a given one stays, and reads have none.
func TestKeys(t *testing.T) {
	var keys []string
	c := with(func(r *http.Request) (*http.Response, error) {
		keys = append(keys, r.Header.Get("Idempotency-Key"))
		return answer(200, `{"data":{}}`), nil
	})
	for _, r := range []client.Request{{Method: "POST", Path: "/a"}, {Method: "POST", Path: "/a"}, {Method: "DELETE", Path: "/a", Key: "k"}, {Method: "GET", Path: "/a"}} {
		if _, err := c.Do(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	if keys[0] == "" || keys[0] == keys[1] || keys[2] != "k" || keys[3] != "" {
		t.Errorf("keys %q", keys)
	}
}

// Where the server failed, nobody knows whether a mutation happened: its key is told. Of a refusal it is known.
func TestRepeatKey(t *testing.T) {
	for status, unknown := range map[int]bool{302: false, 409: false, 499: false, 500: true, 502: true, 503: true, 504: true} {
		c := with(func(*http.Request) (*http.Response, error) { return refused(status, "some_code"), nil })
		c.Patience = -1
		for method, want := range map[string]string{"GET": "", "POST": map[bool]string{true: "k"}[unknown]} {
			r := client.Request{Method: method, Path: "/tags"}
			if method != "GET" {
				r.Key = "k"
			}
			if _, err := c.Do(t.Context(), r); err == nil || client.RepeatKey(err) != want {
				t.Errorf("%s, %d: %v, key %q", method, status, err, client.RepeatKey(err))
			}
		}
	}
	c := with(func(*http.Request) (*http.Response, error) { return nil, errors.New("cut off") })
	c.Patience = -1
	if _, err := c.Do(t.Context(), client.Request{Method: "POST", Path: "/tags", Key: "k"}); client.RepeatKey(err) != "k" {
		t.Errorf("without an answer: %v", err)
	}
	if client.RepeatKey(nil)+client.RepeatKey(errors.New("x")) != "" {
		t.Error("a key of nothing")
	}
}

// The revision of an answer is what a change names, also where a proxy compressed the answer.
func TestRevision(t *testing.T) {
	for tag, want := range map[string]string{"": "", `"5f0a"`: "5f0a", `W/"5f0a"`: "5f0a"} {
		if got := (&client.Answer{Header: http.Header{"Etag": {tag}}}).Revision(); got != want {
			t.Errorf("%s: %q", tag, got)
		}
	}
}

// What would be refused again is not repeated.
func TestRefusals(t *testing.T) {
	for _, status := range []int{400, 401, 403, 404, 409, 412, 422, 500} {
		calls := 0
		c := with(func(*http.Request) (*http.Response, error) {
			calls++
			return refused(status, "some_code"), nil
		})
		_, err := c.Do(t.Context(), client.Request{Method: "GET", Path: "/me"})
		var e *client.Error
		if !errors.As(err, &e) || e.Status != status || e.Code != "some_code" || e.RequestID != "req_1" || e.Details[0].Path != "/slug" || calls != 1 {
			t.Errorf("%d: %v after %d calls", status, err, calls)
		}
	}
}

// Patience ends: at its bound, not before, and at once where the server asks for more.
func TestPatience(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		c := with(func(*http.Request) (*http.Response, error) {
			calls++
			return nil, errors.New("connection refused")
		})
		began := time.Now()
		_, err := c.Do(t.Context(), client.Request{Method: "POST", Path: "/tags", Key: "k"})
		var lost *client.LostError
		if took := time.Since(began); !errors.As(err, &lost) || lost.Key != "k" || calls < 4 || took > 10*time.Second || took < 3*time.Second {
			t.Errorf("%v, %d calls in %s", err, calls, took)
		}
		calls, began = 0, time.Now()
		c = with(func(*http.Request) (*http.Response, error) {
			calls++
			return refused(429, "rate_limited", "Retry-After", "11"), nil
		})
		if _, err := c.Do(t.Context(), client.Request{Method: "GET", Path: "/me"}); err == nil || calls != 1 || time.Since(began) != 0 {
			t.Errorf("%v, %d calls in %s", err, calls, time.Since(began))
		}
		calls, c.Patience = 0, -1
		if _, err := c.Do(t.Context(), client.Request{Method: "GET", Path: "/me"}); err == nil || calls != 1 {
			t.Errorf("without patience: %v, %d calls", err, calls)
		}
	})
}

// A caller who leaves does not wait.
func TestCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		c := with(func(*http.Request) (*http.Response, error) {
			return refused(429, "rate_limited", "Retry-After", "5"), nil
		})
		began := time.Now()
		_, err := c.Do(ctx, client.Request{Method: "GET", Path: "/me"})
		var e *client.Error
		if !errors.Is(err, context.DeadlineExceeded) || !errors.As(err, &e) || time.Since(began) != time.Second {
			t.Errorf("%v after %s", err, time.Since(began))
		}
	})
}

// A redirect is not followed: it could take the credential to another host.
func TestRedirect(t *testing.T) {
	called := false
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { called = true }))
	defer other.Close()
	server := httptest.NewServer(http.RedirectHandler(other.URL+"/v1/me", http.StatusPermanentRedirect))
	defer server.Close()
	c := &client.Client{Server: server.URL, Token: "x"}
	err := c.Get(t.Context(), "/me", nil, nil)
	if want := fmt.Sprintf("%s/v1/me redirects to %s/v1/me: give that server instead", server.URL, other.URL); err == nil || err.Error() != want || called {
		t.Errorf("%v, want %s; the other host was called: %t", err, want, called)
	}
}

// What is not from Waymark says so, and an address that is none is refused before a call.
func TestStrangers(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	err := (&client.Client{Server: server.URL}).Get(t.Context(), "/me", nil, nil)
	if want := server.URL + "/v1/me answers 404 Not Found, which is no answer of Waymark"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	for _, address := range []string{"", "waymark.example", "ftp://waymark.example", "https://user:secret@waymark.example", "https://waymark.example?x=1"} {
		if err := (&client.Client{Server: address}).Get(t.Context(), "/me", nil, nil); err == nil {
			t.Errorf("%q was called", address)
		}
	}
	// A credential that cannot be sent is refused before a call, and not shown.
	err = (&client.Client{Server: server.URL, Token: "wm_sec\x01ret"}).Get(t.Context(), "/me", nil, nil)
	if err == nil || !strings.Contains(err.Error(), "the credential has control characters") || strings.Contains(err.Error(), "wm_sec") {
		t.Errorf("a credential with a control character: %v", err)
	}
	// A server without TLS stays one, so the call is not repeated.
	waited := false
	err = (&client.Client{Server: strings.Replace(server.URL, "http:", "https:", 1), Waiting: func(time.Duration, error) { waited = true }}).
		Get(t.Context(), "/me", nil, nil)
	if !errors.Is(err, http.ErrSchemeMismatch) || waited {
		t.Errorf("https at a server without TLS: %v, repeated: %t", err, waited)
	}
	// The address may name the API.
	var target string
	c := with(func(r *http.Request) (*http.Response, error) {
		target = r.URL.String()
		return answer(200, `{"data":{}}`), nil
	})
	for _, c.Server = range []string{"https://waymark.example/", "https://waymark.example/v1", "https://waymark.example/v1/"} {
		if err := c.Get(t.Context(), "/me", url.Values{"a": {"b c"}}, nil); err != nil || target != "https://waymark.example/v1/me?a=b+c" {
			t.Errorf("%s: %s, %v", c.Server, target, err)
		}
	}
}

// Pages follows the cursor to the last page, and keeps the filters.
func TestPages(t *testing.T) {
	var queries []string
	c := with(func(r *http.Request) (*http.Response, error) {
		queries = append(queries, r.URL.RawQuery)
		if len(queries) == 3 {
			return answer(200, `{"data":[5],"pagination":{"hasMore":false,"nextCursor":null}}`), nil
		}
		return answer(200, fmt.Sprintf(`{"data":[1,2],"pagination":{"hasMore":true,"nextCursor":"c%d"}}`, len(queries))), nil
	})
	query := url.Values{"appId": {"a"}}
	var rows []int
	for a, err := range c.Pages(t.Context(), client.Request{Method: "GET", Path: "/links", Query: query}) {
		if err != nil {
			t.Fatal(err)
		}
		var page []int
		if err := a.Data(&page); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, page...)
	}
	if !slices.Equal(rows, []int{1, 2, 1, 2, 5}) || !slices.Equal(queries, []string{"appId=a", "appId=a&cursor=c1", "appId=a&cursor=c2"}) || len(query) != 1 {
		t.Errorf("rows %v, queries %q", rows, queries)
	}
	queries = nil
	for range c.Pages(t.Context(), client.Request{Method: "GET", Path: "/links"}) {
		break
	}
	if len(queries) != 1 {
		t.Errorf("read on after the caller had enough: %q", queries)
	}
}

// The same upload makes the same body.
func TestUpload(t *testing.T) {
	var bodies, types []string
	c := with(func(r *http.Request) (*http.Response, error) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		bodies, types = append(bodies, string(body)), append(types, r.Header.Get("Content-Type"))
		return answer(201, `{"data":{}}`), nil
	})
	f := &client.File{Name: "a.png", Type: "image/png", Bytes: []byte("PNG"), Fields: map[string]string{"appId": "app_1", "z": "y"}}
	for range 2 {
		if _, err := c.Do(t.Context(), client.Request{Method: "POST", Path: "/assets", File: f}); err != nil {
			t.Fatal(err)
		}
	}
	if bodies[0] != bodies[1] || types[0] != types[1] {
		t.Errorf("%q and %q", bodies, types)
	}
	r := httptest.NewRequest("POST", "/", strings.NewReader(bodies[0]))
	r.Header.Set("Content-Type", types[0])
	file, header, err := r.FormFile("file")
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(file)
	if err != nil || string(content) != "PNG" || header.Filename != "a.png" || header.Header.Get("Content-Type") != "image/png" || r.FormValue("appId") != "app_1" {
		t.Errorf("%v: %q as %v, of %q", err, content, header, r.FormValue("appId"))
	}
}

func ExamplePath() {
	fmt.Println(client.Path("/links/{linkId}/tags", "go.example.com:0198/1"))
	fmt.Println(client.Path("/domains/{domainId}/dns-records/{recordId}", "a", "b c"))
	// Output:
	// /links/go.example.com:0198%2F1/tags
	// /domains/a/dns-records/b%20c
}

func ExampleClient_Do() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		json.NewEncoder(w).Encode(map[string]any{"data": map[string]string{"url": "https://go.example.com/spring"}})
	}))
	defer server.Close()
	c := &client.Client{Server: server.URL, Token: "an API key"}
	a, err := c.Do(context.Background(), client.Request{Method: "POST", Path: "/links", Body: map[string]any{
		"appId": "app_01k6fq4w8m3x7c9v2n5b1t0rzy", "domain": "go.example.com", "slug": "spring", "desktopUrl": "https://shop.example.com/spring",
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	var link struct{ URL string }
	if err := a.Data(&link); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(link.URL)
	// Output: https://go.example.com/spring
}
