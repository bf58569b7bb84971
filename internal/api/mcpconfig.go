package api

import (
	"context"
	"net/http"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
)

// mcpConfigJSON is a client's configuration file for MCP servers.
type mcpConfigJSON struct {
	MCPServers  map[string]mcpServerJSON   `json:"mcpServers"`
	Servers     map[string]mcpServerJSON   `json:"servers,omitempty" doc:"For vscode, instead of mcpServers."`
	Inputs      []mcpInputJSON             `json:"inputs,omitempty" nullable:"false" doc:"For vscode: values to ask for before connecting."`
	Unavailable map[string]unavailableJSON `json:"unavailable,omitzero" doc:"With direct: connectors without a usable credential, by slug."`
}

type mcpServerJSON struct {
	Type    string            `json:"type" enum:"http"`
	URL     string            `json:"url"`
	Headers map[string]string `json:"headers"`
}

type mcpInputJSON struct {
	Type        string `json:"type"`
	ID          string `json:"id"`
	Description string `json:"description"`
	Password    bool   `json:"password"`
}

// unavailableJSON says why a connector cannot be used, and where to repair it.
type unavailableJSON struct {
	Code       string  `json:"code"`
	Message    string  `json:"message"`
	ConnectURL *string `json:"connect_url" doc:"The page where a person connects the account. Null if that does not help."`
}

type mcpConfigInput struct {
	AgentPath
	Client string `query:"client" enum:"generic,claude,cursor,vscode" default:"generic" doc:"The client's file format."`
	Direct bool   `query:"direct" default:"false" doc:"true: connect to the servers with the agent's credentials, bypassing the gateway. Requires admin, and is audited."`
}

const aboutMCPConfig = `By default the file points at the gateway, without the agent's token: clients read it from PATCHBAY_AGENT_TOKEN or ask for it.
With direct it contains the agent's credentials in plain text, so that the client connects to all granted and enabled connectors itself, with all
their tools, bypassing approvals and the call history. unavailable lists connectors without a usable credential, and with code timeout those not ready within 20 seconds.`

func (h *Handler) mountMCPConfig() {
	registerOperation(h, operation{
		method: http.MethodGet, path: "/api/v1/agents/{id}/mcp_config", id: "getMCPConfig", tag: "Agents",
		summary: "Get the configuration file for an MCP client", description: aboutMCPConfig, permission: connectors.PermRead,
	}, h.mcpConfig)
}

func (h *Handler) mcpConfig(ctx context.Context, actor auth.Actor, in *mcpConfigInput) (*response[mcpConfigJSON], error) {
	if in.Direct {
		return h.directConfig(ctx, actor, in)
	}
	if _, err := h.store.Tenant(actor.Tenant.ID).Agents().Get(ctx, in.ref()); err != nil {
		return nil, err
	}
	token, inputs := tokenReference(in.Client)
	out := mcpConfigJSON{Inputs: inputs}
	out.setServers(in.Client, map[string]mcpServerJSON{"patchbay": {
		Type: "http", URL: h.baseURL + "/mcp", Headers: map[string]string{"Authorization": "Bearer " + token},
	}})
	return &response[mcpConfigJSON]{Body: out}, nil
}

func (m *mcpConfigJSON) setServers(client string, servers map[string]mcpServerJSON) {
	m.MCPServers = servers
	if client == "vscode" {
		m.Servers = servers
	}
}

// tokenReference is the placeholder for the agent's token in a client's file, and the inputs that the client
// asks for.
func tokenReference(client string) (string, []mcpInputJSON) {
	const variable, input = "PATCHBAY_AGENT_TOKEN", "patchbay-agent-token"
	switch client {
	case "cursor":
		return "${env:" + variable + "}", nil
	case "vscode":
		return "${input:" + input + "}", []mcpInputJSON{{
			Type: "promptString", ID: input, Description: "The agent's token for Patchbay (pb_agent_…)", Password: true,
		}}
	default:
		return "${" + variable + "}", nil
	}
}
