package link

import (
	"context"
	"errors"
	"strings"

	"github.com/waymarkhq/waymark/internal/asset"
	"github.com/waymarkhq/waymark/internal/binding"
	"github.com/waymarkhq/waymark/internal/opt"
	"github.com/waymarkhq/waymark/internal/organize"
	"github.com/waymarkhq/waymark/internal/route"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/utm"
	"github.com/waymarkhq/waymark/internal/weburl"
)

// put publishes links as they are now.
func put(ctx context.Context, tx *store.Tx, publisher *route.Publisher, links []Link) error {
	documents, err := documents(ctx, tx, links)
	if err != nil {
		return err
	}
	routes := make([]route.LinkRoute, len(links))
	for i := range links {
		l := &links[i]
		routes[i] = route.LinkRoute{Hostname: l.Domain, Path: route.Path(l.Prefix, l.Slug), Revision: l.Revision,
			Link: documents[i]}
	}
	return publisher.PutLinks(ctx, routes)
}

// documents are what the redirector needs of links.
func documents(ctx context.Context, q store.Q, links []Link) ([]route.Link, error) {
	rules, tags := map[string][]Rule{}, map[string][]string{}
	for some := range store.Chunks(links) {
		var ids []any
		for i := range some {
			ids = append(ids, some[i].ID)
		}
		if err := readRules(ctx, q, ids, rules); err != nil {
			return nil, err
		}
		if err := readTags(ctx, q, ids, tags); err != nil {
			return nil, err
		}
	}
	all := make([]route.Link, len(links))
	for i := range links {
		var err error
		if all[i], err = links[i].document(ctx, q, rules[links[i].ID], tags[links[i].ID]); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// document is what the redirector needs of a link with its rules and tags.
func (l *Link) document(ctx context.Context, q store.Q, rules []Rule, tagIDs []string) (route.Link, error) {
	address := func(s *string) string { return weburl.ASCIIHost(opt.Text(s)) }
	document := route.Link{
		LinkID: l.ID, AppID: l.AppID, Prefix: l.Prefix, Slug: l.Slug, Group: l.Group,
		CampaignID: opt.Text(l.CampaignID), FolderID: opt.Text(l.FolderID),
		Archived: l.Lifecycle.Archived, StartsAt: l.Lifecycle.StartsAt, ExpiresAt: l.Lifecycle.ExpiresAt,
		MaxClicks: l.Lifecycle.MaxClicks, TagIDs: tagIDs, ExpiredURL: address(l.Lifecycle.ExpiredURL),
		DesktopURL: address(l.DesktopURL), PlayStoreURL: address(l.PlayStoreURL), AppStoreURL: address(l.AppStoreURL),
		WebOnly: l.WebOnly, Behavior: route.Behavior(l.Behavior), UTM: routeUTM(&l.UTM),
		Title: strings.TrimSpace(opt.Text(l.Title)), Description: strings.TrimSpace(opt.Text(l.Description)),
		ImageURL: opt.Text(l.ImageURL), AppPath: opt.Text(l.AppPath), Parameters: objectText(l.Parameters),
		Data: objectText(l.TemplateData), Templates: route.TemplatesOf(func(base binding.Base) binding.Selection {
			return l.TemplateSelection.Of(base).Value
		}),
	}
	if l.imageAssetID != nil {
		var err error
		document.ImageWidth, document.ImageHeight, err = asset.Size(ctx, q, l.AppID, *l.imageAssetID)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return document, err
		}
	}
	if l.CampaignID != nil {
		campaign, err := organize.CampaignUTM(ctx, q, l.AppID, *l.CampaignID)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return document, err
		}
		document.CampaignUTM = routeUTM(&campaign)
	}
	for _, r := range rules {
		document.Rules = append(document.Rules, route.Rule{
			ID: r.ID, Platform: route.Platform(opt.Text(r.Platform)), Country: opt.Text(r.Country), StartsAt: r.StartsAt,
			ExpiresAt: r.ExpiresAt,
			URL:       weburl.ASCIIHost(r.DestinationURL), UTM: routeUTM(&r.UTM),
		})
	}
	return document, nil
}

// objectText returns the text of a JSON object, "" for one without members.
func objectText(o opt.Object) string {
	if text := string(o.Value); text != "{}" {
		return text
	}
	return ""
}

func routeUTM(u *utm.UTM) route.UTM {
	v := u.Values()
	return route.UTM{Source: v[0], Medium: v[1], Campaign: v[2], Term: v[3], Content: v[4]}
}
