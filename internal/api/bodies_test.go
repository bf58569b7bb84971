package api_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/connectors"
)

func TestBodiesAreOneWholeJSONDocument(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin := w.createKey(t, connectors.RoleAdmin)
	whole := `{"name": "Linear", "url": "https://mcp.example.com/mcp"}`
	for name, body := range map[string]string{
		"empty":           ``,
		"blank":           "  \n",
		"cut off":         `{"name": "Linear"`,
		"no JSON":         `name=Linear`,
		"a second one":    whole + whole,
		"something after": whole + ` true`,
		"not UTF-8":       "{\"name\": \"\xff\"}",
		"single quotes":   `{'name': 'Linear'}`,
		"a comment":       `{"name": "Linear" /* c */}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w.call(t, admin, http.MethodPost, "/api/v1/connectors", body).problem(http.StatusBadRequest, "malformed")
		})
	}
}

func TestFieldsThatDoNotFitAreNamed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin := w.createKey(t, connectors.RoleAdmin)
	for body, want := range map[string][]string{
		`[]`:                                    {"body"},
		`null`:                                  {"body"},
		`"text"`:                                {"body"},
		`{}`:                                    {"name"},
		`{"name": "A"}`:                         {"url"},
		linearDocument(`"nmae": 1`):             {"nmae"},
		linearDocument(`"NAME": "other case"`):  {"NAME"},
		linearDocument(`"timeout_ms": "30000"`): {"timeout_ms"},
		linearDocument(`"timeout_ms": 1.5`):     {"timeout_ms"},
		linearDocument(`"timeout_ms": 1e400`):   {"timeout_ms"},
		linearDocument(`"timeout_ms": 999`):     {"timeout_ms"},
		linearDocument(`"timeout_ms": 300001`):  {"timeout_ms"},
		linearDocument(`"timeout_ms": 99999999999999999999999`):                                    {"timeout_ms"},
		linearDocument(`"timeout_ms": null`):                                                       {"timeout_ms"},
		linearDocument(`"retry_attempts": -1`):                                                     {"retry_attempts"},
		linearDocument(`"retry_backoff_ms": 49`):                                                   {"retry_backoff_ms"},
		linearDocument(`"connect_timeout_ms": 60001`):                                              {"connect_timeout_ms"},
		linearDocument(`"max_response_bytes": 8388609`):                                            {"max_response_bytes"},
		linearDocument(`"methods": ["tools/call"]`):                                                {"methods"},
		linearDocument(`"methods": "acme/a"`):                                                      {"methods"},
		linearDocument(`"stream_reconnects": 101`):                                                 {"stream_reconnects"},
		linearDocument(`"retry_attempts": 6`):                                                      {"retry_attempts"},
		linearDocument(`"sync_interval_s": 59`):                                                    {"sync_interval_s"},
		linearDocument(`"sync_interval_s": -1`):                                                    {"sync_interval_s"},
		linearDocument(`"enabled": "yes"`):                                                         {"enabled"},
		linearDocument(`"enabled": null`):                                                          {"enabled"},
		linearDocument(`"headers": ["X-Team"]`):                                                    {"headers"},
		linearDocument(`"headers": {"X-Team": 1}`):                                                 {"headers.X-Team"},
		linearDocument(`"headers": {"X-Team": null}`):                                              {"headers.X-Team"},
		linearDocument(`"headers": {"X Team": "eu"}`):                                              {"headers.X Team"},
		linearDocument(`"headers": {"Authorization": "x"}`):                                        {"headers.Authorization"},
		linearDocument(`"auth": "bearer"`):                                                         {"auth"},
		linearDocument(`"auth": null`):                                                             {"auth"},
		linearDocument(`"auth": {"type": "magic"}`):                                                {"auth.type"},
		linearDocument(`"auth": {"type": "bearer"}`):                                               {"auth.token"},
		linearDocument(`"auth": {"type": "bearer", "token": 1}`):                                   {"auth.token"},
		linearDocument(`"auth": {"type": "api_key"}`):                                              {"auth.key"},
		linearDocument(`"auth": {"type": "basic"}`):                                                {"auth.username"},
		linearDocument(`"auth": {"type": "none", "token": "x"}`):                                   {"auth.token"},
		linearDocument(`"auth": {"type": "bearer", "tken": "x"}`):                                  {"auth.tken"},
		linearDocument(`"credential_mode": "per_agent", "auth": {"type": "bearer", "token": "x"}`): {"auth.token"},
		linearDocument(`"transport": "carrier_pigeon"`):                                            {"transport"},
		linearDocument(`"transport": "stdio"`):                                                     {"command", "url"},
		`{"name": "A", "transport": "stdio", "command": "/bin/sh"}`:                                {"args"},
		`{"name": "A", "transport": "stdio", "command": "/bin/bash"}`:                              {"command"},
		`{"name": "A", "transport": "stdio", "command": "bash"}`:                                   {"command"},
		`{"name": "A", "transport": "stdio", "command": "/bin/bash", "env": {"PATH": ""}}`:         {"env.PATH", "command"},
		linearDocument(`"command": "/bin/sh"`):                                                     {"command"},
		linearDocument(`"env": {"A": "b"}`):                                                        {"env"},
		linearDocument(`"env": {"A": null}`):                                                       {"env.A"},
		linearDocument(`"args": "x"`):                                                              {"args"},
		linearDocument(`"tool_changes": "never"`):                                                  {"tool_changes"},
		linearDocument(`"listen": "never"`):                                                        {"listen"},
		linearDocument(`"credential_mode": ""`):                                                    {"credential_mode"},
		linearDocument(`"slug": "Has Spaces"`):                                                     {"slug"},
		linearDocument(`"description": "a\u0000b"`):                                                {"description"},
		linearDocument(`"headers": {"a\u0000b": "x"}`):                                             {"headers.a\x00b"},
		linearDocument(`"` + strings.Repeat("k", 70) + `": 1`):                                     {strings.Repeat("k", 64) + "…"},
		`{"name": "A", "url": "ftp://mcp.example.com"}`:                                            {"url"},
		`{"name": "A", "url": "http://[::1"}`:                                                      {"url"},
		`{"name": "A", "url": "https://u:p@example.com"}`:                                          {"url"},
		`{"name": "A", "url": "https://169.254.169.254/"}`:                                         {"url"},
		`{"name": "", "url": "https://mcp.example.com/"}`:                                          {"name"},
		`{"name": 1, "url": 2, "x": 3}`:                                                            {"name", "url", "x"},
	} {
		t.Run(body, func(t *testing.T) {
			t.Parallel()
			got := w.call(t, admin, http.MethodPost, "/api/v1/connectors", body)
			got.problem(http.StatusUnprocessableEntity, "invalid")
			if diff := cmp.Diff(want, got.locations()); diff != "" {
				t.Errorf("locations (-want +got):\n%s%s", diff, got.body)
			}
		})
	}
}

// linearDocument is a connector's document with one more field.
func linearDocument(field string) string {
	return `{"name": "Linear", "url": "https://mcp.example.com/mcp", ` + field + `}`
}

func TestBodiesHaveAtMostFourMebibytes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin := w.createKey(t, connectors.RoleAdmin)
	body := func(size int) string {
		frame := linearDocument(`"description": ""`)
		return strings.Replace(frame, `""`, `"`+strings.Repeat("a", size-len(frame))+`"`, 1)
	}
	w.call(t, admin, http.MethodPost, "/api/v1/connectors", body(4<<20+1)).problem(http.StatusRequestEntityTooLarge, "too-large")
	exactly := w.call(t, admin, http.MethodPost, "/api/v1/connectors", body(4<<20))
	exactly.problem(http.StatusUnprocessableEntity, "invalid")
	if diff := cmp.Diff([]string{"description"}, exactly.locations()); diff != "" {
		t.Error(diff)
	}
}

func TestNothingOfABodyIsRepeated(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin := w.createKey(t, connectors.RoleAdmin)
	for _, body := range []string{
		`{"name": "A", "url": "https://mcp.example.com/", "auth": {"type": "bearer", "token": {"t": "hunter2-secret"}}}`,
		`{"name": "A", "url": "https://mcp.example.com/", "auth": {"type": "hunter2-secret"}}`,
		`{"name": "A", "url": "https://mcp.example.com/", "auth": {"type": "none", "token": "hunter2-secret"}}`,
		`{"name": "A", "url": "https://mcp.example.com/", "auth": {"type": "bearer", "token": "hunter2-secret\n"}, "x": 1}`,
		`{"name": "A", "auth": {"type": "bearer", "token": "hunter2-secret`,
		`hunter2-secret`,
	} {
		got := w.call(t, admin, http.MethodPost, "/api/v1/connectors", body)
		if got.status < 400 || strings.Contains(string(got.body), "hunter2") {
			t.Errorf("status %d: %s", got.status, got.body)
		}
	}
	if strings.Contains(w.log.String(), "hunter2") {
		t.Errorf("the log repeats a body: %s", w.log)
	}
}

func TestTheThingIsLookedForBeforeTheBody(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	owner, here := w.createKey(t, connectors.RoleOwner), w.Connector(t).Slug
	for _, route := range [][2]string{
		{http.MethodPatch, "/api/v1/connectors/nowhere"},
		{http.MethodPost, "/api/v1/connectors/nowhere/sync_tools"},
		{http.MethodPost, "/connectors/nowhere/sync_tools"},
		{http.MethodPut, "/api/v1/connectors/nowhere/credential"},
		{http.MethodPut, "/api/v1/connectors/nowhere/agents/nobody/credential"},
		{http.MethodPut, "/api/v1/connectors/" + here + "/agents/nobody/credential"},
		{http.MethodPatch, "/api/v1/agents/nobody"},
		{http.MethodPatch, "/api/v1/members/nobody"},
	} {
		for _, body := range []string{`{`, `{"unknown": 1}`, `{}`} {
			w.call(t, owner, route[0], route[1], body).problem(http.StatusNotFound, "not-found")
		}
	}
}
