//nolint:staticcheck // logging is deprecated, and works all the same
package gateway_test

import (
	"context"
	"encoding/json"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

func TestLogMessages_FollowRequestedLevel(t *testing.T) {
	t.Parallel()
	for name, options := range map[string]sdk.StreamableHTTPOptions{"of a handshake server": {}, "of a modern server": {Stateless: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newTestEnv(t)
			agent := b.newAutoAgent(t)
			up := newUpstream(t, options)
			up.AddTool(&sdk.Tool{Name: "talk", InputSchema: json.RawMessage(`{"type":"object"}`)},
				func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
					for _, level := range []sdk.LoggingLevel{"debug", "info", "error"} {
						if err := r.Session.Log(ctx, &sdk.LoggingMessageParams{Level: level, Data: "said"}); err != nil {
							return nil, err
						}
					}
					return &sdk.CallToolResult{}, nil
				})
			b.Grant(t, agent.ID, b.newConnector(t, "one", up.url).ID)
			heard := make(chan sdk.LoggingLevel, 10)
			s := connect(t, b.url+"/mcp/one", b.Token(t, agent.ID), legacy, func(o *sdk.ClientOptions) {
				o.LoggingMessageHandler = func(_ context.Context, r *sdk.LoggingMessageRequest) { heard <- r.Params.Level }
			})
			if err := s.SetLoggingLevel(t.Context(), &sdk.SetLoggingLevelParams{Level: "info"}); err != nil {
				t.Fatal(err)
			}
			call(t, s, "talk", map[string]any{})
			for _, want := range []sdk.LoggingLevel{"info", "error"} {
				if got := <-heard; got != want {
					t.Errorf("heard %s, want %s", got, want)
				}
			}
		})
	}
}
