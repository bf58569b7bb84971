package api

import (
	"context"
	"net/http"

	"patchbay/internal/agentview"
	"patchbay/internal/auth"
	"patchbay/internal/connectors"
)

// AgentItemUse is what each prompt or resource of an agent has.
type AgentItemUse struct {
	Connector string `json:"connector" doc:"The connector's slug."`
	Usable    bool   `json:"usable" doc:"False if the agent is disabled."`
}

// agentPromptJSON is a prompt that an agent sees.
type agentPromptJSON struct {
	Name       string               `json:"name" doc:"The name at the gateway's address."`
	ServerName string               `json:"server_name" doc:"The server's name, also used at the connector's own address."`
	Title      string               `json:"title"`
	Arguments  []promptArgumentJSON `json:"arguments" nullable:"false"`
	AgentItemUse
}

// agentResourceJSON is a resource that an agent sees.
type agentResourceJSON struct {
	URI       string `json:"uri" doc:"The URI at the gateway's address."`
	ServerURI string `json:"server_uri" doc:"The server's URI, also used at the connector's own address."`
	Name      string `json:"name"`
	Title     string `json:"title"`
	MIMEType  string `json:"mime_type" doc:"Empty if not stated."`
	AgentItemUse
}

// agentTemplateJSON is a resource template that an agent sees.
type agentTemplateJSON struct {
	URITemplate       string `json:"uri_template" doc:"The template at the gateway's address."`
	ServerURITemplate string `json:"server_uri_template" doc:"The server's template, also used at the connector's own address."`
	Name              string `json:"name"`
	Title             string `json:"title"`
	MIMEType          string `json:"mime_type" doc:"Empty if not stated."`
	AgentItemUse
}

// agentItemsJSON is the whole list of one kind.
type agentItemsJSON[T any] struct {
	Items []T `json:"items" nullable:"false"`
}

const aboutAgentItems = "Granted items of enabled connectors, by connector slug, then in the server's order. Concurrent requests are limited: 503 with Retry-After."

func (h *Handler) mountAgentItems() {
	const tag = "Agents"
	gate := newResponseGate(maxAgentToolsResponses)
	prompts := agentItems[agentPromptJSON]{h, connectors.ItemPrompt, viewAgentPrompt}
	registerOperation(h, operation{
		method: http.MethodGet, path: "/api/v1/agents/{id}/prompts", id: "listAgentPrompts", tag: tag,
		summary: "List an agent's prompts", description: aboutAgentItems, permission: connectors.PermRead, gate: gate,
	}, prompts.listAll)
	resources := agentItems[agentResourceJSON]{h, connectors.ItemResource, viewAgentResource}
	registerOperation(h, operation{
		method: http.MethodGet, path: "/api/v1/agents/{id}/resources", id: "listAgentResources", tag: tag,
		summary: "List an agent's resources", description: aboutAgentItems, permission: connectors.PermRead, gate: gate,
	}, resources.listAll)
	templates := agentItems[agentTemplateJSON]{h, connectors.ItemTemplate, viewAgentTemplate}
	registerOperation(h, operation{
		method: http.MethodGet, path: "/api/v1/agents/{id}/resource_templates", id: "listAgentResourceTemplates", tag: tag,
		summary: "List an agent's resource templates", description: aboutAgentItems, permission: connectors.PermRead, gate: gate,
	}, templates.listAll)
}

// agentItems lists the items of one kind that an agent sees.
type agentItems[T any] struct {
	h    *Handler
	kind connectors.ItemKind
	view func(agentview.AgentItem) T
}

func (l agentItems[T]) listAll(ctx context.Context, actor auth.Actor, in *AgentPath) (*response[agentItemsJSON[T]], error) {
	v, err := l.h.access.LoadUncached(ctx, actor.Tenant.ID, in.ref())
	if err != nil {
		return nil, err
	}
	out := agentItemsJSON[T]{Items: []T{}}
	for _, item := range v.Items(l.kind) {
		out.Items = append(out.Items, l.view(item))
	}
	return &response[agentItemsJSON[T]]{Body: out}, nil
}

func viewAgentItem(i agentview.AgentItem) AgentItemUse {
	return AgentItemUse{Connector: i.Connector.Slug, Usable: i.Usable}
}

func viewAgentPrompt(i agentview.AgentItem) agentPromptJSON {
	v := connectors.DecodeItem(i.Raw)
	return agentPromptJSON{Name: i.Exposed, ServerName: i.Key, Title: v.Title, Arguments: viewArguments(v.Arguments), AgentItemUse: viewAgentItem(i)}
}

func viewAgentResource(i agentview.AgentItem) agentResourceJSON {
	v := connectors.DecodeItem(i.Raw)
	return agentResourceJSON{URI: i.Exposed, ServerURI: i.Key, Name: v.Name, Title: v.Title, MIMEType: v.MIMEType, AgentItemUse: viewAgentItem(i)}
}

func viewAgentTemplate(i agentview.AgentItem) agentTemplateJSON {
	v := connectors.DecodeItem(i.Raw)
	return agentTemplateJSON{
		URITemplate: i.Exposed, ServerURITemplate: i.Key, Name: v.Name, Title: v.Title, MIMEType: v.MIMEType, AgentItemUse: viewAgentItem(i),
	}
}
