package link_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waymarkhq/waymark/internal/apitest"
	"github.com/waymarkhq/waymark/internal/store"
)

// many fills the owner's app with links: nine in ten in folder f0, campaign c0
// and with tag t0, the others spread thin; one link in a thousand is archived,
// scheduled or expired, every second has a limit; "needle" is in the text of the
// oldest alone.
func many(b *testing.B, i *apitest.Installation, owner *apitest.Client, n int, description string) {
	b.Helper()
	err := i.DB.InTx(b.Context(), func(tx *store.Tx) error {
		start := i.Clock.Now().Add(-time.Duration(n) * time.Second)
		for k := range n {
			at, id := start.Add(time.Duration(k)*time.Second), fmt.Sprintf("%s:%036d", owner.Host, k)
			place := 0
			if k%10 == 9 {
				place = 1 + k/10%100
			}
			search := fmt.Sprintf("summer sale %d\n%s %d\ns%d", k, description, k%52, k)
			if k == 0 {
				search = "needle\n" + search
			}
			var starts, expires, limit any
			if k%2 == 0 {
				limit = 1000
			}
			switch k % 3000 {
			case 1000:
				starts = i.Clock.Now().Add(time.Hour)
			case 2000:
				expires = start
			}
			if _, err := tx.Exec(context.Background(), `INSERT INTO link (id, app_id, hostname, prefix, slug, search,
				folder_id, campaign_id, archived, starts_at, expires_at, max_clicks, utm, title,
				description, desktop_url, parameters, web_only, behavior, link_group, origin, template_data,
				template_selection, revision, created_at, updated_at,
				publication_status, publication_attempts, publication_updated_at)
				VALUES (?, ?, ?, '', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, '{}', ?, 'manual', 'operational', 'api', '{}',
				?, ?, ?, ?, 'synced', 0, ?)`,
				id, owner.AppID, owner.Host, fmt.Sprintf("s%d", k), search, fmt.Sprintf("f%d", place),
				fmt.Sprintf("c%d", place), k%3000 == 0, starts, expires, limit,
				`{"source":null,"medium":null,"campaign":null,"term":null,"content":null}`, "Summer sale", description,
				"https://www.example.com/some/page?of=the&site=1", false,
				`{"android":null,"ios":null,"recovery":null}`, "7b711433-cd54-47c4-bbb9-cb64c7d9922b", at, at,
				at); err != nil {
				return err
			}
			if _, err := tx.Exec(context.Background(), `INSERT INTO link_tag (tag_id, link_created_at, link_id)
				VALUES (?, ?, ?)`, fmt.Sprintf("t%d", place), at, id); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
}

// BenchmarkList reads pages of 50 of 100,000 links of one app, by every filter
// and by combinations that are hard: matches that are rare or all at the end,
// with texts of some 60 and of some 900 characters. p50 is in milliseconds.
func BenchmarkList(b *testing.B) {
	for _, words := range []int{1, 22} {
		i := apitest.New(b, "sqlite", apitest.Options{LimitScale: 1e6})
		owner := i.Prepared(b, "ann@example.com")
		const n = 100_000
		many(b, i, owner, n, strings.TrimSpace(strings.Repeat("the newsletter tells of it in the week ", words)))
		last := i.Clock.Now().Add(-(n - 50) * time.Second).String()
		for _, query := range []string{
			"", "order=createdAt:asc", "createdTo=" + last, "folderId=f0", "folderId=f7", "campaignId=c0",
			"campaignId=c7", "tagId=t0", "tagId=t7",
			"state=active", "state=archived", "state=scheduled", "state=expired", "archived=true", "group=main",
			"prefix=x", "domain=other.example", "origin=app",
			"q=summer", "q=needle", "q=nowhere", "folderId=f0&q=needle", "folderId=f7&q=needle", "tagId=t7&q=nowhere",
			"tagId=t7&state=expired", "tagId=t0&state=expired",
			"tagId=t0&state=archived", "tagId=t0&group=main", "tagId=t7&group=operational", "tagId=t0&folderId=f7",
			"folderId=f7&archived=true",
			"campaignId=c7&folderId=f8", "folderId=f0&state=scheduled&group=operational",
			"state=active&q=nowhere&prefix=&domain=" + owner.Host, "tagId=t0&q=needle",
		} {
			b.Run(fmt.Sprintf("%d/%s", words*40, query), func(b *testing.B) {
				var times []time.Duration
				for b.Loop() {
					started := time.Now()
					owner.Call("GET", "/links?appId="+owner.AppID+"&"+query, nil).Want(200)
					times = append(times, time.Since(started))
				}
				slices.Sort(times)
				b.ReportMetric(float64(times[len(times)/2].Microseconds())/1000, "p50-ms")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}
