package gateway_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"patchbay/internal/connectors"
)

// TestCall_EmptyMemberKeepsQuota sends raw calls, because the SDK omits empty members.
func TestCall_EmptyMemberKeepsQuota(t *testing.T) {
	t.Parallel()
	for _, member := range []string{`"inputResponses":{}`, `"inputResponses":null`, `"requestState":null`, `"inputResponses":null,"requestState":null`} {
		t.Run(member, func(t *testing.T) {
			t.Parallel()
			b := newTestEnv(t)
			agent := b.newAutoAgent(t)
			up := newUpstream(t, sdk.StreamableHTTPOptions{Stateless: true})
			up.AddTool(&sdk.Tool{Name: "a", InputSchema: json.RawMessage(`{"type":"object"}`)},
				func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
					return &sdk.CallToolResult{}, nil
				})
			b.Grant(t, agent.ID, b.newConnector(t, "one", up.url).ID)
			if err := b.Door().Calls().SetQuota(t.Context(), connectors.Quota{PerDay: 1}); err != nil {
				t.Fatal(err)
			}
			token := bearerHeader(b.Token(t, agent.ID))
			message := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{},` + member + `,` + modernMeta + `}}`
			first := post(t, b.url+"/mcp/one", message, "Authorization", token)
			if first.status != 200 || strings.Contains(first.body, `"isError":true`) || strings.Contains(first.body, `"error":`) {
				t.Fatalf("%d %s", first.status, first.body)
			}
			if second := post(t, b.url+"/mcp/one", message, "Authorization", token); !strings.Contains(second.body, `"quota_exceeded"`) {
				t.Errorf("%d %s", second.status, second.body)
			}
		})
	}
}
