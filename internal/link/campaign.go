package link

import (
	"context"
	"fmt"

	"github.com/go-json-experiment/json"

	"github.com/waymarkhq/waymark/internal/actor"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/jobs"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/route"
	"github.com/waymarkhq/waymark/internal/store"
)

type campaignInput struct {
	CampaignID string `path:"campaignId"`
}

func (s *service) ofCampaign(ctx context.Context, c *op.Call, in *campaignInput, w op.Window) ([]Link, error) {
	return s.list(ctx, c, &listInput{AppID: c.AppID, CampaignID: in.CampaignID}, w)
}

// jobPublishCampaign is the kind of the job that brings changed parameters of a
// campaign to the routes of its links, a page of them at a time.
const jobPublishCampaign = "link.publish_campaign"

// campaignPage is the payload: the links of a campaign after one of them.
type campaignPage struct {
	CampaignID string        `json:"campaignId"`
	AfterAt    clock.Instant `json:"afterAt"`
	AfterID    string        `json:"afterId"`
}

// campaignPageSize bounds a transaction, for which other publications wait.
const campaignPageSize = 100

// PublishCampaign implements organize.Republish.
func PublishCampaign(ctx context.Context, tx *store.Tx, appID, campaignID string) error {
	return enqueuePage(ctx, tx, campaignPage{CampaignID: campaignID}, appID)
}

func enqueuePage(ctx context.Context, tx *store.Tx, page campaignPage, appID string) error {
	payload, err := json.Marshal(page)
	if err != nil {
		return err
	}
	return jobs.Enqueue(ctx, tx, jobPublishCampaign, string(payload), appID, actor.Grant{})
}

// publishCampaign publishes one page and leaves a job for the next. A link that
// enters or leaves the campaign meanwhile is published for that by itself.
func publishCampaign(ctx context.Context, tx *store.Tx, j jobs.Job) error {
	var page campaignPage
	if err := json.Unmarshal([]byte(j.Payload), &page); err != nil {
		return fmt.Errorf("payload of job %s: %w", j.ID, err)
	}
	publisher, err := route.Lock(ctx, tx)
	if err != nil {
		return err
	}
	links, err := store.All(ctx, tx, scan, selection+" WHERE campaign_id = ? AND (created_at, id) > (?, ?) ORDER BY created_at, id LIMIT ?",
		page.CampaignID, page.AfterAt, page.AfterID, campaignPageSize)
	if err != nil || len(links) == 0 {
		return err
	}
	for i := range links {
		if err := put(ctx, tx, publisher, &links[i]); err != nil {
			return err
		}
	}
	last := links[len(links)-1]
	return enqueuePage(ctx, tx, campaignPage{CampaignID: page.CampaignID, AfterAt: last.CreatedAt, AfterID: last.ID}, j.AppID)
}
