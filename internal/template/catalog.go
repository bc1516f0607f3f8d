package template

import (
	"context"
	"reflect"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/waymarkhq/waymark/internal/binding"
	"github.com/waymarkhq/waymark/internal/cursor"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/opt"
	"github.com/waymarkhq/waymark/internal/page"
	"github.com/waymarkhq/waymark/internal/schema"
)

// Limits bound the configuration of a template and the values of its variables
// (api-v1.md, catalog limits). Bytes are counted over canonical JSON.
type Limits struct {
	ConfigBytes int64 `json:"configBytes"`
	DataBytes   int64 `json:"dataBytes"`
	Variables   int64 `json:"variables"`
	Details     int64 `json:"details"`
}

// SchemaName implements schema.Named.
func (Limits) SchemaName() string { return "TemplateLimits" }

var limits = Limits{ConfigBytes: page.MaxConfigBytes, DataBytes: page.MaxDataBytes, Variables: page.MaxVariables,
	Details: page.MaxDetails}

// CatalogItem is a base template (completions.md §5).
type CatalogItem struct {
	BaseTemplateID          binding.Base `json:"baseTemplateId" enum:"android,ios,recovery"`
	Name                    string       `json:"name" example:"Android"`
	Description             string       `json:"description" example:"Opens the app on Android, or leads to the Play Store."`
	RendererContractVersion int64        `json:"rendererContractVersion" enum:"1" minimum:"1" maximum:"1"`
	Limits                  Limits       `json:"limits"`
}

// SchemaName implements schema.Named.
func (CatalogItem) SchemaName() string { return "TemplateCatalogItem" }

// Position implements op.Positioned.
func (i CatalogItem) Position() cursor.Position { return cursor.Position{ID: string(i.BaseTemplateID)} }

// catalog are the base templates, in the order of binding.Bases.
var catalog = []CatalogItem{
	{binding.Android, "Android", "Opens the app on Android, or leads to the Play Store.", page.ContractVersion, limits},
	{binding.IOS, "iOS", "Opens the app on iPhones and iPads, or leads to the App Store.", page.ContractVersion, limits},
	{binding.Recovery, "Recovery", "Lets visitors who install the app on iOS take the link along, for the app to " +
		"find it again.", page.ContractVersion, limits},
}

func listCatalog(_ context.Context, _ *op.Call, _ *struct{}, w op.Window) ([]CatalogItem, error) {
	all := catalog
	if w.After != nil {
		all = all[1+slices.IndexFunc(all, func(i CatalogItem) bool { return string(i.BaseTemplateID) == w.After.ID }):]
	}
	return all[:min(len(all), w.Limit)], nil
}

// CatalogSchema describes the configurations of a base template.
type CatalogSchema struct {
	BaseTemplateID binding.Base `json:"baseTemplateId" enum:"android,ios,recovery"`
	Limits         Limits       `json:"limits"`
	Schema         opt.Object   `json:"schema" doc:"JSON Schema 2020-12 of config, complete in itself."`
	Example        page.Config  `json:"example" doc:"A configuration to begin with. It can become a version as it is."`
}

// SchemaName implements schema.Named.
func (CatalogSchema) SchemaName() string { return "TemplateCatalogSchema" }

// schemas are the JSON Schemas of configurations by base template.
var schemas = func() map[binding.Base]opt.Object {
	all := map[binding.Base]opt.Object{}
	for _, base := range binding.Bases {
		config := schema.ForRequests().For(reflect.TypeFor[page.Config]()).Inline()
		for _, p := range config.Properties {
			if p.Name == "baseTemplateId" {
				p.Enum = []string{string(base)}
			}
		}
		text, err := json.Marshal(config)
		if err != nil {
			panic("template: the schema of a configuration: " + err.Error())
		}
		const dialect = `{"$schema":"https://json-schema.org/draft/2020-12/schema",`
		all[base] = opt.Object{Value: append(jsontext.Value(dialect), text[1:]...)}
	}
	return all
}()

// examples are configurations to begin with by base template.
var examples = func() map[binding.Base]page.Config {
	const look = `"schemaVersion":1,"kind":"preset","rendererContractVersion":1,"appearance":{` +
		`"light":{"background":"#f6f7f9","surface":"#ffffff","text":"#1b2430","accent":"#2f6f5e"},` +
		`"dark":{"background":"#12171f","surface":"#1b222c","text":"#f2f5f8","accent":"#7cc7b2"},` +
		`"fontFamily":"sans","radius":"large","spacing":"comfortable"},`
	all := map[binding.Base]page.Config{}
	for base, content := range map[binding.Base]string{
		binding.Android: `"content":{"heading":"See {{offer}} in our app","supportingText":"It opens where the link ` +
			`leads.","actionLabels":{"open":"Open the app","install":"Get it on Google Play"},"details":[{"label":"Offer",` +
			`"value":"{{offer}}"}]},"variables":[{"key":"offer","label":"Offer","type":"text","maxLength":60,` +
			`"defaultValue":"our offers"}]`,
		binding.IOS: `"content":{"heading":"See {{offer}} in our app","supportingText":"It opens where the link ` +
			`leads.","actionLabels":{"open":"Open the app","install":"Get it on the App Store"},"details":[{"label":` +
			`"Offer","value":"{{offer}}"}]},"variables":[{"key":"offer","label":"Offer","type":"text","maxLength":60,` +
			`"defaultValue":"our offers"}]`,
		binding.Recovery: `"content":{"heading":"Take your link along","supportingText":"Copy the link, install the ` +
			`app and open it: it goes on where you were.","actionLabels":{"copy":"Copy the link"}}`,
	} {
		var config page.Config
		text := `{"baseTemplateId":"` + string(base) + `",` + look + content + "}"
		if err := json.Unmarshal([]byte(text), &config); err != nil {
			panic("template: the example of " + string(base) + ": " + err.Error())
		}
		all[base] = config
	}
	return all
}()

type catalogInput struct {
	BaseID string `path:"baseId" maxLength:"20" example:"android"`
}

func catalogSchema(_ context.Context, _ *op.Call, in *catalogInput) (op.Item[CatalogSchema], error) {
	base := binding.Base(in.BaseID)
	if !slices.Contains(binding.Bases[:], base) {
		return op.Item[CatalogSchema]{}, fault.Missing()
	}
	return op.Item[CatalogSchema]{Data: CatalogSchema{base, limits, schemas[base], examples[base]}}, nil
}
