package redirect_test

import (
	"bytes"
	"image"
	"image/png"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/waymarkhq/waymark/internal/apitest"
)

var twitterbot = http.Header{"User-Agent": {"Twitterbot/1.0"}}

// TestCard follows a link from the API to the crawler that asks for its card: a
// title alone is none, an uploaded image brings its size.
func TestCard(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		const page = "https://example.com/page"
		created := owner.Link("card", apitest.M{"title": "A title", "desktopUrl": page}).Want(201)
		i.Settle(t)
		address := created.Text("data.url")
		if got := i.Visit(t, address, twitterbot, nil); got.StatusCode != 302 || got.Header.Get("Location") != page {
			t.Errorf("with a title alone: %d %v", got.StatusCode, got.Header)
		}

		var drawn bytes.Buffer
		if err := png.Encode(&drawn, image.NewGray(image.Rect(0, 0, 600, 315))); err != nil {
			t.Fatal(err)
		}
		picture := owner.Upload("image/png", drawn.Bytes()).Want(201).Text("data.url")
		path := "/links/" + apitest.Path(created.Text("data.id"))
		changed := owner.Call("PATCH", path, apitest.M{"imageUrl": picture}, apitest.IfMatch(created.Revision())).
			Want(200)
		i.Settle(t)
		if card := read(t, i.Visit(t, address, twitterbot, isPage)); !strings.Contains(card,
			`"og:image" content="`+picture+`"`) ||
			!strings.Contains(card, `"og:image:width" content="600"`) ||
			!strings.Contains(card, `"og:image:height" content="315"`) {
			t.Errorf("with an uploaded image:\n%s", card)
		}

		const elsewhere = "https://example.com/picture.png"
		owner.Call("PATCH", path, apitest.M{"imageUrl": elsewhere}, apitest.IfMatch(changed.Revision())).Want(200)
		i.Settle(t)
		var card string
		i.Visit(t, address, twitterbot, func(r *http.Response) bool {
			card = read(t, r)
			return strings.Contains(card, `"og:image" content="`+elsewhere+`"`)
		})
		if strings.Contains(card, "og:image:width") {
			t.Errorf("with an image from elsewhere:\n%s", card)
		}
	})
}

func isPage(r *http.Response) bool { return r.StatusCode == http.StatusOK }

func read(t *testing.T, r *http.Response) string {
	t.Helper()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}
