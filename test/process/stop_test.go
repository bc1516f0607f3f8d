package process_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// clicksGone requires that an ended process left no clicks behind.
func clicksGone(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join(dir, "clicks"), func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			t.Errorf("%s is left after an orderly end", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// halfSent is a call whose body the server waits for.
type halfSent struct {
	conn   net.Conn
	reader *bufio.Reader
	rest   []byte
}

// startHalf sends the head of a call and waits until its handler asks for the
// body, so that the call is certainly under way.
func (o *owner) startHalf(t *testing.T, address string, i intent) *halfSent {
	t.Helper()
	body, err := json.Marshal(i.body)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	conn.SetDeadline(time.Now().Add(patience))
	h := &halfSent{conn: conn, reader: bufio.NewReader(conn), rest: body}
	fmt.Fprintf(conn, "%s /v1%s HTTP/1.1\r\nHost: api\r\nAuthorization: Bearer %s\r\nContent-Type: "+
		"application/json\r\nIdempotency-Key: %s\r\nContent-Length: %d\r\nExpect: 100-continue\r\n\r\n",
		i.method, i.path, o.token, i.key, len(body))
	line, err := h.reader.ReadString('\n')
	if err != nil || !strings.HasPrefix(line, "HTTP/1.1 100 ") {
		t.Fatalf("the server answered %q, %v; want 100 Continue", line, err)
	}
	h.reader.ReadString('\n')
	return h
}

// complete sends the rest and returns the status.
func (h *halfSent) complete(t *testing.T) int {
	t.Helper()
	if _, err := h.conn.Write(h.rest); err != nil {
		t.Error(err)
		return 0
	}
	response, err := http.ReadResponse(h.reader, nil)
	if err != nil {
		t.Errorf("a call under way was not answered: %v", err)
		return 0
	}
	defer response.Body.Close()
	return response.StatusCode
}

// SIGTERM under load: calls under way are answered, the process ends in order,
// and nothing answered is lost.
func TestTerminate(t *testing.T) {
	each(t, func(t *testing.T, database string) {
		rounds := 1
		if soak {
			rounds = 15
		}
		dir := t.TempDir()
		s := serve(t, dir, database)
		l := newLoad(t, s)
		for round := range rounds {
			var wg sync.WaitGroup
			ctx, cancel := context.WithTimeout(context.Background(), patience)
			l.ending.Store(false)
			l.writers(ctx, round, 4, &wg)
			l.visitors(ctx, s, 3, &wg)
			var half []*halfSent
			var late []*tracked
			for i := range 5 {
				k := &tracked{slug: fmt.Sprintf("late-%d-%d", round, i)}
				creation := l.owner.creation(k.slug, k.slug+"-0")
				k.pending, k.pendingVersion = &creation, k.slug+"-0"
				half, late = append(half, l.owner.startHalf(t, s.api, creation)), append(late, k)
			}
			time.Sleep(500 * time.Millisecond)
			l.ending.Store(true)
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				s.terminate()
			}()
			eventually(t, "new connections are refused", func() error {
				conn, err := net.Dial("tcp", s.api)
				if err == nil {
					conn.Close()
					return fmt.Errorf("%s still accepts", s.api)
				}
				return nil
			})
			for _, h := range half {
				if status := h.complete(t); status != 201 {
					t.Errorf("a call that was under way at SIGTERM was answered %d, want 201", status)
				}
			}
			<-ended
			wg.Wait()
			cancel()
			clicksGone(t, dir)
			s = serve(t, dir, database)
			l.owner.client = s.client(l.owner.token)
			for _, k := range late {
				a := l.owner.must(t, 201, *k.pending)
				if !a.replayed() {
					t.Errorf("%s was answered and is not there", k.slug)
				}
				l.acknowledge(k, a)
			}
			l.links = append(l.links, late...)
			db := open(t, dir, database)
			l.verify(t, db)
			l.counted(t, s)
			l.published(t, s, db)
			db.Close()
			if t.Failed() {
				return
			}
		}
		s.terminate()
		clicksGone(t, dir)
	})
}

// An ending process still accepts for a while: it tells that it is not ready, and its answers end
// their connections. Calls under way are answered.
func TestDrain(t *testing.T) {
	t.Parallel()
	s := serve(t, t.TempDir(), "sqlite")
	o := newOwner(t, s.client(s.token("ann@example.com")))
	half := o.startHalf(t, s.api, o.creation("half", "half-0"))
	s.signal(syscall.SIGTERM)
	for what, url := range map[string]string{
		"api": "http://" + s.api + "/readyz", "public": "http://" + s.public + "/_service/health",
	} {
		s.eventually(what+" is not ready", func() error {
			answer, err := (&http.Client{Transport: &http.Transport{}}).Get(url)
			if err != nil {
				t.Fatalf("%s ended before it was said: %v", what, err)
			}
			answer.Body.Close()
			if answer.StatusCode != 503 || !answer.Close {
				return fmt.Errorf("%d, closes: %t", answer.StatusCode, answer.Close)
			}
			return nil
		})
	}
	if status := half.complete(t); status != 201 {
		t.Errorf("a call under way was answered %d", status)
	}
	if code := s.wait(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}
