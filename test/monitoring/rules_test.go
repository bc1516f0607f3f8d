// Package monitoring tests what is in deploy/ for Prometheus and Grafana: with promtool, and against
// the metrics of the program.
package monitoring

import (
	"maps"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

const (
	rulesFile  = "../../deploy/prometheus/waymark.rules.yaml"
	alertTests = "testdata/alerts.yaml"
	page       = "../../docs/monitoring.md"
)

// rule is an alert of the file of rules.
type rule struct {
	Alert, Expr, For    string
	Labels, Annotations map[string]string
}

func rules(t *testing.T) []rule {
	t.Helper()
	var file struct {
		Groups []struct {
			Name  string
			Rules []rule
		}
	}
	text := read(t, rulesFile)
	if err := yaml.UnmarshalWithOptions([]byte(text), &file, yaml.Strict()); err != nil {
		t.Fatal(err)
	}
	if len(file.Groups) != 1 || len(file.Groups[0].Rules) < 10 {
		t.Fatalf("want one group of rules, got %+v", file.Groups)
	}
	return file.Groups[0].Rules
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func promtool(t *testing.T, args ...string) {
	t.Helper()
	if out, err := exec.Command("promtool", args...).CombinedOutput(); err != nil {
		t.Errorf("promtool %s (scripts/tools installs it): %v\n%s", strings.Join(args, " "), err, out)
	}
}

func TestRules(t *testing.T) {
	promtool(t, "check", "rules", rulesFile)
	promtool(t, "test", "rules", alertTests)
}

// labelOf is a label that an annotation shows.
var labelOf = regexp.MustCompile(`\$labels\.(\w+)`)

// Each alert says how urgent it is, what happens and what to do; it is tested from both sides, and has
// the labels that its text shows.
func TestAlerts(t *testing.T) {
	var tests struct {
		Tests []struct {
			Expressions []struct {
				Expr    string
				Samples []struct{ Labels string } `yaml:"exp_samples"`
			} `yaml:"promql_expr_test"`
		}
	}
	if err := yaml.Unmarshal([]byte(read(t, alertTests)), &tests); err != nil {
		t.Fatal(err)
	}
	fires, silent := map[string][]string{}, map[string]bool{}
	name := regexp.MustCompile(`alertname="(\w+)"`)
	for _, test := range tests.Tests {
		for _, e := range test.Expressions {
			alert := name.FindStringSubmatch(e.Expr)
			if alert == nil {
				t.Fatalf("%s asks for no alert", e.Expr)
			}
			silent[alert[1]] = silent[alert[1]] || len(e.Samples) == 0
			for _, s := range e.Samples {
				fires[alert[1]] = append(fires[alert[1]], s.Labels)
			}
		}
	}
	for _, r := range rules(t) {
		if severity := r.Labels["severity"]; severity != "critical" && severity != "warning" || len(r.Labels) != 1 {
			t.Errorf("%s: the labels are %v", r.Alert, r.Labels)
		}
		if got := slices.Sorted(maps.Keys(r.Annotations)); !slices.Equal(got, []string{"description", "summary"}) {
			t.Errorf("%s: the annotations are %q", r.Alert, got)
		}
		if len(r.Annotations["description"]) < 50 || strings.HasSuffix(r.Annotations["summary"], ".") {
			t.Errorf("%s: a description says what to do, and a summary is no sentence: %q", r.Alert, r.Annotations)
		}
		if !silent[r.Alert] || len(fires[r.Alert]) == 0 {
			t.Errorf("%s is not tested from both sides", r.Alert)
		}
		for _, shown := range labelOf.FindAllStringSubmatch(r.Annotations["summary"]+r.Annotations["description"], -1) {
			for _, labels := range fires[r.Alert] {
				if !strings.Contains(labels, shown[1]+`="`) {
					t.Errorf("%s shows the label %s, which %s has not", r.Alert, shown[1], labels)
				}
			}
		}
		delete(fires, r.Alert)
	}
	for alert := range fires {
		t.Errorf("there is no alert %s", alert)
	}
}

// The page explains each alert of the file, with its severity, and no other.
func TestPageExplainsAlerts(t *testing.T) {
	text := read(t, page)
	explained := map[string]string{}
	for _, row := range regexp.MustCompile("(?m)^\\| `(Waymark\\w+)` \\| (\\w+) \\| .+ \\| .+ \\|$").FindAllStringSubmatch(text, -1) {
		explained[row[1]] = row[2]
	}
	for _, r := range rules(t) {
		if got := explained[r.Alert]; got != r.Labels["severity"] {
			t.Errorf("the page calls %s %q, the file %q", r.Alert, got, r.Labels["severity"])
		}
		delete(explained, r.Alert)
	}
	for alert := range explained {
		t.Errorf("the page explains %s, which the file has not", alert)
	}
	for _, file := range []string{"deploy/prometheus/waymark.rules.yaml", "deploy/grafana/waymark.json"} {
		if !strings.Contains(text, "](../"+file+")") {
			t.Errorf("the page has no link to %s", file)
		}
	}
}
