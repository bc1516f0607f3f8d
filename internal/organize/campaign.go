package organize

import (
	"context"

	"github.com/go-json-experiment/json"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/dependents"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/opt"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/utm"
)

// Campaign groups links for a purpose and a time, and gives them its UTM
// parameters where they have none of their own.
type Campaign struct {
	Common
	UTM       utm.UTM        `json:"utm"`
	StartsAt  *clock.Instant `json:"startsAt" format:"date-time" doc:"For the owner's own use: links have their own lifecycle."`
	EndsAt    *clock.Instant `json:"endsAt" format:"date-time"`
	LinkCount int64          `json:"linkCount" doc:"How many links refer to it. Not part of the revision."`
}

func (c Campaign) ref() op.Ref { return c.Common.ref("campaign") }

var campaigns = table[Campaign]{
	name: "campaign", columns: []string{"utm", "starts_at", "ends_at"},
	computed: "(SELECT COUNT(*) FROM link WHERE link.campaign_id = campaign.id)",
	common:   func(c *Campaign) *Common { return &c.Common },
	values: func(c *Campaign) ([]any, error) {
		text, err := json.Marshal(c.UTM)
		return []any{string(text), c.StartsAt, c.EndsAt}, err
	},
	scan: func(r store.Row, c *Campaign, common []any) error {
		var text string
		if err := r.Scan(append(common, &text, &c.StartsAt, &c.EndsAt, &c.LinkCount)...); err != nil {
			return err
		}
		return json.Unmarshal([]byte(text), &c.UTM)
	},
}

// Republish asks for the links of a campaign to be published again, as part of
// the transaction that changed what they take from it.
type Republish func(ctx context.Context, tx *store.Tx, c Campaign) error

type campaignService struct{ republish Republish }

// AppOfCampaign implements op.AppFinder.
func AppOfCampaign(ctx context.Context, q store.Q, id string) (_ string, err error) {
	defer fault.Wrap(&err, "organize.AppOfCampaign(%s)", id)
	return campaigns.appOf(ctx, q, id)
}

// CampaignUTM returns the parameters of a campaign of an app, or
// store.ErrNotFound.
func CampaignUTM(ctx context.Context, q store.Q, appID, id string) (u utm.UTM, err error) {
	defer fault.Wrap(&err, "organize.CampaignUTM(%s, %s)", appID, id)
	text, err := store.One(ctx, q, store.Value[string], "SELECT utm FROM campaign WHERE id = ? AND app_id = ?", id,
		appID)
	if err == nil {
		err = json.Unmarshal([]byte(text), &u)
	}
	return u, err
}

func registerCampaigns(p *op.Pipeline, republish Republish) {
	h := campaignService{republish}
	app := op.AppOf("campaignId", campaigns.appOf)
	op.List(p, op.Op{ID: "getCampaigns", Method: "GET", Path: "/campaigns", Perm: "campaigns:read", App: op.AppInQuery,
		Summary: "List campaigns"}, campaigns.list)
	op.Write(p, op.Op{ID: "createCampaigns", Method: "POST", Path: "/campaigns", Perm: "campaigns:create",
		App: op.AppInBody, Summary: "Create a campaign"}, createCampaign)
	op.Read(p, op.Op{ID: "getCampaignsCampaignId", Method: "GET", Path: "/campaigns/{campaignId}",
		Perm: "campaigns:read", App: app, Summary: "Get a campaign"}, getCampaign)
	op.Write(p, op.Op{ID: "updateCampaignsCampaignId", Method: "PATCH", Path: "/campaigns/{campaignId}",
		Perm: "campaigns:update", App: app, IfMatch: op.IfMatchRequired, Summary: "Update a campaign",
		Doc: "Only the fields sent change; null clears one. Its links take over changed parameters when they are " +
			"published again, which starts at once."}, h.update)
	op.Write(p, op.Op{ID: "deleteCampaignsCampaignId", Method: "DELETE", Path: "/campaigns/{campaignId}",
		Perm: "campaigns:delete", App: app, IfMatch: op.IfMatchRequired, Summary: "Delete a campaign",
		Doc: "A campaign that links refer to stays: 409 with its dependencies."}, removeCampaign)
}

// SetCampaign are the fields of a campaign that a client may leave out.
type SetCampaign struct {
	UTM      opt.Opt[utm.SetUTM]     `json:"utm,omitzero"`
	StartsAt opt.Null[clock.Instant] `json:"startsAt,omitzero" format:"date-time"`
	EndsAt   opt.Null[clock.Instant] `json:"endsAt,omitzero" format:"date-time"`
}

func (b *SetCampaign) apply(c *Campaign) error {
	b.UTM.Value.Apply(&c.UTM)
	b.StartsAt.Apply(&c.StartsAt)
	b.EndsAt.Apply(&c.EndsAt)
	if c.StartsAt != nil && c.EndsAt != nil && *c.StartsAt >= *c.EndsAt {
		return fault.Invalid("/endsAt", fault.ReasonOutOfRange, "the end must be after startsAt")
	}
	return nil
}

// CreateCampaign is the body of createCampaigns.
type CreateCampaign struct {
	CreateCommon
	SetCampaign
}

// SchemaName implements schema.Named.
func (CreateCampaign) SchemaName() string { return "CampaignCreate" }

func createCampaign(ctx context.Context, _ *op.Call, tx *store.Tx,
	in *struct{ Body CreateCampaign }) (op.Item[Campaign], error) {
	var v Campaign
	in.Body.CreateCommon.apply(&v.Common)
	err := in.Body.SetCampaign.apply(&v)
	if err == nil {
		err = campaigns.insert(ctx, tx, &v)
	}
	return created(v, v.ref()), err
}

type campaignInput struct {
	CampaignID string `path:"campaignId"`
}

func getCampaign(ctx context.Context, c *op.Call, in *campaignInput) (op.Item[Campaign], error) {
	v, err := campaigns.load(ctx, c.DB, in.CampaignID)
	return op.Item[Campaign]{Data: v, Ref: v.ref()}, err
}

// UpdateCampaign is the body of updateCampaignsCampaignId.
type UpdateCampaign struct {
	UpdateCommon
	SetCampaign
}

// SchemaName implements schema.Named.
func (UpdateCampaign) SchemaName() string { return "CampaignPatch" }

type updateCampaignInput struct {
	CampaignID string `path:"campaignId"`
	Body       UpdateCampaign
}

func (h campaignService) update(ctx context.Context, c *op.Call, tx *store.Tx,
	in *updateCampaignInput) (op.Item[Campaign], error) {
	v, err := campaigns.current(ctx, c, tx, in.CampaignID)
	if err != nil {
		return op.Item[Campaign]{}, err
	}
	in.Body.UpdateCommon.apply(&v.Common)
	if err = in.Body.SetCampaign.apply(&v); err == nil {
		err = campaigns.save(ctx, tx, &v)
	}
	// Also when the parameters are what they were: that is how an owner starts
	// again what could not be published.
	if err == nil && in.Body.UTM.Set && v.LinkCount > 0 {
		err = h.republish(ctx, tx, v)
	}
	return op.Item[Campaign]{Data: v, Ref: v.ref()}, err
}

func removeCampaign(ctx context.Context, c *op.Call, tx *store.Tx, in *campaignInput) (op.Item[op.Nothing], error) {
	v, err := campaigns.current(ctx, c, tx, in.CampaignID)
	if err == nil {
		err = dependents.Refuse(ctx, tx, v.ID, dependents.Query{Type: "link", SQL: `SELECT id FROM link
			WHERE campaign_id = ?`})
	}
	if err == nil {
		err = campaigns.remove(ctx, tx, v.ID)
	}
	return op.Removed(v.ref()), err
}
