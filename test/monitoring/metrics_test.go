package monitoring

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/waymarkhq/waymark/internal/apitest"
	"github.com/waymarkhq/waymark/internal/certificate"
	"github.com/waymarkhq/waymark/internal/store/storetest"
	"github.com/waymarkhq/waymark/test/program"
)

// family is a metric of the program.
type family struct {
	// kind is as Prometheus calls it, "" for a metric that was not seen yet.
	kind string
	// values are those that each label was seen with.
	values map[string][]string
}

// metrics are those of the program, by their names.
type metrics map[string]*family

func (m metrics) add(name, label string, values ...string) {
	if m[name] == nil {
		m[name] = &family{values: map[string][]string{}}
	}
	if label != "" {
		m[name].values[label] = append(m[name].values[label], values...)
	}
}

// ofSample returns the name of the metric that a sample belongs to, "" for none.
func (m metrics) ofSample(name string) string {
	if m[name] != nil {
		return name
	}
	base := regexp.MustCompile(`_(bucket|sum|count)$`).ReplaceAllString(name, "")
	if f := m[base]; f != nil && (f.kind == "" || f.kind == "histogram" || f.kind == "summary") {
		return base
	}
	return ""
}

var (
	described  = regexp.MustCompile(`^Desc\{fqName: "(\w+)", .*, constLabels: \{.*\}, variableLabels: \{(.*)\}\}$`)
	kind       = regexp.MustCompile(`(?m)^# TYPE (\w+) (\w+)$`)
	sample     = regexp.MustCompile(`(?m)^(\w+)(?:\{(.*)\})? (\S+)$`)
	labelValue = regexp.MustCompile(`(\w+)="([^"]*)"`)
)

// ofCode adds the metrics of an installation as the code declares them, also those that begin with the
// first failure.
func (m metrics) ofCode(t *testing.T) {
	t.Helper()
	i := apitest.New(t, "sqlite", apitest.Options{})
	certificate.New(certificate.Options{DB: i.DB, Log: slog.New(slog.DiscardHandler), Metrics: i.Metrics})
	all := make(chan *prometheus.Desc)
	go func() {
		i.Metrics.Describe(all)
		close(all)
	}()
	for desc := range all {
		is := described.FindStringSubmatch(desc.String())
		if is == nil {
			t.Fatalf("what is %s?", desc)
		}
		m.add(is[1], "")
		for label := range strings.SplitSeq(is[2], ",") {
			m.add(is[1], label)
		}
	}
}

// ofProgram adds what a running program shows after a visit and a call, and returns the text.
func (m metrics) ofProgram(t *testing.T, binary string, args ...string) string {
	t.Helper()
	dir := t.TempDir()
	var log apitest.Journal
	cmd := exec.Command(binary, append([]string{"serve", "--data-dir", filepath.Join(dir, "data"), "--api-addr", "127.0.0.1:0",
		"--public-addr", "127.0.0.1:0", "--metrics-addr", "127.0.0.1:0", "--dns-resolver", "127.0.0.1:1"}, args...)...)
	cmd.Env, cmd.Stderr = []string{"HOME=" + dir}, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(cmd.Process.Signal(syscall.SIGTERM), cmd.Wait()); err != nil {
			t.Errorf("serve ended: %v\n%s", err, log.String())
		}
	})
	at := func(listener string) string {
		is := regexp.MustCompile(`msg=listening what=` + listener + ` address=(\S+)`).FindStringSubmatch(log.String())
		if is == nil {
			return ""
		}
		return is[1]
	}
	storetest.Eventually(t, "it listens", func() bool { return at("metrics") != "" })
	for _, listener := range []string{"public", "api"} { // in vain where it ends TLS
		if answer, err := http.Get("http://" + at(listener) + "/v1/links"); err == nil {
			answer.Body.Close()
		}
	}
	answer, err := http.Get("http://" + at("metrics") + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range kind.FindAllStringSubmatch(string(text), -1) {
		m.add(k[1], "")
		m[k[1]].kind = k[2]
	}
	for _, s := range sample.FindAllStringSubmatch(string(text), -1) {
		for _, l := range labelValue.FindAllStringSubmatch(s[2], -1) {
			m.add(m.ofSample(s[1]), l[1], l[2])
		}
	}
	return string(text)
}

// known returns the metrics of the program.
func known(t *testing.T) metrics {
	t.Helper()
	m := metrics{}
	m.ofCode(t)
	binary, err := program.Build(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	text := m.ofProgram(t, binary)
	for _, want := range []string{`waymark_redirect_requests_total{outcome="not_found"} 1`, "waymark_redirect_seconds_count 1",
		`waymark_api_calls_total{operation="getLinks",status="401"} 1`} {
		if !strings.Contains(text, "\n"+want+"\n") {
			t.Errorf("after a visit and a call there is no %s", want)
		}
	}
	m.ofProgram(t, binary, "--tls", "acme", "--http-addr", "127.0.0.1:0", "--acme-directory", "https://127.0.0.1:1/directory")
	m.add("up", "") // by Prometheus itself
	return m
}

var (
	selector = regexp.MustCompile(`\b(up|(?:waymark|go|process)_\w+)\b(?:\{([^}]*)\})?`)
	matcher  = regexp.MustCompile(`(\w+)(=~|!~|!=|=)"([^"]*)"`)
	grouped  = regexp.MustCompile(`\bby \(([^)]*)\)`)
	legend   = regexp.MustCompile(`\{\{(\w+)\}\}`)
)

// check returns what an expression names that the program has not. Values of labels must have been seen.
func (m metrics) check(expr string) error {
	var errs []error
	names := selector.FindAllStringSubmatch(expr, -1)
	if len(names) == 0 {
		return errors.New("it names no metric")
	}
	for _, s := range names {
		metric := m.ofSample(s[1])
		if metric == "" {
			errs = append(errs, fmt.Errorf("there is no metric %s", s[1]))
			continue
		}
		has := func(label string) bool {
			_, is := m[metric].values[label]
			// Prometheus adds the first two.
			return is || label == "job" || label == "instance" || label == "le" && s[1] == metric+"_bucket"
		}
		for _, l := range matcher.FindAllStringSubmatch(s[2], -1) {
			if !has(l[1]) {
				errs = append(errs, fmt.Errorf("%s has no label %s", s[1], l[1]))
			} else if l[2] == "=" && l[1] != "job" && !slices.Contains(m[metric].values[l[1]], l[3]) {
				errs = append(errs, fmt.Errorf("%s has no %s %q", s[1], l[1], l[3]))
			}
		}
		for _, by := range grouped.FindAllStringSubmatch(expr, -1) {
			for label := range strings.SplitSeq(by[1], ", ") {
				if !has(label) {
					errs = append(errs, fmt.Errorf("%s has no label %s to group by", s[1], label))
				}
			}
		}
	}
	return errors.Join(errs...)
}

// Rules and dashboard name nothing that the program has not, and the dashboard shows each metric of
// ours.
func TestNames(t *testing.T) {
	m, d := known(t), readDashboard(t)
	for _, r := range rules(t) {
		if err := m.check(r.Expr); err != nil {
			t.Errorf("%s: %v", r.Alert, err)
		}
	}
	all := ""
	for name, expr := range d.expressions(t) {
		all += expr + "\n"
		if err := m.check(expr); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, p := range d.Panels {
		for _, target := range p.Targets {
			kept := " job, instance, "
			if by := grouped.FindStringSubmatch(target.Expr); by != nil {
				kept = " " + by[1] + ", "
			}
			for _, l := range legend.FindAllStringSubmatch(target.LegendFormat, -1) {
				if !strings.Contains(kept, " "+l[1]+",") {
					t.Errorf("%s %s: the legend shows %s, which is not in the result", p.Title, target.RefID, l[1])
				}
			}
		}
	}
	for _, v := range d.Templating.List {
		if v.Type == "query" {
			if err := m.check(variables.Replace(v.Definition)); err != nil {
				t.Errorf("variable %s: %v", v.Name, err)
			}
		}
	}
	for name := range m {
		if strings.HasPrefix(name, "waymark_") && !strings.Contains(all, name) {
			t.Errorf("the dashboard does not show %s", name)
		}
	}
}

// What names something else is noticed.
func TestCheckNotices(t *testing.T) {
	m := metrics{"waymark_x_total": {"counter", map[string][]string{"outcome": {"done"}}}, "waymark_x_seconds": {kind: "histogram"}}
	for expr, fine := range map[string]bool{
		`sum by (outcome) (rate(waymark_x_total{job="a", outcome="done"}[5m]))`: true,
		`rate(waymark_y_total[5m])`:                    false,
		`rate(waymark_x_total{kind="done"}[5m])`:       false,
		`rate(waymark_x_total{outcome="failed"}[5m])`:  false,
		`rate(waymark_x_total{outcome=~"d.*"}[5m])`:    true,
		`sum by (kind) (rate(waymark_x_total[5m]))`:    false,
		`sum by (outcome) (rate(waymark_x_total[5m]))`: true,
		`sum by (le) (waymark_x_seconds_bucket)`:       true,
		`sum by (le) (waymark_x_seconds_count)`:        false,
		`waymark_x_total_bucket`:                       false,
		`vector(1)`:                                    false,
	} {
		if err := m.check(expr); (err == nil) != fine {
			t.Errorf("%s: %v", expr, err)
		}
	}
}
