package publishing

import (
	"context"
	"slices"
	"strings"

	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/opt"
	"github.com/waymarkhq/waymark/internal/schema"
	"github.com/waymarkhq/waymark/internal/store"
)

// Target is an app, a domain or a link that is to choose what is published.
type Target struct {
	Scope           Scope       `json:"scope"`
	DomainID        *string     `json:"domainId" doc:"Of the scope domain."`
	LinkID          *string     `json:"linkId" doc:"Of the scope link."`
	State           TargetState `json:"state"`
	Error           *string     `json:"error" maxLength:"1000" doc:"Why it was not applied, or does not reach visitors."`
	AppliedRevision *string     `json:"appliedRevision" format:"uuid" doc:"The revision that the binding got."`

	ordinal int64
	holder  string
	// expected is the revision that the binding must have, nil for none yet;
	// expectedLink is that of the link, nil for any.
	expected, expectedLink *string
}

// SchemaName implements schema.Named.
func (Target) SchemaName() string { return "TemplatePublicationTarget" }

// Scope is what kind of holder a target is.
type Scope string

// The scopes, the widest first.
const (
	App    Scope = "app"
	Domain Scope = "domain"
	Link   Scope = "link"
)

// Schema implements schema.Provider.
func (Scope) Schema(*schema.Registry) *schema.Schema { return schema.Enum(App, Domain, Link) }

// TargetState is how far a target is.
type TargetState string

// The states of a target.
const (
	TargetPending    TargetState = "pending"
	TargetApplied    TargetState = "applied"
	TargetConflict   TargetState = "conflict"
	TargetSuperseded TargetState = "superseded"
	TargetDenied     TargetState = "denied"
)

// Schema implements schema.Provider.
func (TargetState) Schema(*schema.Registry) *schema.Schema {
	return schema.Enum(TargetPending, TargetApplied, TargetConflict, TargetSuperseded, TargetDenied)
}

// fail ends a target that was not applied.
func (t *Target) fail(state TargetState, why string) { t.State, t.Error = state, &why }

// SetTarget is a Target as a client sends it.
type SetTarget struct {
	Scope                Scope            `json:"scope"`
	DomainID             opt.Null[string] `json:"domainId,omitzero" maxLength:"500" doc:"For the scope domain."`
	LinkID               opt.Null[string] `json:"linkId,omitzero" maxLength:"500" doc:"For the scope link."`
	ExpectedRevision     opt.Null[string] `json:"expectedRevision" format:"uuid" doc:"The revision of the target's binding that was read last (bindingRevisions); null when there was none. If it changed since, the target is not applied."`
	ExpectedLinkRevision opt.Null[string] `json:"expectedLinkRevision,omitzero" format:"uuid" doc:"For the scope link: the revision that the link must still have."`
}

// SchemaName implements schema.Named.
func (SetTarget) SchemaName() string { return "TemplatePublicationTargetInput" }

// newTargets returns the targets that a client sent, and collects what is wrong with
// them.
func newTargets(ctx context.Context, q store.Q, p *fault.Problems, c *op.Call, sent []SetTarget) ([]Target, error) {
	known, err := knownHolders(ctx, q, c.AppID, sent)
	if err != nil {
		return nil, err
	}
	targets, seen := make([]Target, len(sent)), map[holderKey]bool{}
	for i, s := range sent {
		at := fault.Pointer("targets", i)
		t := Target{Scope: s.Scope, DomainID: s.DomainID.Ptr(), LinkID: s.LinkID.Ptr(), State: TargetPending,
			ordinal: int64(i), expected: lower(s.ExpectedRevision), expectedLink: lower(s.ExpectedLinkRevision)}
		where := at + "/scope"
		only := func(scope Scope, member string, value opt.Null[string]) {
			switch {
			case s.Scope != scope && value.Valid:
				p.Add(at+"/"+member, fault.ReasonNotAllowed, "the scope %s takes no %s", s.Scope, member)
			case s.Scope == scope && !value.Valid:
				p.Add(at+"/"+member, fault.ReasonRequired, "the scope %s needs it", scope)
			case s.Scope == scope:
				t.holder, where = value.Value, at+"/"+member
			}
		}
		only(Domain, "domainId", s.DomainID)
		only(Link, "linkId", s.LinkID)
		if s.Scope != Link && s.ExpectedLinkRevision.Valid {
			p.Add(at+"/expectedLinkRevision", fault.ReasonNotAllowed, "the scope %s takes no expectedLinkRevision", s.Scope)
		}
		if s.Scope == App {
			t.holder = c.AppID
		}
		key := holderKey{s.Scope, t.holder}
		switch {
		case t.holder == "":
		case seen[key]:
			p.Add(where, fault.ReasonDuplicate, "another target of this request is the same %s", s.Scope)
		case !known[key]:
			p.Keep(fault.UnknownReference(where))
		}
		seen[key] = true
		targets[i] = t
	}
	return targets, nil
}

// lower returns a revision as it is stored.
func lower(revision opt.Null[string]) *string {
	if !revision.Valid {
		return nil
	}
	text := strings.ToLower(revision.Value)
	return &text
}

// holderKey names a holder among all targets: no id of one scope is one of another.
type holderKey struct {
	scope Scope
	id    string
}

// knownHolders returns those of the holders in targets that an app has.
func knownHolders(ctx context.Context, q store.Q, appID string, sent []SetTarget) (map[holderKey]bool, error) {
	var domains, links []any
	for _, s := range sent {
		switch {
		case s.Scope == Domain && s.DomainID.Valid:
			domains = append(domains, s.DomainID.Value)
		case s.Scope == Link && s.LinkID.Valid:
			links = append(links, s.LinkID.Value)
		}
	}
	found, err := store.All(ctx, q, func(r store.Row) (k holderKey, err error) {
		err = r.Scan(&k.scope, &k.id)
		return k, err
	}, "SELECT 'domain', id FROM domain WHERE app_id = ? AND NOT detached AND id IN ("+store.Marks(len(domains))+
		") UNION ALL SELECT 'link', id FROM link WHERE app_id = ? AND id IN ("+store.Marks(len(links))+")",
		slices.Concat([]any{appID}, domains, []any{appID}, links)...)
	known := map[holderKey]bool{{App, appID}: true}
	for _, k := range found {
		known[k] = true
	}
	return known, err
}
