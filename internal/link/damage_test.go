package link_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/waymarkhq/waymark/internal/apitest"
	"github.com/waymarkhq/waymark/internal/asset"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/link"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/opt"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
)

// exec changes what is stored, as no operation would.
func exec(t *testing.T, i *apitest.Installation, statement string, args ...any) {
	t.Helper()
	if n, err := i.DB.Exec(t.Context(), statement, args...); err != nil || n == 0 {
		t.Fatalf("%s: %d rows, %v", statement, n, err)
	}
}

// A destination is refused when it cannot be told where the link behind it leads: its rules are damaged.
func TestDamagedRulesOnTheWay(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		owner.Link("a", nil).Want(201)
		toA := M{"desktopUrl": "https://" + owner.Host + "/a"}
		exec(t, i, "UPDATE link SET routing_rules = '!' || routing_rules")
		owner.Link("b", toA).Refused(fault.Internal)
		if got := slugs(owner, ""); got != "a" {
			t.Errorf("links %q", got)
		}
		exec(t, i, "UPDATE link SET routing_rules = SUBSTR(routing_rules, 2)")
		owner.Link("b", toA).Want(201)
	})
}

// A link whose values are damaged is not changed: its history could not name what did.
func TestDamagedLinkIsNotChanged(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		r := owner.Link("a", M{"parameters": M{"color": "red"}}).Want(201)
		path := "/links/" + apitest.Path(r.Text("data.id"))
		change := M{"title": "T", "parameters": M{}}
		exec(t, i, "UPDATE link SET parameters = '!' || parameters")
		owner.Call("PATCH", path, change, apitest.IfMatch(r.Revision())).Refused(fault.Internal)
		exec(t, i, "UPDATE link SET parameters = SUBSTR(parameters, 2)")
		owner.Call("GET", path, nil).Want(200).Has("data.title", "null").Has("data.revision", r.Value("data.revision"))
		owner.Call("PATCH", path, change, apitest.IfMatch(r.Revision())).Want(200).Has("data.parameters", "{}")
	})
}

// A publication whose job cannot be read is not taken for done, and is made once it can be.
func TestDamagedPublication(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		campaign := owner.Call("POST", "/campaigns", M{"appId": owner.AppID, "name": "c", "utm": M{"source": "one"}}).
			Want(201)
		owner.Link("a", M{"campaignId": campaign.Text("data.id")}).Want(201)
		address := "https://" + owner.Host + "/a"
		waiting := func(want int) {
			t.Helper()
			if n, err := store.One(t.Context(), i.DB, store.Value[int], "SELECT COUNT(*) FROM job"); err != nil || n != want {
				t.Errorf("%d jobs, %v; want %d", n, err, want)
			}
		}
		// damaged runs the one job that there is with a damaged payload, then with its own.
		damaged := func(told bool) {
			t.Helper()
			exec(t, i, "UPDATE job SET payload = '!' || payload")
			if n, err := i.CycleIn(t.Context()); n != 1 || (err != nil) != told {
				t.Errorf("a cycle with %d jobs: %v", n, err)
			}
			waiting(1)
			exec(t, i, "UPDATE job SET payload = SUBSTR(payload, 2)")
			i.Clock.Move(time.Minute)
			i.Settle(t)
			waiting(0)
		}
		damaged(true) // the link that it is about is not known, so the failure cannot be recorded
		i.Visit(t, address, nil, goes("https://example.com/a?utm_source=one"))
		owner.Call("PATCH", "/campaigns/"+campaign.Text("data.id"), M{"utm": M{"source": "two"}},
			apitest.IfMatch(campaign.Revision())).Want(200)
		damaged(false)
		i.Visit(t, address, nil, goes("https://example.com/a?utm_source=two"))
	})
}

// A call that cannot read or write all that it needs fails: a preview without the link's image, campaign, tags or rules is
// none, and a change has all of its effects or none.
func TestCallsNeedAllOfALink(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		image := owner.Upload("image/png", apitest.Picture(t)).Want(201).Text("data.url")
		campaign, tag := created(owner, "/campaigns", M{"name": "c"}), created(owner, "/tags", M{"name": "t"})
		template := newTemplate(owner, "android")
		r := owner.Link("a", M{"imageUrl": image, "campaignId": campaign}).Want(201)
		at := "/links/" + apitest.Path(r.Text("data.id"))
		for _, c := range []struct {
			method, path string
			body         any
			status       int
		}{
			{"POST", at + "/preview", M{"platform": "desktop", "source": "browser"}, 200},
			{"GET", "/links/availability?slug=a&domain=" + owner.Host, nil, 200},
			{"POST", "/links/validate", M{"appId": owner.AppID, "domain": owner.Host, "slug": "b"}, 200},
			{"PUT", at + "/tags", M{"tagIds": []string{tag}}, 200},
			{"PUT", at + "/routing-rules", M{"rules": []M{{"destinationUrl": "https://" + owner.Host + "/b"}}}, 200},
			{"PATCH", at, M{"templateSelection": M{"android": custom(template)}, "desktopUrl": "https://" + owner.Host + "/c"}, 200},
			{"POST", at + "/resync", M{}, 202},
			{"POST", at + "/duplicate", M{"slug": "copy"}, 201},
			{"DELETE", at, nil, 204},
		} {
			match := func(*http.Request) {}
			if c.path != "/links/validate" && c.method != "GET" {
				match = apitest.IfMatch(owner.Call("GET", at, nil).Want(200).Revision())
			}
			apitest.EveryStatement(t, c.method+" "+c.path, func(failing apitest.With) *apitest.Response {
				return owner.Call(c.method, c.path, c.body, match, failing)
			}, func() string {
				return owner.Call("GET", at, nil).Want(200).Value("data") +
					owner.Call("GET", at+"/history", nil).Want(200).Value("data")
			}).Want(c.status)
		}
	})
}

// Trying a creation tells what would be wrong with it, and what could not be found out.
func TestTry(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		owner.Link("taken", nil).Want(201)
		s := link.New(link.Addresses{Scheme: "https"}, asset.Addresses{Scheme: "https", Host: "assets.example"})
		try := func(ctx context.Context, slug, folder string) ([]fault.Detail, error) {
			body := &link.CreateLink{AppID: owner.AppID, Domain: owner.Host, Slug: slug}
			body.DesktopURL = opt.NullOf("https://" + owner.Host + "/other")
			if folder != "" {
				body.FolderID = opt.NullOf(folder)
			}
			return s.Try(ctx, i.DB, body)
		}
		for _, c := range []struct{ slug, folder, path string }{
			{"free", "", ""}, {"taken", "", "/slug"}, {"free", "none", "/folderId"}, {"taken", "none", "/folderId"},
		} {
			var path string
			wrong, err := try(t.Context(), c.slug, c.folder)
			if len(wrong) > 0 {
				path = wrong[0].Path
			}
			if err != nil || len(wrong) > 1 || path != c.path {
				t.Errorf("%+v: %v, %v", c, wrong, err)
			}
		}
		folder, template := created(owner, "/folders", M{"name": "f"}), newTemplate(owner, "android")
		storetest.Faulty(t, func(ctx context.Context) error {
			_, err := try(ctx, "free", folder)
			return err
		})
		storetest.Faulty(t, func(ctx context.Context) error {
			body := &link.CreateLink{AppID: owner.AppID, Domain: owner.Host, Slug: "free"}
			text := `{"templateSelection":{"android":{"mode":"custom","templateId":"` + template + `","version":1}},"templateData":{}}`
			if err := json.Unmarshal([]byte(text), &body.Content); err != nil {
				t.Fatal(err)
			}
			_, err := s.Try(ctx, i.DB, body)
			return err
		})
	})
}

// The templates of a link are those of a link of the app that the call concerns.
func TestTemplatesOfAnotherApp(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner, eve := i.Prepared(t, "ann@example.com"), i.Prepared(t, "eve@example.com")
		id := owner.Link("a", nil).Want(201).Text("data.id")
		s := link.New(link.Addresses{Scheme: "https"}, asset.Addresses{})
		for app, found := range map[string]bool{owner.AppID: true, eve.AppID: false, "": false} {
			templates, err := s.Templates(t.Context(), i.DB, &op.Call{AppID: app}, id)
			if found && (err != nil || templates.Ref().ID != id) || !found && !fault.Is(err, fault.NotFound) {
				t.Errorf("for app %q: %v", app, err)
			}
		}
	})
}
