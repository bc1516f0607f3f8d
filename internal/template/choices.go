package template

import (
	"context"

	"github.com/go-json-experiment/json"

	"github.com/waymarkhq/waymark/internal/binding"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/cursor"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/page"
	"github.com/waymarkhq/waymark/internal/store"
)

// Choice is a version that apps, domains and links may choose (api-v1.md, Template
// choice).
type Choice struct {
	TemplateID     string          `json:"templateId" format:"uuid"`
	Version        int64           `json:"version" minimum:"1"`
	BaseTemplateID binding.Base    `json:"baseTemplateId" enum:"android,ios,recovery"`
	Name           string          `json:"name" doc:"The template's."`
	Variables      []page.Variable `json:"variables" maxItems:"20" doc:"What the templateData of a link may hold."`

	createdAt clock.Instant
}

// SchemaName implements schema.Named.
func (Choice) SchemaName() string { return "TemplateChoice" }

// Position implements op.Positioned.
func (c Choice) Position() cursor.Position {
	return cursor.Position{At: c.createdAt, ID: binding.CustomOf(c.TemplateID, c.Version).Ref()}
}

func scanChoice(r store.Row) (c Choice, err error) {
	var text string
	if err = r.Scan(&c.TemplateID, &c.Version, &c.BaseTemplateID, &c.Name, &text, &c.createdAt); err != nil {
		return c, err
	}
	var config page.Config
	err = json.Unmarshal([]byte(text), &config)
	c.Variables = append([]page.Variable{}, config.Variables.Value...)
	return c, err
}

type choicesInput struct {
	AppID string `query:"appId" required:"true" maxLength:"500"`
}

func choices(ctx context.Context, c *op.Call, in *choicesInput, w op.Window) ([]Choice, error) {
	query, args := selectChoices(in.AppID, w)
	return store.All(ctx, c.DB, scanChoice, query, args...)
}

// selectChoices returns the query for a page of choices. It goes from the templates,
// so that it does not read the versions of archived ones, and reads the designs of
// the page alone.
func selectChoices(appID string, w op.Window) (query string, args []any) {
	var where store.Where
	where.And("t.app_id = ? AND NOT t.archived", appID)
	if w.After != nil {
		last := binding.SelectionOf(w.After.ID) // of a cursor that is signed
		where.And("(v.created_at, v.template_id, v.version) < (?, ?, ?)", w.After.At, *last.TemplateID, *last.Version)
	}
	const order = " ORDER BY v.created_at DESC, v.template_id DESC, v.version DESC"
	return `WITH page AS MATERIALIZED (SELECT v.template_id, v.version, t.base, t.name
		FROM template AS t JOIN template_version AS v ON v.template_id = t.id` + where.String() + order + ` LIMIT ?)
		SELECT v.template_id, v.version, page.base, page.name, v.config, v.created_at FROM page
		JOIN template_version AS v ON v.template_id = page.template_id AND v.version = page.version` + order,
		where.Args(w.Limit)
}
