package link

import (
	"context"

	"golang.org/x/text/unicode/norm"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/text"
	"github.com/waymarkhq/waymark/internal/weburl"
)

type listInput struct {
	AppID string `query:"appId" required:"true" maxLength:"500"`
	Filters
}

// Filters choose links of an app, in a query or in the body of an export.
type Filters struct {
	Domain      string         `query:"domain" heavy:"true" json:"domain,omitzero" format:"idn-hostname" maxLength:"253"`
	Prefix      *string        `query:"prefix" heavy:"true" json:"prefix,omitzero" maxLength:"200" allowEmpty:"true" doc:"Empty: links without prefix."`
	Group       string         `query:"group" heavy:"true" json:"group,omitzero" enum:"main,operational"`
	Origin      string         `query:"origin" heavy:"true" json:"origin,omitzero" maxLength:"50"`
	Q           string         `query:"q" heavy:"true" json:"q,omitzero" maxLength:"200" doc:"Text that title, description or slug contain, ignoring case but not accents."`
	CreatedFrom *clock.Instant `query:"createdFrom" json:"createdFrom,omitzero" format:"date-time" doc:"Inclusive."`
	CreatedTo   *clock.Instant `query:"createdTo" json:"createdTo,omitzero" format:"date-time" doc:"Exclusive."`
	Order       string         `query:"order" json:"order,omitzero" enum:"createdAt:asc,createdAt:desc" default:"createdAt:desc"`
	FolderID    string         `query:"folderId" heavy:"true" json:"folderId,omitzero" maxLength:"100"`
	CampaignID  string         `query:"campaignId" heavy:"true" json:"campaignId,omitzero" maxLength:"100"`
	TagID       string         `query:"tagId" heavy:"true" json:"tagId,omitzero" maxLength:"100"`
	State       string         `query:"state" heavy:"true" json:"state,omitzero" enum:"active,scheduled,expired,archived" doc:"As the state of a link is now."`
	Archived    string         `query:"archived" heavy:"true" json:"archived,omitzero" enum:"all,true,false" default:"all"`
}

// Chosen returns up to limit links of the call's app that filters choose.
func (s *Service) Chosen(ctx context.Context, c *op.Call, f Filters, limit int) (_ []Link, err error) {
	defer fault.Wrap(&err, "link.Chosen(%s)", c.AppID)
	return s.find(ctx, c, &listInput{AppID: c.AppID, Filters: f}, op.Window{Limit: limit})
}

func (s *Service) list(ctx context.Context, c *op.Call, in *listInput, w op.Window) ([]Link, error) {
	links, err := s.find(ctx, c, in, w)
	if err != nil || len(links) == 0 {
		return links, err
	}
	ids, tags := make([]any, len(links)), map[string][]string{}
	for i := range links {
		ids[i] = links[i].ID
	}
	err = readTags(ctx, c.DB, ids, tags)
	for i := range links {
		links[i].TagIDs = append([]string{}, tags[links[i].ID]...) // none is [], not left out
	}
	return links, err
}

// find reads through an index that has the links in their order: the tag's, the
// folder's or the campaign's when nothing else is asked for, otherwise the one
// of all links of the app, which holds every column that a filter looks at. So
// a page costs its rows, and a rare match a walk through one index.
func (s *Service) find(ctx context.Context, c *op.Call, in *listInput, w op.Window) ([]Link, error) {
	if in.Archived == "all" { // the default
		in.Archived = ""
	}
	byTag, err := in.byTag(ctx, c.DB)
	if err != nil {
		return nil, err
	}
	dialect := c.DB.Dialect()
	from, at, id := "link"+dialect.Indexed("link_list"), "created_at", "id"
	switch {
	case byTag:
		from, at, id = "link_tag JOIN link ON link.id = link_tag.link_id", "link_tag.link_created_at",
			"link_tag.link_id"
	case in.Q != "":
		from = "link" + dialect.Indexed("link_search")
	case in.FolderID != "" && in.only(Filters{FolderID: in.FolderID}):
		from = "link" + dialect.Indexed("link_folder")
	case in.CampaignID != "" && in.only(Filters{CampaignID: in.CampaignID}):
		from = "link" + dialect.Indexed("link_campaign")
	}
	where := in.where(dialect, c.Now, at)
	if byTag {
		where.And("link_tag.tag_id = ?", in.TagID)
	} else if in.TagID != "" { // last, when the others have left few links to look at
		where.And("EXISTS (SELECT 1 FROM link_tag WHERE link_id = link.id AND tag_id = ?)", in.TagID)
	}
	desc, direction := in.Order != "createdAt:asc", ""
	if desc {
		direction = " DESC"
	}
	order := w.Keyset(where, at, id, desc)
	links, err := store.All(ctx, c.DB, scan, selection+" WHERE id IN (SELECT link.id FROM "+from+where.String()+order+
		") ORDER BY created_at"+direction+", id"+direction,
		where.Args(w.Limit)...)
	for i := range links {
		s.finish(&links[i], c)
	}
	return links, err
}

// only reports whether the filters ask for nothing besides others.
func (in *listInput) only(others Filters) bool {
	others.Order = in.Order
	return in.Filters == others
}

// smallTag is the largest number of links of a tag that are looked at one by
// one.
const smallTag = 2000

// byTag reports whether to walk the links of the tag rather than those of the
// app: when nothing else is asked for, or when they are few.
func (in *listInput) byTag(ctx context.Context, q store.Q) (bool, error) {
	if in.TagID == "" || in.only(Filters{TagID: in.TagID}) {
		return in.TagID != "", nil
	}
	n, err := store.One(ctx, q, store.Value[int], `SELECT COUNT(*) FROM (SELECT 1 FROM link_tag WHERE tag_id = ?
		LIMIT ?) AS few`, in.TagID, smallTag)
	return n < smallTag, err
}

// where returns the condition of all filters together; at is the column of the
// creation that the order goes by.
func (in *listInput) where(dialect *store.Dialect, now clock.Instant, at string) *store.Where {
	var w store.Where
	w.And("link.app_id = ?", in.AppID)
	for _, f := range []struct{ column, value string }{
		{"link_group", in.Group}, {"origin", in.Origin}, {"folder_id", in.FolderID}, {"campaign_id", in.CampaignID},
	} {
		if f.value != "" {
			w.And("link."+f.column+" = ?", f.value)
		}
	}
	if in.Prefix != nil {
		w.And("link.prefix = ?", norm.NFC.String(*in.Prefix))
	}
	if in.Domain != "" {
		host, _ := weburl.Hostname(in.Domain) // "" matches no link, as a malformed name should
		w.And("link.hostname = ?", host)
	}
	if in.CreatedFrom != nil {
		w.And(at+" >= ?", *in.CreatedFrom)
	}
	if in.CreatedTo != nil {
		w.And(at+" < ?", *in.CreatedTo)
	}
	if in.Archived != "" {
		w.And("link.archived = ?", in.Archived == "true")
	}
	const started = "(link.starts_at IS NULL OR link.starts_at <= ?)"
	switch in.State {
	case "archived":
		w.And("link.archived")
	case "scheduled":
		w.And("NOT link.archived AND link.starts_at > ?", now)
	case "expired":
		w.And("NOT link.archived AND "+started+" AND (link.expires_at <= ? OR link.used_up)", now, now)
	case "active":
		w.And("NOT link.archived AND "+started+" AND (link.expires_at IS NULL OR link.expires_at > ?) AND NOT "+
			"link.used_up", now, now)
	}
	if in.Q != "" {
		w.And(dialect.Contains("link.search"), text.Fold(in.Q))
	}
	return &w
}
