package link

import (
	"context"
	"strings"

	"github.com/waymarkhq/waymark/internal/asset"
	"github.com/waymarkhq/waymark/internal/organize"
	"github.com/waymarkhq/waymark/internal/route"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/utm"
	"github.com/waymarkhq/waymark/internal/weburl"
)

// put publishes a link as it is now.
func put(ctx context.Context, tx *store.Tx, publisher *route.Publisher, l *Link) error {
	document, err := l.document(ctx, tx)
	if err != nil {
		return err
	}
	return publisher.PutLink(ctx, l.Domain, route.Path(l.Prefix, l.Slug), l.Revision, document)
}

// document is what the redirector needs of a link.
func (l *Link) document(ctx context.Context, q store.Q) (route.Link, error) {
	text := func(s *string) string {
		if s == nil {
			return ""
		}
		return *s
	}
	address := func(s *string) string {
		if s == nil {
			return ""
		}
		return weburl.ASCIIHost(*s)
	}
	document := route.Link{
		LinkID: l.ID, AppID: l.AppID, Prefix: l.Prefix, Slug: l.Slug, Group: l.Group,
		CampaignID: text(l.CampaignID), FolderID: text(l.FolderID),
		Archived: l.Lifecycle.Archived, StartsAt: l.Lifecycle.StartsAt, ExpiresAt: l.Lifecycle.ExpiresAt,
		MaxClicks: l.Lifecycle.MaxClicks, ExpiredURL: address(l.Lifecycle.ExpiredURL),
		DesktopURL: address(l.DesktopURL), PlayStoreURL: address(l.PlayStoreURL), AppStoreURL: address(l.AppStoreURL),
		WebOnly: l.WebOnly, Behavior: l.Behavior, UTM: routeUTM(&l.UTM),
		Title: strings.TrimSpace(text(l.Title)), Description: strings.TrimSpace(text(l.Description)), ImageURL: text(l.ImageURL),
	}
	if l.imageAssetID != nil {
		var err error
		document.ImageWidth, document.ImageHeight, err = asset.Size(ctx, q, l.AppID, *l.imageAssetID)
		if err != nil && err != store.ErrNotFound {
			return document, err
		}
	}
	if l.CampaignID != nil {
		campaign, err := organize.CampaignUTM(ctx, q, l.AppID, *l.CampaignID)
		if err != nil && err != store.ErrNotFound {
			return document, err
		}
		document.CampaignUTM = routeUTM(&campaign)
	}
	rules, err := rulesOf(ctx, q, l.ID)
	if err != nil {
		return document, err
	}
	for _, r := range rules {
		document.Rules = append(document.Rules, route.Rule{
			ID: r.ID, Platform: route.Platform(text(r.Platform)), Country: text(r.Country), StartsAt: r.StartsAt, ExpiresAt: r.ExpiresAt,
			URL: weburl.ASCIIHost(r.DestinationURL), UTM: routeUTM(&r.UTM),
		})
	}
	document.TagIDs, err = tagsOf(ctx, q, l.ID)
	return document, err
}

func routeUTM(u *utm.UTM) route.UTM {
	v := u.Values()
	return route.UTM{Source: v[0], Medium: v[1], Campaign: v[2], Term: v[3], Content: v[4]}
}
