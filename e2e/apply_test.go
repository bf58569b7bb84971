//go:build e2e

package e2e_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A manifest is applied, stays the same when it is applied again, and repairs manual changes.
func TestAnInstallationIsHeldToItsManifest(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := h.serve()
	upstream := h.devMCP()
	key := h.run("apikey", "create", "--tenant", "default", "--role", "owner", "--name", "apply")
	api := client{t: t, base: s.base, key: key}
	h.env = append(h.env, "PATCHBAY_URL="+s.base, "PATCHBAY_API_KEY="+key, "ROBOT_TOKEN=robots-own-token")
	dir := t.TempDir()
	write := func(name, text string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("token", "dev-token\n")
	file := write("patchbay.yaml", fmt.Sprintf(`
connectors:
  dev:
    name: Development
    url: %[1]s/bearer
    auth: {type: bearer, token: {file: token}}
    timeout_ms: 20000
    headers: {X-Team: eu}
    tools:
      search_issues: {calls_per_minute: 30, calls_per_day: 500}
  each:
    url: %[1]s/bearer
    credential_mode: per_agent
    auth: {type: bearer}
  account:
    url: %[1]s/mcp
    auth: {type: oauth2, client_id: patchbay, scopes: [write, read], client_secret: {file: token}}
agents:
  robot:
    name: Robot
    approval: auto
    connectors:
      dev: [search_issues, create_issue]
      each: {tools: all, approval: always_ask, credential: {token: {env: ROBOT_TOKEN}}}
  reader:
    description: Looks, and touches nothing.
    connectors: {}
`, upstream))
	differs := func(args ...string) string {
		t.Helper()
		o := h.try(append([]string{"apply", "-f", file, "--check"}, args...)...)
		if o.code != 1 || !strings.Contains(o.stderr, "differs from the file") {
			t.Fatalf("%+v", o)
		}
		return o.stdout
	}
	acts := func() string {
		t.Helper()
		var names []string
		for _, e := range api.must(http.StatusOK, http.MethodGet, "/api/v1/audit_events?limit=200", nil)["items"].([]any) {
			if action := e.(object)["action"].(string); action != "credential.compare" {
				names = append(names, action)
			}
		}
		return strings.Join(names, " ")
	}

	before := acts()
	contains(t, differs(), "+ connector dev", "auth.type: bearer", "~ tool dev search_issues", "+ agent robot", "+ grant robot dev", "~ credential each robot")
	if after := acts(); after != before {
		t.Errorf("a look has changed something: %s", after)
	}
	contains(t, h.run("apply", "-f", file), "+ connector account", "Done: the installation matches the file.")
	contains(t, h.run("ctl", "connectors", "sync", "dev"), "ok")
	contains(t, h.run("ctl", "agents", "why", "robot", "mcp_dev__search_issues"), "yes")

	before = acts()
	if said := h.run("apply", "-f", file); said != "No changes." {
		t.Errorf("applied again: %s", said)
	}
	if after := acts(); after != before {
		t.Errorf("applied again, it has done something: %s", after)
	}

	// Manual changes.
	for _, change := range []struct{ method, path, body, shown string }{
		{"PATCH", "connectors/dev", `{"timeout_ms": 5000, "headers": {}}`, "timeout_ms: 5000 → 20000"},
		{"PATCH", "connectors/account", `{"auth": {"type": "oauth2", "scopes": ["read"]}}`, `auth.scopes: ["read"] → ["write","read"]`},
		{"PATCH", "connectors/dev/tools/search_issues", `{"calls_per_day": 0}`, "calls_per_day: 0 → 500"},
		{"PATCH", "agents/robot", `{"approval": "always_ask"}`, "approval: always_ask → auto"},
		{"PUT", "connectors/dev/credential", `{"token": "somebody-elses"}`, "~ credential dev"},
		{"PUT", "connectors/each/agents/robot/credential", `{"token": "somebody-elses"}`, "~ credential each robot"},
		{"PUT", "agents/robot/connectors/dev", `{"tools": "all"}`, `tools: all → ["create_issue","search_issues"]`},
		{"PUT", "agents/reader/connectors/dev", `{"tools": "all"}`, "- grant reader dev"},
		{"DELETE", "agents/robot/connectors/each", "", "+ grant robot each"},
		{"DELETE", "agents/reader", "", "+ agent reader"},
	} {
		var body any
		if change.body != "" {
			body = json.RawMessage(change.body)
		}
		if status, said := api.call(change.method, "/api/v1/"+change.path, body); status >= 300 {
			t.Fatalf("%s %s: %d %v", change.method, change.path, status, said)
		}
		shown := differs()
		contains(t, shown, change.shown)
		for _, secret := range []string{"dev-token", "robots-own-token", "somebody-elses"} {
			if strings.Contains(shown, secret) {
				t.Errorf("the difference shows the secret %s:\n%s", secret, shown)
			}
		}
		h.run("apply", "-f", file)
		if said := h.run("apply", "-f", file, "--check"); said != "No changes." {
			t.Errorf("after %s %s it was not mended: %s", change.method, change.path, said)
		}
	}

	// What the installation has can be written down, and is no difference to itself.
	h.env = append(h.env, "CONNECTOR_DEV__TOKEN=dev-token")
	if said := h.run("apply", "-f", write("written.yaml", h.run("ctl", "manifest")), "--check", "--prune"); said != "No changes." {
		t.Errorf("what was written down differs: %s", said)
	}

	// Nothing that the file does not name is deleted unasked.
	h.run("ctl", "agents", "add", "Extra")
	h.run("apply", "-f", file)
	if o := h.try("apply", "-f", file, "--prune"); o.code != 1 || !strings.Contains(o.stderr, "Use --yes") {
		t.Errorf("%+v", o)
	}
	contains(t, h.run("ctl", "agents", "list"), "extra")
	contains(t, h.run("apply", "-f", file, "--prune", "--yes"), "- agent extra")
	if o := h.try("ctl", "agents", "get", "extra"); o.code == 0 {
		t.Errorf("it is there still: %+v", o)
	}

	// What cannot be is said before anything is done, and what fails in between is taken up again.
	for text, want := range map[string]string{
		"connectors: {new: {url: \"https://x.example\", auth: {type: bearer, token: literal}}}": "secrets can't be in this file",
		"agents: {robot: {connectors: {nowhere: all}}}":                                         "no such connector",
	} {
		if o := h.try("apply", "-f", write("bad.yaml", text)); o.code != 1 || !strings.Contains(o.stderr, want) {
			t.Errorf("%s: %+v", text, o)
		}
	}
	half := write("half.yaml", "connectors: {a-new: {url: \""+upstream+"/mcp\"}, b-new: {url: \"not an address\"}}")
	if o := h.try("apply", "-f", half); o.code != 1 || !strings.Contains(o.stderr, "1 of 2 items were applied") {
		t.Errorf("%+v", o)
	}
	var plan []struct{ Action, Kind, Name string }
	parse(t, h.try("apply", "-f", half, "--check", "-o", "json").stdout, &plan)
	if len(plan) != 1 || plan[0].Name != "b-new" {
		t.Errorf("what is left: %+v", plan)
	}
}
