package e2e_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// startReceiver runs a receiver that verifies by the library of Standard Webhooks.
func startReceiver(t *testing.T, port int, secret string) *process {
	t.Helper()
	p := startPeer(t, []string{fmt.Sprintf("PORT=%d", port), "SECRET=" + secret}, "webhook-receiver.mjs")
	p.line("listening")
	return p
}

// The receiver is not there when a call begins to wait, and the server is killed before it is.
func TestAWebhookArrivesAfterAKillAndIsVerifiedByALibraryThatWeDidNotWrite(t *testing.T) {
	t.Parallel()
	needPeers(t)
	h := newHome(t)
	upstream, port := h.devMCP(), freePort(t)
	s := h.serve()
	c := client{t: t, base: s.base, key: h.run("apikey", "create", "--tenant", "default", "--role", "admin", "--name", "test")}
	made := c.must(http.StatusCreated, http.MethodPost, "/api/v1/webhooks", object{"name": "Chat", "url": fmt.Sprintf("http://127.0.0.1:%d/hook", port)})
	hook := fmt.Sprintf("/api/v1/webhooks/%v", made["id"])
	c.must(http.StatusCreated, http.MethodPost, "/api/v1/connectors", object{"name": "Tools", "url": upstream + "/mcp"})
	c.must(http.StatusOK, http.MethodPost, "/connectors/tools/sync_tools", nil)
	c.must(http.StatusCreated, http.MethodPost, "/api/v1/agents", object{"name": "Helper", "slug": "helper"})
	c.must(http.StatusNoContent, http.MethodPut, "/api/v1/agents/helper/connectors/tools", object{"tools": "all"})
	call := c.must(http.StatusCreated, http.MethodPost, "/api/v1/agents/helper/tool_calls", object{"tool": "mcp_tools__create_issue", "arguments": object{"title": "A title"}})
	if call["status"] != "pending_approval" {
		t.Fatalf("the call does not wait: %v", call)
	}
	s.kill()

	there := startReceiver(t, port, made["secret"].(string))
	s = h.serve()
	c.base = s.base
	arrived := ""
	for range 3 { // a try whose end the killed process did not write down counts as lost after a minute or two
		var ok bool
		if arrived, ok = there.stdout.wait("approval.waiting", there.exited); ok {
			break
		}
	}
	if !strings.Contains(arrived, "verified msg_") || !strings.Contains(arrived, "Helper asks to call create_issue") {
		t.Errorf("received: %s", arrived)
	}
	rotated := c.must(http.StatusOK, http.MethodPost, hook+"/rotate_secret", nil)
	tested := c.must(http.StatusOK, http.MethodPost, hook+"/test", nil)
	if tested["state"] != "delivered" || !strings.Contains(there.line("webhook.test"), fmt.Sprint(tested["message_id"])) {
		t.Errorf("by the old secret: %v", tested)
	}
	there.kill()
	there = startReceiver(t, port, rotated["secret"].(string))
	c.must(http.StatusOK, http.MethodPost, hook+"/test", nil)
	there.line("verified")
}
