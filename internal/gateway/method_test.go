package gateway_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/mcp/mcptest"
	"patchbay/internal/secret"
	"patchbay/internal/store"
	"patchbay/internal/testing/testclient"
)

// rawMessage posts one message of an era, and returns the status and the response.
func rawMessage(t *testing.T, address string, token secret.Text, e era, method string, isRequest bool) (int, map[string]any) {
	t.Helper()
	message := map[string]any{"jsonrpc": "2.0", "method": method, "params": map[string]any{"q": "x"}}
	if isRequest {
		message["id"] = 7
	}
	if e == modern {
		message["params"] = map[string]any{"q": "x", "_meta": map[string]any{
			"io.modelcontextprotocol/protocolVersion": string(modern), "io.modelcontextprotocol/clientCapabilities": map[string]any{},
		}}
	}
	body, err := json.Marshal(message)
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address, strings.NewReader(string(body)))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Mcp-Protocol-Version": string(e), "Mcp-Method": method,
		"Authorization": "Bearer " + token.Reveal(),
	} {
		r.Header.Set(name, value)
	}
	resp, err := testclient.New(t).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	var reply map[string]any
	_ = json.NewDecoder(resp.Body).Decode(&reply)
	return resp.StatusCode, reply
}

func TestMethod_AllowedOnesAreRelayedInBothEras(t *testing.T) {
	t.Parallel()
	for _, upstreamIsModern := range []bool{false, true} {
		b := newTestEnv(t)
		agent := b.newAutoAgent(t)
		up := mcptest.Start(t, mcptest.Script{Modern: upstreamIsModern, Tools: []string{mcptest.Tool("a")}, On: map[string]mcptest.Handler{
			"acme/search": mcptest.Answer("application/json", func(c mcptest.Call) string { return mcptest.Result(c, `{"hits":3,"n":9007199254740993}`) }),
			"acme/fail":   mcptest.Answer("application/json", func(c mcptest.Call) string { return mcptest.Failure(c, -32050, "no such index") }),
		}})
		c := b.newConnector(t, "one", up.URL, func(d *connectors.Draft) { d.Methods = []string{"acme/*", "notifications/acme/done"} })
		b.Grant(t, agent.ID, c.ID)
		token := b.Token(t, agent.ID)
		for _, e := range eras {
			status, reply := rawMessage(t, b.url+"/mcp/one", token, e, "acme/search", true)
			if result, _ := reply["result"].(map[string]any); status != http.StatusOK || result["hits"] != 3.0 {
				t.Errorf("%s: %d %v", e, status, reply)
			}
			_, reply = rawMessage(t, b.url+"/mcp/one", token, e, "acme/fail", true)
			if failure, _ := reply["error"].(map[string]any); failure["code"] != -32050.0 || failure["message"] != "no such index" {
				t.Errorf("%s: %v", e, reply)
			}
			if status, _ = rawMessage(t, b.url+"/mcp/one", token, e, "notifications/acme/done", false); status != http.StatusAccepted {
				t.Errorf("%s: %d", e, status)
			}
			for address, methods := range map[string][]string{
				"/mcp/one": {"other/search", "acme", "acme/", "notifications/acme/done", "Tools/call"},
				"/mcp":     {"acme/search"},
			} {
				for _, method := range methods {
					_, reply = rawMessage(t, b.url+address, token, e, method, true)
					if failure, _ := reply["error"].(map[string]any); failure["code"] != -32601.0 {
						t.Errorf("%s %s %s: %v", e, address, method, reply)
					}
				}
			}
			for _, method := range []string{"notifications/other", "notifications/roots/list_changed"} {
				rawMessage(t, b.url+"/mcp/one", token, e, method, false)
			}
		}
		counts := map[string]int{}
		for _, call := range up.Calls() {
			counts[call.Method]++
			if call.Method == "notifications/acme/done" && call.ID != nil {
				t.Errorf("the notification has the id %s", call.ID)
			}
		}
		if counts["acme/search"] != 2 || counts["acme/fail"] != 2 || counts["notifications/acme/done"] != 2 || counts["notifications/other"]+counts["notifications/roots/list_changed"] != 0 {
			t.Errorf("the server got %v", counts)
		}
		b.history.Flush(t.Context())
		list, err := b.Door().Calls().List(t.Context(), store.CallFilter{})
		if err != nil || len(list.Items) != 6 {
			t.Fatalf("%d calls, error %v", len(list.Items), err)
		}
		for _, listed := range list.Items {
			call, err := b.Door().Calls().Get(t.Context(), listed.ID)
			if err != nil {
				t.Fatal(err)
			}
			if call.Kind != connectors.CallMethod || call.Tool != call.ExposedName || call.AgentID == nil || call.Tool == "acme/fail" && call.Upstream == nil {
				t.Errorf("%+v", call)
			}
		}
	}
}

func TestMethod_NeedsAGrantOfAllToolsWithoutApproval(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	up := mcptest.Start(t, mcptest.Script{Tools: []string{mcptest.Tool("a")}})
	c := b.newConnector(t, "one", up.URL, func(d *connectors.Draft) { d.Methods = []string{"acme/*"} })
	trusted := connectors.ApprovalTrustedOnly
	for name, tc := range map[string]struct {
		grant connectors.Grant
		says  string
	}{
		"named tools": {connectors.Grant{Tools: []string{"a"}}, "all tools"},
		"approval":    {connectors.Grant{AllTools: true, Approval: &trusted}, "can't wait for it"},
	} {
		agent := b.newAutoAgent(t)
		tc.grant.AgentID, tc.grant.ConnectorID = agent.ID, c.ID
		if err := b.Door().Agents().SetGrant(t.Context(), tc.grant); err != nil {
			t.Fatal(err)
		}
		_, reply := rawMessage(t, b.url+"/mcp/one", b.Token(t, agent.ID), modern, "acme/search", true)
		failure, _ := reply["error"].(map[string]any)
		sentence, _ := failure["message"].(string)
		data, _ := failure["data"].(map[string]any)
		reason, _ := data["patchbay/reason"].(map[string]any)
		if failure["code"] != -32000.0 || !strings.Contains(sentence, tc.says) || reason["code"] != "not_granted" {
			t.Errorf("%s: %v", name, reply)
		}
	}
	for _, method := range up.Methods() {
		if strings.HasPrefix(method, "acme/") {
			t.Error("the server got the request")
		}
	}
}
