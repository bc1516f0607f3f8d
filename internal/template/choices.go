package template

import (
	"context"
	"fmt"
	"strconv"
	"strings"

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
	return cursor.Position{At: c.createdAt, ID: fmt.Sprintf("%s@%d", c.TemplateID, c.Version)}
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
	var where store.Where
	where.And("v.app_id = ? AND NOT t.archived", in.AppID)
	if w.After != nil {
		id, number, _ := strings.Cut(w.After.ID, "@")
		version, err := strconv.ParseInt(number, 10, 64)
		if err != nil {
			return nil, err
		}
		where.And("(v.created_at, v.template_id, v.version) < (?, ?, ?)", w.After.At, id, version)
	}
	return store.All(ctx, c.DB, scanChoice, `SELECT v.template_id, v.version, t.base, t.name, v.config, v.created_at
		FROM template_version AS v JOIN template AS t ON t.id = v.template_id`+where.String()+
		" ORDER BY v.created_at DESC, v.template_id DESC, v.version DESC LIMIT ?", where.Args(w.Limit)...)
}
