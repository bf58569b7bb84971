package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"patchbay/conformance/patchbay"
)

// gatewayAgent is a client of the official Go SDK at the gateway.
type gatewayAgent struct {
	session *mcp.ClientSession
	context []byte // MCP_CONFORMANCE_CONTEXT
	tools   []*mcp.Tool
}

// refusedCall is a call that Patchbay refused, with the text for the model.
type refusedCall struct {
	tool string
	text string
	code string // Patchbay's error code; empty: the tool's own error
}

// Error returns the text for the model.
func (r *refusedCall) Error() string { return "call " + r.tool + ": " + r.text }

// connectAgent opens a session and lists the tools. revision is the newest MCP revision to offer; empty: all.
func connectAgent(ctx context.Context, endpoint patchbay.Endpoint, revision string) (*gatewayAgent, error) {
	client := mcp.NewClient(&mcp.Implementation{Name: "conformance", Version: "1"}, &mcp.ClientOptions{
		Capabilities:       &mcp.ClientCapabilities{},
		ElicitationHandler: acceptElicitation,
	})
	transport := &mcp.StreamableClientTransport{Endpoint: endpoint.URL, HTTPClient: &http.Client{Transport: endpoint}, DisableStandaloneSSE: true}
	session, err := client.Connect(ctx, transport, &mcp.ClientSessionOptions{ProtocolVersion: revision})
	if err != nil {
		return nil, fmt.Errorf("connect to the gateway: %w", err)
	}
	a := &gatewayAgent{session: session}
	for tool, err := range session.Tools(ctx, nil) {
		if err != nil {
			return nil, fmt.Errorf("list the tools: %w", err)
		}
		a.tools = append(a.tools, tool)
	}
	return a, nil
}

func (a *gatewayAgent) callTool(ctx context.Context, name string, arguments json.RawMessage) error {
	result, err := a.session.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: arguments})
	if err != nil {
		return fmt.Errorf("call %s: %w", name, err)
	}
	if !result.IsError {
		return nil
	}
	refused := &refusedCall{tool: name}
	for _, c := range result.Content {
		if text, ok := c.(*mcp.TextContent); ok {
			refused.text += text.Text
		}
	}
	if reason, ok := result.Meta["patchbay/reason"].(map[string]any); ok {
		refused.code, _ = reason["code"].(string)
	}
	return refused
}
