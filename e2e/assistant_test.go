//go:build e2e

package e2e_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// startChanging puts a proxy before a server, which has it say something else of a tool once it has changed. Both words are of one length.
func startChanging(t *testing.T, server, says, then string) (at string, change func()) {
	t.Helper()
	to, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	var changed atomic.Bool
	proxy := &httputil.ReverseProxy{
		Transport:     localTransport,
		FlushInterval: -1,
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(&url.URL{Scheme: to.Scheme, Host: to.Host}) },
		ModifyResponse: func(res *http.Response) error {
			if res.Request.Method != http.MethodPost || !changed.Load() {
				return nil
			}
			body, err := io.ReadAll(res.Body)
			_ = res.Body.Close()
			res.Body = io.NopCloser(bytes.NewReader(bytes.ReplaceAll(body, []byte(says), []byte(then))))
			return err
		},
	}
	before := httptest.NewServer(proxy)
	t.Cleanup(before.Close)
	return before.URL + to.Path, func() { changed.Store(true) }
}

// assistant is a third-party MCP client that manages an installation, with a person that accepts elicitations.
type assistant struct {
	*sdk.ClientSession
	t     *testing.T
	asked []string
}

// assist opens a session at the door for assistants, with a key.
func (c client) assist(revision string) *assistant {
	c.t.Helper()
	a := &assistant{t: c.t}
	person := func(_ context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
		a.asked = append(a.asked, r.Params.Message)
		return &sdk.ElicitResult{Action: "accept", Content: map[string]any{"agree": true}}, nil
	}
	program := sdk.NewClient(&sdk.Implementation{Name: "assistant", Version: "1"}, &sdk.ClientOptions{
		Capabilities: &sdk.ClientCapabilities{}, ElicitationHandler: person,
	})
	way := &sdk.StreamableClientTransport{Endpoint: c.base + "/mcp/admin", HTTPClient: &http.Client{Transport: gate{base: c.base, token: c.key}}}
	session, err := program.Connect(c.t.Context(), way, &sdk.ClientSessionOptions{ProtocolVersion: revision})
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { _ = session.Close() })
	a.ClientSession = session
	return a
}

// does calls a tool, and reads what it gave.
func (a *assistant) does(tool string, arguments object, out any) {
	a.t.Helper()
	result, err := a.CallTool(a.t.Context(), &sdk.CallToolParams{Name: tool, Arguments: arguments})
	if said := text(a.t, result, err); err != nil || result.IsError {
		a.t.Fatalf("%s: %v %s", tool, err, said)
	}
	raw, err := json.Marshal(result.StructuredContent)
	if err == nil && out != nil {
		err = json.Unmarshal(raw, out)
	}
	if err != nil {
		a.t.Fatalf("%s: %v", tool, err)
	}
}

// Through /mcp/admin npm's server-everything is added, synced and granted. An agent calls it, a change is
// reviewed, and the audit log has each action with its actor.
func TestAnAssistantLooksAfterPatchbay(t *testing.T) {
	t.Parallel()
	needPeers(t)
	for _, revision := range []string{"2026-07-28", "2025-11-25"} {
		t.Run(revision, func(t *testing.T) {
			t.Parallel()
			server, change := startChanging(t, startEverything(t), "Echoes back", "Erases back")
			c := admin(t)
			c.t = t
			robin := c.hire("robin")
			a := c.assist(revision)

			var tried struct{ OK bool }
			a.does("test_connector", object{"url": server}, &tried)
			a.does("add_connector", object{"name": "Everything", "url": server}, nil)
			var run struct {
				Total int `json:"tools_total"`
			}
			a.does("sync_tools", object{"connector": "everything"}, &run)
			if !tried.OK || run.Total < 5 {
				t.Fatalf("tried %+v, synced %+v", tried, run)
			}
			a.does("grant_tools", object{"agent": "robin", "connector": "everything", "tools": []string{"echo"}}, nil)
			agent := gate{base: robin.base, token: robin.token}.enter(t, "", "everything", revision)
			echoed, err := agent.call("echo", object{"message": "hello"})
			if got := text(t, echoed, err); !strings.Contains(got, "hello") {
				t.Errorf("echo said %q", got)
			}

			change()
			a.does("sync_tools", object{"connector": "everything"}, nil)
			a.reviewsEcho()
			a.holdsToTheAuditLog(c, []string{"connector.test", "connector.create", "connector.sync", "agent_grant.set", "connector.sync", "tool.accept"})
			if len(a.asked) != 2 {
				t.Errorf("the person was asked %q", a.asked)
			}
		})
	}
}

// reviewsEcho accepts what has changed about echo.
func (a *assistant) reviewsEcho() {
	a.t.Helper()
	var changes struct {
		Items []struct {
			Hash      string
			Untrusted struct{ Tool string }
		}
	}
	a.does("list_tool_changes", object{"connector": "everything"}, &changes)
	if len(changes.Items) != 1 || changes.Items[0].Untrusted.Tool != "echo" {
		a.t.Fatalf("changes %+v", changes)
	}
	read, err := a.ReadResource(a.t.Context(), &sdk.ReadResourceParams{URI: "patchbay://tools/everything/echo"})
	if err != nil {
		a.t.Fatal(err)
	}
	if says := read.Contents[0].Text; !strings.Contains(says, "Erases") || !strings.Contains(says, "Echoes") {
		a.t.Errorf("the tool is %s", says)
	}
	var got struct{ Review string }
	a.does("review_tool_change", object{"connector": "everything", "tool": "echo", "hash": changes.Items[0].Hash, "verdict": "accept"}, &got)
	if got.Review != "accepted" {
		a.t.Errorf("echo is %s", got.Review)
	}
}

// audited is an entry of the audit log, as both doors tell of it.
type audited struct {
	ID, At, Action, ActorType, ActorName, Target string
	ActorID, Detail, Changes                     any
}

// readsTheAuditLog reads the log by the tool, page by page, and returns the acts that came in at /mcp/admin, the oldest first.
func (a *assistant) readsTheAuditLog() (found []audited) {
	a.t.Helper()
	type entry struct {
		ID, At, Action string
		ActorType      string `json:"actor_type"`
		ActorID        any    `json:"actor_id"`
		Untrusted      struct {
			Actor, Target   string
			Detail, Changes any
		}
	}
	for cursor := ""; ; {
		arguments := object{"limit": 5}
		if cursor != "" {
			arguments["cursor"] = cursor
		}
		var page struct {
			Items []entry
			Next  *string `json:"next_cursor"`
		}
		a.does("list_audit_events", arguments, &page)
		for _, e := range page.Items {
			if detail, _ := e.Untrusted.Detail.(object); detail["via"] == "mcp" {
				found = append(found, audited{e.ID, e.At, e.Action, e.ActorType, e.Untrusted.Actor, e.Untrusted.Target, e.ActorID, e.Untrusted.Detail, e.Untrusted.Changes})
			}
		}
		if page.Next == nil {
			slices.Reverse(found)
			return found
		}
		cursor = *page.Next
	}
}

// holdsToTheAuditLog compares the acts that came in at /mcp/admin, the oldest first, with these, and what the tool says of them with what the API does.
func (a *assistant) holdsToTheAuditLog(c client, want []string) {
	a.t.Helper()
	read := a.readsTheAuditLog()
	var acts []string
	for _, e := range read {
		if e.ActorType != "key" || e.ActorName != "test" {
			a.t.Errorf("%s was done by %s %q", e.Action, e.ActorType, e.ActorName)
		}
		acts = append(acts, e.Action)
	}
	if diff := cmp.Diff(want, acts); diff != "" {
		a.t.Errorf("audit log (-want +got):\n%s", diff)
	}
	var told []audited
	for _, item := range c.must(http.StatusOK, http.MethodGet, "/api/v1/audit_events?limit=200", nil)["items"].([]any) {
		e := item.(object)
		if detail, _ := e["detail"].(object); detail["via"] != "mcp" {
			continue
		}
		actor, word := e["actor"].(object), func(in object, name string) string { s, _ := in[name].(string); return s }
		told = append(told, audited{
			word(e, "id"), word(e, "at"), word(e, "action"), word(actor, "type"), word(actor, "name"), word(e, "target"), actor["id"], e["detail"], e["changes"],
		})
	}
	slices.Reverse(told)
	if diff := cmp.Diff(told, read); diff != "" {
		a.t.Errorf("what the tool says of the audit log (-the API's +the tool's):\n%s", diff)
	}
}

// The TypeScript SDK's client holds each result against its tool's schema: it finds nothing wrong.
func TestTheTypeScriptClientLooksAfterPatchbay(t *testing.T) {
	t.Parallel()
	needPeers(t)
	c := admin(t)
	c.hire("robin")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, node(), "peers/assistant.mjs", c.base+"/mcp/admin", c.key, startEverything(t), "robin")
	cmd.Stderr = os.Stderr
	printed, err := cmd.Output()
	if err != nil {
		t.Fatalf("assistant.mjs: %v", err)
	}
	var got struct {
		Tools, Prompts, Templates, Resources, Asked                              []string
		Added, Synced, Granted, Connectors, Agents, Calls, Changes, Why, Missing called
		Misfit                                                                   struct{ Code int }
		Read                                                                     struct{ Contents []struct{ Text string } }
		Complete                                                                 struct{ Completion struct{ Values []string } }
	}
	if err := json.Unmarshal(printed, &got); err != nil {
		t.Fatalf("%v: %s", err, printed)
	}
	for name, result := range map[string]called{
		"add_connector": got.Added, "sync_tools": got.Synced, "grant_tools": got.Granted, "list_connectors": got.Connectors, "list_agents": got.Agents,
		"list_tool_calls": got.Calls, "list_tool_changes": got.Changes, "explain_access": got.Why,
	} {
		if result.IsError {
			t.Errorf("%s: %s", name, result.text())
		}
	}
	if !slices.Contains(got.Tools, "review_tool_change") || len(got.Prompts) != 4 || len(got.Templates) != 3 || len(got.Asked) != 1 {
		t.Errorf("tools %q, prompts %q, templates %q, asked %q", got.Tools, got.Prompts, got.Templates, got.Asked)
	}
	if !slices.Contains(got.Resources, "patchbay://agents/robin") || !strings.Contains(got.Read.Contents[0].Text, "Echoes back") {
		t.Errorf("resources %q, one is %+v", got.Resources, got.Read)
	}
	if got.Misfit.Code != -32602 || !got.Missing.IsError || !slices.Equal(got.Complete.Completion.Values, []string{"robin"}) {
		t.Errorf("%+v, %+v, %+v", got.Misfit, got.Missing, got.Complete)
	}
}
