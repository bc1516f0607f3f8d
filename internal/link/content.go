package link

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"github.com/waymarkhq/waymark/internal/asset"
	"github.com/waymarkhq/waymark/internal/binding"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/opt"
	"github.com/waymarkhq/waymark/internal/organize"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/text"
	"github.com/waymarkhq/waymark/internal/utm"
	"github.com/waymarkhq/waymark/internal/weburl"
)

// Content is what a client may set of a link besides its identity.
type Content struct {
	FolderID          opt.Null[string]               `json:"folderId,omitzero" maxLength:"100"`
	CampaignID        opt.Null[string]               `json:"campaignId,omitzero" maxLength:"100"`
	Lifecycle         opt.Opt[SetLifecycle]          `json:"lifecycle,omitzero"`
	UTM               opt.Opt[utm.SetUTM]            `json:"utm,omitzero"`
	Title             opt.Null[text.Line]            `json:"title,omitzero" maxLength:"200" example:"Spring sale"`
	Description       opt.Null[text.Block]           `json:"description,omitzero" maxLength:"1000"`
	ImageURL          opt.Null[string]               `json:"imageUrl,omitzero" maxLength:"4096" doc:"HTTPS, without user or password."`
	DesktopURL        opt.Null[string]               `json:"desktopUrl,omitzero" maxLength:"4096" aliases:"url,destination,destinationUrl,target,targetUrl,longUrl,long_url,link" example:"https://shop.example.com/spring" doc:"HTTPS. Omitted on creation: the app's default."`
	PlayStoreURL      opt.Null[string]               `json:"playStoreUrl,omitzero" maxLength:"4096" doc:"HTTPS. Omitted on creation: the app's default."`
	AppStoreURL       opt.Null[string]               `json:"appStoreUrl,omitzero" maxLength:"4096" doc:"HTTPS. Omitted on creation: the app's default."`
	AppPath           opt.Null[string]               `json:"appPath,omitzero" maxLength:"1000" doc:"Relative path, read by the app: no scheme, no leading or double slash, no .. segment."`
	Parameters        opt.Opt[opt.Object]            `json:"parameters,omitzero" doc:"At most 16 KiB, counted in UTF-8 without white space and needless escapes, and 5 levels deep."`
	WebOnly           opt.Opt[bool]                  `json:"webOnly,omitzero"`
	Behavior          opt.Opt[string]                `json:"behavior,omitzero" enum:"manual,automatic,intelligent" doc:"Default manual."`
	Group             opt.Opt[string]                `json:"group,omitzero" enum:"main,operational" doc:"Default operational."`
	TemplateData      opt.Opt[opt.Object]            `json:"templateData,omitzero"`
	TemplateSelection opt.Opt[binding.SetSelections] `json:"templateSelection,omitzero"`
}

// SetLifecycle changes the members sent and keeps the others.
type SetLifecycle struct {
	Archived   opt.Opt[bool]           `json:"archived,omitzero"`
	StartsAt   opt.Null[clock.Instant] `json:"startsAt,omitzero" format:"date-time"`
	ExpiresAt  opt.Null[clock.Instant] `json:"expiresAt,omitzero" format:"date-time"`
	MaxClicks  opt.Null[int64]         `json:"maxClicks,omitzero" minimum:"1" maximum:"1000000000"`
	ExpiredURL opt.Null[string]        `json:"expiredUrl,omitzero" maxLength:"4096"`
}

// SchemaName implements schema.Named.
func (SetLifecycle) SchemaName() string { return "LinkLifecycleInput" }

const (
	maxParameters      = 16 << 10
	maxParametersDepth = 5
)

// apply checks the fields that were sent, collects what is wrong with them, and
// puts them into l. It does not check that references exist; checkReferences does.
// Templates and their data are left to applyTemplates.
func (c *Content) apply(p *fault.Problems, l *Link) {
	c.FolderID.Apply(&l.FolderID)
	c.CampaignID.Apply(&l.CampaignID)
	for _, field := range []struct {
		path  string
		value opt.Null[string]
		into  **string
	}{{"/desktopUrl", c.DesktopURL, &l.DesktopURL}, {"/playStoreUrl", c.PlayStoreURL, &l.PlayStoreURL},
		{"/appStoreUrl", c.AppStoreURL, &l.AppStoreURL}} {
		p.Keep(weburl.CheckHTTPS(field.path, field.value.Ptr()))
		field.value.Apply(field.into)
	}
	c.applyLifecycle(p, &l.Lifecycle)
	c.UTM.Value.Apply(&l.UTM)
	opt.Into(c.Title, &l.Title)
	c.ImageURL.Apply(&l.ImageURL)
	opt.Into(c.Description, &l.Description)
	if wrong := appPathProblem(c.AppPath.Value); wrong != "" {
		p.Add("/appPath", fault.ReasonInvalid, "%s", wrong)
	}
	c.AppPath.Apply(&l.AppPath)
	l.WebOnly = c.WebOnly.Or(l.WebOnly)
	l.Behavior = c.Behavior.Or(l.Behavior)
	l.Group = c.Group.Or(l.Group)
	if c.Parameters.Set {
		if len(c.Parameters.Value.Value) > maxParameters || op.DeeperThan(c.Parameters.Value.Value,
			maxParametersDepth) {
			p.Add("/parameters", fault.ReasonTooLarge, "the object must have at most %d bytes, counted without white "+
				"space and needless escapes, and at most %d levels", maxParameters, maxParametersDepth)
		}
		l.Parameters = c.Parameters.Value
	}
}

// appPathProblem says why a path is not relative to the app; "" if it is. Apps
// may decode it before they read it, so an escaped character counts as itself.
func appPathProblem(path string) string {
	decoded, err := url.PathUnescape(path)
	if err != nil {
		decoded = path
	}
	name, _, colon := strings.Cut(strings.TrimSpace(decoded), ":")
	segments, _, _ := strings.Cut(decoded, "?")
	segments, _, _ = strings.Cut(segments, "#")
	switch {
	case strings.ContainsFunc(decoded, func(r rune) bool { return unicode.IsControl(r) || r == '\\' }):
		return "the path must not contain control characters or backslashes"
	case strings.HasPrefix(decoded, "/") || strings.Contains(decoded, "//"):
		return "the path must be relative: without a leading slash and without //"
	case colon && !strings.ContainsAny(name, "/?#"):
		return "the first segment must not contain a colon, which would make it a scheme such as javascript:"
	case slices.Contains(strings.Split(segments, "/"), ".."):
		return "the path must not contain the segment .."
	}
	return ""
}

func (c *Content) applyLifecycle(p *fault.Problems, l *Lifecycle) {
	s := c.Lifecycle.Value
	l.Archived = s.Archived.Or(l.Archived)
	s.StartsAt.Apply(&l.StartsAt)
	s.ExpiresAt.Apply(&l.ExpiresAt)
	s.MaxClicks.Apply(&l.MaxClicks)
	p.Keep(weburl.CheckHTTPS("/lifecycle/expiredUrl", s.ExpiredURL.Ptr()))
	s.ExpiredURL.Apply(&l.ExpiredURL)
	if l.StartsAt != nil && l.ExpiresAt != nil && *l.StartsAt >= *l.ExpiresAt {
		p.Add("/lifecycle/expiresAt", fault.ReasonOutOfRange, "the end must be after startsAt")
	}
}

// checkReferences collects the references that were sent and do not belong to
// the app. A resource of another app looks like one that does not exist.
func (s *Service) checkReferences(ctx context.Context, q store.Q, p *fault.Problems, c *Content, l *Link) error {
	if c.FolderID.Valid {
		if found, err := organize.HasFolder(ctx, q, l.AppID, c.FolderID.Value); err != nil {
			return err
		} else if !found {
			p.Keep(fault.UnknownReference("/folderId"))
		}
	}
	if c.CampaignID.Valid {
		if _, err := organize.CampaignUTM(ctx, q, l.AppID, c.CampaignID.Value); errors.Is(err, store.ErrNotFound) {
			p.Keep(fault.UnknownReference("/campaignId"))
		} else if err != nil {
			return err
		}
	}
	if !c.ImageURL.Set {
		return nil
	}
	l.imageAssetID = nil
	object, ours := s.assets.Object(c.ImageURL.Value)
	if !ours {
		p.Keep(weburl.CheckHTTPS("/imageUrl", c.ImageURL.Ptr()))
		return nil
	}
	id, err := asset.Find(ctx, q, l.AppID, object)
	if errors.Is(err, store.ErrNotFound) {
		p.Keep(fault.UnknownReference("/imageUrl"))
		return nil
	}
	l.imageAssetID = &id
	return err
}
