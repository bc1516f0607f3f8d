package imports

import (
	"context"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/text/unicode/norm"

	"github.com/waymarkhq/waymark/internal/automation"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/link"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/opt"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/weburl"
)

// ValidateImport is the body of validateImportsImportId: it has no members.
type ValidateImport struct{}

// SchemaName implements schema.Named.
func (ValidateImport) SchemaName() string { return "ImportValidateRequest" }

type validateInput struct {
	ImportID string `path:"importId"`
	Body     ValidateImport
}

// ImportValidation is a validated import: what a commit would create, and what
// it would leave out.
type ImportValidation struct {
	automation.Record
	Valid int64 `json:"valid" doc:"How many items a commit tries to create; total is valid and invalid."`
}

func (s *service) validate(ctx context.Context, c *op.Call, tx *store.Tx,
	in *validateInput) (op.Item[ImportValidation], error) {
	j, err := current(ctx, c, tx, in.ImportID)
	if err != nil {
		return op.Item[ImportValidation]{}, err
	}
	if j.State != automation.Uploaded && j.State != automation.Validated {
		return op.Item[ImportValidation]{}, fault.New(fault.ResourceConflict,
			"The import was committed and is %s: it cannot be validated again. Upload the file again to try it.",
			spoken(j.State))
	}
	var r request
	if err := json.Unmarshal([]byte(j.Request), &r); err != nil {
		return op.Item[ImportValidation]{}, err
	}
	all, err := automation.AllItems(ctx, tx, j.ID)
	if err != nil {
		return op.Item[ImportValidation]{}, err
	}
	j.Invalid = 0
	before := claims{clients: map[string]int64{}, addresses: map[string]int64{}}
	for n := range all {
		i := &all[n]
		details, err := s.try(ctx, c, tx, i, r.Problems[i.Ordinal], &before)
		if err != nil {
			return op.Item[ImportValidation]{}, err
		}
		i.State, i.Error = automation.Valid, opt.Null[automation.ItemError]{}
		if len(details) > 0 {
			i.State = automation.Invalid
			j.Invalid++
			i.Error = opt.NullOf(automation.Refused(fault.Of(fault.ValidationFailed, details...)))
		}
		if err := automation.SaveItem(ctx, tx, j.ID, i); err != nil {
			return op.Item[ImportValidation]{}, err
		}
	}
	j.State = automation.Validated
	err = j.Save(ctx, tx)
	return op.Item[ImportValidation]{Data: ImportValidation{Record: j, Valid: j.Total - j.Invalid}, Ref: j.Ref()}, err
}

// claims are the ordinals of the items that first had a clientId or an address.
type claims struct{ clients, addresses map[string]int64 }

// try returns what is wrong with an item; unread was found when it was read.
func (s *service) try(ctx context.Context, c *op.Call, tx *store.Tx, i *automation.Item, unread []fault.Detail,
	before *claims) ([]fault.Detail, error) {
	var p fault.Problems
	p.Include("", unread...)
	if first, taken := before.clients[i.ClientID]; taken {
		p.Add("/clientId", fault.ReasonDuplicate, "item %d of this import has the clientId %s too; give each item "+
			"its own", first, i.ClientID)
	} else {
		before.clients[i.ClientID] = i.Ordinal
	}
	var input fault.Problems
	body, err := s.body(c.AppID, i.Input)
	if input.Keep(err); err == nil {
		refused, err := s.links.Try(ctx, tx, &body)
		if err != nil {
			return nil, err
		}
		input.Include("", refused...)
		a := address(&body)
		if first, taken := before.addresses[a]; taken {
			p.Add("/slug", fault.ReasonDuplicate, "item %d of this import has the same domain, prefix and slug; keep "+
				"one of them", first)
		} else if !p.Any() && !input.Any() { // otherwise the address stays free
			before.addresses[a] = i.Ordinal
		}
	}
	details, err := input.Details()
	if err != nil {
		return nil, err
	}
	// Fields that an unreadable address would have given are missing too. That
	// is reported once, as the problem of the address.
	if slices.ContainsFunc(unread, func(d fault.Detail) bool { return strings.HasPrefix(d.Path, "/url") }) {
		details = slices.DeleteFunc(details, func(d fault.Detail) bool { return d.Code == fault.ReasonRequired })
	}
	p.Include("", details...)
	return p.Details()
}

// body returns the creation that an item's input asks for, or the refusal when
// the input breaks the schema.
func (s *service) body(appID string, input jsontext.Value) (link.CreateLink, error) {
	var fields map[string]jsontext.Value
	if err := json.Unmarshal(input, &fields); err != nil {
		return link.CreateLink{}, err
	}
	fields["appId"] = asJSON(appID)
	return s.create(asJSON(fields))
}

// address returns the stored form of the address that a creation asks for.
func address(b *link.CreateLink) string {
	host, _ := weburl.Hostname(b.Domain)
	return host + "/" + norm.NFC.String(b.Prefix.Value) + "/" + norm.NFC.String(b.Slug)
}

// apply creates the link of an item.
func (s *service) apply(ctx context.Context, c *op.Call, tx *store.Tx,
	i *automation.Item) (automation.ItemResult, error) {
	if err := c.Require(createLinks); err != nil {
		return automation.ItemResult{}, err
	}
	body, err := s.body(c.AppID, i.Input)
	if err != nil {
		return automation.ItemResult{}, err
	}
	l, err := s.links.Create(ctx, c, tx, &body)
	return automation.ItemResult{LinkID: l.ID, Revision: l.Revision}, err
}
