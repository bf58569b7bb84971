package main

import (
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"text/template"

	"go.yaml.in/yaml/v3"

	"patchbay/db"
	"patchbay/internal/config"
	"patchbay/internal/operator"
	"patchbay/internal/testing/executable"
)

const (
	units    = "../../deploy/systemd"
	unitFile = units + "/patchbay.service"
	cutFile  = units + "/patchbay-audit-cut.service"
)

// directivesOf are the lines of a unit, by name.
func directivesOf(t *testing.T, file string) map[string][]string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	directives := map[string][]string{}
	for _, line := range strings.Split(string(text), "\n") {
		if name, value, ok := strings.Cut(line, "="); ok && !strings.HasPrefix(line, "#") {
			directives[name] = append(directives[name], value)
		}
	}
	return directives
}

func TestSystemdUnit_HasKnownSettings(t *testing.T) {
	t.Parallel()
	directives := directivesOf(t, unitFile)
	help := helpOf(t, "serve")
	for _, set := range directives["Environment"] {
		if name, _, _ := strings.Cut(set, "="); !strings.Contains(help, "$"+name) {
			t.Errorf("the unit sets %s, which patchbay serve --help does not know", name)
		}
	}
	for name, want := range map[string]string{
		"ExecStart": "/usr/local/bin/patchbay serve", "DynamicUser": "yes", "NoNewPrivileges": "yes", "ProtectSystem": "strict", "CapabilityBoundingSet": "", "KillMode": "mixed",
	} {
		if !slices.Equal(directives[name], []string{want}) {
			t.Errorf("%s is %q, want %q", name, directives[name], want)
		}
	}
}

func TestSystemdUnit_CutsAuditLogWithServerKey(t *testing.T) {
	t.Parallel()
	serve, cut := directivesOf(t, unitFile), directivesOf(t, cutFile)
	if !slices.Equal(cut["ExecStart"], []string{"/usr/local/bin/patchbay audit cut --keep-days=${KEEP_DAYS}"}) || !strings.Contains(helpOf(t, "audit cut"), "--keep-days=") {
		t.Errorf("it runs %q", cut["ExecStart"])
	}
	if !slices.Equal(cut["LoadCredential"], serve["LoadCredential"]) || !slices.Contains(cut["EnvironmentFile"], serve["EnvironmentFile"][0]) {
		t.Errorf("its key is %q, its settings %q", cut["LoadCredential"], cut["EnvironmentFile"])
	}
	if want := []string{"KEEP_DAYS=730", "PATCHBAY_KEYSET=file:%d/keyset"}; !slices.Equal(cut["Environment"], want) || db.MinAuditDays > 730 {
		t.Errorf("it is told %q", cut["Environment"])
	}
}

func TestSystemdUnits_AreValid(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	there := filepath.Join(root, "etc/systemd/system")
	if err := os.CopyFS(there, os.DirFS(units)); err != nil {
		t.Fatal(err)
	}
	for _, target := range []string{"sysinit", "basic", "shutdown", "network-online", "multi-user", "timers"} {
		if err := os.WriteFile(filepath.Join(there, target+".target"), []byte("[Unit]\nDescription=There\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	programs := filepath.Join(root, "usr/local/bin")
	if err := os.MkdirAll(programs, 0o700); err != nil {
		t.Fatal(err)
	}
	executable.Write(t, filepath.Join(programs, "patchbay"), "#!/bin/sh\n")
	files, err := os.ReadDir(units)
	if err != nil || len(files) < 3 {
		t.Fatalf("%d units: %v", len(files), err)
	}
	args := []string{"verify", "--man=no", "--root=" + root}
	for _, file := range files {
		args = append(args, file.Name())
	}
	// systemd-analyze reports unknown directives and goes on. Findings about other units are ignored.
	out, err := exec.CommandContext(t.Context(), systemdAnalyze(t), args...).CombinedOutput()
	ours := func(f os.DirEntry) bool { return bytes.Contains(out, []byte(f.Name())) }
	if err != nil || slices.ContainsFunc(files, ours) {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestSystemdUnits_AreHardened(t *testing.T) {
	t.Parallel()
	for _, unit := range []string{unitFile, cutFile} {
		out, err := exec.CommandContext(t.Context(), systemdAnalyze(t), "security", "--offline=true", "--threshold=20", unit).CombinedOutput() // tenths, of 10
		if err != nil {
			t.Errorf("%s: %v\n%s", unit, err, out)
		}
	}
}

// systemdAnalyze is the path of systemd-analyze.
func systemdAnalyze(t *testing.T) string {
	t.Helper()
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil && os.Getenv("CI") == "" {
		t.Skip("there is no systemd-analyze")
	}
	if err != nil {
		t.Fatal(err)
	}
	return analyze
}

func helpOf(t *testing.T, command string) string {
	t.Helper()
	var help bytes.Buffer
	if code := run(t.Context(), append(strings.Fields(command), "--help"), operator.IO{Stdout: &help, Stderr: &help}); code != 0 {
		t.Fatalf("help ends with %d: %s", code, help.String())
	}
	return help.String()
}

const chartDir = "../../deploy/helm/patchbay"

// values are a chart's values.
type values = map[string]any

// with returns the values with changes.
func with(base, changes values) values {
	all := values{}
	for name, value := range base {
		all[name] = value
	}
	for name, value := range changes {
		inner, nested := value.(values)
		old, there := all[name].(values)
		if nested && there {
			value = with(old, inner)
		}
		all[name] = value
	}
	return all
}

// render implements the part of Helm that the chart uses, and returns the documents by kind and name.
func render(t *testing.T, changes values) (map[string]values, error) {
	t.Helper()
	var set, chart values
	for name, into := range map[string]*values{"values.yaml": &set, "Chart.yaml": &chart} {
		text, err := os.ReadFile(filepath.Join(chartDir, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := yaml.Unmarshal(text, into); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	all := template.New("").Option("missingkey=error")
	all.Funcs(helm(all))
	if _, err := all.ParseGlob(filepath.Join(chartDir, "templates/*")); err != nil {
		t.Fatal(err)
	}
	context := values{
		"Values": with(set, changes), "Release": values{"Name": "there", "Namespace": "here", "Service": "Helm"},
		"Chart": values{"Name": chart["name"], "Version": chart["version"], "AppVersion": chart["appVersion"]},
	}
	docs := map[string]values{}
	for _, file := range all.Templates() {
		if !strings.HasSuffix(file.Name(), ".yaml") {
			continue
		}
		var out bytes.Buffer
		if err := file.Execute(&out, context); err != nil {
			return nil, err
		}
		for _, text := range regexp.MustCompile(`(?m)^---$`).Split(out.String(), -1) {
			var doc values
			if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
				t.Fatalf("%s: %v\n%s", file.Name(), err, text)
			}
			if doc != nil {
				docs[fmt.Sprint(doc["kind"], " ", dig(doc, "metadata", "name"))] = doc
			}
		}
	}
	return docs, nil
}

func helm(all *template.Template) template.FuncMap {
	return template.FuncMap{
		"include": func(name string, data any) (string, error) {
			var out strings.Builder
			err := all.ExecuteTemplate(&out, name, data)
			return out.String(), err
		},
		"required": func(why string, value any) (any, error) {
			if value == nil || value == "" {
				return nil, fmt.Errorf("%s", why)
			}
			return value, nil
		},
		"default": func(other, value any) any {
			if value == nil || value == "" {
				return other
			}
			return value
		},
		"nindent": func(n int, text string) string {
			return "\n" + strings.Repeat(" ", n) + strings.ReplaceAll(text, "\n", "\n"+strings.Repeat(" ", n))
		},
		"toYaml": func(value any) (string, error) {
			text, err := yaml.Marshal(value)
			return strings.TrimSuffix(string(text), "\n"), err
		},
		"quote":      func(value any) string { return fmt.Sprintf("%q", fmt.Sprint(value)) },
		"trunc":      func(n int, text string) string { return text[:min(n, len(text))] },
		"trimSuffix": func(end, text string) string { return strings.TrimSuffix(text, end) },
		"int":        func(n int) int { return n },
		"fail":       func(why string) (string, error) { return "", fmt.Errorf("%s", why) },
	}
}

// dig follows a path of names and indices.
func dig(at any, path ...any) any {
	for _, step := range path {
		switch step := step.(type) {
		case string:
			inner, _ := at.(values)
			at = inner[step]
		case int:
			list, _ := at.([]any)
			if step >= len(list) {
				return nil
			}
			at = list[step]
		}
	}
	return at
}

var everything = values{
	"baseURL": "https://patchbay.example.com", "trustedProxies": "10.0.0.0/8", "settings": values{"PATCHBAY_EGRESS_ALLOW": "10.1.2.3:8080"},
	"secretSettings": values{
		"PATCHBAY_EGRESS_PROXY": values{"secret": "egress"}, "VAULT_TOKEN": values{"secret": "kms", "key": "token"},
		"AWS_SECRET_ACCESS_KEY": values{"secret": "kms", "key": "secret"},
	},
	"serviceAccount": "with-a-role",
	"database":       values{"directURLKey": "DIRECT_URL"},
	"ingress":        values{"enabled": true, "className": "nginx", "tlsSecret": "tls", "annotations": values{"a/b": "c"}},
	"audit":          values{"keepDays": 730},
	"autoscaling":    values{"enabled": true},
	"networkPolicy":  values{"enabled": true, "from": []any{values{"podSelector": values{}}}, "metricsFrom": []any{values{"podSelector": values{}}}},
	"metrics":        values{"enabled": true, "serviceMonitor": values{"enabled": true, "labels": values{"release": "prometheus"}}},
	"podAnnotations": values{"a": "b"}, "nodeSelector": values{"a": "b"}, "tolerations": []any{values{"key": "a"}}, "affinity": values{"nodeAffinity": values{}},
	"imagePullSecrets": []any{values{"name": "pull"}},
}

func TestChart_RunsKnownCommands(t *testing.T) {
	t.Parallel()
	docs, err := render(t, everything)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"Deployment there", "Service there", "Service there-private", "Ingress there", "Job there-migrate", "PodDisruptionBudget there", "ServiceMonitor there", "HorizontalPodAutoscaler there", "NetworkPolicy there", "CronJob there-audit-cut"} {
		if docs[name] == nil || dig(docs[name], "apiVersion") == nil {
			t.Errorf("there is no %s", name)
		}
	}
	serving := newApp(t)
	for name, of := range map[string]struct {
		command string
		probes  map[string]string
	}{
		"Deployment there":        {"serve", map[string]string{"startupProbe": "/healthz", "livenessProbe": "/healthz", "readinessProbe": "/readyz"}},
		"Job there-migrate":       {"migrate", nil},
		"CronJob there-audit-cut": {"audit cut", nil},
	} {
		pod := dig(docs[name], "spec", "template", "spec")
		if strings.HasPrefix(name, "CronJob") {
			pod = dig(docs[name], "spec", "jobTemplate", "spec", "template", "spec")
		}
		container := dig(pod, "containers", 0)
		wantRuns(t, name, container, of.command)
		help, env := helpOf(t, of.command), map[any]any{}
		list, _ := dig(container, "env").([]any)
		for _, variable := range list {
			env[dig(variable, "name")] = variable
			if !strings.Contains(help, fmt.Sprint("$", dig(variable, "name"))) && !slices.Contains(config.SecretVariables, fmt.Sprint(dig(variable, "name"))) && !ofServe(variable) {
				t.Errorf("%s sets %v, which patchbay %s --help does not know", name, dig(variable, "name"), of.command)
			}
		}
		if len(env) != len(list) {
			t.Errorf("%s sets a variable twice: %v", name, list)
		}
		for _, secret := range append([]string{"DATABASE_URL", "PATCHBAY_KEYSET", "PATCHBAY_DATABASE_DIRECT_URL", "PATCHBAY_EGRESS_PROXY"}, config.SecretVariables...) {
			if env[secret] != nil && (dig(env[secret], "value") != nil || dig(env[secret], "valueFrom", "secretKeyRef", "name") == nil) {
				t.Errorf("%s does not take %s from a secret: %v", name, secret, env[secret])
			}
		}
		serving.wantProbes(t, container, of.probes)
		if dig(pod, "securityContext", "runAsNonRoot") != true || dig(pod, "securityContext", "seccompProfile", "type") != "RuntimeDefault" || dig(pod, "automountServiceAccountToken") != false ||
			dig(container, "securityContext", "allowPrivilegeEscalation") != false || dig(container, "securityContext", "readOnlyRootFilesystem") != true ||
			dig(container, "securityContext", "capabilities", "drop", 0) != "ALL" {
			t.Errorf("%s may do more than it needs: %v %v", name, dig(pod, "securityContext"), dig(container, "securityContext"))
		}
	}
	wantFrom(t, docs["Deployment there"], map[string]string{"PATCHBAY_EGRESS_PROXY": "egress/PATCHBAY_EGRESS_PROXY", "VAULT_TOKEN": "kms/token", "AWS_SECRET_ACCESS_KEY": "kms/secret"})
	wantFrom(t, docs["Job there-migrate"], map[string]string{"PATCHBAY_DATABASE_DIRECT_URL": "patchbay-database/DIRECT_URL"})
	if account := dig(docs["Deployment there"], "spec", "template", "spec", "serviceAccountName"); account != "with-a-role" {
		t.Errorf("it runs as %v", account)
	}
	labels, _ := dig(docs["Deployment there"], "spec", "template", "metadata", "labels").(values)
	for _, name := range []string{"Service there", "Service there-private"} {
		chosen, _ := dig(docs[name], "spec", "selector").(values)
		for label, value := range chosen {
			if labels[label] != value {
				t.Errorf("%s looks for %s %v, and the pods have %v", name, label, value, labels[label])
			}
		}
		if migrating, _ := dig(docs["Job there-migrate"], "spec", "template", "metadata", "labels").(values); migrating["app.kubernetes.io/name"] == chosen["app.kubernetes.io/name"] {
			t.Errorf("%s sends requests to the job that migrates", name)
		}
	}
	if kind := dig(docs["Job there-migrate"], "metadata", "annotations", "helm.sh/hook"); kind != "pre-install,pre-upgrade" {
		t.Errorf("migrations run at %v", kind)
	}
}

// wantRuns checks that a container runs a command with flags that exist.
func wantRuns(t *testing.T, name string, container any, command string) {
	t.Helper()
	var words []string
	for _, arg := range dig(container, "args").([]any) {
		if flag, _, _ := strings.Cut(fmt.Sprint(arg), "="); !strings.HasPrefix(flag, "-") {
			words = append(words, flag)
		} else if !strings.Contains(helpOf(t, command), flag+"=") {
			t.Errorf("%s says %v, which patchbay %s does not know", name, arg, command)
		}
	}
	if strings.Join(words, " ") != command {
		t.Errorf("%s runs %v", name, dig(container, "args"))
	}
}

// ofServe reports whether a variable is set for every command, though only the server reads it.
func ofServe(variable any) bool {
	shared := append(slices.Collect(maps.Keys(everything["settings"].(values))), slices.Collect(maps.Keys(everything["secretSettings"].(values)))...)
	return slices.Contains(shared, fmt.Sprint(dig(variable, "name")))
}

// wantProbes checks the probed paths of a container, and that the program serves them.
func (h *app) wantProbes(t *testing.T, container any, want map[string]string) {
	t.Helper()
	for probe, path := range want {
		if dig(container, probe, "httpGet", "path") != path {
			t.Errorf("%s is %v", probe, dig(container, probe))
		}
		answer := h.sendRequest(t, http.MethodGet, path, "")
		if _ = answer.Body.Close(); answer.StatusCode != http.StatusOK {
			t.Errorf("%s is answered %d", path, answer.StatusCode)
		}
	}
}

// wantFrom checks the secrets from which a deployment takes variables, as secret/key.
func wantFrom(t *testing.T, deployment any, want map[string]string) {
	t.Helper()
	list, _ := dig(deployment, "spec", "template", "spec", "containers", 0, "env").([]any)
	for _, variable := range list {
		name := fmt.Sprint(dig(variable, "name"))
		ref := dig(variable, "valueFrom", "secretKeyRef")
		if from := fmt.Sprint(dig(ref, "name"), "/", dig(ref, "key")); want[name] != "" && from != want[name] {
			t.Errorf("%s comes from %s", name, from)
		}
		delete(want, name)
	}
	if len(want) > 0 {
		t.Errorf("not set: %v", want)
	}
}

func TestChart_NeedsAddressAndHidesPrivatePort(t *testing.T) {
	t.Parallel()
	if _, err := render(t, nil); err == nil || !strings.Contains(err.Error(), "baseURL is how browsers reach Patchbay") {
		t.Errorf("without an address it says %v", err)
	}
	docs, err := render(t, values{"baseURL": "https://patchbay.example.com", "replicas": 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"Service there-private", "ServiceMonitor there", "Ingress there", "PodDisruptionBudget there", "HorizontalPodAutoscaler there", "NetworkPolicy there", "CronJob there-audit-cut"} {
		if docs[name] != nil {
			t.Errorf("%s is there without being asked for", name)
		}
	}
}
