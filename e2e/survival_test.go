//go:build e2e

package e2e_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

func TestApproval_WaitingCallSurvivesRestart(t *testing.T) {
	t.Parallel()
	h, up := newHome(t), newSlow(t)
	server := h.serve()
	c := client{t: t, base: server.base, key: h.run("apikey", "create", "--tenant", "default", "--role", "admin", "--name", "test")}
	c.must(http.StatusCreated, http.MethodPost, "/api/v1/connectors", object{"name": "Slow", "url": up.url})
	c.must(http.StatusOK, http.MethodPost, "/connectors/slow/sync_tools", nil)
	c.hire("helper", "slow")
	c.must(http.StatusOK, http.MethodPatch, "/api/v1/agents/helper", object{"approval": "always_ask"})
	call := c.must(http.StatusCreated, http.MethodPost, "/api/v1/agents/helper/tool_calls", object{"tool": "mcp_slow__wait", "arguments": object{}})
	if call["status"] != "pending_approval" {
		t.Fatalf("call = %v", call)
	}
	server.kill()

	server = h.serve()
	c.base = server.base
	path := fmt.Sprintf("/api/v1/tool_calls/%v", call["id"])
	c.must(http.StatusOK, http.MethodPost, path+"/approve", nil)
	<-up.came
	close(up.release)
	eventually(t, func() error {
		if got := c.must(http.StatusOK, http.MethodGet, path, nil); got["status"] != "success" {
			return fmt.Errorf("call = %v", got)
		}
		return nil
	})
	c.must(http.StatusConflict, http.MethodPost, path+"/approve", nil)
	select {
	case <-up.came:
		t.Error("it was made twice")
	default:
	}
}

func TestACallThatTakesTooLongIsCancelledAtItsServer(t *testing.T) {
	t.Parallel()
	boxes := map[string]*toolbox{
		"modern":  newToolbox(t, &sdk.StreamableHTTPOptions{Stateless: true}),
		"session": newToolbox(t, &sdk.StreamableHTTPOptions{}),
	}
	c := admin(t)
	c.admit(boxes)
	for slug, box := range boxes {
		c.must(http.StatusOK, http.MethodPatch, "/api/v1/connectors/"+slug, object{"timeout_ms": 1000})
		call := c.must(http.StatusCreated, http.MethodPost, "/api/v1/agents/robin/tool_calls", object{"tool": "mcp_" + slug + "__wait", "arguments": object{}})
		if call["outcome"] != "transport" || !strings.Contains(fmt.Sprint(call["error"]), "didn't respond within 1 second") {
			t.Errorf("%s: call = %v", slug, call)
		}
		select {
		case <-box.cancelled:
		case <-time.After(30 * time.Second):
			t.Errorf("%s: the server does not hear of it", slug)
		}
	}
}

func TestHistory_FinishedCallsSurviveKill(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	server := h.serve()
	c := client{t: t, base: server.base, key: h.run("apikey", "create", "--tenant", "default", "--role", "admin", "--name", "test")}
	up := newSlow(t)
	c.must(http.StatusCreated, http.MethodPost, "/api/v1/connectors", object{"name": "Slow", "url": up.url})
	c.must(http.StatusOK, http.MethodPost, "/connectors/slow/sync_tools", nil)
	a := c.hire("helper", "slow")
	message, header := modern("tools/call", `"name":"mcp_slow__quick","arguments":{}`)
	const calls = 200
	for range calls {
		if _, _, r := a.send("/mcp", message, header...); r.Error != nil {
			t.Fatalf("%+v", r.Error)
		}
	}
	c.wantCalls("helper", map[string]int{"success": calls})
	server.kill()
	c.base = h.serve().base
	c.wantCalls("helper", map[string]int{"success": calls})
}
