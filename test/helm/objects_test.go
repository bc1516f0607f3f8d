package helm

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	monitoring "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	apps "k8s.io/api/apps/v1"
	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	policy "k8s.io/api/policy/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	podsecurity "k8s.io/pod-security-admission/api"
	standards "k8s.io/pod-security-admission/policy"
)

// workload is what makes pods.
type workload struct {
	name     string
	selector *meta.LabelSelector // nil for a Job
	pod      core.PodTemplateSpec
	claims   []core.PersistentVolumeClaim
}

func (w workload) container() core.Container { return w.pod.Spec.Containers[0] }

func (w workload) selected(s *meta.LabelSelector) bool {
	selector, err := meta.LabelSelectorAsSelector(s)
	return err == nil && selector.Matches(labels.Set(w.pod.Labels))
}

func (w workload) has(port intstr.IntOrString) bool {
	return slices.ContainsFunc(w.container().Ports, func(p core.ContainerPort) bool { return p.Name == port.StrVal })
}

func workloads(all []runtime.Object) (found []workload) {
	for _, d := range of[apps.Deployment](all) {
		found = append(found, workload{d.Name, d.Spec.Selector, d.Spec.Template, nil})
	}
	for _, s := range of[apps.StatefulSet](all) {
		found = append(found, workload{s.Name, s.Spec.Selector, s.Spec.Template, s.Spec.VolumeClaimTemplates})
	}
	for _, j := range of[batch.Job](all) {
		found = append(found, workload{j.Name, nil, j.Spec.Template, nil})
	}
	for _, c := range of[batch.CronJob](all) {
		found = append(found, workload{c.Name, nil, c.Spec.JobTemplate.Spec.Template, nil})
	}
	return found
}

// Names and labels are such as Kubernetes takes, and no two objects of a kind have one name.
func TestNames(t *testing.T) {
	each(t, func(t *testing.T, values map[string]any) {
		seen := map[string]bool{}
		for _, o := range objects(t, values) {
			m := o.(meta.Object)
			name := fmt.Sprintf("%T %s", o, m.GetName())
			if seen[name] {
				t.Errorf("two of %s", name)
			}
			seen[name] = true
			// 52 is what a CronJob may have.
			if problems := validation.IsDNS1035Label(m.GetName()); len(problems) > 0 || len(m.GetName()) > 52 {
				t.Errorf("%s: %q", name, problems)
			}
			for _, label := range []string{"app.kubernetes.io/name", "app.kubernetes.io/instance", "app.kubernetes.io/version",
				"app.kubernetes.io/managed-by", "helm.sh/chart"} {
				if m.GetLabels()[label] == "" {
					t.Errorf("%s has no label %s", name, label)
				}
			}
			for key, value := range m.GetLabels() {
				problems := slices.Concat(validation.IsQualifiedName(key), validation.IsValidLabelValue(value))
				if len(problems) > 0 {
					t.Errorf("%s: label %s=%s: %q", name, key, value, problems)
				}
			}
		}
	})
}

// Each selector finds the pods that it is for, and no others.
func TestSelectors(t *testing.T) {
	each(t, func(t *testing.T, values map[string]any) {
		all := objects(t, values)
		pods := workloads(all)
		serving := slices.DeleteFunc(slices.Clone(pods), func(w workload) bool { return w.selector == nil })
		// selects requires a selector to find some pods that serve, and no job, and all of these to have the ports.
		selects := func(what string, s *meta.LabelSelector, ports ...intstr.IntOrString) (found []string) {
			for _, w := range pods {
				if !w.selected(s) {
					continue
				}
				found = append(found, w.name)
				for _, port := range ports {
					if w.selector == nil || !w.has(port) {
						t.Errorf("%s selects %s, which has no port %s", what, w.name, port.String())
					}
				}
			}
			if len(found) == 0 {
				t.Errorf("%s selects no pods", what)
			}
			return found
		}
		for _, w := range serving {
			if found := selects(w.name, w.selector); !slices.Equal(found, []string{w.name}) {
				t.Errorf("%s has the pods of %q", w.name, found)
			}
			for _, spread := range w.pod.Spec.TopologySpreadConstraints {
				if found := selects("spread of "+w.name, spread.LabelSelector); !slices.Equal(found, []string{w.name}) {
					t.Errorf("%s is spread over pods of %q", w.name, found)
				}
			}
		}
		cluster := values["mode"] == "cluster"
		budgets := of[policy.PodDisruptionBudget](all)
		if len(budgets) != map[bool]int{true: 3}[cluster] {
			t.Errorf("%d budgets of disruptions", len(budgets))
		}
		for _, b := range budgets {
			if found := selects("budget "+b.Name, b.Spec.Selector); !slices.Equal(found, []string{b.Name}) {
				t.Errorf("the budget %s is of the pods of %q", b.Name, found)
			}
		}
		services := map[string]*core.Service{}
		for _, s := range of[core.Service](all) {
			services[s.Name] = s
			names := map[string]bool{}
			for _, port := range s.Spec.Ports {
				selects("service "+s.Name, &meta.LabelSelector{MatchLabels: s.Spec.Selector}, port.TargetPort)
				if names[port.Name] {
					t.Errorf("service %s has two ports %s", s.Name, port.Name)
				}
				names[port.Name] = true
			}
			if s.Spec.ClusterIP == "None" {
				if found := selects(s.Name, &meta.LabelSelector{MatchLabels: s.Spec.Selector}); len(found) != len(serving) {
					t.Errorf("service %s selects %q alone", s.Name, found)
				}
			}
		}
		for _, s := range of[apps.StatefulSet](all) {
			if service := services[s.Spec.ServiceName]; service == nil || service.Spec.ClusterIP != "None" {
				t.Errorf("%s belongs to the service %q, which is not there or has an address", s.Name, s.Spec.ServiceName)
			}
		}
		for _, p := range of[networking.NetworkPolicy](all) {
			for _, rule := range p.Spec.Ingress {
				for _, port := range rule.Ports {
					selects("policy "+p.Name, &p.Spec.PodSelector, *port.Port)
				}
			}
		}
		for _, i := range of[networking.Ingress](all) {
			for _, rule := range i.Spec.Rules {
				backend := rule.HTTP.Paths[0].Backend.Service
				s := services[backend.Name]
				named := func(p core.ServicePort) bool { return p.Name == backend.Port.Name }
				if s == nil || !slices.ContainsFunc(s.Spec.Ports, named) {
					t.Errorf("ingress %s leads to %s:%s, which is not there", i.Name, backend.Name, backend.Port.Name)
				}
			}
		}
		for _, m := range of[monitoring.ServiceMonitor](all) {
			found := 0
			for _, s := range services {
				selector, err := meta.LabelSelectorAsSelector(&m.Spec.Selector)
				if err == nil && selector.Matches(labels.Set(s.Labels)) {
					found++
					if s.Labels[m.Spec.JobLabel] != "waymark" || s.Spec.Ports[0].Name != m.Spec.Endpoints[0].Port {
						t.Errorf("the monitor scrapes the service %s", s.Name)
					}
				}
			}
			if found != 1 {
				t.Errorf("the monitor selects %d services", found)
			}
		}
		// Parts that are switched on are there, the others are not.
		if on := nested(values, "serviceMonitor")["enabled"] == true; len(of[monitoring.ServiceMonitor](all)) > 0 != on {
			t.Errorf("monitor: %t", !on)
		}
		policies := len(of[networking.NetworkPolicy](all))
		if on := nested(values, "networkPolicy")["enabled"] == true; policies != map[bool]int{true: 3}[on] {
			t.Errorf("policies: %t", !on)
		}
		if on := nested(values, "backup")["schedule"] != nil; len(of[batch.CronJob](all)) > 0 != on {
			t.Errorf("backup: %t", !on)
		}
		for _, role := range []string{"api", "redirect"} {
			on := nested(values, role, "ingress")["enabled"] == true
			if there := slices.ContainsFunc(of[networking.Ingress](all), func(i *networking.Ingress) bool {
				return strings.HasSuffix(i.Name, "-"+role)
			}); there != on {
				t.Errorf("ingress of %s: %t", role, there)
			}
		}
		if len(of[batch.Job](all)) > 0 != cluster {
			t.Errorf("a job migrates: %t", !cluster)
		}
		files := nested(values, "files")["secret"] != nil
		for _, w := range workloads(all) { // also the job that migrates: the address of its database may name a file
			if mounted := slices.ContainsFunc(w.container().VolumeMounts, func(m core.VolumeMount) bool {
				return m.MountPath == "/etc/waymark/files"
			}); mounted != files {
				t.Errorf("%s has files: %t", w.name, mounted)
			}
		}
	})
}

func nested(values map[string]any, names ...string) map[string]any {
	for _, name := range names {
		values, _ = values[name].(map[string]any)
	}
	return values
}

// What pods refer to is there: in the release, or as a Secret that the values name.
func TestReferences(t *testing.T) {
	each(t, func(t *testing.T, values map[string]any) {
		all := objects(t, values)
		secrets := map[string]bool{}
		for _, name := range []string{"database", "clickhouse", "s3", "files"} {
			if secret, ok := nested(values, name)["secret"].(string); ok {
				secrets[secret] = true
			}
		}
		named := map[string]bool{}
		secret := func(w workload, name string) {
			named[name] = true
			if !secrets[name] {
				t.Errorf("%s needs the Secret %q, which no value names", w.name, name)
			}
		}
		claims := map[string]bool{}
		for _, s := range of[apps.StatefulSet](all) {
			for _, c := range s.Spec.VolumeClaimTemplates {
				claims[c.Name+"-"+s.Name+"-0"] = true
			}
		}
		for _, w := range workloads(all) {
			volumes := map[string]bool{}
			for _, c := range w.claims {
				volumes[c.Name] = true
			}
			for _, v := range w.pod.Spec.Volumes {
				if volumes[v.Name] {
					t.Errorf("%s has two volumes %s", w.name, v.Name)
				}
				volumes[v.Name] = true
				switch {
				case v.ConfigMap != nil:
					named := func(c *core.ConfigMap) bool { return c.Name == v.ConfigMap.Name }
					if !slices.ContainsFunc(of[core.ConfigMap](all), named) {
						t.Errorf("%s needs the ConfigMap %s, which is not there", w.name, v.ConfigMap.Name)
					}
				case v.Secret != nil:
					secret(w, v.Secret.SecretName)
				case v.PersistentVolumeClaim != nil:
					if !claims[v.PersistentVolumeClaim.ClaimName] {
						t.Errorf("%s needs the claim %s, which no pod has", w.name, v.PersistentVolumeClaim.ClaimName)
					}
				}
			}
			for _, m := range w.container().VolumeMounts {
				if !volumes[m.Name] {
					t.Errorf("%s mounts %s, which is no volume of it", w.name, m.Name)
				}
				delete(volumes, m.Name)
			}
			if len(volumes) > 0 {
				t.Errorf("%s does not mount %v", w.name, volumes)
			}
			for _, e := range w.container().Env {
				if e.ValueFrom != nil && e.ValueFrom.SecretKeyRef != nil {
					secret(w, e.ValueFrom.SecretKeyRef.Name)
				}
			}
		}
		if !maps.Equal(named, secrets) {
			t.Errorf("of the Secrets %v only %v are used", secrets, named)
		}
	})
}

// Pods meet the Pod Security Standard "restricted", and what we promise beyond it.
func TestPodsAreRestricted(t *testing.T) {
	each(t, func(t *testing.T, values map[string]any) {
		image := "registry.example.com/waymark:" + load(t).Metadata.AppVersion
		if v := nested(values, "image"); v["digest"] != nil {
			image = fmt.Sprintf("%s@%s", v["repository"], v["digest"])
		} else if v["tag"] != nil {
			image = fmt.Sprintf("%s:%s", v["repository"], v["tag"])
		}
		for _, w := range workloads(objects(t, values)) {
			checkRestricted(t, w, image)
		}
	})
}

func checkRestricted(t *testing.T, w workload, image string) {
	t.Helper()
	evaluator, err := standards.NewEvaluator(standards.DefaultChecks(), nil)
	if err != nil {
		t.Fatal(err)
	}
	restricted := podsecurity.LevelVersion{Level: podsecurity.LevelRestricted, Version: podsecurity.LatestVersion()}
	spec := w.pod.Spec
	if r := standards.AggregateCheckResults(evaluator.EvaluatePod(restricted, &w.pod.ObjectMeta, &spec)); !r.Allowed {
		t.Errorf("%s: %s", w.name, r.ForbiddenDetail())
	}
	if s := spec.SecurityContext; *s.RunAsUser != 65532 || *s.RunAsGroup != 65532 || *s.FSGroup != 65532 {
		t.Errorf("%s runs as %d:%d", w.name, *s.RunAsUser, *s.RunAsGroup)
	}
	if *spec.AutomountServiceAccountToken || *spec.EnableServiceLinks ||
		len(spec.Containers)+len(spec.InitContainers) != 1 {
		t.Errorf("%s has a token, variables of Services, or further containers", w.name)
	}
	c := w.container()
	if !*c.SecurityContext.ReadOnlyRootFilesystem || c.Resources.Requests.Cpu().IsZero() ||
		c.Resources.Limits.Memory().IsZero() {
		t.Errorf("%s can write to its image, or has no bounds", w.name)
	}
	if c.Image != image {
		t.Errorf("%s runs %s, want %s", w.name, c.Image, image)
	}
}

// Each setting in the file, the variables and the arguments is one of the command that gets it, and
// what is secret is not in the file.
func TestSettingsAreOfTheProgram(t *testing.T) {
	known := settings(t)
	each(t, func(t *testing.T, values map[string]any) {
		all := objects(t, values)
		file := parse(t, []byte(of[core.ConfigMap](all)[0].Data["waymark.yaml"]))
		for name := range file {
			if !known["serve"][name] {
				t.Errorf("waymark.yaml has %q, which is no setting of waymark serve", name)
			}
		}
		for name, value := range nested(values, "settings") {
			if fmt.Sprint(file[name]) != fmt.Sprint(value) {
				t.Errorf("%s is %v, want %v", name, file[name], value)
			}
		}
		for _, w := range workloads(all) {
			c := w.container()
			command := c.Args[0]
			if known[command] == nil || c.Command != nil {
				t.Fatalf("%s runs %q %q", w.name, c.Command, c.Args)
			}
			for _, arg := range c.Args[1:] {
				name, _, _ := strings.Cut(strings.TrimPrefix(arg, "--"), "=")
				if strings.HasPrefix(arg, "--") && !known[command][name] {
					t.Errorf("%s: waymark %s has no flag %s", w.name, command, arg)
				}
			}
			for _, e := range c.Env {
				name, ours := strings.CutPrefix(e.Name, "WAYMARK_")
				name = strings.ReplaceAll(strings.ToLower(name), "_", "-")
				if ours && name != "config" && !known["serve"][name] {
					t.Errorf("%s: %s is no setting", w.name, e.Name)
				}
				if e.Value != "" && e.Name != "WAYMARK_CONFIG" && e.Name != "TMPDIR" {
					t.Errorf("%s: %s stands in the pod for everybody to read", w.name, e.Name)
				}
			}
		}
	})
}

// A pod ends within the time that the service of systemd has, after the wait for the proxies.
func TestEnd(t *testing.T) {
	m := regexp.MustCompile(`(?m)^TimeoutStopSec=(\d+)$`).FindSubmatch(read(t, root+"/deploy/waymark.service"))
	if m == nil {
		t.Fatal("the service of systemd has no TimeoutStopSec")
	}
	each(t, func(t *testing.T, values map[string]any) {
		for _, w := range workloads(objects(t, values)) {
			if w.selector == nil {
				continue
			}
			var wait int64
			if l := w.container().Lifecycle; l != nil {
				wait = l.PreStop.Sleep.Seconds
			}
			if visited := values["mode"] == "cluster" && !strings.HasSuffix(w.name, "-executor"); visited != (wait > 0) {
				t.Errorf("%s waits %d s for proxies", w.name, wait)
			}
			if got := fmt.Sprint(*w.pod.Spec.TerminationGracePeriodSeconds - wait); got != string(m[1]) {
				t.Errorf("%s has %s s to end, want %s", w.name, got, m[1])
			}
		}
	})
}

// manifest is a yaml block of the page that begins an object.
var manifest = regexp.MustCompile("(?ms)^```yaml\n(apiVersion: .*?)^```$")

// The objects of the page are such as Kubernetes takes, and as restricted as those of the chart.
func TestManifestsOfThePage(t *testing.T) {
	blocks := manifest.FindAllSubmatch(read(t, root+"/docs/kubernetes.md"), -1)
	if len(blocks) == 0 {
		t.Fatal("the page has none")
	}
	for _, block := range blocks {
		for text := range strings.SplitSeq(string(block[1]), "\n---\n") {
			o, _, err := decoder.Decode([]byte(text), nil, nil)
			if err != nil {
				t.Errorf("%v\n%s", err, text)
				continue
			}
			for _, w := range workloads([]runtime.Object{o}) {
				checkRestricted(t, w, "registry.example.com/waymark:"+load(t).Metadata.AppVersion)
			}
		}
	}
}
