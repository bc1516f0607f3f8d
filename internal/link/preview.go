package link

import (
	"context"
	"errors"

	"github.com/waymarkhq/waymark/internal/binding"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/domain"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/opt"
	"github.com/waymarkhq/waymark/internal/publication"
	"github.com/waymarkhq/waymark/internal/route"
	"github.com/waymarkhq/waymark/internal/store"
)

// Preview says what a visitor would get.
type Preview struct {
	Platform       string                      `json:"platform" enum:"android,ios,desktop"`
	Source         string                      `json:"source" enum:"browser,social"`
	Mode           string                      `json:"mode" enum:"redirect,page,unavailable"`
	NativeURI      *string                     `json:"nativeUri" doc:"What opens the app; null when it is not tried."`
	Fallback       *string                     `json:"fallback" doc:"Where the visitor goes when the app does not open."`
	Opening        string                      `json:"opening" enum:"none,manual,automatic"`
	DestinationURL *string                     `json:"destinationUrl" doc:"Where a redirect leads: for an expired link its expiredUrl."`
	MatchedRuleID  *string                     `json:"matchedRuleId"`
	Template       opt.Null[binding.Selection] `json:"template" doc:"Of a page; null otherwise."`
	Publication    publication.State           `json:"publication" doc:"Whether visitors get it already. Not part of the revision."`
	SideEffects    bool                        `json:"sideEffects" doc:"Always false."`
}

// SchemaName implements schema.Named.
func (Preview) SchemaName() string { return "LinkPreview" }

// PreviewLink is the body of previewLinksLinkId.
type PreviewLink struct {
	Platform string                 `json:"platform" enum:"android,ios,desktop"`
	Source   string                 `json:"source" enum:"browser,social"`
	Country  opt.Opt[string]        `json:"country,omitzero" pattern:"^[A-Z]{2}$" doc:"ISO 3166-1 alpha-2; omitted: unknown."`
	At       opt.Opt[clock.Instant] `json:"at,omitzero" format:"date-time" doc:"Omitted: now."`
}

// SchemaName implements schema.Named.
func (PreviewLink) SchemaName() string { return "LinkPreviewRequest" }

type previewInput struct {
	LinkID string `path:"linkId"`
	Body   PreviewLink
}

func (s *Service) preview(ctx context.Context, c *op.Call, tx *store.Tx, in *previewInput) (op.Item[Preview], error) {
	l, err := s.current(ctx, c, tx, in.LinkID)
	if err != nil {
		return op.Item[Preview]{}, err
	}
	documents, err := documents(ctx, tx, []Link{l})
	if err != nil {
		return op.Item[Preview]{}, err
	}
	if in.Body.Country.Set {
		if err := checkCountry("/country", in.Body.Country.Value); err != nil {
			return op.Item[Preview]{}, err
		}
	}
	host, err := domain.Host(ctx, tx, l.Domain)
	if err != nil && !errors.Is(err, store.ErrNotFound) { // without a domain it leads nowhere
		return op.Item[Preview]{}, err
	}
	visit := route.Visit{Platform: route.Platform(in.Body.Platform), Country: in.Body.Country.Value,
		InApp: in.Body.Source == "social", Address: l.URL}
	if l.Lifecycle.Clicks != nil {
		visit.Clicks = *l.Lifecycle.Clicks
	}
	decision := route.Decide(&documents[0], &host, visit, in.Body.At.Or(c.Now))
	v := Preview{Platform: in.Body.Platform, Source: in.Body.Source, Publication: l.Publication}
	v.tell(&decision)
	return op.Item[Preview]{Data: v, Ref: l.ref()}, nil
}

// tell sets what a decision comes to.
func (v *Preview) tell(d *route.Decision) {
	v.Mode, v.Opening, v.MatchedRuleID = "redirect", string(route.OpenNone), opt.TextPtr(d.RuleID)
	switch {
	case d.App != nil:
		v.Mode, v.Opening = "page", string(d.App.Opening)
		v.NativeURI, v.Fallback = opt.TextPtr(d.App.NativeURI), opt.TextPtr(d.App.Fallback())
		v.Template = opt.NullOf(binding.SelectionOf(d.App.Template))
	case d.IsPage():
		v.Mode = "unavailable"
	default:
		v.DestinationURL = opt.TextPtr(d.Location)
	}
}
