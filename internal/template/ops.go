package template

import (
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/part"
)

// Register declares the operations of this package and returns its part.
func Register(*op.Pipeline) part.Part {
	return part.Part{
		Name: "template",
		OfApp: part.OfApp{
			Tables: []string{"template", "template_version", "template_publication"},
			Remove: part.Executing(
				"DELETE FROM route_template WHERE template_id IN (SELECT id FROM template WHERE app_id = ?)",
				"DELETE FROM template_publication WHERE app_id = ?", "DELETE FROM template_version WHERE app_id = ?",
				"DELETE FROM template WHERE app_id = ?"),
		},
	}
}
