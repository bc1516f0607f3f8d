package link_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/waymarkhq/waymark/internal/apitest"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/link"
	"github.com/waymarkhq/waymark/internal/store"
)

// Deleting a tag gives its links one new revision: the one under which their tags
// were read is stale. Visitors get what they got, so what was published is
// published, what was on its way arrives, and nobody is told.
func TestTagRemoval(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		owner.Call("POST", "/webhooks", M{"appId": owner.AppID, "url": "https://hooks.example.com/",
			"events": []string{"link.updated"}}).Want(201)
		tag := owner.Call("POST", "/tags", M{"appId": owner.AppID, "name": "t"}).Want(201)
		kept := created(owner, "/tags", M{"name": "kept"})
		path := map[string]string{}
		tagged := map[string]*apitest.Response{}
		for _, slug := range []string{"synced", "pending", "untagged"} {
			r := owner.Link(slug, nil).Want(201)
			path[slug] = "/links/" + apitest.Path(r.Text("data.id"))
			tags := []string{kept, tag.Text("data.id")}
			if slug == "untagged" {
				tags = tags[:1]
			}
			tagged[slug] = owner.Call("PUT", path[slug]+"/tags", M{"tagIds": tags}, apitest.IfMatch(r.Revision())).
				Want(200)
		}
		i.Settle(t)
		confirmed := tagged["pending"].Value("data.revision")
		tagged["pending"] = owner.Call("PATCH", path["pending"], M{"desktopUrl": "https://example.com/new"},
			apitest.IfMatch(tagged["pending"].Revision())).Want(200)
		count := func() (n int) {
			n, err := store.One(t.Context(), i.DB, store.Value[int], `SELECT (SELECT COUNT(*)
				FROM webhook_delivery) + (SELECT COUNT(*) FROM link_history)`)
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		before := count()
		i.Clock.Move(time.Minute)
		owner.Call("DELETE", "/tags/"+tag.Text("data.id"), nil, apitest.IfMatch(tag.Revision())).Want(204)
		now := `"` + i.Clock.Now().String() + `"`
		synced := owner.Call("GET", path["synced"], nil).Want(200).Has("data.publication.status", `"synced"`).
			Has("data.updatedAt", now).Has("data.publication.updatedAt", now)
		if revision := synced.Revision(); revision == tagged["synced"].Revision() ||
			synced.Text("data.publication.confirmedRevision") != revision {
			t.Errorf("revision %s, publication %s", revision, synced.Value("data.publication"))
		}
		owner.Call("GET", path["pending"], nil).Want(200).Has("data.revision", synced.Value("data.revision")).
			Has("data.publication.status", `"pending"`).
			Has("data.publication.confirmedRevision", confirmed).
			Has("data.publication.desiredRevision", synced.Value("data.revision"))
		owner.Call("GET", path["untagged"], nil).Want(200).Has("data.revision",
			tagged["untagged"].Value("data.revision"))
		for _, slug := range []string{"synced", "pending"} {
			owner.Call("PUT", path[slug]+"/tags", M{"tagIds": []string{}}, apitest.IfMatch(tagged[slug].Revision())).
				Refused(fault.RevisionConflict)
			owner.Call("GET", path[slug]+"/tags", nil).Want(200).Has("data.tagIds", `["`+kept+`"]`).
				Has("data.revision", synced.Value("data.revision"))
		}
		if n := count(); n != before {
			t.Errorf("%d events and entries of history were added", n-before)
		}
		i.Settle(t)
		owner.Call("GET", path["pending"], nil).Want(200).Has("data.publication.status", `"synced"`).
			Has("data.publication.confirmedRevision", synced.Value("data.revision"))
		i.Visit(t, "https://"+owner.Host+"/pending", nil, goes("https://example.com/new"))
	})
}

// A tag is taken from more links than one statement has the time for, each with the same
// revision.
func TestTagRemovalFromManyLinks(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		tag := owner.Call("POST", "/tags", M{"appId": owner.AppID, "name": "t"}).Want(201)
		var path, before []string
		for _, slug := range []string{"first", "last"} {
			r := owner.Link(slug, nil).Want(201)
			path = append(path, "/links/"+apitest.Path(r.Text("data.id")))
			tagged := owner.Call("PUT", path[len(path)-1]+"/tags", M{"tagIds": []string{tag.Text("data.id")}},
				apitest.IfMatch(r.Revision())).Want(200)
			before = append(before, tagged.Revision())
			i.Clock.Move(time.Second)
		}
		// Between them in time are many other links, of which this test needs nothing.
		if _, err := i.DB.Exec(t.Context(), `INSERT INTO link_tag (tag_id, link_created_at, link_id)
			WITH RECURSIVE s(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < 14998)
			SELECT tag_id, link_created_at + 1, 'link' || s.n FROM link_tag, s
			WHERE link_created_at = (SELECT MIN(link_created_at) FROM link_tag)`); err != nil {
			t.Fatal(err)
		}
		owner.Call("DELETE", "/tags/"+tag.Text("data.id"), nil, apitest.IfMatch(tag.Revision())).Want(204)
		after := owner.Call("GET", path[0], nil).Want(200).Revision()
		owner.Call("GET", path[1], nil).Want(200).Has("data.revision", `"`+after+`"`)
		owner.Call("GET", path[1]+"/tags", nil).Want(200).Has("data.tagIds", "[]")
		if slices.Contains(before, after) {
			t.Error("the links have the revision from before")
		}
		if left, err := store.Exists(t.Context(), i.DB, "SELECT 1 FROM link_tag"); err != nil || left {
			t.Errorf("associations are left: %t, %v", left, err)
		}
	})
}

// A publication that is under way while a tag is deleted ends as synced: it does
// not confirm a revision that the link no longer has.
func TestTagRemovalDuringPublication(t *testing.T) {
	i := apitest.New(t, "postgres", apitest.Options{})
	owner := i.Prepared(t, "ann@example.com")
	tag := owner.Call("POST", "/tags", M{"appId": owner.AppID, "name": "t"}).Want(201)
	r := owner.Link("a", nil).Want(201)
	path := "/links/" + apitest.Path(r.Text("data.id"))
	i.Settle(t) // no other job publishes it after the one below
	owner.Call("PUT", path+"/tags", M{"tagIds": []string{tag.Text("data.id")}}, apitest.IfMatch(r.Revision())).Want(200)
	i.WhilePublished(t, func() { i.Cycle(t) }, func() {
		if r := owner.Call("DELETE", "/tags/"+tag.Text("data.id"), nil, apitest.IfMatch(tag.Revision())); r.Status != 204 {
			t.Errorf("the removal of the tag answers %s", r.Body)
		}
	})
	i.Settle(t)
	now := owner.Call("GET", path, nil).Want(200).Has("data.publication.status", `"synced"`)
	now.Has("data.publication.confirmedRevision", now.Value("data.revision"))
}

// A publication does not confirm a change that came after it read the link.
func TestChangeDuringPublication(t *testing.T) {
	i := apitest.New(t, "postgres", apitest.Options{})
	owner := i.Prepared(t, "ann@example.com")
	r := owner.Link("a", nil).Want(201)
	path := "/links/" + apitest.Path(r.Text("data.id"))
	i.WhilePublished(t, func() { i.Cycle(t) }, func() {
		if r := owner.Call("PATCH", path, M{"desktopUrl": "https://example.com/newer"}, apitest.IfMatch(r.Revision())); r.Status != 200 {
			t.Errorf("the change answers %s", r.Body)
		}
	})
	owner.Call("GET", path, nil).Want(200).Has("data.publication.status", `"pending"`).
		Has("data.publication.confirmedRevision", `"`+r.Revision()+`"`)
	i.Settle(t)
	owner.Call("GET", path, nil).Want(200).Has("data.publication.status", `"synced"`)
}

// The history of links that were deleted is purged in turns, each of them
// bounded; that of other links stays.
func TestHistoryIsSwept(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		owner.Link("stays", nil).Want(201)
		for n := range 4 {
			r := owner.Link(fmt.Sprintf("s%d", n), nil).Want(201)
			path := "/links/" + apitest.Path(r.Text("data.id"))
			for k := range n {
				r = owner.Call("PATCH", path, M{"title": fmt.Sprint(k)}, apitest.IfMatch(r.Revision())).Want(200)
			}
			i.Clock.Move(-time.Microsecond) // as clocks may: the removal is the first entry, and goes last all the same
			owner.Call("DELETE", path, nil, apitest.IfMatch(r.Revision())).Want(204)
			i.Clock.Move(time.Microsecond)
		}
		left := func() (n int) {
			n, err := store.One(t.Context(), i.DB, store.Value[int], "SELECT COUNT(*) FROM link_history")
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		const limit = 2
		all := left()
		i.Clock.Move(30*24*time.Hour - 2*time.Microsecond)
		if n, err := link.Sweep(t.Context(), i.DB, limit); n != 0 || err != nil || left() != all {
			t.Errorf("%d of %d entries are left before their time, %d, %v", left(), all, n, err)
		}
		i.Clock.Move(time.Microsecond)
		for before := left(); ; before = left() { // 1 + 4 creations, 6 changes, 4 removals
			n, err := link.Sweep(context.Background(), i.DB, limit)
			if err != nil {
				t.Fatal(err)
			}
			if gone := before - left(); gone > 2*limit {
				t.Errorf("a turn removed %d entries", gone)
			}
			if n < limit {
				break
			}
		}
		if n := left(); n != 1 {
			t.Errorf("%d entries are left, want that of the link that stays", n)
		}
	})
}
