package api_test

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
)

func TestMCPConfig_ByClient(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	viewer, agent := w.createKey(t, connectors.RoleViewer), w.Agent(t)
	gateway := func(token string) map[string]any {
		return map[string]any{"patchbay": map[string]any{
			"type": "http", "url": baseURL + "/mcp", "headers": map[string]any{"Authorization": "Bearer " + token},
		}}
	}
	input := map[string]any{
		"type": "promptString", "id": "patchbay-agent-token", "description": "The agent's token for Patchbay (pb_agent_…)", "password": true,
	}
	for query, want := range map[string]map[string]any{
		"":                {"mcpServers": gateway("${PATCHBAY_AGENT_TOKEN}")},
		"?client=generic": {"mcpServers": gateway("${PATCHBAY_AGENT_TOKEN}")},
		"?client=claude":  {"mcpServers": gateway("${PATCHBAY_AGENT_TOKEN}")},
		"?client=cursor":  {"mcpServers": gateway("${env:PATCHBAY_AGENT_TOKEN}")},
		"?client=vscode": {
			"mcpServers": gateway("${input:patchbay-agent-token}"), "servers": gateway("${input:patchbay-agent-token}"), "inputs": []any{input},
		},
		"?direct=false": {"mcpServers": gateway("${PATCHBAY_AGENT_TOKEN}")},
	} {
		got := w.call(t, viewer, http.MethodGet, "/api/v1/agents/"+agent.Slug+"/mcp_config"+query, nil).want(http.StatusOK)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: %s", query, diff)
		}
	}
	path := "/api/v1/agents/" + agent.Slug + "/mcp_config"
	for _, query := range []string{"?client=emacs", "?client=Claude", "?direct=maybe"} {
		w.call(t, viewer, http.MethodGet, path+query, nil).problem(http.StatusUnprocessableEntity, "invalid")
	}
}

func TestDirectConfigIsForAdmins(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	agent, theirs := w.Agent(t), w.AgentIn(t, w.Other)
	disabled := w.Agent(t, func(a *connectors.Agent) { a.Enabled = false })
	direct := func(id string) string { return "/api/v1/agents/" + id + "/mcp_config?direct=true" }
	for _, role := range []connectors.Role{connectors.RoleViewer, connectors.RoleMember} {
		w.call(t, w.createKey(t, role), http.MethodGet, direct(agent.Slug), nil).problem(http.StatusForbidden, "denied")
		w.call(t, w.createKey(t, role), http.MethodGet, direct("nobody"), nil).problem(http.StatusForbidden, "denied")
	}
	admin := w.createKey(t, connectors.RoleAdmin)
	w.call(t, admin, http.MethodGet, direct(theirs.ID.String()), nil).problem(http.StatusNotFound, "not-found")
	w.call(t, admin, http.MethodGet, direct(disabled.Slug), nil).problem(http.StatusConflict, "conflict")
	got := w.call(t, admin, http.MethodGet, direct(agent.Slug), nil)
	if diff := cmp.Diff(map[string]any{"mcpServers": map[string]any{}, "unavailable": map[string]any{}}, got.want(http.StatusOK)); diff != "" {
		t.Error(diff)
	}
	if got.header.Get("Cache-Control") != "no-store" {
		t.Errorf("%v", got.header)
	}
}

func TestDirectConfigHoldsWhatTheAgentSends(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin, agent, other := w.createKey(t, connectors.RoleAdmin), w.Agent(t), w.Agent(t)
	for _, c := range []string{
		`{"name": "open", "url": "https://open.example/mcp", "headers": {"X-Team": "eu"}}`,
		`{"name": "bearer", "url": "https://bearer.example/mcp", "headers": {"X-Team": "eu"}, "auth": {"type": "bearer", "token": "t-1"}}`,
		`{"name": "key", "url": "https://key.example/mcp", "auth": {"type": "api_key", "key": "k-1"}}`,
		`{"name": "basic", "url": "https://basic.example/mcp", "auth": {"type": "basic", "username": "ann", "password": "p-1"}}`,
		`{"name": "each", "url": "https://each.example/mcp", "credential_mode": "per_agent", "auth": {"type": "bearer"}}`,
		`{"name": "off", "url": "https://off.example/mcp", "enabled": false, "auth": {"type": "bearer", "token": "off-1"}}`,
		`{"name": "account", "url": "https://account.example/mcp", "auth": {"type": "oauth2"}}`,
		`{"name": "accounts", "url": "https://accounts.example/mcp", "credential_mode": "per_agent", "auth": {"type": "oauth2"}}`,
	} {
		w.call(t, admin, http.MethodPost, "/api/v1/connectors", c).want(http.StatusCreated)
	}
	list, err := w.Door().Connectors().List(t.Context(), store.ConnectorFilter{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range list.Items {
		w.Grant(t, agent.ID, c.ID)
		w.Grant(t, other.ID, c.ID)
	}
	w.call(t, admin, http.MethodPost, "/api/v1/connectors", `{"name": "not granted", "url": "https://none.example/mcp"}`).want(http.StatusCreated)
	for name, token := range map[string]string{agent.Slug: "mine-1", other.Slug: "theirs-1"} {
		put := w.call(t, admin, http.MethodPut, "/api/v1/connectors/each/agents/"+name+"/credential", map[string]any{"token": token})
		if put.status != http.StatusNoContent {
			t.Fatalf("%d %s", put.status, put.body)
		}
	}
	got := w.call(t, admin, http.MethodGet, "/api/v1/agents/"+agent.Slug+"/mcp_config?direct=true&client=vscode", nil)
	config := got.want(http.StatusOK)
	server := func(name string, headers map[string]any) map[string]any {
		return map[string]any{"type": "http", "url": "https://" + name + ".example/mcp", "headers": headers}
	}
	basic := "Basic " + base64.StdEncoding.EncodeToString([]byte("ann:p-1"))
	want := map[string]any{
		"open":   server("open", map[string]any{"X-Team": "eu"}),
		"bearer": server("bearer", map[string]any{"X-Team": "eu", "Authorization": "Bearer t-1"}),
		"key":    server("key", map[string]any{"x-api-key": "k-1"}),
		"basic":  server("basic", map[string]any{"Authorization": basic}),
		"each":   server("each", map[string]any{"Authorization": "Bearer mine-1"}),
	}
	if diff := cmp.Diff(want, config["mcpServers"]); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(want, config["servers"]); diff != "" {
		t.Error(diff)
	}
	unavailable := config["unavailable"].(map[string]any)
	for _, name := range []string{"account", "accounts"} {
		reason, _ := unavailable[name].(map[string]any)
		link, _ := reason["connect_url"].(string)
		if reason["code"] != "credential_required" || reason["message"] == "" || !strings.HasPrefix(link, baseURL+"/connect/") {
			t.Errorf("%s: %v", name, reason)
		}
	}
	if len(unavailable) != 2 || strings.Contains(string(got.body), "theirs-1") || strings.Contains(string(got.body), "off-1") {
		t.Errorf("%s", got.body)
	}
	theirs := w.call(t, admin, http.MethodDelete, "/api/v1/connectors/each/agents/"+other.Slug+"/credential", nil)
	if theirs.status != http.StatusNoContent {
		t.Fatalf("%d %s", theirs.status, theirs.body)
	}
	config = w.call(t, admin, http.MethodGet, "/api/v1/agents/"+other.Slug+"/mcp_config?direct=true", nil).want(http.StatusOK)
	reason, _ := config["unavailable"].(map[string]any)["each"].(map[string]any)
	if link, there := reason["connect_url"]; reason["code"] != "credential_required" || !there || link != nil {
		t.Errorf("a secret that a person enters: %v", reason)
	}
}

func TestDirectConfigIsAudited(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin := w.createKey(t, connectors.RoleAdmin)
	w.call(t, admin, http.MethodPost, "/api/v1/connectors", `{"name": "Open", "url": "https://open.example/mcp"}`).want(http.StatusCreated)
	for _, name := range []string{"Linear", "Notion"} {
		w.call(t, admin, http.MethodPost, "/api/v1/connectors",
			`{"name": "`+name+`", "url": "https://mcp.example.com/mcp", "auth": {"type": "bearer", "token": "t-1"}}`).want(http.StatusCreated)
	}
	agent := w.createGrantedAgent(t)
	path := "/api/v1/agents/" + agent.Slug + "/mcp_config"
	w.call(t, admin, http.MethodGet, path, nil).want(http.StatusOK)
	w.call(t, admin, http.MethodGet, path+"?direct=true", nil).want(http.StatusOK)
	want := []any{map[string]any{"agent_id": agent.ID.String(), "agent": agent.Slug, "connectors": []any{"linear", "notion"}}}
	if diff := cmp.Diff(want, w.listAuditDetails(t, "credential.read", agent.Slug)); diff != "" {
		t.Error(diff)
	}
}

// listAuditDetails lists the details of audit entries with that action and target.
func (w *world) listAuditDetails(t *testing.T, action, target string) []any {
	t.Helper()
	var all []any
	err := pgx.BeginFunc(t.Context(), w.Pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(t.Context(), "select set_config('app.system', 'on', true)"); err != nil {
			return err
		}
		rows, err := tx.Query(t.Context(),
			`select detail::text from audit_events where tenant_id = $1 and action = $2 and target = $3 order by id`, w.Tenant, action, target)
		if err != nil {
			return err
		}
		var text string
		_, err = pgx.ForEachRow(rows, []any{&text}, func() error {
			var detail any
			err := json.Unmarshal([]byte(text), &detail)
			all = append(all, detail)
			return err
		})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestDirectConfigHoldsAConnectedAccount(t *testing.T) {
	t.Parallel()
	a := newAccount(t)
	a.connectAccount(t, nil)
	admin, agent := a.createKey(t, connectors.RoleAdmin), a.createGrantedAgent(t)
	config := a.call(t, admin, http.MethodGet, "/api/v1/agents/"+agent.Slug+"/mcp_config?direct=true", nil).want(http.StatusOK)
	server, _ := config["mcpServers"].(map[string]any)[a.connector.Slug].(map[string]any)
	sent, _ := server["headers"].(map[string]any)["Authorization"].(string)
	token, ok := strings.CutPrefix(sent, "Bearer ")
	if _, good := a.as.Accepts(token); !ok || !good || server["url"] != a.connector.URL {
		t.Errorf("%v", config)
	}
}
