package analytics_test

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/waymarkhq/waymark/internal/apitest"
	"github.com/waymarkhq/waymark/internal/eventstore"
	"github.com/waymarkhq/waymark/internal/eventstore/database"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
	"github.com/waymarkhq/waymark/internal/turns"
)

// endless is a query without an end.
const endless = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT 1 FROM n) SELECT count(*) FROM n"

// While heavy reads of one owner do not end, and more wait, all is done that another one
// asks for: reads of events, lists that search, other calls of the API, writes and visits,
// also of a link that is in no memory yet.
func TestHeavyReadsOfOneOwnerStopNobody(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		eve := i.Prepared(t, "eve@example.com")
		eve.Link("here", M{"desktopUrl": "https://example.com/"}).Want(201)
		eve.Link("there", M{"desktopUrl": "https://example.com/"}).Want(201)
		i.Settle(t)
		redirected := func(r *http.Response) bool { return r.StatusCode == http.StatusFound }
		i.Visit(t, "https://"+eve.Host+"/here", nil, redirected)
		i.LoadClicks(t)

		events, pool := database.Open(i.DB), i.Turns
		events.Share(pool)
		ctx, leave := context.WithCancel(t.Context())
		defer leave()
		var reads sync.WaitGroup
		for range 20 {
			reads.Go(func() {
				err := pool.Do(ctx, "greedy", func(ctx context.Context, turn *turns.Turn) error {
					return turn.Each(ctx, 1, func(int, int) error {
						_, err := store.One(ctx, i.DB.Long(), store.Value[int64], endless)
						return err
					})
				})
				if !errors.Is(err, context.Canceled) && !errors.Is(err, turns.ErrSlow) {
					t.Errorf("a heavy read ended with %v", err)
				}
			})
		}
		storetest.Eventually(t, "heavy reads run and wait", func() bool {
			return pool.Load() == turns.Load{Running: 4, Waiting: 16}
		})
		day := "&start=2000-01-01T00:00:00Z&end=2000-01-02T00:00:00Z"
		eve.Call("GET", "/me", nil).Want(200)
		eve.Call("GET", "/analytics/summary?appId="+eve.AppID+day, nil).Want(200)
		eve.Call("GET", "/links?q=here&appId="+eve.AppID, nil).Want(200)
		eve.Call("GET", "/requests?status=200&appId="+eve.AppID, nil).Want(200)
		eve.Link("new", M{"desktopUrl": "https://example.com/"}).Want(201)
		i.Settle(t)
		for _, slug := range []string{"here", "there", "new"} {
			i.Visit(t, "https://"+eve.Host+"/"+slug, nil, redirected)
		}
		i.LoadClicks(t)
		rows, err := eventstore.Count(t.Context(), events, eventstore.Query{Filter: eventstore.Filter{Account: "eve",
			AppID: eve.AppID, Start: storetest.Start, End: storetest.Start.Add(400 * 24 * time.Hour)}})
		if err != nil || len(rows) != 1 {
			t.Errorf("another app's read: %+v, %v", rows, err)
		}
		leave()
		reads.Wait()
		if load := pool.Load(); load != (turns.Load{}) {
			t.Errorf("left behind: %+v", load)
		}
	})
}
