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
	Tools []json.RawMessage `json:"tools" nullable:"false" doc:"As the provider's request takes them, named as agents see them."`
}

type agentToolsInput struct {
	AgentPath
	Format string `query:"format" enum:"mcp,openai,anthropic,google" default:"mcp" doc:"Whose way of writing them."`
}

const aboutAgentTools = `The tools that the agent was granted, ready for a request to a model, ordered by the connector's slug and their own name: what is there,
enabled and accepted, of the enabled connectors among those that it was granted. A tool that changed comes as it was last accepted.
With mcp each is the definition that its server sent, renamed. For the others its schema is mended where the provider is known to refuse it, and what the
server says in annotations stands in the description. For google all of them are one element, and a schema becomes part of the OpenAPI dialect that Gemini takes.
Where the definitions of all of them have more than 32 MiB, the answer is 409.
A few such answers are made at once; where others are waited for too long, it is 503 with Retry-After.`

// maxAgentToolsResponses bounds the responses in memory. Each may have 32 MiB of definitions, and as much again
// as text.
const maxAgentToolsResponses = 4

func (h *Handler) mountAgentTools() {
	registerOperation(h, operation{
		method: http.MethodGet, path: "/api/v1/agents/{id}/tools", id: "listAgentTools", tag: "Agents",
		summary: "Read an agent's tools in a model provider's words", description: aboutAgentTools, permission: connectors.PermRead,
		gate: newResponseGate(maxAgentToolsResponses),
	}, h.agentTools)
}

func (h *Handler) agentTools(ctx context.Context, actor auth.Actor, in *agentToolsInput) (*response[agentToolsJSON], error) {
	view, err := h.access.LoadUncached(ctx, actor.Tenant.ID, in.ref())
	if err != nil {
		return nil, err
	}
	tools := make([]toolfmt.Tool, len(view.Tools))
	for i, t := range view.Tools {
		tools[i] = t.ForModels()
	}
	return &response[agentToolsJSON]{Body: agentToolsJSON{Tools: toolfmt.Definitions(toolfmt.Format(in.Format), tools)}}, nil
}
