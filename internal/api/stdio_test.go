package api_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/connectors"
	"patchbay/internal/mcp/mcptest"
)

func TestProgram_EnvironmentIsShownByName(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin := w.createKey(t, connectors.RoleAdmin)
	w.call(t, admin, http.MethodPost, "/api/v1/connectors", map[string]any{
		"name": "Program", "transport": "stdio", "command": "/usr/../bin/sh", "args": mcptest.Program, "env": map[string]string{"GREETING": "hello", "A": ""},
	}).want(http.StatusCreated)
	made := w.call(t, admin, http.MethodGet, "/api/v1/connectors/program", nil).want(http.StatusOK)
	got := map[string]any{"command": made["command"], "env_names": made["env_names"], "url": made["url"], "env": made["env"]}
	want := map[string]any{"command": "/bin/sh", "env_names": []any{"A", "GREETING"}, "url": "", "env": nil}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	run := w.call(t, admin, http.MethodPost, "/api/v1/connectors/program/sync_tools", nil).want(http.StatusOK)
	if run["tools_total"] != 2.0 {
		t.Errorf("run = %v", run)
	}
	for body, names := range map[string]any{
		`{"description": "x"}`: []any{"A", "GREETING"}, // absent: it stays
	} {
		changed := w.call(t, admin, http.MethodPatch, "/api/v1/connectors/program", body).want(http.StatusOK)
		if diff := cmp.Diff(names, changed["env_names"]); diff != "" {
			t.Errorf("%s: %s", body, diff)
		}
	}
	changed := w.call(t, admin, http.MethodPatch, "/api/v1/connectors/program", map[string]any{"env": map[string]string{"B": "x"}}).want(http.StatusOK)
	if diff := cmp.Diff([]any{"B"}, changed["env_names"]); diff != "" { // replaced as a whole
		t.Error(diff)
	}
	moved := w.call(t, admin, http.MethodPatch, "/api/v1/connectors/program", map[string]any{"cwd": "/tmp"}).want(http.StatusOK)
	notices, _ := moved["notices"].([]any)
	if moved["env_names"] != nil || len(notices) != 1 || !strings.Contains(notices[0].(string), "Stored environment deleted") {
		t.Errorf("another folder: %v, %v", moved["env_names"], notices)
	}
	w.call(t, admin, http.MethodPatch, "/api/v1/connectors/program", map[string]any{"args": []string{"-c", "id"}}).want(http.StatusUnprocessableEntity)
	w.call(t, admin, http.MethodPatch, "/api/v1/connectors/program", map[string]any{"command": "/bin/bash"}).want(http.StatusUnprocessableEntity)
	w.call(t, admin, http.MethodPatch, "/api/v1/connectors/program", map[string]any{"transport": "sse", "url": "http://127.0.0.1:9/sse"}).want(http.StatusOK)
}

func TestProgram_OperatorAllowsFolderAndVariables(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin := w.createKey(t, connectors.RoleAdmin)
	var said []any
	for _, tc := range []struct{ at, folder, variable string }{
		{"cwd", "/usr", "A"},
		{"cwd", "/there/is/no/such/folder", "A"},
		{"env.HTTPS_PROXY", "/tmp", "HTTPS_PROXY"},
	} {
		body := map[string]any{
			"name": "Program", "transport": "stdio", "command": mcptest.Shell, "args": mcptest.Program, "cwd": tc.folder, "env": map[string]string{tc.variable: "x"},
		}
		for _, path := range []string{"/api/v1/connectors", "/api/v1/connectors/test"} {
			problem := w.call(t, admin, http.MethodPost, path, body).want(http.StatusUnprocessableEntity)
			errors, _ := problem["errors"].([]any)
			if len(errors) != 1 || errors[0].(map[string]any)["location"] != tc.at {
				t.Errorf("%s with %+v: %v", path, tc, errors)
				continue
			}
			if tc.at == "cwd" {
				said = append(said, errors[0].(map[string]any)["message"])
			}
		}
	}
	for _, message := range said {
		if message != said[0] {
			t.Errorf("a folder that is there is told from one that is not: %q, %q", said[0], message)
		}
	}
}
