package proxies_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
)

// Behind nginx, which keeps its connections, two servers are restarted in turn under load, and no
// call fails.
func TestRestarts(t *testing.T) {
	binary := build(t)
	type installed struct {
		*waymark
		data string
	}
	var servers []*installed
	for range 2 {
		data := filepath.Join(t.TempDir(), "data")
		s := &installed{startAt(t, binary, data, freePort(t)), data}
		s.site(t, "nginx")
		servers = append(servers, s)
	}
	nginx := recipes[0]
	// A server that is away is asked again at once.
	_, secure := nginx.run(t, servers[0].public+" max_fails=0; server "+servers[1].public+" max_fails=0")
	client := visitor(t, "127.0.0.1", secure)
	const url = "https://nginx.localhost/hello"
	eventually(t, "nginx is ready", func() error {
		answer, err := client.Get(url)
		if err == nil {
			answer.Body.Close()
		}
		return err
	})

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var calls, failed atomic.Int64
	var load sync.WaitGroup
	for i := range 6 {
		// nginx sends no POST again that may have reached a server.
		method, want := "GET", 302
		if i%2 == 0 {
			method, want = "POST", 405
		}
		load.Go(func() {
			for ctx.Err() == nil {
				r, err := http.NewRequest(method, url, strings.NewReader(""))
				if err != nil {
					t.Error(err)
					return
				}
				r.Header.Set("User-Agent", browser)
				answer, err := client.Do(r)
				calls.Add(1)
				if err == nil {
					_, err = io.Copy(io.Discard, answer.Body)
					answer.Body.Close()
				}
				if err == nil && answer.StatusCode != want {
					err = fmt.Errorf("%d", answer.StatusCode)
				}
				if err != nil {
					failed.Add(1)
					t.Logf("%s: %v", method, err)
				}
			}
		})
	}
	for range 2 {
		for _, s := range servers {
			s.process.Signal(syscall.SIGTERM)
			if state, err := s.process.Wait(); err != nil || state.ExitCode() != 0 {
				t.Fatalf("%v, %v", state, err)
			}
			s.waymark = startAt(t, binary, s.data, s.public)
		}
	}
	cancel()
	load.Wait()
	if failed.Load() > 0 || calls.Load() < 100 {
		t.Errorf("%d of %d calls failed", failed.Load(), calls.Load())
	}
}
