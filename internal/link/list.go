package link

import (
	"context"

	"golang.org/x/text/unicode/norm"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/fold"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/weburl"
)

type listInput struct {
	AppID       string         `query:"appId" required:"true" maxLength:"500"`
	Domain      string         `query:"domain" maxLength:"253"`
	Prefix      *string        `query:"prefix" maxLength:"200" allowEmpty:"true" doc:"Empty: links without prefix."`
	Group       string         `query:"group" enum:"main,operational"`
	Origin      string         `query:"origin" maxLength:"50"`
	Q           string         `query:"q" maxLength:"200" doc:"Text that title, description or slug contain, ignoring case but not accents."`
	CreatedFrom *clock.Instant `query:"createdFrom" format:"date-time" doc:"Inclusive."`
	CreatedTo   *clock.Instant `query:"createdTo" format:"date-time" doc:"Exclusive."`
	Order       string         `query:"order" enum:"createdAt:asc,createdAt:desc" doc:"Default createdAt:desc."`
	FolderID    string         `query:"folderId" maxLength:"100"`
	CampaignID  string         `query:"campaignId" maxLength:"100"`
	TagID       string         `query:"tagId" maxLength:"100"`
	State       string         `query:"state" enum:"active,scheduled,expired,archived"`
	Archived    *bool          `query:"archived"`
}

func (s *service) list(ctx context.Context, c *op.Call, in *listInput, w op.Window) ([]Link, error) {
	where := in.where(c.Now)
	order := w.Keyset(where, "created_at", "id", in.Order != "createdAt:asc")
	links, err := store.All(ctx, c.DB, scan, "SELECT "+columns+" FROM link"+where.String()+order, where.Args(w.Limit)...)
	for i := range links {
		s.finish(&links[i], c)
	}
	return links, err
}

// where returns the condition of all filters together.
func (in *listInput) where(now clock.Instant) *store.Where {
	var w store.Where
	w.And("app_id = ?", in.AppID)
	for _, f := range []struct{ column, value string }{
		{"link_group", in.Group}, {"origin", in.Origin}, {"folder_id", in.FolderID}, {"campaign_id", in.CampaignID},
	} {
		if f.value != "" {
			w.And(f.column+" = ?", f.value)
		}
	}
	if in.Prefix != nil {
		w.And("prefix = ?", norm.NFC.String(*in.Prefix))
	}
	if in.Domain != "" {
		host, _ := weburl.Hostname(in.Domain) // "" matches no link, as a malformed name should
		w.And("hostname = ?", host)
	}
	if in.Q != "" {
		w.And(`search LIKE ? ESCAPE '\'`, fold.Contains(in.Q))
	}
	if in.CreatedFrom != nil {
		w.And("created_at >= ?", *in.CreatedFrom)
	}
	if in.CreatedTo != nil {
		w.And("created_at < ?", *in.CreatedTo)
	}
	if in.TagID != "" {
		w.And("id IN (SELECT link_id FROM link_tag WHERE tag_id = ?)", in.TagID)
	}
	if in.Archived != nil {
		w.And("archived = ?", *in.Archived)
	}
	switch in.State {
	case "archived":
		w.And("archived")
	case "scheduled":
		w.And("NOT archived AND starts_at > ?", now)
	case "expired":
		w.And("NOT archived AND (starts_at IS NULL OR starts_at <= ?) AND expires_at <= ?", now, now)
	case "active":
		w.And("NOT archived AND (starts_at IS NULL OR starts_at <= ?) AND (expires_at IS NULL OR expires_at > ?)", now, now)
	}
	return &w
}
