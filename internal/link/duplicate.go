package link

import (
	"context"

	"github.com/waymarkhq/waymark/internal/binding"
	"github.com/waymarkhq/waymark/internal/delivery"
	"github.com/waymarkhq/waymark/internal/domain"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/ids"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/opt"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/text"
)

// DuplicateLink is the body of duplicateLinksLinkId.
type DuplicateLink struct {
	Domain opt.Opt[string]     `json:"domain,omitzero" minLength:"1" maxLength:"253" doc:"Omitted: the original's."`
	Prefix opt.Opt[string]     `json:"prefix,omitzero" maxLength:"200" doc:"Omitted: the original's."`
	Slug   string              `json:"slug" minLength:"1" maxLength:"200"`
	Title  opt.Null[text.Line] `json:"title,omitzero" maxLength:"200" doc:"Omitted: the original's."`
}

// SchemaName implements schema.Named.
func (DuplicateLink) SchemaName() string { return "LinkDuplicateRequest" }

type duplicateInput struct {
	LinkID string `path:"linkId"`
	Body   DuplicateLink
}

func (s *Service) duplicate(ctx context.Context, c *op.Call, tx *store.Tx, in *duplicateInput) (op.Item[Link], error) {
	l, err := s.current(ctx, c, tx, in.LinkID)
	if err != nil {
		return op.Item[Link]{}, err
	}
	rules, err := rulesOf(ctx, tx, l.ID)
	if err != nil {
		return op.Item[Link]{}, err
	}
	tagIDs, err := tagsOf(ctx, tx, l.ID)
	if err != nil {
		return op.Item[Link]{}, err
	}
	var p fault.Problems
	id := newIdentity(&p, in.Body.Domain.Or(l.Domain), in.Body.Prefix.Or(l.Prefix), in.Body.Slug)
	if ready, err := domain.Ready(ctx, tx, l.AppID, id.hostname); err != nil {
		return op.Item[Link]{}, err
	} else if !ready && id.hostname != "" {
		p.Keep(unknownDomain())
	}
	// A destination that leads to the address of the copy was right in the
	// original: the problem is the address, and it is to be changed.
	var loops fault.Problems
	if err := s.checkLoops(ctx, tx, &loops, id, append(l.destinations(), destinationsOf(rules)...)); err != nil {
		return op.Item[Link]{}, err
	}
	if loops.Any() {
		p.Add("/slug", fault.ReasonRedirectLoop, "a copy at this address would lead back to itself, or through too "+
			"many links; choose another address")
	}
	if err := p.Refusal(); err != nil {
		return op.Item[Link]{}, err
	}
	l.Domain, l.Prefix, l.Slug = id.hostname, id.prefix, id.slug
	l.Origin, l.Lifecycle.Archived = "api", false
	l.Lifecycle.count(0)
	l.renewBindings()
	opt.Into(in.Body.Title, &l.Title)
	if err := insert(ctx, tx, &l); err != nil {
		return op.Item[Link]{}, err
	}
	if err := keepTemplates(ctx, tx, &l, &binding.Selections{}); err != nil {
		return op.Item[Link]{}, err
	}
	if err := addTags(ctx, tx, &l, tagIDs); err != nil {
		return op.Item[Link]{}, err
	}
	if len(rules) > 0 {
		for i := range rules {
			rules[i].ID = ids.New() // so that events tell the two links' rules apart
		}
		if err := saveRules(ctx, tx, l.ID, rules); err != nil {
			return op.Item[Link]{}, err
		}
	}
	s.finish(&l, c)
	item := op.Item[Link]{Data: l, Ref: l.ref(), Location: l.Location()}
	return item, changed(ctx, tx, &l, "created", []string{}, delivery.LinkCreated)
}
