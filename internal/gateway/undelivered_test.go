package gateway_test

import (
	"fmt"
	"io"
	"net"
	"strings"
	"testing"

	"patchbay/internal/mcp/mcptest"
	"patchbay/internal/store"
)

func TestCallLog_RecordsUndeliveredResponse(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	agent := b.newAutoAgent(t)
	long := `{"content":[{"type":"text","text":"` + strings.Repeat("x", 7<<20) + `"}]}`
	url := newScriptedServer(t, mcptest.Answer("application/json", func(c mcptest.Call) string { return mcptest.Result(c, long) }))
	b.Grant(t, agent.ID, b.newConnector(t, "one", url).ID)

	conn, err := net.Dial("tcp", strings.TrimPrefix(b.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	const message = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"mcp_one__a","arguments":{"n":3},` + modernMeta + `}}`
	_, _ = fmt.Fprintf(conn, "POST /mcp HTTP/1.1\r\nHost: x\r\nAuthorization: %s\r\nContent-Type: application/json\r\nMcp-Protocol-Version: %s\r\n"+
		"Mcp-Method: tools/call\r\nMcp-Name: mcp_one__a\r\nContent-Length: %d\r\n\r\n%s", bearerHeader(b.Token(t, agent.ID)), modern, len(message), message)
	if head, err := io.ReadAll(io.LimitReader(conn, 100)); err != nil || !strings.HasPrefix(string(head), "HTTP/1.1 200 ") {
		t.Fatalf("%s, %v", head, err)
	}
	_ = conn.Close() // with the rest unread

	eventually(t, "the history says so", func() bool {
		calls, err := b.Door().Calls().List(t.Context(), store.CallFilter{})
		return err == nil && len(calls.Items) == 1 && calls.Items[0].Undelivered() && calls.Items[0].Status == "success"
	})
}
