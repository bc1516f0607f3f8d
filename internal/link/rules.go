package link

import (
	"context"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/delivery"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/ids"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/opt"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/utm"
	"github.com/waymarkhq/waymark/internal/weburl"
)

// Rule sends the visits that it matches to a destination of its own. A
// condition that is null matches every visit.
type Rule struct {
	ID             string         `json:"id"`
	Platform       *string        `json:"platform" doc:"android, ios or desktop."`
	Country        *string        `json:"country" doc:"ISO 3166-1 alpha-2."`
	StartsAt       *clock.Instant `json:"startsAt" format:"date-time" doc:"Inclusive."`
	ExpiresAt      *clock.Instant `json:"expiresAt" format:"date-time" doc:"Exclusive."`
	DestinationURL string         `json:"destinationUrl"`
	UTM            utm.UTM        `json:"utm" doc:"Come before the link's and the campaign's."`
}

// SchemaName implements schema.Named.
func (Rule) SchemaName() string { return "RoutingRule" }

// Rules are the routing rules of a link in the order in which they are tried.
type Rules struct {
	LinkID   string `json:"linkId"`
	AppID    string `json:"appId"`
	Revision string `json:"revision" format:"uuid" doc:"The link's."`
	Rules    []Rule `json:"rules"`
}

// SchemaName implements schema.Named.
func (Rules) SchemaName() string { return "LinkRoutingRules" }

func (l *Link) withRules(rules []Rule) op.Item[Rules] {
	return op.Item[Rules]{Ref: l.ref(), Data: Rules{LinkID: l.ID, AppID: l.AppID, Revision: l.Revision, Rules: rules}}
}

func rulesOf(ctx context.Context, q store.Q, linkID string) (rules []Rule, err error) {
	text, err := store.One(ctx, q, store.Value[string], "SELECT routing_rules FROM link WHERE id = ?", linkID)
	if err == nil {
		err = json.Unmarshal([]byte(text), &rules)
	}
	return rules, err
}

// readRules adds the rules of links that have any.
func readRules(ctx context.Context, q store.Q, ids []any, all map[string][]Rule) error {
	_, err := store.All(ctx, q, func(r store.Row) (_ struct{}, err error) {
		var id, text string
		var rules []Rule
		if err = r.Scan(&id, &text); err == nil {
			err = json.Unmarshal([]byte(text), &rules)
		}
		all[id] = rules
		return struct{}{}, err
	}, "SELECT id, routing_rules FROM link WHERE id IN ("+store.Marks(len(ids))+") AND routing_rules <> '[]'", ids...)
	return err
}

func saveRules(ctx context.Context, tx *store.Tx, linkID string, rules []Rule) error {
	text, err := json.Marshal(rules)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, "UPDATE link SET routing_rules = ? WHERE id = ?", string(text), linkID)
	return err
}

func (s *Service) rules(ctx context.Context, c *op.Call, in *linkInput) (op.Item[Rules], error) {
	l, err := s.load(ctx, c.DB, c, in.LinkID)
	if err != nil {
		return op.Item[Rules]{}, err
	}
	rules, err := rulesOf(ctx, c.DB, l.ID)
	return l.withRules(rules), err
}

// SetRule is a rule as a client sends it.
type SetRule struct {
	ID             opt.Opt[string]         `json:"id,omitzero" format:"uuid" doc:"Of a rule that the link has: the rule keeps it. Omitted: a new one."`
	Platform       opt.Null[string]        `json:"platform,omitzero" enum:"android,ios,desktop"`
	Country        opt.Null[string]        `json:"country,omitzero" pattern:"^[A-Z]{2}$" doc:"ISO 3166-1 alpha-2."`
	StartsAt       opt.Null[clock.Instant] `json:"startsAt,omitzero" format:"date-time"`
	ExpiresAt      opt.Null[clock.Instant] `json:"expiresAt,omitzero" format:"date-time"`
	DestinationURL string                  `json:"destinationUrl" maxLength:"4096" doc:"HTTPS, without user or password."`
	UTM            opt.Opt[utm.SetUTM]     `json:"utm,omitzero"`
}

// SchemaName implements schema.Named.
func (SetRule) SchemaName() string { return "RoutingRuleInput" }

// SetRules is the body of setLinksLinkIdRoutingRules.
type SetRules struct {
	Rules []SetRule `json:"rules" maxItems:"50"`
}

// SchemaName implements schema.Named.
func (SetRules) SchemaName() string { return "LinkRoutingRulesInput" }

type setRulesInput struct {
	LinkID string `path:"linkId"`
	Body   SetRules
}

func (s *Service) setRules(ctx context.Context, c *op.Call, tx *store.Tx, in *setRulesInput) (op.Item[Rules], error) {
	l, err := s.current(ctx, c, tx, in.LinkID)
	if err != nil {
		return op.Item[Rules]{}, err
	}
	before, err := rulesOf(ctx, tx, l.ID)
	if err != nil {
		return op.Item[Rules]{}, err
	}
	var p fault.Problems
	rules := newRules(&p, in.Body.Rules, before)
	if err := s.checkLoops(ctx, tx, &p, l.identity(), destinationsOf(rules)); err != nil {
		return op.Item[Rules]{}, err
	}
	if err := p.Refusal(); err != nil {
		return op.Item[Rules]{}, err
	}
	if err := saveRules(ctx, tx, l.ID, rules); err != nil {
		return op.Item[Rules]{}, err
	}
	if err := touch(ctx, tx, &l); err != nil {
		return op.Item[Rules]{}, err
	}
	return l.withRules(rules), changed(ctx, tx, &l, "routing_rules_replaced", []string{"routingRules"},
		delivery.LinkUpdated)
}

// newRules makes rules of what was sent and collects what is wrong with it. An
// id names one of the link's present rules; the id of a rule of another link
// looks like an unknown one.
func newRules(p *fault.Problems, sent []SetRule, before []Rule) []Rule {
	rules := make([]Rule, len(sent))
	seen := map[string]bool{}
	for i, s := range sent {
		at := fault.Pointer("rules", i)
		r := Rule{
			ID: strings.ToLower(s.ID.Or(ids.New())), Platform: s.Platform.Ptr(), Country: s.Country.Ptr(),
			StartsAt: s.StartsAt.Ptr(), ExpiresAt: s.ExpiresAt.Ptr(), DestinationURL: s.DestinationURL,
		}
		s.UTM.Value.Apply(&r.UTM)
		switch {
		case seen[r.ID]:
			p.Add(at+"/id", fault.ReasonDuplicate, "another rule of this request has the id; leave it out for a new "+
				"rule")
		case s.ID.Set && !slices.ContainsFunc(before, func(b Rule) bool { return b.ID == r.ID }):
			p.Add(at+"/id", fault.ReasonUnknownReference, "this link has no rule with the id; leave it out for a new "+
				"rule")
		}
		seen[r.ID] = true
		if r.Country != nil {
			p.Keep(checkCountry(at+"/country", *r.Country))
		}
		if r.StartsAt != nil && r.ExpiresAt != nil && *r.StartsAt >= *r.ExpiresAt {
			p.Add(at+"/expiresAt", fault.ReasonOutOfRange, "the end must be after startsAt")
		}
		p.Keep(weburl.CheckHTTPS(at+"/destinationUrl", &r.DestinationURL))
		rules[i] = r
	}
	return rules
}
