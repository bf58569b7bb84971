package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"patchbay/conformance/patchbay"
)

// agent is a program at the gateway, in the words of somebody else's SDK.
type agent struct {
	session *mcp.ClientSession
	given   []byte // MCP_CONFORMANCE_CONTEXT
	tools   []*mcp.Tool
}

// refusal is a call that Patchbay refused, and what the model reads of it.
type refusal struct {
	tool string
	text string
	code string // Patchbay's; empty: the tool says so itself
}

// Error is what the model reads.
func (r *refusal) Error() string { return "call " + r.tool + ": " + r.text }

// enter opens a session at the door and lists the tools, as every agent does. revision: the newest that it speaks; empty: all.
func enter(ctx context.Context, door patchbay.Door, revision string) (*agent, error) {
	client := mcp.NewClient(&mcp.Implementation{Name: "conformance", Version: "1"}, &mcp.ClientOptions{
		Capabilities:       &mcp.ClientCapabilities{},
		ElicitationHandler: agree,
	})
	way := &mcp.StreamableClientTransport{Endpoint: door.URL, HTTPClient: &http.Client{Transport: door}, DisableStandaloneSSE: true}
	session, err := client.Connect(ctx, way, &mcp.ClientSessionOptions{ProtocolVersion: revision})
	if err != nil {
		return nil, fmt.Errorf("connect to the gateway: %w", err)
	}
	a := &agent{session: session}
	for tool, err := range session.Tools(ctx, nil) {
		if err != nil {
			return nil, fmt.Errorf("list the tools: %w", err)
		}
		a.tools = append(a.tools, tool)
	}
	return a, nil
}

func (a *agent) call(ctx context.Context, name string, arguments json.RawMessage) error {
	result, err := a.session.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: arguments})
	if err != nil {
		return fmt.Errorf("call %s: %w", name, err)
	}
	if !result.IsError {
		return nil
	}
	refused := &refusal{tool: name}
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
