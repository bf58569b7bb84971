package api_test

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"patchbay/internal/api"
)

func (w *world) readDocument(t *testing.T) map[string]any {
	t.Helper()
	return w.call(t, "", http.MethodGet, "/openapi.json", nil).want(http.StatusOK)
}

func TestTheDocumentIsWholeOpenAPI(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	doc := w.readDocument(t)
	info := doc["info"].(map[string]any)
	if version := doc["openapi"].(string); !strings.HasPrefix(version, "3.1.") || info["title"] == "" || info["version"] != "test" {
		t.Errorf("%v %v", version, info)
	}
	schemas := doc["components"].(map[string]any)["schemas"].(map[string]any)
	used := map[string]bool{}
	walkDocument(doc, func(node map[string]any) {
		if ref, ok := node["$ref"].(string); ok {
			name, local := strings.CutPrefix(ref, "#/components/schemas/")
			if !local || schemas[name] == nil {
				t.Errorf("dangling reference %s", ref)
			}
			used[name] = true
		}
		if _, ok := node["$schema"]; ok {
			t.Errorf("a $schema link: %v", node)
		}
	})
	for name := range schemas {
		if !used[name] {
			t.Errorf("nothing uses the schema %s", name)
		}
	}
	parameter := regexp.MustCompile(`\{(\w+)\}`)
	ids := map[string]bool{}
	for path, operations := range doc["paths"].(map[string]any) {
		for method, op := range operations.(map[string]any) {
			checkOperation(t, method+" "+path, op.(map[string]any), parameter.FindAllStringSubmatch(path, -1), ids)
		}
	}
}

func checkOperation(t *testing.T, name string, op map[string]any, inPath [][]string, ids map[string]bool) {
	t.Helper()
	id, _ := op["operationId"].(string)
	if id == "" || ids[id] || op["summary"] == "" {
		t.Errorf("%s: operationId %q", name, id)
	}
	ids[id] = true
	var named []string
	parameters, _ := op["parameters"].([]any)
	for _, p := range parameters {
		p := p.(map[string]any)
		if p["in"] == "path" && p["required"] == true {
			named = append(named, p["name"].(string))
		}
	}
	for _, parameter := range inPath {
		if !slices.Contains(named, parameter[1]) {
			t.Errorf("%s: the parameter %s is not described", name, parameter[1])
		}
	}
	responses := op["responses"].(map[string]any)
	if len(responses) < 2 || responses["default"] == nil {
		t.Errorf("%s: responses %v", name, responses)
	}
	body, described := op["requestBody"].(map[string]any)
	if writes := regexp.MustCompile(`^(put|patch) `).MatchString(name); writes && (!described || body["required"] != true) {
		t.Errorf("%s: no required body", name)
	}
}

func walkDocument(v any, handle func(map[string]any)) {
	switch v := v.(type) {
	case map[string]any:
		handle(v)
		for _, child := range v {
			walkDocument(child, handle)
		}
	case []any:
		for _, child := range v {
			walkDocument(child, handle)
		}
	}
}

func TestOpenAPI_ResponsesMatchTheDocument(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	owner, ids := w.createKey(t, "owner"), w.createTargets(t, w.Tenant)
	doc := w.readDocument(t)
	schemas := doc["components"].(map[string]any)["schemas"].(map[string]any)
	for path, schema := range map[string]string{
		"/api/v1/connectors/" + ids.connector:         "Connector",
		"/api/v1/sync_runs/" + ids.run:                "SyncRun",
		"/api/v1/agents/" + ids.agent:                 "Agent",
		"/api/v1/tool_calls/" + ids.call:              "ToolCall",
		"/api/v1/members/" + ids.member:               "Member",
		"/api/v1/tenant":                              "Tenant",
		"/api/v1/sso":                                 "Sso",
		"/api/v1/tenant/sealing_keys":                 "SealingKeys",
		"/api/v1/installation":                        "Installation",
		"/api/v1/agents/" + ids.agent + "/mcp_config": "McpConfig",
		"/api/v1/agents/" + ids.agent + "/tools":      "AgentTools",
		"/api/v1/tools":                               "ToolList",
	} {
		answer := w.call(t, owner, http.MethodGet, path, nil).want(http.StatusOK)
		described := schemas[schema].(map[string]any)
		for _, required := range described["required"].([]any) {
			if _, ok := answer[required.(string)]; !ok {
				t.Errorf("%s: no %s", path, required)
			}
		}
		for field := range answer {
			if described["properties"].(map[string]any)[field] == nil {
				t.Errorf("%s: the document does not know %s", path, field)
			}
		}
	}
}

func TestWantsJSONTellsProgramsFromBrowsers(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		header, value string
		want          bool
	}{
		"a key":          {"Authorization", "Bearer pb_key_1", true},
		"JSON":           {"Accept", "application/json", true},
		"JSON and all":   {"Accept", "application/json, */*", true},
		"a browser":      {"Accept", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", false},
		"a bare request": {"X-None", "", false},
	} {
		r, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, "/connectors/a/sync_tools", nil)
		r.Header.Set(test.header, test.value)
		if got := api.WantsJSON(r); got != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
