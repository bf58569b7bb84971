package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"patchbay/internal/mcp"
)

// The SDK's server is an independent implementation of the protocol.
func TestSDKServer_ToolsAreListed(t *testing.T) {
	t.Parallel()
	for _, options := range []sdk.StreamableHTTPOptions{
		{}, {JSONResponse: true}, {Stateless: true}, {Stateless: true, JSONResponse: true},
	} {
		t.Run(fmt.Sprintf("stateless %v json %v", options.Stateless, options.JSONResponse), func(t *testing.T) {
			t.Parallel()
			server, want := sdkServer(120)
			up := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, &options))
			t.Cleanup(up.Close)
			info, list, err := newClient(t).sync(t, mcp.Target{URL: up.URL})
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]any{}
			for _, tool := range list.Tools {
				got[tool.Name] = decodeAny(t, tool.Raw)
			}
			if diff := cmp.Diff(want, got); diff != "" || len(list.Quarantined) != 0 {
				t.Errorf("tools (-want +got):\n%s", diff)
			}
			wantInfo := mcp.ServerInfo{Name: "peer", Version: "v1", Title: "A peer", ProtocolVersion: "2025-11-25", Instructions: "Be kind."}
			if diff := cmp.Diff(wantInfo, info); diff != "" {
				t.Errorf("info (-want +got):\n%s", diff)
			}
			if list.Pages != 3 {
				t.Errorf("%d pages, want 3", list.Pages)
			}
		})
	}
}

func sdkServer(tools int) (server *sdk.Server, want map[string]any) {
	server = sdk.NewServer(&sdk.Implementation{Name: "peer", Version: "v1", Title: "A peer"},
		&sdk.ServerOptions{Instructions: "Be kind.", PageSize: 50})
	want = map[string]any{}
	for i := range tools {
		name := fmt.Sprintf("tool_%d", i)
		schema := map[string]any{"type": "object", "properties": map[string]any{"q": map[string]any{"type": "string"}}}
		server.AddTool(&sdk.Tool{Name: name, Description: "Finds.", InputSchema: schema},
			func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
				return &sdk.CallToolResult{}, nil
			})
		want[name] = map[string]any{"name": name, "description": "Finds.", "inputSchema": schema}
	}
	return server, want
}

func decodeAny(t *testing.T, raw json.RawMessage) any {
	t.Helper()
	var value any
	if err := json.Unmarshal(raw, &value); err != nil {
		t.Fatal(err)
	}
	return value
}
