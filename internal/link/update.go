package link

import (
	"context"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/waymarkhq/waymark/internal/delivery"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/store"
)

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

// Update sets the fields of a body on a link of the call's app, under the
// revision that the caller knows.
func (s *Service) Update(ctx context.Context, c *op.Call, tx *store.Tx, id string,
	body *UpdateLink) (_ Link, err error) {
	defer fault.Wrap(&err, "link.Update(%s)", id)
	l, err := s.current(ctx, c, tx, id)
	if err != nil {
		return l, err
	}
	before := l
	var p fault.Problems
	body.Content.apply(&p, &l)
	if err := s.checkLoops(ctx, tx, &p, l.identity(), changedDestinations(&before, &l)); err != nil {
		return l, err
	}
	if err := s.applyTemplates(ctx, tx, &p, &body.Content, &l); err != nil {
		return l, err
	}
	if err := s.checkReferences(ctx, tx, &p, &body.Content, &l); err != nil {
		return l, err
	}
	if err := p.Refusal(); err != nil {
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
	if body.TemplateSelection.Set {
		if err := keepTemplates(ctx, tx, &l, &before.TemplateSelection); err != nil {
			return l, err
		}
	}
	s.finish(&l, c)
	return l, changed(ctx, tx, &l, action, fields, delivery.LinkUpdated)
}

// changed writes what follows every change of a link: history, the event for
// webhooks, and the job that brings the link to the redirector.
func changed(ctx context.Context, tx *store.Tx, l *Link, action string, fields []string, event delivery.Type) error {
	if err := record(ctx, tx, l, action, fields); err != nil {
		return err
	}
	if err := delivery.Emit(ctx, tx, event, l.ref()); err != nil {
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
