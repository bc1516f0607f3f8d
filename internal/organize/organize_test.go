package organize_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/waymarkhq/waymark/internal/apitest"
	"github.com/waymarkhq/waymark/internal/fault"
)

type M = apitest.M

// kinds are the three with what only some of them have.
var kinds = []struct {
	path string
	body M
	has  string // a member that body sets
	want string
}{
	{"/tags", M{"utm": M{"source": "mail"}}, "data.utm.source", `"mail"`},
	{"/folders", nil, "data.linkCount", "0"},
	{"/campaigns", M{"utm": M{"medium": "qr"}, "startsAt": "2026-12-01T00:00:00Z", "endsAt": "2027-01-01T00:00:00Z"},
		"data.endsAt", `"2027-01-01T00:00:00.000Z"`},
}

func with(body M, more M) M {
	all := M{}
	for _, m := range []M{body, more} {
		for name, value := range m {
			all[name] = value
		}
	}
	return all
}

func TestOperations(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner, eve := i.Prepared(t, "ann@example.com"), i.Prepared(t, "eve@example.com")
		for _, k := range kinds {
			t.Run(strings.TrimPrefix(k.path, "/"), func(t *testing.T) {
				body := with(k.body, M{"appId": owner.AppID, "name": " Sommer ", "description": "Für alle"})
				r := owner.Call("POST", k.path, body).Want(201).Has("data.name", `"Sommer"`).
					Has("data.archived", "false").Has(k.has, k.want)
				id := r.Text("data.id")
				path := k.path + "/" + id
				if got := r.Header.Get("Location"); got != "/v1"+path {
					t.Errorf("Location %s", got)
				}
				// A name is one in its app, whatever its case.
				owner.Call("POST", k.path, M{"appId": owner.AppID, "name": "SOMMER"}).Refused(fault.ResourceConflict)
				eve.Call("POST", k.path, M{"appId": eve.AppID, "name": "Sommer"}).Want(201)
				for at, wrong := range map[string]M{
					"/name": {"name": " "}, "/description": {"description": strings.Repeat("x", 1001)},
					"/archived": {"archived": "yes"}, "/id": {"id": id},
				} {
					owner.Call("POST", k.path, with(M{"appId": owner.AppID, "name": "x"}, wrong)).
						Refused(fault.ValidationFailed, at)
				}
				owner.Call("POST", k.path, M{"appId": owner.AppID, "name": "\u200b\u0301"}).
					Refused(fault.ValidationFailed, "/name")
				owner.Call("POST", k.path, M{"appId": owner.AppID, "name": strings.Repeat("n", 101)}).
					Refused(fault.ValidationFailed, "/name")
				owner.Call("POST", k.path, M{"appId": owner.AppID}).Refused(fault.ValidationFailed, "/name")
				owner.Call("POST", k.path, M{"appId": eve.AppID, "name": "x"}).Refused(fault.NotFound)

				other := owner.Call("POST", k.path, M{"appId": owner.AppID, "name": "Winter"}).Want(201)
				owner.Call("PATCH", path, M{"name": "winter"}, apitest.IfMatch(r.Revision())).
					Refused(fault.ResourceConflict)
				changed := owner.Call("PATCH", path, M{"name": "SOMMER", "archived": true, "description": nil},
					apitest.IfMatch(r.Revision())).Want(200).
					Has("data.name", `"SOMMER"`).Has("data.description", "null").Has(k.has, k.want)
				owner.Call("PATCH", path, M{"name": "x"}, apitest.IfMatch(r.Revision())).Refused(fault.RevisionConflict)
				owner.Call("PATCH", path, M{"name": "x"}).Refused(fault.PreconditionRequired)
				owner.Call("GET", path, nil).Want(200).Has("data.revision", changed.Value("data.revision")).
					Has("data.archived", "true")

				for query, want := range map[string]int{"": 1, "&archived=all": 2, "&archived=true": 1,
					"&archived=false": 1, "&archived=all&q=SOM": 1, "&q=wint": 1, "&q=r%25": 0} {
					if n := owner.Call("GET", k.path+"?appId="+owner.AppID+query, nil).Want(200).
						Len("data"); n != want {
						t.Errorf("%s lists %d, want %d", query, n, want)
					}
				}
				owner.Call("GET", k.path, nil).Refused(fault.InvalidRequest, "query.appId")
				owner.Call("GET", k.path+"?appId="+owner.AppID+"&archived=maybe", nil).
					Refused(fault.InvalidRequest, "query.archived")

				// Another owner sees nothing of it, and no more than of nothing.
				match := apitest.IfMatch(changed.Revision())
				for _, address := range []string{path, k.path + "/0198c9a2-7f3e-7c11-9d52-0a6f6e1b2c3d"} {
					eve.Call("GET", address, nil).Refused(fault.NotFound)
					eve.Call("PATCH", address, M{"name": "x"}, match).Refused(fault.NotFound)
					eve.Call("DELETE", address, nil, match).Refused(fault.NotFound)
				}
				eve.Call("GET", k.path+"?appId="+owner.AppID, nil).Refused(fault.NotFound)
				noun := strings.TrimPrefix(k.path, "/")
				reader := owner.Key(noun + ":read")
				reader.Call("GET", path, nil).Want(200)
				reader.Call("DELETE", path, nil, match).Refused(fault.InsufficientPermission)

				owner.Call("DELETE", path, nil, match).Want(204)
				owner.Call("GET", path, nil).Refused(fault.NotFound)
				owner.Call("DELETE", path, nil, match).Refused(fault.NotFound)
				owner.Call("PATCH", k.path+"/"+other.Text("data.id"), M{"name": "Sommer"},
					apitest.IfMatch(other.Revision())).Want(200)
				events := owner.Call("GET", "/audit-events?resourceId="+id, nil).Want(200)
				if n := events.Len("data"); n != 3 {
					t.Errorf("%d audit events, want those of creation, change and removal", n)
				}
			})
		}
	})
}

// Things that share an instant are neither shown twice nor left out.
func TestPages(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		for n := range 7 {
			owner.Call("POST", "/folders", M{"appId": owner.AppID, "name": fmt.Sprintf("f%d", n)}).Want(201)
			i.Clock.Move(time.Duration(n%2) * time.Second)
		}
		seen, cursor := map[string]bool{}, ""
		for {
			r := owner.Call("GET", "/folders?limit=2&appId="+owner.AppID+cursor, nil).Want(200)
			for n := range r.Len("data") {
				name := r.Text(fmt.Sprintf("data.%d.name", n))
				if seen[name] {
					t.Errorf("%s comes twice", name)
				}
				seen[name] = true
			}
			if r.Value("pagination.hasMore") == "false" {
				break
			}
			cursor = "&cursor=" + r.Text("pagination.nextCursor")
		}
		if len(seen) != 7 {
			t.Errorf("%d folders, want 7", len(seen))
		}
	})
}

func TestRemovalWithLinks(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		for _, c := range []struct{ path, member string }{{"/folders", "folderId"}, {"/campaigns", "campaignId"}} {
			r := owner.Call("POST", c.path, M{"appId": owner.AppID, "name": "x"}).Want(201)
			path := c.path + "/" + r.Text("data.id")
			link := owner.Link("in-"+c.member, M{c.member: r.Text("data.id")}).Want(201).
				Has("data."+c.member, r.Value("data.id"))
			owner.Call("GET", path, nil).Want(200).Has("data.linkCount", "1")
			owner.Call("DELETE", path, nil, apitest.IfMatch(r.Revision())).Refused(fault.ResourceConflict).
				Has("error.dependencies.0.type", `"link"`).Has("error.dependencies.0.count", "1").
				Has("error.dependencies.0.ids.0", link.Value("data.id"))
			owner.Call("PATCH", "/links/"+apitest.Path(link.Text("data.id")), M{c.member: nil},
				apitest.IfMatch(link.Revision())).Want(200).Has("data."+c.member, "null")
			owner.Call("DELETE", path, nil, apitest.IfMatch(r.Revision())).Want(204)
		}
		// A tag takes itself off its links.
		tag := owner.Call("POST", "/tags", M{"appId": owner.AppID, "name": "x"}).Want(201)
		link := owner.Link("tagged", nil).Want(201)
		path := "/links/" + apitest.Path(link.Text("data.id"))
		tagged := owner.Call("PUT", path+"/tags", M{"tagIds": []string{tag.Text("data.id")}},
			apitest.IfMatch(link.Revision())).Want(200)
		owner.Call("DELETE", "/tags/"+tag.Text("data.id"), nil, apitest.IfMatch(tag.Revision())).Want(204)
		untagged := owner.Call("GET", path+"/tags", nil).Want(200).Has("data.tagIds", "[]")
		owner.Call("PUT", path+"/tags", M{"tagIds": []string{}}, apitest.IfMatch(tagged.Revision())).
			Refused(fault.RevisionConflict)
		owner.Call("PUT", path+"/tags", M{"tagIds": []string{}}, apitest.IfMatch(untagged.Revision())).Want(200)
	})
}

func TestCampaignDates(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		body := M{"appId": owner.AppID, "name": "x", "startsAt": "2026-12-01T00:00:00Z",
			"endsAt": "2026-12-01T00:00:00Z"}
		owner.Call("POST", "/campaigns", body).Refused(fault.ValidationFailed, "/endsAt")
		body["endsAt"] = "2026-12-02T00:00:00Z"
		r := owner.Call("POST", "/campaigns", body).Want(201)
		path := "/campaigns/" + r.Text("data.id")
		owner.Call("PATCH", path, M{"startsAt": "2026-12-02T00:00:00Z"}, apitest.IfMatch(r.Revision())).
			Refused(fault.ValidationFailed, "/endsAt")
		owner.Call("PATCH", path, M{"startsAt": nil}, apitest.IfMatch(r.Revision())).Want(200).
			Has("data.startsAt", "null")
		owner.Call("POST", "/campaigns", M{"appId": owner.AppID, "name": "y", "utm": M{"sources": "x"}}).
			Refused(fault.ValidationFailed, "/utm/sources")
	})
}
