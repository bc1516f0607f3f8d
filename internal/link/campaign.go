package link

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"

	"github.com/waymarkhq/waymark/internal/actor"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/jobs"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/organize"
	"github.com/waymarkhq/waymark/internal/route"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/utm"
)

type campaignInput struct {
	CampaignID string `path:"campaignId"`
}

func (s *Service) ofCampaign(ctx context.Context, c *op.Call, in *campaignInput, w op.Window) ([]Link, error) {
	return s.list(ctx, c, &listInput{AppID: c.AppID, Filters: Filters{CampaignID: in.CampaignID}}, w)
}

// jobPublishCampaign is the kind of the job that brings changed parameters of a
// campaign to the routes of its links, a page of them at a time.
const jobPublishCampaign = "link.publish_campaign"

// campaignPage is the payload: the links of a campaign after one of them, for
// the parameters that it had then.
type campaignPage struct {
	CampaignID string        `json:"campaignId"`
	UTM        utm.UTM       `json:"utm"`
	AfterAt    clock.Instant `json:"afterAt"`
	AfterID    string        `json:"afterId"`
}

// campaignPageSize bounds a transaction, for which other publications wait.
const campaignPageSize = 100

// PublishCampaign implements organize.Republish.
func PublishCampaign(ctx context.Context, tx *store.Tx, c organize.Campaign) (err error) {
	defer fault.Wrap(&err, "link.PublishCampaign(%s)", c.ID)
	return enqueuePage(ctx, tx, campaignPage{CampaignID: c.ID, UTM: c.UTM}, c.AppID)
}

func enqueuePage(ctx context.Context, tx *store.Tx, page campaignPage, appID string) error {
	payload, err := json.Marshal(page)
	if err != nil {
		return err
	}
	return jobs.Enqueue(ctx, tx, jobPublishCampaign, string(payload), appID, actor.Grant{})
}

// publishCampaign publishes one page and leaves a job for the next, unless the
// campaign has other parameters by now: then a later change publishes all its
// links again. A link that enters or leaves the campaign is published for that
// reason alone.
func publishCampaign(ctx context.Context, tx *store.Tx, j jobs.Job) error {
	var page campaignPage
	if err := json.Unmarshal([]byte(j.Payload), &page); err != nil {
		return fmt.Errorf("payload of job %s: %w", j.ID, err)
	}
	publisher, err := route.Lock(ctx, tx)
	if err != nil {
		return err
	}
	if now, err := organize.CampaignUTM(ctx, tx, j.AppID, page.CampaignID); errors.Is(err, store.ErrNotFound) ||
		err == nil && now.Values() != page.UTM.Values() {
		return nil
	} else if err != nil {
		return err
	}
	links, err := store.All(ctx, tx, scan, selection+" WHERE campaign_id = ? AND (created_at, id) > (?, ?) ORDER BY "+
		"created_at, id LIMIT ?",
		page.CampaignID, page.AfterAt, page.AfterID, campaignPageSize)
	if err != nil || len(links) == 0 {
		return err
	}
	if err := put(ctx, tx, publisher, links); err != nil {
		return err
	}
	last := links[len(links)-1]
	page.AfterAt, page.AfterID = last.CreatedAt, last.ID
	return enqueuePage(ctx, tx, page, j.AppID)
}
