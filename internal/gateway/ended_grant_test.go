package gateway_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"patchbay/internal/connectors"
)

// After the end of a grant the address of its connector is gone, its instructions are not served, and its log messages do not
// arrive.
func TestEndedGrant_LeavesNothing(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	agent := b.newAutoAgent(t)
	server := newStreamAsker(t)
	c := b.newConnector(t, "one", server.url, inOwnSession)
	b.Grant(t, agent.ID, c.ID)
	header := bearerHeader(b.Token(t, agent.ID))
	client := newAskingClient(t, b.testProcess, "/mcp", header, "{}")
	client.setLevel(b.testProcess, "info")
	messages := client.listen(b.testProcess)
	b.testProcess.listening(t, 1)
	client.callTool(b.testProcess, "mcp_one__greet")
	past := time.Now().Add(-time.Hour)
	b.Grant(t, agent.ID, c.ID, func(g *connectors.Grant) { g.Ends = &connectors.GrantEnds{Until: &past} })
	const initialize = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	open := func(path string) answer {
		return request(t, http.MethodPost, b.url+path, initialize,
			"Content-Type", "application/json", "Accept", "application/json, text/event-stream", "Authorization", header)
	}
	eventually(t, "the connector's address is gone", func() bool { return open("/mcp/one").status == http.StatusNotFound })
	if got := open("/mcp"); got.status != http.StatusOK || strings.Contains(got.body, "mcp_one__") {
		t.Errorf("status %d: %s", got.status, got.body)
	}
	server.send(logMessage("error", "after the end"))
	other := b.newConnector(t, "two", newStreamAsker(t).url, inOwnSession)
	b.Grant(t, agent.ID, other.ID) // a change of the lists, which comes after the message if there is one
	for {
		var message serverMessage
		select {
		case message = <-messages:
		case <-time.After(patience):
			t.Fatal("no notification of changed lists came")
		}
		if strings.Contains(string(message.Params), "after the end") {
			t.Fatalf("a message of the ended connector: %s", message.Params)
		}
		if strings.Contains(message.Method, "list_changed") {
			return
		}
	}
}
