package helm

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strings"
	"testing"

	monitoring "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v3/pkg/lint"
	"helm.sh/helm/v3/pkg/releaseutil"
	apps "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"
)

const (
	root     = "../.."
	chartDir = root + "/deploy/helm/waymark"
	release  = "links"
)

// decoder knows the types of Kubernetes and of the Prometheus operator, and refuses fields that they do
// not have.
var decoder = func() runtime.Decoder {
	if err := monitoring.AddToScheme(scheme.Scheme); err != nil {
		panic(err)
	}
	return serializer.NewCodecFactory(scheme.Scheme, serializer.EnableStrict).UniversalDeserializer()
}()

func read(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func parse(t *testing.T, text []byte) (values map[string]any) {
	t.Helper()
	if err := yaml.UnmarshalStrict(text, &values); err != nil {
		t.Fatal(err)
	}
	return values
}

// example is a yaml block of the page that begins with the name of a file of values.
var example = regexp.MustCompile("(?ms)^```yaml\n# (\\S+\\.yaml)[^\n]*\n(.*?)^```$")

// cases are the values that the chart is tested with: those of testdata, and those of the page.
func cases(t *testing.T) map[string]map[string]any {
	t.Helper()
	all := map[string]map[string]any{}
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil || len(files) < 4 {
		t.Fatalf("%d files of values: %v", len(files), err)
	}
	for _, file := range files {
		all[filepath.Base(file)] = parse(t, read(t, file))
	}
	examples := example.FindAllSubmatch(read(t, root+"/docs/kubernetes.md"), -1)
	if len(examples) < 4 {
		t.Fatalf("the page has %d examples of values", len(examples))
	}
	for _, e := range examples {
		name := "page: " + string(e[1])
		if all[name] != nil {
			t.Fatalf("the page has two files %s", e[1])
		}
		all[name] = parse(t, e[2])
	}
	return all
}

// each runs f with all cases.
func each(t *testing.T, f func(t *testing.T, values map[string]any)) {
	t.Helper()
	all := cases(t)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		t.Run(name, func(t *testing.T) { f(t, all[name]) })
	}
}

func load(t *testing.T) *chart.Chart {
	t.Helper()
	c, err := loader.Load(chartDir)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// rendered is what helm template prints, by file.
func rendered(t *testing.T, values map[string]any) (map[string]string, error) {
	t.Helper()
	c := load(t)
	all, err := chartutil.ToRenderValues(c, values, chartutil.ReleaseOptions{
		Name: release, Namespace: "waymark", Revision: 1, IsInstall: true}, nil)
	if err != nil {
		return nil, err
	}
	return engine.Render(c, all)
}

// objects are the objects of a release, in the order of files.
func objects(t *testing.T, values map[string]any) (all []runtime.Object) {
	t.Helper()
	files, err := rendered(t, values)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if filepath.Ext(name) != ".yaml" {
			continue
		}
		documents := releaseutil.SplitManifests(files[name])
		keys := slices.Collect(maps.Keys(documents))
		sort.Sort(releaseutil.BySplitManifestsOrder(keys))
		for _, key := range keys {
			object, _, err := decoder.Decode([]byte(documents[key]), nil, nil)
			if err != nil {
				t.Fatalf("%s: %v\n%s", name, err, documents[key])
			}
			all = append(all, object)
		}
	}
	if len(all) == 0 {
		t.Fatal("nothing is rendered")
	}
	return all
}

// of returns the objects of one type.
func of[T any](all []runtime.Object) (found []*T) {
	for _, o := range all {
		if o, ok := o.(any).(*T); ok {
			found = append(found, o)
		}
	}
	return found
}

// helm lint --strict has nothing to say, not even an advice.
func TestLint(t *testing.T) {
	each(t, func(t *testing.T, values map[string]any) {
		for _, m := range lint.AllWithKubeVersion(chartDir, values, "waymark", nil).Messages {
			t.Error(m)
		}
	})
}

// The same values give the same text.
func TestTemplateIsDeterministic(t *testing.T) {
	each(t, func(t *testing.T, values map[string]any) {
		first, err := rendered(t, values)
		if err != nil {
			t.Fatal(err)
		}
		if second, err := rendered(t, values); err != nil || !maps.Equal(first, second) {
			t.Errorf("another text: %v", err)
		}
	})
}

// set returns a copy of values in which one that a path names is another.
func set(t *testing.T, values map[string]any, path string, value any) map[string]any {
	t.Helper()
	text, err := json.Marshal(values)
	if err != nil {
		t.Fatal(err)
	}
	changed := map[string]any{}
	if err := json.Unmarshal(text, &changed); err != nil {
		t.Fatal(err)
	}
	in, names := changed, strings.Split(path, ".")
	for _, name := range names[:len(names)-1] {
		if in[name] == nil {
			in[name] = map[string]any{}
		}
		in = in[name].(map[string]any)
	}
	in[names[len(names)-1]] = value
	return changed
}

// Wrong values are refused before anything is installed, with a message that names them.
func TestWrongValues(t *testing.T) {
	single, cluster := parse(t, read(t, "testdata/default.yaml")), parse(t, read(t, "testdata/cluster-least.yaml"))
	for name, c := range map[string]struct {
		in    map[string]any
		path  string
		value any
		says  []string
	}{
		"unknown value": {single, "replicas", 3, []string{"'replicas' not allowed"}},
		"no image":      {single, "image.repository", "", []string{"image.repository is required"}},
		"unknown below": {single, "image.name", "x", []string{"'/image'", "'name' not allowed"}},
		"unknown mode":  {single, "mode", "ha", []string{"'/mode'", "'single', 'cluster'"}},
		"wrong type":    {cluster, "api.replicas", "two", []string{"'/api/replicas'", "want integer"}},
		"no replica":    {cluster, "redirect.replicas", 0, []string{"'/redirect/replicas'"}},
		"misspelt setting": {single, "settings.plattform-zone", "x",
			[]string{"invalid propertyName 'plattform-zone'", "'platform-zone'"}},
		"setting of ours":  {single, "settings.data-dir", "/x", []string{"invalid propertyName 'data-dir'"}},
		"database as text": {single, "settings.database", "postgres://x", []string{"invalid propertyName 'database'"}},
		"password in events": {single, "settings.events", "clickhouse://u:p@h/d",
			[]string{"'/settings/events'", "'segments', 'database'"}},
		"settings nested":    {single, "settings.tls", map[string]any{}, []string{"'/settings/tls'"}},
		"no database":        {cluster, "database.secret", "", []string{"'/database/secret'"}},
		"no key of S3":       {cluster, "s3.secret", "", []string{"'/s3/secret'"}},
		"images without key": {single, "settings.asset-store", "s3://b/a", []string{"'/s3/secret'"}},
		"events without key": {single, "settings.segment-store", "s3://b/a", []string{"'/s3/secret'"}},
		"backup without key": {set(t, single, "backup.to", "s3://b/a"), "backup.schedule", "@daily",
			[]string{"'/s3/secret'"}},
		"images in a folder": {cluster, "settings.asset-store", "file", []string{"'/settings/asset-store'", "'^s3://'"}},
		"events in a folder": {cluster, "settings", map[string]any{"asset-store": "s3://b/a"},
			[]string{"missing property 'segment-store'", "missing property 'events'", "'/clickhouse/secret'"}},
		"API without a host":  {single, "api.ingress.enabled", true, []string{"'/api/ingress/host'"}},
		"backup to nowhere":   {single, "backup.schedule", "@daily", []string{"'/backup/to'"}},
		"backup to a folder":  {single, "backup.to", "/backup", []string{"'/backup/to'"}},
		"digest cut off":      {single, "image.digest", "sha256:12", []string{"'/image/digest'"}},
		"size without a unit": {single, "storage.size", "20", []string{"'/storage/size'"}},
		"two ends of TLS": {set(t, single, "settings.tls", "acme"), "redirect.ingress.enabled", true,
			[]string{"'/redirect/ingress/enabled'"}},
		"two ends of the API's TLS": {set(t, set(t, single, "settings.tls", "acme"), "settings.api-host", "api.example.com"),
			"api.ingress", map[string]any{"enabled": true, "host": "api.example.com"}, []string{"'/api/ingress/enabled'"}},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := rendered(t, c.in); err != nil {
				t.Fatalf("refused before the change: %v", err)
			}
			_, err := rendered(t, set(t, c.in, c.path, c.value))
			for _, says := range c.says {
				if err == nil || !strings.Contains(err.Error(), says) {
					t.Errorf("%s=%v: %v; want a message with %s", c.path, c.value, err, says)
				}
			}
		})
	}
}

// An upgrade with other replicas, image and settings changes no field that Kubernetes lets nobody change.
func TestUpgrade(t *testing.T) {
	each(t, func(t *testing.T, values map[string]any) {
		changed := values
		for path, value := range map[string]any{"api.replicas": 7, "redirect.replicas": 7, "executor.replicas": 7,
			"image.tag": "9.9.9", "settings.log-level": "debug", "podAnnotations.a": "b"} {
			changed = set(t, changed, path, value)
		}
		before, after := objects(t, values), objects(t, changed)
		if len(before) != len(after) {
			t.Fatalf("%d objects become %d", len(before), len(after))
		}
		for i, b := range of[apps.Deployment](before) {
			a := of[apps.Deployment](after)[i]
			same(t, b.Name, b.Spec.Selector, a.Spec.Selector)
			if *a.Spec.Replicas != 7 || a.Spec.Template.Spec.Containers[0].Image == b.Spec.Template.Spec.Containers[0].Image ||
				a.Spec.Template.Annotations["waymark/settings"] == b.Spec.Template.Annotations["waymark/settings"] {
				t.Errorf("%s did not change", b.Name)
			}
		}
		for i, b := range of[apps.StatefulSet](before) {
			a := of[apps.StatefulSet](after)[i]
			if a.Spec.Template.Annotations["waymark/settings"] == b.Spec.Template.Annotations["waymark/settings"] {
				t.Errorf("%s did not change", b.Name)
			}
			if want := map[bool]int32{true: 1, false: 7}[a.Name == "links-waymark"]; *a.Spec.Replicas != want {
				t.Errorf("%s has %d replicas, want %d", a.Name, *a.Spec.Replicas, want)
			}
			// These may change.
			for _, s := range []*apps.StatefulSetSpec{&a.Spec, &b.Spec} {
				s.Replicas, s.Template = nil, b.Spec.Template
			}
			same(t, b.Name, b.Spec, a.Spec)
		}
	})
}

func same(t *testing.T, name string, before, after any) {
	t.Helper()
	b, err := json.Marshal(before)
	if err != nil {
		t.Fatal(err)
	}
	if a, err := json.Marshal(after); err != nil || !bytes.Equal(a, b) {
		t.Errorf("%s: an upgrade would change\n%s\nto\n%s", name, b, a)
	}
}

// owned are the settings that the chart sets itself.
var owned = []string{"api-addr", "data-dir", "database", "dev", "http-addr", "metrics-addr", "no-migrate",
	"public-addr", "roles"}

// The schema knows each setting that the chart does not set itself.
func TestSchemaHasSettings(t *testing.T) {
	var schema struct {
		Properties struct {
			Settings struct{ PropertyNames struct{ Enum []string } }
		}
	}
	if err := json.Unmarshal(load(t).Schema, &schema); err != nil {
		t.Fatal(err)
	}
	got := schema.Properties.Settings.PropertyNames.Enum
	want := slices.Sorted(maps.Keys(settings(t)["serve"]))
	for _, name := range owned {
		if i, ok := slices.BinarySearch(want, name); ok {
			want = slices.Delete(want, i, i+1)
		} else {
			t.Errorf("waymark serve has no setting %s", name)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("values.schema.json has the settings\n%q\nwant, after docs/settings.md,\n%q", got, want)
	}
}

var (
	row    = regexp.MustCompile("(?m)^\\| `--([a-z0-9-]+)")
	shared = regexp.MustCompile("`--([a-z0-9-]+)`[,.]")
)

// settings are those of each command, of the page that is made of the flags.
func settings(t *testing.T) map[string]map[string]bool {
	t.Helper()
	page := string(read(t, root+"/docs/settings.md"))
	all := map[string]map[string]bool{}
	for part := range strings.SplitSeq(page, "\n## waymark ") {
		command, text, _ := strings.Cut(part, "\n")
		text, _, _ = strings.Cut(text, "\n## ")
		all[command] = map[string]bool{}
		for _, m := range append(row.FindAllStringSubmatch(text, -1), shared.FindAllStringSubmatch(text, -1)...) {
			all[command][m[1]] = true
		}
	}
	if len(all["serve"]) < 40 || !all["migrate"]["database"] || !all["backup"]["asset-store"] {
		t.Fatalf("docs/settings.md has the settings %v", all)
	}
	return all
}
