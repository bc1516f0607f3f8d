package link

import (
	"context"
	"slices"

	"github.com/waymarkhq/waymark/internal/domain"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/weburl"
)

// isTaken reports whether a link has an address.
func isTaken(ctx context.Context, q store.Q, hostname, prefix, slug string) (bool, error) {
	return store.Exists(ctx, q, "SELECT 1 FROM link WHERE hostname = ? AND prefix = ? AND slug = ?", hostname, prefix,
		slug)
}

// Availability says whether an address is free.
type Availability struct {
	Available bool    `json:"available"`
	Domain    string  `json:"domain"`
	Prefix    string  `json:"prefix" maxLength:"1000"`
	Slug      string  `json:"slug" maxLength:"1000"`
	URL       *string `json:"url" doc:"null when it cannot be an address."`
	Reason    *string `json:"reason" enum:"taken,reserved,invalid" doc:"null when the address is free."`
}

// SchemaName implements schema.Named.
func (Availability) SchemaName() string { return "LinkAvailability" }

type availabilityInput struct {
	Domain string `query:"domain" required:"true" maxLength:"253"`
	Prefix string `query:"prefix" maxLength:"1000" allowEmpty:"true"`
	Slug   string `query:"slug" required:"true" maxLength:"1000"`
}

func (s *Service) availability(ctx context.Context, c *op.Call, in *availabilityInput) (op.Item[Availability], error) {
	var p fault.Problems
	id := newIdentity(&p, in.Domain, in.Prefix, in.Slug)
	a := Availability{Domain: id.hostname, Prefix: id.prefix, Slug: id.slug}
	reason := func(r string) *string { return &r }
	wrong, err := p.Details()
	if err != nil {
		return op.Item[Availability]{}, err
	}
	if len(wrong) > 0 {
		a.Reason = reason("invalid")
		if !slices.ContainsFunc(wrong, func(d fault.Detail) bool { return d.Code != fault.ReasonReserved }) {
			a.Reason = reason("reserved")
		}
		return op.Item[Availability]{Data: a}, nil
	}
	if ready, err := domain.Ready(ctx, c.DB, c.AppID, id.hostname); err != nil {
		return op.Item[Availability]{}, err
	} else if !ready {
		a.Reason = reason("invalid")
		return op.Item[Availability]{Data: a}, nil
	}
	url := s.addresses.URL(id.hostname, id.prefix, id.slug)
	a.URL = &url
	taken, err := isTaken(ctx, c.DB, id.hostname, id.prefix, id.slug)
	if a.Available = !taken; taken {
		a.Reason = reason("taken")
	}
	return op.Item[Availability]{Data: a}, err
}

// appOfDomain implements op.AppFinder for a hostname as a client writes it.
func appOfDomain(ctx context.Context, q store.Q, hostname string) (string, error) {
	host, _ := weburl.Hostname(hostname) // "" is no app's
	return domain.AppOfHostname(ctx, q, host)
}
