package op_test

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"net/http"
	"testing"

	"github.com/waymarkhq/waymark/internal/apitest"
	"github.com/waymarkhq/waymark/internal/fault"
)

// waiting has calls wait for the second half of their bodies: arrived receives once for
// each, and they go on when goOn is closed.
func waiting() (with apitest.With, arrived chan struct{}, goOn chan struct{}) {
	arrived, goOn = make(chan struct{}, 1000), make(chan struct{})
	return func(r *http.Request) {
		halfway(func() {
			arrived <- struct{}{}
			<-goOn
		})(r)
	}, arrived, goOn
}

// noise is a picture of some 16 KiB, so that the first half of an upload has the beginning
// of its file.
func noise(t *testing.T) []byte {
	t.Helper()
	picture := image.NewGray(image.Rect(0, 0, 128, 128))
	rand.Read(picture.Pix)
	var b bytes.Buffer
	if err := png.Encode(&b, picture); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Of the half-sent uploads of a key four wait for the rest of them; the others are refused
// at once, also those of another key of the account. Other accounts do not wait.
func TestHalfSentUploads(t *testing.T) {
	const uploads, places = 128, 4
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner, other := i.Prepared(t, "ann@example.com"), i.Prepared(t, "bob@example.com")
		key, picture := owner.Key("assets:create"), noise(t)
		with, arrived, goOn := waiting()
		answers := make(chan *apitest.Response, uploads)
		for range uploads {
			go func() { answers <- key.Upload("image/png", picture, with) }()
		}
		for range uploads - places {
			if r := (<-answers).Refused(fault.Unavailable); r.Header.Get("Retry-After") != "1" {
				t.Errorf("Retry-After %q", r.Header.Get("Retry-After"))
			}
		}
		for range places {
			<-arrived
		}
		owner.Upload("image/png", picture).Refused(fault.Unavailable)
		other.Upload("image/png", picture).Want(201)
		close(goOn)
		for range places {
			(<-answers).Want(201)
		}
		owner.Upload("image/png", picture).Want(201)
	})
}

// An account has a bounded number of calls under way; others do not feel it.
func TestCallsUnderWay(t *testing.T) {
	const most = 256
	apitest.EachWith(t, apitest.Options{LimitScale: 1e6}, func(t *testing.T, i *apitest.Installation) {
		owner, other := i.Prepared(t, "ann@example.com"), i.Prepared(t, "bob@example.com")
		key := owner.Key("tags:create", "tags:read")
		with, arrived, goOn := waiting()
		answers := make(chan *apitest.Response, most)
		for n := range most {
			go func() {
				answers <- key.Call("POST", "/tags", M{"appId": owner.AppID, "name": fmt.Sprint("t", n)}, with)
			}()
			<-arrived
		}
		if r := owner.Call("GET", "/me", nil).Refused(fault.Unavailable); r.Header.Get("Retry-After") != "1" {
			t.Errorf("Retry-After %q", r.Header.Get("Retry-After"))
		}
		other.Call("GET", "/me", nil).Want(200)
		close(goOn)
		for range most {
			(<-answers).Want(201)
		}
		owner.Call("GET", "/me", nil).Want(200)
	})
}

