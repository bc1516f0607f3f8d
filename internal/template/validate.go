package template

import (
	"context"
	"reflect"

	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/opt"
	"github.com/waymarkhq/waymark/internal/page"
	"github.com/waymarkhq/waymark/internal/schema"
	"github.com/waymarkhq/waymark/internal/store"
)

// Validation says whether a configuration can become a version, and what is wrong
// with it and with the values of its variables (completions.md §5).
type Validation struct {
	Valid       bool           `json:"valid" doc:"Nothing is wrong."`
	Issues      []fault.Detail `json:"issues" doc:"Their paths begin with /config or /data."`
	ConfigBytes int64          `json:"configBytes" doc:"Of the configuration as canonical JSON."`
	DataBytes   int64          `json:"dataBytes" doc:"Of data as canonical JSON; 0 when it was not sent."`
}

// SchemaName implements schema.Named.
func (Validation) SchemaName() string { return "TemplateValidation" }

// ValidateTemplate is the body of validateTemplatesTemplateId.
type ValidateTemplate struct {
	Config opt.Opt[ConfigShape] `json:"config,omitzero" doc:"Omitted: the draft."`
	Data   opt.Opt[opt.Object]  `json:"data,omitzero" doc:"The templateData of a link. Omitted: it is not validated."`
}

// SchemaName implements schema.Named.
func (ValidateTemplate) SchemaName() string { return "TemplateValidateRequest" }

// ConfigShape is a page.Config of which the pipeline checks only member names,
// required members and types; the answer reports the rules that its values break.
type ConfigShape struct{ opt.Object }

// Schema describes a ConfigShape in the contract.
func (ConfigShape) Schema(r *schema.Registry) *schema.Schema {
	return r.For(reflect.TypeFor[page.Config]()).Shape()
}

type validateInput struct {
	TemplateID string `path:"templateId"`
	Body       ValidateTemplate
}

// validator returns the handler of validateTemplatesTemplateId; read reads a
// configuration as setTemplatesTemplateIdDraft does.
func validator(read func([]byte) (page.Config, error)) func(context.Context, *op.Call, *store.Tx,
	*validateInput) (op.Item[Validation], error) {
	return func(ctx context.Context, c *op.Call, tx *store.Tx, in *validateInput) (op.Item[Validation], error) {
		t, err := Current(ctx, c, tx, in.TemplateID)
		if err != nil {
			return op.Item[Validation]{}, err
		}
		var p fault.Problems
		config, readable, text := t.draft.Config, true, []byte(in.Body.Config.Value.Value)
		if in.Body.Config.Set {
			var broken error
			config, broken = read(text)
			readable = broken == nil
			p.KeepAt(atConfig, broken)
		}
		if readable { // the other rules are about values that the schema admits
			text = config.Canonical()
			if _, err := checkVersion(ctx, tx, &p, t.AppID, t.BaseTemplateID, config); err != nil {
				return op.Item[Validation]{}, err
			}
			if in.Body.Data.Set {
				p.Include(atData, page.CheckData(config, in.Body.Data.Value.Value)...)
			}
		}
		issues, err := p.Details()
		v := Validation{Valid: len(issues) == 0, Issues: append([]fault.Detail{}, issues...),
			ConfigBytes: int64(len(text)), DataBytes: int64(len(in.Body.Data.Value.Value))}
		return op.Item[Validation]{Data: v, Ref: t.Ref()}, err
	}
}
