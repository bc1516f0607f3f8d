package op_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/waymarkhq/waymark/internal/apitest"
	"github.com/waymarkhq/waymark/internal/fault"
)

// A cursor continues the query that it came from, however that is spelt, and no
// other.
func TestCursorIsBoundToTheMeaningOfTheQuery(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		for _, slug := range []string{"a", "b", "c"} {
			owner.Link(slug, nil).Want(201)
		}
		list := "/links?appId=" + owner.AppID
		next := func(query, with string) *apitest.Response {
			cursor := owner.Call("GET", list+query, nil).Want(200).Text("pagination.nextCursor")
			return owner.Call("GET", list+with+"&cursor="+url.QueryEscape(cursor), nil)
		}
		next("&limit=2", "&order=createdAt%3Adesc&limit=2").Want(200)
		next("&limit=2&order=createdAt:desc", "&limit=2").Want(200)
		next("&limit=2&archived=all", "&limit=2").Want(200)
		next("&limit=2&group=operational", "&group=operational&limit=2").Want(200)
		day := "2026-11-01T00:00:00"
		for _, same := range []string{day + "%2B00:00", day + ".000Z", "2026-11-01T01:00:00%2B01:00",
			strings.ToLower(day) + "z"} {
			next("&limit=2&createdFrom="+day+"Z", "&limit=2&createdFrom="+same).Want(200)
		}
		next("&limit=2&domain="+owner.Host, "&limit=2&domain="+strings.ToUpper(owner.Host)+".").Want(200)
		next("&limit=2&createdFrom="+day+"Z", "&limit=2&createdFrom="+day+".001Z").
			Refused(fault.InvalidRequest, "query.cursor")
		next("&limit=2&createdFrom="+day+"Z", "&limit=2&createdTo="+day+"Z").
			Refused(fault.InvalidRequest, "query.cursor")
		next("&limit=2&domain="+owner.Host, "&limit=2&domain=x."+owner.Host).
			Refused(fault.InvalidRequest, "query.cursor")
		next("&limit=2", "&limit=1").Refused(fault.InvalidRequest, "query.cursor")
		next("&limit=2", "&limit=2&order=createdAt:asc").Refused(fault.InvalidRequest, "query.cursor")
		next("&limit=2", "&limit=2&archived=false").Refused(fault.InvalidRequest, "query.cursor")
		next("&limit=2", "&limit=2&group=operational").Refused(fault.InvalidRequest, "query.cursor")
		owner.Call("GET", list+"&limit=2&cursor=x", nil).Refused(fault.InvalidRequest, "query.cursor")
	})
}

// A cursor continues the list that it came from, of the same operation and
// resource, for the credential that got it.
func TestCursorIsBoundToItsListAndCredential(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		history := map[string]string{}
		for _, name := range []string{"a", "b"} {
			owner.Call("POST", "/tags", M{"appId": owner.AppID, "name": name}).Want(201)
			owner.Call("POST", "/folders", M{"appId": owner.AppID, "name": name}).Want(201)
			link := owner.Link(name, nil).Want(201)
			path := "/links/" + apitest.Path(link.Text("data.id"))
			owner.Call("PATCH", path, M{"title": name}, apitest.IfMatch(link.Revision())).Want(200)
			history[name] = path + "/history?limit=1"
		}
		tags, folders := "/tags?limit=1&appId="+owner.AppID, "/folders?limit=1&appId="+owner.AppID
		reader := owner.Key("tags:read")
		for _, c := range []struct {
			by       *apitest.Client
			from, at string
			other    bool
		}{
			{owner, tags, tags, false}, {owner, tags, folders, true},
			{owner, history["a"], history["a"], false}, {owner, history["a"], history["b"], true},
			{reader, tags, tags, true}, // a credential of the same owner
		} {
			cursor := owner.Call("GET", c.from, nil).Want(200).Text("pagination.nextCursor")
			r := c.by.Call("GET", c.at+"&cursor="+url.QueryEscape(cursor), nil)
			if c.other {
				r.Refused(fault.InvalidRequest, "query.cursor")
			} else if r.Want(200); cursor == "" || r.Len("data") != 1 {
				t.Errorf("%s goes on after %q with %s", c.at, cursor, r.Body)
			}
		}
	})
}

// A file has everything: paging is refused with it, after what refuses the file itself.
func TestFilesHaveNoPages(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		path := "/imports/" + owner.Call("POST", "/imports", map[string]any{"appId": owner.AppID, "format": "csv",
			"content": "slug,domain\na," + owner.Host + "\n"}).Want(201).Text("data.id") + "/items?format="
		for query, member := range map[string]string{"limit=3": "limit", "cursor=x": "cursor",
			"cursor=x&limit=3": "limit"} {
			r := owner.Call("GET", path+"csv&"+query, nil)
			r.Refused(fault.InvalidRequest, "query."+member).Has("error.details.0.code", `"not_allowed"`)
			owner.Call("GET", "/imports/unknown/items?format=csv&"+query, nil).Refused(fault.NotFound)
		}
		owner.Call("GET", path+"json&limit=3", nil).Want(200)
		owner.Call("GET", path+"csv", nil).Want(200)
	})
}
