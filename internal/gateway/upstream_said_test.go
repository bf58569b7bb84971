package gateway_test

import (
	"fmt"
	"net/http"
	"regexp"
	"testing"

	"patchbay/internal/mcp/mcptest"
)

var callIDs = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}`)

// What a server said of a failure is for admins. Agents get the same bytes as without it.
func TestCall_FailureOfTheServerIsToldAsBefore(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	agent := b.newAutoAgent(t)
	token := bearerHeader(b.Token(t, agent.ID))
	for name, tc := range map[string]struct {
		answer mcptest.Handler
		want   string
	}{
		"rpc": {mcptest.Answer("application/json", func(c mcptest.Call) string {
			return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32050,"message":"its own words","data":{ "x" : 1 }}}`, c.ID)
		}), `{"jsonrpc":"2.0","id":1,"error":{"code":-32050,"message":"its own words","data":{ "x" : 1 }}}`},
		"page": {mcptest.Status(http.StatusBadGateway, "<h1>secret words</h1>"), `{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","content":[{"type":"text","text":"\"page\" answered with HTTP 502, a problem on its side. Try again later."}],"isError":true,"_meta":{"patchbay/reason":{"code":"upstream","call_id":"CALL"}}}}`},
	} {
		b.Grant(t, agent.ID, b.newConnector(t, name, newScriptedServer(t, tc.answer)).ID)
		var got answer
		eventually(t, "the grant reaches the agent's view", func() bool {
			got = callRaw(t, b.url+"/mcp/"+name, token, "a", `{"n":3}`)
			return got.status != http.StatusNotFound
		})
		if body := callIDs.ReplaceAllString(got.body, "CALL"); body != tc.want {
			t.Errorf("%s: %s", name, body)
		}
	}
}
