package template_test

import (
	"strings"
	"testing"

	"github.com/waymarkhq/waymark/internal/apitest"
	"github.com/waymarkhq/waymark/internal/cursor"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/template"
)

// A list of choices looks up versions by their template, so the many of archived
// templates cost nothing.
func TestPlanOfChoices(t *testing.T) {
	i := apitest.New(t, "sqlite", apitest.Options{})
	for _, after := range []*cursor.Position{nil, {At: i.Clock.Now(), ID: "x@1"}} {
		query, args := template.SelectChoices("app_x", op.Window{Limit: 50, After: after})
		steps, err := store.All(t.Context(), i.DB, func(r store.Row) (step string, err error) {
			var id, parent, unused int
			err = r.Scan(&id, &parent, &unused, &step)
			return step, err
		}, "EXPLAIN QUERY PLAN "+query, args...)
		if err != nil {
			t.Fatal(err)
		}
		plan := strings.Join(steps, "\n")
		if !strings.Contains(plan, "SEARCH t USING INDEX template_list (app_id=?)") ||
			strings.Count(plan, "SEARCH v USING INDEX sqlite_autoindex_template_version_1 (template_id=?") != 2 {
			t.Errorf("the plan is\n%s", plan)
		}
	}
}
