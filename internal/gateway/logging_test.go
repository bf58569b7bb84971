//nolint:staticcheck // logging is deprecated, and works all the same
package gateway_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"patchbay/internal/connectors"
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

// TestLogMessages_OfSharedStream: a server of HTTP+SSE sends all messages of a session on one stream, so that only those of a
// session of the agent's own reach it.
func TestLogMessages_OfSharedStream(t *testing.T) {
	t.Parallel()
	server := sdk.NewServer(&sdk.Implementation{Name: "peer", Version: "v1"}, nil)
	server.AddTool(&sdk.Tool{Name: "talk", InputSchema: json.RawMessage(`{"type":"object"}`)},
		func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			return &sdk.CallToolResult{}, r.Session.Log(ctx, &sdk.LoggingMessageParams{Level: "info", Data: "said"})
		})
	web := httptest.NewServer(sdk.NewSSEHandler(func(*http.Request) *sdk.Server { return server }, nil))
	closeAtEnd(t, web)
	for name, perAgent := range map[string]bool{"own": true, "shared": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newTestEnv(t)
			agent := b.newAutoAgent(t)
			b.Grant(t, agent.ID, b.newConnector(t, name, web.URL, func(d *connectors.Draft) {
				d.Transport, d.SessionPerAgent = connectors.TransportSSE, perAgent
			}).ID)
			heard := make(chan sdk.LoggingLevel, 10)
			s := connect(t, b.url+"/mcp/"+name, b.Token(t, agent.ID), legacy, func(o *sdk.ClientOptions) {
				o.LoggingMessageHandler = func(_ context.Context, r *sdk.LoggingMessageRequest) { heard <- r.Params.Level }
			})
			if err := s.SetLoggingLevel(t.Context(), &sdk.SetLoggingLevelParams{Level: "info"}); err != nil {
				t.Fatal(err)
			}
			call(t, s, "talk", map[string]any{})
			if perAgent {
				if got := <-heard; got != "info" {
					t.Errorf("heard %s", got)
				}
				return
			}
			select {
			case got := <-heard:
				t.Errorf("heard %s in a shared session", got)
			default:
			}
		})
	}
}

// TestLogMessages_LevelOfOtherProcess: a client sets the level at one process, and calls at another.
func TestLogMessages_LevelOfOtherProcess(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	other := newTestProcess(t, b.World)
	agent := b.newAutoAgent(t)
	up := newUpstream(t, sdk.StreamableHTTPOptions{})
	up.AddTool(&sdk.Tool{Name: "talk", InputSchema: json.RawMessage(`{"type":"object"}`)},
		func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			for _, level := range []sdk.LoggingLevel{"info", "error"} {
				if err := r.Session.Log(ctx, &sdk.LoggingMessageParams{Level: level, Data: "said"}); err != nil {
					return nil, err
				}
			}
			return &sdk.CallToolResult{}, nil
		})
	b.Grant(t, agent.ID, b.newConnector(t, "one", up.url).ID)
	s := newLegacySession(t, b.url+"/mcp/one", bearerHeader(b.Token(t, agent.ID)), "2025-11-25")
	s.result("logging/setLevel", `"level":"error"`)
	s.address = other.url + "/mcp/one"
	var got string
	eventually(t, "the other process knows the level", func() bool {
		got = s.send("tools/call", `"name":"talk","arguments":{}`).body
		return strings.Contains(got, "notifications/message")
	})
	if !strings.Contains(got, `"level":"error"`) || strings.Contains(got, `"level":"info"`) {
		t.Errorf("reply = %s", got)
	}
}
