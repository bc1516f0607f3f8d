package analytics

import (
	"context"

	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/organize"
)

// campaignLinks is how many links the data of a campaign have.
const campaignLinks = 10

type campaignInput struct {
	CampaignID string `path:"campaignId"`
	Scope
}

// Campaign is the data of getAnalyticsCampaignsCampaignId.
type Campaign struct {
	Common
	Totals   Totals    `json:"totals"`
	Buckets  []Bucket  `json:"buckets" doc:"By days of the time zone."`
	TopLinks []TopLink `json:"topLinks" maxItems:"10" doc:"Those with the most clicks."`
}

// SchemaName implements schema.Named.
func (Campaign) SchemaName() string { return "AnalyticsCampaign" }

func (s *service) campaign(ctx context.Context, c *op.Call, in *campaignInput) (op.Item[Campaign], error) {
	query := Query{in.Scope, in.CampaignID}
	a, err := query.ask(ctx, c.DB, c.Now, "")
	if err != nil {
		return op.Item[Campaign]{}, err
	}
	there, err := organize.HasCampaign(ctx, c.DB, in.AppID, in.CampaignID)
	if err == nil && !there {
		err = fault.Missing()
	}
	if err != nil {
		return op.Item[Campaign]{}, err
	}
	data := Campaign{Common: a.common}
	if data.Totals, err = a.totals(ctx, s.events); err != nil {
		return op.Item[Campaign]{}, err
	}
	if data.Buckets, err = a.buckets(ctx, s.events, days); err != nil {
		return op.Item[Campaign]{}, err
	}
	data.TopLinks, err = a.links(ctx, c.DB, s.events, op.Window{Limit: campaignLinks})
	return op.Item[Campaign]{Data: data}, err
}
