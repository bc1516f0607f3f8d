package link

import (
	"context"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/waymarkhq/waymark/internal/delivery"
	"github.com/waymarkhq/waymark/internal/domain"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/store"
)

func (s *Service) create(ctx context.Context, c *op.Call, tx *store.Tx, in *struct{ Body CreateLink }) (op.Item[Link], error) {
	l, err := s.Create(ctx, c, tx, &in.Body)
	return op.Item[Link]{Data: l, Ref: l.ref(), Location: l.Location()}, err
}

// Create stores the link that a body describes, with all that a new link
// leaves: history, event and publication. The caller reaches the app.
func (s *Service) Create(ctx context.Context, c *op.Call, tx *store.Tx, body *CreateLink) (Link, error) {
	var p problems
	l, err := s.newLink(ctx, tx, &p, body)
	if err == nil {
		err = p.refusal()
	}
	if err == nil {
		err = insert(ctx, tx, &l)
	}
	if err != nil {
		return l, err
	}
	s.finish(&l, c)
	return l, changed(ctx, tx, &l, "created", []string{}, delivery.LinkCreated)
}

// newLink returns the link that a creation describes, with the app's current
// defaults where it names no destination, and collects what is wrong with it.
func (s *Service) newLink(ctx context.Context, q store.Q, p *problems, body *CreateLink) (Link, error) {
	id := newIdentity(p, body.Domain, body.Prefix.Value, body.Slug)
	l, err := store.One(ctx, q, func(r store.Row) (l Link, err error) {
		err = r.Scan(&l.DesktopURL, &l.PlayStoreURL, &l.AppStoreURL)
		return l, err
	}, `SELECT a.desktop_url, a.play_store_url, a.app_store_url FROM domain d JOIN app a ON a.id = d.app_id
		WHERE d.hostname = ? AND d.app_id = ? AND `+domain.IsReady, id.hostname, body.AppID)
	if err == store.ErrNotFound && id.hostname != "" {
		p.add(unknownDomain())
	} else if err != nil && err != store.ErrNotFound {
		return l, err
	}
	l.AppID, l.Domain, l.Prefix, l.Slug = body.AppID, id.hostname, id.prefix, id.slug
	l.Behavior, l.Group, l.Origin = "manual", "operational", "api"
	l.Parameters, l.TemplateData = emptyObject, emptyObject
	body.Content.apply(p, &l)
	l.Lifecycle.count(0)
	if err := s.checkLoops(ctx, q, p, id, l.destinations()); err != nil {
		return l, err
	}
	return l, s.checkReferences(ctx, q, p, &body.Content, &l)
}

// UpdateLink is the body of updateLinksLinkId.
type UpdateLink struct {
	Content
}

// SchemaName implements schema.Named.
func (UpdateLink) SchemaName() string { return "LinkPatch" }

type updateInput struct {
	LinkID string `path:"linkId"`
	Body   UpdateLink
}

func (s *Service) update(ctx context.Context, c *op.Call, tx *store.Tx, in *updateInput) (op.Item[Link], error) {
	l, err := s.Update(ctx, c, tx, in.LinkID, &in.Body)
	return op.Item[Link]{Data: l, Ref: l.ref()}, err
}

// Update changes the fields that a body has of a link of the call's app, under
// the revision that the caller knows.
func (s *Service) Update(ctx context.Context, c *op.Call, tx *store.Tx, id string, body *UpdateLink) (Link, error) {
	l, err := s.current(ctx, c, tx, id)
	if err != nil {
		return l, err
	}
	before := l
	var p problems
	body.Content.apply(&p, &l)
	if err := s.checkLoops(ctx, tx, &p, l.identity(), changedDestinations(&before, &l)); err != nil {
		return l, err
	}
	if err := s.checkReferences(ctx, tx, &p, &body.Content, &l); err != nil {
		return l, err
	}
	if err := p.refusal(); err != nil {
		return l, err
	}
	fields, err := changedFields(&before, &l)
	if err != nil {
		return l, err
	}
	action := "updated"
	if before.Lifecycle.Archived != l.Lifecycle.Archived {
		action = "restored"
		if l.Lifecycle.Archived {
			action = "archived"
		}
	}
	if err := count(ctx, tx, &l); err != nil {
		return l, err
	}
	if err := save(ctx, tx, &l); err != nil {
		return l, err
	}
	s.finish(&l, c)
	return l, changed(ctx, tx, &l, action, fields, delivery.LinkUpdated)
}

// changed leaves what every change of a link leaves: history, the event for
// webhooks, and the job that brings it to the redirector.
func changed(ctx context.Context, tx *store.Tx, l *Link, action string, fields []string, event delivery.Type) error {
	if err := record(ctx, tx, l, action, fields); err != nil {
		return err
	}
	if err := delivery.Emit(ctx, tx, event, l.AppID, l.ID, l.Revision); err != nil {
		return err
	}
	return enqueue(ctx, tx, projection{LinkID: l.ID, Hostname: l.Domain, Prefix: l.Prefix, Slug: l.Slug}, l.AppID)
}

// changedFields returns the names of the fields in which two links differ.
func changedFields(a, b *Link) ([]string, error) {
	before, err := members(a)
	if err != nil {
		return nil, err
	}
	after, err := members(b)
	if err != nil {
		return nil, err
	}
	fields := []string{}
	for name, value := range after {
		if string(before[name]) != string(value) {
			fields = append(fields, name)
		}
	}
	slices.Sort(fields)
	return fields, nil
}

func members(l *Link) (all map[string]jsontext.Value, err error) {
	text, err := json.Marshal(l)
	if err != nil {
		return nil, err
	}
	return all, json.Unmarshal(text, &all)
}
