//go:build e2e

package e2e_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAFileOfServersIsImportedByTheCommand(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	upstream := h.devMCP()
	s := h.serve()
	c := client{t: t, base: s.base, key: h.run("apikey", "create", "--tenant", "default", "--role", "admin", "--name", "tests")}
	file := filepath.Join(t.TempDir(), ".mcp.json")
	document := `{
  // what a developer has
  "mcpServers": {
    "tools": {"url": "` + upstream + `/mcp"},
    "guarded": {"url": "` + upstream + `/bearer", "headers": {"Authorization": "Bearer ${TOKEN}"}},
    "cookie": {"url": "` + upstream + `/mcp", "headers": {"Cookie": "sekret"}},
  },
}`
	if err := os.WriteFile(file, []byte(document), 0o600); err != nil {
		t.Fatal(err)
	}

	dry := h.try("import", file, "--dry-run")
	if list, _ := c.must(http.StatusOK, http.MethodGet, "/api/v1/connectors", nil)["items"].([]any); len(list) != 0 {
		t.Errorf("a dry run stored %v", list)
	}
	got := h.try("import", "--tenant", "default", file)
	if want := strings.Replace(got.stdout, "1 refused.", "1 refused. Nothing was stored.", 1); dry.code != 1 || dry.stdout != want {
		t.Errorf("the dry run: %+v, want %s", dry, want)
	}
	for _, want := range []string{"2 created, 0 updated, 0 unchanged, 1 refused.", "the document has ${TOKEN}", "Patchbay doesn't send cookies"} {
		if got.code != 1 || !strings.Contains(got.stdout, want) || strings.Contains(got.stdout, "sekret") {
			t.Errorf("the import: %+v, want %s", got, want)
		}
	}
	c.must(http.StatusOK, http.MethodPost, "/api/v1/connectors/tools/sync_tools", nil)
	c.must(http.StatusNoContent, http.MethodPut, "/api/v1/connectors/guarded/credential", object{"token": "dev-token"})

	piped := h.command(t.Context(), "import", "-")
	piped.Stdin = strings.NewReader(`{"name": "tools", "url": "` + upstream + `/paged"}`)
	if out, err := piped.Output(); err != nil || !strings.Contains(string(out), "0 created, 1 updated, 0 unchanged, 0 refused.") {
		t.Errorf("from standard input: %v, %s", err, out)
	}
	for what, args := range map[string][]string{
		"a file that is not there":     {"import", file + ".none"},
		"a tenant that is not there":   {"import", "--tenant", "nowhere", file},
		"nothing on standard input":    {"import", "-"},
		"another server's egress rule": {"import", "--egress", "public", file},
	} {
		if o := h.try(args...); o.code != 1 || o.stdout+o.stderr == "" {
			t.Errorf("%s: %+v", what, o)
		}
	}
	program := `{"files": {"command": "/bin/cat", "args": ["-u"], "env": {"TOKEN": "sekret"}}}`
	for allowed, want := range map[string]string{"/bin/cat -v": "isn't allowed with these arguments", "/bin/cat": "1 created"} {
		piped := h.command(t.Context(), "import", "--stdio-commands", allowed, "--dry-run", "-")
		piped.Stdin = strings.NewReader(program)
		if out, _ := piped.Output(); !strings.Contains(string(out), want) || strings.Contains(string(out), "sekret") {
			t.Errorf("a program where %s is allowed: %s", allowed, out)
		}
	}
	h.run("tenant", "create", "North")
	if o := h.try("import", file); o.code != 1 || !strings.Contains(o.stderr, "--tenant") {
		t.Errorf("without a tenant among two: %+v", o)
	}
}
