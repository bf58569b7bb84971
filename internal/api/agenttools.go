package api

import (
	"context"
	"encoding/json"
	"net/http"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/mcp/toolfmt"
	"patchbay/internal/store"
)

// agentToolsJSON is what a request to a model's provider takes as its tools.
type agentToolsJSON struct {
	Tools []json.RawMessage `json:"tools" nullable:"false" doc:"As the provider's request takes them, named as agents see them."`
}

type agentToolsInput struct {
	AgentPath
	Format string `query:"format" enum:"mcp,openai,anthropic,google" default:"mcp" doc:"Whose way of writing them."`
}

const aboutAgentTools = `The tools that the agent may be given, ready for a request to a model, ordered by the connector's name and their own. Until agents are granted tools one by
one, every tool counts that is there, enabled and accepted, of every enabled connector; a tool that changed comes as it was last accepted.
With mcp each is the definition that its server sent, renamed. For the others its schema is mended where the provider is known to refuse it, and what the
server says in annotations stands in the description. For google all of them are one element, and a schema becomes part of the OpenAPI dialect that Gemini takes.
Where the definitions of all of them have more than 32 MiB, the answer is 409.
A few such answers are made at once; where others are waited for too long, it is 503 with Retry-After.`

// maxAgentTools is how many of these answers are in memory at once: each may hold 32 MiB of definitions, and as much again as text.
const maxAgentTools = 4

func (h *Handler) mountAgentTools() {
	register(h, operation{
		method: http.MethodGet, path: "/api/v1/agents/{id}/tools", id: "listAgentTools", tag: "Agents",
		summary: "Read an agent's tools in a model provider's words", about: aboutAgentTools, role: connectors.RoleViewer,
		gate: newGate(maxAgentTools),
	}, h.agentTools)
}

func (h *Handler) agentTools(ctx context.Context, who auth.Actor, in *agentToolsInput) (*answer[agentToolsJSON], error) {
	tenant := h.store.Tenant(who.Tenant.ID)
	if _, err := tenant.Agent(ctx, in.ref()); err != nil {
		return nil, err
	}
	served, err := tenant.ServedTools(ctx)
	if err != nil {
		return nil, err
	}
	return &answer[agentToolsJSON]{Body: agentToolsJSON{
		Tools: toolfmt.Definitions(toolfmt.Format(in.Format), toolsForModels(served)),
	}}, nil
}

// toolsForModels names the served tools as agents see them. Those of a connector stand together; one that is not served keeps its name
// from the others.
func toolsForModels(served []store.ServedTool) []toolfmt.Tool {
	tools := make([]toolfmt.Tool, 0, len(served))
	for len(served) > 0 {
		slug := served[0].ConnectorSlug
		var names []string
		for _, t := range served {
			if t.ConnectorSlug != slug {
				break
			}
			names = append(names, t.Name)
		}
		exposed := connectors.ExposedNames(slug, names)
		for _, t := range served[:len(names)] {
			if t.Raw != nil {
				tools = append(tools, toolForModels(exposed[t.Name], t.Raw))
			}
		}
		served = served[len(names):]
	}
	return tools
}

func toolForModels(name string, raw []byte) toolfmt.Tool {
	def := connectors.DecodeTool(raw)
	return toolfmt.Tool{
		Name:        name,
		Title:       def.DisplayTitle(),
		Description: def.Description,
		InputSchema: def.InputSchema,
		Annotations: def.Annotations,
		Definition:  raw,
	}
}
