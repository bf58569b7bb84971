//go:build e2e

package e2e_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// From nothing to a tool's answer, by commands alone, over the API alone.
func TestPatchbayIsWorkedByItsCommandLine(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := h.serve()
	upstream := h.devMCP() + "/bearer"
	key := h.run("apikey", "create", "--tenant", "default", "--role", "owner", "--name", "ctl")
	keyFile, secretFile := filepath.Join(t.TempDir(), "key"), filepath.Join(t.TempDir(), "secret")
	for name, text := range map[string]string{keyFile: key + "\n", secretFile: "dev-token\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ctl := func(args ...string) string {
		t.Helper()
		return h.run(append([]string{"ctl", "--url", s.base, "--key-file", keyFile}, args...)...)
	}
	fails := func(want string, args ...string) {
		t.Helper()
		if o := h.try(append([]string{"ctl", "--url", s.base}, args...)...); o.code != 1 || !strings.Contains(o.stderr, want) {
			t.Errorf("%v: %+v, want %q", args, o, want)
		}
	}

	if made := ctl("connectors", "add", "Dev", upstream, "--auth", "bearer", "--secret", "@"+secretFile); made != "dev" {
		t.Errorf("the connector is %q", made)
	}
	contains(t, ctl("connectors", "sync", "dev"), "STATUS", "ok")
	contains(t, ctl("connectors", "ping", "dev"), "RESPONDED", "yes")
	contains(t, ctl("connectors", "list"), "CONNECTOR", "dev", upstream)
	tools := ctl("connectors", "tools", "dev")
	contains(t, tools, "TOOL", "search_issues")
	ctl("agents", "add", "Helper", "--approval", "auto")
	contains(t, ctl("agents", "grant", "helper", "dev", "--tools", "search_issues"), "helper can use dev.")
	contains(t, ctl("agents", "grants", "helper"), "dev", "search_issues")
	contains(t, ctl("agents", "why", "helper", "mcp_dev__search_issues"), "MAY CALL IT", "yes")
	if token := ctl("tokens", "create", "helper", "--name", "laptop", "--expires", "24h"); !strings.HasPrefix(token, "pb_agent_") {
		t.Errorf("standard output is not the token alone: %q", token)
	}
	contains(t, ctl("call", "helper", "mcp_dev__search_issues", `{"query": "login"}`), "issues found")

	// A call that a person has to agree to.
	fails("use --all", "agents", "grant", "helper", "dev", "--tools", "")
	ctl("agents", "grant", "helper", "dev", "--all", "--approval", "always_ask")
	var call struct{ ID, Status string }
	parse(t, ctl("-o", "json", "call", "helper", "mcp_dev__search_issues", `{"query": "billing"}`), &call)
	if call.Status != "pending_approval" {
		t.Fatalf("%+v", call)
	}
	contains(t, ctl("approvals", "list"), call.ID, "billing")
	ctl("approvals", "approve", call.ID, "--for", "2h")
	eventually(t, func() error {
		parse(t, ctl("calls", "get", call.ID), &call)
		if call.Status != "success" {
			return fmt.Errorf("the approved call is %s", call.Status)
		}
		return nil
	})
	contains(t, ctl("calls", "list", "--agent", "helper", "--limit", "1"), call.ID)
	contains(t, ctl("agents", "allowances", "helper"), "dev", "search_issues", "ALLOWED BY")
	contains(t, ctl("agents", "end-allowance", "helper", "dev", "search_issues"), "needs approval for search_issues again")
	fails("No such standing approval", "--key-file", keyFile, "agents", "end-allowance", "helper", "dev", "search_issues")

	anyRequest(t, ctl)
	typed := h.command(t.Context(), "ctl", "--url", s.base, "--key-file", keyFile, "api", "POST", "api_keys", "-")
	typed.Stdin = strings.NewReader(`{"name": "By hand", "role": "viewer"}`)
	if said, err := typed.Output(); err != nil || !strings.Contains(string(said), "pb_key_") {
		t.Errorf("a key made with a body on the standard input: %s, %v", said, err)
	}

	fails("No API key", "agents", "list")
	h.env = append(h.env, "PATCHBAY_API_KEY=pb_key_nothing")
	fails("API key", "agents", "list")
	h.env = append(h.env, "PATCHBAY_API_KEY="+key)
	fails("No such connector", "connectors", "get", "nowhere")
	fails("can read arguments", "connectors", "add", "Other", upstream, "--auth", "bearer", "--secret", "dev-token")
	fails("must be a JSON object", "call", "helper", "mcp_dev__search_issues", "[1]")
	fails("No such member", "api", "GET", "members/01890000-0000-7000-8000-000000000000")
	fails("the API key is sent only there", "api", "GET", "http://127.0.0.1:1/api/v1/tenant")
	fails("other users of this machine can read", "api", "POST", "members", `{"email": "a@b.example", "password": "x"}`)
	ctl("connectors", "delete", "dev")
	fails("No such connector", "connectors", "get", "dev")
}

// anyRequest does by `ctl api` what has no command of its own: a person is invited, a webhook is made, and the audit log tells of both.
func anyRequest(t *testing.T, ctl func(args ...string) string) {
	t.Helper()
	var invited struct{ ID, Email, Link string }
	parse(t, ctl("api", "POST", "invitations", `{"email": "new@example.com", "role": "member"}`), &invited)
	if invited.Email != "new@example.com" || invited.Link == "" {
		t.Errorf("invited: %+v", invited)
	}
	file := filepath.Join(t.TempDir(), "webhook.json")
	if err := os.WriteFile(file, []byte(`{"name": "Chat", "url": "http://127.0.0.1:9/hook"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	var hook struct{ ID, Secret string }
	parse(t, ctl("api", "POST", "/api/v1/webhooks", "@"+file), &hook)
	if hook.ID == "" || hook.Secret == "" {
		t.Errorf("the webhook is %+v", hook)
	}
	var one, all struct {
		Items      []struct{ Action string }
		NextCursor *string `json:"next_cursor"`
	}
	parse(t, ctl("api", "GET", "audit_events?limit=2"), &one)
	parse(t, ctl("-o", "json", "api", "GET", "audit_events?limit=2", "--paginate"), &all)
	if len(one.Items) != 2 || one.NextCursor == nil || len(all.Items) < 5 || all.NextCursor != nil {
		t.Errorf("a page of the audit log: %+v; all: %+v", one, all)
	}
	actions := fmt.Sprint(all.Items)
	contains(t, actions, "webhook.create", "member.invite", "connector.create")
	if said := ctl("api", "DELETE", "webhooks/"+hook.ID); said != "" {
		t.Errorf("a deletion says %q", said)
	}
}

func contains(t *testing.T, text string, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(text, w) {
			t.Errorf("%q is not in:\n%s", w, text)
		}
	}
}

func parse(t *testing.T, text string, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), into); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
}
