package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.yaml.in/yaml/v3"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
	"patchbay/internal/toolcall"
)

// notShown are metrics that are on no dashboard, with the reason.
var notShown = map[string]string{}

// scraped are the labels that Prometheus adds.
var scraped = []string{"job", "instance"}

// labelValues are the values of labels with few of them.
var labelValues = map[string][]string{
	"patchbay_tool_calls_total outcome": {
		string(connectors.OutcomeOK), string(connectors.OutcomeToolError), string(connectors.OutcomeRPCError), string(connectors.OutcomeTransport),
		string(connectors.OutcomeRefused), string(connectors.OutcomeDenied), string(connectors.OutcomeCancelled), string(connectors.OutcomeLost),
	},
	"patchbay_quota_refusals_total quota":                 {"tool", "tenant"},
	"patchbay_structured_results_total verdict":           {"valid", "invalid"},
	"patchbay_quota_refusals_total period":                {"minute", "day"},
	"patchbay_upstream_circuits state":                    {string(toolcall.CircuitClosed), string(toolcall.CircuitOpen), string(toolcall.CircuitHalfOpen)},
	"patchbay_http_requests_total status":                 {"1xx", "2xx", "3xx", "4xx", "5xx"},
	"patchbay_gateway_db_refusals_total reason":           {store.RefusedFull, store.RefusedLate},
	"patchbay_trace_spans_total outcome":                  {"sent", "lost"},
	"patchbay_db_connections state":                       {"in_use", "idle"},
	"patchbay_jobs state":                                 {"available", "pending", "retryable", "running", "scheduled"},
	"patchbay_sync_runs_total outcome":                    {"ok"},
	"patchbay_idle_accounts_total outcome":                {"renewed", "failed", "ended", "left"},
	"patchbay_http_request_duration_seconds_bucket route": nil, // patterns of routes
}

// metric is one that the program exposes.
type metric struct{ labels []string }

var described = regexp.MustCompile(`fqName: "([^"]+)".*constLabels: \{(.*)\}, variableLabels: \{(.*)\}\}$`)

// exposedMetrics are the program's metrics, also those without a sample yet. A histogram or a summary is listed
// by its series.
func (h *app) exposedMetrics(t *testing.T) map[string]metric {
	t.Helper()
	h.metrics.SyncFinished("ok", time.Second)
	h.sendRequest(t, http.MethodGet, "/healthz", "")
	w := httptest.NewRecorder()
	h.metrics.Private().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
	text := w.Body.String()

	found, descs := map[string]metric{}, make(chan *prometheus.Desc)
	go func() {
		h.metrics.Describe(descs)
		close(descs)
	}()
	for d := range descs {
		m := described.FindStringSubmatch(d.String())
		if m == nil {
			t.Errorf("a metric that is not understood: %s", d)
			continue
		}
		name, labels := m[1], strings.FieldsFunc(m[3], func(c rune) bool { return c == ',' })
		for _, constant := range strings.Split(m[2], ",") {
			if label, _, ok := strings.Cut(constant, "="); ok {
				labels = append(labels, label)
			}
		}
		switch {
		case strings.Contains(text, "# TYPE "+name+" histogram\n"):
			found[name+"_bucket"] = metric{append(slices.Clone(labels), "le")}
			found[name+"_sum"], found[name+"_count"] = metric{labels}, metric{labels}
		case strings.Contains(text, "# TYPE "+name+" summary\n"):
			found[name] = metric{append(slices.Clone(labels), "quantile")}
			found[name+"_sum"], found[name+"_count"] = metric{labels}, metric{labels}
		default:
			found[name] = metric{labels}
		}
	}
	for _, line := range strings.Split(text, "\n") {
		name := strings.FieldsFunc(line+" ", func(c rune) bool { return c == '{' || c == ' ' })
		if len(name) > 0 && name[0] != "#" {
			if _, ok := found[name[0]]; !ok {
				t.Errorf("%s is scraped and not described", name[0])
			}
		}
	}
	return found
}

// wrong returns the parts of an expression that the program does not expose.
func (e expression) wrong(exposed map[string]metric) (wrong []string) {
	known := slices.Clone(scraped)
	for _, s := range e.series {
		m, ok := exposed[s.metric]
		if !ok {
			wrong = append(wrong, "no metric is called "+s.metric)
			continue
		}
		known = append(known, m.labels...)
		for label, value := range s.labels {
			if slices.Contains(scraped, label) {
				continue
			}
			values, few := labelValues[s.metric+" "+label]
			if !slices.Contains(m.labels, label) || !few {
				wrong = append(wrong, s.metric+" has no label "+label+", or its values are not in the test's table")
			}
			for _, v := range strings.Split(strings.TrimLeft(value, "=!~"), "|") {
				if values != nil && !slices.Contains(values, v) {
					wrong = append(wrong, s.metric+" never has "+label+" "+v)
				}
			}
		}
	}
	for _, label := range e.groups {
		if !slices.Contains(known, label) {
			wrong = append(wrong, "nothing has the label "+label)
		}
	}
	return wrong
}

// dashboard is the part of Grafana's file that is checked.
type dashboard struct {
	Templating struct {
		List []struct {
			Name  string
			Query any
		}
	}
	Panels []struct {
		ID      int
		Type    string
		Title   string
		GridPos struct{ H, W, X, Y int }
		Targets []struct{ RefID, Expr, LegendFormat string }
	}
}

func readDashboard(t *testing.T) dashboard {
	t.Helper()
	text, err := os.ReadFile("../../deploy/grafana/patchbay.json")
	if err != nil {
		t.Fatal(err)
	}
	var d dashboard
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	return d
}

func TestDashboard_ShowsExposedMetrics(t *testing.T) {
	t.Parallel()
	exposed, d := newApp(t).exposedMetrics(t), readDashboard(t)
	shown, ids := map[string]bool{}, map[int]bool{}
	for _, p := range d.Panels {
		if ids[p.ID] {
			t.Errorf("%s: its number is another's", p.Title)
		}
		ids[p.ID] = true
		if p.GridPos.X+p.GridPos.W > 24 || p.GridPos.W == 0 || (len(p.Targets) == 0) != (p.Type == "row") {
			t.Errorf("%s: shows nothing, or stands outside: %+v", p.Title, p)
		}
		for _, target := range p.Targets {
			e, err := readPromQL(strings.ReplaceAll(target.Expr, "$__rate_interval", "5m"))
			if err != nil {
				t.Errorf("%s: %v", p.Title, err)
			}
			for _, wrong := range e.wrong(exposed) {
				t.Errorf("%s: %s: %s", p.Title, wrong, target.Expr)
			}
			for _, s := range e.series {
				shown[s.metric] = true
				if s.labels["job"] != "=~$job" || s.labels["instance"] != "=~$instance" {
					t.Errorf("%s: does not heed the choice of jobs and instances: %s", p.Title, target.Expr)
				}
			}
			for _, m := range regexp.MustCompile(`\{\{(\w+)\}\}`).FindAllStringSubmatch(target.LegendFormat, -1) {
				if aggregated := len(e.groups) > 0; aggregated && !slices.Contains(e.groups, m[1]) || !aggregated && !slices.Contains(scraped, m[1]) {
					t.Errorf("%s: its legend names %s, which is not kept: %s", p.Title, m[1], target.Expr)
				}
			}
		}
	}
	for name := range exposed {
		base := strings.TrimSuffix(strings.TrimSuffix(name, "_sum"), "_count")
		if strings.HasPrefix(name, "patchbay_") && !shown[name] && !shown[base+"_bucket"] && notShown[name] == "" {
			t.Errorf("%s is on no panel: show it, or say in notShown why not", name)
		}
	}
	for name := range notShown {
		if _, ok := exposed[name]; !ok || shown[name] {
			t.Errorf("%s has a reason for not being shown, and is shown or does not exist", name)
		}
	}
}

func TestAlerts_UseExposedMetricsAndHaveRunbook(t *testing.T) {
	t.Parallel()
	exposed := newApp(t).exposedMetrics(t)
	var file struct {
		Groups []struct {
			Name  string
			Rules []struct {
				Alert, Expr, For    string
				Labels, Annotations map[string]string
			}
		}
	}
	text, err := os.ReadFile("../../deploy/prometheus/alerts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	guide, err := os.ReadFile("../../docs/operations/monitoring.md")
	if err != nil {
		t.Fatal(err)
	}
	ruled := map[string]bool{}
	for _, group := range file.Groups {
		for _, rule := range group.Rules {
			ruled[rule.Alert] = true
			e, err := readPromQL(rule.Expr)
			if err != nil {
				t.Errorf("%s: %v", rule.Alert, err)
			}
			for _, wrong := range e.wrong(exposed) {
				t.Errorf("%s: %s", rule.Alert, wrong)
			}
			if rule.For != "" {
				if _, err := time.ParseDuration(rule.For); err != nil {
					t.Errorf("%s: %v", rule.Alert, err)
				}
			}
			if !slices.Contains([]string{"critical", "warning", "info"}, rule.Labels["severity"]) || rule.Annotations["summary"] == "" {
				t.Errorf("%s says not how bad it is, or not what: %v %v", rule.Alert, rule.Labels, rule.Annotations)
			}
			if rule.Annotations["runbook"] != "docs/operations/monitoring.md#"+strings.ToLower(rule.Alert) || !strings.Contains(string(guide), "\n### "+rule.Alert+"\n") {
				t.Errorf("%s has no place of its own in docs/operations/monitoring.md: %q", rule.Alert, rule.Annotations["runbook"])
			}
		}
	}
	for _, m := range regexp.MustCompile(`(?m)^### (Patchbay\w+)$`).FindAllStringSubmatch(string(guide), -1) {
		if !ruled[m[1]] {
			t.Errorf("docs/operations/monitoring.md tells of %s, which is no alert", m[1])
		}
	}
	if len(ruled) < 10 {
		t.Errorf("only %d alerts", len(ruled))
	}
}

func TestReadPromQL_RefusesUnknown(t *testing.T) {
	t.Parallel()
	exposed := map[string]metric{"a_total": {[]string{"outcome"}}}
	for text, want := range map[string]string{
		`sum by (outcome) (rate(a_total[5m]))`: "",
		`sum by (job) (a_total) > 0.5 * 2`:     "",
		`a_total{job=~"x"} and a_total`:        "",
		`rate(b_total[5m])`:                    "no metric is called b_total",
		`a_total{kind="x"}`:                    "a_total has no label kind",
		`sum by (kind) (a_total)`:              "nothing has the label kind",
		`avg_over_thing(a_total[5m])`:          "is no function",
		`sum(a_total`:                          "do not pair",
		`1 + 1`:                                "no metric",
		`a_total{outcome=ok}`:                  "no label, operator and text",
		`a_total{outcome="ok" kind="x"}`:       "no comma",
		`{job="x"}`:                            "stands where it cannot",
	} {
		e, err := readPromQL(text)
		said := strings.Join(e.wrong(exposed), "; ")
		if err != nil {
			said = err.Error()
		}
		if want == "" && said != "" || !strings.Contains(said, want) {
			t.Errorf("%s: %q, want %q", text, said, want)
		}
	}
}
