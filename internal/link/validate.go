package link

import (
	"context"
	"reflect"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/opt"
	"github.com/waymarkhq/waymark/internal/schema"
	"github.com/waymarkhq/waymark/internal/store"
)

// Validation says whether a creation would succeed, and what is wrong with it.
type Validation struct {
	Valid     bool           `json:"valid" doc:"Nothing is wrong with the data."`
	Available bool           `json:"available" doc:"The address can be a link's and is free."`
	URL       *string        `json:"url" doc:"The public address; null when it cannot be one."`
	Issues    []fault.Detail `json:"issues"`
}

// SchemaName implements schema.Named.
func (Validation) SchemaName() string { return "LinkValidation" }

// ValidateLink is the body of validateLinks: a CreateLink. The pipeline checks
// only its member names, required members and types; the answer reports the
// rules that its values break.
type ValidateLink struct{ opt.Object }

// SchemaName implements schema.Named.
func (ValidateLink) SchemaName() string { return "LinkValidateRequest" }

// Schema describes a ValidateLink in the contract.
func (ValidateLink) Schema(r *schema.Registry) *schema.Schema {
	return r.For(reflect.TypeFor[CreateLink]()).Shape()
}

// validator returns the handler of validateLinks; check reads a CreateLink as
// createLinks does.
func (s *Service) validator(check func([]byte) (CreateLink, error)) func(context.Context, *op.Call, *store.Tx,
	*struct{ Body ValidateLink }) (op.Item[Validation], error) {
	return func(ctx context.Context, _ *op.Call, tx *store.Tx,
		in *struct{ Body ValidateLink }) (op.Item[Validation], error) {
		text := in.Body.Value
		body, err := check(text)
		var p fault.Problems
		p.Keep(err)
		broken, failure := p.Details()
		if failure != nil {
			return op.Item[Validation]{}, failure
		}
		if len(broken) > 0 { // the rest is tried without what is broken
			for _, d := range broken {
				text = without(text, strings.Split(d.Path, "/")[1:])
			}
			if op.Unmarshal(text, &body) != nil {
				return op.Item[Validation]{}, err
			}
		}
		var rest fault.Problems
		l, err := s.newLink(ctx, tx, &rest, &body)
		if err != nil {
			return op.Item[Validation]{}, err
		}
		found, err := rest.Details()
		if err != nil {
			return op.Item[Validation]{}, err
		}
		// A field that was left out is broken, not missing.
		found = slices.DeleteFunc(found, func(d fault.Detail) bool {
			return slices.ContainsFunc(broken, func(b fault.Detail) bool { return b.Path == d.Path })
		})
		v := Validation{Issues: append(broken, found...)}
		v.Valid = len(v.Issues) == 0
		if !slices.ContainsFunc(v.Issues, func(d fault.Detail) bool { return isAddress(d.Path) }) {
			taken, err := isTaken(ctx, tx, l.Domain, l.Prefix, l.Slug)
			if err != nil {
				return op.Item[Validation]{}, err
			}
			url := s.addresses.URL(l.Domain, l.Prefix, l.Slug)
			v.Available, v.URL = !taken, &url
		}
		return op.Item[Validation]{Data: v, Ref: op.Ref{Type: "app", ID: l.AppID, AppID: l.AppID}}, nil
	}
}

// without returns an object without the member at a path.
func without(object jsontext.Value, path []string) jsontext.Value {
	var members map[string]jsontext.Value
	if len(path) == 0 || json.Unmarshal(object, &members) != nil {
		return object
	}
	if inner, found := members[path[0]]; !found || len(path) == 1 {
		delete(members, path[0])
	} else {
		members[path[0]] = without(inner, path[1:])
	}
	text, err := json.Marshal(members, json.Deterministic(true))
	if err != nil {
		return object
	}
	return text
}

// Try returns what Create would refuse in a body at this moment. It reserves
// nothing.
func (s *Service) Try(ctx context.Context, q store.Q, body *CreateLink) (_ []fault.Detail, err error) {
	defer fault.Wrap(&err, "link.Try(%s)", body.AppID)
	var p fault.Problems
	l, err := s.newLink(ctx, q, &p, body)
	if err != nil {
		return nil, err
	}
	if !p.Any() {
		taken, err := isTaken(ctx, q, l.Domain, l.Prefix, l.Slug)
		if err != nil {
			return nil, err
		}
		if taken {
			p.Add("/slug", fault.ReasonTaken, "a link with this domain, prefix and slug exists already; choose "+
				"another slug")
		}
	}
	return p.Details()
}

func isAddress(path string) bool { return path == "/domain" || path == "/prefix" || path == "/slug" }
