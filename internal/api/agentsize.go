package api

import (
	"context"
	"net/http"

	"patchbay/internal/agentview"
	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/mcp/toolfmt"
)

// sizeJSON is the size of tools in a model's input.
type sizeJSON struct {
	Tools  int `json:"tools"`
	Bytes  int `json:"bytes" doc:"Size in the provider's format."`
	Tokens int `json:"tokens" doc:"Patchbay's estimate, not the provider's count."`
}

func viewSize(s agentview.Size) sizeJSON { return sizeJSON(s) }

// agentSizeJSON is the size of an agent's tools in a model's input.
type agentSizeJSON struct {
	Provider string `json:"provider" enum:"mcp,openai,anthropic,google"`
	sizeJSON
	MarginPercent int             `json:"margin_percent" doc:"Margin of error: measured for OpenAI, assumed for Anthropic and Google."`
	List          sizeJSON        `json:"list" doc:"The tool list at /mcp, full or lean: see tool_list of the agent."`
	Connectors    []connectorSize `json:"connectors" nullable:"false" doc:"By connector slug."`
}

// connectorSize is one connector's share.
type connectorSize struct {
	Connector string `json:"connector" doc:"The connector's slug."`
	sizeJSON
}

// Provider is the provider for the measured format.
type Provider struct {
	Provider string `query:"provider" enum:"mcp,openai,anthropic,google" default:"openai" doc:"The format. mcp: the definitions as servers sent them."`
}

func (p Provider) format() toolfmt.Format { return toolfmt.Format(p.Provider) }

type agentSizeInput struct {
	AgentPath
	Provider
}

const aboutAgentSize = `How much of each model request the agent's tools use, in the provider's format. Tokens are estimated by character classes, fitted to OpenAI's o200k_base;
other providers get a surcharge. What a provider itself adds for tools is not included.`

func (h *Handler) mountAgentSize() {
	registerOperation(h, operation{
		method: http.MethodGet, path: "/api/v1/agents/{id}/size", id: "getAgentSize", tag: "Agents",
		summary: "Get the size of an agent's tools in model requests", description: aboutAgentSize, permission: connectors.PermRead,
		gate: newResponseGate(maxAgentToolsResponses),
	}, h.agentSize)
}

func (h *Handler) agentSize(ctx context.Context, actor auth.Actor, in *agentSizeInput) (*response[agentSizeJSON], error) {
	view, err := h.access.LoadUncached(ctx, actor.Tenant.ID, in.ref())
	if err != nil {
		return nil, err
	}
	out := agentSizeJSON{
		Provider: in.Provider.Provider, sizeJSON: viewSize(view.Size(in.format())), List: viewSize(view.ListSize(in.format())), MarginPercent: toolfmt.Margin(in.format()),
		Connectors: []connectorSize{},
	}
	for _, connector := range view.Connectors {
		out.Connectors = append(out.Connectors, connectorSize{Connector: connector.Slug, sizeJSON: viewSize(connector.Size(in.format()))})
	}
	return &response[agentSizeJSON]{Body: out}, nil
}
