package signin_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/waymarkhq/waymark/internal/actor"
	"github.com/waymarkhq/waymark/internal/apitest"
)

type M = apitest.M

const (
	email   = "ann@example.com"
	firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
)

// page is a page of the dashboard in a browser, which keeps cookies.
type page struct {
	t       *testing.T
	i       *apitest.Installation
	client  *apitest.Client
	cookies map[string]string
}

func newPage(t *testing.T, i *apitest.Installation) *page {
	return &page{t, i, i.Client(t, ""), map[string]string{}}
}

// call asks as a page of ours does, and keeps the cookies that it gets.
func (p *page) call(method, path string, body any, with ...apitest.With) *apitest.Response {
	p.t.Helper()
	var pairs []string
	for name, value := range p.cookies {
		pairs = append(pairs, name+"="+value)
	}
	r := p.client.Call(method, path, body, append([]apitest.With{
		apitest.Header("Sec-Fetch-Site", "same-origin"), apitest.Header("Sec-Fetch-Mode", "cors"),
		apitest.Header("Cookie", strings.Join(pairs, "; ")), apitest.Header("User-Agent", firefox),
	}, with...)...)
	for _, c := range (&http.Response{Header: r.Header}).Cookies() {
		if p.cookies[c.Name] = c.Value; c.MaxAge < 0 {
			delete(p.cookies, c.Name)
		}
	}
	return r
}

// link makes an address that signs in, and returns its code.
func link(t *testing.T, i *apitest.Installation, email string) string {
	t.Helper()
	code, err := actor.IssueLink(t.Context(), i.DB, email)
	if err != nil {
		t.Fatal(err)
	}
	return code
}

// signedIn returns a page whose browser is signed in.
func signedIn(t *testing.T, i *apitest.Installation, email string) *page {
	t.Helper()
	p := newPage(t, i)
	p.call("POST", "/auth/link", M{"code": link(t, i, email)}).Want(204)
	return p
}

func moved(i *apitest.Installation, by time.Duration) { i.Clock.Move(by) }
