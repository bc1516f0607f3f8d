package assembly_test

import (
	"slices"
	"sync"
	"testing"

	"github.com/waymarkhq/waymark/internal/apitest"
	"github.com/waymarkhq/waymark/internal/store"
)

// What is created while its app is deleted is refused like one of an app that is gone, or
// keeps the app; nothing outlives it.
func TestCreationsBesideTheDeletionOfTheirApp(t *testing.T) {
	picture := apitest.Picture(t)
	// An image goes with its app; all else keeps it.
	creations := []func(c *apitest.Client) *apitest.Response{
		func(c *apitest.Client) *apitest.Response { return c.Upload("image/png", picture) },
		func(c *apitest.Client) *apitest.Response {
			return c.Call("POST", "/templates", M{"appId": c.AppID, "name": "x", "baseTemplateId": "android"})
		},
		func(c *apitest.Client) *apitest.Response {
			return c.Call("POST", "/exports", M{"appId": c.AppID, "dataset": "links", "format": "csv"})
		},
	}
	for _, kind := range []string{"tags", "folders", "campaigns"} {
		creations = append(creations, func(c *apitest.Client) *apitest.Response {
			return c.Call("POST", "/"+kind, M{"appId": c.AppID, "name": "x"})
		})
	}
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		deleted := 0
		for round := range 20 {
			owner := i.Owner(t, "ann@example.com")
			owner.AppID = owner.Call("POST", "/apps", M{"name": "App"}).Want(201).Text("data.id")
			path := "/apps/" + owner.AppID
			match := apitest.IfMatch(owner.Call("GET", path, nil).Revision())
			var all sync.WaitGroup
			some := creations
			if round%2 == 0 {
				some = creations[:1]
			}
			for _, create := range some {
				all.Go(func() {
					if r := create(owner); !slices.Contains([]int{201, 202, 404}, r.Status) {
						t.Errorf("beside the deletion: %d %s", r.Status, r.Body)
					}
				})
			}
			all.Go(func() {
				if r := owner.Call("DELETE", path, nil, match); !slices.Contains([]int{204, 409}, r.Status) {
					t.Errorf("the deletion: %d %s", r.Status, r.Body)
				} else if r.Status == 204 {
					deleted++
				}
			})
			all.Wait()
			i.Settle(t)
			left, err := store.One(t.Context(), i.DB, store.Value[int64], `SELECT COUNT(*) FROM asset
				WHERE state = 'active' AND NOT EXISTS (SELECT 1 FROM app WHERE app.id = asset.app_id)`)
			if err != nil || left > 0 {
				t.Fatalf("%d images of no app, %v", left, err)
			}
		}
		if deleted == 0 {
			t.Error("no app was deleted")
		}
	})
}
