package op_test

import (
	"fmt"
	"net/http/httptest"
	"strings"
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
