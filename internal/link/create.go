package link

import (
	"context"
	"errors"

	"github.com/waymarkhq/waymark/internal/binding"
	"github.com/waymarkhq/waymark/internal/delivery"
	"github.com/waymarkhq/waymark/internal/domain"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/opt"
	"github.com/waymarkhq/waymark/internal/store"
)

// CreateLink is the body of createLinks.
type CreateLink struct {
	AppID  string          `json:"appId" minLength:"1" maxLength:"500"`
	Domain string          `json:"domain" minLength:"1" maxLength:"253" doc:"A domain of the app that is ready for links."`
	Prefix opt.Opt[string] `json:"prefix,omitzero" maxLength:"200" example:"sale"`
	Slug   string          `json:"slug" minLength:"1" maxLength:"200"`
	Content
}

// SchemaName implements schema.Named.
func (CreateLink) SchemaName() string { return "LinkCreate" }

func (s *Service) create(ctx context.Context, c *op.Call, tx *store.Tx,
	in *struct{ Body CreateLink }) (op.Item[Link], error) {
	l, err := s.Create(ctx, c, tx, &in.Body)
	return op.Item[Link]{Data: l, Ref: l.ref(), Location: l.Location()}, err
}

// Create stores the link that a body describes, with its history, event and
// publication. The caller must reach the app.
func (s *Service) Create(ctx context.Context, c *op.Call, tx *store.Tx, body *CreateLink) (_ Link, err error) {
	defer fault.Wrap(&err, "link.Create(%s)", body.AppID)
	var p fault.Problems
	l, err := s.newLink(ctx, tx, &p, body)
	if err == nil {
		err = p.Refusal()
	}
	if err == nil {
		err = insert(ctx, tx, &l)
	}
	if err == nil {
		err = keepTemplates(ctx, tx, &l, &binding.Selections{})
	}
	if err != nil {
		return l, err
	}
	s.finish(&l, c)
	return l, changed(ctx, tx, &l, "created", []string{}, delivery.LinkCreated)
}

// newLink returns the link that a creation describes, with the app's current
// defaults where it names no destination, and collects what is wrong with it.
func (s *Service) newLink(ctx context.Context, q store.Q, p *fault.Problems, body *CreateLink) (Link, error) {
	id := newIdentity(p, body.Domain, body.Prefix.Value, body.Slug)
	l, err := store.One(ctx, q, func(r store.Row) (l Link, err error) {
		err = r.Scan(&l.DesktopURL, &l.PlayStoreURL, &l.AppStoreURL)
		return l, err
	}, `SELECT a.desktop_url, a.play_store_url, a.app_store_url FROM domain d JOIN app a ON a.id = d.app_id
		WHERE d.hostname = ? AND d.app_id = ? AND `+domain.IsReady, id.hostname, body.AppID)
	if errors.Is(err, store.ErrNotFound) && id.hostname != "" {
		p.Keep(unknownDomain())
	} else if err != nil && !errors.Is(err, store.ErrNotFound) {
		return l, err
	}
	l.AppID, l.Domain, l.Prefix, l.Slug = body.AppID, id.hostname, id.prefix, id.slug
	l.Behavior, l.Group, l.Origin = "manual", "operational", "api"
	l.Parameters, l.TemplateData = opt.EmptyObject(), opt.EmptyObject()
	body.Content.apply(p, &l)
	l.Lifecycle.count(0)
	if err := s.checkLoops(ctx, q, p, id, l.destinations()); err != nil {
		return l, err
	}
	if err := s.applyTemplates(ctx, q, p, &body.Content, &l); err != nil {
		return l, err
	}
	return l, s.checkReferences(ctx, q, p, &body.Content, &l)
}
