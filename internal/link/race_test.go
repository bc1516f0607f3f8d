package link_test

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"slices"
	"sync"
	"testing"

	"github.com/waymarkhq/waymark/internal/apitest"
	"github.com/waymarkhq/waymark/internal/store"
)

// A reference is never left to something that was removed meanwhile: of a link
// that names a thing and the removal of the thing, one is refused.
func TestReferenceRaces(t *testing.T) {
	apitest.EachWith(t, apitest.Options{LimitScale: 1e6}, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		var pixels bytes.Buffer
		if err := png.Encode(&pixels, image.NewGray(image.Rect(0, 0, 2, 2))); err != nil {
			t.Fatal(err)
		}
		things := map[string]func(n int) (path, value string, made *apitest.Response){
			"folderId": func(n int) (string, string, *apitest.Response) {
				r := owner.Call("POST", "/folders", M{"appId": owner.AppID, "name": fmt.Sprint(n)}).Want(201)
				return "/folders/", r.Text("data.id"), r
			},
			"campaignId": func(n int) (string, string, *apitest.Response) {
				r := owner.Call("POST", "/campaigns", M{"appId": owner.AppID, "name": fmt.Sprint(n)}).Want(201)
				return "/campaigns/", r.Text("data.id"), r
			},
			"imageUrl": func(int) (string, string, *apitest.Response) {
				r := owner.Upload("image/png", pixels.Bytes()).Want(201)
				return "/assets/", r.Text("data.url"), r
			},
		}
		for member, thing := range things {
			outcomes := map[string]int{}
			for n := range 12 {
				path, value, made := thing(n)
				var both sync.WaitGroup
				statuses := make([]int, 4)
				for k := range statuses {
					both.Go(func() {
						if k == 0 {
							statuses[k] = owner.Call("DELETE", path+made.Text("data.id"), nil,
								apitest.IfMatch(made.Revision())).Status
						} else {
							statuses[k] = owner.Link(fmt.Sprintf("%s-%d-%d", member, n, k), M{member: value}).Status
						}
					})
				}
				both.Wait()
				removed, linked := statuses[0] == 204, slices.Contains(statuses[1:], 201)
				if removed == linked {
					t.Errorf("%s: removal %d, links %v", member, statuses[0], statuses[1:])
				}
				outcomes[fmt.Sprint(removed)]++
			}
			t.Logf("%s: removed or not: %v", member, outcomes)
		}
		dangling, err := store.One(t.Context(), i.DB, store.Value[int], `SELECT COUNT(*) FROM link WHERE
			folder_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM folder WHERE folder.id = link.folder_id) OR
			campaign_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM campaign WHERE campaign.id = link.campaign_id) OR
			image_asset_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM asset WHERE asset.id = link.image_asset_id)`)
		if err != nil || dangling != 0 {
			t.Errorf("%d links refer to nothing, %v", dangling, err)
		}
	})
}

// Of two changes that would lead two links to each other, one is refused.
func TestCircleRaces(t *testing.T) {
	apitest.EachWith(t, apitest.Options{LimitScale: 1e6}, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		for n := range 10 {
			slugs := [2]string{fmt.Sprintf("a%d", n), fmt.Sprintf("b%d", n)}
			var links [2]*apitest.Response
			for k, slug := range slugs {
				links[k] = owner.Link(slug, nil).Want(201)
			}
			var both sync.WaitGroup
			var statuses [2]int
			for k, l := range links {
				both.Go(func() {
					statuses[k] = owner.Call("PATCH", "/links/"+apitest.Path(l.Text("data.id")),
						M{"desktopUrl": "https://" + owner.Host + "/" + slugs[1-k]},
						apitest.IfMatch(l.Revision())).Status
				})
			}
			both.Wait()
			slices.Sort(statuses[:])
			if statuses != [2]int{200, 422} {
				t.Errorf("the changes answer %v", statuses)
			}
		}
	})
}
