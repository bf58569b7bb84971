package api

import (
	"context"
	"encoding/json"
	"net/http"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/mcp/toolfmt"
)

// agentToolsJSON is the tools parameter of a request to a model's provider.
type agentToolsJSON struct {
	Tools []json.RawMessage `json:"tools" nullable:"false" doc:"In the provider's format, under exposed names."`
}

type agentToolsInput struct {
	AgentPath
	Format string `query:"format" enum:"mcp,openai,anthropic,google" default:"mcp" doc:"The provider's format."`
}

const aboutAgentTools = `The enabled and accepted tools of the agent's enabled connectors, ready for a model request, by connector slug and tool name. A changed tool has its accepted
definition. mcp returns the server's definitions, renamed. Other formats adapt schemas to what the provider accepts, and add annotations to the description;
google puts all tools in one element, with schemas in Gemini's OpenAPI subset. 409 if all definitions exceed 32 MiB.
Concurrent requests are limited: 503 with Retry-After.`

// maxAgentToolsResponses bounds the responses in memory. Each may have 32 MiB of definitions, and as much again
// as text.
const maxAgentToolsResponses = 4

func (h *Handler) mountAgentTools() {
	registerOperation(h, operation{
		method: http.MethodGet, path: "/api/v1/agents/{id}/tools", id: "listAgentTools", tag: "Agents",
		summary: "Get an agent's tools in a model provider's format", description: aboutAgentTools, permission: connectors.PermRead,
		gate: newResponseGate(maxAgentToolsResponses),
	}, h.agentTools)
}

func (h *Handler) agentTools(ctx context.Context, actor auth.Actor, in *agentToolsInput) (*response[agentToolsJSON], error) {
	view, err := h.access.LoadUncached(ctx, actor.Tenant.ID, in.ref())
	if err != nil {
		return nil, err
	}
	tools := make([]toolfmt.Tool, 0, len(view.Tools))
	for _, t := range view.Tools {
		if !t.AppsOnly() || toolfmt.Format(in.Format) == toolfmt.MCP { // clients of MCP keep such tools from models by themselves
			tools = append(tools, t.ForModels())
		}
	}
	return &response[agentToolsJSON]{Body: agentToolsJSON{Tools: toolfmt.Definitions(toolfmt.Format(in.Format), tools)}}, nil
}
