//go:build e2e

package e2e_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestCtl_GrantsPromptsAndResources lists what a server offers besides tools, grants it, and writes it down.
func TestCtl_GrantsPromptsAndResources(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := h.serve()
	box := newToolbox(t, &sdk.StreamableHTTPOptions{})
	h.env = append(h.env, "PATCHBAY_URL="+s.base, "PATCHBAY_API_KEY="+h.run("apikey", "create", "--tenant", "default", "--role", "owner", "--name", "ctl"))
	ctl := func(args ...string) string {
		t.Helper()
		return h.run(append([]string{"ctl"}, args...)...)
	}
	contains(t, ctl("connectors", "test", box.url), "Prompts: 1. Resources: 1. Resource templates: 1.")
	ctl("connectors", "add", "Box", box.url)
	contains(t, ctl("connectors", "sync", "box"), "PROMPTS", "1 (1 added, 0 changed, 0 removed)", "2 (2 added, 0 changed, 0 removed)")
	contains(t, ctl("connectors", "prompts", "box"), "PROMPT", "greet", "name")
	contains(t, ctl("connectors", "resources", "box"), "resource", "file:///notes.txt", "text/plain", "template", "file:///{name}")
	if found := ctl("connectors", "resources", "box", "-q", "zebra"); strings.Contains(found, "file:") {
		t.Errorf("found: %s", found)
	}
	ctl("agents", "add", "Helper", "--approval", "auto")
	ctl("agents", "grant", "helper", "box", "--tools", "echo")
	contains(t, ctl("agents", "grants", "helper"), "PROMPTS", "none")
	ctl("agents", "grant", "helper", "box", "--tools", "echo", "--prompts", "listed", "--resources", "listed_and_templates")
	contains(t, ctl("agents", "grants", "helper"), "listed_and_templates")
	contains(t, ctl("agents", "why", "helper", "mcp_box__echo"), "RESOURCES", "listed_and_templates")

	file := filepath.Join(t.TempDir(), "patchbay.yaml")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(ctl("manifest"))
	if said := h.run("apply", "-f", file, "--check", "--prune"); said != "No changes." {
		t.Errorf("what was written down differs: %s", said)
	}
	ctl("agents", "grant", "helper", "box", "--tools", "echo", "--prompts", "none", "--resources", "listed")
	contains(t, h.run("apply", "-f", file), "prompts: none → listed", "resources: listed → listed_and_templates")
}
