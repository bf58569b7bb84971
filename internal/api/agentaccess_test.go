package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/secret"
	"patchbay/internal/testing/fixture"
)

func TestATokenIsShownOnceAndRevoked(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin, agent := w.createKey(t, connectors.RoleAdmin), w.Agent(t)
	path := "/api/v1/agents/" + agent.Slug + "/tokens"
	made := w.call(t, admin, http.MethodPost, path, `{"name": "laptop", "expires_at": "2099-01-31T12:00:00Z"}`).want(http.StatusCreated)
	text, _ := made["token"].(string)
	if _, ok := secret.ParseBearer(secret.AgentBearer, secret.Text(text)); !ok {
		t.Fatalf("the token is none: %v", made)
	}
	delete(made, "token")
	for field, want := range map[string]any{
		"name": "laptop", "agent_id": agent.ID.String(), "expires_at": "2099-01-31T12:00:00Z", "last_used_at": nil,
	} {
		if made[field] != want {
			t.Errorf("%s is %v, want %v", field, made[field], want)
		}
	}
	listed := w.call(t, w.createKey(t, connectors.RoleViewer), http.MethodGet, path, nil)
	if diff := cmp.Diff([]any{made}, listed.want(http.StatusOK)["items"]); diff != "" {
		t.Error(diff)
	}
	if strings.Contains(string(listed.body), text) || strings.Contains(w.log.String(), text) {
		t.Error("the token is shown again, or logged")
	}
	one := path + "/" + made["id"].(string)
	if got := w.call(t, admin, http.MethodDelete, one, nil); got.status != http.StatusNoContent {
		t.Errorf("%d %s", got.status, got.body)
	}
	w.call(t, admin, http.MethodDelete, one, nil).problem(http.StatusNotFound, "not-found")
}

func TestATokenNeedsNeitherANameNorAnEnd(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin, agent := w.createKey(t, connectors.RoleAdmin), w.Agent(t)
	path := "/api/v1/agents/" + agent.ID.String() + "/tokens"
	for _, body := range []any{nil, `{}`, `{"name": "", "expires_at": null}`} {
		made := w.call(t, admin, http.MethodPost, path, body).want(http.StatusCreated)
		if made["name"] != "" || made["expires_at"] != nil || made["token"] == nil {
			t.Errorf("%v: %v", body, made)
		}
	}
	for body, at := range map[string]string{
		`{"expires_at": "2001-01-01T00:00:00Z"}`: "expires_at", `{"expires_at": "soon"}`: "expires_at", `{"name": null}`: "name",
		`{"name": "` + strings.Repeat("x", 101) + `"}`: "name", `{"role": "admin"}`: "role",
	} {
		got := w.call(t, admin, http.MethodPost, path, body)
		got.problem(http.StatusUnprocessableEntity, "invalid")
		if diff := cmp.Diff([]string{at}, got.locations()); diff != "" {
			t.Errorf("%s: %s", body, diff)
		}
	}
}

func TestAgentGrant_ReplacesTheFormer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin, agent, c := w.createKey(t, connectors.RoleAdmin), w.Agent(t), w.Connector(t)
	path := "/api/v1/agents/" + agent.Slug + "/connectors"
	for body, want := range map[string]map[string]any{
		`{"tools": "all"}`: {"tools": "all", "approval": nil, "trusted_tools": []any{}},
		`{"tools": ["b", "a"], "approval": "trusted_only", "trusted_tools": ["a"]}`: {
			"tools": []any{"a", "b"}, "approval": "trusted_only", "trusted_tools": []any{"a"},
		},
		`{"tools": [], "approval": null}`: {"tools": []any{}, "approval": nil, "trusted_tools": []any{}},
	} {
		if got := w.call(t, admin, http.MethodPut, path+"/"+c.Slug, body); got.status != http.StatusNoContent {
			t.Fatalf("%d %s", got.status, got.body)
		}
		items := w.call(t, admin, http.MethodGet, path, nil).want(http.StatusOK)["items"].([]any)
		if len(items) != 1 {
			t.Fatalf("%d grants", len(items))
		}
		got := items[0].(map[string]any)
		want["pinned_tools"], want["ends"], want["ended"], want["account"], want["accounts"] = []any{}, map[string]any{}, false, nil, []any{}
		want["connector_id"], want["connector"], want["name"], want["enabled"] = c.ID.String(), c.Slug, c.Name, true
		for _, field := range []string{"created_at", "updated_at", "prompts", "resources", "shaping"} {
			delete(got, field)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", body, diff)
		}
	}
	if got := w.call(t, admin, http.MethodDelete, path+"/"+c.ID.String(), nil); got.status != http.StatusNoContent {
		t.Errorf("%d %s", got.status, got.body)
	}
	w.call(t, admin, http.MethodDelete, path+"/"+c.Slug, nil).problem(http.StatusNotFound, "not-found")
}

func TestAgentGrant_PinnedTools(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin, agent, c, other := w.createKey(t, connectors.RoleAdmin), w.Agent(t), w.Connector(t), w.Connector(t)
	path := "/api/v1/agents/" + agent.Slug + "/connectors"
	for _, step := range []struct {
		body string
		want []any
	}{
		{`{"tools": "all", "pinned_tools": ["b", "a", "a"]}`, []any{"a", "b"}},
		{`{"tools": "all"}`, []any{"a", "b"}}, // an existing grant keeps its choice
		{`{"tools": ["a", "c"]}`, []any{"a"}}, // of the tools that it still includes
		{`{"tools": ["a"], "pinned_tools": []}`, []any{}},
	} {
		if got := w.call(t, admin, http.MethodPut, path+"/"+c.Slug, step.body); got.status != http.StatusNoContent {
			t.Fatalf("%s: %d %s", step.body, got.status, got.body)
		}
		items := w.call(t, admin, http.MethodGet, path, nil).want(http.StatusOK)["items"].([]any)
		if diff := cmp.Diff(step.want, items[0].(map[string]any)["pinned_tools"]); diff != "" {
			t.Errorf("%s: %s", step.body, diff)
		}
	}
	var names []string
	for i := range connectors.MaxPinnedTools {
		names = append(names, fmt.Sprintf("%q", fmt.Sprint("tool", i)))
	}
	full := `{"tools": "all", "pinned_tools": [` + strings.Join(names, ",") + `]}`
	if got := w.call(t, admin, http.MethodPut, path+"/"+c.Slug, full); got.status != http.StatusNoContent {
		t.Fatalf("%d %s", got.status, got.body)
	}
	got := w.call(t, admin, http.MethodPut, path+"/"+other.Slug, `{"tools": "all", "pinned_tools": ["one"]}`)
	got.problem(http.StatusUnprocessableEntity, "invalid")
	if diff := cmp.Diff([]string{"pinned_tools"}, got.locations()); diff != "" {
		t.Error(diff)
	}
}

func TestAgentGrant_PromptsAndResources(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin, agent := w.createKey(t, connectors.RoleAdmin), w.Agent(t)
	all, named := w.Connector(t), w.Connector(t)
	for _, step := range []struct {
		connector          connectors.Connector
		body               string
		prompts, resources string
	}{
		{all, `{"tools": "all"}`, "listed", "listed_and_templates"},
		{named, `{"tools": ["a"]}`, "none", "none"},
		{named, `{"tools": ["a"], "prompts": "listed", "resources": "listed"}`, "listed", "listed"},
		{named, `{"tools": ["a", "b"]}`, "listed", "listed"}, // an existing grant keeps its choice
		{named, `{"tools": "all", "prompts": null, "resources": "none"}`, "listed", "none"},
	} {
		path := "/api/v1/agents/" + agent.Slug + "/connectors"
		if got := w.call(t, admin, http.MethodPut, path+"/"+step.connector.Slug, step.body); got.status != http.StatusNoContent {
			t.Fatalf("%s: %d %s", step.body, got.status, got.body)
		}
		for _, item := range w.call(t, admin, http.MethodGet, path, nil).want(http.StatusOK)["items"].([]any) {
			got := item.(map[string]any)
			if got["connector"] == step.connector.Slug && (got["prompts"] != step.prompts || got["resources"] != step.resources) {
				t.Errorf("%s: %v, %v", step.body, got["prompts"], got["resources"])
			}
		}
	}
}

func TestAGrantsFieldsAreChecked(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin, agent, c := w.createKey(t, connectors.RoleAdmin), w.Agent(t), w.Connector(t)
	for body, at := range map[string]string{
		`{}`:                                       "tools",
		`{"tools": "some"}`:                        "tools",
		`{"tools": null}`:                          "tools",
		`{"tools": 7}`:                             "tools",
		`{"tools": ["a", 1]}`:                      "tools",
		`{"tools": [""]}`:                          "tools",
		`{"tools": {"a": true}}`:                   "tools",
		`{"tools": "all", "approval": "x"}`:        "approval",
		`{"tools": "all", "prompts": "all"}`:       "prompts",
		`{"tools": "all", "resources": true}`:      "resources",
		`{"tools": "all", "trusted_tools": "all"}`: "trusted_tools",
		`{"tools": "all", "trusted_tools": null}`:  "trusted_tools",
		`{"tools": "all", "trusted_tools": ["` + strings.Repeat("x", 129) + `"]}`:      "trusted_tools",
		`{"tools": "all", "trusted": []}`:                                              "trusted",
		`{"tools": "all", "approval": "auto", "trusted_tools": ["a"], "agent": "bob"}`: "agent",
	} {
		got := w.call(t, admin, http.MethodPut, "/api/v1/agents/"+agent.Slug+"/connectors/"+c.Slug, body)
		got.problem(http.StatusUnprocessableEntity, "invalid")
		if diff := cmp.Diff([]string{at}, got.locations()); diff != "" {
			t.Errorf("%s: %s", body, diff)
		}
	}
}

func TestWhyTellsWhatAnAgentMayDoWithATool(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	viewer, agent := w.createKey(t, connectors.RoleViewer), w.Agent(t)
	named := func(s string) func(*connectors.Draft) { return func(d *connectors.Draft) { d.Slug, d.Name = s, s } }
	open, keyed, other := w.Connector(t, named("open")), w.Connector(t, named("keyed"), func(d *connectors.Draft) {
		d.Auth.Type, d.CredentialMode = connectors.AuthBearer, connectors.CredentialPerAgent
	}), w.Connector(t, named("other"))
	for _, c := range []connectors.Connector{open, keyed, other} {
		w.Synced(t, c.ID, "search", "create")
	}
	auto := connectors.ApprovalAuto
	w.Grant(t, agent.ID, open.ID, fixture.Named("search"), func(g *connectors.Grant) { g.Approval = &auto })
	w.Grant(t, agent.ID, keyed.ID)
	why := func(tool string) map[string]any {
		return w.call(t, viewer, http.MethodGet, "/api/v1/agents/"+agent.Slug+"/tools/"+tool+"/why", nil).want(http.StatusOK)
	}
	credential := func(mode, owner, status string) map[string]any {
		return map[string]any{"mode": mode, "owner": owner, "account": "", "status": status}
	}
	for tool, want := range map[string]map[string]any{
		"mcp_open__search": {
			"prompts": "none", "resources": "none", "granted_until": nil, "items_unasked": false, "connector": "open", "name": "search", "sees": true, "may_call": true, "state": "ok", "asks": false, "unchecked": []any{},
			"credential": credential("shared", "none", "not_needed"),
		},
		"mcp_open__create": {
			"prompts": "none", "resources": "none", "granted_until": nil, "items_unasked": false, "connector": "open", "name": "create", "sees": false, "may_call": false, "state": "not_granted", "asks": false, "unchecked": []any{},
			"credential": credential("shared", "none", "not_needed"),
		},
		"mcp_keyed__search": {
			"prompts": "listed", "resources": "listed_and_templates", "granted_until": nil, "items_unasked": true, "connector": "keyed", "name": "search", "sees": true, "may_call": false, "state": "ok", "asks": true, "unchecked": []any{},
			"credential": credential("per_agent", "agent", "missing"),
		},
		"mcp_other__search": {
			"prompts": nil, "resources": nil, "granted_until": nil, "items_unasked": false, "connector": "other", "name": "search", "sees": false, "may_call": false, "state": "not_granted", "asks": false, "unchecked": []any{},
			"credential": credential("", "", ""),
		},
		"mcp_other__nothing": {
			"prompts": nil, "resources": nil, "granted_until": nil, "items_unasked": false, "connector": nil, "name": nil, "sees": false, "may_call": false, "state": "unknown", "asks": false, "unchecked": []any{},
			"credential": credential("", "", ""),
		},
	} {
		got := why(tool)
		if advice, _ := got["advice"].(string); !strings.HasSuffix(advice, ".") {
			t.Errorf("%s: no advice", tool)
		}
		delete(got, "advice")
		want["tool"], want["allowed_until"] = tool, nil
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", tool, diff)
		}
	}
	w.Credential(t, keyed.ID, &agent.ID, "t-1")
	until := time.Now().Add(time.Hour).UTC().Truncate(time.Second)
	allowed := connectors.Allowance{AllowanceKey: connectors.AllowanceKey{ConnectorID: keyed.ID, Kind: connectors.CallTool, Tool: "search"}, Definition: fixture.Definition("search").Hash, Until: until}
	if err := w.Door().Calls().AddAllowance(t.Context(), agent.ID, allowed); err != nil {
		t.Fatal(err)
	}
	got := why("mcp_keyed__search")
	if got["may_call"] != true || got["asks"] != false || got["allowed_until"] != until.Format(time.RFC3339) {
		t.Errorf("%v", got)
	}
	w.call(t, viewer, http.MethodGet, "/api/v1/agents/nobody/tools/x/why", nil).problem(http.StatusNotFound, "not-found")
}

func TestLimitsOfAgentsAndConnectorsAreSet(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin := w.createKey(t, connectors.RoleAdmin)
	agent := w.call(t, admin, http.MethodPost, "/api/v1/agents", `{"name": "A"}`).want(http.StatusCreated)
	if agent["name_limit"] != 64.0 || agent["calls_per_minute"] != 0.0 || agent["tool_list"] != "full" {
		t.Errorf("%v", agent)
	}
	agent = w.call(t, admin, http.MethodPatch, "/api/v1/agents/a", `{"name_limit": 128, "calls_per_minute": 60, "tool_list": "auto"}`).want(http.StatusOK)
	if agent["tool_list"] != "auto" || agent["name_limit"] != 128.0 || agent["calls_per_minute"] != 60.0 {
		t.Errorf("%v", agent)
	}
	for body, at := range map[string]string{
		`{"name_limit": 63}`: "name_limit", `{"name_limit": 129}`: "name_limit", `{"calls_per_minute": -1}`: "calls_per_minute",
		`{"calls_per_minute": 1000001}`: "calls_per_minute", `{"tool_list": "short"}`: "tool_list",
	} {
		got := w.call(t, admin, http.MethodPatch, "/api/v1/agents/a", body)
		got.problem(http.StatusUnprocessableEntity, "invalid")
		if diff := cmp.Diff([]string{at}, got.locations()); diff != "" {
			t.Errorf("%s: %s", body, diff)
		}
	}
	c := w.call(t, admin, http.MethodPost, "/api/v1/connectors",
		`{"name": "C", "url": "https://mcp.example.com/", "calls_per_minute": 7}`).want(http.StatusCreated)
	if c["calls_per_minute"] != 7.0 {
		t.Errorf("%v", c)
	}
	c = w.call(t, admin, http.MethodPatch, "/api/v1/connectors/c", `{"calls_per_minute": 0}`).want(http.StatusOK)
	if c["calls_per_minute"] != 0.0 {
		t.Errorf("%v", c)
	}
	w.call(t, admin, http.MethodPatch, "/api/v1/connectors/c", `{"calls_per_minute": -1}`).problem(http.StatusUnprocessableEntity, "invalid")
}

func TestAnAgentsTokenOpensTheGatewayAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	agent := w.Agent(t)
	text := w.Token(t, agent.ID)
	got := w.call(t, text.Reveal(), http.MethodGet, "/api/v1/agents", nil)
	got.problem(http.StatusUnauthorized, "unauthenticated")
	if strings.Contains(string(got.body), text.Reveal()) {
		t.Error("the token is repeated")
	}
	_, err := w.auth.FromBearer(t.Context(), "Bearer "+text.Reveal())
	if !fault.Is(err, fault.Unauthenticated) {
		t.Error(err)
	}
}

func TestWhyNamesTheAccount(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	agent, ada := w.Agent(t), w.Member(t, connectors.RoleMember)
	if err := w.Door().Agents().MakePersonal(t.Context(), ada.UserID, agent.ID); err != nil {
		t.Fatal(err)
	}
	c := w.Connector(t, func(d *connectors.Draft) {
		d.Slug, d.Auth.Type, d.CredentialMode = "keyed", connectors.AuthBearer, connectors.CredentialPerAgent
	})
	w.Synced(t, c.ID, "search")
	w.Grant(t, agent.ID, c.ID, func(g *connectors.Grant) { g.Accounts = []string{"work"} })
	for role, want := range map[connectors.Role]string{connectors.RoleAdmin: "work", connectors.RoleViewer: ""} {
		got := w.call(t, w.createKey(t, role), http.MethodGet, "/api/v1/agents/"+agent.Slug+"/tools/mcp_keyed__search/why", nil).want(http.StatusOK)
		if account := got["credential"].(map[string]any)["account"]; account != want {
			t.Errorf("%s: account %q, want %q", role, account, want)
		}
	}
}
