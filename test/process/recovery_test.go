package process_test

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
)

const android = "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Mobile " +
	"Safari/537.36"

// service sends a request below /_service/ and returns what came back.
func (s *server) service(method, path, body string) (a answer, err error) {
	request, err := http.NewRequest(method, "http://"+s.public+"/_service/"+path, strings.NewReader(body))
	if err != nil {
		return a, err
	}
	request.Host = hostname
	request.Header.Set("User-Agent", android)
	request.Header.Set("Content-Type", "application/json")
	client := &http.Client{Timeout: patience, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}
	response, err := client.Do(request)
	if err != nil {
		return a, err
	}
	defer response.Body.Close()
	a.status, a.header = response.StatusCode, response.Header
	a.body, err = io.ReadAll(response.Body)
	return a, err
}

// recoveryToken wants the app of a link and returns the token.
func (s *server) recoveryToken(slug string) (token string, err error) {
	a, err := s.service("GET", "install/"+slug, "")
	if err != nil {
		return "", err
	}
	location, err := url.Parse(a.header.Get("Location"))
	if err != nil {
		return "", err
	}
	referrer, err := url.ParseQuery(location.Query().Get("referrer"))
	if token = referrer.Get("waymark_token"); err != nil || token == "" {
		return "", fmt.Errorf("%v has no token: %v", a, err)
	}
	return token, nil
}

// recover sends a token and reports whether it told a link.
func (s *server) recover(token string) (matched bool, status int, err error) {
	a, err := s.service("POST", "recover", `{"token":"`+token+`"}`)
	return strings.Contains(string(a.body), `"matched":true`), a.status, err
}

// A token works once on two processes, and waits for a database that is away.
func TestRecovery(t *testing.T) {
	t.Parallel()
	g, database := behindGate(t, addressOf(t, "postgres"))
	processes := []*server{serve(t, t.TempDir(), database), serve(t, t.TempDir(), database)}
	o := newOwner(t, processes[0].client(processes[0].token("owner@example.com")))
	domain := dataOf[[]struct{ ID string }](t, o.must(t, 200, intent{method: "GET", path: "/domains?appId=" + o.app}))[0]
	path := "/domains/" + domain.ID + "/recovery-config"
	config := dataOf[struct{ Revision string }](t, o.must(t, 200, intent{method: "GET", path: path}))
	o.must(t, 200, intent{method: "PUT", path: path, ifMatch: config.Revision, body: map[string]any{"enabled": true}})
	creation := o.creation("app", "app-0")
	creation.body.(map[string]any)["playStoreUrl"] = "https://play.google.com/store/apps/details?id=com.example"
	o.must(t, 201, creation)
	for _, s := range processes {
		s.eventually("the link gives tokens", func() error {
			_, err := s.recoveryToken("app")
			return err
		})
	}
	// times sends a token many times at once and returns how often it matched. Right after
	// an outage some connections to the database are still broken: away admits that.
	times := func(token string, away bool) (n int) {
		var mu sync.Mutex
		var wg sync.WaitGroup
		for i := range 24 {
			wg.Go(func() {
				matched, status, err := processes[i%2].recover(token)
				if err != nil || status != 200 && !(away && status == 503) {
					t.Errorf("recover: %d, %v", status, err)
				}
				mu.Lock()
				defer mu.Unlock()
				if matched {
					n++
				}
			})
		}
		wg.Wait()
		return n
	}
	for i := range 20 {
		token, err := processes[i%2].recoveryToken("app")
		if err != nil {
			t.Fatal(err)
		}
		if n := times(token, false); n != 1 {
			t.Fatalf("token %d matched %d times", i, n)
		}
	}

	g.shut()
	token, err := processes[0].recoveryToken("app")
	if err != nil {
		t.Fatalf("while the database is away: %v", err)
	}
	for _, s := range processes {
		if matched, status, err := s.recover(token); matched || status != 503 || err != nil {
			t.Errorf("recover while the database is away: %v, %d, %v", matched, status, err)
		}
	}
	g.open()
	processes[1].eventually("the token works", func() error {
		if matched, status, err := processes[1].recover(token); !matched {
			return fmt.Errorf("status %d, %v", status, err)
		}
		return nil
	})
	if n := times(token, true); n != 0 {
		t.Errorf("the token matched %d times more", n)
	}
	processes[0].terminate()
	processes[1].terminate()
}
