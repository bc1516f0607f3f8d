package op_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/waymarkhq/waymark/internal/apitest"
	"github.com/waymarkhq/waymark/internal/fault"
)

// A page ends when it has many bytes, and the list goes on after it: every row is on one
// page.
func TestPagesAreBoundedInBytes(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		const links = 80
		for n := range links {
			owner.Link(fmt.Sprint("l", n), M{"parameters": M{"text": strings.Repeat("x", 15<<10)}}).Want(201)
		}
		list, cursor, pages := "/links?limit=100&order=createdAt:asc&appId="+owner.AppID, "", 0
		for shown := 0; shown < links; pages++ {
			page := owner.Call("GET", list+cursor, nil).Want(200)
			if n := page.Len("data"); n == 0 || n*(15<<10) > 1<<20 {
				t.Fatalf("page %d has %d rows in %d bytes", pages, n, len(page.Body))
			}
			for n := range page.Len("data") {
				if slug := page.Text(fmt.Sprintf("data.%d.slug", n)); slug != fmt.Sprint("l", shown) {
					t.Fatalf("row %d is %s", shown, slug)
				}
				shown++
			}
			if more := page.Value("pagination.hasMore"); more != fmt.Sprint(shown < links) {
				t.Fatalf("after %d rows hasMore is %s", shown, more)
			}
			if shown < links {
				cursor = "&cursor=" + page.Text("pagination.nextCursor")
			}
		}
		if pages != 2 {
			t.Errorf("%d pages", pages)
		}
	})
}

// stuck is a client that does not read its answer until it is told to.
type stuck struct {
	*httptest.ResponseRecorder
	writing, read chan struct{}
}

func newStuck() *stuck {
	return &stuck{httptest.NewRecorder(), make(chan struct{}, 100), make(chan struct{})}
}

func (s *stuck) Write(b []byte) (int, error) {
	s.writing <- struct{}{}
	<-s.read
	return s.ResponseRecorder.Write(b)
}

// Answers that nobody reads take a bounded share of the memory. More of the account are
// refused; small ones and those of others are written.
func TestUnreadAnswers(t *testing.T) {
	apitest.EachWith(t, apitest.Options{}, func(t *testing.T, i *apitest.Installation) {
		owner, other := i.Prepared(t, "ann@example.com"), i.Prepared(t, "bob@example.com")
		for _, c := range []*apitest.Client{owner, other} {
			for n := range 60 {
				c.Link(fmt.Sprint("l", n), M{"parameters": M{"text": strings.Repeat("x", 15<<10)}}).Want(201)
			}
		}
		list := "/links?limit=100&appId="
		page := len(owner.Call("GET", list+owner.AppID, nil).Want(200).Body)
		room := (4 << 20) / page
		key := owner.Key("links:read", "links:update")
		var unread []*stuck
		done := make(chan struct{}, 100)
		for n := range room {
			w, credential := newStuck(), owner.Credential
			if n%2 == 0 {
				credential = key.Credential
			}
			r := httptest.NewRequest("GET", "https://api.example/v1"+list+owner.AppID, nil)
			r.Header.Set("Authorization", "Bearer "+credential)
			go func() {
				i.API.ServeHTTP(w, r)
				done <- struct{}{}
			}()
			<-w.writing
			unread = append(unread, w)
		}
		for _, c := range []*apitest.Client{owner, key} {
			if r := c.Call("GET", list+owner.AppID, nil).Refused(fault.Unavailable); r.Header.Get("Retry-After") != "1" {
				t.Errorf("Retry-After %q", r.Header.Get("Retry-After"))
			}
		}
		owner.Call("GET", "/me", nil).Want(200)
		owner.Call("POST", "/tags", M{"appId": owner.AppID, "name": "a"}).Want(201)
		other.Call("GET", list+other.AppID, nil).Want(200)
		for _, w := range unread {
			close(w.read)
			<-done
			if w.Code != 200 || w.Body.Len() != page {
				t.Errorf("%d, %d bytes", w.Code, w.Body.Len())
			}
		}
		owner.Call("GET", list+owner.AppID, nil).Want(200)
	})
}

// gone is a client whose connection ends with an error while it is answered.
type gone struct {
	*httptest.ResponseRecorder
	err error
}

func (g gone) Write([]byte) (int, error) { return 0, g.err }

// The operator sees how many answers were not read in time, also of those that are repeated: not those of clients that
// went, and not those that were read.
func TestUnreadAnswersAreCounted(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		key := apitest.NewKey()
		unread := func() (n float64) {
			families, err := i.Metrics.Gather()
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range families {
				if f.GetName() == "waymark_api_answers_unread_total" {
					n = f.Metric[0].GetCounter().GetValue()
				}
			}
			return n
		}
		want := 0.
		for _, c := range []struct {
			method string
			err    error
			more   float64
		}{
			{"GET", nil, 0}, {"GET", io.ErrClosedPipe, 0}, {"GET", os.ErrDeadlineExceeded, 1}, {"POST", os.ErrDeadlineExceeded, 1},
			{"POST", os.ErrDeadlineExceeded, 1}, {"POST", io.ErrClosedPipe, 0}, {"POST", nil, 0},
		} {
			path, body, status := "/tags?appId="+owner.AppID, "", 200
			if c.method == "POST" {
				path, body, status = "/tags", `{"appId":"`+owner.AppID+`","name":"t"}`, 201
			}
			r := httptest.NewRequest(c.method, "https://api.example/v1"+path, strings.NewReader(body))
			r.Header.Set("Authorization", "Bearer "+owner.Credential)
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Idempotency-Key", key)
			var w http.ResponseWriter = httptest.NewRecorder()
			if c.err != nil {
				w = gone{httptest.NewRecorder(), c.err}
			}
			i.API.ServeHTTP(w, r)
			if want += c.more; unread() != want {
				t.Errorf("after %s with %v, %v answers were not read, want %v", c.method, c.err, unread(), want)
			}
			if g, ok := w.(gone); ok && g.Code != status {
				t.Errorf("%s with %v: %d", c.method, c.err, g.Code)
			}
		}
	})
}

// A change whose answer finds no room has happened, and its answer is there when the same key comes again. That one waits
// for its room, too.
func TestChangeWhoseAnswerFindsNoRoom(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		made, changed := apitest.Idempotent(apitest.NewKey()), apitest.Idempotent(apitest.NewKey())
		large := M{"parameters": M{"text": strings.Repeat("x", 16<<10-20)}}
		link := owner.Link("a", large, made).Want(201)
		path := "/links/" + link.Text("data.id")
		change := func() *apitest.Response {
			return owner.Call("PATCH", path, M{"title": "changed"}, apitest.IfMatch(link.Revision()), changed)
		}
		var unread []*stuck
		done := make(chan struct{}, 300)
		for range (4 << 20) / len(link.Value("data")) {
			w := newStuck()
			r := httptest.NewRequest("GET", "https://api.example/v1"+path, nil)
			r.Header.Set("Authorization", "Bearer "+owner.Credential)
			go func() {
				i.API.ServeHTTP(w, r)
				done <- struct{}{}
			}()
			<-w.writing
			unread = append(unread, w)
		}
		var calls sync.WaitGroup
		calls.Go(func() { change().Refused(fault.Unavailable) })
		calls.Go(func() { owner.Link("a", large, made).Refused(fault.Unavailable) })
		calls.Wait()
		for _, w := range unread {
			close(w.read)
			<-done
		}
		for status, call := range map[int]func() *apitest.Response{200: change,
			201: func() *apitest.Response { return owner.Link("a", large, made) }} {
			if r := call().Want(status); r.Header.Get("Idempotency-Replayed") != "true" {
				t.Errorf("%d is no replay", status)
			}
		}
		owner.Call("GET", path, nil).Want(200).Has("data.title", `"changed"`)
	})
}
