package deploy

import (
	"cmp"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	monitoring "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v3/pkg/lint"
	"helm.sh/helm/v3/pkg/lint/support"
	apps "k8s.io/api/apps/v1"
	autoscaling "k8s.io/api/autoscaling/v2"
	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	policy "k8s.io/api/policy/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

const chart = "../../deploy/helm/patchbay"

// kinds are those that the chart may make, by what they say they are.
var kinds = map[string]func() meta.Object{
	"apps/v1 Deployment":                      func() meta.Object { return new(apps.Deployment) },
	"autoscaling/v2 HorizontalPodAutoscaler":  func() meta.Object { return new(autoscaling.HorizontalPodAutoscaler) },
	"batch/v1 CronJob":                        func() meta.Object { return new(batch.CronJob) },
	"batch/v1 Job":                            func() meta.Object { return new(batch.Job) },
	"monitoring.coreos.com/v1 ServiceMonitor": func() meta.Object { return new(monitoring.ServiceMonitor) },
	"networking.k8s.io/v1 Ingress":            func() meta.Object { return new(networking.Ingress) },
	"networking.k8s.io/v1 NetworkPolicy":      func() meta.Object { return new(networking.NetworkPolicy) },
	"policy/v1 PodDisruptionBudget":           func() meta.Object { return new(policy.PodDisruptionBudget) },
	"v1 Service":                              func() meta.Object { return new(core.Service) },
}

// installation is what the chart makes of a file of values.
type installation struct {
	name    string
	objects []meta.Object
	kinds   []string
}

// all are those of the kind T.
func all[T meta.Object](in installation) (found []T) {
	for _, object := range in.objects {
		if o, ok := object.(T); ok {
			found = append(found, o)
		}
	}
	return found
}

func valuesOf(t *testing.T, file string) chartutil.Values {
	t.Helper()
	values, err := chartutil.ReadValuesFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return values
}

// template does what `helm template` does, and returns what comes out by the template's file.
func template(t *testing.T, values chartutil.Values, release string) (map[string]string, error) {
	t.Helper()
	loaded, err := loader.Load(chart)
	if err != nil {
		t.Fatal(err)
	}
	options := chartutil.ReleaseOptions{Name: release, Namespace: "here", Revision: 1, IsInstall: true}
	context, err := chartutil.ToRenderValues(loaded, values, options, chartutil.DefaultCapabilities)
	if err != nil {
		return nil, err
	}
	return engine.Engine{Strict: true}.Render(loaded, context)
}

// install renders the chart, and decodes each document into the type that it says it is of, in which it may have no field that the type has not.
func install(t *testing.T, file, release string) installation {
	t.Helper()
	files, err := template(t, valuesOf(t, file), release)
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	in := installation{name: filepath.Base(file)}
	for _, from := range slices.Sorted(maps.Keys(files)) {
		if !strings.HasSuffix(from, ".yaml") {
			continue
		}
		for _, text := range regexp.MustCompile(`(?m)^---$`).Split(files[from], -1) {
			var is meta.TypeMeta
			if err := yaml.Unmarshal([]byte(text), &is); err != nil {
				t.Fatalf("%s: %s: %v\n%s", file, from, err, text)
			}
			if is == (meta.TypeMeta{}) {
				continue // what the values did not ask for
			}
			kind := is.APIVersion + " " + is.Kind
			object := kinds[kind]
			if object == nil {
				t.Fatalf("%s: %s makes a %s, whose type is not in the test's table", file, from, kind)
			}
			into := object()
			if err := yaml.UnmarshalStrict([]byte(text), into); err != nil {
				t.Errorf("%s: %s: %v", file, from, err)
			}
			in.objects, in.kinds = append(in.objects, into), append(in.kinds, kind)
		}
	}
	return in
}

// each runs a test for every file of values, with a short and with a long name of the release.
func each(t *testing.T, test func(*testing.T, installation)) {
	t.Helper()
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil || len(files) < 6 {
		t.Fatalf("%d files of values: %v", len(files), err)
	}
	for _, file := range files {
		for _, release := range []string{"there", strings.Repeat("long-name-", 5) + "end"} {
			t.Run(filepath.Base(file)+" as "+release, func(t *testing.T) {
				t.Parallel()
				test(t, install(t, file, release))
			})
		}
	}
}

func TestHelmsLinterFindsNothing(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		found := lint.All(chart, valuesOf(t, file), "here", true)
		if len(found.Messages) == 0 {
			t.Error("the linter did not look: it always says something of an icon")
		}
		for _, m := range found.Messages {
			if m.Severity > support.InfoSev {
				t.Errorf("%s: %s: %v", filepath.Base(file), m.Path, m.Err)
			}
		}
	}
}

func TestWithoutAnAddressNothingIsInstalled(t *testing.T) {
	t.Parallel()
	_, err := template(t, nil, "there")
	if err == nil || !strings.Contains(err.Error(), "baseURL is how browsers reach Patchbay") {
		t.Errorf("it says %v", err)
	}
}

func TestAYearOfTheAuditLogStays(t *testing.T) {
	t.Parallel()
	values := chartutil.Values{"baseURL": "https://patchbay.example.com", "audit": map[string]any{"keepDays": 364}}
	if _, err := template(t, values, "there"); err == nil || !strings.Contains(err.Error(), "at least 365 days of the audit log stay") {
		t.Errorf("it says %v", err)
	}
}

func TestEverythingThatTheChartCanMakeIsMade(t *testing.T) {
	t.Parallel()
	made := install(t, "testdata/everything.yaml", "there").kinds
	for _, kind := range slices.SortedFunc(maps.Keys(kinds), cmp.Compare) {
		if !slices.Contains(made, kind) {
			t.Errorf("no file of values makes a %s", kind)
		}
	}
}

func TestWhatIsNotAskedForIsNotThere(t *testing.T) {
	t.Parallel()
	made := install(t, "testdata/least.yaml", "there").kinds
	if want := []string{"apps/v1 Deployment", "batch/v1 Job", "policy/v1 PodDisruptionBudget", "v1 Service"}; !slices.Equal(made, want) {
		t.Errorf("it makes %v, want %v", made, want)
	}
}

// Each value is set away from what it is by some file, so that a template that names none of them or misspells one is found.
func TestEveryValueOfTheChartIsTried(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(chart, "values.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var has map[string]any
	if err := yaml.UnmarshalStrict(text, &has); err != nil {
		t.Fatal(err)
	}
	tried := map[string]bool{}
	files, _ := filepath.Glob("testdata/*.yaml")
	for _, file := range files {
		for name := range valuesOf(t, file) {
			tried[name] = true
			if _, ok := has[name]; !ok {
				t.Errorf("%s sets %s, which the chart has not", file, name)
			}
		}
	}
	for name := range has {
		if !tried[name] && name != "podDisruptionBudget" { // which is there when not asked for otherwise
			t.Errorf("no file of values sets %s", name)
		}
	}
}
