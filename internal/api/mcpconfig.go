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
	Servers     map[string]mcpServerJSON   `json:"servers,omitempty" doc:"Of vscode, which reads the servers under this name."`
	Inputs      []mcpInputJSON             `json:"inputs,omitempty" nullable:"false" doc:"Of vscode: what it asks for before it connects."`
	Unavailable map[string]unavailableJSON `json:"unavailable,omitzero" doc:"With direct: the connectors without a usable credential, by their slugs."`
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
	ConnectURL *string `json:"connect_url" doc:"A page on which a person connects the account; null where that does not help."`
}

type mcpConfigInput struct {
	AgentPath
	Client string `query:"client" enum:"generic,claude,cursor,vscode" default:"generic" doc:"Whose way of writing it."`
	Direct bool   `query:"direct" default:"false" doc:"true: the servers themselves with the agent's credentials, not the gateway. It needs the role admin, and is audited."`
}

const aboutMCPConfig = `Without direct the file points at the gateway, and the agent's token stays out of it: it is read from the environment
variable PATCHBAY_AGENT_TOKEN, or asked for. With direct it holds the agent's opened credentials, so that the client goes to the
servers itself, past every approval and the history of the gateway: all enabled connectors that the agent was granted, with all of their
tools. Those without a usable credential stand in unavailable; so does, with the code timeout, what is not ready within 20 seconds.`

func (h *Handler) mountMCPConfig() {
	registerOperation(h, operation{
		method: http.MethodGet, path: "/api/v1/agents/{id}/mcp_config", id: "getMCPConfig", tag: "Agents",
		summary: "Read the file with which an MCP client connects", description: aboutMCPConfig, permission: connectors.PermRead,
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
