package agents

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"patchbay/internal/i18n"
	"patchbay/internal/store"
	"patchbay/web/templates"
)

const (
	// tokenPlaceholder replaces the token in examples.
	tokenPlaceholder = "pb_agent_…"
	// maxAddresses bounds the connector addresses that a page names.
	maxAddresses = 20
)

// gatewayAddresses are the gateway's address for all tools, and one per connector.
func gatewayAddresses(ctx context.Context, base string, granted []store.GrantedConnector) []templates.Fact {
	facts := []templates.Fact{{Label: i18n.T(ctx, "All tools"), Value: base + "/mcp", Mono: true, Copy: true}}
	for _, g := range granted {
		facts = append(facts, templates.Fact{Label: g.Name, Value: base + "/mcp/" + g.Slug, Mono: true, Copy: true})
	}
	return facts
}

// clientSnippets are configurations for common MCP clients.
func clientSnippets(ctx context.Context, address, token string) []templates.Snippet {
	bearer := "Bearer " + token
	type object = map[string]any
	remote := object{"type": "http", "url": address, "headers": object{"Authorization": bearer}}
	return []templates.Snippet{
		{
			Client: "Claude Code", Where: i18n.T(ctx, "Run in a terminal."), Open: true,
			Text: fmt.Sprintf(`claude mcp add --transport http patchbay %s --header "Authorization: %s"`, address, bearer),
		},
		{
			Client: "Claude Desktop", Where: i18n.T(ctx, "Add to claude_desktop_config.json (Settings, Developer, Edit config). Requires Node.js for mcp-remote."),
			Text: encodeSnippet(object{"mcpServers": object{"patchbay": object{
				"command": "npx", "args": []string{"-y", "mcp-remote", address, "--header", "Authorization:${AUTHORIZATION}"},
				"env": object{"AUTHORIZATION": bearer},
			}}}),
		},
		{
			Client: "Cursor", Where: i18n.T(ctx, "Add to ~/.cursor/mcp.json, or a project's .cursor/mcp.json."),
			Text: encodeSnippet(object{"mcpServers": object{"patchbay": object{"url": address, "headers": object{"Authorization": bearer}}}}),
		},
		{
			Client: "VS Code", Where: i18n.T(ctx, "Add to .vscode/mcp.json, or the file from “MCP: Open User Configuration”."),
			Text: encodeSnippet(object{"servers": object{"patchbay": remote}}),
		},
		{
			Client: i18n.T(ctx, "Other clients"), Where: i18n.T(ctx, "Most read an mcpServers object. Transport: Streamable HTTP."),
			Text: encodeSnippet(object{"mcpServers": object{"patchbay": remote}}),
		},
	}
}

// encodeSnippet encodes a document as indented JSON.
func encodeSnippet(document any) string {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	_ = e.Encode(document) // cannot fail: the document holds strings only
	return out.String()
}
