package page

import (
	"reflect"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/waymarkhq/waymark/internal/binding"
	"github.com/waymarkhq/waymark/internal/opt"
	"github.com/waymarkhq/waymark/internal/schema"
	"github.com/waymarkhq/waymark/internal/text"
)

// Limits of the configuration and the data of a template (api-v1.md, catalog
// limits). Bytes are counted over the canonical JSON.
const (
	MaxConfigBytes = 12288
	MaxDataBytes   = 8192
	MaxVariables   = 20
	MaxDetails     = 4
)

// MaxPageBytes is the size of a page at most: so much arrives in the first round
// trip. MaxLogoBytes is that of a logo as a data URI.
const (
	MaxPageBytes = 14 << 10
	MaxLogoBytes = 6 << 10
)

// ContractVersion is the version of the renderer's contract.
const ContractVersion = 1

// Config is the design of a template (api-v1.md, TemplateConfig). What is omitted
// is as in the official template.
type Config struct {
	SchemaVersion           opt.Opt[int64]        `json:"schemaVersion,omitzero" enum:"1" minimum:"1" maximum:"1"`
	Kind                    opt.Opt[string]       `json:"kind,omitzero" enum:"preset"`
	BaseTemplateID          opt.Opt[binding.Base] `json:"baseTemplateId,omitzero" enum:"android,ios,recovery" doc:"The template's own."`
	RendererContractVersion opt.Opt[int64]        `json:"rendererContractVersion,omitzero" enum:"1" minimum:"1" maximum:"1"`
	Appearance              opt.Opt[Appearance]   `json:"appearance,omitzero"`
	Content                 opt.Opt[Content]      `json:"content,omitzero"`
	Variables               opt.Opt[[]Variable]   `json:"variables,omitzero" maxItems:"20" doc:"What links fill in: {{key}} in the texts of content shows the value."`
}

// SchemaName implements schema.Named.
func (Config) SchemaName() string { return "TemplateConfig" }

// Appearance is how a page looks.
type Appearance struct {
	Light       opt.Opt[Palette] `json:"light,omitzero"`
	Dark        opt.Opt[Palette] `json:"dark,omitzero"`
	FontFamily  opt.Opt[string]  `json:"fontFamily,omitzero" enum:"system,sans,serif"`
	Radius      opt.Opt[string]  `json:"radius,omitzero" enum:"small,medium,large"`
	Spacing     opt.Opt[string]  `json:"spacing,omitzero" enum:"compact,comfortable"`
	LogoAssetID opt.Opt[string]  `json:"logoAssetId,omitzero" maxLength:"100" doc:"An image of the app. Omitted: the app's logo."`
}

// SchemaName implements schema.Named.
func (Appearance) SchemaName() string { return "TemplateAppearance" }

// Palette are the colours of a colour scheme.
type Palette struct {
	Background opt.Opt[string] `json:"background,omitzero" pattern:"^#[0-9A-Fa-f]{6}$" maxLength:"7" example:"#f6f7f9"`
	Surface    opt.Opt[string] `json:"surface,omitzero" pattern:"^#[0-9A-Fa-f]{6}$" maxLength:"7" example:"#ffffff"`
	Border     opt.Opt[string] `json:"border,omitzero" pattern:"^#[0-9A-Fa-f]{6}$" maxLength:"7" example:"#e3e7ec"`
	Text       opt.Opt[string] `json:"text,omitzero" pattern:"^#[0-9A-Fa-f]{6}$" maxLength:"7" example:"#1b2430"`
	Muted      opt.Opt[string] `json:"muted,omitzero" pattern:"^#[0-9A-Fa-f]{6}$" maxLength:"7" example:"#5b6675"`
	Accent     opt.Opt[string] `json:"accent,omitzero" pattern:"^#[0-9A-Fa-f]{6}$" maxLength:"7" example:"#2f6f5e"`
	Secondary  opt.Opt[string] `json:"secondary,omitzero" pattern:"^#[0-9A-Fa-f]{6}$" maxLength:"7" example:"#e9eff4"`
	Tertiary   opt.Opt[string] `json:"tertiary,omitzero" pattern:"^#[0-9A-Fa-f]{6}$" maxLength:"7" example:"#2f6f5e"`
}

// SchemaName implements schema.Named.
func (Palette) SchemaName() string { return "TemplatePalette" }

// Content is what a page says.
type Content struct {
	Heading        opt.Opt[text.Line]    `json:"heading,omitzero" maxLength:"120" doc:"Omitted: the link's title, else words of the product."`
	SupportingText opt.Opt[text.Block]   `json:"supportingText,omitzero" maxLength:"1000" doc:"Omitted: the link's description."`
	ActionLabels   opt.Opt[ActionLabels] `json:"actionLabels,omitzero" doc:"By action: open, install, web, copy. Omitted: words of the product in the visitor's language. Labels of other names are kept and not shown."`
	Details        opt.Opt[[]Detail]     `json:"details,omitzero" maxItems:"4"`
}

// SchemaName implements schema.Named.
func (Content) SchemaName() string { return "TemplateContent" }

// ActionLabels are the words on buttons, by action.
type ActionLabels map[string]text.Line

// Schema describes ActionLabels in the contract.
func (ActionLabels) Schema(r *schema.Registry) *schema.Schema {
	label := *r.For(reflect.TypeFor[text.Line]())
	label.MaxLength = schema.Of(120)
	return &schema.Schema{Type: schema.Object, MaxProperties: schema.Of(20), Values: &label}
}

// MarshalJSON writes the labels in the order of their names: equal configurations
// have equal bytes.
func (l ActionLabels) MarshalJSON() ([]byte, error) {
	return json.Marshal(map[string]text.Line(l), json.Deterministic(true))
}

// Detail is a line below the text.
type Detail struct {
	Label text.Line  `json:"label" maxLength:"80"`
	Value text.Block `json:"value" maxLength:"1000"`
}

// SchemaName implements schema.Named.
func (Detail) SchemaName() string { return "TemplateDetail" }

// Variable is a value that links fill in.
type Variable struct {
	Key          string             `json:"key" pattern:"^[a-z][a-z0-9_]{0,39}$" maxLength:"40" example:"city"`
	Label        opt.Opt[text.Line] `json:"label,omitzero" maxLength:"80"`
	Type         opt.Opt[string]    `json:"type,omitzero" enum:"text,number,boolean" default:"text"`
	Required     opt.Opt[bool]      `json:"required,omitzero" default:"false"`
	MaxLength    opt.Opt[int64]     `json:"maxLength,omitzero" minimum:"1" maximum:"4000" doc:"Of a text, in characters."`
	DefaultValue opt.Opt[Value]     `json:"defaultValue,omitzero" doc:"Shown where a link has none; of the variable's type."`
}

// SchemaName implements schema.Named.
func (Variable) SchemaName() string { return "TemplateVariable" }

// Value is the value of a variable as JSON: a string, a number or a boolean.
type Value struct{ jsontext.Value }

// Schema describes a Value in the contract.
func (Value) Schema(*schema.Registry) *schema.Schema {
	return &schema.Schema{AnyOf: []*schema.Schema{
		{Type: schema.String, MaxLength: schema.Of(4000)},
		{Type: schema.Number, Minimum: schema.Of(-float64(schema.MaxWhole)), Maximum: schema.Of(float64(schema.MaxWhole))},
		{Type: schema.Boolean}}}
}

// UnmarshalJSON keeps the canonical text.
func (v *Value) UnmarshalJSON(b []byte) error {
	v.Value = jsontext.Value(b).Clone()
	return v.Value.Format()
}
