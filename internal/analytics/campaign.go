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
	a, err := query.ask(ctx, c, "")
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
	units := a.units(days)
	counted, err := s.events.Count(ctx, a.Filter, inTotal, a.inBuckets(units), byLink(op.Window{Limit: campaignLinks}))
	if err != nil {
		return op.Item[Campaign]{}, err
	}
	links, err := s.links(ctx, c.DB, a.AppID, counted[2])
	return op.Item[Campaign]{Data: Campaign{Common: a.common, Totals: totalsOf(&counted[0][0]),
		Buckets: bucketsOf(units, counted[1]), TopLinks: links}}, err
}
