package monitoring

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

const dashboardFile = "../../deploy/grafana/waymark.json"

type source struct{ Type, UID string }

type panel struct {
	ID                       int
	Type, Title, Description string
	Collapsed                bool
	Datasource               source
	GridPos                  struct{ X, Y, W, H int }
	FieldConfig              struct{ Defaults struct{ Unit string } }
	Targets                  []struct {
		RefID, Expr, LegendFormat string
		Datasource                source
	}
}

type dashboard struct {
	UID           string
	SchemaVersion int
	Panels        []panel
	Templating    struct {
		List []struct{ Name, Type, Definition string }
	}
}

func readDashboard(t *testing.T) (d dashboard) {
	t.Helper()
	if err := json.Unmarshal([]byte(read(t, dashboardFile)), &d); err != nil {
		t.Fatal(err)
	}
	if d.UID != "waymark" || d.SchemaVersion < 39 || len(d.Panels) < 30 {
		t.Fatalf("the dashboard %q has the version %d of the schema, and %d panels", d.UID, d.SchemaVersion, len(d.Panels))
	}
	return d
}

// variables are what Grafana puts in the place of the dashboard's variables.
var variables = strings.NewReplacer("$job", "waymark", "$instance", ".*", "$__rate_interval", "5m")

// expressions returns the expressions of the dashboard by panel and target.
func (d *dashboard) expressions(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, p := range d.Panels {
		for _, target := range p.Targets {
			name := p.Title + " " + target.RefID
			if all[name] != "" {
				t.Errorf("there are two %s", name)
			}
			all[name] = variables.Replace(target.Expr)
			if strings.Contains(all[name], "$") {
				t.Errorf("%s has another variable: %s", name, all[name])
			}
			if !strings.Contains(target.Expr, `{job="$job", instance=~"$instance"`) {
				t.Errorf("%s does not heed the variables: %s", name, target.Expr)
			}
		}
	}
	return all
}

// Grafana asks for a title, a type and a place of each panel; a reader, for what it shows.
func TestDashboard(t *testing.T) {
	d := readDashboard(t)
	var names []string
	for _, v := range d.Templating.List {
		names = append(names, v.Name)
	}
	if !slices.Equal(names, []string{"datasource", "job", "instance"}) {
		t.Errorf("the variables are %q", names)
	}
	var rows []string
	ids, shown := map[int]bool{}, map[int]bool{}
	units := []string{"reqps", "cps", "s", "d", "bytes", "short", "percentunit"} // those of Grafana that are used
	for _, p := range d.Panels {
		if p.ID <= 0 || ids[p.ID] {
			t.Errorf("%s: the id %d is none, or another panel's", p.Title, p.ID)
		}
		ids[p.ID] = true
		at := p.GridPos
		if at.X < 0 || at.W < 1 || at.H < 1 || at.X+at.W > 24 {
			t.Errorf("%s is beside the grid: %+v", p.Title, at)
		}
		for y := at.Y; y < at.Y+at.H; y++ {
			for x := at.X; x < at.X+at.W; x++ {
				if shown[24*y+x] {
					t.Fatalf("%s overlaps another panel", p.Title)
				}
				shown[24*y+x] = true
			}
		}
		if p.Type == "row" {
			rows = append(rows, p.Title)
			continue
		}
		if !slices.Contains([]string{"timeseries", "stat"}, p.Type) {
			t.Errorf("%s is a %s", p.Title, p.Type)
		}
		if len(rows) == 0 || p.Title == "" || !strings.HasSuffix(p.Description, ".") ||
			!slices.Contains(units, p.FieldConfig.Defaults.Unit) || len(p.Targets) == 0 {
			t.Errorf("%s has no title, row, description, known unit or target: %+v", p.Title, p)
		}
		for _, target := range p.Targets {
			if (target.Datasource != source{"prometheus", "${datasource}"}) || p.Datasource != target.Datasource ||
				target.LegendFormat == "" {
				t.Errorf("%s %s: the data source is %v, the legend %q", p.Title, target.RefID, target.Datasource,
					target.LegendFormat)
			}
		}
	}
	if want := []string{"Visitors", "API", "Work", "Analytics", "Database", "Process", "Certificates"}; !slices.Equal(rows, want) {
		t.Errorf("the rows are %q, want %q", rows, want)
	}
}

// Prometheus can parse each expression.
func TestDashboardExpressions(t *testing.T) {
	d := readDashboard(t)
	type record struct {
		Record, Expr string
		Labels       map[string]string
	}
	var records []record
	for name, expr := range d.expressions(t) {
		records = append(records, record{"dashboard:expression", expr, map[string]string{"panel": name}})
	}
	text, err := yaml.Marshal(map[string]any{"groups": []any{map[string]any{"name": "dashboard", "rules": records}}})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "dashboard.rules.yaml")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	promtool(t, "check", "rules", file)
}
