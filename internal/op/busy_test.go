package op_test

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"image"
	"image/png"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/waymarkhq/waymark/internal/apitest"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/store"
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
	var log apitest.Journal
	apitest.EachWith(t, apitest.Options{LimitScale: 1e6, Log: &log}, func(t *testing.T, i *apitest.Installation) {
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
		if strings.Contains(log.String(), "call failed") { // nothing did, and thousands are refused in a flood
			t.Errorf("the log has a call that was refused:\n%s", log.String())
		}
		close(goOn)
		for range most {
			(<-answers).Want(201)
		}
		owner.Call("GET", "/me", nil).Want(200)
	})
}

// The receipts of an account are bounded in bytes. When an hour is used up, further
// mutations are refused, all earlier ones are still replayed, and other accounts go on.
func TestReceiptsAreBoundedInBytes(t *testing.T) {
	const scale, perHour, small = .02, (16 << 20) * 2 / 100, 1 << 10
	apitest.EachWith(t, apitest.Options{LimitScale: scale}, func(t *testing.T, i *apitest.Installation) {
		owner, other := i.Prepared(t, "ann@example.com"), i.Prepared(t, "bob@example.com")
		counted := func() int64 {
			n, err := store.One(t.Context(), i.DB, store.Value[int64], `SELECT CAST(COALESCE(SUM(LENGTH(packed) - ?), 0)
				AS BIGINT) FROM receipt WHERE LENGTH(packed) > ?`, small, small)
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		create := func(c *apitest.Client, slug, text string, key string) *apitest.Response {
			i.Clock.Move(time.Minute) // which has one creation
			return c.Link(slug, M{"parameters": M{"text": text}}, apitest.Idempotent(key))
		}
		keys, text, data := []string{}, map[string]string{}, map[string]string{}
		for before := int64(-1); counted() < perHour; {
			if n := counted(); n <= before {
				t.Fatalf("%d receipts take %d bytes", len(keys), n)
			} else {
				before = n
			}
			key, random := apitest.NewKey(), ""
			for len(random) < 15<<10 {
				random += rand.Text()
			}
			text[key] = random
			data[key] = create(owner, fmt.Sprint("l", len(keys)), random, key).Want(201).Value("data")
			keys = append(keys, key)
		}
		refused := create(owner, "more", "", apitest.NewKey()).Refused(fault.RateLimited)
		if after := refused.Header.Get("Retry-After"); after != fmt.Sprint(60*(60-len(keys)-1)) {
			t.Errorf("after %d minutes Retry-After is %s", len(keys)+1, after)
		}
		owner.Call("GET", "/me", nil).Want(200)
		create(other, "other", "", apitest.NewKey()).Want(201)
		for _, n := range []int{0, len(keys) - 1} {
			again := create(owner, fmt.Sprint("l", n), text[keys[n]], keys[n]).Want(201)
			if again.Header.Get("Idempotency-Replayed") != "true" || again.Value("data") != data[keys[n]] {
				t.Errorf("the replay of link %d is %.200s", n, again.Body)
			}
		}
		i.Clock.Move(time.Hour)
		create(owner, "more", "", apitest.NewKey()).Want(201)
	})
}
