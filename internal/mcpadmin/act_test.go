package mcpadmin_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/client"
	"patchbay/internal/connectors"
	"patchbay/internal/mcp/mcptest"
	"patchbay/internal/mcpadmin"
)

// mcpEvents returns the audit events via MCP, oldest first, with their actors.
func (w *testEnv) mcpEvents(t *testing.T) []string {
	t.Helper()
	var got string
	w.AsSystem(t, `select coalesce(string_agg(action || ' by ' || actor_type || ' ' || actor_name, ',' order by id), '') from audit_events where detail->>'via' = 'mcp'`, nil, &got)
	if got == "" {
		return nil
	}
	return strings.Split(got, ",")
}

func (w *testEnv) apiClient(t *testing.T, key string) *client.Client {
	t.Helper()
	c, err := client.New(w.url, key, client.WithHTTPClient(w.http))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestTools_ActAsAdminAndAreAudited(t *testing.T) {
	t.Parallel()
	for _, revision := range []string{newest, before} {
		t.Run(revision, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			up := mcptest.Start(t, mcptest.Script{Tools: []string{mcptest.Tool("search"), mcptest.Tool("create")}})
			w.Agent(t, func(a *connectors.Agent) { a.Slug, a.Approval = "support", connectors.ApprovalAlwaysAsk })
			key := w.newAPIKey(t, w.Tenant, connectors.RoleAdmin)
			a := w.connect(t, key, revision, "accept")

			var tried struct{ OK bool }
			a.callTool(t, "test_connector", map[string]any{"url": up.URL}, &tried)
			if !tried.OK {
				t.Error("the server is not usable")
			}
			a.callTool(t, "add_connector", map[string]any{"name": "Notes", "url": up.URL}, nil)
			a.callTool(t, "sync_tools", map[string]any{"connector": "notes"}, nil)
			a.callTool(t, "grant_tools", map[string]any{"agent": "support", "connector": "notes", "tools": []string{"search", "create"}}, nil)
			a.acceptChange(t, w, up)
			a.approveCall(t, w, key)
			a.callTool(t, "grant_tools", map[string]any{"agent": "support", "connector": "notes", "tools": []string{}}, nil)
			a.callTool(t, "add_connector", map[string]any{"name": "Mail", "url": up.URL + "/mail", "auth_type": "oauth2"}, nil)
			var link struct {
				URL string `json:"connect_url"`
			}
			a.callTool(t, "connect_account", map[string]any{"connector": "mail"}, &link)
			if !strings.HasPrefix(link.URL, w.url+"/connect/") {
				t.Errorf("the link is %q", link.URL)
			}

			if says := a.callInvalid(t, "test_connector", map[string]any{"url": up.URL + "/mail?what=was-read"}); !strings.Contains(says, "with query") {
				t.Errorf("an address that carries something out: %q", says)
			}

			by := " by key assistant"
			want := []string{
				"connector.test" + by, "connector.create" + by, "connector.sync" + by, "agent_grant.set" + by, "connector.sync" + by, "tool.accept" + by,
				"tool_call.approve" + by, "agent_grant.drop" + by, "connector.create" + by, "connect_link.make" + by,
			}
			if diff := cmp.Diff(want, w.mcpEvents(t)); diff != "" {
				t.Errorf("audit log (-want +got):\n%s", diff)
			}
			if len(a.questions) != 5 {
				t.Errorf("a person was asked %q", a.questions)
			}
		})
	}
}

func TestTools_SetToolListAndPins(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.seedTool(t)
	a := w.connect(t, w.newAPIKey(t, w.Tenant, connectors.RoleAdmin), newest, "accept")
	want := func(list string, pinned ...string) {
		t.Helper()
		var got struct {
			Items []struct {
				ToolList string `json:"tool_list"`
				Grants   []struct {
					Untrusted struct {
						Pinned []string `json:"pinned_tools"`
					}
				}
			}
		}
		a.callTool(t, "list_agents", nil, &got)
		if len(got.Items) != 1 || got.Items[0].ToolList != list || len(got.Items[0].Grants) != 1 || !slices.Equal(got.Items[0].Grants[0].Untrusted.Pinned, pinned) {
			t.Errorf("want the list %s with pins %q: %+v", list, pinned, got)
		}
	}
	grant := map[string]any{"agent": "support", "connector": "linear", "all_tools": true, "pinned_tools": []string{"search"}}
	a.callTool(t, "grant_tools", grant, nil)
	if asked := fmt.Sprint(a.questions); !strings.Contains(asked, `Pinned in a lean list: "search".`) {
		t.Errorf("a person was asked %s", asked)
	}
	want("full", "search")
	a.callTool(t, "set_tool_list", map[string]any{"agent": "support", "tool_list": "lean"}, nil)
	delete(grant, "pinned_tools")
	a.callTool(t, "grant_tools", grant, nil)
	want("lean", "search")
	grant["pinned_tools"] = []string{}
	a.callTool(t, "grant_tools", grant, nil)
	want("lean")
	a.callInvalid(t, "set_tool_list", map[string]any{"agent": "support", "tool_list": "short"})
}

func TestTools_ShortenAnswers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.seedTool(t)
	a := w.connect(t, w.newAPIKey(t, w.Tenant, connectors.RoleAdmin), newest, "accept")
	want := func(rules string) {
		t.Helper()
		var got struct {
			Items []struct {
				Grants []struct {
					Untrusted struct{ Shortened json.RawMessage }
				}
			}
		}
		a.callTool(t, "list_agents", nil, &got)
		if len(got.Items) != 1 || len(got.Items[0].Grants) != 1 || string(got.Items[0].Grants[0].Untrusted.Shortened) != rules {
			t.Errorf("want %s: %+v", rules, got)
		}
	}
	a.callTool(t, "grant_tools", map[string]any{"agent": "support", "connector": "linear", "all_tools": true}, nil)
	of := map[string]any{"agent": "support", "connector": "linear", "tool": "search"}
	with := func(more map[string]any) map[string]any { maps.Copy(more, of); return more }
	want("[]")
	a.callTool(t, "shorten_answers", with(map[string]any{"fields": ".a", "budget": 500}), nil)
	want(`[{"budget":500,"fields":".a","tool":"search"}]`)
	a.callTool(t, "shorten_answers", with(map[string]any{"fields": ".b"}), nil)
	want(`[{"fields":".b","tool":"search"}]`)
	a.callTool(t, "shorten_answers", of, nil)
	want("[]")
	a.callInvalid(t, "shorten_answers", with(map[string]any{"budget": 5}))
}

func (a *mcpClient) acceptChange(t *testing.T, w *testEnv, up *mcptest.Server) {
	t.Helper()
	up.SetTools(`{"name":"search","description":"Searches, and deletes.","inputSchema":{"type":"object","properties":{"q":{"type":"string"}}}}`, mcptest.Tool("create"))
	a.callTool(t, "sync_tools", map[string]any{"connector": "notes"}, nil)
	var changes struct {
		Items []struct {
			Hash      string
			State     string
			Untrusted struct{ Tool string }
		}
	}
	a.callTool(t, "list_tool_changes", nil, &changes)
	if len(changes.Items) != 1 || changes.Items[0].Untrusted.Tool != "search" {
		t.Fatalf("changes %+v", changes)
	}
	review := map[string]any{"connector": "notes", "tool": "search", "verdict": "accept", "hash": strings.Repeat("0", 64)}
	if code, _ := a.callRefused(t, "review_tool_change", review); code != "tool-changed" {
		t.Errorf("another definition than the one that was looked at: %s", code)
	}
	review["hash"] = changes.Items[0].Hash
	var got struct{ Review string }
	a.callTool(t, "review_tool_change", review, &got)
	if got.Review != "accepted" {
		t.Errorf("the tool is %s", got.Review)
	}
	a.questions = a.questions[1:] // the API refused the first
}

func (a *mcpClient) approveCall(t *testing.T, w *testEnv, key string) {
	t.Helper()
	waiting, err := w.apiClient(t, key).CallTool(t.Context(), "support", client.CallToolQuery{}, client.ToolCallCreate{Tool: "mcp_notes__create", Arguments: map[string]json.RawMessage{"q": json.RawMessage(`"what waits"`)}})
	if err != nil || waiting.Status != "pending_approval" {
		t.Fatalf("%s, %v", waiting.Status, err)
	}
	var got struct {
		Items []struct {
			ID        string
			Address   string
			Untrusted struct {
				RequestID string `json:"request_id"`
			}
		}
	}
	a.callTool(t, "list_tool_calls", map[string]any{"status": "pending_approval"}, &got)
	if len(got.Items) != 1 || waiting.RequestID == nil || got.Items[0].Untrusted.RequestID != *waiting.RequestID || got.Items[0].Address != "127.0.0.1" {
		t.Fatalf("calls %+v", got)
	}
	var made struct{ Status string }
	a.callTool(t, "decide_approval", map[string]any{"call": got.Items[0].ID, "verdict": "approve"}, &made)
	if says := a.questions[len(a.questions)-1]; !strings.Contains(says, `"create"`) || !strings.Contains(says, "what waits") || !strings.Contains(says, `"support"`) {
		t.Errorf("the person was asked %q", says)
	}
	if made.Status == "pending_approval" || made.Status == "denied" {
		t.Errorf("the call is %s", made.Status)
	}
}

func TestConfirm_RequiredForDestructiveTools(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ revision, says, code string }{
		"a person who declines":                  {newest, "decline", "declined"},
		"a person who goes away":                 {newest, "cancel", "declined"},
		"a person who declines, in a session":    {before, "decline", "declined"},
		"a client without anybody":               {newest, "", "confirmation-required"},
		"a client without anybody, in a session": {before, "", "confirmation-required"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.seedTool(t)
			a := w.connect(t, w.newAPIKey(t, w.Tenant, connectors.RoleOwner), test.revision, test.says)
			was := w.Rows(t)
			for _, tool := range []string{"grant_tools", "review_tool_change"} {
				code, says := a.callRefused(t, tool, exampleArguments[tool])
				if code != test.code || test.says == "" && !strings.Contains(says, w.url+"/") {
					t.Errorf("%s: %s, %s", tool, code, says)
				}
			}
			if diff := cmp.Diff(strings.Split(was, "\n"), strings.Split(w.Rows(t), "\n")); diff != "" {
				t.Errorf("something changed (-before +after):\n%s", diff)
			}
		})
	}
}

// The annotation destructiveHint must match the behaviour.
func TestTools_DestructiveOnesConfirm(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.connect(t, w.newAPIKey(t, w.Tenant, connectors.RoleOwner), newest, "")
	asks := map[string]bool{}
	for _, row := range mcpadmin.Table() {
		asks[row.Name] = row.Confirms
	}
	for tool, err := range a.Tools(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		if destructive := tool.Annotations.DestructiveHint; destructive == nil || *destructive != asks[tool.Name] {
			t.Errorf("%s: destructiveHint %v, asks a person: %t", tool.Name, destructive, asks[tool.Name])
		}
	}
}

func TestTools_HaveNoSecrets(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	key := w.newAPIKey(t, w.Tenant, connectors.RoleOwner)
	a := w.connect(t, key, newest, "accept")
	for tool, err := range a.Tools(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		for name := range tool.InputSchema.(map[string]any)["properties"].(map[string]any) {
			for _, secret := range []string{"token", "key", "password", "client_secret", "headers", "env"} {
				if name == secret && tool.Name != "save_endpoint" { // its headers are fixed texts, not the credential
					t.Errorf("%s takes %s", tool.Name, name)
				}
			}
		}
	}
	var made struct {
		SecretURL string `json:"secret_url"`
		Connector struct{ Slug string }
	}
	a.callTool(t, "add_connector", exampleArguments["add_connector"], &made)
	if made.SecretURL != w.url+"/connectors/"+made.Connector.Slug+"/credentials" {
		t.Errorf("the secret is entered at %q", made.SecretURL)
	}
	c, err := w.Door().Connectors().Get(t.Context(), connectors.Ref(made.Connector.Slug))
	if err != nil {
		t.Fatal(err)
	}
	w.Credential(t, c.ID, nil, "s3cret-of-the-service")
	for _, tool := range []string{"list_connectors", "list_agents", "list_tool_calls"} {
		var got any
		a.callTool(t, tool, nil, &got)
		if all := fmt.Sprint(got); strings.Contains(all, "s3cret") || strings.Contains(all, key) {
			t.Errorf("%s has a secret: %s", tool, all)
		}
	}
}
